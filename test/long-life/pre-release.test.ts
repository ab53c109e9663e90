/**
 * Brings a database of a version before the first release to the current schema (operations 8.3). Such a version applied
 * the migrations in `migrations/pre-release/`, which the baseline replaces.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommand } from '#cli/run-command.test-support.ts';
import { systemClock } from '#platform/base/clock.ts';
import { type MigrateOptions, migrate } from '#platform/postgres/migrator/migrate.ts';
import { readMigrations } from '#platform/postgres/migrator/migration-files.ts';
import { nameOf } from '#platform/postgres/migrator/migration-state.ts';
import { administer } from '#test/support/administer.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createEmptyDatabase, createTestDatabase, type EmptyDatabase } from '#test/support/database.ts';
import { dumpSchema } from '#test/support/schema-dump.ts';
import { silentLog } from '#test/support/silent-log.ts';

const DIRECTORY = 'migrations';
const PRE_RELEASE = readMigrations('migrations/pre-release');
/** Written by `pg_dump` from a database that this commit migrated, with three generated rows in every table. */
const DUMP = 'test/long-life/b3ce986.sql';
/** SHA-256 of all checksums. The files never change: databases have recorded their checksums. */
const CHECKSUMS = 'd204478eec3c426560022ae29b6eccb378e7e58e2725ecf09f24b06adafc7c92';

let empty: EmptyDatabase;

beforeEach(async () => {
  empty = await createEmptyDatabase();
});
afterEach(() => empty.drop());

const query = <Row extends Record<string, unknown>>(text: string) => administer<Row>(empty.connectionString, text);

test('the replaced migrations are unchanged, and their numbers are not used again', () => {
  const checksums = createHash('sha256').update(PRE_RELEASE.map(({ checksum }) => checksum).join());
  expect(checksums.digest('hex')).toBe(CHECKSUMS);
  const [baseline, ...later] = readMigrations(DIRECTORY).map(({ version }) => version);
  expect(baseline).toBe(1);
  const last = Math.max(...PRE_RELEASE.map(({ version }) => version));
  expect(later.filter((version) => version <= last)).toEqual([]);
});

test('the baseline creates the same schema as the migrations that it replaces', async () => {
  const options: MigrateOptions = {
    ...{ connection: parseConnectionUri(empty.connectionString), directory: DIRECTORY },
    ...{ log: silentLog, clock: systemClock },
  };
  expect((await migrate({ ...options, only: PRE_RELEASE })).applied).toEqual(PRE_RELEASE.map(nameOf));
  await migrate(options);
  const fresh = await createTestDatabase();
  try {
    expect(await dumpSchema(empty.connectionString)).toBe(await dumpSchema(fresh.connectionString));
    expect(await query(ORDER)).toEqual(await administer(fresh.connectionString, ORDER));
  } finally {
    await fresh.drop();
  }
});

test('database migrate brings a database of commit b3ce986 to the current schema, and keeps every row', async () => {
  await query(readFileSync(DUMP, 'utf8'));
  const tables = (await query<{ name: string }>(TABLES)).map(({ name }) => name);
  const applied = await rowsOf('schema_migrations');
  const before = new Map<string, Record<string, unknown>[]>();
  for (const table of tables) before.set(table, await rowsOf(table));
  expect([...before].filter(([, rows]) => rows.length === 0)).toEqual([]);

  const folder = mkdtempSync(join(tmpdir(), 'latchkey-pre-release-'));
  const file = join(folder, 'latchkey.json');
  const settings = { data_dir: join(folder, 'data'), database: { uri: empty.connectionString } };
  writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
  try {
    const pending = [...PRE_RELEASE, ...readMigrations(DIRECTORY).slice(1)].slice(applied.length).map(nameOf);
    const migrated = await runCommand(['-q', 'database', 'migrate', '-c', file]);
    expect(migrated).toMatchObject({ exitCode: 0, out: pending.map((name) => `applied ${name}\n`).join('') });
    expect(await runCommand(['-q', 'database', 'migrate', '-c', file])).toMatchObject({
      out: 'no pending migrations\n',
    });
  } finally {
    rmSync(folder, { recursive: true });
  }

  expect(await dumpSchema(empty.connectionString)).toBe(readFileSync('migrations/schema.sql', 'utf8'));
  // The older version requires its own migrations, and may still be running.
  expect((await rowsOf('schema_migrations')).slice(0, applied.length)).toEqual(applied);
  for (const table of tables.filter((name) => name !== 'schema_migrations')) {
    expect(await rowsOf(table), table).toMatchObject(before.get(table) ?? []);
  }
});

/** Ordered by the columns, from the first. New columns follow the existing ones, so they do not change the order. */
async function rowsOf(table: string): Promise<Record<string, unknown>[]> {
  const rows = await query<{ row: Record<string, unknown> }>(`select to_jsonb(t) as row from ${table} t order by t`);
  return rows.map(({ row }) => row);
}

const TABLES = `select c.relname as name from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' order by 1`;

/**
 * Order of the constraints and indexes of each table, and of the foreign keys that refer to it. The server reports the
 * first violated constraint, prefers the first of two equal indexes, and deletes referring rows in the order of the keys.
 */
const ORDER = `
select i.indrelid::regclass::text as name,
  array_agg(i.indexrelid::regclass::text order by k.oid is null, i.indexrelid) as parts
  from pg_index i join pg_class c on c.oid = i.indrelid
  left join pg_constraint k on k.conindid = i.indexrelid and k.contype in ('p', 'u')
 where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' group by 1
union all
select 'keys of ' || confrelid::regclass, array_agg(conname::text order by oid)
  from pg_constraint where contype = 'f' group by 1
order by 1`;
