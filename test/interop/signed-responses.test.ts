import { secp256k1 } from '@noble/curves/secp256k1.js';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { beforeAll, describe, expect, test } from 'vitest';
import { SIGNING_ALGORITHMS } from '#protocol/jose/signing-algorithms.ts';
import { Browser } from '../support/browser.ts';
import { startService } from '../support/service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { everySigningKey } from '../support/signing-keys.ts';

const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const SECRET = 'a-secret-of-at-least-16-characters';
/** Neither jose nor openid-client supports secp256k1. */
const FOR_LIBRARIES = SIGNING_ALGORITHMS.filter((alg) => alg !== 'ES256K');

/** One client per algorithm, whose ID tokens, userinfo and introspection responses are signed with it. */
const CLIENTS = new Map(SIGNING_ALGORITHMS.map((alg, index) => [alg, `01JD3Q5Z8W2N4K6M7P9R0S1${100 + index}`]));
let browser: Browser;
let userId: string;

const service = await sharedByTests(
  startService(
    {
      clients: [...CLIENTS].map(([alg, client_id]) => ({
        client_id,
        client_auth_method: 'client_secret_basic',
        client_secret: SECRET,
        redirect_uris: [CALLBACK],
        first_party: true,
        id_token_signed_response_alg: alg,
        userinfo_signed_response_alg: alg,
        introspection_signed_response_alg: alg,
      })),
    },
    { signingKeys: everySigningKey() },
  ),
);

beforeAll(async () => {
  userId = await service.registerUser('amira', PASSWORD);
  browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get('/login');
  await browser.submit({ username: 'amira', password: PASSWORD });
});

/** Configures openid-client to verify every signature, even of responses received over TLS. */
async function configured(alg: string): Promise<{ config: oidc.Configuration; clientId: string }> {
  const clientId = [...CLIENTS].find(([name]) => name === alg)?.[1] ?? '';
  const metadata = {
    id_token_signed_response_alg: alg,
    userinfo_signed_response_alg: alg,
    introspection_signed_response_alg: alg,
  };
  const config = await oidc.discovery(new URL(service.issuer), clientId, metadata, oidc.ClientSecretBasic(SECRET), {
    execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks],
  });
  return { config, clientId };
}

async function signIn(config: oidc.Configuration) {
  const verifier = oidc.randomPKCECodeVerifier();
  const address = oidc.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'openid profile',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const response = await browser.open(address.href);
  return await oidc.authorizationCodeGrant(config, new URL(response.location ?? ''), { pkceCodeVerifier: verifier });
}

async function responseOf(response: Response): Promise<{ type: string | null; jwt: string }> {
  expect(response.status).toBe(200);
  expect(response.headers.get('cache-control')).toBe('no-store');
  return { type: response.headers.get('content-type'), jwt: await response.text() };
}

async function userinfoJwt(accessToken: string) {
  const headers = { authorization: `Bearer ${accessToken}` };
  return await responseOf(await fetch(`${service.address}/oauth2/userinfo`, { headers }));
}

async function introspectionJwt(clientId: string, token: string) {
  const response = await fetch(`${service.address}/oauth2/introspect`, {
    method: 'POST',
    headers: {
      accept: 'application/token-introspection+jwt',
      authorization: `Basic ${Buffer.from(`${clientId}:${SECRET}`).toString('base64')}`,
    },
    body: new URLSearchParams({ token }),
  });
  return await responseOf(response);
}

test('the metadata lists every algorithm for each kind of response', () => {
  const names = ['id_token', 'userinfo', 'introspection'].map((kind) => `${kind}_signing_alg_values_supported`);
  return expect(
    fetch(`${service.address}/.well-known/openid-configuration`).then((response) => response.json()),
  ).resolves.toMatchObject(Object.fromEntries(names.map((name) => [name, SIGNING_ALGORITHMS])));
});

describe.each(FOR_LIBRARIES)('responses signed with %s', (alg) => {
  test('are accepted by openid-client and oauth4webapi: ID token, userinfo, introspection', async () => {
    const { config, clientId } = await configured(alg);
    const tokens = await signIn(config);
    expect(tokens.claims()).toMatchObject({ sub: userId, aud: clientId });
    const info = await oidc.fetchUserInfo(config, tokens.access_token, userId);
    expect(info).toMatchObject({ sub: userId, iss: service.issuer, aud: clientId, preferred_username: 'amira' });
    expect(await oidc.tokenIntrospection(config, tokens.access_token)).toMatchObject({ active: true, sub: userId });
    expect(await oidc.tokenIntrospection(config, 'mat_nothing')).toEqual({ active: false });
  });

  test('verify with jose against the published keys', async () => {
    const { config, clientId } = await configured(alg);
    const tokens = await signIn(config);
    const userinfo = await userinfoJwt(tokens.access_token);
    expect(userinfo.type).toBe('application/jwt');
    const introspection = await introspectionJwt(clientId, tokens.access_token);
    expect(introspection.type).toBe('application/token-introspection+jwt');
    const keys = createRemoteJWKSet(new URL(`${service.address}/oauth2/keys.json`));
    const expected = { issuer: service.issuer, audience: clientId, algorithms: [alg] };
    await jwtVerify(tokens.id_token ?? '', keys, { ...expected, typ: 'JWT', subject: userId });
    await jwtVerify(userinfo.jwt, keys, { ...expected, subject: userId, maxTokenAge: '1m' });
    const { payload } = await jwtVerify(introspection.jwt, keys, { ...expected, typ: 'token-introspection+jwt' });
    expect(payload).toEqual({
      iss: service.issuer,
      aud: clientId,
      iat: expect.any(Number),
      token_introspection: expect.objectContaining({ active: true, sub: userId, client_id: clientId }),
    });
  });
});

test('responses signed with ES256K verify with a library for that curve against the published key', async () => {
  const { config, clientId } = await configured('ES256K');
  const address = oidc.buildAuthorizationUrl(config, { redirect_uri: CALLBACK, scope: 'openid' });
  const response = await browser.open(address.href);
  const code = new URL(response.location ?? '').searchParams.get('code') ?? '';
  const issued = await fetch(`${service.address}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${SECRET}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK }),
  });
  const tokens = await issued.json();
  const { keys } = await (await fetch(`${service.address}/oauth2/keys.json`)).json();
  const { x, y } = keys.find(({ alg }: { alg: string }) => alg === 'ES256K');
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  const userinfo = await userinfoJwt(tokens.access_token);
  const introspection = await introspectionJwt(clientId, tokens.access_token);
  for (const jwt of [tokens.id_token, userinfo.jwt, introspection.jwt]) {
    const [head, body, signature] = jwt.split('.');
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toMatchObject({ alg: 'ES256K' });
    const content = Buffer.from(`${head}.${body}`);
    // JWS allows both the low-S and the high-S form of a signature (RFC 8812).
    expect(secp256k1.verify(Buffer.from(signature, 'base64url'), content, point, { lowS: false })).toBe(true);
    expect(secp256k1.verify(Buffer.from(signature, 'base64url'), Buffer.from(`${head}.`), point)).toBe(false);
    expect(decodeJwt(jwt)).toMatchObject({ iss: service.issuer, aud: clientId });
  }
});
