import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ChatClient } from '#test/support/chat-client.ts';
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
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T3Y';
const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';
const RENAME = '/_synapse/mas/update_device_display_name';

const clock = new FakeClock();
let service: TestService;
let amira: GraphqlClient;
/** A chat client on the device `PHONE`, and an application on the device `LAPTOP1234`. */
let compat: string;
let oauth: string;

const homeserver = await sharedByTests(startStandInHomeserver(SECRET, 'chat.example'));

beforeAll(async () => {
  const { endpoint, serverName } = homeserver;
  service = await startService(
    {
      rate_limiting: { graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT }, login: { per_ip: HIGH_LIMIT } },
      clients: [chatClientSettings(CLIENT)],
      homeserver: { kind: 'synapse', homeserver: serverName, endpoint, secret: SECRET },
    },
    { clock },
  );
  for (const name of ['amira', 'karim']) await service.registerUser(name, PASSWORD);
  amira = await GraphqlClient.signedIn(service, 'amira', PASSWORD);
  await new ChatClient(service).login('amira', PASSWORD, { device_id: 'PHONE' });
  await new ChatOAuthClient(service, CLIENT).signIn(
    amira.browser ?? expect.fail('no browser'),
    'openid urn:chat:client:api:* urn:chat:client:device:LAPTOP1234',
  );
  await notifyHomeserver(service.core);
  const { data } = await amira.query(
    '{ viewer { ... on User { compatSessions { nodes { id } } oauth2Sessions { nodes { id } } } } }',
  );
  const { compatSessions, oauth2Sessions } = Object(data).viewer;
  compat = compatSessions.nodes[0].id;
  oauth = oauth2Sessions.nodes[0].id;
});

beforeEach(async () => {
  await homeserver.setFault(undefined);
  // Closes the homeserver's circuit breaker, and makes postponed jobs due.
  clock.advanceSeconds(3600);
  await notifyHomeserver(service.core);
  homeserver.requests.length = 0;
});

afterAll(async () => {
  await service.stop();
});

const COMPAT = `mutation SetCompatSessionName($sessionId: ID!, $displayName: String!) {
  renamed: setCompatSessionName(input: { compatSessionId: $sessionId, humanName: $displayName }) {
    status compatSession { humanName } oauth2Session { humanName }
  }
}`;
const OAUTH2 = `mutation SetOAuth2SessionName($sessionId: ID!, $displayName: String!) {
  renamed: setOauth2SessionName(input: { oauth2SessionId: $sessionId, humanName: $displayName }) {
    status oauth2Session { humanName }
  }
}`;

const KINDS = [
  ['chat client', COMPAT, () => compat, 'PHONE'],
  ['application', OAUTH2, () => oauth, 'LAPTOP1234'],
] as const;

const deviceName = (id: string) => homeserver.user('amira')?.devices.get(id);

function requested(path: string): number {
  return homeserver.requests.filter((request) => request.path === path).length;
}

test.each(KINDS)('renames a %s, also at the homeserver', async (_, document, id, device) => {
  const name = `${'👋'.repeat(99)}!`;
  const { data } = await amira.query(document, { sessionId: id(), displayName: ` ${name} ` });
  expect(Object(data).renamed).toMatchObject({ status: 'UPDATED', oauth2Session: { humanName: name } });
  expect(deviceName(device)).toBe(name);
  expect(service.logLines().at(-1)).toMatch(/ graphql\.operation\.name=Set(Compat|OAuth2)SessionName$/);
  await notifyHomeserver(service.core);
  expect(requested(RENAME), 'no job repeats what succeeded').toBe(1);
});

test.each(KINDS)('renames a %s while the homeserver is down, and updates it later', async (...row) => {
  const [, document, id, device] = row;
  await homeserver.setFault({ kind: 'refuse' });
  for (const displayName of ['Before', 'After']) {
    const { data, errors } = await amira.query(document, { sessionId: id(), displayName });
    expect(errors).toEqual([]);
    expect(Object(data).renamed).toMatchObject({ status: 'UPDATED', oauth2Session: { humanName: displayName } });
  }
  await homeserver.setFault(undefined);
  clock.advanceSeconds(3600);
  await notifyHomeserver(service.core);
  expect(deviceName(device)).toBe('After');
  expect(requested(RENAME), 'one job tells the last of both').toBe(1);
});

test('a name changed during a homeserver update is sent last', async () => {
  let response: () => void = () => undefined;
  const until = new Promise<void>((resolve) => {
    response = resolve;
  });
  await homeserver.setFault({ kind: 'wait', until });
  const first = amira.query(COMPAT, { sessionId: compat, displayName: 'First' });
  await expect.poll(() => requested(RENAME)).toBe(1);
  await homeserver.setFault(undefined);
  expect((await amira.query(COMPAT, { sessionId: compat, displayName: 'Second' })).errors).toEqual([]);
  response();
  expect((await first).errors).toEqual([]);
  expect(deviceName('PHONE')).toBe('First');
  await notifyHomeserver(service.core);
  expect(deviceName('PHONE')).toBe('Second');
});

test('restores a device that the homeserver lost, with the others', async () => {
  homeserver.state.users.delete('amira');
  const { data } = await amira.query(COMPAT, { sessionId: compat, displayName: 'Lost' });
  expect(Object(data).renamed).toMatchObject({ status: 'UPDATED' });
  await notifyHomeserver(service.core);
  expect([...(homeserver.user('amira')?.devices.keys() ?? [])].sort()).toEqual(['LAPTOP1234', 'PHONE']);
});

test.each([
  ['empty', ' '],
  ['too long', 'x'.repeat(101)],
  ['of several lines', 'a\nb'],
])('rejects a name that is %s', async (_, displayName) => {
  for (const [, document, id] of KINDS) {
    const response = await amira.query(document, { sessionId: id(), displayName });
    expect([codesOf(response), response.data]).toEqual([['BAD_USER_INPUT'], null]);
  }
  expect(homeserver.requests).toEqual([]);
});

test.each(KINDS)('treats a %s of another user as unknown (S-128)', async (...row) => {
  const [, document, id, device] = row;
  const before = deviceName(device);
  const karim = await GraphqlClient.signedIn(service, 'karim', PASSWORD);
  const anonymous = new GraphqlClient(service);
  const absent = id().replace(/:.*/, `:${ABSENT}`);
  const responses = new Set<string>();
  for (const caller of [karim, anonymous]) {
    for (const sessionId of [id(), absent]) {
      const { status, text } = await caller.query(document, { sessionId, displayName: 'Mine' });
      responses.add(`${status} ${text}`);
    }
  }
  const [response = ''] = responses;
  expect([responses.size, response]).toEqual([1, expect.stringContaining('"status":"NOT_FOUND"')]);
  expect([deviceName(device), requested(RENAME)]).toEqual([before, 0]);
  const rows = await sql(
    service.database,
    `select id from compat_sessions where human_name = 'Mine' union all select id from oauth2_sessions where human_name = 'Mine'`,
  );
  expect(rows).toEqual([]);
});

test('does not find ended sessions', async () => {
  await new ChatClient(service).login('amira', PASSWORD, { device_id: 'OLD' });
  const { data } = await amira.query('{ viewer { ... on User { compatSessions(last: 1) { nodes { id } } } } }');
  const { id } = Object(data).viewer.compatSessions.nodes[0];
  const end = 'mutation($id: ID!) { endCompatSession(input: { compatSessionId: $id }) { status } }';
  expect((await amira.query(end, { id })).errors).toEqual([]);
  const renamed = await amira.query(COMPAT, { sessionId: id, displayName: 'Too late' });
  expect(renamed.data).toEqual({ renamed: { status: 'NOT_FOUND', compatSession: null, oauth2Session: null } });
});
