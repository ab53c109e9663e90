import { createLocalJWKSet, jwtVerify } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { newId, toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import {
  basic,
  CLIENT_SECRET,
  type MachineResponse,
  member,
  type SignedIn,
  startOAuthService,
  TEST_ISSUER,
} from '#test/support/oauth-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ClientId } from '#vocabulary/ids.ts';

const REALM = 'Bearer realm="https://auth.example.test/"';
let client: ClientId;

const db = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startOAuthService(db.database));

beforeAll(async () => {
  client = await service.client();
});

async function signedIn(scope: readonly string[]): Promise<SignedIn & { accessToken: string; refreshToken: string }> {
  const user = await service.signIn(client, { scope, user: { displayName: 'Ada Lovelace' } });
  const response = await service.exchange(client, user.code);
  return { ...user, accessToken: member(response, 'access_token'), refreshToken: member(response, 'refresh_token') };
}

async function get(accessToken: string, path = '/oauth2/userinfo'): Promise<MachineResponse> {
  return await service.request(path, { headers: { authorization: `Bearer ${accessToken}` } });
}

describe('userinfo', () => {
  test('openid alone shows the subject and the username, in one statement', async () => {
    const { accessToken, userId } = await signedIn(['openid']);
    const response = await get(accessToken);
    const username = `user-${userId.toLowerCase()}`;
    expect(response).toMatchObject({ status: 200, body: { sub: userId, username } });
    expect(Object.keys(response.body)).toHaveLength(2);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(service.lastRequest()).toMatchObject({ queries: 1, requester: `user:${userId}(${username})` });
  });

  test('profile adds the names, email the oldest address (OpenID Connect Core 5.4)', async () => {
    const { accessToken, userId } = await signedIn(['openid', 'profile', 'email']);
    const responseWithout = await get(accessToken);
    expect(responseWithout.body).not.toHaveProperty('email');
    for (const [address, age] of [
      ['new@example.org', 1],
      ['old@example.org', 2],
    ] as const) {
      await sql(
        db.database,
        `insert into user_emails (id, user_id, email, email_key, created_at)
         values ($1::uuid, $2::uuid, $3::text, $3::text, $4::timestamptz)`,
        [toUuid(newId(0)), toUuid(userId), address, new Date(service.clock.now() - age * 1000)],
      );
    }
    expect((await get(accessToken)).body).toEqual({
      sub: userId,
      username: `user-${userId.toLowerCase()}`,
      preferred_username: `user-${userId.toLowerCase()}`,
      name: 'Ada Lovelace',
      updated_at: Math.floor(service.clock.now() / 1000),
      email: 'old@example.org',
      email_verified: true,
    });
  });

  test('an administrator overrides what the user entered, and no other claim', async () => {
    const { accessToken, userId } = await signedIn(['openid', 'profile']);
    await sql(
      db.database,
      `update users set given_name = 'Ada', family_name = 'Lovelace', time_zone = 'Europe/London',
         claims = '{"given_name": "Augusta", "department": "Engines"}'
        where id = $1::uuid`,
      [toUuid(userId)],
    );
    expect((await get(accessToken)).body).toMatchObject({
      name: 'Ada Lovelace',
      given_name: 'Augusta',
      family_name: 'Lovelace',
      zoneinfo: 'Europe/London',
      department: 'Engines',
    });
  });

  test('a POST with the token in the form works like a GET (OpenID Connect Core 5.3.1)', async () => {
    const { accessToken, userId } = await signedIn(['openid']);
    expect(await service.post('/oauth2/userinfo', { access_token: accessToken })).toMatchObject({
      status: 200,
      body: { sub: userId },
    });
    expect(await service.post('/oauth2/userinfo', {}, `Bearer ${accessToken}`)).toMatchObject({ status: 200 });
  });

  test.each([
    ['no body and no content type', undefined, undefined],
    ['an empty form', 'application/x-www-form-urlencoded', ''],
    ['JSON', 'application/json', '{"a": 1}'],
    ['an empty JSON body', 'application/json', ''],
    ['plain text', 'text/plain;charset=UTF-8', 'hello'],
    ['a form that cannot be decoded', 'application/x-www-form-urlencoded', '{"a": "100%"}'],
    ['a form of unknown fields', 'application/x-www-form-urlencoded', 'schema=openid&schema=openid'],
  ])('a POST with the token in the header may have %s (OpenID Connect Core 5.3.1)', async (_, type, body) => {
    const { accessToken, userId } = await signedIn(['openid']);
    const response = await service.request('/oauth2/userinfo', {
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}`, ...(type === undefined ? {} : { 'content-type': type }) },
      ...(body === undefined ? {} : { body }),
    });
    expect(response).toMatchObject({ status: 200, body: { sub: userId } });
  });

  test('a client that registered an algorithm gets the same claims as a JWT, in one statement (Core 5.3.2)', async () => {
    const signed = await service.client({
      secret: CLIENT_SECRET,
      metadata: { userinfo_signed_response_alg: 'RS256' },
    });
    const user = await service.signIn(signed, { scope: ['openid'] });
    const token = member(await service.exchange(signed, user.code), 'access_token');
    const response = await fetch(`${service.address}/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.headers.get('content-type')).toBe('application/jwt');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(service.lastRequest()).toMatchObject({ queries: 1 });
    const keys = createLocalJWKSet({ keys: [...service.publicJwks.keys] });
    const { payload } = await jwtVerify(await response.text(), keys);
    expect(payload).toEqual({
      sub: user.userId,
      username: `user-${user.userId.toLowerCase()}`,
      iss: TEST_ISSUER,
      aud: signed,
      iat: Math.floor(service.clock.now() / 1000),
    });
    expect(await get(`${token}x`)).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
  });

  test('an algorithm without a signing key is a server error, and nothing is returned unsigned', async () => {
    const odd = await service.client({ secret: CLIENT_SECRET, metadata: { userinfo_signed_response_alg: 'ES256' } });
    const { code, userId } = await service.signIn(odd, { scope: ['openid'] });
    const response = await get(member(await service.exchange(odd, code), 'access_token'));
    expect(response).toMatchObject({ status: 500, body: { error: 'server_error' } });
    expect(response.text).not.toContain(userId);
  });

  test('a POST with the token in header and form is rejected (RFC 6750 2)', async () => {
    const { accessToken } = await signedIn(['openid']);
    const form = { access_token: accessToken };
    expect(await service.post('/oauth2/userinfo', form, `Bearer ${accessToken}`)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
  });

  test('the first use is recorded, so that later reuse of the refresh token is detected', async () => {
    const user = await signedIn(['openid']);
    const next = await service.refresh(client, user.refreshToken);
    await get(member(next, 'access_token'));
    const [row] = await sql<{ used: boolean }>(
      db.database,
      'select first_used_at is not null as used from oauth2_access_tokens where token_hash = $1::bytea',
      [sha256(member(next, 'access_token'))],
    );
    expect(row).toEqual({ used: true });
    service.clock.advanceSeconds(31);
    expect((await service.refresh(client, user.refreshToken)).status).toBe(400);
    expect((await get(member(next, 'access_token'))).status).toBe(401);
  });

  test('twenty concurrent first uses all succeed', async () => {
    const { accessToken } = await signedIn(['openid']);
    const responses = await Promise.all(Array.from({ length: 20 }, () => get(accessToken)));
    expect(responses.every((response) => response.status === 200)).toBe(true);
  });

  test('no token: 401 without an error code (RFC 6750 3.1)', async () => {
    const response = await service.request('/oauth2/userinfo', {});
    expect(response).toMatchObject({ status: 401, text: '' });
    expect(response.headers.get('www-authenticate')).toMatch(new RegExp(`^${REALM}, DPoP algs="RS256 `));
  });

  test('a token in the query is not accepted, and rejected next to the header (RFC 9700 4.3.2)', async () => {
    const { accessToken } = await signedIn(['openid']);
    const path = `/oauth2/userinfo?access_token=${accessToken}`;
    expect((await service.request(path, {})).status).toBe(401);
    expect(await get(accessToken, path)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(service.lines.join('\n')).not.toContain(accessToken);
  });

  test('a token in the header and in the form is invalid_request, as is a malformed header', async () => {
    const { accessToken } = await signedIn(['openid']);
    expect(
      await service.post('/oauth2/userinfo', { access_token: accessToken }, `Bearer ${accessToken}`),
    ).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
    expect(await service.request('/oauth2/userinfo', { headers: { authorization: 'Bearer a b' } })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
  });

  test('a token without openid is insufficient_scope, names the scope, and does not count as used', async () => {
    const { accessToken } = await signedIn(['urn:chat:client:api:*']);
    const response = await get(accessToken);
    expect(response).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } });
    expect(response.headers.get('www-authenticate')).toContain('scope="openid"');
    const [row] = await sql<{ used: boolean }>(
      db.database,
      'select first_used_at is not null as used from oauth2_access_tokens where token_hash = $1::bytea',
      [sha256(accessToken)],
    );
    expect(row).toEqual({ used: false });
  });

  test.each<[string, (user: SignedIn & { accessToken: string; refreshToken: string }) => Promise<string>]>([
    ['malformed', async () => 'abc'],
    ['unknown', async () => 'mat_0123456789ABCDEFGHIJabcdefghij_0WADMv'],
    ['a refresh token', async (user) => user.refreshToken],
    [
      'a client’s own, without a user',
      async () => {
        const form = { grant_type: 'client_credentials', scope: 'openid' };
        return member(await service.post('/oauth2/token', form, basic(client, CLIENT_SECRET)), 'access_token');
      },
    ],
    [
      'expired',
      async (user) => {
        service.clock.advanceSeconds(300);
        return user.accessToken;
      },
    ],
    [
      'of a revoked session',
      async (user) => {
        await service.post('/oauth2/revoke', { token: user.accessToken }, basic(client, CLIENT_SECRET));
        return user.accessToken;
      },
    ],
    [
      'of a locked user',
      async (user) => {
        await sql(db.database, 'update users set locked_at = now() where id = $1::uuid', [toUuid(user.userId)]);
        return user.accessToken;
      },
    ],
  ])('a token that is %s is invalid_token, without a requester in the log', async (_, tokenOf) => {
    const token = await tokenOf(await signedIn(['openid']));
    const response = await get(token);
    expect(response).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
    expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"');
    expect(service.lastRequest().requester).toBeUndefined();
  });

  test('a token is invalid once its session exceeds a lifetime configured later', async () => {
    const { accessToken, userId } = await signedIn(['openid']);
    const limited = await startOAuthService(db.database, {
      settings: { sessionMaxLifetimeSeconds: 3600 },
      clock: service.clock,
    });
    const createdAgo = (seconds: number) =>
      sql(db.database, 'update oauth2_sessions set created_at = $2::timestamptz where user_id = $1::uuid', [
        toUuid(userId),
        new Date(service.clock.now() - seconds * 1000),
      ]);
    const ask = () => limited.request('/oauth2/userinfo', { headers: { authorization: `Bearer ${accessToken}` } });
    await createdAgo(3599);
    expect(await ask()).toMatchObject({ status: 200 });
    await createdAgo(3600);
    expect(await ask()).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
    await limited.close();
  });
});
