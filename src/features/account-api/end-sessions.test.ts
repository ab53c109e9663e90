import { beforeAll, expect, test } from 'vitest';
import { parseId, toUuid } from '#platform/base/ids.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient, type GraphqlResponse } from '#test/support/graphql-client.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T3W';
const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';

const clock = new FakeClock();
let client: ChatOAuthClient;
let adminId: string;

const service = await sharedByTests(
  startService(
    {
      rate_limiting: { graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT }, login: { per_ip: HIGH_LIMIT } },
      clients: [chatClientSettings(CLIENT)],
      graphql: { oauth2_access: true },
    },
    { clock },
  ),
);

beforeAll(async () => {
  client = new ChatOAuthClient(service, CLIENT);
  for (const name of ['jonas', 'karla']) await service.registerUser(name, PASSWORD);
  adminId = await service.registerUser('root', PASSWORD, { canRequestAdmin: true });
});

const END_BROWSER = `mutation EndBrowserSession($id: ID!) {
  endBrowserSession(input: { browserSessionId: $id }) { status browserSession { id state finishedAt } }
}`;
const END_COMPAT = `mutation EndCompatSession($id: ID!) {
  endCompatSession(input: { compatSessionId: $id }) { status compatSession { id state finishedAt } }
}`;
const END_OAUTH2 = `mutation EndOAuth2Session($id: ID!) {
  endOauth2Session(input: { oauth2SessionId: $id }) { status oauth2Session { id state finishedAt } }
}`;

async function signedIn(username: string): Promise<GraphqlClient> {
  return await GraphqlClient.signedIn(service, username, PASSWORD);
}

/** Returns the identifier of the caller's current session. */
async function currentSession(caller: GraphqlClient): Promise<string> {
  const { data } = await caller.query('{ viewerSession { ... on Node { id } } }');
  return Object(data).viewerSession.id;
}

async function lastOauth2Session(caller: GraphqlClient): Promise<string> {
  const { data } = await caller.query('{ viewer { ... on User { oauth2Sessions(last: 1) { nodes { id } } } } }');
  return Object(data).viewer.oauth2Sessions.nodes[0].id;
}

const body = ({ status, text }: GraphqlResponse): string => `${status} ${text.replaceAll(/POST-\d+/g, 'POST')}`;

test('ends another browser session immediately and permanently', async () => {
  const [here, there] = [await signedIn('jonas'), await signedIn('jonas')];
  const id = await currentSession(there);
  const ended = await here.query(END_BROWSER, { id });
  expect(ended.data).toEqual({
    endBrowserSession: {
      status: 'ENDED',
      browserSession: { id, state: 'FINISHED', finishedAt: new Date(clock.now()).toISOString() },
    },
  });
  expect(ended.headers.get('set-cookie')).toBeNull();
  expect(service.logLines().at(-1)).toMatch(
    /requester=user:\w+\(jonas\).* graphql\.operation\.type=mutation graphql\.operation\.name=EndBrowserSession$/,
  );
  expect((await there.query('{ viewer { __typename } }')).data).toEqual({ viewer: { __typename: 'Anonymous' } });
  clock.advanceSeconds(5);
  expect((await here.query(END_BROWSER, { id })).data).toEqual(ended.data);
});

test('clears the cookie when a session ends itself', async () => {
  const here = await signedIn('jonas');
  const ended = await here.query(END_BROWSER, { id: await currentSession(here) });
  expect(Object(ended.data).endBrowserSession.status).toBe('ENDED');
  expect(ended.headers.get('set-cookie')).toMatch(/latchkey_session=/);
});

test('ends a client session with its tokens, which are then rejected here as well', async () => {
  const here = await signedIn('jonas');
  const tokens = await client.signIn(here.browser ?? expect.fail('no browser'), 'openid urn:mas:graphql:*');
  const app = new GraphqlClient(service, { authorization: `Bearer ${tokens.accessToken}` });
  const who =
    '{ viewer { ... on User { username } } viewerSession { ... on Oauth2Session { id isCurrent client { clientId } } } }';
  const id = await lastOauth2Session(here);
  expect((await app.query(who)).data).toEqual({
    viewer: { username: 'jonas' },
    viewerSession: { id, isCurrent: true, client: { clientId: CLIENT } },
  });
  expect(service.requestLines().at(-1)?.requester).toMatch(/^user:\w+\(jonas\)$/);
  expect((await here.query(END_OAUTH2, { id })).data).toMatchObject({
    endOauth2Session: { status: 'ENDED', oauth2Session: { state: 'FINISHED' } },
  });
  const refused = await app.query(who);
  expect([refused.status, codesOf(refused), refused.headers.get('www-authenticate')]).toEqual([
    401,
    ['INVALID_TOKEN'],
    'Bearer error="invalid_token"',
  ]);
  expect((await here.query(END_OAUTH2, { id })).data).toMatchObject({ endOauth2Session: { status: 'ENDED' } });
});

test('lets only the owner sign out a chat client, and rejects its token afterwards', async () => {
  const chat = new ChatClient(service);
  const { accessToken, refreshToken } = await chat.login('jonas', PASSWORD, { refresh_token: true });
  const here = await signedIn('jonas');
  const listed = await here.query('{ viewer { ... on User { compatSessions(last: 1) { nodes { id } } } } }');
  const { id } = Object(listed.data).viewer.compatSessions.nodes[0];
  const foreign = await (await signedIn('karla')).query(END_COMPAT, { id });
  expect(foreign.data).toEqual({ endCompatSession: { status: 'NOT_FOUND', compatSession: null } });
  const ended = await here.query(END_COMPAT, { id });
  expect(ended.data).toEqual({
    endCompatSession: {
      status: 'ENDED',
      compatSession: { id, state: 'FINISHED', finishedAt: new Date(clock.now()).toISOString() },
    },
  });
  clock.advanceSeconds(5);
  expect((await here.query(END_COMPAT, { id })).data).toEqual(ended.data);
  expect((await chat.post('/refresh', { refresh_token: refreshToken })).status).toBe(401);
  expect((await chat.post('/logout', undefined, { authorization: `Bearer ${accessToken}` })).status).toBe(401);
});

test.each([
  ['browser', END_BROWSER, 'browser_session', currentSession],
  ['application', END_OAUTH2, 'oauth2_session', lastOauth2Session],
] as const)('treats %s sessions of other users as unknown (S-128)', async (_, document, prefix, sessionOf) => {
  clock.advanceSeconds(1);
  const jonas = await signedIn('jonas');
  await client.signIn(jonas.browser ?? expect.fail('no browser'), 'openid');
  const id = await sessionOf(jonas);
  for (const caller of [await signedIn('karla'), new GraphqlClient(service)]) {
    const foreign = await caller.query(document, { id });
    expect(body(foreign)).toBe(body(await caller.query(document, { id: `${prefix}:${ABSENT}` })));
    expect(JSON.stringify(foreign.data)).toContain('"status":"NOT_FOUND"');
  }
  expect(
    (
      await jonas.query(
        'query($id: ID!) { node(id: $id) { ... on BrowserSession { state } ... on Oauth2Session { state } } }',
        { id },
      )
    ).data,
  ).toEqual({ node: { state: 'ACTIVE' } });
  expect(codesOf(await jonas.query(document, { id: `user:${ABSENT}` }))).toEqual(['BAD_USER_INPUT']);
});

test.each([
  ['browser', END_BROWSER, 'browserSession'],
  ['application', END_OAUTH2, 'oauth2Session'],
  ['chat client', END_COMPAT, 'compatSession'],
] as const)('ends a %s session once in concurrent sign-outs (account-graphql 9.2)', async (kind, document, member) => {
  const [one, other] = [await signedIn('jonas'), await signedIn('jonas')];
  const id = await newSession(kind, other);
  const before = await endingsOf(id);
  const responses = await Promise.all([one, one, one, one].map((caller) => caller.query(document, { id })));
  const ended = responses.map(({ data }) => Object.values(Object(data))[0]);
  const session = { id, state: 'FINISHED', finishedAt: new Date(clock.now()).toISOString() };
  expect(ended).toEqual(Array.from({ length: 4 }, () => ({ status: 'ENDED', [member]: session })));
  expect([before, await endingsOf(id)]).toEqual([0, 1]);
});

/** @returns the identifier of a new session; for `browser`, the caller's own session */
async function newSession(kind: 'browser' | 'application' | 'chat client', caller: GraphqlClient): Promise<string> {
  switch (kind) {
    case 'browser':
      return await currentSession(caller);
    case 'application':
      await client.signIn(caller.browser ?? expect.fail('no browser'), 'openid');
      return await lastOauth2Session(caller);
    case 'chat client': {
      await new ChatClient(service).login('jonas', PASSWORD);
      const { data } = await caller.query('{ viewer { ... on User { compatSessions(last: 1) { nodes { id } } } } }');
      return Object(data).viewer.compatSessions.nodes[0].id;
    }
  }
}

test.each([
  ['browser', END_BROWSER],
  ['application', END_OAUTH2],
  ['chat client', END_COMPAT],
] as const)('shows a user that an administrator ended a %s session, without an address', async (kind, document) => {
  const [jonas, other] = [await signedIn('jonas'), await signedIn('jonas')];
  const root = await signedIn('root');
  const scope = 'openid urn:mas:graphql:* urn:mas:admin';
  const { accessToken } = await client.signIn(root.browser ?? expect.fail('no browser'), scope);
  const admin = new GraphqlClient(service, { authorization: `Bearer ${accessToken}` });
  const id = await newSession(kind, other);
  clock.advanceSeconds(1);
  expect(JSON.stringify((await admin.query(document, { id })).data)).toContain('"status":"ENDED"');
  const { data } = await jonas.query(
    '{ viewer { ... on User { securityEvents(last: 1) { nodes { kind actor ip userAgent { raw } } } } } }',
  );
  expect(Object(data).viewer.securityEvents.nodes).toEqual([
    { kind: 'SESSION_ENDED', actor: 'ADMIN', ip: null, userAgent: null },
  ]);
  const [event] = await sql(
    service.database,
    `select detail from audit_events where session_id = $1 and kind = 'session_ended'`,
    [toUuid(parseId(id.split(':')[1] ?? '') ?? expect.fail(id))],
  );
  expect(event).toMatchObject({ detail: { actor: 'admin', admin: adminId, reason: 'admin' } });

  const own = await newSession('browser', root);
  await admin.query(END_BROWSER, { id: own });
  expect(await endingsOf(own)).toBe(1);
  const [ended] = await sql(
    service.database,
    `select kind, host(ip) as ip, detail from audit_events where session_id = $1 order by id desc limit 1`,
    [toUuid(parseId(own.split(':')[1] ?? '') ?? expect.fail(own))],
  );
  expect(ended).toMatchObject({ kind: 'logout', ip: '127.0.0.1', detail: { reason: 'logout' } });
});

/** How often the end of a session was recorded. */
async function endingsOf(nodeId: string): Promise<number> {
  const id = parseId(nodeId.split(':')[1] ?? '') ?? expect.fail(nodeId);
  const [row] = await sql<{ count: number }>(
    service.database,
    `select count(*)::integer as count from audit_events
      where session_id = $1 and kind in ('session_ended', 'logout')`,
    [toUuid(id)],
  );
  return row?.count ?? 0;
}

test.each([
  ['of another scheme', 'Basic eDp5', 401, 'INVALID_TOKEN'],
  ['with an unknown token', 'Bearer mat_x', 401, 'INVALID_TOKEN'],
  ['that is empty', 'Bearer ', 401, 'INVALID_TOKEN'],
])('rejects credentials %s, without falling back to the cookie', async (_, authorization, status, code) => {
  const response = await (await signedIn('karla')).with({ authorization }).query('query Who { viewer { __typename } }');
  expect([response.status, codesOf(response), response.data]).toEqual([status, [code], undefined]);
  // Nothing is parsed before the caller is identified.
  expect(service.logLines().at(-1)).not.toContain('graphql.operation');
});

test('names the missing scope to a token that lacks it', async () => {
  const karla = await signedIn('karla');
  const { accessToken } = await client.signIn(karla.browser ?? expect.fail('no browser'), 'openid');
  const response = await new GraphqlClient(service, { authorization: `Bearer ${accessToken}` }).query('{ __typename }');
  expect([response.status, codesOf(response), response.headers.get('www-authenticate')]).toEqual([
    403,
    ['INSUFFICIENT_SCOPE'],
    'Bearer error="insufficient_scope", scope="urn:mas:graphql:*"',
  ]);
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
});
