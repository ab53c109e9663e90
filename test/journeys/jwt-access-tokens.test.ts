/**
 * Access tokens that a resource server validates locally (RFC 9068), from every grant. In this service, their rows
 * remain authoritative.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, type JWTVerifyResult, jwtVerify, SignJWT } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';

const APP = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const WORKER = '01JD3Q5Z8W2N4K6M7P9R0S1T2W';
const TV = '01JD3Q5Z8W2N4K6M7P9R0S1T2X';
const SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const API = 'https://api.example/';
const EC_API = 'https://ec.example/';
const OPAQUE_API = 'https://opaque.example/';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

let service: TestService;
let browser: Browser;

beforeAll(async () => {
  const base = { client_auth_method: 'client_secret_basic', client_secret: SECRET, redirect_uris: [CALLBACK] };
  const scopes = ['openid', 'groups', 'read', 'write'];
  service = await startService({
    experimental: { access_token_ttl: 3600 },
    oauth: {
      resources: [
        { identifier: API, scopes: ['read', 'write'], token_format: 'jwt' },
        { identifier: EC_API, scopes: ['read'], token_format: 'jwt', signing_alg: 'ES256', access_token_ttl: '10m' },
        { identifier: OPAQUE_API, scopes: ['read'] },
      ],
    },
    clients: [
      { ...base, client_id: APP, first_party: true },
      {
        ...base,
        client_id: WORKER,
        scope: 'read',
        token_exchange: { subjects: [APP], scopes, audiences: [API, EC_API, OPAQUE_API] },
      },
      { client_id: TV, client_auth_method: 'none', client_name: 'Living Room TV' },
    ],
  });
  await service.registerUser('amira', PASSWORD);
  await sql(service.database, `update users set groups = '{staff,crew}'`);
  browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get('/login');
  await browser.submit({ username: 'amira', password: PASSWORD });
});
afterAll(async () => await service.stop());

async function configured(clientId: string, auth: oidc.ClientAuth = oidc.ClientSecretBasic(SECRET)) {
  const options = { execute: [oidc.allowInsecureRequests] };
  return await oidc.discovery(new URL(service.issuer), clientId, undefined, auth, options);
}

async function signIn(resource: string | readonly string[], scope: string, options?: oidc.DPoPOptions) {
  const config = await configured(APP);
  const state = oidc.randomState();
  const parameters = new URLSearchParams({ redirect_uri: CALLBACK, scope, state });
  for (const one of [resource].flat()) parameters.append('resource', one);
  const { location } = await browser.open(oidc.buildAuthorizationUrl(config, parameters).href);
  return await oidc.authorizationCodeGrant(
    config,
    new URL(location ?? ''),
    { expectedState: state },
    undefined,
    options,
  );
}

/** Validates like a framework: published keys, issuer, audience and type. */
async function verified(token: string, audience = API): Promise<JWTVerifyResult> {
  const keys = createRemoteJWKSet(new URL('/oauth2/keys.json', service.address));
  return await jwtVerify(token, keys, { issuer: service.issuer, audience, typ: 'at+jwt' });
}

async function introspect(token: string) {
  return await oidc.tokenIntrospection(await configured(WORKER), token);
}

async function userinfo(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${service.address}/oauth2/userinfo`, { headers })).status;
}

test('a code yields a JWT with the claims of RFC 9068, valid for five minutes', async () => {
  const tokens = await signIn(API, 'openid profile groups read');
  const { payload, protectedHeader } = await verified(tokens.access_token);
  const { sub, auth_time, acr } = decodeJwt(tokens.id_token ?? '');
  expect(protectedHeader).toMatchObject({ alg: 'RS256', typ: 'at+jwt', kid: expect.any(String) });
  expect(payload).toEqual({
    ...{ iss: service.issuer, sub, aud: API, client_id: APP, scope: 'openid profile groups read' },
    ...{ iat: expect.any(Number), exp: (payload.iat ?? 0) + 300, jti: expect.stringMatching(/^[\w-]{43}$/) },
    ...{ auth_time, acr, groups: ['crew', 'staff'] },
  });
  expect(tokens.expires_in).toBe(300);
  expect(decodeProtectedHeader(tokens.id_token ?? '').typ).toBe('JWT');
  // Groups were not requested.
  const plain = await verified((await signIn(API, 'openid read')).access_token);
  expect(plain.payload).not.toHaveProperty('groups');
});

test('introspection, userinfo and revocation identify it by its row, at the same cost', async () => {
  const { access_token: token } = await signIn(API, 'openid read');
  const { payload } = await verified(token);
  expect(await introspect(token)).toMatchObject({
    ...{ active: true, jti: payload.jti, aud: [API], scope: 'openid read', client_id: APP, username: 'amira' },
    ...{ exp: payload.exp, iat: payload.iat, token_type: 'Bearer' },
  });
  await introspect(token);
  expect(service.requestLines().at(-1)).toMatchObject({ queries: 1 });
  expect(await userinfo(token)).toBe(200);
  await oidc.tokenRevocation(await configured(APP), token);
  expect(await introspect(token)).toEqual({ active: false });
  expect(await userinfo(token)).toBe(401);
  // Local validation accepts it until it expires.
  await expect(verified(token)).resolves.toMatchObject({ payload: { jti: payload.jti } });
});

test('each resource has its algorithm and lifetime, and opaque resources get opaque tokens', async () => {
  const tokens = await signIn([API, EC_API, OPAQUE_API], 'openid read').catch((error: unknown) => error);
  expect(tokens).toMatchObject({ error: 'invalid_target' });
  const ec = await signIn(EC_API, 'openid read');
  expect((await verified(ec.access_token, EC_API)).protectedHeader.alg).toBe('ES256');
  expect(ec.expires_in).toBe(600);
  expect((await signIn(OPAQUE_API, 'openid read')).access_token).toMatch(/^mat_/);
  expect((await signIn([], 'openid')).access_token).toMatch(/^mat_/);
});

test('a refresh issues another JWT, and a repeated refresh the same token', async () => {
  const config = await configured(APP);
  const first = await signIn(API, 'openid read');
  const [one, two] = [
    await oidc.refreshTokenGrant(config, first.refresh_token ?? ''),
    await oidc.refreshTokenGrant(config, first.refresh_token ?? ''),
  ];
  const { payload } = await verified(one.access_token);
  expect(payload).toMatchObject({ sub: decodeJwt(first.access_token).sub, aud: API, scope: 'openid read' });
  expect(payload.jti).not.toBe(decodeJwt(first.access_token).jti);
  expect(decodeJwt(two.access_token)).toEqual(payload);
  expect(await introspect(first.access_token)).toEqual({ active: false });
  expect(await introspect(two.access_token)).toMatchObject({ active: true, jti: payload.jti });
});

test('client credentials, device grant and token exchange issue one', async () => {
  const worker = await configured(WORKER);
  const own = await oidc.clientCredentialsGrant(worker, { scope: 'read', resource: API });
  expect((await verified(own.access_token)).payload).toMatchObject({ sub: WORKER, client_id: WORKER, scope: 'read' });

  const tv = await configured(TV, oidc.None());
  const device = await oidc.initiateDeviceAuthorization(tv, { scope: 'openid read', resource: API });
  await browser.open(device.verification_uri);
  await browser.submit({ code: device.user_code });
  const asking = await browser.follow();
  await browser.submit({ action: 'consent', confirm_device: 'on' }, { action: new URL(asking.url).pathname });
  const ofDevice = await oidc.pollDeviceAuthorizationGrant(tv, { ...device, interval: 0 });
  expect((await verified(ofDevice.access_token)).payload).toMatchObject({ client_id: TV, scope: 'openid read' });

  const subject_token = (await signIn(API, 'openid groups read')).access_token;
  const requested = { subject_token, subject_token_type: ACCESS_TOKEN, audience: EC_API };
  const exchanged = await oidc.genericGrantRequest(worker, EXCHANGE, requested);
  const { payload } = await verified(exchanged.access_token, EC_API);
  expect(payload).toMatchObject({
    ...{ sub: decodeJwt(subject_token).sub, client_id: WORKER, act: { client_id: WORKER } },
    ...{ scope: 'openid groups read', groups: ['crew', 'staff'], auth_time: decodeJwt(subject_token)['auth_time'] },
  });
  expect(await introspect(exchanged.access_token)).toMatchObject({ active: true, jti: payload.jti });
});

test('a key-bound JWT names its key', async () => {
  const handle = oidc.getDPoPHandle(await configured(APP), await oidc.randomDPoPKeyPair('ES256'));
  const tokens = await signIn(API, 'openid read', { DPoP: handle });
  const { payload } = await verified(tokens.access_token);
  expect(payload['cnf']).toEqual({ jkt: await handle.calculateThumbprint() });
  expect(await introspect(tokens.access_token)).toMatchObject({ token_type: 'DPoP', cnf: payload['cnf'] });
  expect(await userinfo(tokens.access_token)).toBe(401);
});

test('ID tokens and foreign JWTs are not accepted as access tokens anywhere', async () => {
  const { access_token: token, id_token: idToken = '' } = await signIn(API, 'openid read');
  const claims = decodeJwt(token);
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const { kid = '' } = decodeProtectedHeader(token);
  const forged = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid }).sign(stranger);
  const [, body, signature] = token.split('.');
  const unsigned = `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${body}.`;
  const retyped = `${Buffer.from(`{"alg":"RS256","typ":"JWT","kid":"${kid}"}`).toString('base64url')}.${body}.${signature}`;
  for (const wrong of [idToken, forged, unsigned, retyped, `${token}x`, String(claims.jti)]) {
    expect(await introspect(wrong), wrong).toEqual({ active: false });
    expect(await userinfo(wrong), wrong).toBe(401);
    const headers = { authorization: `Bearer ${wrong}`, 'content-type': 'application/json' };
    const graphql = await fetch(`${service.address}/graphql`, {
      method: 'POST',
      headers,
      body: '{"query":"{viewer{__typename}}"}',
    });
    expect(graphql.status, wrong).toBe(401);
    expect((await fetch(`${service.address}/api/admin/v1/users`, { headers })).status, wrong).toBe(401);
    const requested = { subject_token: wrong, subject_token_type: ACCESS_TOKEN, audience: API };
    const exchange = oidc.genericGrantRequest(await configured(WORKER), EXCHANGE, requested);
    await expect(exchange, wrong).rejects.toMatchObject({ error: 'invalid_request' });
  }
  // An access token does not pass as an ID token either.
  const requested = {
    subject_token: token,
    subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    audience: API,
  };
  await expect(oidc.genericGrantRequest(await configured(WORKER), EXCHANGE, requested)).rejects.toMatchObject({
    error: 'invalid_request',
  });
  // The service's own APIs accept only opaque tokens.
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  expect((await fetch(`${service.address}/api/admin/v1/users`, { headers })).status).toBe(401);
});
