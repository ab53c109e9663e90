/** Attacks on `/api/admin/v1`: callers without rights, and invalid input. */
import { beforeAll, describe, expect, test } from 'vitest';
import { deleteClient } from '#domain/clients/delete-client.ts';
import { clientSessionEnder } from '#domain/oauth-sessions/end-sessions-of-client.ts';
import { parseId } from '#platform/base/ids.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { AdminClient, type AdminResponse } from '#test/support/admin-client.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { ChatOAuthClient, chatClientSettings, type OAuthTokens } from '#test/support/chat-oauth-client.ts';
import { ProofKey } from '#test/support/dpop-proofs.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { GraphqlClient } from '#test/support/graphql-client.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { sendRequest } from './raw-http.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T4X';
const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';
const PASSWORD = 'correct horse battery staple';
const SECRET = 'shared-secret-of-the-homeserver';
const HIGH_LIMIT = { burst: 1_000_000, per_second: 10_000 };

const clock = new FakeClock();
let application: ChatOAuthClient;
let users = 0;

const service = await sharedByTests(
  startService(
    {
      rate_limiting: {
        admin_token: { per_ip: HIGH_LIMIT },
        login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
      },
      limits: { handler_timeout: '10m' },
      homeserver: { kind: 'none', homeserver: 'example.test', secret: SECRET },
      clients: [
        chatClientSettings(CLIENT, { grant_types: ['client_credentials', 'authorization_code', 'refresh_token'] }),
      ],
      policy: { data: { admin_clients: [CLIENT] } },
    },
    { clock },
  ),
);

beforeAll(async () => {
  application = new ChatOAuthClient(service, CLIENT);
});

async function administrator(): Promise<{
  readonly id: string;
  readonly tokens: OAuthTokens;
  readonly cookie: string;
}> {
  users += 1;
  const username = `adele${users}`;
  const id = await insertTestAccount(
    service.database,
    { username, password: PASSWORD },
    { hasher: service.core.hasher, now: clock.now() },
  );
  await sql(service.database, 'update users set can_request_admin = true where username = $1::text', [username]);
  const { browser } = await GraphqlClient.signedIn(service, username, PASSWORD);
  const signedIn = browser ?? expect.fail('no browser');
  const tokens = await application.signIn(signedIn, 'openid urn:mas:admin');
  const cookie = [...signedIn.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return { id, tokens, cookie };
}

const ownToken = async (): Promise<string> => {
  const form = { grant_type: 'client_credentials', scope: 'urn:mas:admin' };
  return String((await application.post('/oauth2/token', form)).body['access_token']);
};

interface AdminRoute {
  readonly method: string;
  readonly target: string;
}

function adminRoutes(): AdminRoute[] {
  return service.routes
    .filter(({ path }) => path.startsWith('/api/admin/'))
    .map(({ method, path }) => ({ method, target: path.replaceAll(/:\w+/g, ABSENT) }));
}

/** Returns the distinct statuses of all routes for a request with these headers. */
async function statusesOf(headers: readonly [string, string][], query = ''): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (const { method, target } of adminRoutes()) {
    statuses.add((await sendRequest(service.address, { method, target: target + query, headers })).status);
  }
  return statuses;
}

const bearer = (token: string): [string, string][] => [['Authorization', `Bearer ${token}`]];

describe('callers without admin rights (S-129, S-132)', () => {
  test('tokens of another kind, another scope or unknown are refused at every route, before any record is read', async () => {
    const { tokens, cookie } = await administrator();
    const { browser } = await GraphqlClient.signedIn(service, `adele${users}`, PASSWORD);
    const ordinary = await application.signIn(browser ?? expect.fail('no browser'), 'openid');
    const chat = await new ChatClient(service).login(`adele${users}`, PASSWORD);
    for (const [headers, expected] of [
      [[], 401],
      [[['Cookie', cookie]], 401],
      [bearer('x'), 401],
      [bearer(tokens.accessToken.toLowerCase()), 401],
      [bearer(`${tokens.accessToken} `), 401],
      [bearer(tokens.refreshToken), 401],
      [bearer(chat.accessToken), 401],
      [bearer(SECRET), 401],
      [[['Authorization', `Basic ${btoa(`${CLIENT}:a-secret-of-at-least-16-characters`)}`]], 401],
      [bearer(ordinary.accessToken), 403],
    ] as const) {
      const statuses = await statusesOf([...headers].map(([name, value]) => [name, value]));
      expect([JSON.stringify(headers).slice(0, 60), [...statuses]]).toEqual([
        JSON.stringify(headers).slice(0, 60),
        // Trailing whitespace is not part of the token (RFC 9110 5.5).
        headers[0]?.[1].endsWith(' ') === true ? expect.anything() : [expected],
      ]);
    }
  });

  test('a key-bound token without a proof is refused', async () => {
    const url = new URL('/oauth2/token', service.issuer).href;
    const dpop = new ProofKey().proof({ url, now: clock.now() });
    const form = { grant_type: 'client_credentials', scope: 'urn:mas:admin' };
    const { body } = await application.post('/oauth2/token', form, { dpop });
    expect(body['token_type']).toBe('DPoP');
    expect([...(await statusesOf(bearer(String(body['access_token']))))]).toEqual([401]);
  });

  test('a token in the query is ignored (S-47)', async () => {
    expect([...(await statusesOf([], `?access_token=${await ownToken()}`))]).toEqual([401]);
  });

  test('an answer does not reveal whether a record exists (S-84)', async () => {
    const { id } = await administrator();
    const ask = async (of: string) =>
      await sendRequest(service.address, { target: `/api/admin/v1/users/${of}`, headers: bearer('x') });
    const [known, unknown] = [await ask(id), await ask(ABSENT)];
    const plain = (text: string) => text.replace(/"id":"[^"]*"/, '');
    expect([known.status, plain(known.body)]).toEqual([unknown.status, plain(unknown.body)]);
  });
});

describe('an admin right that is revoked while in use (S-129, S-178)', () => {
  test.each([
    ['the account flag', 403, 'update users set can_request_admin = false where id = $1::uuid'],
    ['a lock', 401, 'update users set locked_at = now() where id = $1::uuid'],
    ['a deactivation', 401, 'update users set deactivated_at = now() where id = $1::uuid'],
    ['the end of the session', 401, 'update oauth2_sessions set finished_at = now() where user_id = $1::uuid'],
  ])('%s: refused immediately', async (_what, status, change) => {
    const { id, tokens } = await administrator();
    expect((await new AdminClient(service, tokens.accessToken).get('version')).status).toBe(200);
    const [row] = await sql<{ id: string }>(service.database, 'select id from users where username = $1::text', [
      `adele${users}`,
    ]);
    expect(row).toBeDefined();
    await sql(service.database, change, [row?.id ?? id]);
    expect([...(await statusesOf(bearer(tokens.accessToken)))]).toEqual([status]);
  });

  test('time: an expired token is refused', async () => {
    const token = await ownToken();
    clock.advanceSeconds(3600);
    expect([...(await statusesOf(bearer(token)))]).toEqual([401]);
  });
});

test('no list or record response contains a secret (S-130)', async () => {
  const { tokens } = await administrator();
  const client = new AdminClient(service, tokens.accessToken);
  const chat = await new ChatClient(service).login(`adele${users}`, PASSWORD);
  const secrets = [PASSWORD, SECRET, 'a-secret-of-at-least-16-characters', '$argon2', '$2b$', chat.accessToken];
  secrets.push(tokens.accessToken, tokens.refreshToken);
  const columns = ['hash', 'sealed', 'totp'];
  let records = 0;
  for (const { target } of adminRoutes().filter(
    ({ method, target: path }) => method === 'GET' && !path.includes(ABSENT),
  )) {
    const { body } = await client.get(`${target.replace('/api/admin/v1/', '')}?page[first]=100`);
    const found = Array.isArray(body.data) ? body.data : [];
    records += found.length;
    const texts = [JSON.stringify(body)];
    for (const { links } of found.slice(0, 5)) texts.push(JSON.stringify((await client.get(links.self)).body));
    // Descriptions of settings use these words.
    const forbidden = target.endsWith('/effective-configuration') ? secrets : [...secrets, ...columns];
    for (const secret of forbidden)
      expect(
        texts.filter((text) => text.includes(secret)),
        `${target}: ${secret}`,
      ).toEqual([]);
  }
  expect(records).toBeGreaterThan(10);
});

describe('what an operator terminates (S-126)', () => {
  test.each([
    [
      'the session of an application',
      async (admin: AdminClient, id: string) => await finish(admin, 'oauth2-sessions', id),
    ],
    ['every session', async (admin: AdminClient, id: string) => await admin.post(`users/${id}/kill-sessions`)],
    ['the account, temporarily', async (admin: AdminClient, id: string) => await admin.post(`users/${id}/lock`)],
    ['the account', async (admin: AdminClient, id: string) => await admin.post(`users/${id}/deactivate`)],
  ])('%s: its tokens are refused immediately, including refresh', async (_, end) => {
    const { id, tokens } = await administrator();
    expect((await userInfo(tokens.accessToken)).status).toBe(200);
    expect((await end(new AdminClient(service, await ownToken()), id)).status).toBe(200);
    expect((await userInfo(tokens.accessToken)).status).toBe(401);
    expect(await application.refresh(tokens.refreshToken)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
  });

  test("a chat client's session: its token is refused immediately, and other sessions stay", async () => {
    const { id, tokens } = await administrator();
    const chat = new ChatClient(service);
    const { accessToken } = await chat.login(`adele${users}`, PASSWORD);
    const logout = { method: 'POST', headers: { authorization: `Bearer ${accessToken}` } };
    await finish(new AdminClient(service, await ownToken()), 'compat-sessions', id);
    expect(await chat.request('/logout', logout)).toMatchObject({ status: 401, body: { errcode: 'M_UNKNOWN_TOKEN' } });
    expect((await userInfo(tokens.accessToken)).status).toBe(200);
  });

  test('a browser session: its cookie is recognized as ended, and applications stay signed in', async () => {
    const { id, tokens, cookie } = await administrator();
    await finish(new AdminClient(service, await ownToken()), 'user-sessions', id);
    const page = await fetch(service.address, { headers: { cookie } });
    expect(await page.text()).toContain('<title>You were signed out');
    expect((await userInfo(tokens.accessToken)).status).toBe(200);
  });
});

/** Ends the user's only session of a kind. */
async function finish(admin: AdminClient, kind: string, userId: string): Promise<AdminResponse> {
  const [session] = (await admin.get(`${kind}?filter[user]=${userId}&filter[status]=active`)).body.data ?? [];
  return await admin.post(`${kind}/${session?.id}/finish`);
}

async function userInfo(accessToken: string): Promise<Response> {
  return await fetch(`${service.address}/oauth2/userinfo`, { headers: { authorization: `Bearer ${accessToken}` } });
}

describe('invalid input', () => {
  test.each([
    'x',
    ABSENT.slice(1),
    `${ABSENT}0`,
    'ILOUILOUILOUILOUILOUILOUIL',
    '80000000000000000000000000',
    '018f4b2e-0000-7000-8000-000000000000',
    '%00',
    '%2e%2e',
    '%F0%9F%98%80',
    'x'.repeat(2000),
  ])('the id %.40s is refused at every route, without a query (S-158)', async (id) => {
    const headers = bearer(await ownToken());
    await sendRequest(service.address, { target: '/api/admin/v1/version', headers });
    for (const { method, target } of adminRoutes().filter(({ target: one }) => /\/[0-9A-Z]{26}/.test(one))) {
      if (target.includes('by-username')) continue;
      const requested = target.replace(ABSENT, id);
      const response = await sendRequest(service.address, { method, target: requested, headers });
      expect([requested, response.status]).toEqual([
        requested,
        expect.toSatisfy((status) => status === 400 || status === 404),
      ]);
      expect(service.requestLines().at(-1)?.queries).toBeLessThan(2);
    }
  });

  test.each([
    ['not JSON', '{', 400],
    ['not an object', '[]', 400],
    ['a number', '1', 400],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400],
    ['a NUL', '{"username":"a\\u0000b","password":"a\\u0000b","user_id":"x","email":"\\u0000","admin":true}', 400],
    ['a duplicate member', '{"username":"a","username":"b","admin":true,"admin":true}', 400],
    ['members of an account (S-131)', '{"username":"zed","canRequestAdmin":true,"locked_at":null,"id":"x"}', 400],
    ['a prototype', '{"__proto__":{"admin":true},"username":"zed"}', 400],
    ['1 MiB and more', `{"username":"${'x'.repeat(1024 * 1024)}"}`, 413],
  ])('a body that is %s is refused', async (_what, body, status) => {
    const { id, tokens } = await administrator();
    const before = await sql(service.database, 'select count(*)::int as count from users');
    const posts = ['users', `users/${id}/set-admin`, 'user-emails', `users/${id}/set-password`];
    for (const path of posts) {
      const response = await sendRequest(service.address, {
        method: 'POST',
        target: `/api/admin/v1/${path}`,
        headers: [...bearer(tokens.accessToken), ['Content-Type', 'application/json']],
        body,
      });
      expect([path, response.status]).toEqual([path, status]);
    }
    expect(await sql(service.database, 'select count(*)::int as count from users')).toEqual(before);
  });

  test('a body of another content type is refused (S-161)', async () => {
    const headers = bearer(await ownToken());
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const response = await sendRequest(service.address, {
        method: 'POST',
        target: '/api/admin/v1/users',
        headers: [...headers, ['Content-Type', type]],
        body: '{"username":"zed"}',
      });
      expect([type, response.status]).toEqual([type, 415]);
    }
  });

  test.each([
    'page[first]=-1',
    'page[first]=1e3',
    'page[first]=0x1f',
    'page[first]=%201',
    'page[first]=NaN',
    'filter[created-after]=2026-13-01T00:00:00Z',
    'filter[created-after]=275760-09-13T00:00:00Z',
    'filter[created-after]=2026-01-01T00:00:00%2B99:99',
    'filter[created-after]=1',
    "filter[user]=' or true --",
    'filter[__proto__]=x',
    'filter[constructor]=x',
  ])('the parameter %s is refused (S-160, S-162)', async (query) => {
    const response = await sendRequest(service.address, {
      target: `/api/admin/v1/user-sessions?${query.replaceAll(' ', '%20').replaceAll("'", '%27')}`,
      headers: bearer(await ownToken()),
    });
    expect([query, response.status]).toEqual([query, 400]);
  });

  test.each(['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])('the time %s is accepted unchanged', async (time) => {
    const admin = new AdminClient(service, await ownToken());
    expect((await admin.get(`user-sessions?filter[created-after]=${time}`)).status).toBe(200);
  });

  test('wildcard characters match literally in a search (S-162)', async () => {
    const { id } = await administrator();
    const admin = new AdminClient(service, await ownToken());
    const named = (await admin.get(`users?filter[search]=ADELE${users}`)).body.data;
    expect(named?.map((user) => user.id)).toEqual([id]);
    for (const search of ['%', '_____', '\\', "'; drop table users; --"]) {
      expect((await admin.get(`users?filter[search]=${encodeURIComponent(search)}`)).body.data).toEqual([]);
    }
  });
});

describe('requests from other origins (S-154)', () => {
  test.each(['https://evil.example', 'null'])('of %s may call without cookies and are never echoed', async (origin) => {
    for (const { method, target } of adminRoutes()) {
      const preflight = await sendRequest(service.address, {
        method: 'OPTIONS',
        target,
        headers: [
          ['Origin', origin],
          ['Access-Control-Request-Method', method],
        ],
      });
      expect(preflight.headers.get('access-control-allow-origin')).toEqual(['*']);
      expect(preflight.headers.has('access-control-allow-credentials')).toBe(false);
    }
  });
});

test('a deleted client loses all rights (S-45)', async () => {
  const { tokens } = await administrator();
  const admin = new AdminClient(service, tokens.accessToken);
  expect((await admin.get('version')).status).toBe(200);
  const client = parseId<'client'>(CLIENT) ?? expect.fail('no id');
  const ender = clientSessionEnder(service.core.homeserver);
  const end = { now: clock.now() };
  await service.database.transaction((transaction) => deleteClient(ender, transaction, client, end));
  expect([...(await statusesOf(bearer(tokens.accessToken)))]).toEqual([401]);
});
