import { beforeAll, describe, expect, test } from 'vitest';
import { ChatClient, type ChatResponse, textOf } from '#test/support/chat-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';
const SECRET = 'the-secret-that-the-homeserver-shares';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const SETTINGS = {
  homeserver: { kind: 'none', homeserver: 'chat.example', secret: SECRET },
  clients: [{ client_id: CLIENT_ID, client_auth_method: 'client_secret_basic', client_secret: 'a-secret-of-16-chars' }],
  rate_limiting: { login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT } },
};

const clock = new FakeClock();
let chat: ChatClient;
let amira: string;

const service = await sharedByTests(startService(SETTINGS, { clock }));
const other = await sharedByTests(startService(SETTINGS, { clock, like: service }));

beforeAll(async () => {
  chat = new ChatClient(service);
  amira = await service.registerUser('amira', PASSWORD);
});

async function begin(): Promise<{ access: string; refresh: string; device: string }> {
  const { accessToken, refreshToken, deviceId } = await chat.login('amira', PASSWORD, { refresh_token: true });
  return { access: accessToken, refresh: refreshToken ?? '', device: deviceId };
}

async function refresh(token: unknown, through = chat): Promise<ChatResponse> {
  return await through.post('/refresh', { refresh_token: token }, { authorization: 'Bearer mct_stale' });
}

async function introspect(
  token: string,
  fields: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = { 'x-mas-supports-device-id': '1' },
): Promise<Record<string, unknown>> {
  const response = await fetch(`${service.address}/oauth2/introspect`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}`, ...headers },
    body: new URLSearchParams({ token, ...fields }),
  });
  expect(response.status).toBe(200);
  const body: Record<string, unknown> = await response.json();
  return body;
}

function expectUnknown(response: ChatResponse): void {
  expect([response.status, response.body['errcode'], response.body['soft_logout']]).toEqual([
    401,
    'M_UNKNOWN_TOKEN',
    false,
  ]);
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
}

async function setAccount(column: 'locked_at' | 'deactivated_at', value: 'now()' | 'null'): Promise<void> {
  await sql(service.database, `update users set ${column} = ${value} where username = 'amira'`);
}

describe('refresh', () => {
  test('returns a new pair and invalidates the old access token at once', async () => {
    const { access, refresh: token } = await begin();
    const response = await refresh(token);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.body).toEqual({
      access_token: expect.stringMatching(/^mct_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}$/),
      refresh_token: expect.stringMatching(/^mcr_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}$/),
      expires_in_ms: 300_000,
    });
    expect(service.requestLines().at(-1)).toMatchObject({ requester: `user:${amira}`, queries: 2 });
    expect(await introspect(access)).toEqual({ active: false });
    expect(await introspect(textOf(response, 'access_token'))).toMatchObject({ active: true });
  });

  test('returns the same pair within the grace period, used or not', async () => {
    const { refresh: token } = await begin();
    const first = await refresh(token);
    await introspect(textOf(first, 'access_token'));
    clock.advanceSeconds(20);
    const again = await refresh(token, new ChatClient(other, '/_chat/client/r0'));
    expect(again.body).toEqual({ ...first.body, expires_in_ms: 280_000 });
  });

  test('repeats a lost response after it: the same refresh token, another access token', async () => {
    const { refresh: token } = await begin();
    const lost = await refresh(token);
    clock.advanceSeconds(31);
    const response = await refresh(token);
    expect(response.body['refresh_token']).toBe(lost.body['refresh_token']);
    expect(response.body['access_token']).not.toBe(lost.body['access_token']);
    expect(await introspect(textOf(lost, 'access_token'))).toEqual({ active: false });
    expect(await introspect(textOf(response, 'access_token'))).toMatchObject({ active: true });
  });

  test('ends the session when a token is reused after its successor was used (S-43)', async () => {
    const { refresh: token, device } = await begin();
    const attacker = await refresh(token);
    await introspect(textOf(attacker, 'access_token'));
    clock.advanceSeconds(31);
    expectUnknown(await refresh(token));
    expect(await introspect(textOf(attacker, 'access_token'))).toEqual({ active: false });
    expectUnknown(await refresh(textOf(attacker, 'refresh_token')));
    const [session] = await sql<{ finish_reason: string }>(
      service.database,
      'select finish_reason from compat_sessions where device_id = $1::text',
      [device],
    );
    expect(session?.finish_reason).toBe('refresh_token_reused');
    expect(service.logLines().some((line) => line.includes('token.reuse'))).toBe(true);
  });

  test('ends the session for a token two generations old, at any time', async () => {
    const { refresh: token } = await begin();
    const second = await refresh(token);
    const third = await refresh(textOf(second, 'refresh_token'));
    expectUnknown(await refresh(token));
    expect(await introspect(textOf(third, 'access_token'))).toEqual({ active: false });
  });

  test('ends nothing for a request delayed while its client continued', async () => {
    const { refresh: token } = await begin();
    clock.advanceSeconds(1);
    const second = await refresh(token);
    const third = await refresh(textOf(second, 'refresh_token'));
    clock.advanceSeconds(-1);
    expectUnknown(await refresh(token));
    expect(await introspect(textOf(third, 'access_token'))).toMatchObject({ active: true });
  });

  test('consumes nothing for a locked account, and is unknown for a deactivated one', async () => {
    const { refresh: token } = await begin();
    await setAccount('locked_at', 'now()');
    const locked = await refresh(token);
    expect([locked.status, locked.body['errcode'], locked.body['soft_logout']]).toEqual([401, 'M_USER_LOCKED', true]);
    await setAccount('locked_at', 'null');
    await setAccount('deactivated_at', 'now()');
    expectUnknown(await refresh(token));
    await setAccount('deactivated_at', 'null');
    expect((await refresh(token)).status).toBe(200);
  });

  test('rejects other kinds, malformed tokens and ended sessions as unknown', async () => {
    const { access, refresh: token, device } = await begin();
    expectUnknown(await refresh(access));
    expect(service.requestLines().at(-1)?.queries).toBe(0);
    expectUnknown(await refresh('mcr_000000000000000000000000000000_000000'));
    expectUnknown(await refresh(''));
    expectUnknown(await refresh(`${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`));
    await chat.login('amira', PASSWORD, { device_id: device });
    expectUnknown(await refresh(token));
  });

  test.each([[[]], [{}], [{ refresh_token: 1 }], [{ refresh_token: null }]])('rejects %j', async (body) => {
    const response = await chat.post('/refresh', body);
    expect([response.status, response.body['errcode']]).toEqual([400, 'M_BAD_JSON']);
  });

  test('in two hundred rounds returns one pair for all concurrent requests, on two instances (S-43)', async () => {
    const clients = [chat, new ChatClient(other)];
    let { refresh: token } = await begin();
    for (let round = 0; round < 200; round += 1) {
      const responses = await Promise.all([...clients, ...clients].map((client) => refresh(token, client)));
      const pairs = responses.map(({ status, body }) => [status, body['access_token'], body['refresh_token']].join());
      expect([round, new Set(pairs).size, responses[0]?.status]).toEqual([round, 1, 200]);
      token = textOf(responses[0] ?? (await refresh(token)), 'refresh_token');
    }
  }, 120_000);
});

describe('introspection of chat client tokens', () => {
  test('returns the device, and times in whole seconds', async () => {
    const { access, device } = await begin();
    clock.advanceSeconds(10.5);
    const now = Math.floor(clock.now() / 1000);
    const body = await introspect(access, { token_type_hint: 'access_token' });
    expect(body).toEqual({
      active: true,
      scope: 'urn:chat:client:api:* urn:chat:org.chat.msc2967.client:api:*',
      client_id: 'legacy',
      username: 'amira',
      sub: amira,
      token_type: 'Bearer',
      device_id: device,
      iss: service.issuer,
      iat: expect.any(Number),
      nbf: body['iat'],
      exp: Number(body['iat']) + 300,
      expires_in: expect.toSatisfy(Number.isInteger),
    });
    expect(Number(body['exp'])).toBeLessThanOrEqual(now + 290);
    expect(service.requestLines().at(-1)).toMatchObject({ requester: 'homeserver', queries: 2 });
    await introspect(access);
    expect(service.requestLines().at(-1)?.queries).toBe(1);
  });

  test('adds the device scope for callers that need it, and omits a device that no scope can express', async () => {
    const { accessToken } = await chat.login('amira', PASSWORD, { device_id: 'PHONE' });
    const { scope, exp } = await introspect(accessToken, {}, {});
    expect(scope).toContain('urn:chat:client:device:PHONE urn:chat:org.chat.msc2967.client:device:PHONE');
    expect(exp).toBeUndefined();
    const strange = await chat.login('amira', PASSWORD, { device_id: 'my phone' });
    expect(await introspect(strange.accessToken, {}, {})).toEqual({ active: false });
    expect(await introspect(strange.accessToken)).toMatchObject({ active: true, device_id: 'my phone' });
  });

  test('includes the admin scope for a homeserver administrator', async () => {
    const { accessToken, deviceId } = await chat.login('amira', PASSWORD);
    await sql(service.database, 'update compat_sessions set is_homeserver_admin = true where device_id = $1::text', [
      deviceId,
    ]);
    expect((await introspect(accessToken))['scope']).toContain('urn:synapse:admin:*');
  });

  test('returns inactive for an expired token, or an unusable account', async () => {
    const { access } = await begin();
    await setAccount('locked_at', 'now()');
    expect(await introspect(access)).toEqual({ active: false });
    await setAccount('locked_at', 'null');
    expect(await introspect(access)).toMatchObject({ active: true });
    clock.advanceSeconds(300);
    expect(await introspect(access)).toEqual({ active: false });
  });

  test('returns inactive for a hint that does not match', async () => {
    const { access, refresh: token } = await begin();
    expect(await introspect(access, { token_type_hint: 'refresh_token' })).toEqual({ active: false });
    expect(await introspect(token, { token_type_hint: 'access_token' })).toEqual({ active: false });
    expect(await introspect(token)).toMatchObject({ active: true, token_type: 'refresh_token', client_id: 'legacy' });
  });

  test('is allowed to a configured client', async () => {
    const { access } = await begin();
    const response = await fetch(`${service.address}/oauth2/introspect`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${CLIENT_ID}:a-secret-of-16-chars`).toString('base64')}` },
      body: new URLSearchParams({ token: access }),
    });
    expect(await response.json()).toMatchObject({ active: true, username: 'amira' });
  });
});
