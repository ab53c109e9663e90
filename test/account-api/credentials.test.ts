/** Credentials that the account API does not accept, and members that callers cannot set. */
import { beforeAll, expect, test } from 'vitest';
import { buildAccountSchema } from '#features/account-api/schema/schema.ts';
import { attackedService, C1, type HeldTokens, HOMESERVER_SECRET, SETTINGS } from '../attacks/attacked-service.ts';
import { headerOf, type RawResponse } from '../attacks/raw-http.ts';
import { membersOf, rootFields } from './schema-walk.ts';

const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const WHO = '{ viewer { __typename ... on User { username } } }';

const attacked = attackedService({
  graphql: { oauth2_access: true },
  rate_limiting: { ...SETTINGS.rate_limiting, graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT } },
});

async function ask(query: string, headers: readonly (readonly [string, string])[]): Promise<RawResponse> {
  const own = [['Content-Type', 'application/json'], ['X-Forwarded-For', attacked.newAddress()], ...headers] as const;
  return await attacked.ask({ method: 'POST', target: '/graphql', headers: own, body: JSON.stringify({ query }) });
}

async function withToken(token: string): Promise<string> {
  const response = await ask(WHO, [['Authorization', `Bearer ${token}`]]);
  const body = response.body.replace(/POST-\d+/, 'POST');
  return `${response.status} ${headerOf(response, 'www-authenticate')} ${body}`;
}

async function tokensOf(username: string): Promise<HeldTokens> {
  const browser = await attacked.signedIn(username);
  return await attacked.tokens(browser, C1, { scope: 'openid urn:mas:graphql:*' });
}

let unknown = '';

beforeAll(async () => {
  unknown = await withToken('mat_0123456789ABCDEFGHIJabcdefghij_0WADMv');
});

const SESSION_OF = 'where user_id = (select id from users where username = $1)';

test.each([
  [
    'revoked',
    async ({ accessToken }: HeldTokens) =>
      void (await attacked.post('/oauth2/revoke', { token: accessToken, client_id: C1.id, client_secret: C1.secret })),
  ],
  ['expired', () => attacked.clock.advanceSeconds(301)],
  [
    'of a finished session',
    async () => await attacked.change(`update oauth2_sessions set finished_at = now() ${SESSION_OF}`, ['bruno']),
  ],
  [
    'of a locked user',
    async () => await attacked.change("update users set locked_at = created_at where username = 'bruno'"),
  ],
  [
    'of a deactivated user',
    async () => await attacked.change("update users set deactivated_at = created_at where username = 'bruno'"),
  ],
] as const)('a token that is %s gets the same answer as an unknown token (S-45, S-126, S-127)', async (_, end) => {
  await attacked.change("update users set locked_at = null, deactivated_at = null where username = 'bruno'");
  const held = await tokensOf('bruno');
  expect(await withToken(held.accessToken)).toContain('{"data":{"viewer":{"__typename":"User","username":"bruno"}}}');
  await end(held);
  expect(await withToken(held.accessToken)).toBe(unknown);
});

test('malformed tokens and the homeserver secret get the same answer (S-45, S-132)', async () => {
  const { accessToken, refreshToken } = await tokensOf('amira');
  const others = [
    accessToken.toLowerCase(),
    `${accessToken}x`,
    accessToken.slice(0, -1),
    refreshToken,
    HOMESERVER_SECRET,
    'x',
    'mct_x',
  ];
  for (const token of others) expect(await withToken(token), token).toBe(unknown);
});

test.each(['locked_at', 'deactivated_at'])(
  'the cookie of a user with %s counts as anonymous (S-127)',
  async (column) => {
    const browser = await attacked.signedIn('amira');
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    expect((await ask(WHO, [['Cookie', cookie]])).body).toContain('"username":"amira"');
    await attacked.change(`update users set ${column} = created_at where username = 'amira'`);
    expect((await ask(WHO, [['Cookie', cookie]])).body).toBe('{"data":{"viewer":{"__typename":"Anonymous"}}}');
    await attacked.change(`update users set ${column} = null where username = 'amira'`);
  },
);

test('a token in the URL or the body is ignored and not logged (S-47)', async () => {
  const { accessToken } = await tokensOf('amira');
  const query = encodeURIComponent(WHO);
  const inAddress = await attacked.ask({ target: `/graphql?query=${query}&access_token=${accessToken}` });
  expect([inAddress.status, inAddress.body.includes('BAD_REQUEST')]).toEqual([400, true]);
  const inBody = await attacked.ask({
    method: 'POST',
    target: '/graphql',
    headers: [['Content-Type', 'application/json']],
    body: JSON.stringify({ query: WHO, access_token: accessToken }),
  });
  expect(inBody.body).toBe('{"data":{"viewer":{"__typename":"Anonymous"}}}');
  expect(attacked.service.logLines().join('\n')).not.toContain(accessToken);
});

const INPUTS = rootFields(buildAccountSchema(), 'mutation').filter(({ args }) =>
  args.some(({ name }) => name === 'input'),
);

test.each(INPUTS.map((field) => [field.name, field] as const))(
  'the input of %s rejects unknown fields (S-131)',
  async (name, field) => {
    const own = new Set(membersOf(field).map((member) => member.name));
    for (const member of ['isAdmin', 'canRequestAdmin', 'userId', 'createdAt', 'lockedAt', 'id', '__proto__']) {
      if (own.has(member)) continue;
      const { body } = await ask(`mutation { ${name}(input: { ${member}: true }) { __typename } }`, []);
      expect(body).toMatch(/^\{"errors":.*GRAPHQL_VALIDATION_FAILED/);
      expect(body).toContain(`Field \\"${member}\\" is not defined by type`);
    }
  },
);
