/** Providers that need their own settings (browser-flows 8.7), each with responses in its documented format. */
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { newId } from '#platform/base/ids.ts';
import { Browser, type Page } from '#test/support/browser.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { type PeerResponse, startUpstreamPeer } from '#test/support/upstream-peer.ts';

const GITHUB = newId(1);
const FACEBOOK = newId(2);
const ENTRA = newId(3);
const APPLE = newId(4);
const IDS = [GITHUB, FACEBOOK, ENTRA, APPLE];
const TENANT = '9188040d-6c67-4c5b-b112-36a304b66dad';
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
let service: TestService;

const peer = await sharedByTests(startUpstreamPeer());

beforeAll(async () => {
  const endpoints = {
    discovery_mode: 'disabled',
    authorization_endpoint: `${peer.issuer}/authorize`,
    token_endpoint: `${peer.issuer}/token`,
  };
  const secret = { client_id: 'latchkey', client_secret: 'hush', token_endpoint_auth_method: 'client_secret_post' };
  service = await startService(
    {
      rate_limiting: { upstream: { per_ip: { burst: 100_000 } } },
      upstream_oauth2: {
        providers: [
          {
            id: GITHUB,
            ...endpoints,
            ...secret,
            userinfo_endpoint: `${peer.issuer}/userinfo`,
            fetch_userinfo: true,
            scope: 'read:user',
            pkce_method: 'always',
            claims_imports: {
              subject: { template: '{{ userinfo_claims.id }}' },
              account_name: { template: '@{{ userinfo_claims.login }}' },
            },
          },
          {
            id: FACEBOOK,
            ...endpoints,
            ...secret,
            issuer: 'https://www.facebook.com',
            jwks_uri: `${peer.issuer}/keys`,
            pkce_method: 'always',
            scope: 'openid email public_profile',
            claims_imports: { account_name: { template: '{{ user.name }}' } },
          },
          {
            id: ENTRA,
            ...secret,
            issuer: peer.issuer,
            discovery_mode: 'insecure',
            scope: 'openid profile email',
            claims_imports: { account_name: { template: '{{ user.preferred_username }}' } },
          },
          {
            id: APPLE,
            issuer: peer.issuer,
            client_id: 'org.example.signin',
            token_endpoint_auth_method: 'sign_in_with_apple',
            sign_in_with_apple: {
              private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
              team_id: 'A1B2C3D4E5',
              key_id: 'F6G7H8J9K0',
            },
            scope: 'openid name email',
            response_mode: 'form_post',
            claims_imports: {
              account_name: {
                template:
                  '{% set name = (extra_callback_parameters["user"] | from_json).name %}{{ name.firstName }} {{ name.lastName }}',
              },
            },
          },
        ],
      },
    },
    { expectedErrors: [' 502 '] },
  );
});
afterAll(async () => {
  await service.stop();
});
afterEach(() => {
  peer.handlers.clear();
  peer.metadata = {};
});

async function begin(id: string): Promise<{ browser: Browser; location: string; asked: URLSearchParams }> {
  const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  const { location = '' } = await browser.get(`/upstream/authorize/${id}`);
  return { browser, location, asked: new URL(location).searchParams };
}

async function signIn(id: string, response: PeerResponse): Promise<Page> {
  const { browser, location } = await begin(id);
  return await browser.get(peer.signIn(location, response));
}

async function linksOf(
  id: (typeof IDS)[number],
): Promise<readonly (readonly [subject: string, name: string | null])[]> {
  const rows = await sql<{ subject: string; human_account_name: string | null }>(
    service.database,
    `select l.subject, l.human_account_name from upstream_links l join upstream_providers p on p.id = l.provider_id
      where p.ui_order = ${IDS.indexOf(id)} order by l.id`,
  );
  return rows.map((row) => [row.subject, row.human_account_name]);
}

test('GitHub: responds with a form unless JSON is requested, and has numeric user IDs in userinfo', async () => {
  peer.handlers.set('/token', (request, response) => {
    const isJson = request.headers.accept === 'application/json';
    const fields = {
      access_token: 'gho_16C7e42F292c6912E7710c838347Ae178B4a',
      scope: 'read:user',
      token_type: 'bearer',
    };
    response.writeHead(200, { 'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded' });
    response.end(isJson ? JSON.stringify(fields) : new URLSearchParams(fields).toString());
  });
  const agents: (string | undefined)[] = [];
  peer.handlers.set('/userinfo', (request, response) => {
    agents.push(request.headers['user-agent']);
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
    response.end(JSON.stringify({ login: 'octocat', id: 583231, node_id: 'MDQ6', name: 'The Octocat', email: null }));
  });
  const { browser, location, asked: requested } = await begin(GITHUB);
  expect([requested.get('scope'), requested.has('nonce'), requested.get('code_challenge_method')]).toEqual([
    'read:user',
    false,
    'S256',
  ]);
  expect((await browser.get(peer.signIn(location))).status).toBe(303);
  expect(agents).toEqual(['Latchkey']);
  expect(await linksOf(GITHUB)).toEqual([['583231', '@octocat']]);
});

test('GitHub: an error with status 200 signs nobody in', async () => {
  peer.handlers.set('/token', (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: 'bad_verification_code', error_description: 'The code passed is incorrect' }));
  });
  const before = await linksOf(GITHUB);
  expect((await signIn(GITHUB, {})).status).toBe(502);
  expect(await linksOf(GITHUB)).toEqual(before);
});

test('Facebook: has keys and ID tokens, but no discovery document', async () => {
  const { asked: requested } = await begin(FACEBOOK);
  expect([requested.get('code_challenge_method'), requested.has('nonce')]).toEqual(['S256', true]);
  const claims = { iss: 'https://www.facebook.com', sub: '10158000000000000', name: 'Ann Lee', jti: 'x' };
  expect((await signIn(FACEBOOK, { claims })).status).toBe(303);
  expect(await linksOf(FACEBOOK)).toEqual([['10158000000000000', 'Ann Lee']]);
  expect((await signIn(FACEBOOK, { claims: { ...claims, iss: peer.issuer } })).status).toBe(502);
  expect(peer.count('/.well-known/openid-configuration')).toBe(0);
});

test('Entra ID: accepts only the issuer of the tenant named in the ID token', async () => {
  peer.metadata = { issuer: `${peer.issuer}/{tenantid}/v2.0` };
  const claims = {
    sub: 'AAAA',
    tid: TENANT,
    iss: `${peer.issuer}/${TENANT}/v2.0`,
    preferred_username: 'ann@contoso.example',
  };
  expect((await signIn(ENTRA, { claims })).status).toBe(303);
  expect(await linksOf(ENTRA)).toEqual([['AAAA', 'ann@contoso.example']]);
  for (const wrong of [
    { iss: `${peer.issuer}/{tenantid}/v2.0` },
    { iss: `${peer.issuer}/other/v2.0` },
    { tid: undefined },
    { tid: `${TENANT}/v2.0/../x` },
    { tid: [TENANT] },
  ]) {
    expect((await signIn(ENTRA, { claims: { ...claims, sub: 'BBBB', ...wrong } })).status, JSON.stringify(wrong)).toBe(
      502,
    );
  }
  expect(await linksOf(ENTRA)).toHaveLength(1);
});

test('Apple: sends the name once, with the first callback, and it is kept', async () => {
  const post = async (more: Readonly<Record<string, string>>) => {
    const { browser, location } = await begin(APPLE);
    const back = new URL(peer.signIn(location, { claims: { sub: '001234.abc' } }));
    for (const [name, value] of Object.entries(more)) back.searchParams.set(name, value);
    return await browser.post(back.pathname, back.searchParams);
  };
  const user = JSON.stringify({ name: { firstName: 'Ann', lastName: 'Lee' }, email: 'a@privaterelay.example' });
  expect((await post({ user })).status).toBe(303);
  expect(await linksOf(APPLE)).toEqual([['001234.abc', 'Ann Lee']]);
  expect((await post({})).status).toBe(303);
  expect((await post({ user: '{"name":' })).status).toBe(303);
  expect(await linksOf(APPLE)).toEqual([['001234.abc', 'Ann Lee']]);
});
