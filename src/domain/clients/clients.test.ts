import { describe, expect, test } from 'vitest';
import type { StaticClientConfig } from '#config/sections/clients.ts';
import { findOrCreateGroups } from '#domain/accounts/groups/group.ts';
import { cancelGrantsOutsideRedirectUris } from '#domain/authorizations/cancel-authorization-grant.ts';
import { clientSessionEnder } from '#domain/oauth-sessions/end-sessions-of-client.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { Secret } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { insertClient, insertUser, randomRoot, sql } from '#test/support/fixtures.ts';
import { measured } from '#test/support/measured.ts';
import { until } from '#test/support/route-server.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { ClientDirectory } from './client-directory.ts';
import { type ClientSyncDeps, syncStaticClients } from './sync-static-clients.ts';

const keys = new KeyRing(randomRoot());
const db = await sharedByTests(createTestDatabase());

function configured(clientId: ClientId, changes: Partial<StaticClientConfig> = {}): StaticClientConfig {
  return {
    clientId,
    clientAuthMethod: 'client_secret_basic',
    jwks: undefined,
    tokenExchange: undefined,
    jwksUri: undefined,
    tokenEndpointAuthSigningAlg: undefined,
    clientSecret: new Secret('the secret in the configuration'),
    redirectUris: ['https://app.example.org/cb'],
    postLogoutRedirectUris: [],
    backchannelLogoutUri: undefined,
    clientName: 'An application',
    applicationType: undefined,
    clientUri: undefined,
    logoUri: undefined,
    policyUri: undefined,
    tosUri: undefined,
    grantTypes: ['authorization_code', 'refresh_token'],
    scope: undefined,
    allowedGroups: [],
    firstParty: false,
    defaultMaxAgeSeconds: undefined,
    requireAuthTime: false,
    requirePushedAuthorizationRequests: false,
    requireSignedRequestObject: false,
    requestObjectSigningAlg: undefined,
    defaultAcrValues: [],
    backchannelLogoutSessionRequired: false,
    idTokenClaims: true,
    claims: undefined,
    strictAuthMethod: false,
    subjectType: 'public',
    sectorIdentifierUri: undefined,
    dpopBoundAccessTokens: false,
    idTokenSignedResponseAlg: 'RS256',
    userinfoSignedResponseAlg: undefined,
    introspectionSignedResponseAlg: 'RS256',
    authorizationSignedResponseAlg: 'RS256',
    profile: undefined,
    ...changes,
  };
}

function syncDeps(clock: FakeClock): ClientSyncDeps {
  return {
    database: db.database,
    keyRing: keys,
    clock,
    cancelGrantsOutsideRedirectUris,
    findOrCreateGroups,
    ...clientSessionEnder({ isConnected: false }),
  };
}

async function version(id: ClientId): Promise<number | undefined> {
  const [row] = await sql<{ version: number }>(db.database, 'select version from oauth2_clients where id = $1::uuid', [
    toUuid(id),
  ]);
  return row?.version;
}

describe('client directory', () => {
  test('reads a client once and serves it from memory for a minute', async () => {
    const clock = new FakeClock();
    const directory = new ClientDirectory(db.database, keys, clock);
    const id = await insertClient(db.database, keys, clock.now(), {
      secret: 'a secret',
      metadata: { scope: 'openid email' },
    });
    const first = await measured(() => directory.find(id));
    expect(first.task.queries).toBe(1);
    expect(first.result).toMatchObject({
      id,
      version: 1,
      authMethod: 'client_secret_basic',
      scope: ['openid', 'email'],
    });
    expect(first.result?.secret?.reveal()).toBe('a secret');
    clock.advanceSeconds(59);
    expect((await measured(() => directory.find(id))).task.queries).toBe(0);
    clock.advanceSeconds(1);
    expect((await measured(() => directory.find(id))).task.queries).toBe(1);
  });

  test('finds a disabled client until the directory forgets it', async () => {
    const clock = new FakeClock();
    const directory = new ClientDirectory(db.database, keys, clock);
    const id = await insertClient(db.database, keys, clock.now());
    expect(await directory.find(id)).toBeDefined();
    await sql(db.database, 'update oauth2_clients set disabled_at = now() where id = $1::uuid', [toUuid(id)]);
    expect(await directory.find(id)).toBeDefined();
    directory.forget(id);
    expect(await directory.find(id)).toBeUndefined();
  });

  test('remembers an unknown client briefly, so that a client created in the meantime is found soon', async () => {
    const clock = new FakeClock();
    const directory = new ClientDirectory(db.database, keys, clock);
    const id = newId<'client'>(clock.now());
    expect((await measured(() => directory.find(id))).task.queries).toBe(1);
    expect((await measured(() => directory.find(id))).task.queries).toBe(0);
    await syncStaticClients(syncDeps(clock), [configured(id)]);
    clock.advanceSeconds(2);
    expect(await directory.find(id)).toBeDefined();
  });

  test('fifty concurrent requests for one client read it once, each charged to its own task', async () => {
    const clock = new FakeClock();
    const directory = new ClientDirectory(db.database, keys, clock);
    const id = await insertClient(db.database, keys, clock.now());
    const found = await Promise.all(Array.from({ length: 50 }, () => measured(() => directory.find(id))));
    expect(found.reduce((sum, { task }) => sum + task.queries, 0)).toBe(1);
    expect(found.every(({ result }) => result?.id === id)).toBe(true);
  });

  test('discards a read that began before the client was forgotten, since it may be older than the change', async () => {
    const clock = new FakeClock();
    // Holds back query results.
    const waiting: (() => void)[] = [];
    const held: Queryable = {
      rows: async (statement, params) => await db.database.rows(statement, params),
      execute: async (statement, params) => await db.database.execute(statement, params),
      first: async (statement, params) => {
        const row = await db.database.first(statement, params);
        await new Promise<void>((resolve) => waiting.push(resolve));
        return row;
      },
    };
    const respondToNext = async (): Promise<void> => {
      await until(() => waiting.length > 0);
      waiting.shift()?.();
    };
    const directory = new ClientDirectory(held, keys, clock);
    const id = await insertClient(db.database, keys, clock.now());
    const early = directory.find(id);
    await until(() => waiting.length > 0);
    await sql(db.database, 'update oauth2_clients set version = 2 where id = $1::uuid', [toUuid(id)]);
    directory.forget(id);
    await respondToNext();
    expect(await early).toMatchObject({ version: 1 });

    const late = directory.find(id);
    await respondToNext();
    expect(await late).toMatchObject({ version: 2 });
  });

  test('unknown IDs do not evict clients from memory, whatever their number (S-179)', async () => {
    const clock = new FakeClock();
    const directory = new ClientDirectory(db.database, keys, clock);
    const id = await insertClient(db.database, keys, clock.now());
    await directory.find(id);
    for (let requested = 0; requested < 12_000; requested += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, index) => directory.find(newId<'client'>(requested + index))));
    }
    expect((await measured(() => directory.find(id))).task.queries).toBe(0);
  });

  test('keeps clients with large registrations in memory only as far as there is space (S-54)', async () => {
    const clock = new FakeClock();
    const directory = new ClientDirectory(db.database, keys, clock);
    const model = await insertClient(db.database, keys, clock.now());
    const ids = Array.from({ length: 600 }, (_, index) => newId<'client'>(clock.now() + index));
    await sql(
      db.database,
      `insert into oauth2_clients (id, is_static, metadata, created_at)
       select made.id, false, model.metadata || jsonb_build_object('contacts', repeat('x', 60000)), model.created_at
         from unnest($1::uuid[]) as made (id), oauth2_clients model where model.id = $2::uuid`,
      [ids.map((id) => toUuid(id)), toUuid(model)],
    );
    const queriesFor = async (wanted: readonly ClientId[]): Promise<number> => {
      const read = async () => {
        for (const id of wanted) await directory.find(id);
      };
      return (await measured(read)).task.queries;
    };
    expect(await queriesFor(ids)).toBe(600);
    expect(await queriesFor(ids.slice(-100))).toBe(0);
    expect(await queriesFor(ids.slice(0, 1))).toBe(1);
  });

  test('a sealed secret moved to another client’s row does not open (R-06)', async () => {
    const clock = new FakeClock();
    const [mine, other] = [
      await insertClient(db.database, keys, clock.now(), { secret: 'mine' }),
      await insertClient(db.database, keys, clock.now(), { secret: 'other' }),
    ];
    await sql(
      db.database,
      `update oauth2_clients set client_secret_sealed =
         (select client_secret_sealed from oauth2_clients where id = $1::uuid) where id = $2::uuid`,
      [toUuid(mine), toUuid(other)],
    );
    await expect(new ClientDirectory(db.database, keys, clock).find(other)).rejects.toThrow(/cannot be decrypted/);
  });
});

describe('static clients of the configuration', () => {
  const clock = new FakeClock();
  const sync = async (...clients: StaticClientConfig[]) => await syncStaticClients(syncDeps(clock), clients);

  test('are added, changed only where they differ, and an unchanged sync reads once without a lock', async () => {
    const [first, second] = [newId<'client'>(1), newId<'client'>(2)];
    expect(await sync(configured(first), configured(second))).toMatchObject({
      actions: [
        { action: 'add', id: first },
        { action: 'add', id: second },
      ],
    });
    const unchanged = await measured(() => sync(configured(first), configured(second)));
    expect(unchanged.result).toMatchObject({ actions: [] });
    expect(unchanged.task.queries).toBe(1);
    expect(await version(first)).toBe(1);

    const renamed = configured(second, { clientName: 'Another name', defaultMaxAgeSeconds: 60, scope: ['openid'] });
    expect(await sync(configured(first), renamed)).toMatchObject({ actions: [{ action: 'update' }] });
    expect([await version(first), await version(second)]).toEqual([1, 2]);
    const client = await new ClientDirectory(db.database, keys, clock).find(second);
    expect(client).toMatchObject({
      name: { '': 'Another name' },
      defaultMaxAge: 60,
      scope: ['openid'],
      kind: 'static',
    });
  });

  test('are limited to groups by name, which are created, and opened again', async () => {
    const id = newId<'client'>(2.5);
    const groups = async () => {
      const [row] = await sql<{ names: string[] | null }>(
        db.database,
        `select case when c.allowed_groups is not null then array(
           select g.name from user_groups g where g.id = any(c.allowed_groups) order by 1) end as names
           from oauth2_clients c where c.id = $1::uuid`,
        [toUuid(id)],
      );
      return row?.names;
    };
    const limited = configured(id, { allowedGroups: ['staff', 'crew', 'staff'] });
    await sync(limited);
    expect(await groups()).toEqual(['crew', 'staff']);
    expect(await sync(limited)).toMatchObject({ actions: [] });
    // No user may use the client until the groups exist again.
    await sql(db.database, `delete from user_groups`);
    expect(await groups()).toEqual([]);
    expect(await sync(limited)).toMatchObject({ actions: [{ action: 'update', changes: ['allowed_groups'] }] });
    expect(await groups()).toEqual(['crew', 'staff']);
    expect(await sync(configured(id))).toMatchObject({ actions: [{ action: 'update', changes: ['allowed_groups'] }] });
    expect(await groups()).toBeNull();
  });

  test('a new secret replaces the old one, and none is stored in plain text', async () => {
    const id = newId<'client'>(3);
    await sync(configured(id));
    expect(await sync(configured(id, { clientSecret: new Secret('a newer secret') }))).toMatchObject({
      actions: [{ action: 'update' }],
    });
    const client = await new ClientDirectory(db.database, keys, clock).find(id);
    expect(client?.secret?.reveal()).toBe('a newer secret');
    const [row] = await sql<{ text: string }>(db.database, 'select c::text from oauth2_clients c where id = $1::uuid', [
      toUuid(id),
    ]);
    expect(JSON.stringify(row)).not.toContain('secret in the configuration');
    expect(JSON.stringify(row)).not.toContain(Buffer.from('a newer secret').toString('hex'));
    expect(await sync(configured(id, { clientAuthMethod: 'none', clientSecret: undefined }))).toMatchObject({
      actions: [{ action: 'update', changes: ['client_secret', 'token_endpoint_auth_method'] }],
    });
    expect((await new ClientDirectory(db.database, keys, clock).find(id))?.secret).toBeUndefined();
  });

  test('id_token_claims and strict_auth_method are stored', async () => {
    const id = newId<'client'>(9);
    await sync(configured(id));
    expect(await new ClientDirectory(db.database, keys, clock).find(id)).toMatchObject({
      hasIdTokenClaims: true,
      hasStrictAuthMethod: false,
    });
    await sync(configured(id, { idTokenClaims: false, strictAuthMethod: true }));
    expect(await new ClientDirectory(db.database, keys, clock).find(id)).toMatchObject({
      hasIdTokenClaims: false,
      hasStrictAuthMethod: true,
    });
  });

  test('an entry with the ID of a dynamic client takes it over', async () => {
    const id = await insertClient(db.database, keys, clock.now(), { isStatic: false });
    expect(await sync(configured(id))).toMatchObject({ actions: [{ action: 'update' }] });
    expect(await new ClientDirectory(db.database, keys, clock).find(id)).toMatchObject({ kind: 'static' });
  });

  test('stay usable when their entry is removed, and are counted', async () => {
    const id = newId<'client'>(4);
    await sync(configured(id));
    const { unlisted } = await sync();
    expect(unlisted).toBeGreaterThan(0);
    expect(await new ClientDirectory(db.database, keys, clock).find(id)).toBeDefined();
  });

  test('a client with changed display data needs consent again, and grants to a removed redirect URI end', async () => {
    const id = newId<'client'>(8);
    const loopback = 'http://127.0.0.1/cb';
    const native = { clientAuthMethod: 'none', clientSecret: undefined } as const;
    await sync(configured(id, { ...native, redirectUris: ['https://app.example.org/cb', loopback] }));
    const user = await insertUser(db.database, clock.now());
    await sql(
      db.database,
      `insert into oauth2_consents (user_id, client_id, scope, created_at, updated_at)
       values ($1::uuid, $2::uuid, '{openid}', $3::timestamptz, $3::timestamptz)`,
      [toUuid(user), toUuid(id), new Date(clock.now())],
    );
    for (const uri of ['https://app.example.org/cb', 'http://127.0.0.1:5000/cb']) {
      await sql(
        db.database,
        `insert into oauth2_authorization_grants
           (id, client_id, redirect_uri, redirect_uri_sent, scope, response_mode, created_at, expires_at)
         values ($1::uuid, $2::uuid, $3::text, true, '{openid}', 'query', $4::timestamptz, $5::timestamptz)`,
        [toUuid(newId(clock.now())), toUuid(id), uri, new Date(clock.now()), new Date(clock.now() + 60_000)],
      );
    }
    const consents = async () =>
      (await sql(db.database, 'select 1 from oauth2_consents where client_id = $1::uuid', [toUuid(id)])).length;

    await sync(configured(id, { ...native, redirectUris: ['https://app.example.org/cb', loopback], firstParty: true }));
    expect(await consents()).toBe(1);
    await sync(configured(id, { ...native, redirectUris: [loopback] }));
    expect(await consents()).toBe(0);
    const grants = await sql<{ redirect_uri: string; cancel_reason: string | null }>(
      db.database,
      `select redirect_uri, cancel_reason from oauth2_authorization_grants
       where client_id = $1::uuid order by redirect_uri`,
      [toUuid(id)],
    );
    expect(grants).toEqual([
      { redirect_uri: 'http://127.0.0.1:5000/cb', cancel_reason: null },
      { redirect_uri: 'https://app.example.org/cb', cancel_reason: 'redirect-uri-removed' },
    ]);
  });

  test.each<[string, Partial<StaticClientConfig>, boolean]>([
    ['another path of the same host', { redirectUris: ['https://app.example.org/other'] }, true],
    ['another secret', { clientSecret: new Secret('quite another secret') }, true],
    ['other grants and scopes', { grantTypes: ['authorization_code'], scope: ['openid'] }, true],
    ['another page of its website', { clientUri: 'https://example.org/other' }, true],
    ['another website', { clientUri: 'https://example.com/' }, false],
    ['another name', { clientName: 'Something else' }, false],
    ['a privacy policy', { policyUri: 'https://example.org/privacy' }, false],
    ['another logo', { logoUri: 'https://example.org/logo' }, false],
    ['terms of service', { tosUri: 'https://example.org/terms' }, false],
    ['another host', { redirectUris: ['https://app.example.org/cb', 'https://b.example.org/cb'] }, false],
  ])('only a change shown on consent pages ends consents: %s (oauth 7.6)', async (_, changes, isKept) => {
    const id = newId<'client'>(clock.now());
    const before = { clientUri: 'https://example.org/' };
    await sync(configured(id, before));
    const user = await insertUser(db.database, clock.now());
    await sql(
      db.database,
      `insert into oauth2_consents (user_id, client_id, scope, created_at, updated_at)
       values ($1::uuid, $2::uuid, '{openid}', $3::timestamptz, $3::timestamptz)`,
      [toUuid(user), toUuid(id), new Date(clock.now())],
    );
    expect(await sync(configured(id, { ...before, ...changes }))).toMatchObject({ actions: [{ action: 'update' }] });
    const left = await sql(db.database, 'select 1 from oauth2_consents where client_id = $1::uuid', [toUuid(id)]);
    expect(left).toHaveLength(isKept ? 1 : 0);
  });

  test('instances that start together add each client once', async () => {
    const ids = [newId<'client'>(5), newId<'client'>(6), newId<'client'>(7)];
    const results = await Promise.all(Array.from({ length: 8 }, () => sync(...ids.map((id) => configured(id)))));
    expect(results.flatMap(({ actions }) => actions).length).toBe(3);
    expect(await Promise.all(ids.map(version))).toEqual([1, 1, 1]);
  });
});
