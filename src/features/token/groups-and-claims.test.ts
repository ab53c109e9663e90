/** The scope `groups` and operator-defined claims, as clients receive them (decision 0035). */
import { createLocalJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { setClaims } from '#domain/accounts/set-claims.ts';
import { setGroups } from '#domain/accounts/set-groups.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { ExtraClaims } from '#protocol/oidc/extra-claims.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import {
  CLIENT_SECRET,
  type MachineResponse,
  member,
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

async function put(user: UserId, groups: readonly string[], claims: ExtraClaims = {}): Promise<void> {
  const now = service.clock.now();
  await db.database.transaction(async (transaction) => {
    await setGroups(transaction, { user, groups, now });
    await setClaims(transaction, { user, claims, now });
  });
}

async function provider(isEnabled = true): Promise<string> {
  const id = toUuid(newId(0));
  const now = new Date(service.clock.now());
  await sql(
    db.database,
    `insert into upstream_providers (id, client_id, ui_order, created_at, disabled_at)
     values ($1::uuid, 'x', 0, $2::timestamptz, $3::timestamptz)`,
    [id, now, isEnabled ? null : now],
  );
  return id;
}

async function link(providerId: string, userId: UserId, groups: readonly string[] | null): Promise<void> {
  await sql(
    db.database,
    `insert into upstream_links (id, provider_id, subject, user_id, created_at, groups)
     values ($1::uuid, $2::uuid, $1::text, $3::uuid, $4::timestamptz, $5::text[])`,
    [toUuid(newId(0)), providerId, toUuid(userId), new Date(service.clock.now()), groups],
  );
}

/** Returns the verified claims of the response's ID token. */
async function inToken(response: MachineResponse, audience = client): Promise<JWTPayload> {
  const keys = createLocalJWKSet({ keys: [...service.publicJwks.keys] });
  const currentDate = new Date(service.clock.now());
  const expected = { issuer: TEST_ISSUER, audience, currentDate };
  return (await jwtVerify(member(response, 'id_token'), keys, expected)).payload;
}

async function atUserinfo(response: MachineResponse): Promise<MachineResponse['body']> {
  const headers = { authorization: `Bearer ${member(response, 'access_token')}` };
  return (await service.request('/oauth2/userinfo', { headers })).body;
}

describe('the groups claim', () => {
  test('is returned with its scope, sorted, from all sources, without a further statement', async () => {
    const user = await service.signIn(client, { scope: ['openid', 'groups'] });
    await put(user.userId, ['ops', 'Admins']);
    await link(await provider(), user.userId, ['staff', 'ops']);
    await link(await provider(), user.userId, null);
    const response = await service.exchange(client, user.code);
    expect(service.lastRequest().queries).toBe(2);
    expect(await inToken(response)).toMatchObject({ groups: ['Admins', 'ops', 'staff'] });
    expect(await atUserinfo(response)).toMatchObject({ groups: ['Admins', 'ops', 'staff'] });
    expect(service.lastRequest().queries).toBe(1);
  });

  test('is an empty list for users without groups, and missing without the scope', async () => {
    const nobody = await service.exchange(client, (await service.signIn(client, { scope: ['openid', 'groups'] })).code);
    expect((await inToken(nobody))['groups']).toEqual([]);
    expect((await atUserinfo(nobody))['groups']).toEqual([]);
    const user = await service.signIn(client, { scope: ['openid', 'profile'] });
    await put(user.userId, ['ops']);
    const without = await service.exchange(client, user.code);
    expect(await inToken(without)).not.toHaveProperty('groups');
    expect(await atUserinfo(without)).not.toHaveProperty('groups');
  });

  test('is current at a refresh, and has nothing from a provider removed from the configuration', async () => {
    const user = await service.signIn(client, { scope: ['openid', 'groups'] });
    await put(user.userId, ['ops']);
    await link(await provider(false), user.userId, ['superusers']);
    const first = await service.exchange(client, user.code);
    expect((await inToken(first))['groups']).toEqual(['ops']);
    await put(user.userId, []);
    const renewed = await service.refresh(client, member(first, 'refresh_token'));
    expect(service.lastRequest().queries).toBe(2);
    expect((await inToken(renewed))['groups']).toEqual([]);
    expect((await atUserinfo(renewed))['groups']).toEqual([]);
  });

  test('is moved to userinfo by id_token_claims: false, and can be requested individually (OpenID Connect Core 5.5)', async () => {
    const slim = await service.client({ secret: CLIENT_SECRET, metadata: { id_token_claims: false } });
    const user = await service.signIn(slim, { scope: ['openid', 'groups'] });
    await put(user.userId, ['ops']);
    const response = await service.exchange(slim, user.code);
    expect(await inToken(response, slim)).not.toHaveProperty('groups');
    expect(await atUserinfo(response)).toMatchObject({ groups: ['ops'] });
    const named = await service.signIn(slim, { scope: ['openid'], claims: { id_token: ['groups'], userinfo: [] } });
    await put(named.userId, ['ops']);
    const requested = await service.exchange(slim, named.code);
    expect(await inToken(requested, slim)).toMatchObject({ groups: ['ops'] });
    expect(await atUserinfo(requested)).not.toHaveProperty('groups');
  });
});

describe('account claims', () => {
  test('are returned unchanged with the profile scope', async () => {
    const claims = { department: 'Harbour', level: 7, tags: ['a', { b: null }], 'https://example.com/role': 'pilot' };
    const user = await service.signIn(client, { scope: ['openid', 'profile'] });
    await put(user.userId, [], claims);
    const response = await service.exchange(client, user.code);
    expect(await inToken(response)).toMatchObject(claims);
    expect(await atUserinfo(response)).toMatchObject(claims);
    const other = await service.signIn(client, { scope: ['openid', 'email'] });
    await put(other.userId, [], claims);
    const without = await service.exchange(client, other.code);
    expect(await inToken(without)).not.toHaveProperty('department');
    expect(await atUserinfo(without)).not.toHaveProperty('department');
  });

  test('never override claims of the service, whatever is stored, so users cannot impersonate others', async () => {
    const forged = {
      ...{ iss: 'https://evil.example', sub: 'somebody', aud: 'another', exp: 9_999_999_999, iat: 0, nonce: 'x' },
      ...{ auth_time: 1, acr: 'phr', amr: ['hwk'], azp: 'x', sid: 'x', at_hash: 'x', c_hash: 'x', jti: 'x', nbf: 1 },
      ...{ username: 'root', preferred_username: 'root', email: 'root@example.org', email_verified: true },
      ...{ groups: ['admins'], act: { sub: 'x' }, cnf: { jkt: 'x' }, scope: 'x', client_id: 'x', role: 'pilot' },
    };
    const named = await service.client({ secret: CLIENT_SECRET, metadata: { userinfo_signed_response_alg: 'RS256' } });
    for (const of of [client, named]) {
      const user = await service.signIn(of, { scope: ['openid', 'profile'] });
      const plain = await service.signIn(of, { scope: ['openid', 'profile'] });
      await sql(db.database, 'update users set claims = $2::jsonb where id = $1::uuid', [
        toUuid(user.userId),
        JSON.stringify(forged),
      ]);
      const response = await service.exchange(of, user.code);
      const expected = await inToken(await service.exchange(of, plain.code), of);
      const claims = await inToken(response, of);
      expect(Object.keys(claims).toSorted()).toEqual([...Object.keys(expected), 'role'].toSorted());
      expect(claims).toMatchObject({ sub: user.userId, iss: expected.iss, aud: of, acr: expected['acr'] });
      expect(claims['preferred_username']).not.toBe('root');
    }
    const user = await service.signIn(client, { scope: ['openid', 'profile'] });
    await sql(db.database, 'update users set claims = $2::jsonb where id = $1::uuid', [
      toUuid(user.userId),
      JSON.stringify(forged),
    ]);
    const shown = await atUserinfo(await service.exchange(client, user.code));
    expect(Object.keys(shown).toSorted()).toEqual(
      ['name', 'preferred_username', 'role', 'sub', 'updated_at', 'username'].toSorted(),
    );
    expect(shown['sub']).toBe(user.userId);
    // Without a display name, `name` is the username.
    expect(shown['name']).toBe(shown['preferred_username']);
    expect(shown['preferred_username']).not.toBe('root');
  });
});

describe('client claims', () => {
  test('apply to all users of the client, below account claims, and not to dynamic clients', async () => {
    const metadata = { claims: { tenant: 'acme', role: 'viewer', sub: 'forged' } };
    const configured = await service.client({ secret: CLIENT_SECRET, isStatic: true, metadata });
    const user = await service.signIn(configured, { scope: ['openid', 'profile'] });
    await put(user.userId, [], { role: 'editor' });
    const response = await service.exchange(configured, user.code);
    const expected = { tenant: 'acme', role: 'editor', sub: user.userId };
    expect(await inToken(response, configured)).toMatchObject(expected);
    expect(await atUserinfo(response)).toMatchObject(expected);
    const registered = await service.client({ secret: CLIENT_SECRET, isStatic: false, metadata });
    const other = await service.signIn(registered, { scope: ['openid', 'profile'] });
    const plain = await service.exchange(registered, other.code);
    expect(await inToken(plain, registered)).not.toHaveProperty('tenant');
    expect(await atUserinfo(plain)).not.toHaveProperty('tenant');
  });
});

describe('an ID token small enough for headers and cookies', () => {
  const long = (length: number) => Array.from({ length }, (_, index) => `group ${index} `.padEnd(250, 'x'));

  test('leaves too many groups to userinfo, with one log line', async () => {
    const user = await service.signIn(client, { scope: ['openid', 'groups', 'profile'] });
    await put(user.userId, long(200), { role: 'pilot' });
    const response = await service.exchange(client, user.code);
    expect(member(response, 'id_token').length).toBeLessThan(8192);
    const claims = await inToken(response);
    expect(claims).not.toHaveProperty('groups');
    expect(claims).toMatchObject({ role: 'pilot' });
    expect((await atUserinfo(response))['groups']).toHaveLength(200);
    const lines = service.logged('id_token.claims_left_out');
    expect(lines).toMatchObject([{ level: 'warn', fields: { client, user: user.userId, left_out: 'groups' } }]);
  });

  test('then omits account claims, then client claims', async () => {
    const metadata = { claims: { shared: 'x'.repeat(8000) } };
    const configured = await service.client({ secret: CLIENT_SECRET, isStatic: true, metadata });
    for (const [of, expected] of [
      [client, ['preferred_username']],
      [configured, ['preferred_username']],
    ] as const) {
      const user = await service.signIn(of, { scope: ['openid', 'profile'] });
      await put(user.userId, [], { own: 'x'.repeat(8000) });
      const response = await service.exchange(of, user.code);
      expect(member(response, 'id_token').length).toBeLessThan(8192);
      const claims = await inToken(response, of);
      for (const name of ['own', 'shared']) expect(claims).not.toHaveProperty(name);
      for (const name of expected) expect(claims).toHaveProperty(name);
      expect(await atUserinfo(response)).toHaveProperty('own');
    }
  });
});
