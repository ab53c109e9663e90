/**
 * Chat clients that sign in through OAuth, and their devices at the homeserver (chat-compat 5.5, 10.4, 11.6). Runs the
 * sequences I-15, I-16, I-17 and I-22 as plain requests, under both usual names of the protocol.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { ChatOAuthClient, chatClientSettings, type OAuthResponse, tokensOf } from '#test/support/chat-oauth-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import {
  type StandInHomeserver,
  startStandInHomeserver,
} from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1TWB';
const SECRET = 'shared-secret-of-the-test';
const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const PHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Safari/604.1';

async function jsonOf(response: Promise<Response>): Promise<Record<string, unknown>> {
  return await (await response).json();
}

describe.each(['chat', 'matrix'])('with the protocol name %s', (name) => {
  const STABLE = `urn:${name}:client:`;
  const UNSTABLE = `urn:${name}:org.${name}.msc2967.client:`;
  const clock = new FakeClock();

  let homeserver: StandInHomeserver;
  let service: TestService;
  let client: ChatOAuthClient;
  let compat: ChatClient;
  let amira: Browser;
  let bruno: Browser;
  let devices = 0;

  beforeAll(async () => {
    homeserver = await startStandInHomeserver(SECRET);
    const { endpoint, serverName } = homeserver;
    service = await startService(
      {
        protocol_name: name,
        homeserver: { kind: 'synapse', homeserver: serverName, endpoint, secret: SECRET },
        clients: [chatClientSettings(CLIENT, { first_party: true })],
        passwords: { schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 64, iterations: 1 }] },
        rate_limiting: { login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT } },
      },
      { clock, expectedErrors: ['503 Service Unavailable'] },
    );
    client = new ChatOAuthClient(service, CLIENT);
    compat = new ChatClient(service, `/_${name}/client/v3`);
    for (const username of ['amira', 'bruno']) await service.registerUser(username, PASSWORD);
    await notifyHomeserver(service.core);
    amira = await signIn('amira');
    bruno = await signIn('bruno');
  });

  beforeEach(async () => {
    await homeserver.setFault(undefined);
    // Closes the circuit breaker after an outage.
    clock.advanceSeconds(11);
    await notifyHomeserver(service.core);
    homeserver.requests.length = 0;
  });

  afterAll(async () => {
    await service.stop();
    await homeserver.stop();
  });

  async function signIn(username: string): Promise<Browser> {
    const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    await browser.open('/login');
    await browser.submit({ username, password: PASSWORD });
    clock.advanceSeconds(1);
    return browser;
  }

  function newDevice(): string {
    devices += 1;
    return `DEVICE${String(devices).padStart(4, '0')}`;
  }

  const scopeOf = (device: string, prefix = STABLE) => `openid ${prefix}api:* ${prefix}device:${device}`;
  /** Received calls, without the user queries of pages. */
  const calls = () =>
    homeserver.requests.map(({ path }) => path.split('/').at(-1)).filter((call) => call !== 'query_user');
  const devicesOf = (username: string) => [...(homeserver.user(username)?.devices.keys() ?? [])];

  /** Introspects a token like the homeserver. */
  async function introspect(token: string): Promise<Readonly<Record<string, unknown>>> {
    const headers = { authorization: `Bearer ${SECRET}`, 'x-mas-supports-device-id': '1' };
    return (await client.post('/oauth2/introspect', { token, token_type_hint: 'access_token' }, headers)).body;
  }

  async function sessionsOn(device: string): Promise<number> {
    const [row] = await sql<{ count: number }>(
      service.database,
      `select (select count(*) from oauth2_sessions where device_id = $1::text and finished_at is null)::integer
            + (select count(*) from compat_sessions where device_id = $1::text and finished_at is null)::integer as count`,
      [device],
    );
    return row?.count ?? -1;
  }

  /** Uses a client's tokens from the first request to the revocation (I-15, I-16). */
  async function useAndRevoke(response: OAuthResponse, device: string, prefix: string): Promise<void> {
    const tokens = tokensOf(response);
    const both = [STABLE, UNSTABLE].flatMap((each) => [`${each}api:*`, `${each}device:${device}`]);
    const told = await introspect(tokens.accessToken);
    expect(told).toMatchObject({ active: true, username: 'amira', device_id: device });
    expect(String(told['scope']).split(' ').toSorted()).toEqual([...both, 'openid'].toSorted());
    homeserver.requests.length = 0;
    const refreshed = await client.refresh(tokens.refreshToken);
    expect(refreshed.body['scope']).toBe(scopeOf(device, prefix));
    await notifyHomeserver(service.core);
    expect(calls(), 'a refresh tells the homeserver nothing').toEqual([]);
    expect((await client.revoke(tokensOf(refreshed).refreshToken)).status).toBe(200);
    expect(await introspect(tokensOf(refreshed).accessToken)).toEqual({ active: false });
    await notifyHomeserver(service.core);
    expect(calls()).toEqual(['sync_devices']);
    expect(devicesOf('amira')).not.toContain(device);
  }

  test.each([UNSTABLE, STABLE])(
    'a registered client signs in with a code for a device by %s (I-15)',
    async (prefix) => {
      const metadata = await jsonOf(fetch(`${service.address}/.well-known/openid-configuration`));
      const registered = await jsonOf(
        fetch(String(metadata['registration_endpoint']), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            client_name: 'Quay',
            client_uri: 'https://quay.example/',
            redirect_uris: ['https://quay.example/callback'],
            grant_types: ['authorization_code', 'refresh_token'],
            response_types: ['code'],
            token_endpoint_auth_method: 'none',
          }),
        }),
      );
      const id = String(registered['client_id']);
      const device = newDevice();
      const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
      const request = {
        ...{ client_id: id, redirect_uri: 'https://quay.example/callback', response_type: 'code' },
        ...{ response_mode: 'fragment', state: 'st', scope: scopeOf(device, prefix) },
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      };
      await amira.open(`/authorize?${new URLSearchParams(request)}`);
      await amira.submit({ action: 'consent' }, { action: '/authorize' });
      const code = new URLSearchParams(new URL(amira.page.location ?? '').hash.slice(1)).get('code') ?? '';
      expect(calls(), 'nothing is told before the client has come with its code').toEqual([]);
      const exchange = await fetch(`${service.address}/oauth2/token`, {
        method: 'POST',
        headers: { 'user-agent': PHONE },
        body: new URLSearchParams({
          ...{ grant_type: 'authorization_code', client_id: id, code, code_verifier: verifier },
          redirect_uri: 'https://quay.example/callback',
        }),
      });
      const body: Record<string, unknown> = await exchange.json();
      expect(body).toMatchObject({ scope: scopeOf(device, prefix), refresh_token: expect.any(String) });
      expect(calls()).toEqual(['upsert_device']);
      expect(homeserver.user('amira')?.devices.get(device)).toBe('Quay (iPhone, Safari, iOS)');
      expect(await introspect(String(body['access_token']))).toMatchObject({ active: true, device_id: device });
      const revoke = new URLSearchParams({ client_id: id, token: String(body['access_token']) });
      await fetch(`${service.address}/oauth2/revoke`, { method: 'POST', body: revoke });
      await notifyHomeserver(service.core);
      expect(devicesOf('amira')).not.toContain(device);
    },
  );

  test.each([UNSTABLE, STABLE])(
    'a session of the code grant for a device by %s, from sign-in to its end (I-15)',
    async (prefix) => {
      const device = newDevice();
      const code = await client.code(amira, scopeOf(device, prefix));
      const response = await client.exchange(code);
      expect(calls()).toEqual(['upsert_device']);
      expect(homeserver.requests[0]?.body).toMatchObject({ localpart: 'amira', device_id: device });
      await useAndRevoke(response, device, prefix);
    },
  );

  test.each([UNSTABLE, STABLE])('a session of the device grant for a device by %s (I-16)', async (prefix) => {
    const device = newDevice();
    const deviceCode = await client.deviceCode(amira, scopeOf(device, prefix));
    expect(calls()).toEqual([]);
    const response = await client.poll(deviceCode, { 'user-agent': PHONE });
    expect(calls()).toEqual(['upsert_device']);
    expect(homeserver.user('amira')?.devices.get(device)).toBe('Harbour (iPhone, Safari, iOS)');
    await useAndRevoke(response, device, prefix);
  });

  test('a sign-in on the device of another session replaces it, whichever grant each used (I-17)', async () => {
    const device = newDevice();
    const first = await compat.login('amira', PASSWORD, { device_id: device, initial_device_display_name: 'Mine' });
    const second = await client.signIn(amira, scopeOf(device));
    expect(await introspect(first.accessToken)).toEqual({ active: false });
    expect(await introspect(second.accessToken)).toMatchObject({ active: true, device_id: device });
    const third = await client.signIn(amira, scopeOf(device, UNSTABLE));
    expect(await introspect(second.accessToken)).toEqual({ active: false });
    const fourth = await compat.login('amira', PASSWORD, { device_id: device, initial_device_display_name: 'Again' });
    expect(await introspect(third.accessToken)).toEqual({ active: false });
    expect(await introspect(fourth.accessToken)).toMatchObject({ active: true });
    expect(await sessionsOn(device)).toBe(1);
    await notifyHomeserver(service.core);
    expect(calls(), 'the device lives on, so nothing is synced').toEqual(Array(4).fill('upsert_device'));
    expect(homeserver.user('amira')?.devices.get(device), 'the device keeps its first name').toBe('Mine');
  });

  test('a replayed code ends its session and device unless it may be a double send (S-16)', async () => {
    const device = newDevice();
    const code = await client.code(amira, scopeOf(device));
    const { accessToken } = tokensOf(await client.exchange(code));
    clock.advanceSeconds(1);
    expect((await client.exchange(code)).body['error']).toBe('invalid_grant');
    await notifyHomeserver(service.core);
    expect(devicesOf('amira'), 'within 20 seconds it is left alone').toContain(device);
    expect(await introspect(accessToken)).toMatchObject({ active: true });
    clock.advanceSeconds(24);
    expect((await client.exchange(code)).body['error']).toBe('invalid_grant');
    expect(await introspect(accessToken)).toEqual({ active: false });
    await notifyHomeserver(service.core);
    expect(calls()).toEqual(['upsert_device', 'sync_devices']);
    expect(devicesOf('amira')).not.toContain(device);
  });

  test('a reused refresh token ends the session and its device (S-38)', async () => {
    const device = newDevice();
    const { refreshToken } = await client.signIn(amira, scopeOf(device));
    const next = tokensOf(await client.refresh(refreshToken));
    expect(await introspect(next.accessToken)).toMatchObject({ active: true });
    clock.advanceSeconds(31);
    expect((await client.refresh(refreshToken)).body['error']).toBe('invalid_grant');
    await notifyHomeserver(service.core);
    expect(calls()).toEqual(['upsert_device', 'sync_devices']);
    expect(devicesOf('amira')).not.toContain(device);
  });

  test('the homeserver gets the same answer for a token with and without the header that requests device_id', async () => {
    const { accessToken } = await client.signIn(amira, scopeOf(newDevice()));
    const plain = await client.post(
      '/oauth2/introspect',
      { token: accessToken },
      { authorization: `Bearer ${SECRET}` },
    );
    expect(plain.body).toEqual(await introspect(accessToken));
  });

  test("another user's device counts as another device (S-103)", async () => {
    const device = newDevice();
    const hers = await client.signIn(amira, scopeOf(device));
    const his = await client.signIn(bruno, scopeOf(device));
    await client.revoke(his.accessToken);
    await notifyHomeserver(service.core);
    expect(await introspect(hers.accessToken)).toMatchObject({ active: true });
    expect(devicesOf('amira')).toContain(device);
    expect(devicesOf('bruno')).not.toContain(device);
  });

  test('a sign-in without a device does not call the homeserver', async () => {
    const tokens = await client.signIn(amira, `openid ${STABLE}api:*`);
    await client.revoke(tokens.accessToken);
    await notifyHomeserver(service.core);
    expect(calls()).toEqual([]);
  });

  test.each([
    ['refuses connections', { kind: 'refuse' }],
    ['closes them without a response', { kind: 'close' }],
    ['fails', { kind: 'answer', status: 500 }],
    ['returns an unexpected response', { kind: 'answer', status: 502, body: '<html>' }],
    ['asks to retry later', { kind: 'answer', status: 429, headers: { 'retry-after': '20' } }],
  ] as const)('while the homeserver %s, a sign-in can be retried and loses nothing (I-22)', async (what, fault) => {
    const device = newDevice();
    const earlier = newDevice();
    const held = await client.signIn(amira, scopeOf(earlier));
    const code = await client.code(amira, scopeOf(device));
    const deviceCode = await client.deviceCode(amira, scopeOf(device));
    await homeserver.setFault(fault);
    for (const response of [await client.exchange(code), await client.poll(deviceCode)]) {
      expect(response).toMatchObject({ status: 503, body: { error: 'temporarily_unavailable' } });
      expect(response.headers.get('retry-after')).toBe(what === 'asks to retry later' ? '20' : '5');
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
    expect(await sessionsOn(device)).toBe(0);
    const refreshed = await client.refresh(held.refreshToken);
    expect(refreshed.status).toBe(200);
    expect(await introspect(tokensOf(refreshed).accessToken)).toMatchObject({ active: true });
    bruno;
    expect((await client.revoke(tokensOf(refreshed).accessToken)).status).toBe(200);
    await homeserver.setFault(undefined);
    homeserver.requests.length = 0;
    clock.advanceSeconds(11);
    const tokens = tokensOf(await client.exchange(code));
    expect(await introspect(tokens.accessToken)).toMatchObject({ active: true, device_id: device });
    const later = tokensOf(await client.poll(deviceCode));
    expect(await introspect(tokens.accessToken)).toEqual({ active: false });
    clock.advanceSeconds(60);
    await notifyHomeserver(service.core);
    expect(
      calls().filter((call) => call === 'sync_devices'),
      'one sync for all that happened',
    ).toHaveLength(1);
    expect(devicesOf('amira')).toContain(device);
    expect(devicesOf('amira')).not.toContain(earlier);
    await client.revoke(later.accessToken);
  });

  test('a user unknown to the homeserver is provisioned immediately (I-23)', async () => {
    await service.registerUser('early', PASSWORD);
    const device = newDevice();
    const tokens = await client.signIn(await signIn('early'), scopeOf(device));
    expect(calls()).toEqual(['upsert_device', 'provision_user', 'upsert_device']);
    expect(await introspect(tokens.accessToken)).toMatchObject({ active: true });
    await notifyHomeserver(service.core);
    expect(devicesOf('early')).toEqual([device]);
  });

  test('an invalid device id is refused permanently, and the former session stays active (I-25)', async () => {
    const device = newDevice();
    homeserver.state.hiddenDevice = device;
    const response = await client.exchange(await client.code(amira, scopeOf(device)));
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
    expect((await client.poll(await client.deviceCode(amira, scopeOf(device)))).body['error']).toBe('invalid_scope');
    expect(await sessionsOn(device)).toBe(0);
  });

  test('of twenty concurrent exchanges of one code one succeeds, by one call; the others are answered (S-17)', async () => {
    const device = newDevice();
    const code = await client.code(amira, scopeOf(device));
    const responses = await Promise.all(Array.from({ length: 20 }, async () => await client.exchange(code)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ body }) => body['error'] === 'invalid_grant')).toHaveLength(19);
    expect(calls()).toEqual(['upsert_device']);
    expect(await sessionsOn(device)).toBe(1);
  });

  test('an exchange for a device costs three statements, and one of a used code costs one', async () => {
    const lastQueries = () => service.requestLines().findLast(({ path }) => path === '/oauth2/token')?.queries;
    const code = await client.code(amira, scopeOf(newDevice()));
    await client.exchange(code);
    expect(lastQueries()).toBe(3);
    await client.exchange(code);
    expect(lastQueries()).toBe(1);
    const deviceCode = await client.deviceCode(amira, scopeOf(newDevice()));
    await client.poll(deviceCode);
    expect(lastQueries()).toBe(3);
  });

  /** Holds the responses of the homeserver back. @returns a function that releases them */
  async function holdResponses(): Promise<() => Promise<void>> {
    let resolve = () => {};
    const until = new Promise<void>((resolved) => {
      resolve = resolved;
    });
    await homeserver.setFault({ kind: 'wait', until });
    return async () => {
      resolve();
      await homeserver.setFault(undefined);
    };
  }

  /** Exchanges a code and runs `happens` during the call to the homeserver. */
  async function exchangeWhile(code: string, happens: () => Promise<unknown>): Promise<OAuthResponse> {
    const letGo = await holdResponses();
    const exchange = client.exchange(code);
    await expect.poll(calls).toEqual(['upsert_device']);
    await happens();
    await letGo();
    return await exchange;
  }

  test('a request that loses the lease during the homeserver call stores nothing, and the code works afterwards', async () => {
    const device = newDevice();
    const code = await client.code(amira, scopeOf(device));
    const change = (set: string) => sql(service.database, `update homeserver_leases set ${set}`);
    const response = await exchangeWhile(code, async () => await change('owner = gen_random_uuid()'));
    expect(response).toMatchObject({ status: 503, body: { error: 'temporarily_unavailable' } });
    expect(response.headers.get('retry-after')).toBe('5');
    expect(await sessionsOn(device)).toBe(0);
    await sql(service.database, 'delete from homeserver_leases');
    expect((await client.exchange(code)).status).toBe(200);
  });

  test.each(['locked_at', 'deactivated_at'])(
    '%s, set during the homeserver call, leaves no session and no device (S-102)',
    async (column) => {
      const device = newDevice();
      const code = await client.code(bruno, scopeOf(device));
      const set = (value: string) =>
        sql(service.database, `update users set ${column} = ${value} where username = 'bruno'`);
      const response = await exchangeWhile(code, async () => await set('created_at'));
      expect(response).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
      expect(await sessionsOn(device)).toBe(0);
      await set('null');
      await notifyHomeserver(service.core);
      expect(devicesOf('bruno')).not.toContain(device);
    },
  );

  test('no transaction is open during the homeserver call, and other sign-ins of the user continue', async () => {
    const code = await client.code(amira, scopeOf(newDevice()));
    const other = await client.code(amira, `openid ${STABLE}api:*`);
    const response = await exchangeWhile(code, async () => {
      const open = await sql(
        service.database,
        "select query from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'",
      );
      expect(open).toEqual([]);
      expect((await client.exchange(other)).status).toBe(200);
    });
    expect(response.status).toBe(200);
  });
});
