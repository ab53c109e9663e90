import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { newId, toUuid } from '#platform/base/ids.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { runCommand } from './run-command.test-support.ts';

const encryption = 'ab'.repeat(32);
let directory: string;
let testDatabase: TestDatabase;

beforeAll(async () => {
  // Each run adds an exit listener that flushes its log.
  process.setMaxListeners(50);
  testDatabase = await createTestDatabase();
  directory = mkdtempSync(join(tmpdir(), 'latchkey-sync-'));
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await testDatabase.drop();
});
beforeEach(async () => {
  await sql(testDatabase.database, 'delete from oauth2_clients');
});

/** Runs `config sync` with these clients in the configuration. */
async function sync(
  clients: readonly object[],
  options: readonly string[] = [],
  uri = testDatabase.connectionString,
  more: object = {},
) {
  const log = join(directory, `${newId(1)}.log`);
  const file = join(directory, 'latchkey.yaml');
  const settings = {
    secrets: { encryption },
    database: { uri },

    logging: { output: log },
    clients,
    ...more,
  };
  writeFileSync(file, stringify(settings), { mode: 0o600 });
  return await runCommand(['config', 'sync', '-c', file, ...options], { workingDirectory: directory });
}

function entry(id: string, changes: object = {}) {
  return { client_id: id, client_auth_method: 'none', redirect_uris: ['https://app.example/cb'], ...changes };
}

async function stored(): Promise<string[]> {
  const rows = await sql<{ name: string }>(
    testDatabase.database,
    `select coalesce(metadata->'client_name'->>'', '') || case when is_static then '' else ' (dynamic)' end as name
       from oauth2_clients order by id`,
  );
  return rows.map(({ name }) => name);
}

async function insertDynamic(): Promise<string> {
  const id = newId<'client'>(5);
  await sql(
    testDatabase.database,
    `insert into oauth2_clients (id, is_static, metadata, metadata_digest, registration_token_hash, created_at)
     values ($1::uuid, false, '{"redirect_uris": [], "grant_types": [], "response_types": [],
       "token_endpoint_auth_method": "none", "id_token_signed_response_alg": "RS256"}', 'digest', '\\x01', now())`,
    [toUuid(id)],
  );
  return id;
}

async function openSession(client: string): Promise<void> {
  await sql(
    testDatabase.database,
    `insert into oauth2_sessions (id, client_id, scope, created_at)
     select gen_random_uuid(), id, '{}', now() from oauth2_clients where metadata->'client_name'->>'' = $1::text`,
    [client],
  );
}

test('a database that does not complete in time is not an internal error: exit 69, the reason, and what to do', async () => {
  const holder = new Client({ connectionString: testDatabase.connectionString });
  await holder.connect();
  try {
    await holder.query('begin; lock table oauth2_clients in access exclusive mode');
    const { exitCode, err } = await sync([entry('01JD3Q5Z8W2N4K6M7P9R0S1T2V')]);
    expect([exitCode, err]).toEqual([
      69,
      expect.stringMatching(
        /^latchkey: the database failed to complete the command: .*lock timeout\. .* Retry later\.\n$/,
      ),
    ]);
  } finally {
    await holder.end();
  }
}, 30_000);

describe('config sync', () => {
  const [first, second, third] = [newId(1), newId(2), newId(3)];

  test('prints one line per change, and no changes the second time', async () => {
    const clients = [entry(first, { client_name: 'One' }), entry(second, { client_name: 'Two' })];
    expect(await sync(clients)).toEqual({ exitCode: 0, out: `add client ${first}\nadd client ${second}\n`, err: '' });
    expect(await sync(clients)).toMatchObject({ exitCode: 0, out: 'no changes\n' });
    const changed = [clients[0] ?? {}, entry(second, { client_name: 'Zwei' }), entry(third, { client_name: 'Drei' })];
    await sql(testDatabase.database, 'delete from audit_events');
    expect((await sync(changed)).out).toBe(`add client ${third}\nupdate client ${second}\n`);
    expect(await stored()).toEqual(['One', 'Zwei', 'Drei']);
    const recorded = await sql<{ detail: object }>(testDatabase.database, 'select detail from audit_events');
    const action = { actor: 'operator', operation: 'config sync', target_type: 'oauth2-client' };
    expect(recorded.map(({ detail }) => detail)).toEqual(
      expect.arrayContaining([
        { ...action, target: third },
        { ...action, target: second, changed: ['client_name'] },
      ]),
    );
  });

  test('keeps clients that the configuration no longer names, and counts them', async () => {
    await sync([entry(first, { client_name: 'One' }), entry(second, { client_name: 'Two' })]);
    const { out } = await sync([entry(first, { client_name: 'One' })], ['--json']);
    expect(JSON.parse(out)).toEqual({ dry_run: false, actions: [], unlisted_clients: 1 });
    expect(await stored()).toEqual(['One', 'Two']);
  });

  test('never change or delete a client of an administrator: its ID in the configuration is an error that names both', async () => {
    const id = newId(3);
    await sync([entry(id, { client_name: 'Grafana' })]);
    await sql(testDatabase.database, `update oauth2_clients set is_static = false, kind = 'managed'`);
    const refused = await sync([entry(newId(4)), entry(id)], ['--prune']);
    expect(refused.exitCode).toBe(78);
    expect(refused.err).toContain(`clients[1].client_id: "${id}" is also the id of the managed client "Grafana"`);
    expect(await stored()).toEqual(['Grafana (dynamic)']);
    expect(await sync([], ['--prune'])).toMatchObject({ exitCode: 0, out: 'no changes\n' });
    expect(await stored()).toEqual(['Grafana (dynamic)']);
  });

  test('--prune deletes them with their sessions, and never a dynamically registered client', async () => {
    await insertDynamic();
    await sync([entry(first, { client_name: 'One' }), entry(second, { client_name: 'Two' })]);
    for (const name of ['One', 'Two']) await openSession(name);
    const pruned = await sync([entry(first, { client_name: 'One' })], ['--prune']);
    expect(pruned).toMatchObject({ exitCode: 0, out: `delete client ${second}\n` });
    expect(await stored()).toEqual(['One', ' (dynamic)']);
    const [left] = await sql(testDatabase.database, 'select count(*)::integer as sessions from oauth2_sessions');
    expect(left).toEqual({ sessions: 1 });
    const events = await sql(testDatabase.database, `select detail from audit_events where kind = 'session_ended'`);
    expect(events).toEqual([{ detail: { reason: 'client_deleted', sessions: 1 } }]);
    expect((await sync([], ['--prune'])).out).toBe(`delete client ${first}\n`);
    expect(await stored()).toEqual([' (dynamic)']);
  });

  test('--dry-run prints the same and changes nothing', async () => {
    await sync([entry(first, { client_name: 'One' }), entry(second, { client_name: 'Two' })]);
    const clients = [entry(second, { client_name: 'Zwei', scope: 'openid' }), entry(third, { client_name: 'Three' })];
    const lines = `add client ${third}\nupdate client ${second}\ndelete client ${first}\n`;
    expect((await sync(clients, ['--prune', '--dry-run'])).out).toBe(lines);
    const { out } = await sync(clients, ['--prune', '--dry-run', '--json']);
    expect(JSON.parse(out)).toEqual({
      dry_run: true,
      actions: [
        { action: 'add', kind: 'client', id: third },
        { action: 'update', kind: 'client', id: second, changes: ['client_name', 'scope'] },
        { action: 'delete', kind: 'client', id: first },
      ],
      unlisted_clients: 0,
    });
    expect(await stored()).toEqual(['One', 'Two']);
    expect((await sync(clients, ['--prune'])).out).toBe(lines);
    expect(await stored()).toEqual(['Zwei', 'Three']);
  });

  test('an entry with the ID of a dynamically registered client takes it over with its data', async () => {
    const id = await insertDynamic();
    const { out } = await sync([entry(id, { client_name: 'Taken' })], ['--json']);
    const changes = expect.arrayContaining(['is_static', 'client_name', 'redirect_uris']);
    expect(JSON.parse(out).actions).toEqual([{ action: 'update', kind: 'client', id, changes }]);
    const rows = await sql(
      testDatabase.database,
      'select is_static, metadata_digest, registration_token_hash from oauth2_clients',
    );
    expect(rows).toEqual([{ is_static: true, metadata_digest: null, registration_token_hash: null }]);
  });

  test('reports whether a provider is added, changed, enabled, disabled, or deleted', async () => {
    const id = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
    const provider = (changes: object = {}) => ({
      upstream_oauth2: {
        providers: [
          { id, issuer: 'https://id.example', client_id: 'x', token_endpoint_auth_method: 'none', ...changes },
        ],
      },
    });
    const of = async (settings: object, options: readonly string[] = []) =>
      (await sync([], options, testDatabase.connectionString, settings)).out;
    expect(await of(provider())).toBe(`add upstream provider ${id}\n`);
    expect(await of(provider({ enabled: false }))).toBe(`disable upstream provider ${id}\n`);
    expect(await of(provider({ enabled: false }))).toBe('no changes\n');
    expect(await of(provider({ enabled: false, client_id: 'y' }))).toBe(`update upstream provider ${id}\n`);
    expect(await of(provider({ client_id: 'y' }))).toBe(`enable upstream provider ${id}\n`);
    expect(await of({})).toBe(`disable upstream provider ${id}\n`);
    expect(await of({})).toBe('no changes\n');
    expect(await of({}, ['--prune', '--dry-run'])).toBe(`delete upstream provider ${id}\n`);
    expect(await of({}, ['--prune'])).toBe(`delete upstream provider ${id}\n`);
    expect(await of({}, ['--prune'])).toBe('no changes\n');
  });

  test('prints no secret', async () => {
    const client_secret = 'a-secret-that-nobody-prints';
    const clients = [entry(first, { client_auth_method: 'client_secret_basic', client_secret })];
    for (const options of [['--dry-run', '--json'], ['--json'], ['--dry-run']]) {
      const { out, err } = await sync(clients, options);
      expect(out + err).not.toContain(client_secret);
    }
  });

  test('run concurrently: each client is added by one of them', async () => {
    const clients = [entry(first, { client_name: 'One' }), entry(second, { client_name: 'Two' })];
    const outputs: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      await sql(testDatabase.database, 'delete from oauth2_clients');
      const both = await Promise.all([sync(clients), sync(clients)]);
      outputs.push(
        both
          .map(({ out }) => out)
          .toSorted()
          .join(''),
      );
    }
    expect(new Set(outputs)).toEqual(new Set([`add client ${first}\nadd client ${second}\nno changes\n`]));
  });

  test('--dry-run on a database without its tables lists the migrations and applies none (exit code 1)', async () => {
    const empty = await createEmptyDatabase();
    try {
      const { exitCode, err } = await sync([entry(first)], ['--dry-run'], empty.connectionString);
      expect(exitCode).toBe(1);
      expect(err).toContain('0001-baseline');
      expect((await sync([entry(first)], [], empty.connectionString)).out).toBe(`add client ${first}\n`);
    } finally {
      await empty.drop();
    }
  });

  test('an invalid configuration is exit code 78, an extra argument 2', async () => {
    expect((await sync([entry('no id')])).exitCode).toBe(78);
    expect((await sync([], ['now'])).exitCode).toBe(2);
  });
});
