import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { ChatClient, type ChatResponse, textOf } from '#test/support/chat-client.ts';
import { agreeToSso, loginTokenOf, ssoPath } from '#test/support/chat-sso.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';

const PASSWORD = 'correct horse battery staple';
const SECRET = 'shared-secret-of-the-test';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const TOKEN = /^mct_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}$/;
/** Log lines of rejected logins. */
const EXPECTED = ['" 503 Service'];

const clock = new FakeClock();
let chat: ChatClient;
let amira: string;
let browsers = 0;

const homeserver = await sharedByTests(startStandInHomeserver(SECRET, 'chat.example'));
const service = await sharedByTests(startService(settings(), { clock, expectedErrors: EXPECTED }));

beforeAll(async () => {
  chat = new ChatClient(service);
  amira = await service.registerUser('amira', PASSWORD);
});

beforeEach(async () => {
  await homeserver.setFault(undefined);
  // The homeserver's circuit breaker may still be open from the previous test.
  clock.advanceSeconds(11);
  await sql(service.database, 'delete from queue_jobs where failed_at is null');
  await sql(service.database, 'delete from compat_sessions');
  homeserver.addUser('amira');
  homeserver.requests.length = 0;
});

function settings(more: object = {}) {
  const { endpoint, serverName } = homeserver;
  return {
    http: { trusted_proxies: ['127.0.0.1'], client_ip_header: 'x-forwarded-for' },
    homeserver: { kind: 'synapse', homeserver: serverName, endpoint, secret: SECRET },
    rate_limiting: {
      login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
      sso_redirect: { per_ip: HIGH_LIMIT },
    },
    ...more,
  };
}

async function signedIn(of: TestService = service): Promise<Browser> {
  browsers += 1;
  const browser = new Browser({
    listener: of.address,
    publicBase: of.publicBase,
    headers: { 'x-forwarded-for': `198.51.100.${browsers}` },
  });
  await browser.get('/login');
  await browser.submit({ username: 'amira', password: PASSWORD });
  expect(browser.page.status).toBe(303);
  return browser;
}

function logIn(token: unknown, fields: Readonly<Record<string, unknown>> = {}, at = chat): Promise<ChatResponse> {
  return at.post('/login', { type: 'm.login.token', token, ...fields });
}

async function sessions() {
  return await sql<{ device_id: string; human_name: string | null; finish_reason: string | null }>(
    service.database,
    'select device_id, human_name, finish_reason from compat_sessions order by created_at, id',
  );
}

function devicesTold(): unknown[] {
  return homeserver.requests.filter(({ path }) => path === '/_synapse/mas/upsert_device');
}

function expectError(response: ChatResponse, status: number, errcode: string): void {
  expect([response.status, response.body['errcode']]).toEqual([status, errcode]);
  expect(response.body['error']).toEqual(expect.any(String));
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
}

async function setUser(change: string): Promise<void> {
  await sql(service.database, `update users set ${change} where username = 'amira'`);
}

describe('POST login with a login token (chat-compat 5.4)', () => {
  test("creates a session linked to the user's browser session, in three statements", async () => {
    const token = await loginTokenOf(await signedIn());
    const response = await logIn(token, { device_id: 'PHONE', initial_device_display_name: 'Phone' });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      access_token: expect.stringMatching(TOKEN),
      device_id: 'PHONE',
      user_id: '@amira:chat.example',
    });
    expect(service.requestLines().at(-1)).toMatchObject({ queries: 3, requester: `user:${amira}(amira)` });
    expect(homeserver.user('amira')?.devices.get('PHONE')).toBe('Phone');
    const [row] = await sql<{ is_linked: boolean }>(
      service.database,
      `select c.user_session_id is not null and c.user_session_id = l.user_session_id
              and l.exchanged_at = c.created_at as is_linked
         from compat_sessions c join compat_sso_logins l on l.compat_session_id = c.id`,
    );
    expect(row?.is_linked).toBe(true);
  });

  test('issues both tokens to a client that can refresh', async () => {
    const { body } = await logIn(await loginTokenOf(await signedIn()), { refresh_token: true });
    expect(body['expires_in_ms']).toBe(300_000);
    const refreshed = await chat.post('/refresh', { refresh_token: body['refresh_token'] });
    expect(refreshed.status).toBe(200);
  });

  test('works with passwords disabled, and ignores a stale Authorization header (I-05)', async () => {
    const token = await loginTokenOf(await signedIn());
    const own = await startService(settings({ passwords: { enabled: false } }), { clock, like: service });
    const headers = { authorization: 'Bearer mct_stale', cookie: 'latchkey_session=x' };
    const response = await new ChatClient(own).post('/login', { type: 'm.login.token', token }, headers);
    expect(response.status).toBe(200);
    expect(response.headers.get('set-cookie')).toBeNull();
    await own.stop();
  });

  test.each([
    ['of the wrong form', 'short'],
    ['unknown', 'A'.repeat(32)],
    ['an access token', `mct_${'A'.repeat(30)}_AAAAAA`],
    ['with more characters', `${'A'.repeat(32)}\n`],
  ])('rejects one that is %s', async (_what, token) => {
    expectError(await logIn(token), 403, 'M_FORBIDDEN');
  });

  test.each([
    ['missing', undefined],
    ['null', null],
    ['a number', 7],
    ['a list', ['x']],
  ])('rejects one that is %s as a malformed request', async (_what, token) => {
    expectError(await logIn(token), 400, 'M_BAD_JSON');
  });

  test('rejects a malformed device id before checking the token', async () => {
    const token = await loginTokenOf(await signedIn());
    expectError(await logIn(token, { device_id: '' }), 400, 'M_INVALID_PARAM');
    expect((await logIn(token)).status).toBe(200);
  });

  test('expires the token after 30 seconds (compat.login_token_ttl, S-71)', async () => {
    const browser = await signedIn();
    const [one, other] = [await loginTokenOf(browser), await loginTokenOf(browser)];
    clock.advanceSeconds(30);
    expect((await logIn(one)).status).toBe(200);
    clock.advanceSeconds(1);
    expectError(await logIn(other), 403, 'M_FORBIDDEN');
    expect(await sessions()).toHaveLength(1);
  });

  test('keeps the session when a client resends the token within 20 seconds (I-12)', async () => {
    const token = await loginTokenOf(await signedIn());
    const { body } = await logIn(token);
    clock.advanceSeconds(20);
    expectError(await logIn(token), 403, 'M_FORBIDDEN');
    expect(await sessions()).toEqual([expect.objectContaining({ finish_reason: null })]);
    const response = await chat.post('/logout', undefined, { authorization: `Bearer ${body['access_token']}` });
    expect(response.status).toBe(200);
  });

  test('ends the session when the token is resent later, and deletes the homeserver device (S-71)', async () => {
    const token = await loginTokenOf(await signedIn());
    const response = await logIn(token, { device_id: 'PHONE' });
    clock.advanceSeconds(21);
    expectError(await logIn(token), 403, 'M_FORBIDDEN');
    expect(await sessions()).toEqual([expect.objectContaining({ finish_reason: 'login_token_reused' })]);
    const dead = await chat.post('/logout', undefined, { authorization: `Bearer ${textOf(response, 'access_token')}` });
    expectError(dead, 401, 'M_UNKNOWN_TOKEN');
    expect(service.logLines().findLast((line) => line.includes('token.reuse'))).toContain(`user=${amira}`);
    const events = await sql<{ detail: unknown }>(
      service.database,
      `select detail from audit_events where kind = 'session_ended' order by created_at desc, id desc limit 1`,
    );
    expect(events).toEqual([{ detail: { reason: 'login_token_reused' } }]);
    await notifyHomeserver(service.core);
    expect([...(homeserver.user('amira')?.devices.keys() ?? [])]).toEqual([]);
  });

  test('creates one session and one homeserver device for twenty concurrent requests (S-71)', async () => {
    const token = await loginTokenOf(await signedIn());
    const responses = await Promise.all(Array.from({ length: 20 }, () => logIn(token)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 403)]);
    expect(await sessions()).toEqual([expect.objectContaining({ finish_reason: null })]);
    expect(devicesTold()).toHaveLength(1);
  });

  test('rejects the token once its user has signed out of the browser', async () => {
    const browser = await signedIn();
    const token = await loginTokenOf(browser);
    await browser.get('/');
    await browser.submit({}, { action: '/logout' });
    expectError(await logIn(token), 403, 'M_FORBIDDEN');
    expect(devicesTold()).toEqual([]);
  });

  test('reports a locked user, and accepts the token after unlocking', async () => {
    const token = await loginTokenOf(await signedIn());
    await setUser('locked_at = now()');
    const response = await logIn(token);
    await setUser('locked_at = null');
    expectError(response, 401, 'M_USER_LOCKED');
    expect(response.body['soft_logout']).toBe(true);
    expect((await logIn(token)).status).toBe(200);
  });

  test('does not reveal that a user was deactivated', async () => {
    const token = await loginTokenOf(await signedIn());
    await setUser('deactivated_at = now()');
    const response = await logIn(token);
    await setUser('deactivated_at = null');
    expectError(response, 403, 'M_FORBIDDEN');
  });

  test('does not consume the token while the homeserver is down', async () => {
    const token = await loginTokenOf(await signedIn());
    await homeserver.setFault({ kind: 'refuse' });
    expectError(await logIn(token), 503, 'M_UNKNOWN');
    await homeserver.setFault(undefined);
    clock.advanceSeconds(11);
    expect((await logIn(token)).status).toBe(200);
  });

  test('replaces the session of an existing device and keeps its name (I-11)', async () => {
    const browser = await signedIn();
    await logIn(await loginTokenOf(browser), { device_id: 'PHONE', initial_device_display_name: 'First' });
    clock.advanceSeconds(1);
    await logIn(await loginTokenOf(browser), { device_id: 'PHONE', initial_device_display_name: 'Second' });
    expect(await sessions()).toEqual([
      { device_id: 'PHONE', human_name: 'First', finish_reason: 'device_replaced' },
      { device_id: 'PHONE', human_name: 'First', finish_reason: null },
    ]);
  });

  test('keeps the session when its user signs out of the browser (chat-compat 10.1)', async () => {
    const browser = await signedIn();
    const { body } = await logIn(await loginTokenOf(browser));
    await browser.get('/');
    await browser.submit({}, { action: '/logout' });
    const response = await chat.post('/logout', undefined, { authorization: `Bearer ${body['access_token']}` });
    expect(response.status).toBe(200);
  });

  test('refuses the token at the hard session limit, and accepts it after a sign-out (chat-compat 10.5)', async () => {
    const experimental = { session_limit: { soft_limit: 1, hard_limit: 1 } };
    const own = await startService(settings({ experimental }), { clock, like: service });
    const client = new ChatClient(own);
    const browser = await signedIn(own);
    const [one, other] = [await loginTokenOf(browser), await loginTokenOf(browser)];
    const first = await logIn(one, {}, client);
    const refused = await logIn(other, {}, client);
    expectError(refused, 403, 'M_FORBIDDEN');
    expect(refused.body['info_uri']).toBe(`${own.publicBase}account/`);
    await client.post('/logout', undefined, { authorization: `Bearer ${textOf(first, 'access_token')}` });
    expect((await logIn(other, {}, client)).status).toBe(200);
    await own.stop();
  });

  test('rejects requesters banned by policy', async () => {
    const token = await loginTokenOf(await signedIn());
    const policy = { data: { requester: { banned_user_agents: { literals: ['Banned'] } } } };
    const own = await startService(settings({ policy }), { clock, like: service });
    const response = await new ChatClient(own).post(
      '/login',
      { type: 'm.login.token', token },
      { 'user-agent': 'Banned' },
    );
    expectError(response, 403, 'M_FORBIDDEN');
    await own.stop();
  });
});

test('I-12: supports registration in the browser before the client signs in', async () => {
  const own = await startService(
    settings({ account: { password_registration_enabled: true, password_registration_email_required: false } }),
    { clock, like: service },
  );
  const browser = new Browser({ listener: own.address, publicBase: own.publicBase });
  const walked: string[] = [];
  await browser.get(ssoPath('https://chat.example/', { action: 'register' }));
  while (browser.page.location?.startsWith(own.publicBase)) {
    walked.push(new URL(browser.page.location).pathname.replace(/[0-9A-Z]{26}/, '{id}'));
    await browser.get(browser.page.location);
  }
  expect(walked).toEqual(['/complete-compat-sso/{id}', '/register', '/register/password']);
  expect(new URL(browser.page.url).search).toMatch(/kind=continue_compat_sso_login/);
  expect(browser.page.text).toContain('chat.example');
  await own.stop();
});

test('the display name is that of the homeserver, and is hidden if it has none', async () => {
  homeserver.addUser('amira').displayName = 'Amira of the Harbour';
  const browser = await signedIn();
  await browser.open(ssoPath('https://chat.example/'));
  expect(browser.page.text).toContain('Amira of the Harbour @amira:chat.example');
  await homeserver.setFault({ kind: 'refuse' });
  await browser.open(ssoPath('https://chat.example/'));
  expect(browser.page.status).toBe(200);
  expect(browser.page.text).not.toContain('Amira of');
  expect((await agreeToSso(browser)).status).toBe(303);
});
