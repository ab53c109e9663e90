/** A user with one object of every kind, and the IDs of these objects. */
import { type GraphQLSchema, getNamedType, isObjectType } from 'graphql';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { ChatClient } from '../support/chat-client.ts';
import { ChatOAuthClient, chatClientSettings } from '../support/chat-oauth-client.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import { sql } from '../support/fixtures.ts';
import { GraphqlClient } from '../support/graphql-client.ts';
import type { TestService } from '../support/service.ts';

export const PASSWORD = 'correct horse battery staple';
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T3W';
/** A client that the owner has never used. */
const OTHER_CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T3X';
const PROVIDER = '01JD3Q5Z8W2N4K6M7P9R0S1T4X';
const SCOPE = 'openid urn:mas:graphql:*';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };

/** Settings with limits that are never reached by accident. */
export const SETTINGS = {
  rate_limiting: {
    graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT },
    login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
    email_authentication: {
      per_ip: HIGH_LIMIT,
      per_address: HIGH_LIMIT,
      emails_per_session: HIGH_LIMIT,
      attempt_per_session: HIGH_LIMIT,
    },
    account_recovery: { per_ip: HIGH_LIMIT, per_address: HIGH_LIMIT },
  },
  homeserver: { kind: 'none', homeserver: 'example.test', secret: 'the-secret-that-the-homeserver-shares' },
  account: { login_with_email_allowed: true, password_recovery_enabled: true },
  graphql: { oauth2_access: true },
  clients: [chatClientSettings(CLIENT), chatClientSettings(OTHER_CLIENT)],
  policy: { data: { admin_clients: [OTHER_CLIENT] } },
  upstream_oauth2: {
    providers: [
      {
        id: PROVIDER,
        issuer: 'https://provider.example',
        human_name: 'Provider',
        client_id: 'us',
        client_secret: 'a-secret-of-at-least-16-characters',
        token_endpoint_auth_method: 'client_secret_basic',
        scope: 'openid',
      },
    ],
  },
};

/** The callers of the API. */
export interface Callers {
  /** Owns the objects. Uses the browser session that created them. */
  readonly owner: GraphqlClient;
  /** Must not learn anything about the objects of others. */
  readonly others: Readonly<
    Record<'another person' | 'their application' | 'an application by itself' | 'nobody', GraphqlClient>
  >;
}

/** The owner's objects and the callers. */
export interface Owned {
  readonly callers: Callers;
  /** IDs by object type. */
  readonly ids: ReadonlyMap<string, string>;
  readonly deviceId: string;
  /** Username of the owner. */
  readonly username: string;
}

/**
 * Creates the owner and an unrelated user.
 * @param username of the owner
 */
export async function makeOwned(
  service: TestService,
  schema: GraphQLSchema,
  clock: FakeClock,
  username = 'olga',
): Promise<Owned> {
  const other = `not-${username}`;
  for (const name of [username, other]) await service.registerUser(name, PASSWORD);
  const otherClient = new ChatOAuthClient(service, OTHER_CLIENT);
  const owner = await GraphqlClient.signedIn(service, username, PASSWORD);
  const stranger = await GraphqlClient.signedIn(service, other, PASSWORD);
  await new ChatOAuthClient(service, CLIENT).signIn(browserOf(owner), 'openid');
  const { accessToken } = await otherClient.signIn(browserOf(stranger), SCOPE);
  const { body } = await otherClient.post('/oauth2/token', {
    grant_type: 'client_credentials',
    scope: 'urn:mas:graphql:*',
  });
  const deviceId = `PHONE-${username}`;
  await new ChatClient(service).login(username, PASSWORD, { device_id: deviceId });
  await addRows(service, username, clock.now());
  const callers = {
    owner,
    others: {
      'another person': stranger,
      'their application': new GraphqlClient(service, { authorization: `Bearer ${accessToken}` }),
      'an application by itself': new GraphqlClient(service, { authorization: `Bearer ${body['access_token']}` }),
      nobody: new GraphqlClient(service),
    },
  };
  return { callers, ids: await findIds(schema, owner), deviceId, username };
}

function browserOf({ browser }: GraphqlClient) {
  if (browser === undefined) throw new Error('not signed in by a browser');
  return browser;
}

async function addRows({ database }: TestService, username: string, now: number): Promise<void> {
  const at = new Date(now);
  await sql(
    database,
    `insert into user_emails (id, user_id, email, email_key, created_at)
     select $1, id, $3, $3, $2 from users where username = $4`,
    [toUuid(newId(now)), at, `${username}@mail.example`, username],
  );
  await sql(
    database,
    `insert into upstream_links (id, provider_id, subject, user_id, created_at)
     select $1, $2, $4, id, $3 from users where username = $4`,
    [toUuid(newId(now)), toUuid(parseId(PROVIDER) ?? newId(now)), at, username],
  );
  await sql(
    database,
    `insert into user_passkeys (id, user_id, credential_id, public_key, sign_count, transports, backed_up, name, created_at)
     select $1, id, convert_to($3, 'UTF8'), '', 0, '{}', true, 'Phone', $2 from users where username = $3`,
    [toUuid(newId(now)), at, username],
  );
}

/** IDs that anyone may query. */
const PUBLIC_IDS = new Map([
  ['Oauth2Client', `oauth2_client:${CLIENT}`],
  ['PasskeyChallenge', `passkey_challenge:${CLIENT}`],
  ['UpstreamOAuth2Provider', `upstream_oauth2_provider:${PROVIDER}`],
]);

/** Types that appear in no list, with the mutation that creates them. */
const MADE_BY: Readonly<Record<string, { readonly mutation: string; readonly document: string }>> = {
  UserEmailAuthentication: {
    mutation: 'startEmailAuthentication',
    document: `mutation { made: startEmailAuthentication(input: { email: "new-address@mail.example", password: "${PASSWORD}" }) {
      object: authentication { id }
    } }`,
  },
  TotpEnrolment: {
    mutation: 'startTotpEnrolment',
    document: 'mutation { made: startTotpEnrolment { object: enrolmentId } }',
  },
  DataExport: { mutation: 'startDataExport', document: 'mutation { made: startDataExport { object: export { id } } }' },
};

/** Returns the first object of each of the owner's lists, and the objects created by mutations. */
async function findIds(schema: GraphQLSchema, owner: GraphqlClient): Promise<Map<string, string>> {
  const mutations = schema.getMutationType()?.getFields() ?? {};
  const made = new Map<string, string>();
  for (const [type, { mutation, document }] of Object.entries(MADE_BY)) {
    if (mutations[mutation] === undefined) continue;
    const { data, text } = await owner.query(document);
    const object: unknown = Object(Object(data).made).object;
    const id: unknown = typeof object === 'string' ? object : Object(object).id;
    if (typeof id !== 'string') throw new Error(`${mutation} made nothing: ${text}`);
    made.set(type, id);
  }
  const user = schema.getType('User');
  const lists = isObjectType(user)
    ? Object.values(user.getFields()).filter(({ type }) => getNamedType(type).name.endsWith('Connection'))
    : [];
  const selection = lists.map(({ name }) => `${name}(first: 1) { nodes { __typename ... on Node { id } } }`).join(' ');
  const { data, text } = await owner.query(
    `{ viewer { __typename ... on Node { id } ... on User { ${selection} } }
       viewerSession { __typename ... on Node { id } ... on BrowserSession { lastAuthentication { __typename id } } } }`,
  );
  const found: { readonly __typename: string; readonly id: string }[] = [];
  JSON.parse(text, (_, value: unknown) => {
    const { __typename, id } = Object(value);
    if (typeof __typename === 'string' && typeof id === 'string') found.push({ __typename, id });
    return value;
  });
  if (data === undefined) throw new Error(text);
  const ids = found.map(({ __typename, id }) => [__typename, id] as const);
  return new Map([...PUBLIC_IDS, ...ids, ...made]);
}
