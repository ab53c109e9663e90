import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { loginTokenOf } from '#test/support/chat-sso.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient, type GraphqlResponse } from '#test/support/graphql-client.ts';
import { startService, type TestService } from '#test/support/service.ts';

const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';
/** In the order of the configuration, which differs from the order of their identifiers. */
const PROVIDERS = ['01JD3Q5Z8W2N4K6M7P9R0S1T3C', '01JD3Q5Z8W2N4K6M7P9R0S1T3A', '01JD3Q5Z8W2N4K6M7P9R0S1T3B'] as const;
const OFF = '01JD3Q5Z8W2N4K6M7P9R0S1T3D';
const [THIRD, FIRST, SECOND] = PROVIDERS.map((id) => `upstream_oauth2_provider:${id}`);
const WEB_CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T2W';
const PLAIN_CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T2X';

const clock = new FakeClock();
let service: TestService;
let mona: GraphqlClient;
let nils: GraphqlClient;
let nobody: GraphqlClient;
/** Mona's links, at each provider and at the disabled one. */
const links: string[] = [];

beforeAll(async () => {
  const shared = { issuer: 'https://accounts.example', client_id: 'latchkey', token_endpoint_auth_method: 'none' };
  const client = { client_auth_method: 'none', redirect_uris: ['https://app.example/cb'] };
  service = await startService(
    {
      compat: { sso_allowed_redirects: ['https://chat.example/'] },
      rate_limiting: { graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT }, login: { per_ip: HIGH_LIMIT } },
      clients: [
        { client_id: WEB_CLIENT, application_type: 'web', ...client },
        { client_id: PLAIN_CLIENT, ...client },
      ],
      upstream_oauth2: {
        providers: [
          { id: PROVIDERS[0], human_name: 'Harbour', brand_name: 'gitlab', ...shared },
          { id: PROVIDERS[1], linking_enabled: false, allow_unlink: false, ...shared },
          { id: PROVIDERS[2], ...shared },
          { id: OFF, enabled: false, ...shared },
        ],
      },
    },
    { clock },
  );
  const ids = [await service.registerUser('mona', PASSWORD), await service.registerUser('nils', PASSWORD)];
  mona = await GraphqlClient.signedIn(service, 'mona', PASSWORD);
  nils = await GraphqlClient.signedIn(service, 'nils', PASSWORD);
  nobody = new GraphqlClient(service);
  for (const [index, provider] of [...PROVIDERS, OFF].entries()) {
    const id = newId(clock.now() + index);
    links.push(`upstream_oauth2_link:${id}`);
    await sql(
      service.database,
      `insert into upstream_links (id, provider_id, user_id, subject, human_account_name, created_at)
       values ($1::uuid, $2::uuid, $3::uuid, 'subject', 'mona@accounts.example', $4::timestamptz)`,
      [toUuid(id), uuid(provider), uuid(ids[0] ?? ''), new Date(clock.now() + index)],
    );
  }
});

afterAll(async () => {
  await service.stop();
});

function uuid(id: string): string {
  return toUuid(parseId(id) ?? expect.fail(`no id: ${id}`));
}

const body = ({ status, text }: GraphqlResponse): string => `${status} ${text.replaceAll(/POST-\d+/g, 'POST')}`;

describe('providers', () => {
  test('are visible to everybody, unless disabled', async () => {
    const fields = 'id createdAt issuer clientId humanName brandName linkUrl';
    const query = `query($id: ID!) { upstreamOauth2Provider(id: $id) { ${fields} } node(id: $id) { id __typename } }`;
    expect((await nobody.query(query, { id: THIRD })).data).toEqual({
      upstreamOauth2Provider: {
        id: THIRD,
        createdAt: new Date(clock.now()).toISOString(),
        issuer: 'https://accounts.example',
        clientId: 'latchkey',
        humanName: 'Harbour',
        brandName: 'gitlab',
        linkUrl: `${service.publicBase}upstream/authorize/${PROVIDERS[0]}`,
      },
      node: { id: THIRD, __typename: 'UpstreamOAuth2Provider' },
    });
    const off = await nobody.query(query, { id: `upstream_oauth2_provider:${OFF}` });
    expect(off.data).toEqual({ upstreamOauth2Provider: null, node: null });
    expect(body(off)).toBe(body(await nobody.query(query, { id: `upstream_oauth2_provider:${ABSENT}` })));
  });

  const PAGE = 'totalCount pageInfo { hasPreviousPage hasNextPage startCursor endCursor } nodes { id createdAt }';
  async function list(given: string) {
    const response = await nobody.query(`{ list: upstreamOauth2Providers(${given}) { ${PAGE} } }`);
    expect(response.errors).toEqual([]);
    const { nodes, pageInfo, totalCount } = Object(response.data).list;
    expect(totalCount).toBe(3);
    return { ids: nodes.map(({ id }: { id: string }) => id), ...pageInfo };
  }

  test('are listed in the order of their IDs, page by page, with one statement', async () => {
    const whole = await list('first: 20');
    expect(whole).toMatchObject({ ids: [FIRST, SECOND, THIRD], hasPreviousPage: false, hasNextPage: false });
    // One of them charges the caller's rate limit.
    expect(service.requestLines().at(-1)?.queries).toBe(2);
    expect(await list('last: 2')).toMatchObject({ ids: [SECOND, THIRD], hasPreviousPage: true, hasNextPage: false });
    expect(await list('first: 0')).toMatchObject({ ids: [], startCursor: null, hasNextPage: true });
    const { endCursor } = await list('first: 1');
    expect(await list(`first: 1, after: "${endCursor}"`)).toMatchObject({
      ids: [SECOND],
      hasPreviousPage: true,
      hasNextPage: true,
    });
    expect(await list(`last: 5, before: "${whole.endCursor}"`)).toMatchObject({
      ids: [FIRST, SECOND],
      hasPreviousPage: false,
      hasNextPage: true,
    });
    expect((await list(`after: "${whole.endCursor}", before: "${whole.startCursor}"`)).ids).toEqual([]);
  });
});

describe('links', () => {
  const LINKS = 'query($id: ID!) { upstreamOauth2Link(id: $id) { id } node(id: $id) { id } }';

  test('are listed to their user, except those to disabled providers', async () => {
    const fields = 'id subject humanAccountName lastUsedAt provider { id humanName } user { username }';
    const { data } = await mona.query(
      `{ viewer { ... on User { upstreamOauth2Links { totalCount nodes { ${fields} } } } } }`,
    );
    const { nodes, totalCount } = Object(data).viewer.upstreamOauth2Links;
    expect([totalCount, nodes.map(({ id }: { id: string }) => id)]).toEqual([3, links.slice(0, 3)]);
    expect(nodes[0]).toEqual({
      id: links[0],
      subject: 'subject',
      humanAccountName: 'mona@accounts.example',
      lastUsedAt: null,
      provider: { id: THIRD, humanName: 'Harbour' },
      user: { username: 'mona' },
    });
    // Charge, viewer, page, providers and count, regardless of the number of links.
    expect(service.requestLines().at(-1)?.queries).toBe(5);
    const none = await nils.query('{ viewer { ... on User { upstreamOauth2Links { totalCount } } } }');
    expect(none.data).toEqual({ viewer: { upstreamOauth2Links: { totalCount: 0 } } });
  });

  test('of other users are treated as unknown (S-84, S-128)', async () => {
    expect((await mona.query(LINKS, { id: links[0] })).data).toEqual({
      upstreamOauth2Link: { id: links[0] },
      node: { id: links[0] },
    });
    const absent = await mona.query(LINKS, { id: `upstream_oauth2_link:${ABSENT}` });
    expect(absent.data).toEqual({ upstreamOauth2Link: null, node: null });
    for (const response of [
      await mona.query(LINKS, { id: links[3] }),
      await nils.query(LINKS, { id: links[0] }),
      await nobody.query(LINKS, { id: links[0] }),
    ]) {
      expect(body(response)).toBe(body(absent));
    }
    expect(codesOf(await mona.query(LINKS, { id: `upstream_oauth2_provider:${ABSENT}` }))).toEqual(['BAD_USER_INPUT']);
  });
});

test("a chat client's SSO login shows its result, and sessions can be filtered by it", async () => {
  const chat = new ChatClient(service);
  const token = await loginTokenOf(mona.browser ?? expect.fail('no browser'));
  await loginTokenOf(mona.browser ?? expect.fail('no browser'));
  const login = await chat.post('/login', { type: 'm.login.token', token });
  expect(login.status).toBe(200);
  clock.advanceSeconds(1);
  await chat.login('mona', PASSWORD);
  const fields = 'id createdAt redirectUri fulfilledAt exchangedAt session { id }';
  const { data, errors } = await mona.query(
    `{ viewer { ... on User {
      compatSsoLogins { totalCount nodes { ${fields} } }
      compatSessions { nodes { id ssoLogin { id session { id } } } }
      sso: compatSessions(type: SSO_LOGIN) { totalCount nodes { id } }
      other: compatSessions(type: UNKNOWN) { totalCount nodes { id } }
    } } }`,
  );
  expect(errors).toEqual([]);
  const { compatSsoLogins, compatSessions, sso, other } = Object(data).viewer;
  const [bySso, byPassword] = compatSessions.nodes;
  const exchanged = compatSsoLogins.nodes.find((node: { exchangedAt: unknown }) => node.exchangedAt !== null);
  const pending = compatSsoLogins.nodes.find((node: { exchangedAt: unknown }) => node.exchangedAt === null);
  expect(compatSsoLogins.totalCount).toBe(2);
  expect(exchanged).toMatchObject({ redirectUri: 'https://chat.example/signed-in', session: { id: bySso.id } });
  expect(pending).toMatchObject({ session: null, fulfilledAt: expect.any(String) });
  expect([bySso.ssoLogin, byPassword.ssoLogin]).toEqual([{ id: exchanged.id, session: { id: bySso.id } }, null]);
  expect(sso).toEqual({ totalCount: 1, nodes: [{ id: bySso.id }] });
  expect(other).toEqual({ totalCount: 1, nodes: [{ id: byPassword.id }] });
  const none = await nils.query('{ viewer { ... on User { compatSsoLogins { totalCount nodes { id } } } } }');
  expect(none.data).toEqual({ viewer: { compatSsoLogins: { totalCount: 0, nodes: [] } } });
  expect((await mona.query('query($id: ID!) { node(id: $id) { id } }', { id: exchanged.id })).data).toEqual({
    node: null,
  });
});

test('an application shows its type, and whether the operator configured it', async () => {
  const registered = await fetch(`${service.address}/oauth2/registration`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Tide',
      client_uri: 'https://tide.example/',
      application_type: 'native',
      redirect_uris: ['example.tide:/cb'],
      token_endpoint_auth_method: 'none',
    }),
  });
  const { client_id: native } = Object(await registered.json());
  const clientOf = async (id: string): Promise<unknown> => {
    const { data } = await nobody.query('query($id: ID!) { oauth2Client(id: $id) { applicationType isVerified } }', {
      id: `oauth2_client:${id}`,
    });
    return Object(data).oauth2Client;
  };
  expect(await clientOf(native)).toEqual({ applicationType: 'NATIVE', isVerified: false });
  expect(await clientOf(WEB_CLIENT)).toEqual({ applicationType: 'WEB', isVerified: true });
  expect(await clientOf(PLAIN_CLIENT)).toEqual({ applicationType: null, isVerified: true });
});

test('a provider shows its name, and whether users may link and unlink accounts', async () => {
  const { data } = await mona.query(
    '{ upstreamOauth2Providers { nodes { id name linkingAllowed unlinkingAllowed } } }',
  );
  expect(Object(data).upstreamOauth2Providers.nodes).toEqual([
    { id: FIRST, name: 'accounts.example', linkingAllowed: false, unlinkingAllowed: false },
    { id: SECOND, name: 'accounts.example', linkingAllowed: true, unlinkingAllowed: true },
    { id: THIRD, name: 'Harbour', linkingAllowed: true, unlinkingAllowed: true },
  ]);
});
