/** How each credential determines the caller (account-graphql 2.1). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { startService, type TestService } from '#test/support/service.ts';

const TRUSTED = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const OTHER = '01JD3Q5Z8W2N4K6M7P9R0S1T2W';
const SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const GRAPHQL = 'urn:mas:graphql:*';
const ADMIN = 'urn:mas:admin';
const WHO = '{ viewer { __typename ... on User { username } } viewerSession { __typename } }';

let service: TestService;
let browser: Browser;

beforeAll(async () => {
  const base = { client_auth_method: 'client_secret_basic', client_secret: SECRET, redirect_uris: [CALLBACK] };
  service = await startService({
    graphql: { oauth2_access: true },
    policy: { data: { admin_clients: [TRUSTED] } },
    clients: [
      { ...base, client_id: TRUSTED, first_party: true },
      { ...base, client_id: OTHER },
    ],
  });
  await service.registerUser('amira', PASSWORD);
  browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get('/login');
  await browser.submit({ username: 'amira', password: PASSWORD });
});
afterAll(async () => await service.stop());

interface TestResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function post(
  path: string,
  body: URLSearchParams | string,
  authorization: string | undefined,
): Promise<TestResponse> {
  const headers = {
    ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    ...(authorization !== undefined && { authorization }),
  };
  const response = await fetch(`${service.address}${path}`, { method: 'POST', headers, body });
  return { status: response.status, body: await response.json() };
}

async function ask(query: string, token?: string): Promise<TestResponse> {
  return await post('/graphql', JSON.stringify({ query }), token === undefined ? undefined : `Bearer ${token}`);
}

async function tokens(client: string, form: Readonly<Record<string, string>>): Promise<TestResponse> {
  const authorization = `Basic ${Buffer.from(`${client}:${SECRET}`).toString('base64')}`;
  return await post('/oauth2/token', new URLSearchParams(form), authorization);
}

async function ownToken(scope: string): Promise<string> {
  const { body } = await tokens(TRUSTED, { grant_type: 'client_credentials', scope });
  expect(body['scope']).toBe(scope);
  return String(body['access_token']);
}

test('an anonymous viewer, and a user with a token', async () => {
  const nobody = { viewer: { __typename: 'Anonymous' }, viewerSession: { __typename: 'Anonymous' } };
  expect(await ask(WHO)).toMatchObject({ status: 200, body: { data: nobody } });

  const request = new URLSearchParams({
    client_id: TRUSTED,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: GRAPHQL,
  });
  const { location } = await browser.open(`/authorize?${request}`);
  const code = new URL(location ?? '').searchParams.get('code') ?? '';
  const { body } = await tokens(TRUSTED, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
  expect(await ask(WHO, String(body['access_token']))).toMatchObject({
    status: 200,
    body: {
      data: { viewer: { __typename: 'User', username: 'amira' }, viewerSession: { __typename: 'Oauth2Session' } },
    },
  });
});

test('a client listed in policy.data.admin_clients, with its own token', async () => {
  const token = await ownToken(GRAPHQL);
  expect(await ask(WHO, token)).toMatchObject({
    status: 200,
    body: { data: { viewer: { __typename: 'Anonymous' }, viewerSession: { __typename: 'Oauth2Session' } } },
  });
  // It has administrator rights only with the admin scope.
  const find = '{ userByUsername(username: "amira") { username } }';
  expect((await ask(find, token)).body).not.toMatchObject({ data: { userByUsername: { username: 'amira' } } });
  const admin = await ownToken(`${GRAPHQL} ${ADMIN}`);
  expect(await ask(find, admin)).toMatchObject({ body: { data: { userByUsername: { username: 'amira' } } } });
});

test('refuses other clients, and clients that are no longer listed', async () => {
  for (const scope of [GRAPHQL, 'urn:latchkey:graphql:*']) {
    expect(await tokens(OTHER, { grant_type: 'client_credentials', scope })).toMatchObject({
      status: 400,
      body: { error: 'invalid_scope' },
    });
  }
  const token = await ownToken(GRAPHQL);
  const unlisted = await startService({ graphql: { oauth2_access: true } }, { like: service });
  try {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ query: WHO });
    const response = await fetch(`${unlisted.address}/graphql`, { method: 'POST', headers, body });
    expect(response.status).toBe(403);
  } finally {
    await unlisted.stop();
  }
});
