/**
 * Clients with `profile: fapi2`, as the certification plans "FAPI 2.0 Security Profile" and "Message Signing" test
 * them: a complete flow with a library, and each request that must be rejected.
 */
import { randomUUID } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { ASSERTION_TYPE } from '#test/support/client-assertions.ts';
import { ProofKey } from '#test/support/dpop-proofs.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1FP2';
const SIGNER = '01JD3Q5Z8W2N4K6M7P9R0S1FMS';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

type Key = 'PS256' | 'ES256' | 'EdDSA' | 'RS256';

const keys = new Map<Key, CryptoKey>();
const proofs = new ProofKey();
let service: TestService;
let browser: Browser;

beforeAll(async () => {
  const published = [];
  for (const alg of ['PS256', 'ES256', 'EdDSA', 'RS256'] as const) {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    keys.set(alg, privateKey);
    published.push({ ...(await exportJWK(publicKey)), kid: alg });
  }
  const client = {
    client_auth_method: 'private_key_jwt',
    jwks: { keys: published },
    redirect_uris: [CALLBACK],
    profile: 'fapi2',
  };
  service = await startService({
    oauth: { authorization_code_ttl: '600s' },
    clients: [
      { ...client, client_id: CLIENT },
      { ...client, client_id: SIGNER, require_signed_request_object: true },
    ],
  });
  await service.registerUser('amira', PASSWORD);
  browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.open('/login');
  await browser.submit({ username: 'amira', password: PASSWORD });
});
afterAll(async () => await service.stop());

const seconds = () => Math.floor(Date.now() / 1000);

async function jwt(claims: Readonly<Record<string, unknown>>, alg: Key, header: object = {}): Promise<string> {
  const key = keys.get(alg);
  if (key === undefined) throw new Error('no such key');
  const defined = JSON.parse(JSON.stringify(claims));
  return await new SignJWT(defined).setProtectedHeader({ alg, kid: alg, ...header }).sign(key);
}

interface Sent {
  readonly client?: string;
  /** Overrides the default claims. Undefined omits a claim. */
  readonly assertion?: Readonly<Record<string, unknown>>;
  readonly alg?: Key;
  readonly form?: Readonly<Record<string, string | undefined>>;
  readonly proof?: string;
}

async function post(path: string, usual: Readonly<Record<string, string>>, sent: Sent) {
  const { client = CLIENT, assertion, alg = 'PS256', form, proof } = sent;
  const now = seconds();
  const claims = { iss: client, sub: client, aud: service.issuer, iat: now, exp: now + 60, jti: randomUUID() };
  const credentials = {
    client_id: client,
    client_assertion_type: ASSERTION_TYPE,
    client_assertion: await jwt({ ...claims, ...assertion }, alg),
  };
  const body: Record<string, string> = JSON.parse(JSON.stringify({ ...usual, ...credentials, ...form }));
  const headers: Record<string, string> = proof === undefined ? {} : { dpop: proof };
  const response = await fetch(`${service.address}/oauth2/${path}`, {
    method: 'POST',
    headers,
    body: new URLSearchParams(body),
  });
  const text = await response.text();
  const responded: Readonly<Record<string, unknown>> = text === '' ? {} : JSON.parse(text);
  return { status: response.status, body: responded };
}

const PARAMETERS = {
  response_type: 'code',
  redirect_uri: CALLBACK,
  scope: 'openid offline_access',
  state: 'a state',
  nonce: 'a nonce',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
};

async function push(sent: Sent = {}) {
  return await post('par', PARAMETERS, sent);
}

function proofFor(path: string, method = 'POST', accessToken?: string): string {
  const url = new URL(path, service.publicBase).href;
  return proofs.proof({ url, method, now: Date.now(), ...(accessToken !== undefined && { accessToken }) });
}

async function codeOf(sent: Sent = {}): Promise<string> {
  const pushed = await push(sent);
  expect(pushed.status, JSON.stringify(pushed.body)).toBe(201);
  const request = new URLSearchParams({
    client_id: sent.client ?? CLIENT,
    request_uri: String(pushed.body['request_uri']),
  });
  const responded = await finish(`/authorize?${request}`);
  return responded.searchParams.get('code') ?? '';
}

/** Consents if asked. */
async function finish(address: string): Promise<URL> {
  await browser.open(address);
  if (browser.page.status === 200) await browser.submit({ action: 'consent' }, { action: '/authorize' });
  return new URL(browser.page.location ?? '');
}

async function redeem(code: string, sent: Sent = {}) {
  const form = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
  return await post('token', form, { proof: proofFor('oauth2/token'), ...sent });
}

async function userinfo(accessToken: string): Promise<Response> {
  const headers = {
    authorization: `DPoP ${accessToken}`,
    dpop: proofFor('oauth2/userinfo', 'GET', accessToken),
    'x-fapi-interaction-id': 'c770aef3-6784-41f7-8e0e-ff5f97bddb3a',
  };
  return await fetch(`${service.address}/oauth2/userinfo`, { headers });
}

test('openid-client signs in with pushed and signed requests, signed responses and DPoP', async () => {
  const key = keys.get('ES256');
  if (key === undefined) throw new Error('no key');
  const metadata = { id_token_signed_response_alg: 'ES256', authorization_signed_response_alg: 'ES256' };
  const authentication = oidc.PrivateKeyJwt({ key, kid: 'ES256' });
  const execute = [oidc.allowInsecureRequests, oidc.useJwtResponseMode];
  const config = await oidc.discovery(new URL(service.issuer), SIGNER, metadata, authentication, { execute });
  const DPoP = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair('ES256'));
  const verifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  const nonce = oidc.randomNonce();
  const signed = await oidc.buildAuthorizationUrlWithJAR(
    config,
    {
      redirect_uri: CALLBACK,
      scope: 'openid offline_access',
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    },
    { key, kid: 'ES256' },
  );
  const address = await oidc.buildAuthorizationUrlWithPAR(config, signed.searchParams, { DPoP });
  const callback = await finish(address.href);
  expect([...callback.searchParams.keys()]).toEqual(['response']);
  const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce };
  const tokens = await oidc.authorizationCodeGrant(config, callback, checks, undefined, { DPoP });
  expect(tokens).toMatchObject({ token_type: 'dpop', scope: 'openid offline_access' });
  const claims = tokens.claims();
  const info = await oidc.fetchUserInfo(config, tokens.access_token, claims?.sub ?? '', { DPoP });
  expect(info.sub).toBe(claims?.sub);
  const next = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, { DPoP });
  expect(next.refresh_token).toBe(tokens.refresh_token);
});

describe('a pushed request of a FAPI 2.0 client (Security Profile 5.3.2)', () => {
  test.each(['PS256', 'ES256', 'EdDSA'] as const)('with an assertion by %s is accepted', async (alg) => {
    expect((await push({ alg })).status).toBe(201);
  });

  test('without state and nonce is accepted', async () => {
    expect((await push({ form: { state: undefined, nonce: undefined, scope: 'openid' } })).status).toBe(201);
  });

  test.each<[string, () => Sent]>([
    ['with the issuer in a list', () => ({ assertion: { aud: [service.issuer] } })],
    ['with the token endpoint', () => ({ assertion: { aud: `${service.publicBase}oauth2/token` } })],
    ['with the endpoint itself', () => ({ assertion: { aud: `${service.publicBase}oauth2/par` } })],
    ['with another issuer', () => ({ assertion: { aud: 'https://other.example/' } })],
    ['by RS256', () => ({ alg: 'RS256' })],
    ['that expired five minutes ago', () => ({ assertion: { exp: seconds() - 300 } })],
    ['without exp', () => ({ assertion: { exp: undefined } })],
    ['without sub', () => ({ assertion: { sub: undefined } })],
    ['without iss', () => ({ assertion: { iss: undefined } })],
    ['issued eight hours ahead', () => ({ assertion: { nbf: seconds() + 28_800, iat: seconds() + 28_800 } })],
  ])('with an assertion %s is refused', async (_what, sent) => {
    expect(await push(sent())).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  test.each<[string, Readonly<Record<string, string | undefined>>, string]>([
    ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['with PKCE plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['without redirect_uri', { redirect_uri: undefined }, 'invalid_request'],
    ['with an unregistered redirect_uri', { redirect_uri: 'https://other.example/cb' }, 'invalid_request'],
    ['with request_uri', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }, 'invalid_request'],
    ['with response_type token', { response_type: 'token' }, 'unsupported_response_type'],
  ])('%s is refused', async (_what, form, error) => {
    expect(await push({ form })).toMatchObject({ status: 400, body: { error } });
  });

  test('is the only kind of request that /authorize accepts', async () => {
    const query = new URLSearchParams({ client_id: CLIENT, ...PARAMETERS });
    const responded = await finish(`/authorize?${query}`);
    expect([responded.searchParams.get('error'), responded.searchParams.get('iss')]).toEqual([
      'invalid_request',
      service.issuer,
    ]);
  });

  test('is valid for one sign-in of its own client', async () => {
    const pushed = await push();
    const request_uri = String(pushed.body['request_uri']);
    const other = new Browser({ listener: service.address, publicBase: service.publicBase });
    const foreign = await other.get(`/authorize?${new URLSearchParams({ client_id: SIGNER, request_uri })}`);
    expect(foreign.status).toBe(400);
    const address = `/authorize?${new URLSearchParams({ client_id: CLIENT, request_uri })}`;
    expect((await finish(address)).searchParams.get('code')).toBeTruthy();
    expect((await other.get(address)).status).toBe(400);
  });
});

describe('a request object of a FAPI 2.0 client (Message Signing 5.3.1)', () => {
  async function pushSigned(changes: object = {}, alg: Key = 'PS256', header: object = {}) {
    const now = seconds();
    const usual = { iss: SIGNER, client_id: SIGNER, aud: service.issuer, nbf: now, exp: now + 300, ...PARAMETERS };
    const request = await jwt({ ...usual, ...changes }, alg, header);
    const nothing = Object.fromEntries(Object.keys(PARAMETERS).map((name) => [name, undefined]));
    return await push({ client: SIGNER, form: { ...nothing, request } });
  }

  test('is accepted with its type, several audiences, an nbf 59 minutes ago and a long state', async () => {
    expect((await pushSigned({}, 'ES256', { typ: 'oauth-authz-req+jwt' })).status).toBe(201);
    expect((await pushSigned({ aud: [service.issuer, 'https://other.example/'] })).status).toBe(201);
    expect((await pushSigned({ nbf: seconds() - 3540, exp: seconds() + 30 })).status).toBe(201);
    expect((await pushSigned({ state: 's'.repeat(384) })).status).toBe(201);
  });

  test.each<[string, () => object, Key?]>([
    ['without nbf', () => ({ nbf: undefined })],
    ['with an nbf of eight hours ago', () => ({ nbf: seconds() - 28_800 })],
    ['with an nbf of eight hours ahead', () => ({ nbf: seconds() + 28_800, exp: seconds() + 28_860 })],
    ['without exp', () => ({ exp: undefined })],
    ['that expired', () => ({ exp: seconds() - 300 })],
    ['that is valid for seventy minutes', () => ({ nbf: seconds() - 1800, exp: seconds() + 2400 })],
    ['without aud', () => ({ aud: undefined })],
    ['for another server', () => ({ aud: 'https://other.example/' })],
    ['by RS256', () => ({}), 'RS256'],
  ])('%s is refused', async (_what, changes, alg) => {
    expect(await pushSigned(changes(), alg)).toMatchObject({ status: 400, body: { error: 'invalid_request_object' } });
  });

  test('is required when the client registered to sign', async () => {
    expect(await push({ client: SIGNER })).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });
});

describe('tokens of a FAPI 2.0 client', () => {
  test('are bound to a key, and the refresh token stays the same', async () => {
    const first = await redeem(await codeOf());
    expect(first, JSON.stringify(first.body)).toMatchObject({ status: 200, body: { token_type: 'DPoP' } });
    const refresh_token = String(first.body['refresh_token']);
    const refresh = async () =>
      await post('token', { grant_type: 'refresh_token', refresh_token }, { proof: proofFor('oauth2/token') });
    const responses = [await refresh(), await refresh(), await refresh()];
    const accessTokens = new Set([first, ...responses].map(({ body }) => String(body['access_token'])));
    expect(accessTokens.size).toBe(4);
    expect(new Set(responses.map(({ body }) => body['refresh_token']))).toEqual(new Set([refresh_token]));
    for (const accessToken of accessTokens) {
      const info = await userinfo(accessToken);
      expect(info.status).toBe(200);
      expect(info.headers.get('x-fapi-interaction-id')).toBe('c770aef3-6784-41f7-8e0e-ff5f97bddb3a');
    }
    await post('revoke', { token: refresh_token }, {});
    expect((await refresh()).body['error']).toBe('invalid_grant');
    for (const accessToken of accessTokens) expect((await userinfo(accessToken)).status).toBe(401);
  });

  test('require a proof with an algorithm of the profile', async () => {
    const code = await codeOf();
    const url = new URL('oauth2/token', service.publicBase).href;
    const { privateKey, publicKey } = await generateKeyPair('RS256');
    const claims = { jti: randomUUID(), htm: 'POST', htu: url, iat: seconds() };
    const header = { typ: 'dpop+jwt', alg: 'RS256', jwk: await exportJWK(publicKey) };
    const rs256 = await new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
    for (const proof of ['', rs256]) {
      expect((await redeem(code, { proof })).body['error']).toBe('invalid_dpop_proof');
    }
    expect((await redeem(code)).status).toBe(200);
  });

  test('come from a code valid for at most a minute, whatever the setting', async () => {
    const code = await codeOf();
    await sql(
      service.database,
      `update oauth2_authorization_grants set fulfilled_at = fulfilled_at - interval '61 seconds'
        where code_hash = sha256($1::text::bytea) returning id`,
      [code],
    );
    expect(await redeem(code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });
});

test('a client registers for the profile, and the response shows its effects', async () => {
  const { publicKey } = await generateKeyPair('PS256', { extractable: true });
  const registration = {
    client_uri: 'https://app.example/',
    redirect_uris: [CALLBACK],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [await exportJWK(publicKey)] },
    profile: 'fapi2',
  };
  const register = async (changes: object) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ ...registration, ...changes });
    const response = await fetch(`${service.address}/oauth2/registration`, { method: 'POST', headers, body });
    const responded: Readonly<Record<string, unknown>> = JSON.parse(await response.text());
    return { status: response.status, body: responded };
  };
  expect(await register({})).toMatchObject({
    status: 201,
    body: {
      profile: 'fapi2',
      require_pushed_authorization_requests: true,
      dpop_bound_access_tokens: true,
      id_token_signed_response_alg: 'ES256',
    },
  });
  for (const changes of [
    { token_endpoint_auth_method: 'client_secret_basic' },
    { token_endpoint_auth_method: 'client_secret_jwt' },
    { id_token_signed_response_alg: 'RS256' },
    { token_endpoint_auth_signing_alg: 'RS256' },
    { profile: 'fapi1' },
  ]) {
    expect(await register(changes)).toMatchObject({ status: 400, body: { error: 'invalid_client_metadata' } });
  }
});
