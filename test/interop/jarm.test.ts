/** Authorization responses as signed JWTs (JWT Secured Authorization Response Mode), verified by jose. */
import { createLocalJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser, type Page } from '#test/support/browser.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1TJR';
const ES256_CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1TJE';
const SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/callback?keep=1';
const PASSWORD = 'correct horse battery staple';

let service: TestService;
let browser: Browser;

beforeAll(async () => {
  const client = {
    client_auth_method: 'client_secret_basic',
    client_secret: SECRET,
    redirect_uris: [CALLBACK],
    first_party: true,
  };
  service = await startService({
    clients: [
      { ...client, client_id: CLIENT },
      { ...client, client_id: ES256_CLIENT, authorization_signed_response_alg: 'ES256' },
    ],
  });
  await service.registerUser('amira', PASSWORD);
  browser = newBrowser();
  await browser.open('/login');
  await browser.submit({ username: 'amira', password: PASSWORD });
});
afterAll(async () => await service.stop());

function newBrowser(): Browser {
  return new Browser({ listener: service.address, publicBase: service.publicBase });
}

function address(fields: Readonly<Record<string, string>>): string {
  const usual = { client_id: CLIENT, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid', state: 'a state' };
  return `/authorize?${new URLSearchParams({ ...usual, ...fields })}`;
}

/** Returns the response parameters that the client receives, without those of its redirect URI. */
function received({ location, forms }: Page): Readonly<Record<string, string>> {
  if (location === undefined) return Object.fromEntries(forms[0]?.inputs ?? []);
  const url = new URL(location);
  const inFragment = url.hash.length > 1;
  const fields = new URLSearchParams(inFragment ? url.hash.slice(1) : url.search);
  expect(url.searchParams.get('keep')).toBe('1');
  fields.delete('keep');
  return Object.fromEntries(fields);
}

async function claimsOf(
  page: Page,
  { audience = CLIENT, alg = 'RS256' } = {},
): Promise<JWTPayload & Readonly<Record<string, unknown>>> {
  const fields = received(page);
  expect(Object.keys(fields)).toEqual(['response']);
  const keys = await (await fetch(`${service.address}/oauth2/keys.json`)).json();
  const verified = await jwtVerify(fields['response'] ?? '', createLocalJWKSet(keys), {
    issuer: service.issuer,
    audience,
    algorithms: [alg],
  });
  const seconds = Math.floor(Date.now() / 1000);
  expect(verified.payload.exp).toBeGreaterThan(seconds);
  expect(verified.payload.exp).toBeLessThanOrEqual(seconds + 600);
  return verified.payload;
}

async function signIn(fields: Readonly<Record<string, string>>, by = browser): Promise<Page> {
  const first = await by.open(address(fields));
  return first.forms.some(({ action }) => action === '/authorize')
    ? await by.submit({ action: 'consent' }, { action: '/authorize' })
    : first;
}

async function redeem(code: unknown, client = CLIENT): Promise<number> {
  const form = { grant_type: 'authorization_code', code: String(code), redirect_uri: CALLBACK };
  const response = await fetch(`${service.address}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${client}:${SECRET}`).toString('base64')}` },
    body: new URLSearchParams(form),
  });
  return response.status;
}

describe.each(['query.jwt', 'fragment.jwt', 'form_post.jwt', 'jwt'])('response mode %s', (response_mode) => {
  test('carries the code, the state and the issuer in a JWT for the client, and nothing beside it', async () => {
    let page = await signIn({ response_mode });
    if (response_mode === 'form_post.jwt' && page.location !== undefined) page = await browser.follow();
    expect((page.location ?? '').includes('#response=')).toBe(response_mode === 'fragment.jwt');
    const claims = await claimsOf(page);
    expect(claims).toMatchObject({ state: 'a state', code: expect.any(String) });
    expect(await redeem(claims['code'])).toBe(200);
  });

  test('carries an error that was not shown on a page', async () => {
    const page = await newBrowser().get(address({ response_mode, prompt: 'none' }));
    expect(await claimsOf(page)).toMatchObject({ error: 'login_required', state: 'a state' });
  });

  test('carries the error of a request that is refused immediately', async () => {
    const page = await newBrowser().get(address({ response_mode, scope: '"' }));
    expect(await claimsOf(page)).toMatchObject({ error: 'invalid_scope', error_description: expect.any(String) });
  });
});

test('the return link of an expired request carries its error in a JWT', async () => {
  const visitor = newBrowser();
  const { location } = await visitor.get(address({ response_mode: 'query.jwt' }));
  const id = new URL(location ?? '').searchParams.get('id') ?? '';
  await sql(service.database, `update oauth2_authorization_grants set expires_at = created_at returning id`, []);
  const { body, status } = await visitor.get(`/authorize/${id}`);
  expect(status).toBe(410);
  const href = /href="(https:\/\/app\.example\/callback\?keep=1&amp;response=[^"#]+)/.exec(body)?.[1] ?? '';
  const claims = await claimsOf({ ...visitor.page, location: href.replaceAll('&amp;', '&'), forms: [] });
  expect(claims).toMatchObject({ error: 'access_denied', state: 'a state' });
});

test('jwt means fragment for response types that use it by default (JARM 2.3.4)', async () => {
  const page = await newBrowser().get(address({ response_mode: 'jwt', response_type: 'token' }));
  expect(page.location).toContain('#response=');
  expect(await claimsOf(page)).toMatchObject({ error: 'unsupported_response_type' });
});

test('authorization_signed_response_alg selects the algorithm', async () => {
  const page = await signIn({ client_id: ES256_CLIENT, response_mode: 'jwt' });
  expect(await claimsOf(page, { audience: ES256_CLIENT, alg: 'ES256' })).toMatchObject({ state: 'a state' });
});

test('a client registers the algorithm; encrypted responses are refused', async () => {
  const register = async (members: object) => {
    const body = JSON.stringify({
      client_uri: 'https://app.example/',
      redirect_uris: ['https://app.example/'],
      ...members,
    });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${service.address}/oauth2/registration`, { method: 'POST', headers, body });
    const responded: Readonly<Record<string, unknown>> = JSON.parse(await response.text());
    return { status: response.status, body: responded };
  };
  const algorithm = { authorization_signed_response_alg: 'ES256' };
  expect(await register(algorithm)).toMatchObject({ status: 201, body: algorithm });
  for (const members of [
    { authorization_signed_response_alg: 'none' },
    { authorization_signed_response_alg: 'HS256' },
    { authorization_encrypted_response_alg: 'RSA-OAEP-256' },
    { authorization_encrypted_response_enc: 'A256GCM' },
  ]) {
    expect(await register(members)).toMatchObject({ status: 400, body: { error: 'invalid_client_metadata' } });
  }
});
