import { beforeAll, describe, expect, test } from 'vitest';
import { fromUuid, newId, parseId, toUuid } from '#platform/base/ids.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient, type GraphqlResponse } from '#test/support/graphql-client.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';
const DAY = 86_400_000;

const clock = new FakeClock();
let nobody: GraphqlClient;
let hana: GraphqlClient;
let ivor: GraphqlClient;
let hanaId: string;
/** Hana's browser session. */
let browserSession: string;
/** Hana's sessions in the order of their identifiers. Every third belongs to a chat client. */
const sessions: { readonly id: string; readonly isCompat: boolean; readonly isLive: boolean }[] = [];

const service = await sharedByTests(
  startService(
    {
      rate_limiting: { graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT }, login: { per_ip: HIGH_LIMIT } },
      clients: [
        {
          client_id: CLIENT,
          client_auth_method: 'none',
          client_name: 'Harbour',
          redirect_uris: ['https://app.example/cb'],
          tos_uri: 'https://app.example/tos',
        },
      ],
    },
    { clock },
  ),
);

beforeAll(async () => {
  hanaId = await service.registerUser('hana', PASSWORD);
  await service.registerUser('ivor', PASSWORD);
  nobody = new GraphqlClient(service);
  hana = await GraphqlClient.signedIn(service, 'hana', PASSWORD);
  ivor = await GraphqlClient.signedIn(service, 'ivor', PASSWORD);
  const opened = await sql<{ id: string }>(service.database, 'select id from user_sessions where user_id = $1', [
    uuid(hanaId),
  ]);
  browserSession = fromUuid(opened[0]?.id ?? expect.fail('no session'));
  for (let index = 0; index < 250; index += 1) await addSession(index);
});

async function addSession(index: number): Promise<void> {
  const at = clock.now() - DAY + index;
  const id = newId(at);
  const [isCompat, isLive] = [index % 3 === 0, index % 2 === 0];
  const own = [toUuid(id), uuid(hanaId), index === 7 || index === 9 ? uuid(browserSession) : null, new Date(at)];
  const ended = isLive ? null : new Date(at + 1);
  const active = index === 5 ? null : new Date(at + 1000);
  const table = isCompat ? 'compat_sessions' : 'oauth2_sessions';
  const more = isCompat ? '' : `, client_id, scope`;
  const values = isCompat ? '' : `, '${uuid(CLIENT)}', '{openid,urn:chat:client:api:*}'`;
  await sql(
    service.database,
    `insert into ${table} (id, user_id, user_session_id, created_at, finished_at, last_active_at, device_id, user_agent, last_active_ip${more})
     values ($1, $2, $3, $4, $5, $6, $7, 'Harbour/1.2 (Pixel 8; Android 14)', '2001:db8::1'${values})`,
    [...own, ended, active, `DEVICE${index}`],
  );
  sessions.push({ id: `${isCompat ? 'compat' : 'oauth2'}_session:${id}`, isCompat, isLive });
}

function uuid(id: string): string {
  return toUuid(parseId(id) ?? expect.fail('no id'));
}

const PAGE =
  'pageInfo { hasPreviousPage hasNextPage startCursor endCursor } edges { cursor node { ... on Node { id } } }';

interface Listed {
  readonly ids: string[];
  readonly startCursor: string;
  readonly endCursor: string;
  readonly hasPreviousPage: boolean;
  readonly hasNextPage: boolean;
}

/** A page of Hana's sessions. `given` holds arguments as written in a document. */
async function list(given: string, field = 'appSessions'): Promise<Listed> {
  const response = await hana.query(`{ viewer { ... on User { list: ${field}(${given}) { ${PAGE} } } } }`);
  expect(response.errors).toEqual([]);
  const { list: found } = Object(Object(response.data).viewer);
  const edges: { node: { id: string } }[] = found.edges;
  return { ids: edges.map(({ node }) => node.id), ...found.pageInfo };
}

const ALL = (): string[] => sessions.map(({ id }) => id);

describe('a list (account-graphql 3.4)', () => {
  test.each([
    ['forward', 'first: 7', (page: Listed) => `first: 7, after: "${page.endCursor}"`, 'hasNextPage'],
    ['backward', 'last: 7', (page: Listed) => `last: 7, before: "${page.startCursor}"`, 'hasPreviousPage'],
  ] as const)('is paginated %s without gaps or duplicates', async (way, first, next, more) => {
    const pages = [await list(first)];
    for (let page = pages[0]; page?.[more] === true; page = pages.at(-1)) pages.push(await list(next(page)));
    const inOrder = way === 'forward' ? pages : pages.toReversed();
    expect(inOrder.flatMap(({ ids }) => ids)).toEqual(ALL());
    expect(pages.length).toBe(36);
    // Backward pagination also reports both ends of the list.
    expect(pages.map(({ hasPreviousPage }) => hasPreviousPage)).toEqual(
      pages.map((_, index) => (way === 'forward' ? index > 0 : index < 35)),
    );
    expect(pages.map(({ hasNextPage }) => hasNextPage)).toEqual(
      pages.map((_, index) => (way === 'forward' ? index < 35 : index > 0)),
    );
  });

  test('supports an open interval between two cursors', async () => {
    const { endCursor } = await list('first: 100');
    const { startCursor } = await list('last: 100');
    const between = await list(`first: 100, after: "${endCursor}", before: "${startCursor}"`);
    expect(between).toMatchObject({ ids: ALL().slice(100, 150), hasPreviousPage: true, hasNextPage: true });
  });

  test('has 20 items by default, none for 0, and a total count', async () => {
    expect((await list('after: null')).ids.length).toBe(20);
    expect(await list('first: 0')).toMatchObject({ ids: [], startCursor: null, endCursor: null });
    const { data } = await hana.query(
      '{ viewer { ... on User { appSessions(first: 0, state: ACTIVE) { totalCount } } } }',
    );
    expect(data).toEqual({ viewer: { appSessions: { totalCount: 125 } } });
  });

  test.each(['x', 'b2F1dGgyX3Nlc3Npb246', ''])('rejects the malformed cursor %j', async (cursor) => {
    const response = await hana.query(`{ viewer { ... on User { appSessions(after: "${cursor}") { totalCount } } } }`);
    expect([codesOf(response), response.errors[0]?.message]).toEqual([['BAD_USER_INPUT'], 'invalid cursor']);
  });

  test('rejects a cursor of another list, and accepts one of a deleted object', async () => {
    const { endCursor } = await list('first: 3', 'oauth2Sessions');
    const foreign = await hana.query(
      `{ viewer { ... on User { appSessions(after: "${endCursor}") { totalCount } } } }`,
    );
    expect(codesOf(foreign)).toEqual(['BAD_USER_INPUT']);
    const gone = Buffer.from(`app_session:${newId(clock.now() - DAY - 1)}`).toString('base64url');
    expect((await list(`first: 2, after: "${gone}"`)).ids).toEqual(ALL().slice(0, 2));
  });

  test.each([
    ['state: ACTIVE', (index: number) => index % 2 === 0],
    ['state: FINISHED', (index: number) => index % 2 === 1],
    ['device: "DEVICE12"', (index: number) => index === 12],
  ])('is filtered by %s', async (filter, fits) => {
    expect((await list(`first: 100, ${filter}`)).ids).toEqual(
      ALL()
        .filter((_, index) => fits(index))
        .slice(0, 100),
    );
  });

  test('filters by last activity, which excludes sessions that were never active', async () => {
    const bound = (index: number): string => new Date(clock.now() - DAY + index + 1000).toISOString();
    const { ids } = await list(`first: 100, lastActive: { after: "${bound(3)}", before: "${bound(8)}" }`);
    expect(ids).toEqual([4, 6, 7].map((index) => ALL()[index]));
  });

  test('filters by browser session and client, and rejects an unknown one', async () => {
    expect((await list(`browserSession: "browser_session:${browserSession}"`)).ids).toEqual([ALL()[7], ALL()[9]]);
    expect((await list(`browserSession: "browser_session:${ABSENT}"`)).ids).toEqual([]);
    expect((await list(`first: 1, client: "oauth2_client:${CLIENT}"`, 'oauth2Sessions')).ids).toEqual([ALL()[1]]);
    const unknown = await hana.query(
      `{ viewer { ... on User { oauth2Sessions(client: "oauth2_client:${ABSENT}") { totalCount } } } }`,
    );
    expect(codesOf(unknown)).toEqual(['BAD_USER_INPUT']);
  });

  test('loads the first page of sessions with their clients in three statements, whatever its size', async () => {
    for (const size of [1, 6, 100]) {
      const response = await hana.query(
        `query AppSessionsList { viewer { ... on User { id appSessions(last: ${size}) { nodes {
          ... on Oauth2Session { id createdAt scope isCurrent userAgent { name model } client { clientId clientName } }
          ... on CompatSession { id humanName deviceId lastActiveIp state }
        } } } } }`,
      );
      expect([response.errors, service.requestLines().at(-1)?.queries]).toEqual([[], 3]);
    }
  });

  test.each([
    ['', 3],
    ['totalCount', 4],
  ])(
    'loads the browser sessions through the current session without a further statement (%s)',
    async (fields, queries) => {
      const response = await hana.query(
        `query BrowserSessionList { viewerSession { __typename ... on BrowserSession { id createdAt isCurrent
        user { id browserSessions(first: 6, state: ACTIVE) { ${fields} edges { node { id userAgent { raw } } } } } } } }`,
      );
      expect([response.errors, service.requestLines().at(-1)?.queries]).toEqual([[], queries]);
      expect(Object(response.data).viewerSession).toMatchObject({
        id: `browser_session:${browserSession}`,
        isCurrent: true,
        user: { id: `user:${hanaId}` },
      });
    },
  );

  test('loads other data of the current session with its first field', async () => {
    const response = await hana.query(
      '{ viewerSession { ... on BrowserSession { state finishedAt lastActiveIp userAgent { raw } createdAt } } currentBrowserSession { state } }',
    );
    expect([response.errors, service.requestLines().at(-1)?.queries]).toEqual([[], 3]);
    const listed = await hana.query(`{ browserSession(id: "browser_session:${browserSession}") {
      state finishedAt lastActiveIp userAgent { raw } createdAt } }`);
    expect(Object(response.data).viewerSession).toEqual(Object(listed.data).browserSession);
    expect(Object(response.data).currentBrowserSession).toEqual({ state: 'ACTIVE' });
  });

  test('batches lists within a list', async () => {
    clock.advanceSeconds(1);
    await GraphqlClient.signedIn(service, 'hana', PASSWORD);
    const response = await hana.query(
      '{ viewer { ... on User { browserSessions { nodes { id appSessions(first: 5) { totalCount nodes { ... on Node { id } } } lastAuthentication { methods } user { username } } } } } }',
    );
    expect(Object(response.data).viewer.browserSessions.nodes).toEqual([
      {
        id: `browser_session:${browserSession}`,
        appSessions: { totalCount: 2, nodes: [{ id: ALL()[7] }, { id: ALL()[9] }] },
        lastAuthentication: { methods: ['PASSWORD'] },
        user: { username: 'hana' },
      },
      expect.objectContaining({ appSessions: { totalCount: 0, nodes: [] } }),
    ]);
    expect(service.requestLines().at(-1)?.queries).toBe(6);
  });
});

test('returns the session details that its user may see', async () => {
  const [compat, oauth2] = [ALL()[0], ALL()[1]];
  const { data } = await hana.query(
    `query($compat: ID!, $oauth2: ID!) {
      compatSession(id: $compat) { deviceId state finishedAt browserSession { id } user { username } userAgent { raw name version os osVersion model deviceType } lastActiveIp }
      oauth2Session(id: $oauth2) { scope deviceId state client { id clientId clientName tosUri policyUri redirectUris } user { id } humanName }
      session(userId: "user:${hanaId}", deviceId: "DEVICE0") { __typename }
      node(id: $oauth2) { __typename }
    }`,
    { compat, oauth2 },
  );
  expect(data).toEqual({
    compatSession: {
      deviceId: 'DEVICE0',
      state: 'ACTIVE',
      finishedAt: null,
      browserSession: null,
      user: { username: 'hana' },
      userAgent: {
        raw: 'Harbour/1.2 (Pixel 8; Android 14)',
        name: 'Harbour',
        version: '1.2',
        os: 'Android',
        osVersion: '14',
        model: 'Pixel 8',
        deviceType: 'MOBILE',
      },
      lastActiveIp: '2001:db8::1',
    },
    oauth2Session: {
      scope: 'openid urn:chat:client:api:*',
      deviceId: 'DEVICE1',
      state: 'FINISHED',
      client: {
        id: `oauth2_client:${CLIENT}`,
        clientId: CLIENT,
        clientName: 'Harbour',
        tosUri: 'https://app.example/tos',
        policyUri: null,
        redirectUris: ['https://app.example/cb'],
      },
      user: { id: `user:${hanaId}` },
      humanName: null,
    },
    session: { __typename: 'CompatSession' },
    node: { __typename: 'Oauth2Session' },
  });
});

describe('treats data of other users as unknown (S-84, S-128)', () => {
  const QUERIES: readonly [name: string, query: string, of: () => string][] = [
    ['node of a person', 'query($id: ID!) { node(id: $id) { id } }', () => `user:${hanaId}`],
    [
      'node of a browser session',
      'query($id: ID!) { node(id: $id) { id } }',
      () => `browser_session:${browserSession}`,
    ],
    ['node of a session', 'query($id: ID!) { node(id: $id) { id } }', () => ALL()[1] ?? ''],
    ['node of a chat client', 'query($id: ID!) { node(id: $id) { id } }', () => ALL()[0] ?? ''],
    ['user', 'query($id: ID!) { user(id: $id) { id username } }', () => `user:${hanaId}`],
    ['browserSession', 'query($id: ID!) { browserSession(id: $id) { id } }', () => `browser_session:${browserSession}`],
    ['oauth2Session', 'query($id: ID!) { oauth2Session(id: $id) { id } }', () => ALL()[1] ?? ''],
    ['compatSession', 'query($id: ID!) { compatSession(id: $id) { id } }', () => ALL()[0] ?? ''],
    ['session', 'query($id: ID!) { session(userId: $id, deviceId: "DEVICE0") { __typename } }', () => `user:${hanaId}`],
  ];
  const body = ({ status, text }: GraphqlResponse): string => `${status} ${text.replaceAll(/POST-\d+/g, 'POST')}`;

  test.each(QUERIES)('%s', async (_, query, of) => {
    const id = of();
    expect(body(await hana.query(query, { id }))).not.toMatch(/:null/);
    for (const caller of [ivor, nobody]) {
      const foreign = await caller.query(query, { id });
      const absent = await caller.query(query, { id: id.replace(/:.*/, `:${ABSENT}`) });
      expect(body(foreign)).toBe(body(absent));
      expect([foreign.status, Object.values(Object(foreign.data))]).toEqual([200, [null]]);
      const wrong = await caller.query(query, { id: id.replace(/:.*/, ':x') });
      expect([codesOf(wrong), wrong.errors[0]?.message]).toEqual([['BAD_USER_INPUT'], 'invalid id']);
    }
  });

  test.each([
    'x',
    'user',
    'user:',
    `users:${ABSENT}`,
    `user:${ABSENT}:x`,
    ABSENT,
    `USER:${ABSENT}`,
    '',
    `user:${'8'.repeat(26)}`,
  ])('does not find the identifier %j', async (id) => {
    expect(codesOf(await hana.query('query($id: ID!) { node(id: $id) { id } }', { id }))).toEqual(['BAD_USER_INPUT']);
  });

  test('shows public client data, except its redirect URIs', async () => {
    const query = `{ oauth2Client(id: "oauth2_client:${CLIENT.toLowerCase()}") { clientName redirectUris } node(id: "oauth2_client:${ABSENT}") { id } anonymous: node(id: "anonymous") { __typename } site: node(id: "site_config") { id } }`;
    const expected = { clientName: 'Harbour', redirectUris: [] };
    expect((await nobody.query(query)).data).toEqual({
      oauth2Client: expected,
      node: null,
      anonymous: { __typename: 'Anonymous' },
      site: { id: 'site_config' },
    });
    expect((await ivor.query(query)).data).toMatchObject({
      oauth2Client: { redirectUris: ['https://app.example/cb'] },
    });
  });
});
