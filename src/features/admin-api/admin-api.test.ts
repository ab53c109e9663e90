import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, describe, expect, test } from 'vitest';
import { fromUuid, newId, parseId, toUuid } from '#platform/base/ids.ts';
import { newToken } from '#protocol/oauth/token-format.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { AdminClient } from '#test/support/admin-client.ts';
import { giveAuthenticatorApp } from '#test/support/authenticator-app.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { insertBrowserSession, insertClient, sql } from '#test/support/fixtures.ts';
import { GraphqlClient } from '#test/support/graphql-client.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { bundleWorker } from '#test/support/worker-entry.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { adminStatus } from './error-format.ts';
import { OPERATIONS, TAGS } from './operations.ts';

const STRENGTH_WORKER = new URL('../../domain/accounts/passwords/strength.worker.ts', import.meta.url);
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T4X';
const STRANGER = '01JD3Q5Z8W2N4K6M7P9R0S1T5X';
const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';
const PROVIDER = '01JD3Q5Z8W2N4K6M7P9R0S1T6X';
const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const SCOPE = 'urn:mas:admin';

const settings = {
  rate_limiting: {
    admin_token: { per_ip: { burst: 5, per_second: 0.001 } },
    login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
  },
  limits: { handler_timeout: '10m' },
  clients: [
    chatClientSettings(CLIENT, { grant_types: ['client_credentials', 'authorization_code', 'refresh_token'] }),
    chatClientSettings(STRANGER, { grant_types: ['client_credentials'] }),
  ],
  policy: { data: { admin_clients: [CLIENT], admin_users: ['root'] } },
  upstream_oauth2: {
    providers: [
      {
        id: PROVIDER,
        issuer: 'https://login.example',
        human_name: 'Harbour Login',
        client_id: 'latchkey',
        token_endpoint_auth_method: 'none',
      },
    ],
  },
};

const clock = new FakeClock();
let program: ChatOAuthClient;
let admin: AdminClient;
let users = 0;

const service = await sharedByTests(
  startService(settings, { clock, strengthWorker: await bundleWorker(STRENGTH_WORKER) }),
);

beforeAll(async () => {
  program = new ChatOAuthClient(service, CLIENT);
  const { body } = await program.post('/oauth2/token', { grant_type: 'client_credentials', scope: SCOPE });
  admin = new AdminClient(service, String(body['access_token']));
});

async function newUser(more: Readonly<Record<string, unknown>> = {}) {
  users += 1;
  const username = `maren${users}`;
  const account = { username, password: PASSWORD, ...more };
  const id = await insertTestAccount(service.database, account, { hasher: service.core.hasher, now: clock.now() });
  return { id, username };
}

const codes = ({ body }: { readonly body: { readonly errors?: readonly { readonly code: string }[] } }) =>
  body.errors?.map(({ code }) => code);

describe('access control (operations 4.1)', () => {
  const raw = (headers: Readonly<Record<string, string>>, path = '/api/admin/v1/users') =>
    fetch(service.address + path, { headers });

  test('accepts clients with their own right, and users with theirs', async () => {
    expect((await admin.get('users')).status).toBe(200);
    expect(service.requestLines().at(-1)?.requester).toBe(`oauth2-client:${CLIENT}`);
    await insertTestAccount(
      service.database,
      { username: 'root', password: PASSWORD },
      { hasher: service.core.hasher, now: clock.now() },
    );
    const { browser } = await GraphqlClient.signedIn(service, 'root', PASSWORD);
    const { accessToken } = await program.signIn(browser ?? expect.fail('no browser'), SCOPE);
    expect((await new AdminClient(service, accessToken).get('users')).status).toBe(200);
    expect(service.requestLines().at(-1)?.requester).toMatch(/^user:.*root/);
  });

  test('rejects missing tokens, invalid tokens and tokens without the admin scope', async () => {
    const none = await raw({});
    expect(none.status).toBe(401);
    expect(none.headers.get('www-authenticate')).toBe('Bearer');
    expect(await none.json()).toMatchObject({ errors: [{ code: 'missing_token', status: '401' }] });
    const wrong = await raw({ authorization: 'Bearer mat_nothing' });
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);
    const { body } = await program.post('/oauth2/token', { grant_type: 'client_credentials', scope: 'openid' });
    const other = await raw({ authorization: `Bearer ${body['access_token']}` });
    expect(other.status === 403 || body['access_token'] === undefined).toBe(true);
  });

  test('rate limits invalid tokens by IP address, and still accepts valid ones', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1) {
      statuses.push((await raw({ authorization: `Bearer ${newToken('mat')}` })).status);
    }
    expect(statuses.at(-1)).toBe(429);
    expect((await admin.get('users')).status).toBe(200);
  });

  test.each([undefined, 'Bearer x', 'Basic eDp5', 'Bearer mat_abcdefghijklmnopqrstuvwxyz0123_000000'])(
    'rejects a malformed token without a statement: %s',
    async (authorization) => {
      const { status } = await raw(authorization === undefined ? {} : { authorization });
      expect(status).toBe(401);
      expect(service.requestLines().at(-1)).toMatchObject({ status: 401, queries: 0 });
    },
  );

  test("answers unknown paths and methods in the API's format", async () => {
    const unknown = await raw({}, '/api/admin/v1/nothing');
    expect([unknown.status, codes({ body: await unknown.json() })]).toEqual([404, ['not_found']]);
    const method = await fetch(`${service.address}/api/admin/v1/users`, { method: 'PUT' });
    expect([method.status, method.headers.get('allow')]).toEqual([405, expect.stringContaining('GET')]);
  });
});

describe('lists (operations 4.2)', () => {
  test('paginate with links in both directions, with a total count', async () => {
    for (let count = 0; count < 5; count += 1) {
      await newUser();
      clock.advanceSeconds(1);
    }
    const { body } = await admin.get('users?page[first]=2');
    expect(body.data).toHaveLength(2);
    const total = body.meta?.count ?? 0;
    const seen: string[] = [];
    for (let path: string | undefined = 'users?page[first]=2'; path !== undefined; ) {
      const { body: page }: Awaited<ReturnType<AdminClient['get']>> = await admin.get(path);
      seen.push(...(page.data ?? []).map(({ id }) => id));
      path = page.links?.['next'];
    }
    expect(seen).toHaveLength(total);
    expect(seen).toEqual(seen.toSorted());
    const last = await admin.get('users?page[last]=2');
    expect(last.body.data?.map(({ id }) => id)).toEqual(seen.slice(-2));
    const before = await admin.get(last.body.links?.['prev'] ?? '');
    expect(before.body.data?.map(({ id }) => id)).toEqual(seen.slice(-4, -2));
  });

  test('return only the count, or no count', async () => {
    const only = await admin.get('users?count=only');
    expect(only.body.data).toBeUndefined();
    expect(Object.keys(only.body.links ?? {})).toEqual(['self']);
    const without = await admin.get('users?count=false');
    expect(without.body.meta).toBeUndefined();
  });

  test.each([
    ['page[first]=0', 'page[first]'],
    ['page[first]=-1', 'page[first]'],
    ['page[last]=many', 'page[last]'],
    ['page[first]=01', 'page[first]'],
    ['page[first]=1&page[last]=1', 'page[last]'],
    ['page[after]=x', 'page[after]'],
    ['count=maybe', 'count'],
    ['filter[admin]=yes', 'filter[admin]'],
    ['filter[admin]=true&filter[admin]=true', 'filter[admin]'],
    ['filter[nothing]=1', 'filter[nothing]'],
    ['filter[search]=', 'filter[search]'],
    ['filter[active-oauth2-client]', 'filter[active-oauth2-client]'],
    ['page[after]=', 'page[after]'],
    ['page[size]=1', 'page[size]'],
  ])('reject %s', async (query, parameter) => {
    const response = await admin.get(`users?${query}`);
    expect([response.status, codes(response)]).toEqual([400, ['invalid_parameter']]);
    expect(response.body.errors?.[0]?.source).toEqual({ parameter });
  });

  test.each(['page[first]=200', 'page[first]=1000', 'page[first]=1001', 'page[last]=4294967296'])(
    'accept %s, capped at 1,000 records',
    async (query) => {
      const { status, body } = await admin.get(`users?${query}`);
      expect(status).toBe(200);
      const [name = '', size = ''] = query.split('=');
      expect(body.links?.['self']).toBe(`/api/admin/v1/users?${name}=${Math.min(Number(size), 1000)}`);
    },
  );

  test('ignore unknown parameters', async () => {
    const { status, body } = await admin.get('users?_=1732752000&order_by=name&count=false');
    expect(status).toBe(200);
    expect(body.links?.['self']).toBe('/api/admin/v1/users?count=false&page[first]=10');
  });

  test('keep their filters in links, and return 404 for filters that name missing objects', async () => {
    const { body } = await admin.get('users?filter[status]=active&filter[search]=MAREN&page[first]=1');
    expect(body.data?.[0]?.attributes['username']).toMatch(/^maren/);
    expect(body.links?.['next']).toMatch(/filter\[search\]=MAREN.*filter\[status\]=active|filter\[status\]=active/);
    expect((await admin.get(`users?filter[active-oauth2-client]=${ABSENT}`)).status).toBe(404);
    expect((await admin.get(`user-emails?filter[user]=${ABSENT}`)).status).toBe(404);
    expect((await admin.get(`oauth2-sessions?filter[client]=${ABSENT}`)).status).toBe(404);
    expect((await admin.get(`user-sessions?filter[user]=${ABSENT}`)).status).toBe(404);
    expect((await admin.get(`compat-sessions?filter[user-session]=${ABSENT}`)).status).toBe(404);
    expect((await admin.get(`upstream-oauth-links?filter[provider]=${ABSENT}`)).status).toBe(404);
  });
});

describe('accounts (operations 4.4)', () => {
  test('can be created, read, and found by name', async () => {
    const made = await admin.post('users', { username: 'fresh' });
    expect(made.status).toBe(201);
    const { id } = made.body.data ?? expect.fail('nothing was made');
    expect(made.body.data).toMatchObject({
      type: 'user',
      attributes: { username: 'fresh', locked_at: null, deactivated_at: null, admin: false, legacy_guest: false },
      links: { self: `/api/admin/v1/users/${id}` },
    });
    expect((await admin.get(`users/${id.toLowerCase()}`)).body).toEqual((await admin.get(`users/${id}`)).body);
    expect((await admin.get('users/by-username/fresh')).body.data?.id).toBe(id);
    expect((await admin.get('users/by-username/Fresh')).status).toBe(404);
    expect((await admin.get('users/by-username/fresh%00')).status).toBe(404);
    expect(codes(await admin.post('users', { username: 'FRESH'.toLowerCase() }))).toEqual(['user_exists']);
    expect(codes(await admin.post('users', { username: '_x' }))).toEqual(['invalid_username']);
    expect(codes(await admin.post('users', { username: id.toLowerCase() }))).toEqual(['invalid_username']);
    expect((await admin.get(`users/by-username/${id}`)).status).toBe(404);
    expect((await admin.get('users/by-username/@fresh:localhost')).body.data?.id).toBe(id);
  });

  test('of guests from an imported homeserver are marked as such', async () => {
    await admin.post('users', { username: 'visitor' });
    await sql(service.database, `update users set is_guest = true where username = 'visitor'`);
    const names = async (value: boolean) => {
      const { body } = await admin.get(`users?filter[legacy-guest]=${value}&page[first]=100`);
      return body.data?.map(({ attributes }) => attributes['username']);
    };
    expect(await names(true)).toEqual(['visitor']);
    expect(await names(false)).not.toContain('visitor');
    expect((await admin.get('users/by-username/visitor')).body.data?.attributes).toMatchObject({ legacy_guest: true });
  });

  test('reject invalid IDs and bodies, and name the invalid member', async () => {
    expect(codes(await admin.get('users/x'))).toEqual(['invalid_id']);
    expect((await admin.get(`users/${ABSENT}`)).status).toBe(404);
    const unknown = await admin.post('users', { username: 'a', colour: 'red' });
    expect(unknown.body.errors).toMatchObject([{ code: 'invalid_request', source: { pointer: '/colour' } }]);
    expect(codes(await admin.post('user-registration-tokens', null))).toEqual(['invalid_request']);
    const typed = await admin.post('users', { username: 1 });
    expect(typed.body.errors).toMatchObject([{ code: 'invalid_request', source: { pointer: '/username' } }]);
  });

  test('can be locked, unlocked, and granted or denied the admin right, with each change in the log', async () => {
    const { id } = await newUser();
    const locked = await admin.post(`users/${id}/lock`);
    expect(locked.body.links?.['self']).toBe(`/api/admin/v1/users/${id}/lock`);
    const at = locked.body.data?.attributes['locked_at'];
    expect(at).toMatch(/^\d{4}-.*\.\d{6}Z$/);
    clock.advanceSeconds(5);
    expect((await admin.post(`users/${id}/lock`)).body.data?.attributes['locked_at']).toBe(at);
    expect((await admin.post(`users/${id}/unlock`)).body.data?.attributes['locked_at']).toBeNull();
    expect((await admin.post(`users/${id}/set-admin`, { admin: true })).body.data?.attributes['admin']).toBe(true);
    expect((await admin.get('users?filter[admin]=true')).body.data?.map((user) => user.id)).toContain(id);
    expect((await admin.post(`users/${id}/set-admin`, { admin: false })).body.data?.attributes['admin']).toBe(false);
    const lines = service.logLines().filter((line) => line.includes(' admin.action ') && line.includes(id));
    expect(lines).toHaveLength(5);
    expect(lines[0]).toContain(`client=${CLIENT}`);
    expect(lines[0]).toContain('operation=lockUser');
  });

  test('lose everything when deactivated, and are reactivated without it', async () => {
    const { id, username } = await newUser();
    const { browser } = await GraphqlClient.signedIn(service, username, PASSWORD);
    const { accessToken } = await program.signIn(browser ?? expect.fail('no browser'), 'openid');
    expect((await admin.get(`users?filter[active-oauth2-client]=${CLIENT}`)).body.data?.map((u) => u.id)).toContain(id);
    const gone = await admin.post(`users/${id}/deactivate`, { skip_erase: true });
    expect(gone.body.data?.attributes['deactivated_at']).not.toBeNull();
    const requested = await fetch(`${service.address}/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(requested.status).toBe(401);
    expect((await admin.post(`users/${id}/deactivate`)).status).toBe(200);
    expect((await admin.post(`users/${id}/reactivate`)).body.data?.attributes['deactivated_at']).toBeNull();
    expect((await admin.get(`oauth2-sessions?filter[user]=${id}&filter[status]=active`)).body.meta?.count).toBe(0);
  });

  test('get passwords that are strong enough, or any with the check skipped', async () => {
    const { id, username } = await newUser();
    expect(codes(await admin.post(`users/${id}/set-password`, { password: 'abc' }))).toEqual(['password_too_weak']);
    const skipped = await admin.post(`users/${id}/set-password`, { password: 'abc', skip_password_check: true });
    expect(skipped.status).toBe(204);
    await GraphqlClient.signedIn(service, username, 'abc');
  });
});

test('removes the app and recovery codes of a locked-out user, and records who did it', async () => {
  const { id } = await newUser();
  const user = parseId<'user'>(id) ?? expect.fail();
  const remove = async () => await admin.post(`users/${id}/remove-second-factors`);
  await giveAuthenticatorApp(service.core, user);
  const removed = await remove();
  expect([removed.status, removed.body.data?.id]).toEqual([200, id]);
  const left = `select id from user_totp_secrets where user_id = $1::uuid
    union all select id from user_recovery_codes where user_id = $1::uuid`;
  expect(await sql(service.database, left, [toUuid(user)])).toEqual([]);
  const events = `select client_id, ip, detail ->> 'actor' as actor from audit_events
    where user_id = $1::uuid and kind = 'totp_removed'`;
  const recorded = [{ client_id: toUuid(parseId(CLIENT) ?? expect.fail()), ip: null, actor: 'admin' }];
  expect(await sql(service.database, events, [toUuid(user)])).toEqual(recorded);
  // If no app is set up, nothing happens.
  expect((await remove()).status).toBe(200);
  expect(await sql(service.database, events, [toUuid(user)])).toEqual(recorded);
  expect(service.logLines().filter((line) => line.includes('operation=userRemoveSecondFactors'))).toHaveLength(2);
  expect((await admin.post(`users/${ABSENT}/remove-second-factors`)).status).toBe(404);
});

describe('all sessions of an account (operations 4.4)', () => {
  test('end at once, for the named kinds', async () => {
    const { id, username } = await newUser();
    const { browser } = await GraphqlClient.signedIn(service, username, PASSWORD);
    const { accessToken } = await program.signIn(browser ?? expect.fail('no browser'), 'openid');
    const chat = await new ChatClient(service).login(username, PASSWORD);
    const kill = async (body?: unknown) => await admin.post(`users/${id}/kill-sessions`, body);
    expect((await kill({ kinds: ['compat'] })).body.meta).toEqual({ browser: 0, oauth2: 0, compat: 1, personal: 0 });
    const after = await new ChatClient(service).post('/logout', undefined, {
      authorization: `Bearer ${chat.accessToken}`,
    });
    expect(after.status).toBe(401);
    const all = await kill();
    expect([all.status, all.body.meta]).toEqual([200, { browser: 1, oauth2: 1, compat: 0, personal: 0 }]);
    const userinfo = await fetch(`${service.address}/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(userinfo.status).toBe(401);
    expect((await kill()).body.meta).toEqual({ browser: 0, oauth2: 0, compat: 0, personal: 0 });
    expect(service.logLines().filter((line) => line.includes('operation=killUserSessions'))).toHaveLength(3);
    const [event] = await sql<{ client_id: string; detail: object }>(
      service.database,
      `select client_id, detail from audit_events where kind = 'sessions_ended' order by id desc limit 1`,
    );
    expect(event).toMatchObject({ client_id: toUuid(parseId(CLIENT) ?? expect.fail()), detail: { actor: 'admin' } });
  });

  test.each([{ kinds: [] }, { kinds: ['all'] }, { kind: 'browser' }])('are not ended by %j', async (body) => {
    const { id } = await newUser();
    expect(codes(await admin.post(`users/${id}/kill-sessions`, body))).toEqual(['invalid_request']);
  });

  test('of an unknown user return 404', async () => {
    expect((await admin.post(`users/${ABSENT}/kill-sessions`)).status).toBe(404);
  });
});

describe('email addresses (operations 4.5)', () => {
  test('accept letters of any script, and match every form of Unicode and of the domain (RFC 6531)', async () => {
    const { id } = await newUser();
    const added = await admin.post('user-emails', { user_id: id, email: 'Jürgen@Bücher.example' });
    expect(added).toMatchObject({ status: 201 });
    expect(added.body.data?.attributes).toMatchObject({ email: 'Jürgen@xn--bcher-kva.example' });
    for (const typed of ['jürgen@bücher.example', 'JU\u0308RGEN@XN--BCHER-KVA.example']) {
      const found = await admin.get(`user-emails?filter[email]=${encodeURIComponent(typed)}`);
      expect(found.body.data).toHaveLength(1);
      const taken = await admin.post('user-emails', { user_id: id, email: typed });
      expect([taken.status, codes(taken)]).toEqual([409, ['email_in_use']]);
    }
    const invisible = await admin.post('user-emails', { user_id: id, email: 'jürgen\u200b@mail.example' });
    expect(codes(invisible)).toEqual(['invalid_email']);
  });

  test('can be added, found in any case, and removed', async () => {
    const { id } = await newUser();
    const added = await admin.post('user-emails', { user_id: id, email: 'Maren@Mail.Example' });
    expect(added.status).toBe(201);
    const found = await admin.get('user-emails?filter[email]=maren@mail.example');
    expect(found.body.data).toHaveLength(1);
    const address = added.body.data?.id ?? '';
    expect((await admin.get(`user-emails/${address}`)).body.data?.attributes).toMatchObject({
      user_id: id,
      primary: true,
    });
    const other = await newUser();
    const taken = await admin.post('user-emails', { user_id: other.id, email: 'maren@mail.example' });
    expect([taken.status, codes(taken)]).toEqual([409, ['email_in_use']]);
    expect(codes(await admin.post('user-emails', { user_id: id, email: 'x' }))).toEqual(['invalid_email']);
    expect((await admin.post('user-emails', { user_id: ABSENT, email: 'a@b.example' })).status).toBe(404);
    expect((await admin.delete(`user-emails/${address}`)).status).toBe(204);
    expect((await admin.get(`user-emails/${address}`)).status).toBe(404);
  });
});

describe('sessions (operations 4.6)', () => {
  test('of browsers and clients can be listed and ended, but not ended twice', async () => {
    const { id, username } = await newUser();
    const { browser } = await GraphqlClient.signedIn(service, username, PASSWORD);
    await program.signIn(browser ?? expect.fail('no browser'), 'openid');
    const [signedIn] = (await admin.get(`user-sessions?filter[user]=${id}&filter[status]=active`)).body.data ?? [];
    const [session] = (await admin.get(`oauth2-sessions?filter[user]=${id}&filter[scope]=openid`)).body.data ?? [];
    expect(session?.attributes).toMatchObject({ user_id: id, client_id: CLIENT, scope: 'openid', finished_at: null });
    expect(session?.attributes['user_session_id']).toBe(signedIn?.id);
    for (const [kind, one] of [
      ['oauth2-sessions', session],
      ['user-sessions', signedIn],
    ] as const) {
      expect(one).toMatchObject((await admin.get(`${kind}/${one?.id}`)).body.data ?? {});
      const finished = await admin.post(`${kind}/${one?.id}/finish`);
      expect(finished.body.data?.attributes['finished_at']).not.toBeNull();
      expect(codes(await admin.post(`${kind}/${one?.id}/finish`))).toEqual(['already_finished']);
    }
    expect((await admin.get(`user-sessions?filter[user]=${id}&filter[status]=active`)).body.meta?.count).toBe(0);
  });

  test('of chat clients can be listed and ended', async () => {
    const { id, username } = await newUser();
    const signedIn = await fetch(`${service.address}/_chat/client/v3/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        type: 'm.login.password',
        identifier: { type: 'm.id.user', user: username },
        password: PASSWORD,
      }),
    });
    expect(signedIn.status).toBe(200);
    const [session] = (await admin.get(`compat-sessions?filter[user]=${id}`)).body.data ?? [];
    expect(session?.attributes).toMatchObject({ user_id: id, redirect_uri: null, finished_at: null });
    expect((await admin.post(`compat-sessions/${session?.id}/finish`)).status).toBe(200);
    expect(codes(await admin.post(`compat-sessions/${session?.id}/finish`))).toEqual(['already_finished']);
  });

  test('can be filtered by time', async () => {
    const { id, username } = await newUser();
    await GraphqlClient.signedIn(service, username, PASSWORD);
    const now = new Date(clock.now()).toISOString();
    const later = new Date(clock.now() + 1000).toISOString();
    const count = async (query: string) =>
      (await admin.get(`user-sessions?filter[user]=${id}&${query}`)).body.meta?.count;
    expect(await count(`filter[created-before]=${later}`)).toBe(1);
    expect(await count(`filter[created-after]=${now}`)).toBe(0);
    expect((await admin.get('user-sessions?filter[created-after]=yesterday')).status).toBe(400);
  });
});

describe('registration tokens (operations 4.8)', () => {
  test('can be created, found, changed, revoked and restored', async () => {
    const made = await admin.post('user-registration-tokens', { token: 'welcome', usage_limit: 2 });
    expect(made.status).toBe(201);
    const { id } = made.body.data ?? expect.fail('nothing was made');
    const path = `user-registration-tokens/${id}`;
    expect(made.body.data?.attributes).toMatchObject({ token: 'welcome', valid: true, usage_limit: 2, times_used: 0 });
    expect(codes(await admin.post('user-registration-tokens', { token: 'welcome' }))).toEqual(['token_exists']);
    const random = await admin.post('user-registration-tokens', {});
    expect(random.body.data?.attributes).toMatchObject({
      token: expect.stringMatching(/^[A-Za-z0-9]{12}$/),
      usage_limit: null,
      expires_at: null,
    });
    const until = new Date(clock.now() + 60_000).toISOString();
    const changed = await admin.send('PUT', path, { expires_at: until, usage_limit: null });
    expect(changed.body.data?.attributes).toMatchObject({ usage_limit: null, expires_at: until.replace('Z', '000Z') });
    expect((await admin.send('PUT', path, { usage_limit: 3 })).body.data?.attributes).toMatchObject({
      usage_limit: 3,
      expires_at: until.replace('Z', '000Z'),
    });
    const count = async (filter: string) =>
      (await admin.get(`user-registration-tokens?filter[${filter}]=true`)).body.meta?.count;
    expect([await count('valid'), await count('expired'), await count('used')]).toEqual([2, 0, 0]);
    clock.advanceSeconds(61);
    expect([await count('valid'), await count('expired')]).toEqual([1, 1]);
    expect((await admin.get(path)).body.data?.attributes['valid']).toBe(false);
    expect((await admin.post(`${path}/revoke`)).body.data?.attributes['revoked_at']).not.toBeNull();
    expect(await count('revoked')).toBe(1);
    expect(codes(await admin.post(`${path}/revoke`))).toEqual(['already_revoked']);
    expect((await admin.post(`${path}/unrevoke`)).body.data?.attributes['revoked_at']).toBeNull();
    expect(codes(await admin.post(`${path}/unrevoke`))).toEqual(['not_revoked']);
  });

  test('enforce their usage limit, which cannot be set below their use count', async () => {
    const made = await admin.post('user-registration-tokens', { usage_limit: 2 });
    const { id } = made.body.data ?? expect.fail('nothing was made');
    await sql(service.database, 'update user_registration_tokens set times_used = 2 where id = $1::uuid', [
      toUuid(parseId(id) ?? expect.fail('no id')),
    ]);
    const path = `user-registration-tokens/${id}`;
    expect((await admin.get(path)).body.data?.attributes).toMatchObject({ times_used: 2, valid: false });
    const lowered = await admin.send('PUT', path, { usage_limit: 1 });
    expect(lowered.body.errors).toMatchObject([{ code: 'invalid_request', source: { pointer: '/usage_limit' } }]);
  });

  test.each([
    [{ token: 'with a blank' }, '/token'],
    [{ token: '' }, '/token'],
    [{ usage_limit: 0 }, '/usage_limit'],
    [{ usage_limit: 2 ** 31 }, '/usage_limit'],
    [{ usage_limit: 1.5 }, '/usage_limit'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    [{ expires_at: 'tomorrow' }, '/expires_at'],
    [{ times_used: 0 }, '/times_used'],
  ])('are not created from %j', async (body, pointer) => {
    const refused = await admin.post('user-registration-tokens', body);
    expect(refused.body.errors).toMatchObject([{ code: 'invalid_request', source: { pointer } }]);
  });
});

test('lists clients without their secrets (operations 4.9)', async () => {
  const { body } = await admin.get('oauth2-clients?filter[client-name]=HARBOUR&filter[grant-type]=client_credentials');
  expect(body.data?.map(({ id }) => id)).toEqual([CLIENT, STRANGER]);
  expect(JSON.stringify(body)).not.toMatch(/secret-of|client_secret"/);
  expect((await admin.get(`oauth2-clients/${CLIENT}`)).body.data?.attributes['is_static']).toBe(true);
});

test('deletes a dynamically registered client, but not a configured one (operations 4.9)', async () => {
  expect(codes(await admin.delete(`oauth2-clients/${STRANGER}`))).toEqual(['client_is_static']);
  expect((await admin.delete(`oauth2-clients/${STRANGER}`)).status).toBe(409);
  expect((await admin.delete(`oauth2-clients/${ABSENT}`)).status).toBe(404);
  const registered = await program.post('/oauth2/token', { grant_type: 'client_credentials', scope: 'openid' });
  expect(registered.status).toBe(200);
  const { database, core } = service;
  const client = await insertClient(database, core.keyRing, clock.now(), { isStatic: false, metadata: {} });
  const { username } = await newUser();
  await startOAuth2Session(client, username);
  expect((await admin.delete(`oauth2-clients/${client}`)).status).toBe(204);
  expect((await admin.get(`oauth2-clients/${client}`)).status).toBe(404);
  expect(await sql(database, 'select 1 from oauth2_sessions where client_id = $1::uuid', [toUuid(client)])).toEqual([]);
});

async function startOAuth2Session(client: ClientId, username: string): Promise<void> {
  await sql(
    service.database,
    `insert into oauth2_sessions (id, user_id, client_id, scope, refresh_family, created_at)
     select $1::uuid, id, $2::uuid, '{openid}', $1::text::bytea, $3::timestamptz from users where username = $4::text`,
    [toUuid(newId(clock.now())), toUuid(client), new Date(clock.now()), username],
  );
}

describe('upstream identities (operations 4.10)', () => {
  const identity = (user: string, subject: string) => ({ user_id: user, provider_id: PROVIDER, subject });

  test('can be linked to accounts, listed and deleted, with a notification to the user', async () => {
    const { id: user } = await newUser({ email: 'linked@mail.example' });
    const { id: other } = await newUser();
    expect((await admin.get('upstream-oauth-providers?filter[enabled]=true')).body.meta?.count).toBe(1);
    const made = await admin.post('upstream-oauth-links', { ...identity(user, 'sub-1'), human_account_name: 'Maren' });
    expect([made.status, made.body.data?.attributes]).toMatchObject([
      201,
      { user_id: user, provider_id: PROVIDER, subject: 'sub-1', human_account_name: 'Maren' },
    ]);
    const id = made.body.data?.id;
    for (const again of [user, other]) {
      expect(codes(await admin.post('upstream-oauth-links', identity(again, 'sub-1')))).toEqual(['link_exists']);
    }
    await sql(service.database, `update upstream_links set user_id = null where subject = 'sub-1'`);
    const attached = await admin.post('upstream-oauth-links', identity(other, 'sub-1'));
    expect([attached.status, attached.body.data?.id]).toEqual([200, id]);
    expect(attached.body.data?.attributes).toMatchObject({ user_id: other, human_account_name: 'Maren' });
    expect((await admin.get(`upstream-oauth-links?filter[user]=${other}`)).body.meta?.count).toBe(1);
    expect((await admin.delete(`upstream-oauth-links/${id}`)).status).toBe(204);
    expect((await admin.delete(`upstream-oauth-links/${id}`)).status).toBe(404);
    const events = await sql(
      service.database,
      `select kind, detail ->> 'actor' as actor from audit_events where kind like 'upstream_%' order by kind`,
    );
    expect(events).toEqual(
      ['upstream_linked', 'upstream_linked', 'upstream_unlinked'].map((kind) => ({ kind, actor: 'admin' })),
    );
  });

  test('are deleted with pending sign-ins, but not with those that created a session', async () => {
    const { id: user } = await newUser();
    const id = (await admin.post('upstream-oauth-links', identity(user, 'sub-2'))).body.data?.id ?? '';
    const session = await insertBrowserSession(
      service.database,
      fromUuid(toUuid(parseId(user) ?? expect.fail())),
      clock.now(),
    );
    for (const owner of [null, toUuid(session)]) {
      await sql(
        service.database,
        `insert into upstream_authorizations (id, provider_id, state_hash, secrets_sealed, created_at, link_id, user_session_id)
         values (gen_random_uuid(), $1::uuid, sha256(gen_random_uuid()::text::bytea), '', now(), $2::uuid, $3::uuid)`,
        [toUuid(parseId(PROVIDER) ?? expect.fail()), toUuid(parseId(id) ?? expect.fail()), owner],
      );
    }
    expect((await admin.delete(`upstream-oauth-links/${id}`)).status).toBe(204);
    expect(await sql(service.database, 'select user_session_id from upstream_authorizations')).toEqual([
      { user_session_id: toUuid(session) },
    ]);
  });

  test('of unknown users or unknown providers are rejected', async () => {
    const { id: user } = await newUser();
    expect((await admin.post('upstream-oauth-links', identity(ABSENT, 'x'))).status).toBe(404);
    const elsewhere = { ...identity(user, 'x'), provider_id: ABSENT };
    expect((await admin.post('upstream-oauth-links', elsewhere)).status).toBe(404);
    expect(codes(await admin.post('upstream-oauth-links', identity(user, '')))).toEqual(['invalid_request']);
    expect(codes(await admin.post('upstream-oauth-links', identity(user, 'x'.repeat(256))))).toEqual([
      'invalid_request',
    ]);
  });

  test('are linked once, despite concurrent requests (S-100)', async () => {
    const { id: user } = await newUser();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => admin.post('upstream-oauth-links', identity(user, 'sub-race'))),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
  });
});

describe('policy data (operations 4.11)', () => {
  const set = async (data: unknown) => await admin.post('policy-data', { data });

  test('can be stored and read, with the last ten versions kept', async () => {
    expect(codes(await admin.get('policy-data/latest'))).toEqual(['not_found']);
    const made = await set({ banned_domains: ['first.example'] });
    expect([made.status, made.body.data?.attributes['data']]).toEqual([201, { banned_domains: ['first.example'] }]);
    const first = made.body.data?.id ?? expect.fail('nothing was stored');
    expect((await admin.get(made.body.data?.links.self ?? '')).body).toEqual(made.body);
    for (let count = 1; count <= 9; count += 1) await set({ banned_domains: [`d${count}.example`] });
    expect((await admin.get(`policy-data/${first}`)).status).toBe(200);
    const last = await set({});
    expect((await admin.get(`policy-data/${first}`)).status).toBe(404);
    expect((await admin.get('policy-data/latest')).body.data?.id).toBe(last.body.data?.id);
    expect(service.logLines().filter((line) => line.includes('operation=setPolicyData'))).toHaveLength(11);
  });

  test('stored at the same instant has a defined order, and the last version applies', async () => {
    const responses = await Promise.all(
      Array.from({ length: 5 }, (_, index) => set({ admin_users: [`turn${index}`] })),
    );
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    const latest = (await admin.get('policy-data/latest')).body.data;
    const names = responses.find(({ body }) => body.data?.id === latest?.id)?.body.data?.attributes['data'];
    expect(service.core.policy.data.adminUsers).toEqual(['root', ...Object.values(names ?? {}).flat()]);
    await set({});
  });

  test('applies from the next request to clients, users, email addresses and requesters', async () => {
    const stranger = new ChatOAuthClient(service, STRANGER);
    const ask = async () => await stranger.post('/oauth2/token', { grant_type: 'client_credentials', scope: SCOPE });
    expect((await ask()).status).toBe(400);
    await set({ admin_clients: [STRANGER] });
    const granted = await ask();
    expect(granted.status).toBe(200);
    const other = new AdminClient(service, String(granted.body['access_token']));
    expect((await other.get('version')).status).toBe(200);
    await set({});
    expect((await other.get('version')).status).not.toBe(200);

    await set({ requester: { banned_ips: ['127.0.0.1'] } });
    expect((await program.post('/oauth2/token', { grant_type: 'client_credentials' })).status).toBe(400);
    await set({ registration: { banned_usernames: { prefixes: ['troll'] } } });
    expect((await program.post('/oauth2/token', { grant_type: 'client_credentials' })).status).toBe(200);
  });

  test('applies on another instance a moment later; values unusable there are logged and ignored', async () => {
    const other = await startService(settings, { clock, like: service, expectedErrors: ['policy.invalid'] });
    try {
      other.core.policy.start();
      await set({ admin_users: ['elsewhere'] });
      await expect.poll(() => other.core.policy.data.adminUsers, { timeout: 20_000 }).toEqual(['root', 'elsewhere']);
      await sql(
        service.database,
        `insert into policy_data (id, data, created_at) values ($1::uuid, '{"of_a_later_version": 1}', now())`,
        ['ffffffff-0000-0000-0000-000000000000'],
      );
      await expect.poll(() => other.logLines().join('\n'), { timeout: 20_000 }).toContain('policy.invalid');
      expect(other.core.policy.data.adminUsers).toEqual(['root', 'elsewhere']);
      expect(other.logLines().filter((line) => line.includes('policy.invalid'))).toHaveLength(1);
    } finally {
      other.core.policy.stop();
      await other.stop();
      await sql(service.database, 'delete from policy_data where id = $1::uuid', [
        'ffffffff-0000-0000-0000-000000000000',
      ]);
    }
  });

  test.each([
    [{ data: { admin_users: ['ok', 7] } }, 'invalid_policy_data', '/data/admin_users/1'],
    [{ data: { unknown: [] } }, 'invalid_policy_data', '/data/unknown'],
    [{ data: { requester: { banned_ips: ['192.0.2.1/8'] } } }, 'invalid_policy_data', '/data/requester/banned_ips/0'],
    [{ data: [] }, 'invalid_request', '/data'],
    [{ data: {}, more: 1 }, 'invalid_request', '/more'],
    [{}, 'invalid_request', '/data'],
  ])('is rejected with a pointer to the error: %j', async (body, code, pointer) => {
    const before = (await admin.get('policy-data/latest')).body.data?.id;
    expect((await admin.post('policy-data', body)).body.errors).toMatchObject([{ code, source: { pointer } }]);
    expect((await admin.get('policy-data/latest')).body.data?.id).toBe(before);
  });
});

describe('background jobs (operations 4.12)', () => {
  const NEVER = 'hour-of-nobody';
  const insertJob = async (
    more: { readonly failed?: boolean; readonly worker?: boolean; readonly key?: string } = {},
  ) => {
    const id = newId(clock.now());
    await sql(
      service.database,
      `insert into queue_jobs (id, queue, payload, dedup_key, attempt, created_at, due_at, worker, failed_at, failed_reason)
       values ($1::uuid, $2::text, '{"user_id": "u", "access_token": "hidden"}', $3::text, 3, $4::timestamptz,
               $4::timestamptz + interval '1 hour', $5::uuid, $6::timestamptz, $7::text)`,
      [
        toUuid(id),
        NEVER,
        more.key ?? null,
        new Date(clock.now()),
        more.worker === true ? toUuid(id) : null,
        more.failed === true ? new Date(clock.now()) : null,
        more.failed === true ? 'the homeserver refused' : null,
      ],
    );
    return id;
  };

  test('are listed by state and queue, without possible secrets', async () => {
    const dead = await insertJob({ failed: true });
    const { body } = await admin.get(`jobs?filter[queue]=${NEVER}&filter[status]=dead`);
    expect(body.data?.map(({ id }) => id)).toEqual([dead]);
    expect(body.data?.[0]).toMatchObject({
      type: 'job',
      links: { self: `/api/admin/v1/jobs/${dead}` },
      attributes: {
        queue: NEVER,
        status: 'dead',
        attempt: 3,
        failed_reason: 'the homeserver refused',
        scheduled_at: null,
        payload: { user_id: 'u', access_token: '<redacted>' },
      },
    });
    expect((await admin.get(`jobs/${dead}`)).body.data?.attributes).toEqual(body.data?.[0]?.attributes);
    expect(codes(await admin.get('jobs?filter[status]=lost'))).toEqual(['invalid_parameter']);
    await admin.delete(`jobs/${dead}`);
  });

  test('can be retried after they failed, unless an equal job is queued', async () => {
    const dead = await insertJob({ failed: true, key: 'same' });
    const waiting = await insertJob({ key: 'same' });
    expect(codes(await admin.post(`jobs/${waiting}/retry`))).toEqual(['job_not_dead']);
    const superseded = await admin.post(`jobs/${dead}/retry`);
    expect([superseded.status, codes(superseded)]).toEqual([409, ['job_superseded']]);
    expect((await admin.delete(`jobs/${waiting}`)).status).toBe(204);
    const retried = await admin.post(`jobs/${dead}/retry`);
    expect([retried.status, retried.body.links?.['self']]).toEqual([201, `/api/admin/v1/jobs/${dead}/retry`]);
    expect(retried.body.data).toMatchObject({
      id: dead,
      attributes: { status: 'available', attempt: 0, failed_at: null },
    });
    expect((await admin.get(`jobs/${dead}`)).body.data?.attributes).toEqual(retried.body.data?.attributes);
    expect((await admin.post(`jobs/${ABSENT}/retry`)).status).toBe(404);
    await admin.delete(`jobs/${dead}`);
  });

  test('cannot be deleted while running', async () => {
    const running = await insertJob({ worker: true });
    expect((await admin.get(`jobs/${running}`)).body.data?.attributes['status']).toBe('running');
    const refused = await admin.delete(`jobs/${running}`);
    expect([refused.status, codes(refused)]).toEqual([409, ['job_running']]);
    await sql(service.database, 'delete from queue_jobs where id = $1::uuid', [toUuid(running)]);
    expect((await admin.delete(`jobs/${running}`)).status).toBe(404);
  });
});

describe('service information (operations 4.3)', () => {
  test('shows what users may do, and the version', async () => {
    expect((await admin.get('site-config')).status).toBe(200);
    expect((await admin.get('version')).body).toEqual({ version: service.core.process.version });
  });
});

describe('the OpenAPI document (operations 4.13)', () => {
  test('is public, names every operation once, and supports conditional requests', async () => {
    const response = await fetch(`${service.address}/api/spec.json`);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    const { openapi, paths, components } = await response.json();
    expect(openapi).toBe('3.1.0');
    const operations = Object.values<Record<string, { operationId: string }>>(paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(new Set(operations).size).toBe(operations.length);
    expect(operations).toEqual(expect.arrayContaining(['listUsers', 'finishOAuth2Session', 'getUpstreamOAuthLink']));
    expect(new Set(OPERATIONS.map(({ tag }) => tag))).toEqual(new Set(Object.keys(TAGS)));
    expect(Object.keys(components.securitySchemes)).toEqual(['oauth2', 'token']);
    const etag = response.headers.get('etag') ?? '';
    const again = await fetch(`${service.address}/api/spec.json`, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
  });

  test('is valid, with an example for each body and response that matches its schema', async () => {
    const description = await (await fetch(`${service.address}/api/spec.json`)).json();
    expect(await new Validator().validate(structuredClone(description))).toEqual({ valid: true });
    type Content = { readonly content?: Readonly<Record<string, { readonly example?: unknown }>> };
    const example = (part: Content | undefined) => part?.content?.['application/json']?.example;
    for (const { id, path, method, body, answers: results, errors } of OPERATIONS) {
      const address = `/api/admin/v1/${path}`.replace(/:([a-z]+)/g, '{$1}');
      const { requestBody, responses } = description.paths[address][method.toLowerCase()];
      if (body !== undefined) expect(body.safeParse(example(requestBody)), id).toMatchObject({ success: true });
      for (const { status, schema } of results) {
        if (schema !== undefined)
          expect(schema.safeParse(example(responses[status])), id).toMatchObject({ success: true });
      }
      for (const code of errors) {
        const status = adminStatus(code);
        expect(example(responses[status]), `${id} ${status}`).toMatchObject({ errors: [{ status: String(status) }] });
        const named: readonly string[] = responses[status].description.split(', ');
        expect(named, `${id} ${status}`).toEqual([...new Set(named)]);
      }
    }
  });

  test('describes each parameter, with an example unless its values are enumerated', async () => {
    const { paths } = await (await fetch(`${service.address}/api/spec.json`)).json();
    for (const { id, path, method, filters } of OPERATIONS) {
      const address = `/api/admin/v1/${path}`.replace(/:([a-z]+)/g, '{$1}');
      const parameters: readonly DescribedParameter[] = paths[address][method.toLowerCase()].parameters ?? [];
      const filtering = parameters.filter(({ name }) => name.startsWith('filter['));
      expect(filtering.map(({ name }) => name)).toEqual(Object.keys(filters?.shape ?? {}).map((of) => `filter[${of}]`));
      expect(new Set(parameters.map(({ description }) => description)).size, id).toBe(parameters.length);
      for (const { name, description, schema, explode } of parameters) {
        expect(description, `${id} ${name}`).toMatch(/^[A-Z].{20,}[.)]$/);
        const { enum: values, examples, items } = schema;
        if (values === undefined) expect(examples, `${id} ${name}`).toHaveLength(1);
        for (const value of values ?? []) expect(description, `${id} ${name}`).toContain(`\`${value}\``);
        if (explode === true) {
          expect(items, `${id} ${name}`).toBeDefined();
          expect(description, `${id} ${name}`).toMatch(/If given several times: (at any|of any|with all) of them\./);
        }
        const filter = filters?.shape[name.slice('filter['.length, -1)];
        const [example] = examples ?? [];
        if (filter === undefined || example === undefined) continue;
        const value = explode === true ? [example] : example;
        expect(filter.safeParse(value), `${id} ${name}`).toMatchObject({ success: true });
      }
    }
  });

  test('describes every operation, every tag, and every member of requests and responses', async () => {
    const { info, tags, paths, components } = await (await fetch(`${service.address}/api/spec.json`)).json();
    expect(info.description).toContain('urn:mas:admin');
    for (const { name, description } of tags) expect(description, name).toMatch(/\.$/);
    for (const { id, path, method } of OPERATIONS) {
      const { summary, description, requestBody, responses } =
        paths[`/api/admin/v1/${path}`.replace(/:([a-z]+)/g, '{$1}')][method.toLowerCase()];
      expect(description, id).toMatch(/\.$/);
      expect(description, id).not.toBe(summary);
      const schemas = [requestBody, ...Object.values<object>(responses)].map(
        (part) => part?.content?.['application/json']?.schema,
      );
      for (const schema of schemas) expect(undescribed(schema), id).toEqual([]);
    }
    expect(undescribed(components.schemas.Errors)).toEqual([]);
  });

  test('can be read from any origin without cookies, like the API itself', async () => {
    const preflight = await fetch(`${service.address}/api/admin/v1/users`, {
      method: 'OPTIONS',
      headers: { origin: 'https://admin.example', 'access-control-request-method': 'DELETE' },
    });
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, POST, PUT, PATCH, DELETE, OPTIONS');
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
  });

  test('shows scripts of any origin the version of an object and the name of a download', async () => {
    const refused = await fetch(`${service.address}/api/admin/v1/users`, {
      headers: { origin: 'https://admin.example' },
    });
    const exposed = 'WWW-Authenticate, DPoP-Nonce, ETag, Content-Disposition';
    expect([refused.status, refused.headers.get('access-control-expose-headers')]).toEqual([401, exposed]);
  });
});

interface DescribedParameter {
  readonly name: string;
  readonly description: string;
  readonly explode?: boolean;
  readonly schema: {
    readonly enum?: readonly string[];
    readonly examples?: readonly unknown[];
    readonly items?: object;
  };
}

interface DescribedSchema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, DescribedSchema>>;
  readonly items?: DescribedSchema;
  readonly anyOf?: readonly DescribedSchema[];
}

/** Returns the paths of all members without a description, at any depth. */
function undescribed(schema: DescribedSchema | undefined, path = ''): string[] {
  if (schema === undefined) return [];
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const below = undescribed(member, `${path}/${name}`);
    return /^[A-Z`].*\.$/s.test(member.description ?? '') ? below : [`${path}/${name}`, ...below];
  });
  const parts = [...(schema.anyOf ?? []), ...(schema.items === undefined ? [] : [schema.items])];
  return [...members, ...parts.flatMap((part) => undescribed(part, path))];
}
