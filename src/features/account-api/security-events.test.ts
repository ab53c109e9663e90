import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient, type GraphqlResponse } from '#test/support/graphql-client.ts';
import { startService, type TestService } from '#test/support/service.ts';

const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T6W';
const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';

const clock = new FakeClock();
let service: TestService;
let orla: GraphqlClient;
let orlaId: string;
let stranger: GraphqlClient;

beforeAll(async () => {
  const login = { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT };
  service = await startService(
    {
      rate_limiting: { graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT }, login },
      clients: [chatClientSettings(CLIENT)],
    },
    { clock },
  );
  orlaId = await service.registerUser('orla', PASSWORD);
  clock.advanceSeconds(60);
  orla = await GraphqlClient.signedIn(service, 'orla', PASSWORD);
  await service.registerUser('stranger', PASSWORD);
  stranger = await GraphqlClient.signedIn(service, 'stranger', PASSWORD);
});

afterAll(async () => {
  await service.stop();
});

const FIELDS =
  'id createdAt kind outcome actor ip userAgent { raw } session { id } client { clientName } subject count';

interface Event {
  readonly id: string;
  readonly kind: string;
  readonly createdAt: string;
  readonly [field: string]: unknown;
}

async function list(given = 'first: 100', fields = FIELDS): Promise<readonly Event[]> {
  const response = await orla.query(`{ viewer { ... on User { securityEvents(${given}) { nodes { ${fields} } } } } }`);
  expect(response.errors).toEqual([]);
  return Object(response.data).viewer.securityEvents.nodes;
}

async function insertEvent(kind: string, detail: object | null, more: { at?: number; client?: string } = {}) {
  const { at = clock.now(), client } = more;
  const id = newId(at);
  await sql(
    service.database,
    `insert into audit_events (id, kind, user_id, client_id, detail, created_at, ip)
     values ($1::uuid, $2::text, $3::uuid, $4::uuid, $5::jsonb, $6::timestamptz, '198.51.100.7')`,
    [toUuid(id), kind, uuid(orlaId), client === undefined ? null : uuid(client), JSON.stringify(detail), new Date(at)],
  );
  return `security_event:${id}`;
}

function uuid(id: string): string {
  return toUuid(parseId(id) ?? expect.fail(`no id: ${id}`));
}

const body = ({ status, text }: GraphqlResponse): string => `${status} ${text.replaceAll(/POST-\d+/g, 'POST')}`;

test('lists events in order, with their location and actor', async () => {
  const events = await list();
  const [registered, login] = [events.find(({ kind }) => kind === 'REGISTERED'), events.at(-1)];
  const { data } = await orla.query('{ viewerSession { ... on Node { id } } }');
  // The account was created by a command.
  expect(registered).toMatchObject({ kind: 'REGISTERED', actor: 'ADMIN', ip: null, session: null, count: 1 });
  expect(login).toEqual({
    id: expect.stringMatching(/^security_event:/),
    createdAt: new Date(clock.now()).toISOString(),
    kind: 'LOGIN',
    outcome: 'SUCCESS',
    actor: 'SELF',
    ip: '127.0.0.1',
    userAgent: { raw: expect.any(String) },
    session: { id: Object(data).viewerSession.id },
    client: null,
    subject: null,
    count: 1,
  });
  clock.advanceSeconds(1);
  await new ChatOAuthClient(service, CLIENT).signIn(orla.browser ?? expect.fail('no browser'), 'openid');
  const since = await list(`since: "${new Date(clock.now()).toISOString()}"`);
  expect(since.map(({ kind, client }) => ({ kind, client }))).toEqual(
    expect.arrayContaining([
      { kind: 'CONSENT_GIVEN', client: { clientName: 'Harbour' } },
      { kind: 'SESSION_STARTED', client: { clientName: 'Harbour' } },
    ]),
  );
});

test('stores ten wrong passwords an hour, and counts the others in the newest event', async () => {
  clock.advanceSeconds(7200);
  for (let index = 0; index < 13; index += 1) {
    clock.advanceSeconds(1);
    await GraphqlClient.signedIn(service, 'orla', 'wrong').catch(() => undefined);
  }
  const failures = await list('first: 100, kind: [LOGIN_FAILED]', 'kind outcome actor count');
  expect(failures.map(({ count }) => count)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 4]);
  expect(failures[0]).toMatchObject({ outcome: 'FAILURE', actor: 'SELF' });
});

test('the subject is a partial email address, a provider, or a session name', async () => {
  clock.advanceSeconds(7200);
  const since = `since: "${new Date(clock.now()).toISOString()}"`;
  await insertEvent('email_added', { email: 'o…@mail.example' });
  await insertEvent('upstream_linked', { provider: 'Harbour' }, { at: clock.now() + 1 });
  await insertEvent('email_removed', { email: 'p…@mail.example', admin: ABSENT }, { at: clock.now() + 2 });
  await insertEvent('session_ended', { reason: 'inactive' }, { at: clock.now() + 3 });
  await insertEvent('session_ended', { reason: 'admin' }, { at: clock.now() + 4 });
  await insertEvent('account_reactivated', null, { at: clock.now() + 5 });
  // Users see neither the granting of administrator rights, nor actions of administrators, nor unknown kinds.
  await insertEvent('admin_granted', null, { at: clock.now() + 6 });
  await insertEvent('of_tomorrow', null, { at: clock.now() + 7 });
  await insertEvent('admin_action', { actor: 'admin' }, { at: clock.now() + 8 });
  expect(await list(since, 'kind actor subject')).toEqual([
    { kind: 'EMAIL_ADDED', actor: 'SELF', subject: 'o…@mail.example' },
    { kind: 'UPSTREAM_LINKED', actor: 'SELF', subject: 'Harbour' },
    { kind: 'EMAIL_REMOVED', actor: 'ADMIN', subject: 'p…@mail.example' },
    { kind: 'SESSION_ENDED', actor: 'SYSTEM', subject: null },
    { kind: 'SESSION_ENDED', actor: 'ADMIN', subject: null },
    { kind: 'ACCOUNT_UNLOCKED', actor: 'ADMIN', subject: null },
  ]);
});

test('ends with the retention of the account, also if administrators keep events for longer', async () => {
  const days = (count: number) => count * 86_400_000;
  await insertEvent('passkey_added', null, { at: clock.now() - days(179) });
  await insertEvent('passkey_removed', null, { at: clock.now() - days(181) });
  const kinds = 'kind: [PASSKEY_ADDED, PASSKEY_REMOVED]';
  expect((await list(`first: 10, ${kinds}`)).map(({ kind }) => kind)).toEqual(['PASSKEY_ADDED']);
  expect(await list(`first: 10, ${kinds}, since: "2000-01-01T00:00:00Z"`)).toHaveLength(1);
});

test('filters by kind and time, paginates, and uses a constant number of statements', async () => {
  clock.advanceSeconds(7200);
  const start = clock.now();
  for (let index = 0; index < 30; index += 1) {
    await insertEvent(index % 2 === 0 ? 'login' : 'logout', null, { at: start + index * 1000, client: CLIENT });
  }
  const time = (index: number) => new Date(start + index * 1000).toISOString();
  const between = await list(`since: "${time(4)}", until: "${time(9)}", kind: [LOGIN, SESSIONS_ENDED]`);
  expect(between.map(({ createdAt }) => createdAt)).toEqual([time(4), time(6), time(8)]);
  expect(await list('kind: []')).toEqual([]);
  const last = await list('last: 2');
  expect(last.map(({ createdAt }) => createdAt)).toEqual([time(28), time(29)]);
  const queries: (number | undefined)[] = [];
  for (const size of [1, 25]) {
    await list(`last: ${size}`);
    queries.push(service.requestLines().at(-1)?.queries);
  }
  expect(queries[0]).toBe(queries[1]);
  const counted = await orla.query(
    `{ viewer { ... on User { securityEvents(first: 0, since: "${time(0)}") { totalCount } } } }`,
  );
  expect(counted.data).toEqual({ viewer: { securityEvents: { totalCount: 30 } } });
});

test('treats events of other users as unknown (S-84, S-128)', async () => {
  const id = await insertEvent('login', null);
  const hidden = await insertEvent('admin_granted', null);
  const node = 'query($id: ID!) { node(id: $id) { id __typename } }';
  expect((await orla.query(node, { id })).data).toEqual({ node: { id, __typename: 'SecurityEvent' } });
  expect((await orla.query(node, { id: hidden })).data).toEqual({ node: null });
  const absent = await stranger.query(node, { id: `security_event:${ABSENT}` });
  for (const caller of [stranger, new GraphqlClient(service)]) {
    const foreign = await caller.query(node, { id });
    expect(foreign.data).toEqual({ node: null });
    expect(body(foreign)).toBe(body(absent));
  }
  expect(codesOf(await orla.query(node, { id: 'security_event:x' }))).toEqual(['BAD_USER_INPUT']);
});
