import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
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
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T5W';
const OTHER = '01JD3Q5Z8W2N4K6M7P9R0S1T5X';
const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';

const clock = new FakeClock();
let harbour: ChatOAuthClient;
let quay: ChatOAuthClient;
let count = 0;
/** A new user for each test. */
let user: GraphqlClient;
let stranger: GraphqlClient;
let username: string;

const service = await sharedByTests(
  startService(
    {
      rate_limiting: { graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT }, login: { per_ip: HIGH_LIMIT } },
      clients: [chatClientSettings(CLIENT), chatClientSettings(OTHER, { client_name: 'Quay' })],
      graphql: { oauth2_access: true },
    },
    { clock },
  ),
);

beforeAll(async () => {
  harbour = new ChatOAuthClient(service, CLIENT);
  quay = new ChatOAuthClient(service, OTHER);
  await service.registerUser('stranger', PASSWORD);
  stranger = await GraphqlClient.signedIn(service, 'stranger', PASSWORD);
});

beforeEach(async () => {
  count += 1;
  username = `person${count}`;
  await service.registerUser(username, PASSWORD);
  user = await GraphqlClient.signedIn(service, username, PASSWORD);
  // Sessions that start later must get higher identifiers.
  clock.advanceSeconds(1);
});

const browser = () => user.browser ?? expect.fail('no browser');
const body = ({ status, text }: GraphqlResponse): string => `${status} ${text.replaceAll(/POST-\d+/g, 'POST')}`;

async function events(): Promise<readonly { kind: string; client_id: string | null; detail: unknown }[]> {
  return await sql(
    service.database,
    `select e.kind, e.client_id, e.detail from audit_events e join users u on u.id = e.user_id
      where u.username = $1::text and e.kind in ('sessions_ended', 'application_revoked', 'consent_revoked')`,
    [username],
  );
}

async function isAccepted(token: string): Promise<boolean> {
  const caller = new GraphqlClient(service, { authorization: `Bearer ${token}` });
  return (await caller.query('{ viewerSession { __typename } }')).status !== 401;
}

const LIST = `{ viewer { ... on User {
  connectedApplications { totalCount nodes { id client { clientName } firstAuthorizedAt lastActiveAt activeSessions scopes } }
  consents { totalCount nodes { id createdAt updatedAt client { id } scopes } }
} } }`;

async function list() {
  const { data, errors } = await user.query(LIST);
  expect(errors).toEqual([]);
  return Object(data).viewer;
}

const REVOKE = `mutation RevokeApplication($id: ID!) {
  revokeApplication(input: { applicationId: $id }) { status endedSessions }
}`;
const REVOKE_CONSENT = `mutation RevokeConsent($id: ID!) { revokeConsent(input: { consentId: $id }) { status } }`;

describe('applications', () => {
  test('lists their permissions, with a constant number of statements for any number of sessions', async () => {
    expect(await list()).toMatchObject({ connectedApplications: { totalCount: 0 }, consents: { totalCount: 0 } });
    const began = new Date(clock.now()).toISOString();
    await harbour.signIn(browser(), 'openid');
    const queries = async (): Promise<number | undefined> => {
      await list();
      return service.requestLines().at(-1)?.queries;
    };
    const few = await queries();
    clock.advanceSeconds(5);
    await harbour.signIn(browser(), 'openid email urn:mas:graphql:*');
    await quay.signIn(browser(), 'openid');
    const { connectedApplications, consents } = await list();
    expect(connectedApplications).toEqual({
      totalCount: 2,
      nodes: [
        {
          id: `connected_application:${CLIENT}`,
          client: { clientName: 'Harbour' },
          firstAuthorizedAt: began,
          lastActiveAt: null,
          activeSessions: 2,
          scopes: ['email', 'openid', 'urn:mas:graphql:*'],
        },
        expect.objectContaining({ client: { clientName: 'Quay' }, activeSessions: 1, scopes: ['openid'] }),
      ],
    });
    expect(consents.totalCount).toBe(2);
    expect(consents.nodes[0]).toMatchObject({
      createdAt: began,
      updatedAt: new Date(clock.now()).toISOString(),
      client: { id: `oauth2_client:${CLIENT}` },
      scopes: expect.arrayContaining(['email', 'openid']),
    });
    expect(consents.nodes[0].id < consents.nodes[1].id).toBe(true);
    expect(await queries()).toBe(few);
    const node = 'query($id: ID!) { node(id: $id) { id __typename } }';
    for (const id of [`connected_application:${OTHER}`, consents.nodes[0].id]) {
      expect(Object((await user.query(node, { id })).data).node).toMatchObject({ id });
      const foreign = await stranger.query(node, { id });
      const absent = await stranger.query(node, { id: id.replace(/:.*/, `:${ABSENT}`) });
      expect(foreign.data).toEqual({ node: null });
      expect(body(foreign)).toBe(body(absent));
    }
  });

  test.each(['connected_application', 'oauth2_client'])('revokes all access by the ID of a %s', async (prefix) => {
    const { accessToken, refreshToken } = await harbour.signIn(browser(), 'openid urn:mas:graphql:*');
    const other = await quay.signIn(browser(), 'openid urn:mas:graphql:*');
    await harbour.signIn(browser(), 'openid');
    const revoked = await user.query(REVOKE, { id: `${prefix}:${CLIENT}` });
    expect(revoked.data).toEqual({ revokeApplication: { status: 'REVOKED', endedSessions: 2 } });
    expect([await isAccepted(accessToken), await isAccepted(other.accessToken)]).toEqual([false, true]);
    const refreshed = await harbour.post('/oauth2/token', { grant_type: 'refresh_token', refresh_token: refreshToken });
    expect(refreshed.body['error']).toBe('invalid_grant');
    expect(await list()).toMatchObject({
      connectedApplications: { nodes: [{ id: `connected_application:${OTHER}` }] },
      consents: { nodes: [{ client: { id: `oauth2_client:${OTHER}` } }] },
    });
    expect(await events()).toEqual([
      { kind: 'application_revoked', client_id: toUuid(parseId(CLIENT) ?? expect.fail()), detail: { sessions: 2 } },
    ]);
    const again = await user.query(REVOKE, { id: `${prefix}:${CLIENT}` });
    expect(again.data).toEqual({ revokeApplication: { status: 'NOT_FOUND', endedSessions: 0 } });
    expect((await events()).length).toBe(1);
  });

  test('cannot exchange a code issued just before the revocation (S-102)', async () => {
    await harbour.signIn(browser(), 'openid');
    const code = await harbour.code(browser(), 'openid');
    const deviceCode = await harbour.deviceCode(browser(), 'openid');
    const others = await quay.code(browser(), 'openid');
    await user.query(REVOKE, { id: `oauth2_client:${CLIENT}` });
    expect((await harbour.exchange(code)).body['error']).toBe('invalid_grant');
    expect((await harbour.poll(deviceCode)).body['error']).toBe('access_denied');
    expect((await quay.exchange(others)).status).toBe(200);
  });

  test('treats applications of other users as unknown, and leaves them unchanged (S-84, S-128)', async () => {
    const { accessToken } = await harbour.signIn(browser(), 'openid urn:mas:graphql:*');
    const foreign = await stranger.query(REVOKE, { id: `oauth2_client:${CLIENT}` });
    expect(body(foreign)).toBe(body(await stranger.query(REVOKE, { id: `oauth2_client:${ABSENT}` })));
    const { consents } = await list();
    const { id } = consents.nodes[0];
    const foreignConsent = await stranger.query(REVOKE_CONSENT, { id });
    expect(foreignConsent.data).toEqual({ revokeConsent: { status: 'NOT_FOUND' } });
    expect(body(foreignConsent)).toBe(body(await stranger.query(REVOKE_CONSENT, { id: `consent:${ABSENT}` })));
    expect([await isAccepted(accessToken), (await list()).consents.totalCount]).toEqual([true, 1]);
    const byToken = new GraphqlClient(service, { authorization: `Bearer ${accessToken}` });
    for (const [caller, code] of [
      [byToken, 'FORBIDDEN'],
      [new GraphqlClient(service), 'UNAUTHENTICATED'],
    ] as const) {
      expect(codesOf(await caller.query(REVOKE, { id: `oauth2_client:${CLIENT}` }))).toEqual([code]);
      expect(codesOf(await caller.query(REVOKE_CONSENT, { id }))).toEqual([code]);
    }
    expect(codesOf(await user.query(REVOKE, { id }))).toEqual(['BAD_USER_INPUT']);
    expect(codesOf(await user.query(REVOKE_CONSENT, { id: `oauth2_client:${CLIENT}` }))).toEqual(['BAD_USER_INPUT']);
  });

  test('asks for consent after it was withdrawn, and keeps the sessions', async () => {
    const { accessToken } = await harbour.signIn(browser(), 'openid email');
    const { consents } = await list();
    const { id } = consents.nodes[0];
    expect((await user.query(REVOKE_CONSENT, { id })).data).toEqual({ revokeConsent: { status: 'REVOKED' } });
    expect(await list()).toMatchObject({ connectedApplications: { totalCount: 1 }, consents: { totalCount: 0 } });
    expect(accessToken).not.toBe('');
    expect((await user.query(REVOKE_CONSENT, { id })).data).toEqual({ revokeConsent: { status: 'NOT_FOUND' } });
    expect((await events()).map(({ kind }) => kind)).toEqual(['consent_revoked']);
    await browser().open(`/authorize?${new URLSearchParams(harbour.authorizationRequest('openid email'))}`);
    expect([browser().page.status, browser().page.location]).toEqual([200, undefined]);
  });
});

describe('signing out everywhere', () => {
  const END_ALL = `mutation EndAllSessions($input: EndAllSessionsInput!) {
    endAllSessions(input: $input) { status browserSessions oauth2Sessions compatSessions }
  }`;
  const CURRENT = '{ viewer { __typename } }';
  const chat = () => new ChatClient(service);

  test('ends sessions of every kind except the current one, and records one event', async () => {
    const elsewhere = await GraphqlClient.signedIn(service, username, PASSWORD);
    const { accessToken } = await harbour.signIn(browser(), 'openid urn:mas:graphql:*');
    await quay.signIn(browser(), 'openid');
    const login = await chat().login(username, PASSWORD);
    const ended = await user.query(END_ALL, { input: {} });
    expect(ended.data).toEqual({
      endAllSessions: { status: 'ENDED', browserSessions: 1, oauth2Sessions: 2, compatSessions: 1 },
    });
    expect(ended.headers.get('set-cookie')).toBeNull();
    expect((await elsewhere.query(CURRENT)).data).toEqual({ viewer: { __typename: 'Anonymous' } });
    expect((await user.query(CURRENT)).data).toEqual({ viewer: { __typename: 'User' } });
    expect(await isAccepted(accessToken)).toBe(false);
    const headers = { authorization: `Bearer ${login.accessToken}` };
    expect((await chat().post('/logout', undefined, headers)).status).toBe(401);
    expect(await events()).toEqual([
      {
        kind: 'sessions_ended',
        client_id: null,
        detail: { browser_sessions: 1, oauth2_sessions: 2, compat_sessions: 1, personal_sessions: 0 },
      },
    ]);
    const again = await user.query(END_ALL, { input: {} });
    expect(Object(again.data).endAllSessions).toMatchObject({ browserSessions: 0, oauth2Sessions: 0 });
    expect((await events()).length).toBe(1);
    expect((await stranger.query(CURRENT)).data).toEqual({ viewer: { __typename: 'User' } });
  });

  test('ends only the requested kinds', async () => {
    const elsewhere = await GraphqlClient.signedIn(service, username, PASSWORD);
    const { accessToken } = await harbour.signIn(browser(), 'openid urn:mas:graphql:*');
    const { data } = await user.query(END_ALL, { input: { kinds: ['OAUTH2'] } });
    expect(Object(data).endAllSessions).toMatchObject({ browserSessions: 0, oauth2Sessions: 1, compatSessions: 0 });
    expect(await isAccepted(accessToken)).toBe(false);
    expect((await elsewhere.query(CURRENT)).data).toEqual({ viewer: { __typename: 'User' } });
    const none = await user.query(END_ALL, { input: { kinds: [], keepCurrent: false } });
    expect(Object(none.data).endAllSessions).toMatchObject({ browserSessions: 0 });
    expect(none.headers.get('set-cookie')).toBeNull();
  });

  test('clears the cookie when the current session ends as well', async () => {
    const { data, headers } = await user.query(END_ALL, { input: { kinds: ['BROWSER'], keepCurrent: false } });
    expect(Object(data).endAllSessions).toMatchObject({ browserSessions: 1 });
    expect(headers.get('set-cookie')).toMatch(/latchkey_session=/);
    expect((await user.query(CURRENT)).data).toEqual({ viewer: { __typename: 'Anonymous' } });
  });

  test('requires a browser session with a recent authentication (account-graphql 2.5, 7.6)', async () => {
    const elsewhere = await GraphqlClient.signedIn(service, username, PASSWORD);
    const { accessToken } = await harbour.signIn(browser(), 'openid urn:mas:graphql:*');
    const byToken = new GraphqlClient(service, { authorization: `Bearer ${accessToken}` });
    expect(codesOf(await byToken.query(END_ALL, { input: {} }))).toEqual(['FORBIDDEN']);
    expect(codesOf(await new GraphqlClient(service).query(END_ALL, { input: {} }))).toEqual(['UNAUTHENTICATED']);
    clock.advanceSeconds(601);
    expect(codesOf(await user.query(END_ALL, { input: {} }))).toEqual(['REAUTH_REQUIRED']);
    expect((await elsewhere.query(CURRENT)).data).toEqual({ viewer: { __typename: 'User' } });
    expect(await events()).toEqual([]);
  });
});
