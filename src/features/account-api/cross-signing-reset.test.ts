import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient } from '#test/support/graphql-client.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';

const PASSWORD = 'correct horse battery staple';
const SECRET = 'shared-secret-of-the-test';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T3Z';
const ABSENT = 'user:01JD3Q5Z8W2N4K6M7P9R0S1T00';
const MINUTE = 60;

const clock = new FakeClock();
let service: TestService;
/** The same database without a homeserver. */
let alone: TestService;
let amiraId: string;

const homeserver = await sharedByTests(startStandInHomeserver(SECRET, 'chat.example'));

beforeAll(async () => {
  homeserver.state.clock = clock;
  const { endpoint, serverName } = homeserver;
  const common = {
    rate_limiting: { graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT }, login: { per_ip: HIGH_LIMIT } },
    clients: [chatClientSettings(CLIENT)],
    graphql: { oauth2_access: true },
    email: { transport: 'file' },
  };
  const connected = { kind: 'synapse', homeserver: serverName, endpoint, secret: SECRET };
  service = await startService({ ...common, homeserver: connected }, { clock });
  alone = await startService(
    { ...common, homeserver: { kind: 'none', homeserver: serverName } },
    { clock, like: service },
  );
  for (const name of ['amira', 'karim']) await service.registerUser(name, PASSWORD);
  await service.registerUser('root', PASSWORD, { canRequestAdmin: true });
  await sql(
    service.database,
    `insert into user_emails (id, user_id, email, email_key, created_at)
     select gen_random_uuid(), id, 'amira@example.org', 'amira@example.org', created_at from users where username = 'amira'`,
  );
  const { data } = await (await signedIn('amira')).query('{ viewer { ... on Node { id } } }');
  amiraId = Object(data).viewer.id;
});

beforeEach(async () => {
  await homeserver.setFault(undefined);
  // Closes the homeserver's circuit breaker, and ends the permission that the previous test granted.
  clock.advanceSeconds(11 * MINUTE);
  homeserver.state.users.clear();
  homeserver.addUser('amira');
  homeserver.requests.length = 0;
  await sql(service.database, 'delete from queue_jobs');
});

afterAll(async () => {
  await alone.stop();
  await service.stop();
});

const ALLOW = `mutation AllowCrossSigningReset($userId: ID!) {
  allowUserCrossSigningReset(input: { userId: $userId }) { user { id } }
}`;

async function signedIn(username: string, place = service): Promise<GraphqlClient> {
  return await GraphqlClient.signedIn(place, username, PASSWORD);
}

/** A client with an administrator's token. */
async function administrator(): Promise<GraphqlClient> {
  const { browser } = await signedIn('root');
  const scope = 'openid urn:mas:graphql:* urn:mas:admin';
  const { accessToken } = await new ChatOAuthClient(service, CLIENT).signIn(browser ?? expect.fail('none'), scope);
  return new GraphqlClient(service, { authorization: `Bearer ${accessToken}` });
}

/** Until when the homeserver accepts new keys for her. */
const allowedUntil = (): number => homeserver.user('amira')?.resetAllowedUntil ?? 0;

async function eventsAndMails() {
  const events = await sql<{ has_client: boolean; ip: string | null; detail: unknown }>(
    service.database,
    `select client_id is not null as has_client, host(ip) as ip, detail from audit_events
      where kind = 'cross_signing_reset_allowed' order by created_at, id`,
  );
  const mails = await sql<{ recipient: string; has_event: boolean }>(
    service.database,
    `select payload ->> 'to' as recipient, payload ->> 'event_id' is not null as has_event from queue_jobs
      where queue = 'send-security-notice' and payload ->> 'notice' = 'cross_signing_reset'`,
  );
  return { events, mails };
}

test('allows the reset for ten minutes after a recent sign-in, and notifies the user by email', async () => {
  const { data, errors } = await (await signedIn('amira')).query(ALLOW, { userId: amiraId });
  expect([data, errors]).toEqual([{ allowUserCrossSigningReset: { user: { id: amiraId } } }, []]);
  expect(service.logLines().at(-1)).toMatch(/ graphql\.operation\.name=AllowCrossSigningReset$/);
  expect(allowedUntil()).toBe(clock.now() + 10 * MINUTE * 1000);
  const { events, mails } = await eventsAndMails();
  expect(events.at(-1)).toEqual({ has_client: false, ip: '127.0.0.1', detail: null });
  expect(mails).toEqual([{ recipient: 'amira@example.org', has_event: true }]);
});

test('requires reauthentication after an old sign-in (account-graphql 2.5, S-123)', async () => {
  const amira = await signedIn('amira');
  clock.advanceSeconds(10 * MINUTE + 1);
  const response = await amira.query(ALLOW, { userId: amiraId });
  expect([response.data, codesOf(response)]).toEqual([null, ['REAUTH_REQUIRED']]);
  expect(response.errors[0]?.extensions).toMatchObject({
    maxAge: 600,
    reauthUrl: expect.stringMatching(/^\/reauth\?kind=manage_account&action=org\.chat\.cross_signing_reset$/),
  });
  expect(homeserver.requests).toEqual([]);
});

test('only administrators allow it for other users, with an audit event', async () => {
  const before = await eventsAndMails();
  const foreign = await (await signedIn('karim')).query(ALLOW, { userId: amiraId });
  const anonymous = await new GraphqlClient(service).query(ALLOW, { userId: amiraId });
  expect([codesOf(foreign), codesOf(anonymous)]).toEqual([['FORBIDDEN'], ['UNAUTHENTICATED']]);
  expect([allowedUntil(), await eventsAndMails()]).toEqual([0, before]);
  const admin = await administrator();
  expect((await admin.query(ALLOW, { userId: ABSENT })).data).toEqual({ allowUserCrossSigningReset: { user: null } });
  clock.advanceSeconds(3 * MINUTE);
  expect((await admin.query(ALLOW, { userId: amiraId })).errors).toEqual([]);
  expect(allowedUntil()).toBeGreaterThan(clock.now());
  expect((await eventsAndMails()).events.at(-1)).toEqual({
    has_client: true,
    ip: null,
    detail: { actor: 'admin', admin: expect.any(String) },
  });
});

test.each([
  ['does not answer', { kind: 'close' }],
  ['refuses', { kind: 'answer', status: 400, body: '{"errcode":"M_UNKNOWN"}' }],
] as const)('a homeserver that %s: records nothing and sends no mail', async (_, fault) => {
  const before = await eventsAndMails();
  const amira = await signedIn('amira');
  await homeserver.setFault(fault);
  const response = await amira.query(ALLOW, { userId: amiraId });
  expect([response.status, response.data, codesOf(response)]).toEqual([200, null, ['HOMESERVER_UNAVAILABLE']]);
  expect(await eventsAndMails()).toEqual(before);
});

test('is unavailable without a homeserver', async () => {
  const response = await (await signedIn('amira', alone)).query(ALLOW, { userId: amiraId });
  expect(codesOf(response)).toEqual(['NOT_SUPPORTED']);
});
