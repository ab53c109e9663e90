/**
 * Sends every kind of invalid DPoP proof to each endpoint that accepts proofs. The proof is rejected at no cost to the
 * client (S-48).
 */
import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEVICE_CODE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { ProofKey, type WantedProof } from '#test/support/dpop-proofs.ts';
import { sql } from '#test/support/fixtures.ts';
import { type MachineResponse, member, startOAuthService, TEST_ISSUER } from '#test/support/oauth-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ClientId } from '#vocabulary/ids.ts';

const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const CALLBACK = 'https://app.example.org/callback';
const key = new ProofKey();
let client: ClientId;

const db = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startOAuthService(db.database));
const strict = await sharedByTests(startOAuthService(db.database, { clock: service.clock, dpopRequireNonce: true }));

beforeAll(async () => {
  client = await service.client({
    metadata: { grant_types: ['authorization_code', 'refresh_token', DEVICE_CODE_GRANT_TYPE] },
  });
});

/** A request that succeeds with a valid proof and can be repeated after a rejection. */
interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** 400 where a client requests a token, 401 where it presents one. */
  readonly refusal: 400 | 401;
  readonly form?: Readonly<Record<string, string>>;
  readonly accessToken?: string;
  /** Status and error of the valid request. */
  readonly right: readonly [status: number, error?: string];
}

const PAR = { client_id: '', response_type: 'code', redirect_uri: CALLBACK, scope: 'openid', state: 'st' };
const token = (form: Readonly<Record<string, string>>, right: Request['right'] = [200]): Request => ({
  ...{ method: 'POST', path: '/oauth2/token', refusal: 400, right },
  form: { client_id: client, ...form },
});

async function codeRequest(): Promise<Request> {
  const { code } = await service.signIn(client, { codeVerifier: VERIFIER });
  return token({ grant_type: 'authorization_code', code, code_verifier: VERIFIER, redirect_uri: CALLBACK });
}

async function boundTokens(): Promise<MachineResponse> {
  const request = await codeRequest();
  return await send(request, proofFor(request));
}

const REQUESTS: Readonly<Record<string, () => Promise<Request>>> = {
  'a pushed request': async () => ({
    ...{ method: 'POST', path: '/oauth2/par', refusal: 400, right: [201] },
    form: { ...PAR, client_id: client, code_challenge: CHALLENGE, code_challenge_method: 'S256' },
  }),
  'a code': codeRequest,
  'a refresh token': async () =>
    token({ grant_type: 'refresh_token', refresh_token: member(await boundTokens(), 'refresh_token') }),
  'a device code': async () => {
    const requested = await service.post('/oauth2/device', { client_id: client, scope: 'openid' });
    // Not `slow_down` either: the rejected polls did not count.
    const form = { grant_type: DEVICE_CODE_GRANT_TYPE, device_code: member(requested, 'device_code') };
    return token(form, [400, 'authorization_pending']);
  },
  'userinfo by GET': async () => ({
    ...{ method: 'GET', path: '/oauth2/userinfo', refusal: 401, right: [200] },
    accessToken: member(await boundTokens(), 'access_token'),
  }),
  'userinfo by POST': async () => ({
    ...{ method: 'POST', path: '/oauth2/userinfo', refusal: 401, right: [200] },
    accessToken: member(await boundTokens(), 'access_token'),
  }),
};

function proofFor({ method, path, accessToken }: Request, changes: Partial<WantedProof> = {}): string {
  const url = TEST_ISSUER + path.slice(1);
  const bound = accessToken === undefined ? {} : { accessToken };
  return key.proof({ method, url, now: service.clock.now(), ...bound, ...changes });
}

async function send(
  { method, path, form, accessToken }: Request,
  proof: string | readonly string[],
  at = service,
): Promise<MachineResponse> {
  const headers = new Headers();
  for (const one of [proof].flat()) headers.append('dpop', one);
  if (accessToken !== undefined) headers.set('authorization', `DPoP ${accessToken}`);
  if (form !== undefined) headers.set('content-type', 'application/x-www-form-urlencoded');
  const body = form === undefined ? {} : { body: new URLSearchParams(form).toString() };
  return await at.request(path, { method, headers, ...body });
}

/** Signs with a shared key, as HS256 does: the public key as the secret. */
function signedByMac(request: Request): string {
  const [head = '', body = ''] = proofFor(request, { header: { alg: 'HS256' } }).split('.');
  const mac = createHmac('sha256', JSON.stringify(key.publicJwk)).update(`${head}.${body}`);
  return `${head}.${body}.${mac.digest('base64url')}`;
}

const WRONG: Readonly<Record<string, (request: Request) => string | readonly string[]>> = {
  'not a JWT': () => 'x',
  'an empty one': () => '',
  'two in one header': (request) => `${proofFor(request)}, ${proofFor(request)}`,
  'two in separate headers': (request) => [proofFor(request), proofFor(request)],
  'an invalid signature': (request) => `${proofFor(request).slice(0, -8)}AAAAAAAA`,
  'another key': (request) => proofFor(request, { header: { jwk: new ProofKey().publicJwk } }),
  'no key': (request) => proofFor(request, { header: { jwk: undefined } }),
  'a private key': (request) => proofFor(request, { header: { jwk: key.privateJwk } }),
  'a symmetric key': (request) => proofFor(request, { header: { jwk: { kty: 'oct', k: 'c2VjcmV0' } } }),
  'a key that is a string': (request) => proofFor(request, { header: { jwk: 'x' } }),
  'alg none': (request) => proofFor(request, { header: { alg: 'none' } }),
  'alg HS256': signedByMac,
  'alg of another kind of key': (request) => proofFor(request, { header: { alg: 'RS256' } }),
  'another typ': (request) => proofFor(request, { header: { typ: 'JWT' } }),
  'no typ': (request) => proofFor(request, { header: { typ: undefined } }),
  crit: (request) => proofFor(request, { header: { crit: ['x'], x: 1 } }),
  'another method': (request) => proofFor(request, { method: request.method === 'GET' ? 'POST' : 'GET' }),
  'no method': (request) => proofFor(request, { claims: { htm: undefined } }),
  'another URL': (request) => proofFor(request, { url: `${TEST_ISSUER}oauth2/revoke` }),
  'another host': (request) => proofFor(request, { url: `https://evil.example${request.path}` }),
  'no htu': (request) => proofFor(request, { claims: { htu: undefined } }),
  'no jti': (request) => proofFor(request, { claims: { jti: undefined } }),
  'an empty jti': (request) => proofFor(request, { claims: { jti: '' } }),
  'a jti of 256 characters': (request) => proofFor(request, { claims: { jti: 'j'.repeat(256) } }),
  'no iat': (request) => proofFor(request, { claims: { iat: undefined } }),
  'an iat that is a string': (request) => proofFor(request, { claims: { iat: 'now' } }),
  'an iat 61 seconds ago': (request) => proofFor(request, { now: service.clock.now() - 61_000 }),
  'an iat 11 seconds ahead': (request) => proofFor(request, { now: service.clock.now() + 11_000 }),
  '12,000 characters': (request) => proofFor(request, { claims: { x: 'x'.repeat(9000) } }),
};
/** Only where the request presents a token (RFC 9449 4.3, 12). */
const WRONG_WITH_TOKEN: typeof WRONG = {
  'no ath': (request) => proofFor(request, { claims: { ath: undefined } }),
  'the ath of another token': (request) => proofFor(request, { accessToken: 'x' }),
};

async function remembered(): Promise<unknown> {
  return await sql(db.database, 'select count(*)::integer as count from replayed_values');
}

describe.each(Object.entries(REQUESTS))('%s', (_, make) => {
  test('with a wrong proof is refused without a trace; with a valid one it continues, once (S-48)', async () => {
    const request = await make();
    const { refusal, right } = request;
    const before = await remembered();
    const kinds = { ...WRONG, ...(request.accessToken === undefined ? {} : WRONG_WITH_TOKEN) };
    for (const [kind, wrong] of Object.entries(kinds)) {
      const response = await send(request, wrong(request));
      expect([kind, response.status, response.body['error']]).toEqual([kind, refusal, 'invalid_dpop_proof']);
      expect(response.body['error_description'], kind).not.toBe('');
      const challenge = response.headers.get('www-authenticate');
      if (refusal === 400) expect(challenge, kind).toBeNull();
      else expect(challenge, kind).toMatch(/^DPoP error="invalid_dpop_proof", algs="/);
    }
    expect(await remembered()).toEqual(before);
    const proof = proofFor(request);
    const response = await send(request, proof);
    expect([response.status, response.body['error']]).toEqual([right[0], right[1]]);
    // A pending request has not consumed its proof. Every other proof is consumed on all instances.
    if (right[1] !== undefined) return;
    expect(await send(request, proof, strict)).toMatchObject({ status: refusal });
    expect((await send(request, proof)).body).toMatchObject({
      error: request.form?.['code'] === undefined ? 'invalid_dpop_proof' : 'invalid_grant',
    });
  });

  test('gets a nonce challenge where one is required, and continues with it (RFC 9449 8)', async () => {
    const request = await make();
    const requested = await send(request, proofFor(request), strict);
    expect([requested.status, requested.body['error']]).toEqual([request.refusal, 'use_dpop_nonce']);
    const nonce = requested.headers.get('dpop-nonce') ?? '';
    for (const wrong of ['', 'x', 'A'.repeat(300)]) {
      const again = await send(request, proofFor(request, { nonce: wrong }), strict);
      expect([wrong, again.status, again.body['error']]).toEqual([wrong, request.refusal, 'use_dpop_nonce']);
    }
    const response = await send(request, proofFor(request, { nonce }), strict);
    expect([response.status, response.body['error']]).toEqual([request.right[0], request.right[1]]);
  });
});

test('client credentials, which public clients cannot use: refused alike (S-48)', async () => {
  const secret = 'the secret of the client';
  const confidential = await service.client({ secret });
  const request = token({ grant_type: 'client_credentials', client_id: confidential, client_secret: secret });
  for (const [kind, wrong] of Object.entries(WRONG)) {
    const response = await send(request, wrong(request));
    expect([kind, response.status, response.body['error']]).toEqual([kind, 400, 'invalid_dpop_proof']);
  }
  expect((await send(request, proofFor(request))).body).toMatchObject({ token_type: 'DPoP' });
});

test('a pushed request with a dpop_jkt other than the key of its proof is refused (RFC 9449 10.1, S-48)', async () => {
  const request = await REQUESTS['a pushed request']?.();
  if (request === undefined) throw new Error('no such request');
  const asking = (dpop_jkt: string): Request => ({ ...request, form: { ...request.form, dpop_jkt } });
  const other = asking(new ProofKey().thumbprint);
  expect(await send(other, proofFor(other))).toMatchObject({ status: 400, body: { error: 'invalid_dpop_proof' } });
  const same = asking(key.thumbprint);
  expect(await send(same, proofFor(same))).toMatchObject({ status: 201 });
});
