import { setTimeout as pause } from 'node:timers/promises';
import { type Client, DatabaseError } from 'pg';
import type { Clock } from '#platform/base/clock.ts';
import { ExitError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import { connectPatiently } from '../connect-patiently.ts';
import type { ConnectionTarget } from '../connection-target.ts';
import { reasonOf } from '../failures.ts';
import { checkServer } from '../server-checks.ts';
import { runIndexStatements } from './concurrent-indexes.ts';
import { type Migration, readMigrations } from './migration-files.ts';
import { CREATE_SCHEMA_MIGRATIONS, type MigrationState, nameOf, readState } from './migration-state.ts';

export interface MigrateOptions {
  /** A direct connection, not one through a transaction pooler: the lock belongs to the session. */
  readonly connection: ConnectionTarget;
  /** Folder of the numbered SQL files. */
  readonly directory: string | URL;
  readonly log: Log;
  readonly clock: Clock;
  readonly connectTimeoutSeconds?: number;
  /** Longest wait for another process that migrates, and for locks of running statements. */
  readonly timeoutSeconds?: number;
  /** Only tells what is pending. */
  readonly check?: boolean;
}

export interface MigrateResult {
  /** Names like `0001-foundation`, in the order they were applied now. */
  readonly applied: readonly string[];
  readonly pending: readonly string[];
}

const CONNECT_TIMEOUT_SECONDS = 30;
const TIMEOUT_SECONDS = 600;
/** Ours among the advisory locks of a database; any fixed number does. */
const LOCK = '7810217731184421153';
/** Keys of `server_state` that the jobs of back-fills leave. */
const BACKFILL_DONE = 'backfill:';
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;

/**
 * Brings the database to the schema of this program, each migration in one transaction, but those that build indexes
 * concurrently. Of several processes one migrates, the others wait and find nothing left to do.
 * @throws ExitError 1 when the database is not ours to migrate or a migration failed, 69 when it cannot be reached, 75
 *   when another process migrates, or holds locks, for too long
 */
export async function migrate(options: MigrateOptions): Promise<MigrateResult> {
  const migrations = readMigrations(options.directory);
  return await withClient(options, async (client) => {
    const state = await readState(client, migrations);
    warnOfUnknown(state, options.log);
    if (options.check === true || state.pending.length === 0) {
      return { applied: [], pending: state.pending.map(nameOf) };
    }
    const deadline = performance.now() + (options.timeoutSeconds ?? TIMEOUT_SECONDS) * 1000;
    await lock(client, deadline, options.log);
    await client.query(CREATE_SCHEMA_MIGRATIONS);
    // Read again: another process may have migrated while this one waited.
    const { pending } = await readState(client, migrations);
    for (const migration of pending) {
      await requireBackfill(client, migration);
      await applyPatiently(client, migration, deadline, options);
    }
    return { applied: pending.map(nameOf), pending: [] };
  });
}

/** What is applied, pending and unknown. Throws as `migrate` does. */
export async function migrationStatus(options: MigrateOptions): Promise<MigrationState> {
  const migrations = readMigrations(options.directory);
  return await withClient(options, (client) => readState(client, migrations));
}

async function withClient<T>(options: MigrateOptions, work: (client: Client) => Promise<T>): Promise<T> {
  const { connection, connectTimeoutSeconds = CONNECT_TIMEOUT_SECONDS, log } = options;
  const client = await connectPatiently(
    { connection, applicationName: 'latchkey migrate' },
    connectTimeoutSeconds,
    log,
  );
  try {
    await checkServer(client);
    return await work(client);
  } finally {
    // Ends the session and with it the lock.
    await client.end();
  }
}

/** By tries, since a waiting session would hold up `create index concurrently` elsewhere. */
async function lock(client: Client, deadline: number, log: Log): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    const { rows } = await client.query<{ locked: boolean }>(`select pg_try_advisory_lock(${LOCK}) as locked`);
    if (rows[0]?.locked === true) return;
    if (pauseMs === FIRST_PAUSE_MS) log.info('db.migrate', 'another process migrates the database; waiting for it');
    await pauseUntil(pauseMs, deadline, 'another process is still migrating the database');
  }
}

async function applyPatiently(
  client: Client,
  migration: Migration,
  deadline: number,
  { clock, log }: MigrateOptions,
): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    try {
      const durationMs = migration.isConcurrent
        ? await applyConcurrently(client, migration, clock, deadline)
        : await apply(client, migration, clock);
      log.info('db.migrate', `applied migration ${nameOf(migration)}`, { milliseconds: durationMs });
      return;
    } catch (error) {
      if (!isLockProblem(error)) {
        throw new ExitError(1, `migration ${nameOf(migration)} failed: ${reasonOf(error)}`, { cause: error });
      }
      if (pauseMs === FIRST_PAUSE_MS) log.info('db.migrate', `migration ${nameOf(migration)} waits for locks`);
      await pauseUntil(pauseMs, deadline, `migration ${nameOf(migration)} cannot get its locks: ${reasonOf(error)}`);
    }
  }
}

/**
 * One migration and its row. The lock time-out keeps a waiting ALTER TABLE from queueing all traffic behind itself.
 */
async function apply(client: Client, migration: Migration, clock: Clock): Promise<number> {
  const startedAt = performance.now();
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = '3s'; set local statement_timeout = 0`);
    await client.query(migration.text);
    const durationMs = Math.round(performance.now() - startedAt);
    await record(client, migration, clock, durationMs);
    const { command } = await client.query('commit');
    if (command !== 'COMMIT') throw new Error(`the server answered COMMIT with ${command}`);
    return durationMs;
  } catch (error) {
    // On a lost connection the server has rolled back by itself.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** Its row comes last: a process that dies in between finds the indexes built and only writes the row. */
async function applyConcurrently(
  client: Client,
  migration: Migration,
  clock: Clock,
  deadline: number,
): Promise<number> {
  const startedAt = performance.now();
  await runIndexStatements(client, migration.text, deadline - startedAt);
  const durationMs = Math.round(performance.now() - startedAt);
  await record(client, migration, clock, durationMs);
  return durationMs;
}

async function record(client: Client, migration: Migration, clock: Clock, durationMs: number): Promise<void> {
  const { version, name, checksum, kind, minReader } = migration;
  await client.query(
    `insert into schema_migrations (version, name, checksum, kind, min_reader, applied_at, duration_ms)
    values ($1, $2, $3, $4, $5, $6, $7)`,
    [version, name, checksum, kind, minReader, new Date(clock.now()), durationMs],
  );
}

/** Rows that the version before has still to fill in must not meet a schema that forbids their gaps. */
async function requireBackfill(client: Client, migration: Migration): Promise<void> {
  if (migration.backfill === undefined) return;
  const { rowCount } = await client.query('select from server_state where key = $1', [
    `${BACKFILL_DONE}${migration.backfill}`,
  ]);
  if (rowCount === 1) return;
  throw new ExitError(
    1,
    `migration ${nameOf(migration)} waits for the back-fill ${migration.backfill}: ` +
      'run the version before this one until its log says that it is done',
  );
}

function isLockProblem(error: unknown): boolean {
  return error instanceof DatabaseError && ['55P03', '40P01', '40001'].includes(error.code ?? '');
}

async function pauseUntil(pauseMs: number, deadline: number, problem: string): Promise<void> {
  const leftMs = deadline - performance.now();
  if (leftMs <= 0) throw new ExitError(75, problem);
  await pause(Math.min(pauseMs, leftMs));
}

function warnOfUnknown({ unknown }: MigrationState, log: Log): void {
  if (unknown.length === 0) return;
  log.warn('db.migrate', 'the database was migrated by a newer version of Latchkey', {
    migrations: unknown.map(nameOf).join(', '),
  });
}
