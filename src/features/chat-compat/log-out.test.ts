import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { ChatClient, type ChatResponse, textOf } from '#test/support/chat-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';
const SECRET = 'a-secret-of-16-chars';
const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const CALLBACK = 'https://app.example/callback';
const API = 'urn:chat:client:api:*';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const SETTINGS = {
  clients: [
    {
      client_id: CLIENT_ID,
      client_auth_method: 'client_secret_basic',
      client_secret: SECRET,
      redirect_uris: [CALLBACK],
      first_party: true,
    },
  ],
  rate_limiting: { login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT } },
};
const ONLY_COMPAT = 'io.element.only_compat_is_fine';

const clock = new FakeClock();
let chat: ChatClient;
let users = 0;
let username: string;
let userId: string;

const service = await sharedByTests(startService(SETTINGS, { clock }));
const other = await sharedByTests(
  startService({ ...SETTINGS, compat: { logout_all: 'compat_only' } }, { clock, like: service }),
);

beforeAll(async () => {
  chat = new ChatClient(service);
  await service.registerUser('stranger', PASSWORD);
});
beforeEach(async () => {
  users += 1;
  username = `person${users}`;
  userId = await service.registerUser(username, PASSWORD);
});

async function begin(name = username) {
  const { accessToken, refreshToken = '' } = await chat.login(name, PASSWORD, { refresh_token: true });
  return { access: accessToken, refresh: refreshToken };
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

async function isGone(refreshToken: string): Promise<boolean> {
  return (await chat.post('/refresh', { refresh_token: refreshToken })).status === 401;
}

function refusal({ status, body }: ChatResponse): unknown[] {
  return [status, body['errcode'], body['soft_logout']];
}

const UNKNOWN = [401, 'M_UNKNOWN_TOKEN', false];
const STALE = [401, 'M_UNKNOWN_TOKEN', true];

/** Signs the user in to an application with OAuth. */
async function application(scope: string): Promise<{ access: string; refresh: string }> {
  const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get('/login');
  await browser.submit({ username, password: PASSWORD });
  const query = { client_id: CLIENT_ID, redirect_uri: CALLBACK, response_type: 'code', scope };
  await browser.get(`/authorize?${new URLSearchParams(query)}`);
  if (browser.page.location?.startsWith(CALLBACK) !== true) {
    await browser.follow();
    await browser.submit({ action: 'consent' }, { action: '/authorize' });
  }
  const code = new URL(browser.page.location ?? '').searchParams.get('code') ?? '';
  const tokens = await exchange({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
  return { access: tokens.access_token ?? '', refresh: tokens.refresh_token ?? '' };
}

async function exchange(form: Readonly<Record<string, string>>) {
  const headers = { authorization: `Basic ${btoa(`${CLIENT_ID}:${SECRET}`)}` };
  const response = await fetch(`${service.address}/oauth2/token`, {
    method: 'POST',
    headers,
    body: new URLSearchParams(form),
  });
  const tokens: { access_token?: string; refresh_token?: string; error?: string } = await response.json();
  return tokens;
}

async function isApplicationGone(refreshToken: string): Promise<boolean> {
  return (await exchange({ grant_type: 'refresh_token', refresh_token: refreshToken })).error === 'invalid_grant';
}

/** Returns when, from where and with what the user's sessions of a kind were last active. */
async function lastActivity(table: 'compat_sessions' | 'oauth2_sessions') {
  await service.core.activity.flush();
  return await sql(
    service.database,
    `select s.last_active_at as at, host(s.last_active_ip) as address, s.user_agent
       from ${table} s join users u on u.id = s.user_id where u.username = $1::text`,
    [username],
  );
}

async function events() {
  return await sql(
    service.database,
    `select e.detail, e.session_id is not null as names_session from audit_events e join users u on u.id = e.user_id
      where u.username = $1::text and e.kind = 'session_ended'`,
    [username],
  );
}

describe('logout', () => {
  test('ends the session with all its tokens, and no other', async () => {
    const one = await begin();
    const two = await begin();
    const response = await chat.post('/logout', undefined, bearer(one.access));
    expect([response.status, response.text]).toEqual([200, '{}']);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(service.requestLines().at(-1)).toMatchObject({ requester: `user:${userId}(${username})`, queries: 1 });
    expect(await isGone(one.refresh)).toBe(true);
    expect(await isGone(two.refresh)).toBe(false);
    expect(await events()).toEqual([{ detail: { reason: 'logout' }, names_session: true }]);
    expect(refusal(await chat.post('/logout', undefined, bearer(one.access)))).toEqual(UNKNOWN);
    expect(service.requestLines().at(-1)?.requester).toBeUndefined();
  });

  test.each(['/logout', '/logout/all'])('%s records the last activity of the session', async (path) => {
    const { access } = await begin();
    const app = await application(`openid ${API}`);
    clock.advanceSeconds(100);
    const seen = { at: new Date(clock.now()), address: '127.0.0.1', user_agent: 'agent at the end' };
    const headers = { 'user-agent': seen.user_agent };
    await chat.post(path, { [ONLY_COMPAT]: true }, { ...bearer(access), ...headers });
    expect(await lastActivity('compat_sessions')).toEqual([seen]);
    expect(await lastActivity('oauth2_sessions')).not.toEqual([seen]);
    await chat.post('/logout', undefined, { ...bearer(app.access), ...headers });
    expect(service.requestLines().at(-1)).toMatchObject({ queries: 1 });
    expect(await lastActivity('oauth2_sessions')).toEqual([seen]);
  });

  test.each(['r0', 'v1', 'unstable', 'v99'])('works in version %s, and ignores any body', async (version) => {
    const { access } = await begin();
    const client = new ChatClient(service, `/_chat/client/${version}`);
    const headers = { ...bearer(access), 'content-type': 'text/plain' };
    expect((await client.post('/logout', 'not { json', headers)).status).toBe(200);
  });

  test('returns a soft-logout error for a rotated or expired token: the client refreshes and signs out', async () => {
    const { access, refresh } = await begin();
    const refreshed = await chat.post('/refresh', { refresh_token: refresh });
    expect(refusal(await chat.post('/logout', undefined, bearer(access)))).toEqual(STALE);
    const successor = textOf(refreshed, 'access_token');
    clock.advanceSeconds(301);
    expect(refusal(await chat.post('/logout', undefined, bearer(successor)))).toEqual(STALE);
    const again = await chat.post('/refresh', { refresh_token: textOf(refreshed, 'refresh_token') });
    expect((await chat.post('/logout', undefined, bearer(textOf(again, 'access_token')))).status).toBe(200);
    expect(refusal(await chat.post('/logout', undefined, bearer(access)))).toEqual(UNKNOWN);
  });

  test('works for locked users', async () => {
    const { access, refresh } = await begin();
    await sql(service.database, 'update users set locked_at = now() where username = $1::text', [username]);
    expect((await chat.post('/logout', undefined, bearer(access))).status).toBe(200);
    await sql(service.database, 'update users set locked_at = null where username = $1::text', [username]);
    expect(await isGone(refresh)).toBe(true);
  });

  test.each([
    ['no header', {}],
    ['another scheme', { authorization: 'Basic YWxpY2U6c2VjcmV0' }],
    ['no token', { authorization: 'Bearer ' }],
  ])('without a token returns an error: %s', async (_, headers: Record<string, string>) => {
    const { access } = await begin();
    const response = await chat.post(`/logout?access_token=${access}`, undefined, headers);
    expect([response.status, response.body['errcode']]).toEqual([401, 'M_MISSING_TOKEN']);
  });

  test('rejects refresh tokens, malformed tokens and invented tokens', async () => {
    const { refresh } = await begin();
    const made = 'mct_000000000000000000000000000000_000000';
    for (const token of [refresh, made, 'mct_x', 'x', 'a b', 'ä']) {
      const headers = { authorization: `bearer ${Buffer.from(token).toString('latin1')}` };
      expect(refusal(await chat.post('/logout', undefined, headers)), token).toEqual(UNKNOWN);
    }
    expect(await isGone(refresh)).toBe(false);
  });

  test("with a client's token for the client API ends its session", async () => {
    const { access, refresh } = await application(`openid ${API}`);
    const chatSession = await begin();
    expect((await chat.post('/logout', undefined, bearer(access))).status).toBe(200);
    expect(await isApplicationGone(refresh)).toBe(true);
    expect(await isGone(chatSession.refresh)).toBe(false);
  });

  test('with any other client token does nothing', async () => {
    const { access, refresh } = await application('openid');
    expect(refusal(await chat.post('/logout', undefined, bearer(access)))).toEqual(UNKNOWN);
    expect(refusal(await chat.post('/logout/all', undefined, bearer(access)))).toEqual(UNKNOWN);
    expect(await isApplicationGone(refresh)).toBe(false);
  });

  test('does nothing for a sender-constrained token (S-48)', async () => {
    const { access, refresh } = await application(`openid ${API}`);
    await sql(
      service.database,
      `update oauth2_access_tokens t set dpop_jkt = 'thumbprint'
         from oauth2_sessions s join users u on u.id = s.user_id
        where s.id = t.session_id and u.username = $1::text`,
      [username],
    );
    expect(refusal(await chat.post('/logout', undefined, bearer(access)))).toEqual(UNKNOWN);
    expect(await isApplicationGone(refresh)).toBe(false);
  });

  test('called concurrently succeeds once, and ends the session once', async () => {
    const { access } = await begin();
    const elsewhere = new ChatClient(other);
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? chat : elsewhere).post('/logout', undefined, bearer(access))),
    );
    expect(responses.filter((response) => response.status === 200)).toHaveLength(1);
    expect(responses.filter((response) => response.status === 401)).toHaveLength(39);
    expect(await events()).toHaveLength(1);
  });
});

describe('logout/all', () => {
  test.each([
    ['without a body', undefined],
    ['with an empty one', {}],
    ['with the flag off', { [ONLY_COMPAT]: false }],
    ['with the flag null', { [ONLY_COMPAT]: null }],
  ])('%s ends the sessions of chat clients and of clients for the client API', async (_, body) => {
    const one = await begin();
    const two = await begin();
    const reaching = await application(`openid ${API}`);
    const plain = await application('openid');
    const stranger = await begin('stranger');

    const response = await chat.post('/logout/all', body, bearer(one.access));
    expect([response.status, response.text]).toEqual([200, '{}']);
    expect(service.requestLines().at(-1)).toMatchObject({ requester: `user:${userId}(${username})`, queries: 1 });
    expect([await isGone(one.refresh), await isGone(two.refresh)]).toEqual([true, true]);
    expect([await isApplicationGone(reaching.refresh), await isApplicationGone(plain.refresh)]).toEqual([true, false]);
    expect(await isGone(stranger.refresh)).toBe(false);
    expect(await events()).toEqual([{ detail: { reason: 'logout', sessions: 3 }, names_session: false }]);
  });

  test('with the flag on keeps client sessions', async () => {
    const one = await begin();
    const reaching = await application(`openid ${API}`);
    expect((await chat.post('/logout/all', { [ONLY_COMPAT]: true }, bearer(one.access))).status).toBe(200);
    expect(await isGone(one.refresh)).toBe(true);
    expect(await isApplicationGone(reaching.refresh)).toBe(false);
  });

  test("accepts a client's token for the client API", async () => {
    const one = await begin();
    const reaching = await application(`openid ${API}`);
    expect((await chat.post('/logout/all', { [ONLY_COMPAT]: true }, bearer(reaching.access))).status).toBe(200);
    expect(await isGone(one.refresh)).toBe(true);
    expect((await chat.post('/logout/all', undefined, bearer(reaching.access))).status).toBe(200);
    expect(await isApplicationGone(reaching.refresh)).toBe(true);
  });

  test('with compat_only is available only to clients that send the flag', async () => {
    const { access, refresh } = await begin();
    const elsewhere = new ChatClient(other);
    for (const body of [undefined, {}, { [ONLY_COMPAT]: false }]) {
      const response = await elsewhere.post('/logout/all', body, bearer(access));
      expect([response.status, response.body['errcode']]).toEqual([404, 'M_UNRECOGNIZED']);
    }
    expect(await isGone(refresh)).toBe(false);
    const { access: current } = await begin();
    expect((await elsewhere.post('/logout/all', { [ONLY_COMPAT]: true }, bearer(current))).status).toBe(200);
  });

  test('rejects a body that is not a JSON object, and a flag that is not a boolean', async () => {
    const { access, refresh } = await begin();
    for (const [body, code] of [
      ['{', 'M_NOT_JSON'],
      ['[]', 'M_BAD_JSON'],
      [{ [ONLY_COMPAT]: 'true' }, 'M_BAD_JSON'],
    ] as const) {
      const response = await chat.post('/logout/all', body, bearer(access));
      expect([response.status, response.body['errcode']]).toEqual([400, code]);
    }
    expect(await isGone(refresh)).toBe(false);
  });
});
