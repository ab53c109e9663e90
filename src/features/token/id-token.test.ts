import { createLocalJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { newId, toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import {
  CLIENT_SECRET,
  type MachineResponse,
  member,
  type SignedIn,
  startOAuthService,
  TEST_ISSUER,
} from '#test/support/oauth-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ClientId, UserId } from '#vocabulary/ids.ts';

let client: ClientId;

const db = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startOAuthService(db.database));

beforeAll(async () => {
  client = await service.client();
});

const PROFILE = [
  ...['preferred_username', 'name', 'given_name', 'family_name', 'zoneinfo', 'locale', 'updated_at'],
  ...['email', 'email_verified'],
];

async function addEmail(userId: UserId): Promise<void> {
  await sql(
    db.database,
    `insert into user_emails (id, user_id, email, email_key, created_at)
     values ($1::uuid, $2::uuid, $3::text, $3::text, $4::timestamptz)`,
    [toUuid(newId(0)), toUuid(userId), `${userId.toLowerCase()}@example.org`, new Date(service.clock.now())],
  );
}

async function newUser(scope: readonly string[], of: ClientId = client): Promise<SignedIn> {
  const signedIn = await service.signIn(of, { scope, nonce: 'a nonce', user: { displayName: 'Ada Lovelace' } });
  await addEmail(signedIn.userId);
  await sql(
    db.database,
    `update users set locale = 'de', given_name = 'Ada', family_name = 'Lovelace', time_zone = 'Europe/London'
      where id = $1::uuid`,
    [toUuid(signedIn.userId)],
  );
  return signedIn;
}

/** Returns the verified claims of the response's ID token. */
async function claimsOf(response: MachineResponse, audience: ClientId = client): Promise<JWTPayload> {
  const { payload } = await jwtVerify(
    member(response, 'id_token'),
    createLocalJWKSet({ keys: [...service.publicJwks.keys] }),
    { issuer: TEST_ISSUER, audience, currentDate: new Date(service.clock.now()) },
  );
  return payload;
}

async function userinfo(response: MachineResponse): Promise<MachineResponse['body']> {
  const headers = { authorization: `Bearer ${member(response, 'access_token')}` };
  return (await service.request('/oauth2/userinfo', { headers })).body;
}

describe('ID token: claims of the granted scopes (OpenID Connect Core 5.4)', () => {
  test('profile and email return the same as userinfo, without a further statement', async () => {
    const { code, userId } = await newUser(['openid', 'profile', 'email']);
    const response = await service.exchange(client, code);
    expect(service.lastRequest().queries).toBe(2);
    const claims = await claimsOf(response);
    expect(claims).toMatchObject({
      sub: userId,
      preferred_username: `user-${userId.toLowerCase()}`,
      name: 'Ada Lovelace',
      given_name: 'Ada',
      family_name: 'Lovelace',
      zoneinfo: 'Europe/London',
      locale: 'de',
      email: `${userId.toLowerCase()}@example.org`,
      email_verified: true,
    });
    const { body } = await service.request('/oauth2/userinfo', {
      headers: { authorization: `Bearer ${member(response, 'access_token')}` },
    });
    const { username, ...shown } = body;
    expect(username).toBe(shown['preferred_username']);
    expect(claims).toMatchObject(shown);
  });

  test.each([
    [['openid'], []],
    [
      ['openid', 'profile'],
      ['preferred_username', 'name', 'given_name', 'family_name', 'zoneinfo', 'locale', 'updated_at'],
    ],
    [
      ['openid', 'email'],
      ['email', 'email_verified'],
    ],
  ])('the scope %j returns only its own claims', async (scope, expected) => {
    const { code } = await newUser(scope);
    const claims = await claimsOf(await service.exchange(client, code));
    expect(PROFILE.filter((name) => name in claims)).toEqual(expected);
  });

  test('unknown claims are omitted, and the username serves as the name', async () => {
    const { code } = await service.signIn(client, { scope: ['openid', 'profile', 'email'] });
    const claims = await claimsOf(await service.exchange(client, code));
    expect(PROFILE.filter((name) => name in claims)).toEqual(['preferred_username', 'name', 'updated_at']);
  });

  test('individually requested claims are where they were requested, also after a refresh (Core 5.5)', async () => {
    const slim = await service.client({ secret: CLIENT_SECRET, metadata: { id_token_claims: false } });
    for (const of of [client, slim]) {
      const claims = { id_token: ['email', 'name'], userinfo: ['email_verified', 'locale'] };
      const { code, userId } = await service.signIn(of, { claims, user: { displayName: 'Ada Lovelace' } });
      await addEmail(userId);
      await sql(db.database, `update users set locale = 'de' where id = $1::uuid`, [toUuid(userId)]);
      const response = await service.exchange(of, code);
      expect(service.lastRequest().queries).toBe(2);
      const inToken = await claimsOf(response, of);
      expect(PROFILE.filter((name) => name in inToken)).toEqual(['name', 'email']);
      const shown = { sub: userId, username: expect.any(String), email_verified: true, locale: 'de' };
      expect(await userinfo(response)).toEqual(shown);
      const refreshed = await service.refresh(of, member(response, 'refresh_token'));
      expect(await userinfo(refreshed)).toEqual(shown);
      const renewed = await claimsOf(refreshed, of);
      expect(PROFILE.filter((name) => name in renewed)).toEqual(['name', 'email']);
    }
  });

  test('id_token_claims: false moves them to userinfo', async () => {
    const slim = await service.client({ secret: CLIENT_SECRET, metadata: { id_token_claims: false } });
    const { code } = await newUser(['openid', 'profile', 'email'], slim);
    const claims = await claimsOf(await service.exchange(slim, code), slim);
    expect(PROFILE.filter((name) => name in claims)).toEqual([]);
  });
});

describe('updated_at (OpenID Connect Core 5.1)', () => {
  test('is the creation time of the account, until a profile claim changes', async () => {
    const { code, userId } = await service.signIn(client, { scope: ['openid', 'profile'] });
    const response = await service.exchange(client, code);
    const made = Math.floor(service.clock.now() / 1000);
    expect(await userinfo(response)).toMatchObject({ updated_at: made });
    expect(await claimsOf(response)).toMatchObject({ updated_at: made });
    const user = [toUuid(userId)];
    await sql(db.database, 'update users set can_request_admin = true, locale = locale where id = $1::uuid', user);
    expect(await userinfo(response)).toMatchObject({ updated_at: made });
    for (const change of [`display_name = 'Ada'`, `locale = 'fr'`, `username = 'ada-' || username`]) {
      await sql(db.database, `update users set updated_at = null where id = $1::uuid`, user);
      await sql(db.database, `update users set ${change} where id = $1::uuid`, user);
      const [row] = await sql<{ now: number }>(
        db.database,
        'select floor(extract(epoch from updated_at))::float8 as now from users where id = $1::uuid and updated_at is not null',
        user,
      );
      expect(await userinfo(response), change).toMatchObject({ updated_at: row?.now ?? 'a time' });
    }
  });
});

describe('ID token on refresh (OpenID Connect Core 12.2)', () => {
  test('repeats the sign-in claims of the first one, without nonce, in the two statements of every refresh', async () => {
    const { code, userId } = await newUser(['openid', 'profile', 'email']);
    const first = await service.exchange(client, code);
    const former = await claimsOf(first);
    service.clock.advanceSeconds(30);
    await sql(db.database, `update users set display_name = 'Countess' where id = $1::uuid`, [toUuid(userId)]);
    const response = await service.refresh(client, member(first, 'refresh_token'));
    expect(service.lastRequest().queries).toBe(2);
    const claims = await claimsOf(response);
    for (const name of ['iss', 'sub', 'aud', 'auth_time', 'acr', 'amr', 'sid', 'email', 'preferred_username']) {
      expect(claims[name], name).toEqual(former[name]);
      expect(claims[name], name).toBeDefined();
    }
    expect(claims).toMatchObject({ iat: Math.floor(service.clock.now() / 1000), name: 'Countess' });
    expect(claims).not.toHaveProperty('nonce');
    expect(claims).not.toHaveProperty('c_hash');
    expect(claims['at_hash']).toBe(sha256(member(response, 'access_token')).subarray(0, 16).toString('base64url'));
  });

  test('is also in a repeated response that was lost', async () => {
    const { code } = await newUser(['openid']);
    const first = await service.exchange(client, code);
    await service.refresh(client, member(first, 'refresh_token'));
    const repeated = await service.refresh(client, member(first, 'refresh_token'));
    expect((await claimsOf(repeated)).sub).toBe((await claimsOf(first)).sub);
  });

  test.each([
    ['openid was not granted', ['profile'], undefined],
    ['the refresh narrows it away', ['openid', 'profile'], 'profile'],
    ['the session is that of a chat client', ['openid', 'urn:chat:client:api:*'], undefined],
    [
      'the session is that of a chat client, although the refresh narrows that away',
      ['openid', 'urn:chat:client:api:*'],
      'openid',
    ],
  ])('is omitted when %s', async (_, scope, requested) => {
    const { code } = await newUser(scope);
    const first = await service.exchange(client, code);
    const fields: Record<string, string> = requested === undefined ? {} : { scope: requested };
    const response = await service.refresh(client, member(first, 'refresh_token'), fields);
    expect(response.status).toBe(200);
    expect(response.body).not.toHaveProperty('id_token');
  });
});
