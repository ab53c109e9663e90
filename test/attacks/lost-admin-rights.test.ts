/** Security 4.15: former administrators. If one of these fails, they keep their rights for as long as they refresh. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findUserOfAccessToken } from '#domain/oauth-sessions/use-access-token.ts';
import { AdminRights } from '#domain/records/admin-rights.ts';
import { toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';

import { openDatabase } from '#platform/postgres/open-database.ts';
import { ScopeRules } from '#protocol/oauth/scopes.ts';
import type { ClientId, UserId } from '#vocabulary/ids.ts';
import { parseConnectionUri } from '../support/connection-uri.ts';
import { createTestDatabase } from '../support/database.ts';
import { sql } from '../support/fixtures.ts';
import { basic, CLIENT_SECRET, member, type OAuthService, startOAuthService } from '../support/oauth-service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { silentLog } from '../support/silent-log.ts';

const ADMIN = ['urn:latchkey:admin', 'urn:synapse:admin:*'];
const KEPT = ['openid', 'urn:chat:client:api:*'];
let service: OAuthService;
/** Another instance, whose configuration lists no administrators. */
let second: OAuthService;
let client: ClientId;
let adminClient: ClientId;

const db = await sharedByTests(createTestDatabase());
const secondDatabase = await sharedByTests(
  openDatabase({
    connection: parseConnectionUri(db.connectionString),
    log: silentLog,
    clock: { now: () => Date.now() },
  }),
);

beforeAll(async () => {
  const setup = await startOAuthService(db.database);
  client = await setup.client();
  adminClient = await setup.client();
  await setup.close();
  const { clock } = setup;
  service = await startOAuthService(db.database, { clock, adminUsers: ['adele'], adminClients: [adminClient] });
  second = await startOAuthService(secondDatabase, { clock, adminUsers: [] });
});
afterAll(async () => {
  await service.close();
  await second.close();
});

interface Admin {
  readonly userId: UserId;
  readonly accessToken: string;
  readonly refreshToken: string;
}

async function signIn(user: { username?: string; canRequestAdmin?: boolean }, of = client): Promise<Admin> {
  const { code, userId } = await service.signIn(of, { scope: [...KEPT, ...ADMIN], user });
  const response = await service.exchange(of, code);
  expect(response.body['scope']).toBe([...KEPT, ...ADMIN].join(' '));
  return { userId, accessToken: member(response, 'access_token'), refreshToken: member(response, 'refresh_token') };
}

/** Returns the admin scopes in the introspection response for a token. */
async function adminScopes(at: OAuthService, token: string): Promise<string[]> {
  const response = await at.introspect(token);
  expect(response.body['active']).toBe(true);
  expect(at.lastRequest().queries).toBeLessThanOrEqual(2);
  const scope = response.body['scope'] === undefined ? [] : member(response, 'scope').split(' ');
  return scope.filter((name) => ADMIN.includes(name));
}

/** Returns the admin scopes as the service's own endpoints see them, such as userinfo. */
async function ownAdminScopes(users: string[], token: string): Promise<string[]> {
  const scopeRules = new ScopeRules('chat');
  const rights = new AdminRights({ scopeRules, users: new Set(users), clients: new Set() });
  const row = await findUserOfAccessToken(
    db.database,
    sha256(token),
    undefined,
    'openid',
    { sessionMaxLifetimeSeconds: undefined },
    rights,
    service.clock.now(),
  );
  return (row?.scope ?? []).filter((name) => ADMIN.includes(name));
}

async function expectGone(at: OAuthService, admin: Admin, of = client): Promise<void> {
  expect(await adminScopes(at, admin.accessToken)).toEqual([]);
  expect(await adminScopes(at, admin.refreshToken)).toEqual([]);
  expect(await ownAdminScopes([], admin.accessToken)).toEqual([]);
  const refreshed = await at.refresh(of, admin.refreshToken);
  expect(refreshed).toMatchObject({ status: 200, body: { scope: KEPT.join(' ') } });
  expect(await adminScopes(service, member(refreshed, 'access_token'))).toEqual([]);
  const { body } = await at.refresh(of, admin.refreshToken, { scope: [...KEPT, ...ADMIN].join(' ') });
  expect(body['scope']).toBe(KEPT.join(' '));
}

describe('an admin right that is revoked (S-178)', () => {
  test('on the account: the scope is dropped immediately, on every instance', async () => {
    for (const at of [service, second]) {
      const admin = await signIn({ canRequestAdmin: true });
      expect(await adminScopes(at, admin.accessToken)).toEqual(ADMIN);
      expect(await ownAdminScopes([], admin.accessToken)).toEqual(ADMIN);
      await sql(db.database, 'update users set can_request_admin = false where id = $1::uuid', [toUuid(admin.userId)]);
      await expectGone(at, admin);
    }
  });

  test('in policy.data.admin_users: the scope is dropped on each instance with the new configuration', async () => {
    const admin = await signIn({ username: 'adele' });
    expect(await adminScopes(service, admin.accessToken)).toEqual(ADMIN);
    expect(await ownAdminScopes(['adele'], admin.accessToken)).toEqual(ADMIN);
    await expectGone(second, admin);
  });

  test('of the client, by its registered scope: the scope is dropped immediately, on every instance', async () => {
    for (const at of [service, second]) {
      const narrowed = await service.client();
      const admin = await signIn({ canRequestAdmin: true }, narrowed);
      await sql(
        db.database,
        `update oauth2_clients set version = version + 1, metadata = metadata || $2::jsonb where id = $1::uuid`,
        [toUuid(narrowed), JSON.stringify({ scope: KEPT.join(' ') })],
      );
      await expectGone(at, admin, narrowed);
    }
  });

  test('in policy.data.admin_clients: the scope of the client’s own token is dropped', async () => {
    const form = { grant_type: 'client_credentials', scope: 'openid urn:latchkey:admin' };
    const response = await service.post('/oauth2/token', form, basic(adminClient, CLIENT_SECRET));
    const token = member(response, 'access_token');
    expect(await adminScopes(service, token)).toEqual(['urn:latchkey:admin']);
    expect(await adminScopes(second, token)).toEqual([]);
  });

  test('also leaves the scope out of a repeated refresh whose response was lost', async () => {
    const { refreshToken, userId } = await signIn({ canRequestAdmin: true });
    expect((await service.refresh(client, refreshToken)).body['scope']).toContain('urn:latchkey:admin');
    await sql(db.database, 'update users set can_request_admin = false where id = $1::uuid', [toUuid(userId)]);
    expect((await service.refresh(client, refreshToken)).body['scope']).toBe(KEPT.join(' '));
  });

  test('ends a session that had no other scope', async () => {
    const { code, userId } = await service.signIn(client, { scope: ADMIN, user: { canRequestAdmin: true } });
    const response = await service.exchange(client, code);
    await sql(db.database, 'update users set can_request_admin = false where id = $1::uuid', [toUuid(userId)]);
    expect(await service.refresh(client, member(response, 'refresh_token'))).toMatchObject({
      status: 400,
      body: { error: 'invalid_scope' },
    });
  });
});
