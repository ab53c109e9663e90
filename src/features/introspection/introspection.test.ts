import { beforeAll, describe, expect, test } from 'vitest';
import { toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import {
  basic,
  CLIENT_SECRET,
  HOMESERVER_SECRET,
  type MachineResponse,
  member,
  type SignedIn,
  startOAuthService,
  TEST_ISSUER,
} from '#test/support/oauth-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ClientId } from '#vocabulary/ids.ts';

const SCOPE = [
  'openid',
  'urn:chat:org.chat.msc2967.client:api:*',
  'urn:chat:org.chat.msc2967.client:device:ABCDEFGHIJ',
];
let client: ClientId;

const db = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startOAuthService(db.database));

beforeAll(async () => {
  client = await service.client();
});

async function signedIn(
  owner: ClientId = client,
  scope: readonly string[] = SCOPE,
): Promise<SignedIn & { accessToken: string; refreshToken: string }> {
  const user = await service.signIn(owner, { scope });
  const response = await service.exchange(owner, user.code);
  return { ...user, accessToken: member(response, 'access_token'), refreshToken: member(response, 'refresh_token') };
}

async function ask(by: ClientId, token: string, through = service): Promise<MachineResponse> {
  return await through.post('/oauth2/introspect', { token }, basic(by, CLIENT_SECRET));
}

describe('introspection: the response', () => {
  test('describes an access token completely, with both spellings of its chat scopes and integer times', async () => {
    const { accessToken, userId } = await signedIn();
    service.clock.advanceSeconds(10);
    const response = await service.introspect(accessToken);
    const now = Math.floor(service.clock.now() / 1000);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.body).toEqual({
      active: true,
      scope: [
        'openid',
        'urn:chat:org.chat.msc2967.client:api:*',
        'urn:chat:client:api:*',
        'urn:chat:org.chat.msc2967.client:device:ABCDEFGHIJ',
        'urn:chat:client:device:ABCDEFGHIJ',
      ].join(' '),
      client_id: client,
      username: `user-${userId.toLowerCase()}`,
      sub: userId,
      token_type: 'Bearer',
      aud: [client],
      iat: now - 10,
      nbf: now - 10,
      exp: now + 290,
      expires_in: 290,
      jti: expect.stringMatching(/^[0-9A-Z]{26}$/),
      iss: TEST_ISSUER,
      device_id: 'ABCDEFGHIJ',
      auth_time: now - 10,
      acr: 'urn:latchkey:acr:1',
    });
  });

  test('shows the session of a refresh token, and no expiry', async () => {
    const { refreshToken, userId } = await signedIn();
    const response = await service.introspect(refreshToken);
    expect(response.body).toMatchObject({
      active: true,
      token_type: 'refresh_token',
      sub: userId,
      device_id: 'ABCDEFGHIJ',
    });
    for (const absent of ['exp', 'expires_in', 'auth_time', 'acr', 'aud'])
      expect(response.body).not.toHaveProperty(absent);
  });

  test('has no device for a token narrowed to a scope without it', async () => {
    const { refreshToken } = await signedIn();
    const narrowed = await service.refresh(client, refreshToken, { scope: 'openid' });
    const response = await service.introspect(member(narrowed, 'access_token'));
    expect(response.body).toMatchObject({ active: true, scope: 'openid' });
    expect(response.body).not.toHaveProperty('device_id');
    const whole = await service.introspect(member(narrowed, 'refresh_token'));
    expect(whole.body['device_id']).toBe('ABCDEFGHIJ');
  });

  test('has the resources of an access token as its audience, otherwise its client (RFC 7662 2.2)', async () => {
    const { accessToken } = await signedIn();
    expect((await service.introspect(accessToken)).body['aud']).toEqual([client]);
    const resources = ['https://api.example.org/', 'https://files.example.org/'];
    await sql(db.database, 'update oauth2_access_tokens set resources = $2::text[] where token_hash = $1::bytea', [
      sha256(accessToken),
      resources,
    ]);
    expect((await service.introspect(accessToken)).body['aud']).toEqual(resources);
  });

  test("has the client as the subject of a client's own token (RFC 7662 2.2)", async () => {
    const form = { grant_type: 'client_credentials' };
    const issued = await service.post('/oauth2/token', form, basic(client, CLIENT_SECRET));
    const { body } = await service.introspect(member(issued, 'access_token'));
    expect(body).toMatchObject({ active: true, token_type: 'Bearer', sub: client, client_id: client, aud: [client] });
    expect(body).not.toHaveProperty('username');
  });

  test('takes two statements for the first use, one for later ones, none for a malformed token', async () => {
    const { accessToken } = await signedIn();
    await service.introspect(accessToken);
    expect(service.lastRequest()).toMatchObject({ queries: 2, requester: 'homeserver' });
    await service.introspect(accessToken);
    expect(service.lastRequest().queries).toBe(1);
    await ask(client, accessToken);
    expect(service.lastRequest()).toMatchObject({ queries: 1, requester: `oauth2-client:${client}` });
    await service.introspect(`${accessToken}x`);
    expect(service.lastRequest().queries).toBe(0);
  });
});

describe('introspection: inactive', () => {
  const inactive = async (token: string, fields: Readonly<Record<string, string>> = {}): Promise<void> => {
    const response = await service.introspect(token, fields);
    expect(response.status).toBe(200);
    expect(response.text).toBe('{"active":false}');
    expect((await ask(client, token)).text).toBe(
      Object.keys(fields).length === 0 ? '{"active":false}' : expect.any(String),
    );
  };

  test.each([
    ['random text', 'abc'],
    ['a well-formed unknown token', 'mat_0123456789ABCDEFGHIJabcdefghij_0WADMv'],
    ['a compatibility token', 'mct_2KBKosbvwJFL6Ydbpc5FE1pFP4HZt4_0zXy8M'],
    ['10,000 characters', 'x'.repeat(10_000)],
  ])('%s', async (_, token) => await inactive(token));

  test('an expired access token', async () => {
    const { accessToken } = await signedIn();
    service.clock.advanceSeconds(300);
    await inactive(accessToken);
  });

  test('an access token replaced by a refresh, and the consumed refresh token', async () => {
    const { accessToken, refreshToken } = await signedIn();
    await service.refresh(client, refreshToken);
    await inactive(accessToken);
    await inactive(refreshToken);
  });

  test('both tokens of a session that was revoked', async () => {
    const { accessToken, refreshToken } = await signedIn();
    await service.post('/oauth2/revoke', { token: accessToken }, basic(client, CLIENT_SECRET));
    await inactive(accessToken);
    await inactive(refreshToken);
  });

  test.each(['locked_at', 'deactivated_at'])('both tokens of a user with %s, while it lasts', async (column) => {
    const { accessToken, refreshToken, userId } = await signedIn();
    await sql(db.database, `update users set ${column} = now() where id = $1::uuid`, [toUuid(userId)]);
    await inactive(accessToken);
    await inactive(refreshToken);
    await sql(db.database, `update users set ${column} = null where id = $1::uuid`, [toUuid(userId)]);
    expect((await service.introspect(accessToken)).body).toMatchObject({ active: true });
  });

  test('the tokens of a disabled or deleted client', async () => {
    const deleted = await service.client();
    const { accessToken } = await signedIn(deleted);
    await sql(db.database, 'update oauth2_clients set disabled_at = now() where id = $1::uuid', [toUuid(deleted)]);
    await inactive(accessToken);
    await sql(db.database, 'delete from oauth2_clients where id = $1::uuid', [toUuid(deleted)]);
    await inactive(accessToken);
  });

  test('a token whose type a hint contradicts; unknown hints are ignored', async () => {
    const { accessToken, refreshToken } = await signedIn();
    expect((await service.introspect(accessToken, { token_type_hint: 'refresh_token' })).text).toBe('{"active":false}');
    expect((await service.introspect(refreshToken, { token_type_hint: 'access_token' })).text).toBe('{"active":false}');
    expect((await service.introspect(accessToken, { token_type_hint: 'nonsense' })).body).toMatchObject({
      active: true,
    });
  });

  test('a token with a trailing space or in lower case (S-45)', async () => {
    const { accessToken } = await signedIn();
    await inactive(`${accessToken} `);
    await inactive(accessToken.toLowerCase());
  });

  test('a refresh token of a session that exceeded its maximum age', async () => {
    const aged = await startOAuthService(db.database, {
      settings: { sessionMaxLifetimeSeconds: 3600 },
      clock: service.clock,
    });
    const { refreshToken } = await signedIn();
    service.clock.advanceSeconds(3599);
    expect((await aged.introspect(refreshToken)).body).toMatchObject({ active: true });
    service.clock.advanceSeconds(1);
    expect((await aged.introspect(refreshToken)).body).toEqual({ active: false });
    await aged.close();
  });
});

describe('introspection: callers', () => {
  test.each([
    ['another secret', 'Bearer another secret that is not right'],
    ['a secret of other length', 'Bearer x'],
    ['an empty secret', 'Bearer '],
  ])('%s is rejected as access_denied, without a requester in the log', async (_, authorization) => {
    const { accessToken } = await signedIn();
    const response = await service.post('/oauth2/introspect', { token: accessToken }, authorization);
    expect(response).toMatchObject({ status: 401, body: { error: 'access_denied' } });
    expect(response.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    expect(service.lastRequest()).toMatchObject({ queries: 0, requester: undefined });
  });

  test("a user's own access token does not work as a bearer secret", async () => {
    const { accessToken } = await signedIn();
    const response = await service.post('/oauth2/introspect', { token: accessToken }, `Bearer ${accessToken}`);
    expect(response).toMatchObject({ status: 401, body: { error: 'access_denied' } });
  });

  test('without credentials or with wrong ones get invalid_client, public clients access_denied', async () => {
    const { accessToken } = await signedIn();
    expect(await service.post('/oauth2/introspect', { token: accessToken })).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    });
    expect(await service.post('/oauth2/introspect', { token: accessToken }, basic(client, 'wrong'))).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    });
    const open = await service.client({});
    expect(await service.post('/oauth2/introspect', { token: accessToken, client_id: open })).toMatchObject({
      status: 401,
      body: { error: 'access_denied' },
    });
  });

  test('without a token get invalid_request', async () => {
    const response = await service.post('/oauth2/introspect', {}, `Bearer ${HOMESERVER_SECRET}`);
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  test.each([
    ['static', true, true],
    ['static', false, false],
    ['confidential', false, true],
    ['own', true, false],
  ] as const)(
    'with callers %s, a client with is_static %s sees tokens of others: %s',
    async (callers, isStatic, sees) => {
      const requested = await startOAuthService(db.database, { callers, clock: service.clock });
      const caller = await requested.client({ secret: CLIENT_SECRET, isStatic });
      const { accessToken } = await signedIn();
      expect((await ask(caller, accessToken, requested)).body).toMatchObject({ active: sees });
      const own = await signedIn(caller);
      expect((await ask(caller, own.accessToken, requested)).body).toMatchObject({ active: true });
      await requested.close();
    },
  );

  test('do not use up a token that the response hides from them', async () => {
    const stranger = await service.client({ secret: CLIENT_SECRET, isStatic: false });
    const { accessToken } = await signedIn();
    expect((await ask(stranger, accessToken)).body).toEqual({ active: false });
    expect(service.lastRequest().queries).toBe(1);
  });

  test('disabled after being cached learn nothing', async () => {
    const deleted = await service.client();
    const { accessToken } = await signedIn();
    await sql(db.database, 'update oauth2_clients set disabled_at = now() where id = $1::uuid', [toUuid(deleted)]);
    expect(await ask(deleted, accessToken)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });
});

test("that are not the operator's get a signed response for their own tokens only (RFC 9701)", async () => {
  const stranger = await service.client({ secret: CLIENT_SECRET, isStatic: false });
  const own = await signedIn(stranger);
  const requested = async (token: string) =>
    await fetch(`${service.address}/oauth2/introspect`, {
      method: 'POST',
      headers: { accept: 'application/token-introspection+jwt', authorization: basic(stranger, CLIENT_SECRET) },
      body: new URLSearchParams({ token }),
    });
  expect((await requested(own.accessToken)).headers.get('content-type')).toBe('application/token-introspection+jwt');
  const foreign = await requested((await signedIn()).accessToken);
  expect(foreign.headers.get('content-type')).toBe('application/json');
  expect(await foreign.json()).toEqual({ active: false });
});
