import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient } from '#test/support/graphql-client.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';

const PASSWORD = 'correct horse battery staple';
const SECRET = 'shared-secret-of-the-test';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T3X';
const ABSENT = 'user:01JD3Q5Z8W2N4K6M7P9R0S1T00';
const ADMIN_SCOPE = 'openid urn:mas:graphql:* urn:mas:admin';

const clock = new FakeClock();
let service: TestService;
/** The same database without a homeserver. */
let alone: TestService;
let amira: GraphqlClient;
let amiraId: string;
/** A client with an administrator's token. */
let admin: GraphqlClient;

const homeserver = await sharedByTests(startStandInHomeserver(SECRET, 'chat.example'));

beforeAll(async () => {
  const { endpoint, serverName } = homeserver;
  const common = {
    rate_limiting: { graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT }, login: { per_ip: HIGH_LIMIT } },
    clients: [chatClientSettings(CLIENT)],
    graphql: { oauth2_access: true },
  };
  const connected = { kind: 'synapse', homeserver: serverName, endpoint, secret: SECRET };
  service = await startService({ ...common, homeserver: connected }, { clock });
  alone = await startService(
    {
      ...common,
      homeserver: { kind: 'none', homeserver: serverName },
      account: { displayname_change_allowed: false },
    },
    { clock, like: service },
  );
  for (const name of ['amira', 'karim']) await service.registerUser(name, PASSWORD);
  await service.registerUser('root', PASSWORD, { canRequestAdmin: true });
  amira = await GraphqlClient.signedIn(service, 'amira', PASSWORD);
  amiraId = await idOfViewer(amira);
  const root = await GraphqlClient.signedIn(service, 'root', PASSWORD);
  const { accessToken } = await new ChatOAuthClient(service, CLIENT).signIn(
    root.browser ?? expect.fail('no browser'),
    ADMIN_SCOPE,
  );
  admin = new GraphqlClient(service, { authorization: `Bearer ${accessToken}` });
});

beforeEach(async () => {
  await homeserver.setFault(undefined);
  // The homeserver's circuit breaker may still be open from the previous test.
  clock.advanceSeconds(11);
  homeserver.state.users.clear();
  homeserver.requests.length = 0;
});

afterAll(async () => {
  await alone.stop();
  await service.stop();
});

const SET = `mutation SetDisplayName($userId: ID!, $displayName: String) {
  setDisplayName(input: { userId: $userId, displayName: $displayName }) {
    status user { matrix { displayName available } }
  }
}`;
const MATRIX = 'mxid displayName avatarUrl deactivated available';

async function idOfViewer(caller: GraphqlClient): Promise<string> {
  const { data } = await caller.query('{ viewer { ... on Node { id } } }');
  return Object(data).viewer.id;
}

async function matrixOfViewer(caller: GraphqlClient): Promise<unknown> {
  const { data, errors } = await caller.query(`{ viewer { ... on User { matrix { ${MATRIX} } chat { ${MATRIX} } } } }`);
  expect(errors).toEqual([]);
  const { matrix, chat } = Object(data).viewer;
  expect(chat).toEqual(matrix);
  return matrix;
}

/** The stored name, and the events of its changes. */
async function stored(): Promise<{ name: string | null; events: readonly Readonly<Record<string, unknown>>[] }> {
  const [row] = await sql<{ display_name: string | null }>(
    service.database,
    `select display_name from users where username = 'amira'`,
  );
  const events = await sql<{ has_client: boolean; has_address: boolean; detail: unknown }>(
    service.database,
    `select e.client_id is not null as has_client, e.ip is not null as has_address, e.detail
       from audit_events e join users u on u.id = e.user_id
      where u.username = 'amira' and e.kind = 'display_name_changed' order by e.created_at, e.id`,
  );
  return { name: row?.display_name ?? null, events };
}

describe('setDisplayName (account-graphql 5.3)', () => {
  test('changes the name at the homeserver and here, and removes it', async () => {
    homeserver.addUser('amira');
    const before = (await stored()).events.length;
    const named = await amira.query(SET, { userId: amiraId, displayName: ' Amira Öz ' });
    expect(named.data).toEqual({
      setDisplayName: { status: 'SET', user: { matrix: { displayName: 'Amira Öz', available: true } } },
    });
    expect(homeserver.user('amira')?.displayName).toBe('Amira Öz');
    expect(service.logLines().at(-1)).toMatch(/ graphql\.operation\.name=SetDisplayName$/);
    expect((await stored()).name).toBe('Amira Öz');
    const removed = await amira.query(SET, { userId: amiraId });
    expect(removed.data).toMatchObject({ setDisplayName: { status: 'SET', user: { matrix: { displayName: null } } } });
    expect(homeserver.user('amira')?.displayName).toBeUndefined();
    const { name, events } = await stored();
    expect(name).toBeNull();
    expect(events.slice(before)).toEqual([
      { has_client: false, has_address: true, detail: null },
      { has_client: false, has_address: true, detail: null },
    ]);
  });

  test.each([
    ['nothing', ''],
    ['white space', ' \t '],
    ['too much', 'x'.repeat(256)],
    ['a control character', 'a\u0007b'],
    ['a change of direction', 'a\u202eb'],
  ])('rejects %s without asking the homeserver', async (_, displayName) => {
    homeserver.addUser('amira');
    const { data } = await amira.query(SET.replace('matrix { displayName available }', 'username'), {
      userId: amiraId,
      displayName,
    });
    expect(data).toEqual({ setDisplayName: { status: 'INVALID', user: { username: 'amira' } } });
    expect(homeserver.requests).toEqual([]);
  });

  test('creates the user at the homeserver first if it does not exist there', async () => {
    expect((await amira.query(SET, { userId: amiraId, displayName: 'A' })).data).toMatchObject({
      setDisplayName: { status: 'SET' },
    });
    expect(homeserver.user('amira')?.displayName).toBe('A');
    // The registration job runs later and must not overwrite the name.
    await notifyHomeserver(service.core);
    expect(homeserver.user('amira')?.displayName).toBe('A');
  });

  test.each([
    ['does not answer', { kind: 'close' }],
    ['rejects the name', { kind: 'answer', status: 400, body: '{"errcode":"M_INVALID_PARAM"}' }],
  ] as const)('a homeserver that %s: stores nothing, and reports the failure', async (_, fault) => {
    homeserver.addUser('amira');
    const before = await stored();
    await homeserver.setFault(fault);
    const response = await amira.query(SET, { userId: amiraId, displayName: 'Lost' });
    expect([response.status, codesOf(response), response.data]).toEqual([200, ['HOMESERVER_UNAVAILABLE'], null]);
    expect(await stored()).toEqual(before);
  });

  test('is limited to the user and administrators', async () => {
    homeserver.addUser('amira');
    const variables = { userId: amiraId, displayName: 'By another' };
    const karim = await GraphqlClient.signedIn(service, 'karim', PASSWORD);
    const foreign = await karim.query(SET, variables);
    const absent = await karim.query(SET, { ...variables, userId: ABSENT });
    expect([codesOf(foreign), foreign.errors[0]?.message]).toEqual([['FORBIDDEN'], 'Unauthorized']);
    expect(codesOf(absent)).toEqual(['FORBIDDEN']);
    expect(codesOf(await new GraphqlClient(service).query(SET, variables))).toEqual(['UNAUTHENTICATED']);
    expect(homeserver.requests).toEqual([]);
    expect((await admin.query(SET, variables)).data).toMatchObject({ setDisplayName: { status: 'SET' } });
    const { name, events } = await stored();
    expect(name).toBe('By another');
    expect(events.at(-1)).toEqual({
      has_client: true,
      has_address: false,
      detail: { actor: 'admin', admin: expect.any(String) },
    });
    expect(codesOf(await admin.query(SET, { ...variables, userId: ABSENT }))).toEqual(['NOT_FOUND']);
    expect(codesOf(await amira.query(SET, { ...variables, userId: 'user:1' }))).toEqual(['BAD_USER_INPUT']);
  });

  test('is disabled by account.displayname_change_allowed, except for administrators', async () => {
    const here = await GraphqlClient.signedIn(alone, 'amira', PASSWORD);
    const response = await here.query(SET, { userId: amiraId, displayName: 'Not allowed' });
    expect(codesOf(response)).toEqual(['FEATURE_DISABLED']);
    const { data } = await here.query('{ siteConfig { displayNameChangeAllowed } }');
    expect(data).toEqual({ siteConfig: { displayNameChangeAllowed: false } });
    const root = await GraphqlClient.signedIn(alone, 'root', PASSWORD);
    const browser = root.browser ?? expect.fail('no browser');
    const { accessToken } = await new ChatOAuthClient(alone, CLIENT).signIn(browser, ADMIN_SCOPE);
    const administrator = new GraphqlClient(alone, { authorization: `Bearer ${accessToken}` });
    const changed = await administrator.query(SET, { userId: amiraId, displayName: 'Kept here' });
    expect(changed.data).toEqual({
      setDisplayName: { status: 'SET', user: { matrix: { displayName: 'Kept here', available: true } } },
    });
    expect(homeserver.requests).toEqual([]);
    expect(await matrixOfViewer(here)).toMatchObject({ displayName: 'Kept here', deactivated: false, available: true });
  });
});

describe('User.matrix and User.chat (account-graphql 4.2)', () => {
  test("return the homeserver's data with one call per request", async () => {
    Object.assign(homeserver.addUser('amira'), { displayName: 'Amira', avatarUrl: 'mxc://chat.example/face' });
    expect(await matrixOfViewer(amira)).toEqual({
      mxid: '@amira:chat.example',
      displayName: 'Amira',
      avatarUrl: 'mxc://chat.example/face',
      deactivated: false,
      available: true,
    });
    expect(homeserver.requests.map(({ path }) => path)).toEqual(['/_synapse/mas/query_user']);
  });

  test.each([
    ['does not know them', undefined],
    ['closes the connection', { kind: 'close' }],
    ['answers nonsense', { kind: 'answer', status: 200, body: '[]' }],
    ['never answers', { kind: 'hang' }],
  ] as const)('a homeserver that %s does not affect the rest of the response', async (_, fault) => {
    await homeserver.setFault(fault);
    expect(await matrixOfViewer(amira)).toEqual({
      mxid: '@amira:chat.example',
      displayName: null,
      avatarUrl: null,
      deactivated: false,
      available: false,
    });
  });
});
