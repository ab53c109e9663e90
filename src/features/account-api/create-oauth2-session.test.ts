/** Sessions that administrators create for users with a token (account-graphql 5.5). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseId, toUuid } from '#platform/base/ids.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { cleanUpAll } from '#test/support/clean-up.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient, type GraphqlResponse } from '#test/support/graphql-client.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';
import type { UserId } from '#vocabulary/ids.ts';

const PASSWORD = 'correct horse battery staple';
const SECRET = 'shared-secret-of-the-test';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T6X';
const ABSENT = 'user:01JD3Q5Z8W2N4K6M7P9R0S1T00';
const API = 'urn:chat:client:api:*';
const DEVICE = 'urn:chat:client:device:';
const DECADE = 3600 * 24 * 3650;

const SETTINGS = {
  rate_limiting: {
    graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT },
    login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
  },
  clients: [chatClientSettings(CLIENT)],
  graphql: { oauth2_access: true },
};

const CREATE = `mutation Create($id: ID!, $scope: String!, $permanent: Boolean) {
  createOauth2Session(input: { userId: $id, scope: $scope, permanent: $permanent }) {
    accessToken refreshToken
    oauth2Session { id scope deviceId createdAt finishedAt humanName client { clientId } user { id } browserSession { id } }
  }
}`;

const clock = new FakeClock();
let service: TestService;
let adminToken: string;
let admin: GraphqlClient;
let adminId: string;
const application = () => new ChatOAuthClient(service, CLIENT);
let count = 0;
/** A new user for each test. */
let username: string;
let id: UserId;

const homeserver = await sharedByTests(startStandInHomeserver(SECRET, 'chat.example'));

beforeAll(async () => {
  const { endpoint } = homeserver;
  service = await startService(
    { ...SETTINGS, homeserver: { kind: 'synapse', homeserver: 'chat.example', endpoint, secret: SECRET } },
    { clock },
  );
  adminId = await service.registerUser('root', PASSWORD, { canRequestAdmin: true });
});

beforeEach(async () => {
  await homeserver.setFault(undefined);
  // The homeserver's circuit breaker may still be open from the previous test.
  clock.advanceSeconds(11);
  await signAdminIn();
  count += 1;
  username = `member${count}`;
  id = await insertTestAccount(service.database, { username }, { now: clock.now() });
  homeserver.addUser(username);
});

afterAll(async () => {
  await service.stop();
});

/** Signs the administrator in. The token expires after five minutes. */
async function signAdminIn(): Promise<void> {
  const { browser } = await GraphqlClient.signedIn(service, 'root', PASSWORD);
  const scope = 'openid urn:mas:graphql:* urn:mas:admin';
  ({ accessToken: adminToken } = await application().signIn(browser ?? expect.fail('no browser'), scope));
  admin = new GraphqlClient(service, { authorization: `Bearer ${adminToken}` });
}

interface Made {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  readonly oauth2Session: Readonly<Record<string, unknown>>;
}

async function create(scope: string, more: object = {}): Promise<GraphqlResponse> {
  return await admin.query(CREATE, { id: `user:${id}`, scope, ...more });
}

function madeBy({ data, errors, text }: GraphqlResponse): Made {
  expect(errors, text).toEqual([]);
  return Object(data).createOauth2Session;
}

async function introspected(token: string): Promise<Readonly<Record<string, unknown>>> {
  return (await application().post('/oauth2/introspect', { token })).body;
}

async function sessions(): Promise<number> {
  const [row] = await sql<{ count: number }>(
    service.database,
    'select count(*)::integer as count from oauth2_sessions where user_id = $1::uuid and finished_at is null',
    [toUuid(id)],
  );
  return row?.count ?? expect.fail('no count');
}

async function events(...kinds: readonly string[]): Promise<unknown[]> {
  return await sql(
    service.database,
    `select kind, client_id as client, detail, host(ip) as ip from audit_events
      where user_id = $1::uuid and kind = any($2::text[]) order by kind`,
    [toUuid(id), kinds],
  );
}

const byAdmin = (kind: string, more: object = {}) => ({
  kind,
  client: toUuid(parseId(CLIENT) ?? expect.fail('no id')),
  detail: { actor: 'admin', admin: adminId, ...more },
  ip: null,
});

describe('createOauth2Session', () => {
  test('creates a refreshable session of the calling client, and records the administrator', async () => {
    const { accessToken, refreshToken, oauth2Session } = madeBy(await create('openid  email openid'));
    expect(oauth2Session).toEqual({
      id: expect.stringMatching(/^oauth2_session:/),
      scope: 'openid email',
      createdAt: new Date(clock.now()).toISOString(),
      client: { clientId: CLIENT },
      user: { id: `user:${id}` },
      ...{ deviceId: null, finishedAt: null, humanName: null, browserSession: null },
    });
    const now = Math.floor(clock.now() / 1000);
    expect(await introspected(accessToken)).toMatchObject({
      ...{ active: true, scope: 'openid email', client_id: CLIENT, sub: id, username, iat: now },
      ...{ exp: now + 300, expires_in: 300 },
    });
    expect(await events('session_started')).toEqual([byAdmin('session_started')]);
    const session = String(oauth2Session['id']).replace('oauth2_session:', '');
    const line = service.logLines().findLast((one) => one.includes(' session.created '));
    expect(line).toContain(`user=${id} session=${session} permanent=false client=${CLIENT} admin=${adminId}`);
    expect(line).not.toContain(accessToken);
    clock.advanceSeconds(300);
    expect(await introspected(accessToken)).toEqual({ active: false });
    const refreshed = await application().post('/oauth2/token', {
      grant_type: 'refresh_token',
      refresh_token: refreshToken ?? expect.fail('no refresh token'),
    });
    expect([refreshed.status, refreshed.body['scope']]).toEqual([200, 'openid email']);
  });

  test('issues a permanent token without expiry or refresh token, valid until its session ends', async () => {
    const { accessToken, refreshToken, oauth2Session } = madeBy(await create('openid', { permanent: true }));
    expect(refreshToken).toBeNull();
    const result = await introspected(accessToken);
    expect(result).toMatchObject({ active: true, scope: 'openid' });
    for (const absent of ['exp', 'expires_in']) expect(result).not.toHaveProperty(absent);
    clock.advanceSeconds(DECADE);
    await cleanUpAll({ database: service.database, clock });
    const response = await fetch(`${service.address}/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect([response.status, Object(await response.json()).sub]).toEqual([200, id]);
    await signAdminIn();
    const end = 'mutation($id: ID!) { endOauth2Session(input: { oauth2SessionId: $id }) { status } }';
    expect((await admin.query(end, { id: oauth2Session['id'] })).data).toEqual({
      endOauth2Session: { status: 'ENDED' },
    });
    expect(await introspected(accessToken)).toEqual({ active: false });
    clock.advanceSeconds(DECADE);
    await cleanUpAll({ database: service.database, clock });
    const left = await sql(
      service.database,
      `select from oauth2_access_tokens t join oauth2_sessions s on s.id = t.session_id where s.user_id = $1::uuid`,
      [toUuid(id)],
    );
    expect(left).toEqual([]);
  });

  test('refuses the admin scope to users without the right to it', async () => {
    const { accessToken } = madeBy(await create('openid urn:mas:admin urn:synapse:admin:*'));
    expect(await introspected(accessToken)).toMatchObject({ active: true, scope: 'openid' });
  });

  test.each([
    ['', 'scope'],
    ['   ', 'scope'],
    ['open"id', 'scope'],
    ['öpen', 'scope'],
    ['x'.repeat(2049), 'scope'],
    [`${API} ${DEVICE}short`, 'device ID'],
    [`${API} ${DEVICE}AAAAAAAAAA ${DEVICE}BBBBBBBBBB`, 'only one device'],
    [`${DEVICE}AAAAAAAAAA`, 'requires the client API scope'],
  ])('refuses the scope %j', async (scope, message) => {
    const response = await create(scope);
    expect([codesOf(response), response.data]).toEqual([['BAD_USER_INPUT'], null]);
    expect(response.errors[0]?.message).toContain(message);
    expect(await sessions()).toBe(0);
  });

  test('rejects accounts outside of the groups that the client is limited to (S-200)', async () => {
    const group = toUuid(id);
    const limit = `update oauth2_clients set allowed_groups = $1::uuid[]`;
    await sql(service.database, limit, [[group]]);
    try {
      expect([codesOf(await create('openid')), await sessions()]).toEqual([['NOT_FOUND'], 0]);
      await sql(service.database, `insert into user_groups (id, name, created_at) values ($1::uuid, 'crew', now())`, [
        group,
      ]);
      await sql(service.database, `update users set groups = '{crew}' where id = $1::uuid`, [toUuid(id)]);
      madeBy(await create('openid'));
      expect(await sessions()).toBe(1);
    } finally {
      await sql(service.database, limit, [null]);
    }
  });

  test('rejects unknown, locked and deactivated accounts', async () => {
    expect(codesOf(await admin.query(CREATE, { id: ABSENT, scope: 'openid' }))).toEqual(['NOT_FOUND']);
    expect(codesOf(await admin.query(CREATE, { id: 'user:x', scope: 'openid' }))).toEqual(['BAD_USER_INPUT']);
    for (const scope of ['openid', `${API} ${DEVICE}AAAAAAAAAA`]) {
      for (const [column, code] of [
        ['locked_at', 'ACCOUNT_LOCKED'],
        ['deactivated_at', 'ACCOUNT_DEACTIVATED'],
      ]) {
        const at = new Date(clock.now());
        await sql(service.database, `update users set ${column} = $2::timestamptz where id = $1::uuid`, [
          toUuid(id),
          at,
        ]);
        expect([scope, codesOf(await create(scope))]).toEqual([scope, [code]]);
      }
      await sql(service.database, 'update users set locked_at = null, deactivated_at = null where id = $1::uuid', [
        toUuid(id),
      ]);
    }
    expect([await sessions(), homeserver.user(username)?.devices.size]).toEqual([0, 0]);
  });
});

describe('a session with a device', () => {
  const scope = `openid ${API} ${DEVICE}AAAAAAAAAA`;

  test("starts once the homeserver knows the device, and ends the device's previous session", async () => {
    const first = madeBy(await create(scope));
    expect(first.oauth2Session).toMatchObject({ deviceId: 'AAAAAAAAAA' });
    expect(homeserver.user(username)?.devices).toEqual(new Map([['AAAAAAAAAA', 'Harbour']]));
    const second = madeBy(await create(scope, { permanent: true }));
    expect(await introspected(first.accessToken)).toEqual({ active: false });
    expect(await introspected(second.accessToken)).toMatchObject({ active: true });
    expect(await events('session_started', 'session_ended')).toEqual([
      byAdmin('session_ended', { reason: 'device_replaced' }),
      byAdmin('session_started'),
      byAdmin('session_started'),
    ]);
    const [job] = await sql<{ count: number }>(
      service.database,
      "select count(*)::integer as count from queue_jobs where queue = 'sync-devices'",
    );
    expect(job?.count, 'the device lives on').toBe(0);
  });

  test('is not created while the homeserver does not respond', async () => {
    await homeserver.setFault({ kind: 'refuse' });
    const response = await create(scope);
    expect([codesOf(response), response.data, await sessions()]).toEqual([['HOMESERVER_UNAVAILABLE'], null, 0]);
    expect(await events('session_started')).toEqual([]);
  });

  test('leaves one live session after two concurrent requests for one device', async () => {
    const both = (await Promise.all([create(scope), create(scope)])).map(madeBy);
    const states = await Promise.all(both.map(async ({ accessToken }) => (await introspected(accessToken))['active']));
    expect(states.toSorted()).toEqual([false, true]);
    expect(await sessions()).toBe(1);
  });
});

test('enforces the hard session limit, except for reused devices, and the maximum session age', async () => {
  const limited = await startService(
    {
      ...SETTINGS,
      experimental: { session_limit: { soft_limit: 1, hard_limit: 2 } },
      oauth: { session_max_lifetime: '1d' },
    },
    { clock, like: service },
  );
  const caller = new GraphqlClient(limited, { authorization: `Bearer ${adminToken}` });
  const make = async (scope: string) => await caller.query(CREATE, { id: `user:${id}`, scope, permanent: true });
  const device = `${API} ${DEVICE}AAAAAAAAAA`;
  const { accessToken } = madeBy(await make(device));
  expect(await introspected(accessToken)).toMatchObject({ expires_in: 86_400 });
  madeBy(await make('openid'));
  expect(codesOf(await make('openid'))).toEqual(['TOO_MANY_SESSIONS']);
  expect(codesOf(await make(`${API} ${DEVICE}BBBBBBBBBB`))).toEqual(['TOO_MANY_SESSIONS']);
  madeBy(await make(device));
  expect(await sessions()).toBe(2);
  await limited.stop();
});
