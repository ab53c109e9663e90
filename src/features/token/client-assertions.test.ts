import { beforeAll, describe, expect, test } from 'vitest';
import { MAC_ALGORITHMS, SIGNING_ALGORITHMS } from '#protocol/jose/signing-algorithms.ts';
import { type AssertionParts, assertionFields, type ClientKey, newClientKey } from '#test/support/client-assertions.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { basic, member, startOAuthService, TEST_ISSUER, unusedId } from '#test/support/oauth-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ClientId } from '#vocabulary/ids.ts';

const SECRET = 'a secret that signs assertions, of more than sixty-four bytes in all';
const TOKEN_ENDPOINT = `${TEST_ISSUER}oauth2/token`;
const GRANT = { grant_type: 'client_credentials' };
let key: ClientKey;
let keyClient: ClientId;
let secretClient: ClientId;

const db = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startOAuthService(db.database));
const other = await sharedByTests(startOAuthService(db.database, { clock: service.clock }));

beforeAll(async () => {
  key = await newClientKey('one');
  keyClient = await clientWith({ jwks: { keys: [key.publicJwk] } });
  secretClient = await service.client({
    secret: SECRET,
    metadata: { token_endpoint_auth_method: 'client_secret_jwt' },
  });
});

async function clientWith(metadata: object): Promise<ClientId> {
  return await service.client({ metadata: { token_endpoint_auth_method: 'private_key_jwt', ...metadata } });
}

async function fields(parts: Partial<AssertionParts> = {}): Promise<Record<string, string>> {
  const usual = { clientId: keyClient, audience: TEST_ISSUER, now: service.clock.now(), key: key.privateKey };
  return await assertionFields({ ...usual, ...parts });
}

async function ask(parts: Partial<AssertionParts> = {}, more: Record<string, string> = {}) {
  return await service.post('/oauth2/token', { ...GRANT, ...more, ...(await fields(parts)) });
}

const seconds = () => Math.floor(service.clock.now() / 1000);

describe('a client assertion (RFC 7523 3)', () => {
  test('signed with a key is accepted without a round trip, and the client is the requester', async () => {
    expect((await ask()).status).toBe(200);
    expect(service.lastRequest()).toMatchObject({ queries: 1, requester: `oauth2-client:${keyClient}` });
  });

  test('signed with a secret is accepted', async () => {
    const response = await ask({ clientId: secretClient, key: SECRET });
    expect(response.status).toBe(200);
    expect(service.lastRequest()).toMatchObject({ queries: 1, requester: `oauth2-client:${secretClient}` });
  });

  test.each(MAC_ALGORITHMS)('signed with %s is accepted', async (alg) => {
    expect((await ask({ clientId: secretClient, key: SECRET, alg })).status).toBe(200);
  });

  test.each(SIGNING_ALGORITHMS.filter((alg) => alg !== 'ES256K'))(
    'signed with the algorithm %s is accepted',
    async (alg) => {
      const own = await newClientKey('own', alg);
      const clientId = await clientWith({ jwks: { keys: [key.publicJwk, own.publicJwk] } });
      expect((await ask({ clientId, key: own.privateKey, alg, header: { kid: 'own' } })).status).toBe(200);
    },
  );

  test('names an Ed25519 algorithm the old way or as in RFC 9864, whichever is registered', async () => {
    const { privateKey, publicJwk } = await newClientKey('ed', 'EdDSA');
    for (const token_endpoint_auth_signing_alg of ['EdDSA', 'Ed25519', undefined]) {
      for (const alg of ['EdDSA', 'Ed25519', undefined]) {
        const jwks = { keys: [{ ...publicJwk, ...(alg !== undefined && { alg }) }] };
        const clientId = await clientWith({
          jwks,
          ...(token_endpoint_auth_signing_alg !== undefined && { token_endpoint_auth_signing_alg }),
        });
        for (const sent of ['EdDSA', 'Ed25519']) {
          expect((await ask({ clientId, key: privateKey, alg: sent })).status).toBe(200);
        }
        const es256 = await ask({ clientId, header: { kid: 'ed' } });
        expect(es256).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
      }
    }
  });

  test('works at every endpoint, with the URL of that or the token endpoint, or the issuer, as audience', async () => {
    for (const path of ['introspect', 'revoke', 'token']) {
      for (const audience of [
        TEST_ISSUER,
        TOKEN_ENDPOINT,
        `${TEST_ISSUER}oauth2/${path}`,
        [TEST_ISSUER, TOKEN_ENDPOINT],
      ]) {
        const form = path === 'token' ? GRANT : { token: 'unknown' };
        const response = await service.post(`/oauth2/${path}`, { ...form, ...(await fields({ audience })) });
        expect(response.status).toBe(200);
      }
    }
    const foreign = await fields({ audience: `${TEST_ISSUER}oauth2/introspect` });
    expect((await service.post('/oauth2/token', { ...GRANT, ...foreign })).status).toBe(401);
  });

  test.each<[string, () => Partial<AssertionParts>]>([
    ['with the client id in lower case', () => ({ claims: { sub: keyClient.toLowerCase(), iss: keyClient } })],
    ['that expired 59 seconds ago', () => ({ claims: { exp: seconds() - 59 } })],
    ['that is valid for ten minutes', () => ({ claims: { exp: seconds() + 600 } })],
    ['of a clock that is 60 seconds ahead', () => ({ claims: { iat: seconds() + 60, nbf: seconds() + 60 } })],
    ['that was issued ten minutes ago', () => ({ claims: { iat: seconds() - 600 } })],
    ['without iat and with a jti of 255 characters', () => ({ claims: { iat: undefined, jti: 'j'.repeat(255) } })],
    [
      'with headers that name keys',
      () => ({ header: { jku: 'https://evil.example/', x5c: ['x'], jwk: { kty: 'oct' } } }),
    ],
    ['with a type', () => ({ header: { typ: 'client-authentication+jwt' } })],
  ])('%s is accepted', async (_what, parts) => {
    expect((await ask(parts())).status).toBe(200);
  });

  test.each<[string, () => Partial<AssertionParts>, string]>([
    ['for another service', () => ({ audience: 'https://other.example/' }), 'aud'],
    ['for this service and another', () => ({ audience: [TEST_ISSUER, 'https://other.example/'] }), 'aud'],
    ['for the client itself', () => ({ audience: keyClient }), 'aud'],
    ['for nobody', () => ({ audience: [] }), 'aud'],
    ['without an audience', () => ({ audience: undefined }), 'aud'],
    ['of another issuer', () => ({ claims: { iss: secretClient } }), 'iss and sub'],
    ['without an issuer', () => ({ claims: { iss: undefined } }), 'iss and sub'],
    ['without an end', () => ({ claims: { exp: undefined } }), 'exp'],
    ['with an end that is a text', () => ({ claims: { exp: `${seconds() + 60}` } }), 'exp'],
    ['that expired a minute ago', () => ({ claims: { exp: seconds() - 60 } }), 'expired'],
    ['that is valid for 11 minutes', () => ({ claims: { exp: seconds() + 660 } }), '600 seconds'],
    ['that never ends', () => ({ claims: { exp: 1e308 } }), '600 seconds'],
    ['that is valid from 61 seconds on', () => ({ claims: { nbf: seconds() + 61 } }), 'nbf'],
    ['with a text as nbf', () => ({ claims: { nbf: '0' } }), 'nbf'],
    ['issued in 61 seconds', () => ({ claims: { iat: seconds() + 61 } }), 'iat'],
    ['issued more than ten minutes ago', () => ({ claims: { iat: seconds() - 601 } }), 'too long ago'],
    ['without a jti', () => ({ claims: { jti: undefined } }), 'jti'],
    ['with an empty jti', () => ({ claims: { jti: '' } }), 'jti'],
    ['with a number as its jti', () => ({ claims: { jti: 7 } }), 'jti'],
    ['with a jti of 256 characters', () => ({ claims: { jti: 'j'.repeat(256) } }), 'jti'],
    ['that is a request object', () => ({ header: { typ: 'oauth-authz-req+jwt' } }), 'typ'],
  ])('%s is rejected, with the reason for the developer (S-32)', async (_what, parts, reason) => {
    const response = await ask(parts());
    expect(response).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect(response.body['error_description']).toContain(reason);
    expect(response.headers.get('www-authenticate')).toBe(`Basic realm="${TEST_ISSUER}"`);
    expect(service.lastRequest()).toMatchObject({ queries: 0, requester: undefined });
  });

  test('whose sub differs from client_id is rejected', async () => {
    expect((await ask({}, { client_id: keyClient })).status).toBe(200);
    const response = await ask({}, { client_id: secretClient });
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  test('combined with a secret or another method is rejected', async () => {
    expect(await ask({}, { client_id: keyClient, client_secret: 'x' })).toMatchObject({ status: 400 });
    const both = await service.post('/oauth2/token', { ...GRANT, ...(await fields()) }, basic(secretClient, SECRET));
    expect(both).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  test('with an unknown client, a wrong key or an invalid JWT gets the same response', async () => {
    const wrong = await newClientKey('one');
    const responses = [
      await ask({ clientId: unusedId() }),
      await ask({ key: wrong.privateKey }),
      await service.post('/oauth2/token', { ...GRANT, ...(await fields()), client_assertion: 'a.b.c' }),
    ];
    for (const response of responses) expect(response).toMatchObject({ status: 401, body: responses[0]?.body });
  });
});

describe("a client's authentication method (R-15, R-16)", () => {
  test('restricts keys to clients with private_key_jwt', async () => {
    const jwks = { keys: [key.publicJwk] };
    for (const token_endpoint_auth_method of [
      'client_secret_basic',
      'client_secret_post',
      'client_secret_jwt',
      'none',
    ]) {
      const secret = token_endpoint_auth_method === 'none' ? {} : { secret: SECRET };
      const clientId = await service.client({ ...secret, metadata: { token_endpoint_auth_method, jwks } });
      expect(await ask({ clientId })).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
      const signed = await ask({ clientId, key: SECRET });
      expect(signed.status).toBe(token_endpoint_auth_method === 'client_secret_jwt' ? 200 : 401);
    }
  });

  test('forbids sending a signing secret, and requires assertions from a client with a key', async () => {
    for (const clientId of [secretClient, keyClient]) {
      for (const secret of [SECRET, '']) {
        expect((await service.post('/oauth2/token', GRANT, basic(clientId, secret))).status).toBe(401);
        const form = { ...GRANT, client_id: clientId, client_secret: secret };
        expect((await service.post('/oauth2/token', form)).status).toBe(401);
      }
      expect((await service.post('/oauth2/token', { ...GRANT, client_id: clientId })).status).toBe(401);
    }
  });

  test('has exactly the registered algorithm, if any', async () => {
    const [es, rs] = [key, await newClientKey('two', 'RS256')];
    const jwks = { keys: [es.publicJwk, rs.publicJwk] };
    const clientId = await clientWith({ jwks, token_endpoint_auth_signing_alg: 'ES256' });
    expect((await ask({ clientId })).status).toBe(200);
    expect((await ask({ clientId, key: rs.privateKey, alg: 'RS256' })).status).toBe(401);
    const metadata = { token_endpoint_auth_method: 'client_secret_jwt', token_endpoint_auth_signing_alg: 'HS512' };
    const strict = await service.client({ secret: SECRET, metadata });
    expect((await ask({ clientId: strict, key: SECRET, alg: 'HS512' })).status).toBe(200);
    expect((await ask({ clientId: strict, key: SECRET, alg: 'HS256' })).status).toBe(401);
  });

  test('is unaffected by strict_auth_method for assertions', async () => {
    const clientId = await clientWith({ jwks: { keys: [key.publicJwk] }, strict_auth_method: true });
    expect((await ask({ clientId })).status).toBe(200);
  });
});

test('assertions take no round trip: code, introspection, refresh, revocation', async () => {
  const verified = async () => await fields();
  const { code } = await service.signIn(keyClient);
  const form = { grant_type: 'authorization_code', code, redirect_uri: 'https://app.example.org/callback' };
  const first = await service.post('/oauth2/token', { ...form, ...(await verified()) });
  expect(first.status).toBe(200);
  expect(service.lastRequest().queries).toBe(2);
  const token = member(first, 'access_token');
  await service.introspect(token);
  const introspected = await service.post('/oauth2/introspect', { token, ...(await verified()) });
  expect(introspected.body).toMatchObject({ active: true });
  expect(service.lastRequest().queries).toBe(1);

  const refresh = { grant_type: 'refresh_token', refresh_token: member(first, 'refresh_token') };
  const once = await verified();
  const second = await service.post('/oauth2/token', { ...refresh, ...once });
  expect(second.status).toBe(200);
  expect(service.lastRequest().queries).toBe(2);
  // The new token is in use, so the old one would end the session if the assertion were accepted a second time.
  await service.introspect(member(second, 'access_token'));
  service.clock.advanceSeconds(31);
  expect((await service.post('/oauth2/token', { ...refresh, ...once })).status).toBe(401);
  const alive = await service.introspect(member(second, 'access_token'));
  expect(alive.body).toMatchObject({ active: true });

  const revoked = { token: member(second, 'refresh_token'), ...(await verified()) };
  expect((await service.post('/oauth2/revoke', revoked)).status).toBe(200);
  expect(service.lastRequest().queries).toBeLessThanOrEqual(2);
});

describe('a replayed assertion (S-33)', () => {
  test('is rejected at once, on another instance, and until it expires', async () => {
    const once = { ...GRANT, ...(await fields()) };
    await other.clients.find(keyClient);
    expect((await service.post('/oauth2/token', once)).status).toBe(200);
    for (const at of [service, other]) {
      const response = await at.post('/oauth2/token', once);
      expect(response).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
      expect(response.body['error_description']).toBe('The client assertion was already used.');
      expect(at.lastRequest()).toMatchObject({ queries: 1, requester: undefined });
    }
    service.clock.advanceSeconds(119);
    expect((await other.post('/oauth2/token', once)).status).toBe(401);
    service.clock.advanceSeconds(1);
    const late = await service.post('/oauth2/token', once);
    expect(late.body['error_description']).toContain('expired');
  });

  test('is rejected even if its first request failed for another reason', async () => {
    const once = await fields();
    expect((await service.post('/oauth2/token', { grant_type: 'nonsense', ...once })).status).toBe(400);
    expect((await service.post('/oauth2/token', { ...GRANT, ...once })).status).toBe(401);
  });

  test('is distinguished from one of another client with the same jti', async () => {
    const claims = { jti: 'the same for both' };
    expect((await ask({ claims })).status).toBe(200);
    expect((await ask({ claims, clientId: secretClient, key: SECRET })).status).toBe(200);
    expect((await ask({ claims })).status).toBe(401);
  });

  test('with a forged signature consumes nothing', async () => {
    const claims = { jti: 'known to a stranger' };
    const stranger = await newClientKey('one');
    expect((await ask({ claims, key: stranger.privateKey })).status).toBe(401);
    expect((await ask({ claims, key: SECRET, alg: 'HS256' })).status).toBe(401);
    expect((await ask({ claims })).status).toBe(200);
  });

  test('is accepted once in 200 races of four requests on two instances', { timeout: 120_000 }, async () => {
    for (let round = 0; round < 200; round += 1) {
      const once = { ...GRANT, ...(await fields({ clientId: secretClient, key: SECRET })) };
      const responses = await Promise.all(
        Array.from({ length: 4 }, (_, index) => (index % 2 === 0 ? service : other).post('/oauth2/token', once)),
      );
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    }
  });

  test('is not consumed twice by one request that finds its client changed', async () => {
    await sql(db.database, 'update oauth2_clients set version = version + 1');
    expect((await ask()).status).toBe(200);
    expect(service.lastRequest().queries).toBe(3);
  });
});

describe('failed assertions', () => {
  test('are counted per client and address like wrong secrets, except those with a valid signature', async () => {
    const limited = await startOAuthService(db.database, {
      clock: service.clock,
      limiter: { burst: 3, perSecond: 1 / 60 },
    });
    try {
      const stranger = await newClientKey('one');
      const clientId = await clientWith({ jwks: { keys: [key.publicJwk] } });
      for (let index = 0; index < 5; index += 1) {
        const late = await fields({ clientId, claims: { exp: seconds() - 3600 } });
        expect((await limited.post('/oauth2/token', { ...GRANT, ...late })).status).toBe(401);
      }
      expect((await limited.post('/oauth2/token', { ...GRANT, ...(await fields({ clientId })) })).status).toBe(200);
      for (let index = 0; index < 3; index += 1) {
        const forged = await fields({ clientId, key: stranger.privateKey });
        expect((await limited.post('/oauth2/token', { ...GRANT, ...forged })).status).toBe(401);
      }
      const shut = await limited.post('/oauth2/token', { ...GRANT, ...(await fields({ clientId })) });
      expect(shut).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } });
      expect(limited.lastRequest().queries).toBe(0);
    } finally {
      await limited.close();
    }
  });

  test('are logged with the reason and without the assertion', async () => {
    const form = await fields({ claims: { exp: seconds() - 3600 } });
    await service.post('/oauth2/token', { ...GRANT, ...form });
    const line = service.logged('auth.refused').at(-1);
    expect(line?.fields).toMatchObject({
      code: 'bad_client_assertion',
      client: keyClient,
      method: 'assertion',
      registered: 'private_key_jwt',
      problem: 'The client assertion has expired.',
    });
    for (const written of service.lines) {
      for (const part of form['client_assertion']?.split('.') ?? []) expect(written).not.toContain(part);
    }
  });
});
