/**
 * Migrates an empty database, and the previous schemas with rows in every table, to the current schema. The program is
 * killed in each migration (security F-22, O-08; operations 8.3).
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { systemClock } from '#platform/base/clock.ts';
import { migrate } from '#platform/postgres/migrator/migrate.ts';
import { type Migration, readMigrations } from '#platform/postgres/migrator/migration-files.ts';
import { CREATE_SCHEMA_MIGRATIONS } from '#platform/postgres/migrator/migration-state.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createEmptyDatabase } from '#test/support/database.ts';
import { waitUntil } from '#test/support/postgres-server.ts';
import { killProcess, Program } from '#test/support/program.js';
import { dumpSchema } from '#test/support/schema-dump.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { fillTables } from '../plans/fill-tables.ts';

const ROWS = 6;
/** Key of the advisory lock that stops a migration at its last statement. */
const LOCK = 22;
const MIGRATOR = 'latchkey migrate';
/** Helper table of this test in the migrated schema. */
const HELD = 'held_migration';

/**
 * Each migration's last statement inserts its row into `schema_migrations`. The migration named in `HELD` waits there.
 */
const HOLD = `
create table ${HELD} (version integer not null);
insert into ${HELD} values (0);
create function hold_migration() returns trigger language plpgsql as $$
begin
  if exists (select from ${HELD} where version = new.version) then perform pg_advisory_xact_lock(${LOCK}); end if;
  return new;
end $$;
create trigger hold_migration before insert on schema_migrations for each row execute function hold_migration()`;

const MIGRATIONS = readMigrations('migrations');
/** As a database of a version before the first release gets them. */
const FROM_PRE_RELEASE = [...readMigrations('migrations/pre-release'), ...MIGRATIONS.slice(1)];
/** Last migration of the oldest version that `tools/upgrade` starts from. */
const OLDEST = 39;

interface Place {
  readonly connectionString: string;
  readonly program: Program;
  readonly client: Client;
}

/** Runs `work` with an empty database, whose migrations can be held, and with the program that migrates it. */
async function inPlace(work: (place: Place) => Promise<void>): Promise<void> {
  const empty = await createEmptyDatabase();
  const { connectionString } = empty;
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-interrupted-'));
  const client = new Client({ connectionString });
  try {
    await client.connect();
    await client.query(CREATE_SCHEMA_MIGRATIONS);
    await client.query(HOLD);
    const program = new Program(folder, {
      data_dir: join(folder, 'data'),
      database: { uri: connectionString },
      logging: { level: 'error' },
    });
    await work({ connectionString, program, client });
  } finally {
    await client.end();
    await empty.drop();
    rmSync(folder, { recursive: true });
  }
}

// At the same time: each waits for processes that start and end.
test.concurrent('a process killed during any migration leaves it complete or rolled back, and the next one continues with every row', async () => {
  await inPlace(async (place) => await interruptEach(place, MIGRATIONS, new Set()));
}, 240_000);

test.concurrent('and so does one that migrates a database of a version before the first release', async () => {
  await inPlace(async (place) => {
    const connection = parseConnectionUri(place.connectionString);
    const only = FROM_PRE_RELEASE.filter(({ version }) => version <= OLDEST);
    await migrate({ connection, directory: 'migrations', only, log: silentLog, clock: systemClock });
    const filled = await fillTables(place.client, { rows: ROWS, except: new Set([HELD]) });
    await interruptEach(place, FROM_PRE_RELEASE.slice(only.length), new Set(filled));
  });
}, 240_000);

/** Interrupts each of the pending migrations, and fills its tables. Then requires the current schema and all rows. */
async function interruptEach(place: Place, migrations: readonly Migration[], filled: Set<string>): Promise<void> {
  const { connectionString, program, client } = place;
  for (const [index, { version }] of migrations.entries()) {
    await killIn(place, version, { isServerTold: index % 2 === 0 });
    for (const table of await fillTables(client, { rows: ROWS, except: new Set([...filled, HELD]) })) filled.add(table);
  }
  await program.run(['database', 'migrate']);
  await client.query('drop trigger hold_migration on schema_migrations; drop function hold_migration()');
  await client.query(`drop table ${HELD}`);
  expect(await dumpSchema(connectionString)).toBe(readFileSync('migrations/schema.sql', 'utf8'));
  const counts: Record<string, number> = {};
  for (const table of filled) counts[table] = await countRows(client, table);
  const fewer = Object.entries(counts).filter(([, count]) => count < ROWS);
  expect(fewer).toEqual([]);
}

/**
 * Kills the program at the end of a migration. The server either notices immediately, as after a connection reset, or
 * finishes the current statement, as when the machine fails.
 */
async function killIn(
  { program, client }: Place,
  version: number,
  { isServerTold }: { isServerTold: boolean },
): Promise<void> {
  await client.query(`update ${HELD} set version = ${version}`);
  await client.query(`select pg_advisory_lock(${LOCK})`);
  const child = program.launch(['database', 'migrate']);
  await waitUntil(() => isThere(client, HELD_MIGRATION), `migration ${version} to reach its end`);
  await killProcess(child);
  if (isServerTold) {
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${OF_MIGRATOR}`);
  }
  await client.query(`select pg_advisory_unlock(${LOCK})`);
  await waitUntil(
    async () => !(await isThere(client, `select from pg_stat_activity where ${OF_MIGRATOR}`)),
    'its connection',
  );
}

const HELD_MIGRATION = `select from pg_locks
  where locktype = 'advisory' and objid = ${LOCK} and not granted
    and database = (select oid from pg_database where datname = current_database())`;
const OF_MIGRATOR = `application_name = '${MIGRATOR}' and datname = current_database()`;

async function isThere(client: Client, query: string): Promise<boolean> {
  return (await client.query(query)).rowCount !== 0;
}

/** Returns `ROWS` for a table that a later migration drops. */
async function countRows(client: Client, table: string): Promise<number> {
  if (!(await isThere(client, `select where to_regclass('${table}') is not null`))) return ROWS;
  return (await client.query(`select from ${table}`)).rowCount ?? 0;
}
