/**
 * Stolen tokens and codes that are bound to a key, and DPoP proofs that are stolen, replayed or made for another
 * request.
 */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openDatabase } from '#platform/postgres/open-database.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { ProofKey, type WantedProof } from '#test/support/dpop-proofs.ts';
import { sql } from '#test/support/fixtures.ts';
import {
  basic,
  CLIENT_SECRET,
  type MachineResponse,
  member,
  type OAuthService,
  startOAuthService,
  TEST_ISSUER,
} from '#test/support/oauth-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';
import type { ClientId } from '#vocabulary/ids.ts';

const TOKEN_URL = `${TEST_ISSUER}oauth2/token`;
const USERINFO_URL = `${TEST_ISSUER}oauth2/userinfo`;
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const key = new ProofKey();
const attacker = new ProofKey();
let service: OAuthService;
let second: OAuthService;
let strict: OAuthService;
let open: ClientId;
let confidential: ClientId;
let boundOnly: ClientId;

const db = await sharedByTests(createTestDatabase());
const secondDatabase = await sharedByTests(
  openDatabase({
    connection: parseConnectionUri(db.connectionString),
    log: silentLog,
    clock: { now: () => Date.now() },
  }),
);

beforeAll(async () => {
  service = await startOAuthService(db.database);
  second = await startOAuthService(secondDatabase, { clock: service.clock });
  strict = await startOAuthService(db.database, { clock: service.clock, dpopRequireNonce: true });
  open = await service.client({});
  confidential = await service.client();
  boundOnly = await service.client({ secret: CLIENT_SECRET, metadata: { dpop_bound_access_tokens: true } });
});
afterAll(async () => {
  for (const each of [service, second, strict]) await each.close();
});

function proofFor(url: string, changes: Partial<WantedProof> = {}, by = key): string {
  return by.proof({ url, now: service.clock.now(), ...changes });
}

interface Sent {
  readonly proof?: string | undefined;
  readonly client?: ClientId;
  readonly at?: OAuthService;
}

async function token(form: Readonly<Record<string, string>>, sent: Sent = {}): Promise<MachineResponse> {
  const { proof = proofFor(TOKEN_URL), client = open, at = service } = sent;
  const isPublic = client === open;
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
  if (proof !== '') headers['dpop'] = proof;
  if (!isPublic) headers['authorization'] = basic(client, CLIENT_SECRET);
  const body = new URLSearchParams(isPublic ? { client_id: client, ...form } : form).toString();
  return await at.request('/oauth2/token', { method: 'POST', headers, body });
}

const NO_PROOF = { proof: '' };

async function codeForm(client = open, more: { scope?: readonly string[]; dpopKey?: string } = {}) {
  const { dpopKey, ...grant } = more;
  const { code, grantId } = await service.signIn(client, { codeVerifier: VERIFIER, ...grant });
  if (dpopKey !== undefined) {
    const uuid = await sql<{ id: string }>(
      db.database,
      `update oauth2_authorization_grants set dpop_jkt = $1::text
        where code_hash = sha256($2::text::bytea) returning id`,
      [dpopKey, code],
    );
    expect(uuid, grantId).toHaveLength(1);
  }
  const redirect_uri = 'https://app.example.org/callback';
  return { grant_type: 'authorization_code', code, code_verifier: VERIFIER, redirect_uri };
}

async function boundSession(client = open): Promise<{ accessToken: string; refreshToken: string }> {
  const response = await token(await codeForm(client), { client });
  expect(response.body).toMatchObject({ token_type: 'DPoP' });
  return { accessToken: member(response, 'access_token'), refreshToken: member(response, 'refresh_token') };
}

async function userinfo(accessToken: string, scheme: string, proof?: string, at = service): Promise<MachineResponse> {
  const headers = { authorization: `${scheme} ${accessToken}`, ...(proof === undefined ? {} : { dpop: proof }) };
  return await at.request('/oauth2/userinfo', { headers });
}

/** Builds a proof with a MAC instead of a signature, keyed with the public key or with the secret in its `jwk`. */
function symmetricProof(url: string, method: string, accessToken?: string, jwk?: object): string {
  const asymmetric = proofFor(url, { method, ...(accessToken !== undefined && { accessToken }) });
  const [, body] = asymmetric.split('.');
  const head = { typ: 'dpop+jwt', alg: 'HS256', jwk: jwk ?? key.publicJwk };
  const content = `${Buffer.from(JSON.stringify(head)).toString('base64url')}.${body}`;
  const secret = jwk === undefined ? JSON.stringify(key.publicJwk) : SHOWN_SECRET;
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
}

const SHOWN_SECRET = 'a secret that everybody can read in the proof';
const SHOWN_JWK = { kty: 'oct', k: Buffer.from(SHOWN_SECRET).toString('base64url') };

function resourceProof(accessToken: string, changes: Partial<WantedProof> = {}, by = key): string {
  return proofFor(USERINFO_URL, { method: 'GET', accessToken, ...changes }, by);
}

async function refresh(refreshToken: string, sent: Sent = {}): Promise<MachineResponse> {
  return await token({ grant_type: 'refresh_token', refresh_token: refreshToken }, sent);
}

const INVALID_PROOF = { status: 400, body: { error: 'invalid_dpop_proof' } };

describe('a bound access token', () => {
  test('works with a proof of its key, in two statements, and introspection returns the key', async () => {
    const { accessToken } = await boundSession();
    expect((await userinfo(accessToken, 'DPoP', resourceProof(accessToken))).status).toBe(200);
    expect(service.lastRequest().queries).toBe(2);
    expect((await userinfo(accessToken, 'dpop', resourceProof(accessToken))).status).toBe(200);
    expect((await service.introspect(accessToken)).body).toMatchObject({
      active: true,
      token_type: 'DPoP',
      cnf: { jkt: key.thumbprint },
    });
  });

  test("that is stolen is refused as Bearer, in the form, or with the thief's key (S-48)", async () => {
    const { accessToken } = await boundSession();
    const inForm = async () => await service.post('/oauth2/userinfo', { access_token: accessToken });
    const attempts = [
      await userinfo(accessToken, 'Bearer'),
      await userinfo(accessToken, 'Bearer', resourceProof(accessToken)),
      await inForm(),
      await userinfo(accessToken, 'DPoP', resourceProof(accessToken, {}, attacker)),
    ];
    for (const response of attempts) {
      expect(response).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
      expect(response.headers.get('www-authenticate')).toMatch(/DPoP .*algs="RS256 .*ES256/);
    }
  });

  test('without a proof, or with one for another request, is refused with a challenge (S-48)', async () => {
    const { accessToken } = await boundSession();
    const wrong = [
      undefined,
      resourceProof(accessToken, { method: 'POST' }),
      resourceProof(accessToken, { url: TOKEN_URL }),
      resourceProof(`${accessToken}x`),
      proofFor(USERINFO_URL, { method: 'GET' }),
      resourceProof(accessToken, { now: service.clock.now() - 61_000 }),
      resourceProof(accessToken, { now: service.clock.now() + 11_000 }),
      resourceProof(accessToken, { header: { jwk: key.privateJwk } }),
      resourceProof(accessToken, { header: { alg: 'none' } }),
      resourceProof(accessToken, { header: { alg: 'none' } }).replace(/[^.]*$/, ''),
      symmetricProof(USERINFO_URL, 'GET', accessToken),
      symmetricProof(USERINFO_URL, 'GET', accessToken, SHOWN_JWK),
      resourceProof(accessToken, { header: { jwk: { ...key.publicJwk, kty: 'oct', k: 'AAAA' } } }),
      resourceProof(accessToken, { url: `${USERINFO_URL}/` }),
      resourceProof(accessToken, { url: USERINFO_URL.replace('//', '//evil.') }),
      resourceProof(accessToken, { claims: { jti: undefined } }),
      resourceProof(accessToken, { header: { typ: 'JWT' } }),
      attacker.proof({
        url: USERINFO_URL,
        method: 'GET',
        now: service.clock.now(),
        accessToken,
        header: { jwk: key.publicJwk },
      }),
      `${resourceProof(accessToken)}, ${resourceProof(accessToken)}`,
    ];
    for (const proof of wrong) {
      const response = await userinfo(accessToken, 'DPoP', proof);
      expect(response).toMatchObject({ status: 401, body: { error: 'invalid_dpop_proof' } });
      expect(response.headers.get('www-authenticate')).toMatch(/^DPoP error="invalid_dpop_proof", algs="/);
    }
  });

  test('with two proofs in separate headers is refused (S-48)', async () => {
    const { accessToken } = await boundSession();
    const headers = new Headers({ authorization: `DPoP ${accessToken}` });
    for (const proof of [resourceProof(accessToken), resourceProof(accessToken)]) headers.append('dpop', proof);
    expect(await service.request('/oauth2/userinfo', { headers })).toMatchObject({ status: 401 });
  });

  test('accepts a proof once across all instances (S-48)', async () => {
    const { accessToken } = await boundSession();
    const proof = resourceProof(accessToken);
    expect((await userinfo(accessToken, 'DPoP', proof)).status).toBe(200);
    for (const at of [service, second]) {
      expect(await userinfo(accessToken, 'DPoP', proof, at)).toMatchObject({
        status: 401,
        body: { error: 'invalid_dpop_proof' },
      });
    }
  });

  test('remembers a proof for as long as it is valid (S-48)', async () => {
    const { accessToken } = await boundSession();
    // A proof from a clock that is ahead by the allowed maximum is valid for 70 s.
    const proof = resourceProof(accessToken, { now: service.clock.now() + 10_000 });
    expect((await userinfo(accessToken, 'DPoP', proof)).status).toBe(200);
    for (const seconds of [3, 57, 9]) {
      service.clock.advanceSeconds(seconds);
      expect(await userinfo(accessToken, 'DPoP', proof)).toMatchObject({
        status: 401,
        body: { error_description: expect.stringContaining('already used') },
      });
    }
  });

  test('accepts one of twenty concurrent uses of a proof on two instances (S-48)', async () => {
    const { accessToken } = await boundSession();
    const proof = resourceProof(accessToken);
    const responses = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        return await userinfo(accessToken, 'DPoP', proof, index % 2 === 0 ? service : second);
      }),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('an unbound token is refused with the DPoP scheme', async () => {
    const response = await token(await codeForm(), NO_PROOF);
    expect(response.body).toMatchObject({ token_type: 'Bearer' });
    const accessToken = member(response, 'access_token');
    const refused = await userinfo(accessToken, 'DPoP', resourceProof(accessToken));
    expect(refused).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
    expect((await userinfo(accessToken, 'Bearer')).status).toBe(200);
    expect((await service.introspect(accessToken)).body).not.toHaveProperty('cnf');
  });

  test('that is unknown leaves no trace of its proof in the database (S-48)', async () => {
    const count = async () => await sql(db.database, 'select count(*)::integer as n from replayed_values');
    const before = await count();
    const { accessToken } = { accessToken: 'mat_0123456789ABCDEFGHIJabcdefghij_0WADMv' };
    await userinfo(accessToken, 'DPoP', resourceProof(accessToken));
    await refresh('mar_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz_Il6Hq1');
    await token({ grant_type: 'authorization_code', code: 'A'.repeat(43) });
    expect(await count()).toEqual(before);
  });
});

describe('the session of a public client that started with a proof', () => {
  test('refreshes only with its key: a missing or wrong key is refused without ending the session (S-48)', async () => {
    const { refreshToken } = await boundSession();
    for (const proof of ['', proofFor(TOKEN_URL, {}, attacker)]) {
      expect(await refresh(refreshToken, { proof })).toMatchObject(INVALID_PROOF);
    }
    const next = await refresh(refreshToken);
    expect(next.body).toMatchObject({ token_type: 'DPoP' });
    expect(service.lastRequest().queries).toBe(3);
    service.clock.advanceSeconds(31);
    const accessToken = member(next, 'access_token');
    expect((await userinfo(accessToken, 'DPoP', resourceProof(accessToken))).status).toBe(200);
    // The first token is stolen. Presenting it late and without the key must not end the owner's session.
    expect(await refresh(refreshToken, NO_PROOF)).toMatchObject(INVALID_PROOF);
    expect((await refresh(member(next, 'refresh_token'))).status).toBe(200);
  });

  test('repeats a refresh after a lost response with a new proof; the same proof is refused', async () => {
    const { refreshToken } = await boundSession();
    const proof = proofFor(TOKEN_URL);
    const first = await refresh(refreshToken, { proof });
    expect(await refresh(refreshToken, { proof })).toMatchObject(INVALID_PROOF);
    const again = await refresh(refreshToken);
    expect(again.body).toMatchObject({
      access_token: member(first, 'access_token'),
      refresh_token: member(first, 'refresh_token'),
      token_type: 'DPoP',
    });
  });

  test('issues one pair for twenty concurrent refreshes on two instances, each with its proof', async () => {
    const { refreshToken } = await boundSession();
    const responses = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        return await refresh(refreshToken, { at: index % 2 === 0 ? service : second });
      }),
    );
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    expect(new Set(responses.map((response) => member(response, 'access_token'))).size).toBe(1);
  });
});

describe('a confidential client', () => {
  test('authenticates by its secret: each access token is bound to the key of its own request, or unbound', async () => {
    const { refreshToken } = await boundSession(confidential);
    const other = await refresh(refreshToken, { client: confidential, proof: proofFor(TOKEN_URL, {}, attacker) });
    expect(other.body).toMatchObject({ token_type: 'DPoP' });
    const introspected = await service.introspect(member(other, 'access_token'));
    expect(introspected.body).toMatchObject({ cnf: { jkt: attacker.thumbprint } });
    // Retrying a lost response with another key issues new tokens, because the stored ones are bound to the first key.
    const again = await refresh(refreshToken, { client: confidential });
    expect(again.body).toMatchObject({ token_type: 'DPoP', refresh_token: member(other, 'refresh_token') });
    expect((await service.introspect(member(again, 'access_token'))).body).toMatchObject({
      cnf: { jkt: key.thumbprint },
    });
    const plain = await refresh(member(again, 'refresh_token'), { client: confidential, ...NO_PROOF });
    expect(plain.body).toMatchObject({ token_type: 'Bearer' });
  });

  test('gets bound client credentials tokens', async () => {
    const response = await token({ grant_type: 'client_credentials' }, { client: confidential });
    expect(response.body).toMatchObject({ token_type: 'DPoP' });
    expect(service.lastRequest().queries).toBe(2);
    expect((await service.introspect(member(response, 'access_token'))).body).toMatchObject({
      token_type: 'DPoP',
      cnf: { jkt: key.thumbprint },
      sub: confidential,
    });
  });

  test('does not use up a proof twice in one request that finds its client changed', async () => {
    await sql(db.database, 'update oauth2_clients set version = version + 1');
    expect((await token({ grant_type: 'client_credentials' }, { client: confidential })).status).toBe(200);
  });

  test('registered for bound tokens gets nothing without a proof', async () => {
    for (const form of [await codeForm(boundOnly), { grant_type: 'client_credentials' }]) {
      expect(await token(form, { client: boundOnly, ...NO_PROOF })).toMatchObject(INVALID_PROOF);
      expect((await token(form, { client: boundOnly })).body).toMatchObject({ token_type: 'DPoP' });
    }
  });
});

describe('homeserver scopes', () => {
  const CHAT = ['openid', 'urn:chat:client:api:*'];

  test('come with an unbound token, whose session refreshes without proof (RFC 9449 5)', async () => {
    const response = await token(await codeForm(open, { scope: CHAT }));
    expect(response.body).toMatchObject({ token_type: 'Bearer' });
    expect((await userinfo(member(response, 'access_token'), 'Bearer')).status).toBe(200);
    expect((await refresh(member(response, 'refresh_token'), NO_PROOF)).body).toMatchObject({ token_type: 'Bearer' });
  });

  test('are refused for a client that only accepts bound tokens', async () => {
    const response = await token(await codeForm(boundOnly, { scope: CHAT }), { client: boundOnly });
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
  });
});

describe('a code bound to a key', () => {
  test('is redeemed only with that key (RFC 9449 10, S-48)', async () => {
    const form = await codeForm(open, { dpopKey: key.thumbprint });
    for (const proof of ['', proofFor(TOKEN_URL, {}, attacker)]) {
      expect(await token(form, { proof })).toMatchObject(INVALID_PROOF);
    }
    expect((await token(form)).body).toMatchObject({ token_type: 'DPoP' });
  });

  test('is useless to a thief after redemption, and a replay ends the session', async () => {
    const form = await codeForm(open, { dpopKey: key.thumbprint });
    const first = await token(form);
    expect(await token(form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await service.introspect(member(first, 'access_token'))).body).toMatchObject({ active: true });
    expect(await token(form, { proof: proofFor(TOKEN_URL, {}, attacker) })).toMatchObject({ status: 400 });
    expect((await service.introspect(member(first, 'access_token'))).body).toEqual({ active: false });
  });
});

describe('a proof at the token endpoint', () => {
  test('that is invalid has no lasting effect for the client (S-48)', async () => {
    const form = await codeForm();
    const wrong = [
      'x',
      proofFor(USERINFO_URL),
      proofFor(TOKEN_URL, { method: 'GET' }),
      proofFor(TOKEN_URL, { claims: { jti: undefined } }),
      proofFor(TOKEN_URL, { header: { typ: 'jwt' } }),
      proofFor(TOKEN_URL, { now: service.clock.now() - 61_000 }),
      proofFor(TOKEN_URL, { now: service.clock.now() + 11_000 }),
      proofFor(TOKEN_URL, { header: { alg: 'none' } }),
      proofFor(TOKEN_URL, { header: { alg: 'none' } }).replace(/[^.]*$/, ''),
      proofFor(TOKEN_URL, { header: { jwk: key.privateJwk } }),
      proofFor(TOKEN_URL, { header: { jwk: attacker.publicJwk } }),
      symmetricProof(TOKEN_URL, 'POST'),
      symmetricProof(TOKEN_URL, 'POST', undefined, SHOWN_JWK),
      `${proofFor(TOKEN_URL)}, ${proofFor(TOKEN_URL)}`,
    ];
    for (const proof of wrong) expect(await token(form, { proof })).toMatchObject(INVALID_PROOF);
    expect(service.logged('auth.refused').at(-1)?.fields).toMatchObject({ code: 'invalid_dpop_proof' });
    expect((await token(form)).status).toBe(200);
    expect(service.lastRequest().queries).toBe(3);
  });

  test('of 12,000 characters is refused immediately (S-48)', async () => {
    const proof = proofFor(TOKEN_URL, { claims: { x: 'x'.repeat(9000) } });
    expect(await token({ grant_type: 'client_credentials' }, { proof, client: confidential })).toMatchObject(
      INVALID_PROOF,
    );
    expect(service.lastRequest().queries).toBe(0);
  });

  test('that was used for one code is refused for another (S-48)', async () => {
    const proof = proofFor(TOKEN_URL);
    expect((await token(await codeForm(), { proof })).status).toBe(200);
    const form = await codeForm();
    expect(await token(form, { proof, at: second })).toMatchObject(INVALID_PROOF);
    expect((await token(form)).status).toBe(200);
  });

  test("is only checked after the client, the grant type and the client's right to it", async () => {
    const wrong = { proof: 'x' };
    expect(await token({ grant_type: 'nonsense' }, wrong)).toMatchObject({ body: { error: 'unsupported_grant_type' } });
    expect(await token({}, wrong)).toMatchObject({ body: { error: 'invalid_request' } });
  });
});

describe('nonces (oauth.dpop_require_nonce)', () => {
  test('are required, issued, and valid for five minutes on every instance with the setting', async () => {
    const form = { grant_type: 'client_credentials' };
    const at = { at: strict, client: confidential };
    const requested = await token(form, at);
    expect(requested).toMatchObject({ status: 400, body: { error: 'use_dpop_nonce' } });
    const nonce = requested.headers.get('dpop-nonce') ?? '';
    const response = await token(form, { ...at, proof: proofFor(TOKEN_URL, { nonce }) });
    expect(response.status).toBe(200);
    const nextNonce = response.headers.get('dpop-nonce') ?? '';
    expect(nextNonce).not.toBe('');
    service.clock.advanceSeconds(300);
    expect((await token(form, { ...at, proof: proofFor(TOKEN_URL, { nonce }) })).status).toBe(200);
    service.clock.advanceSeconds(1);
    const late = await token(form, { ...at, proof: proofFor(TOKEN_URL, { nonce: nextNonce }) });
    expect(late).toMatchObject({ status: 400, body: { error: 'use_dpop_nonce' } });
  });

  test.each(['', 'x', 'AAAA', 'A'.repeat(5000)])('that are invented are refused: %.20s (S-48)', async (nonce) => {
    const proof = proofFor(TOKEN_URL, { nonce });
    const response = await token({ grant_type: 'client_credentials' }, { at: strict, client: confidential, proof });
    expect(response).toMatchObject({ status: 400, body: { error: 'use_dpop_nonce' } });
  });

  test('are required at userinfo with a challenge', async () => {
    const { accessToken } = await boundSession();
    const requested = await userinfo(accessToken, 'DPoP', resourceProof(accessToken), strict);
    expect(requested).toMatchObject({ status: 401, body: { error: 'use_dpop_nonce' } });
    expect(requested.headers.get('www-authenticate')).toMatch(/^DPoP error="use_dpop_nonce", algs="/);
    expect(requested.headers.get('access-control-expose-headers')).toContain('DPoP-Nonce');
    const nonce = requested.headers.get('dpop-nonce') ?? '';
    const response = await userinfo(accessToken, 'DPoP', resourceProof(accessToken, { nonce }), strict);
    expect(response.status).toBe(200);
    expect(response.headers.get('dpop-nonce')).not.toBeNull();
  });

  test('are not required without the setting', async () => {
    const response = await token({ grant_type: 'client_credentials' }, { client: confidential });
    expect(response.headers.get('dpop-nonce')).toBeNull();
  });
});
