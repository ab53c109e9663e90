/** OAuth clients, their sessions and tokens after an import from Matrix Authentication Service. */

import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { AdminClient } from '#test/support/admin-client.ts';
import { cleanUpAll } from '#test/support/clean-up.ts';
import { assertionFields } from '#test/support/client-assertions.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { type MigratedService, Migration, ROOT } from './migration.test-support.ts';
import {
  API,
  ago,
  ahead,
  C1,
  C2,
  C3,
  CLIENT_SECRET,
  device,
  ENCRYPTED_SECRET,
  H1,
  newUuid,
  PASSWORD,
  T1,
  T2,
  T3,
  T4,
  T5,
  T6,
  T7,
  T8,
  T9,
  T10,
  USERS,
  ulid,
} from './vectors.test-support.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;

const migration = await sharedByTests(Migration.create());

beforeEach(async () => {
  await migration.restart();
  await add('users', { user_id: USERS.alice, username: 'alice' });
});

const add = async (table: string, row: Readonly<Record<string, unknown>>) => await migration.mas.add(table, row);
const stored = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
  await sql<Row>(migration.target.database, text, [...values]);

const PUBLIC = {
  oauth2_client_id: C1,
  client_name: 'Element X',
  client_uri: 'https://app.example/',
  token_endpoint_auth_method: 'none',
  redirect_uris: ['https://app.example/callback'],
  grant_type_authorization_code: true,
  grant_type_refresh_token: true,
};
const CONFIDENTIAL = {
  oauth2_client_id: C2,
  client_name: 'Tools',
  token_endpoint_auth_method: 'client_secret_basic',
  encrypted_client_secret: ENCRYPTED_SECRET,
  grant_type_client_credentials: true,
};

async function addSession(row: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const id = newUuid();
  await add('oauth2_sessions', {
    oauth2_session_id: id,
    oauth2_client_id: C1,
    user_id: USERS.alice,
    scope_list: ['openid', API, device('ALICEPHONE')],
    ...row,
  });
  return id;
}

async function addAccess(
  sessionId: string,
  token: string,
  row: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const id = newUuid();
  await add('oauth2_access_tokens', {
    oauth2_access_token_id: id,
    oauth2_session_id: sessionId,
    access_token: token,
    expires_at: ahead(2 * MINUTE_MS),
    ...row,
  });
  return id;
}

async function addRefresh(
  sessionId: string,
  token: string,
  row: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const id = newUuid();
  const full = { oauth2_refresh_token_id: id, oauth2_session_id: sessionId, refresh_token: token, ...row };
  await add('oauth2_refresh_tokens', full);
  return id;
}

/** A session with a current token, and the one before it, which was consumed. */
async function addRotation(successorWasUsed: boolean): Promise<void> {
  await add('oauth2_clients', PUBLIC);
  const session = await addSession();
  const access = await addAccess(session, T1, { first_used_at: successorWasUsed ? ago(MINUTE_MS) : null });
  const current = await addRefresh(session, T5, { oauth2_access_token_id: access });
  await addRefresh(session, T4, { consumed_at: ago(5 * MINUTE_MS), next_oauth2_refresh_token_id: current });
}

const isRefreshed = async (migrated: MigratedService, token: string): Promise<boolean> => {
  const { status, body } = await migrated.refresh(token, ulid(C1));
  if (status !== 200) expect([status, body['error']]).toEqual([400, 'invalid_grant']);
  return status === 200;
};

const basic = { authorization: `Basic ${Buffer.from(`${ulid(C2)}:${CLIENT_SECRET}`).toString('base64')}` };

describe('OAuth sessions and tokens', () => {
  test('case 10: the tokens of a locked account are refused until it is unlocked', async () => {
    await add('users', { user_id: USERS.bob, username: 'bob', locked_at: ago(DAY_MS) });
    await add('oauth2_clients', PUBLIC);
    const session = await addSession({ user_id: USERS.bob });
    await addRefresh(session, T2, { oauth2_access_token_id: await addAccess(session, T1) });
    const migrated = await migration.serve();
    expect(await migrated.isActive(T1)).toBe(false);
    expect(await isRefreshed(migrated, T2)).toBe(false);
    await stored('update users set locked_at = null');
    expect(await migrated.isActive(T1)).toBe(true);
    expect(await isRefreshed(migrated, T2)).toBe(true);
  });

  test('case 11: the session of a deactivated account has ended, and its name stays taken', async () => {
    await add('users', { user_id: USERS.dave, username: 'dave', deactivated_at: ago(DAY_MS) });
    await add('oauth2_clients', PUBLIC);
    await addAccess(await addSession({ user_id: USERS.dave }), T3);
    const migrated = await migration.serve();
    expect(await migrated.isActive(T3)).toBe(false);
    expect(await stored('select finished_at is not null as is_finished, finish_reason from oauth2_sessions')).toEqual([
      { is_finished: true, finish_reason: 'deactivated' },
    ]);
    expect(
      await stored('select homeserver_deactivated_at = deactivated_at as is_known from users where username = $1', [
        'dave',
      ]),
    ).toEqual([{ is_known: true }]);
    await expect(migrated.service.registerUser('dave', PASSWORD)).rejects.toThrow('dave is taken');
  });

  test('case 14: an access token stays active, and the refresh token returns one of its family, once', async () => {
    await add('oauth2_clients', PUBLIC);
    const session = await addSession();
    await addRefresh(session, T2, { oauth2_access_token_id: await addAccess(session, T1) });
    const migrated = await migration.serve();
    const body = await migrated.introspect(T1);
    expect(body).toMatchObject({ active: true, client_id: ulid(C1), sub: ulid(USERS.alice), username: 'alice' });
    expect(String(body['scope']).split(' ')).toEqual(
      expect.arrayContaining([
        API,
        'urn:matrix:client:api:*',
        device('ALICEPHONE'),
        'urn:matrix:client:device:ALICEPHONE',
      ]),
    );
    const refreshed = await migrated.refresh(T2, ulid(C1));
    expect(refreshed.status).toBe(200);
    expect(refreshed.body['refresh_token']).toMatch(/^mar_J3MXTLYMvlHa/);
    expect(await migrated.isActive(T1)).toBe(false);
    expect(await migrated.isActive(String(refreshed.body['access_token']))).toBe(true);
    expect(await stored(`select queue from queue_jobs where queue = 'sync-devices'`)).toEqual([]);
  });

  test('case 15: a refresh token works although its access token has expired', async () => {
    await add('oauth2_clients', PUBLIC);
    const session = await addSession();
    await addRefresh(session, T2, {
      oauth2_access_token_id: await addAccess(session, T1, { expires_at: ago(DAY_MS) }),
    });
    const migrated = await migration.serve();
    expect(await migrated.isActive(T1)).toBe(false);
    expect(await isRefreshed(migrated, T2)).toBe(true);
  });

  test.each([
    ['the former', T4, T5],
    ['the current', T5, T4],
  ])(
    'case 16: if the client may not have received the last pair, %s token works, and then only that one',
    async (_, first, second) => {
      await addRotation(false);
      const migrated = await migration.serve();
      const { status, body } = await migrated.refresh(first, ulid(C1));
      expect(status).toBe(200);
      expect(await isRefreshed(migrated, second)).toBe(false);
      expect(await isRefreshed(migrated, String(body['refresh_token']))).toBe(true);
    },
  );

  test('case 16: both tokens at the same time give one of them a pair', async () => {
    await addRotation(false);
    const migrated = await migration.serve();
    const outcomes = await Promise.all([T4, T5, T4, T5].map((token) => migrated.refresh(token, ulid(C1))));
    const pairs = new Set(outcomes.filter(({ status }) => status === 200).map(({ body }) => body['refresh_token']));
    expect(pairs.size).toBe(1);
  });

  test('case 16: the former token is refused once the current access token was used here', async () => {
    await addRotation(false);
    const migrated = await migration.serve();
    expect(await migrated.isActive(T1)).toBe(true);
    expect(await isRefreshed(migrated, T4)).toBe(false);
    expect(await isRefreshed(migrated, T5)).toBe(true);
  });

  test('case 17: a former token whose successor was used is refused, and the session lives', async () => {
    await addRotation(true);
    const migrated = await migration.serve();
    expect(await isRefreshed(migrated, T4)).toBe(false);
    expect(await isRefreshed(migrated, T5)).toBe(true);
  });

  test('case 18: a token from before the last two is refused, and the session lives', async () => {
    await add('oauth2_clients', PUBLIC);
    const session = await addSession();
    const current = await addRefresh(session, T6);
    const before = await addRefresh(session, T5, {
      consumed_at: ago(MINUTE_MS),
      next_oauth2_refresh_token_id: current,
    });
    await addRefresh(session, T4, { consumed_at: ago(5 * MINUTE_MS), next_oauth2_refresh_token_id: before });
    const migrated = await migration.serve();
    expect(await isRefreshed(migrated, T4)).toBe(false);
    expect(await isRefreshed(migrated, T6)).toBe(true);
  });

  test.each([[T5], [T6]])('case 19: of two current tokens, %s works', async (token) => {
    await add('oauth2_clients', PUBLIC);
    const session = await addSession();
    await addRefresh(session, T5);
    await addRefresh(session, T6);
    const migrated = await migration.serve();
    expect(await isRefreshed(migrated, token)).toBe(true);
  });

  test('a session with several refresh tokens can be revoked by any of them', async () => {
    await addRotation(false);
    const migrated = await migration.serve();
    const response = await fetch(`${migrated.service.address}/oauth2/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token: T4, client_id: ulid(C1) }),
    });
    expect(response.status).toBe(200);
    expect(await migrated.isActive(T1)).toBe(false);
    expect(await isRefreshed(migrated, T5)).toBe(false);
  });

  test('case 20: a revoked refresh token is refused', async () => {
    await add('oauth2_clients', PUBLIC);
    await addRefresh(await addSession(), T2, { revoked_at: ago(MINUTE_MS) });
    expect(await isRefreshed(await migration.serve(), T2)).toBe(false);
  });

  test('case 21: an access token without an expiry never expires', async () => {
    await add('oauth2_clients', CONFIDENTIAL);
    await add('users', { user_id: USERS.bob, username: 'bob', can_request_admin: true });
    const session = await addSession({ oauth2_client_id: C2, user_id: USERS.bob, scope_list: ['urn:mas:admin'] });
    await addAccess(session, T7, { expires_at: null });
    const clock = new FakeClock(Date.now());
    const migrated = await migration.serve({ clock });
    const body = await migrated.introspect(T7);
    expect(body).toMatchObject({ active: true, username: 'bob' });
    expect(body).not.toHaveProperty('exp');
    clock.advanceSeconds(366 * DAY_SECONDS);
    await cleanUpAll(migrated.service.core);
    expect(await migrated.isActive(T7)).toBe(true);
  });

  test('case 22: a token of a client without a user works for the admin API', async () => {
    await migration.restart({ policy: { data: { admin_clients: [ulid(C2)] } } });
    await add('oauth2_clients', CONFIDENTIAL);
    await add('users', { user_id: USERS.alice, username: 'alice' });
    const session = await addSession({ oauth2_client_id: C2, user_id: null, scope_list: ['urn:mas:admin'] });
    await addAccess(session, T8);
    const migrated = await migration.serve();
    const body = await migrated.introspect(T8);
    // The subject of a client's own token is the client, as RFC 9068 2.2 says for access tokens.
    expect(body).toMatchObject({ active: true, client_id: ulid(C2), sub: ulid(C2) });
    expect(body).not.toHaveProperty('username');
    const { status, body: users } = await new AdminClient(migrated.service, T8).get('users');
    expect(status).toBe(200);
    // Case 1: the same ID as in MAS.
    expect(users.data).toMatchObject([{ id: ulid(USERS.alice), attributes: { username: 'alice' } }]);
  });

  test('case 31: of two sessions of one device, the newer has it, and both work until they end', async () => {
    await add('oauth2_clients', PUBLIC);
    const older = await addSession({ last_active_at: ago(DAY_MS) });
    await addAccess(older, T9);
    const newer = await addSession({ last_active_at: ago(MINUTE_MS) });
    await addAccess(newer, T10);
    const migrated = await migration.serve();
    expect([await migrated.isActive(T9), await migrated.isActive(T10)]).toEqual([true, true]);
    expect(await stored('select id, device_id from oauth2_sessions order by id')).toEqual([
      { id: older, device_id: null },
      { id: newer, device_id: 'ALICEPHONE' },
    ]);
    const response = await fetch(`${migrated.service.address}/oauth2/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token: T9, client_id: ulid(C1) }),
    });
    expect(response.status).toBe(200);
    expect([await migrated.isActive(T9), await migrated.isActive(T10)]).toEqual([false, true]);
  });

  test('stores no token in readable form', async () => {
    await addRotation(false);
    await migration.migrate();
    const rows = await stored<{ text: string }>(
      'select a::text as text from oauth2_access_tokens a union all select r::text from oauth2_refresh_tokens r',
    );
    expect(rows).toHaveLength(3);
    for (const { text } of rows) expect(text).not.toMatch(/ma[tr]_/);
    const hashes = await stored<{ hash: string }>(`select encode(token_hash, 'hex') as hash from oauth2_access_tokens`);
    expect(hashes).toEqual([{ hash: 'd4fd4883693c64a4eb827cf2a4d18de0c8922c00d31b2375b023e8662d580e88' }]);
  });
});

/** Signs alice in and asks for an authorization. @returns the status and the page or redirect */
async function authorize(migrated: MigratedService, clientId: string, redirectUri: string) {
  const browser = migrated.browser();
  await migrated.signIn('alice', PASSWORD, browser);
  const query = new URLSearchParams({
    ...{
      response_type: 'code',
      client_id: ulid(clientId),
      redirect_uri: redirectUri,
      scope: 'openid',
      state: 'state1',
    },
    ...{ code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' },
  });
  const shown = await browser.open(`/authorize?${query}`);
  // The second time, the consent is remembered.
  if (shown.status !== 200) return { status: shown.status, location: shown.headers.location };
  const form = shown.forms.find(({ buttons }) => buttons.some(({ value }) => value === 'consent'));
  const { headers } = await browser.submit({ action: 'consent' }, { action: form?.action ?? 'none' });
  return { status: 200, location: headers.location };
}

describe('clients', () => {
  beforeEach(async () => {
    const row = { user_id: USERS.alice, hashed_password: H1, version: 1 };
    await add('user_passwords', { user_password_id: newUuid(), ...row });
  });

  test('case 23: a client authenticates with its secret, which is sealed by a key of this server', async () => {
    await migration.restart({ policy: { data: { admin_clients: [ulid(C2)] } } });
    await add('oauth2_clients', CONFIDENTIAL);
    const migrated = await migration.serve();
    const fields = { grant_type: 'client_credentials', scope: 'urn:mas:admin' };
    expect((await migrated.token(fields, basic)).status).toBe(200);
    const wrong = { authorization: `Basic ${Buffer.from(`${ulid(C2)}:wrong`).toString('base64')}` };
    expect((await migrated.token(fields, wrong)).status).toBe(401);
    const [row] = await stored<{ version: number; length: number }>(
      'select get_byte(client_secret_sealed, 0) as version, length(client_secret_sealed) as length from oauth2_clients where id = $1',
      [C2],
    );
    expect(row).toEqual({ version: 1, length: 1 + 12 + 16 + CLIENT_SECRET.length });
  });

  test('case 23: a secret of MAS is long enough for client_secret_jwt', async () => {
    await migration.restart({ policy: { data: { admin_clients: [ulid(C2)] } } });
    await add('oauth2_clients', { ...CONFIDENTIAL, token_endpoint_auth_method: 'client_secret_jwt' });
    const migrated = await migration.serve();
    const parts = { clientId: ulid(C2), audience: migrated.service.issuer, now: Date.now(), key: CLIENT_SECRET };
    const fields = { grant_type: 'client_credentials', scope: 'urn:mas:admin' };
    expect((await migrated.token({ ...fields, ...(await assertionFields(parts)) })).status).toBe(200);
    expect(
      (await migrated.token({ ...fields, ...(await assertionFields({ ...parts, key: 'x'.repeat(20) })) })).status,
    ).toBe(401);
  });

  test('an algorithm that no key signs with is a warning', async () => {
    const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
    const secrets = { encryption: ROOT.toString('hex'), keys: [{ key }] };
    await add('oauth2_clients', { ...PUBLIC, id_token_signed_response_alg: 'PS256' });
    const { exitCode, warnings } = await migration.check([], { secrets });
    expect(exitCode).toBe(11);
    expect(warnings.find(({ code }) => code === 'client_algorithms')?.message).toContain('(Element X PS256)');
    await migration.mas.query(`update oauth2_clients set id_token_signed_response_alg = null`);
    expect((await migration.check([], { secrets })).warnings.map(({ code }) => code)).toEqual(['no_homeserver']);
  });

  test('case 24: another encryption key is an error, and nothing is written', async () => {
    await add('oauth2_clients', CONFIDENTIAL);
    const changes = { secrets: { encryption: 'ab'.repeat(32) } };
    const { exitCode, errors } = await migration.check([], changes);
    expect([exitCode, errors.map(({ code }) => code)]).toEqual([10, ['encryption_key']]);
    expect(errors[0]?.message).toContain('does not open');
    expect((await migration.run('migrate', ['--skip', 'client-secrets'], changes)).exitCode).toBe(10);
    expect(await stored('select id from oauth2_clients where kind is null')).toEqual([]);
  });

  test('case 25: a redirect URI without the slash that MAS added is accepted as it is sent', async () => {
    await add('oauth2_clients', { ...PUBLIC, redirect_uris: ['https://app.example/'] });
    const migrated = await migration.serve();
    const { location } = await authorize(migrated, C1, 'https://app.example');
    expect(location).toMatch(/^https:\/\/app\.example\?code=/);
    expect((await authorize(migrated, C1, 'https://app.example/other')).status).toBe(400);
    expect((await authorize(migrated, C1, 'https://app.example/\n')).status).toBe(400);
  });

  test('case 26: a loopback redirect URI may have any port', async () => {
    await add('oauth2_clients', { ...PUBLIC, oauth2_client_id: C3, redirect_uris: ['http://127.0.0.1/cb'] });
    const migrated = await migration.serve();
    expect((await authorize(migrated, C3, 'http://127.0.0.1:41999/cb')).location).toMatch(
      /^http:\/\/127\.0\.0\.1:41999\/cb\?/,
    );
  });

  test('case 27: redirect URIs that could not be registered here keep working', async () => {
    const uris = ['com.example.app:///cb', 'https://other.host/cb'];
    await add('oauth2_clients', {
      ...PUBLIC,
      oauth2_client_id: C3,
      client_uri: 'https://example.app',
      redirect_uris: uris,
    });
    const migrated = await migration.serve();
    for (const uri of uris) {
      expect((await authorize(migrated, C3, uri)).location?.startsWith(`${uri}?code=`)).toBe(true);
    }
  });

  test('case 28: a client without an authentication method is imported without grants', async () => {
    await add('oauth2_clients', { ...PUBLIC, oauth2_client_id: C3, token_endpoint_auth_method: null });
    expect((await migration.check()).warnings.map(({ code }) => code)).toContain('clients_without_method');
    const migrated = await migration.serve();
    const { status, body } = await migrated.refresh(T2, ulid(C3));
    expect([status, body['error']]).toEqual([400, 'unauthorized_client']);
  });

  test('case 29: a client without a creation time has that of its ID, and outlives the clean-up', async () => {
    await add('oauth2_clients', { ...PUBLIC, oauth2_client_id: C3, created_at: null });
    const clock = new FakeClock(Date.now());
    const migrated = await migration.serve({ clock });
    const [row] = await stored<{ year: number }>(
      'select extract(year from created_at)::integer as year from oauth2_clients where id = $1',
      [C3],
    );
    expect(row?.year).toBe(2024);
    clock.advanceSeconds(31 * DAY_SECONDS);
    await cleanUpAll(migrated.service.core);
    expect(await stored('select id from oauth2_clients where id = $1', [C3])).toHaveLength(1);
  });

  test('case 30: a static client that the configuration lacks keeps working, with a warning', async () => {
    await add('oauth2_clients', { ...PUBLIC, is_static: true });
    await addAccess(await addSession(), T1);
    const { warnings } = await migration.check();
    expect(warnings.map(({ code }) => code)).toContain('static_clients_not_configured');
    const migrated = await migration.serve();
    expect(await migrated.isActive(T1)).toBe(true);
    expect(await stored('select is_static from oauth2_clients where id = $1', [C1])).toEqual([{ is_static: true }]);
    expect((await migration.command(['config', 'sync', '--prune'])).exitCode).toBe(0);
    expect(await stored('select id from oauth2_clients where id = $1', [C1])).toEqual([]);
    expect(await migrated.isActive(T1)).toBe(false);
  });
});
