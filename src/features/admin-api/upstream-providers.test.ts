/** States and checks of sign-in providers (administration 7). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import type { AdminClient, AdminResponse } from '#test/support/admin-client.ts';
import { Browser } from '#test/support/browser.ts';
import { sql } from '#test/support/fixtures.ts';
import { linkAccount } from '#test/support/link-account.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startUpstreamPeer } from '#test/support/upstream-peer.ts';
import {
  ABSENT,
  type AdministeredService,
  CLIENT,
  SECOND_CLIENT,
  startAdministeredService,
} from './administered-service.test-support.ts';

const PROVIDER = parseId<'upstream-provider'>('01HZX7T3Q8V3M5N6P7R8S9T0AB') ?? newId(0);
const ID: string = PROVIDER;
const FIXED_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AC';
const OFF_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AD';
const DISCOVERY = '/.well-known/openid-configuration';

let administered: AdministeredService;
let admin: AdminClient;

const peer = await sharedByTests(startUpstreamPeer());

beforeAll(async () => {
  const shared = { client_id: 'latchkey', client_secret: 'secret', token_endpoint_auth_method: 'client_secret_basic' };
  administered = await startAdministeredService(
    {
      rate_limiting: { upstream: { per_ip: { burst: 100_000 } }, admin_token: { per_ip: { burst: 100_000 } } },
      upstream_oauth2: {
        providers: [
          { id: ID, issuer: peer.issuer, human_name: 'Harbor', ...shared },
          {
            ...{ id: FIXED_ID, human_name: 'Fixed', scope: 'profile', discovery_mode: 'disabled', ...shared },
            ...{ authorization_endpoint: `${peer.issuer}/authorize`, token_endpoint: `${peer.issuer}/token` },
            ...{ fetch_userinfo: true, userinfo_endpoint: `${peer.issuer}/userinfo` },
          },
          { id: OFF_ID, issuer: peer.issuer, enabled: false, ...shared },
        ],
      },
    },
    [CLIENT, SECOND_CLIENT],
    [' 502 '],
  );
  admin = await administered.adminOf(CLIENT);
});
afterAll(async () => {
  await administered.stop();
});
beforeEach(() => {
  peer.handlers.clear();
  peer.metadata = {};
  // Each administrator and each provider has ten checks a minute.
  administered.clock.advanceSeconds(60);
});

async function attributes(id = ID): Promise<Readonly<Record<string, unknown>>> {
  const { status, body } = await admin.get(`upstream-oauth-providers/${id}`);
  expect(status).toBe(200);
  return body.data?.attributes ?? {};
}

async function checked(id = ID): Promise<AdminResponse> {
  administered.clock.advanceSeconds(6);
  return await admin.post(`upstream-oauth-providers/${id}/check`);
}

async function checkedState(): Promise<Readonly<Record<string, unknown>>> {
  const { status, body } = await checked();
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data?.attributes ?? {};
}

const now = () => new Date(administered.clock.now()).toISOString().replace('Z', '000Z');

describe('a check of a provider', () => {
  test('stores when its metadata and keys were fetched, and of which types they are', async () => {
    expect(await checkedState()).toMatchObject({
      state: 'working',
      discovery: { url: peer.issuer + DISCOVERY, fetched_at: now() },
      keys: { needed: true, fetched_at: now(), types: [{ type: 'RSA 2048', count: 1 }] },
    });
    // Another instance reads the same.
    expect(
      await sql(administered.service.database, `select key_types from upstream_providers where id = $1::uuid`, [
        toUuid(PROVIDER),
      ]),
    ).toEqual([{ key_types: ['RSA 2048'] }]);
  });

  type Handler = Parameters<typeof peer.handlers.set>[1];
  const json =
    (value: unknown): Handler =>
    (_, response) =>
      response.end(JSON.stringify(value));
  const status =
    (code: number): Handler =>
    (_, response) =>
      response.writeHead(code).end();
  const hangUp: Handler = (request) => request.socket.destroy();
  const failures: readonly (readonly [code: string, path: string, handler: Handler])[] = [
    ['discovery_wrong_status', DISCOVERY, status(404)],
    ['discovery_invalid', DISCOVERY, json([])],
    ['discovery_wrong_issuer', DISCOVERY, json({ issuer: 'https://other.example' })],
    ['discovery_unreachable', DISCOVERY, hangUp],
    ['keys_invalid', '/keys', status(500)],
    ['keys_invalid', '/keys', (_, response) => response.end('<html>')],
    ['keys_missing', '/keys', json({ keys: [] })],
    ['keys_unreachable', '/keys', hangUp],
  ];
  test.each(failures)('finds %s (%s), and that it is over', async (code, path, handler) => {
    await checkedState();
    peer.handlers.set(path, handler);
    const failing = await checkedState();
    expect(failing).toMatchObject({
      state: 'failing',
      last_error: {
        ...{ code, at: now(), is_current: true },
        ...{ message: expect.stringMatching(/\.$/), remedy: expect.stringMatching(/\.$/) },
      },
    });
    peer.handlers.clear();
    expect(await checkedState()).toMatchObject({ state: 'working', last_error: { code, is_current: false } });
  });

  test('follows no redirect of the provider (S-195)', async () => {
    const before = peer.count('/internal');
    for (const path of [DISCOVERY, '/keys']) {
      peer.handlers.set(path, (_, response) => response.writeHead(302, { location: '/internal' }).end());
      expect((await checkedState())['state']).toBe('failing');
      peer.handlers.clear();
    }
    expect(peer.count('/internal')).toBe(before);
  });

  test('is limited to ten a minute for each administrator and each provider (S-195)', async () => {
    administered.clock.advanceSeconds(60);
    const before = peer.count(DISCOVERY);
    const responses = await Promise.all(
      Array.from({ length: 12 }, () => admin.post(`upstream-oauth-providers/${ID}/check`)),
    );
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(2);
    expect(peer.count(DISCOVERY)).toBe(before + 10);
    const other = await administered.adminOf(SECOND_CLIENT);
    expect((await other.post(`upstream-oauth-providers/${ID}/check`)).status).toBe(429);
    expect((await other.post(`upstream-oauth-providers/${FIXED_ID}/check`)).status).toBe(200);
  });

  test('requests nothing of a provider that is disabled, absent or without documents (S-195)', async () => {
    const before = [peer.count(DISCOVERY), peer.count('/keys')];
    expect((await checked(OFF_ID)).body.errors?.[0]?.code).toBe('provider_disabled');
    expect((await checked(ABSENT)).status).toBe(404);
    expect((await checked('x')).body.errors?.[0]?.code).toBe('invalid_id');
    expect((await checked(FIXED_ID)).body.data?.attributes).toMatchObject({
      state: 'unknown',
      discovery: { url: null, fetched_at: null },
      keys: { needed: false, fetched_at: null, types: [] },
    });
    expect([peer.count(DISCOVERY), peer.count('/keys')]).toEqual(before);
  });
});

describe('sign-ins', () => {
  async function signIn(claims: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const { clock, service } = administered;
    const iat = Math.floor(clock.now() / 1000);
    const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    await browser.get(`/upstream/authorize/${ID}`);
    await browser.get(peer.signIn(browser.page.location ?? '', { claims: { iat, exp: iat + 300, ...claims } }));
    await service.core.activity.flush();
  }

  test('are noted when they succeed and when the provider is to blame', async () => {
    await signIn();
    expect(await attributes()).toMatchObject({ state: 'working', last_success_at: now() });
    administered.clock.advanceSeconds(1);
    await signIn({ aud: 'another client' });
    expect(await attributes()).toMatchObject({
      state: 'failing',
      last_error: { code: 'id_token_invalid', at: now(), is_current: true },
    });
    administered.clock.advanceSeconds(1);
    peer.handlers.set('/token', (_, response) => response.writeHead(401).end('{"error": "invalid_client"}'));
    await signIn();
    expect(await attributes()).toMatchObject({ last_error: { code: 'client_rejected', at: now() } });
    // A day later, nobody has signed in: the error is still there, but does not alarm.
    administered.clock.advanceSeconds(86_400);
    admin = await administered.adminOf(CLIENT);
    expect(await attributes()).toMatchObject({ state: 'working', last_error: { is_current: false } });
  });

  test('with a made-up code or nonce do not make the provider look broken', async () => {
    await checkedState();
    const before = (await attributes())['last_error'];
    peer.handlers.set('/token', (_, response) => response.writeHead(400).end('{"error": "invalid_grant"}'));
    await signIn();
    peer.handlers.clear();
    await signIn({ nonce: 'of another sign-in' });
    expect((await attributes())['last_error']).toEqual(before);
  });

  test('an older state never replaces a newer one, whichever instance writes last', async () => {
    const { activity, database } = administered.service.core;
    const at = administered.clock.now();
    activity.providers.succeeded(PROVIDER, at);
    activity.providers.failed(PROVIDER, 'keys_missing', at);
    await activity.providers.flush(database);
    activity.providers.succeeded(PROVIDER, at - 1000);
    activity.providers.failed(PROVIDER, 'keys_invalid', at - 1000);
    await activity.providers.flush(database);
    expect(await attributes()).toMatchObject({
      last_success_at: now(),
      last_error: { code: 'keys_missing', at: now() },
    });
  });
});

test('lists disabled and removed providers as such, with the linked identities', async () => {
  const { database } = administered.service;
  const removed = newId<'upstream-provider'>(administered.clock.now());
  await sql(
    database,
    `insert into upstream_providers (id, human_name, client_id, ui_order, created_at, disabled_at)
     values ($1::uuid, 'Old', 'old', 9, now(), now())`,
    [toUuid(removed)],
  );
  const owner = await administered.person();
  await linkAccount(database, { providerId: removed, userId: owner.id, subject: 'there' });
  await sql(
    database,
    `insert into upstream_links (id, provider_id, subject, created_at) values ($1::uuid, $2::uuid, 'unlinked', now())`,
    [toUuid(newId(administered.clock.now())), toUuid(removed)],
  );
  const { body } = await admin.get('upstream-oauth-providers');
  const states = Object.fromEntries(
    (body.data ?? []).map(({ id, attributes: { state, linked_users } }) => [id, [state, linked_users]]),
  );
  expect(states).toMatchObject({ [OFF_ID]: ['disabled', 0], [removed]: ['removed', 1] });
  const links = await admin.get(`upstream-oauth-links?filter[provider]=${removed}&filter[linked]=true`);
  expect(links.body.data).toMatchObject([{ attributes: { username: owner.username, user_id: owner.id } }]);
  const unlinked = await admin.get(`upstream-oauth-links?filter[provider]=${removed}&filter[linked]=false`);
  expect(unlinked.body.data).toMatchObject([{ attributes: { username: null, user_id: null } }]);
});
