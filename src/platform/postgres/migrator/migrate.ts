/** Migrates a database to the schema of this program, or reports its status. */
import { type Client, DatabaseError } from 'pg';
import type { Clock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import { checkServer, connectWithRetries } from '../connect.ts';
import type { ConnectionTarget } from '../database-options.ts';
import { grantText, isMissingPrivilege, privilegeAdvice, reasonOf } from '../failures.ts';
import { applyWithRetries, FIRST_PAUSE_MS, MAX_PAUSE_MS, pauseUntil } from './apply-migration.ts';
import type { MigrationName } from './migration-files.ts';
import { CREATE_SCHEMA_MIGRATIONS, type MigrationState, nameOf, readState } from './migration-state.ts';

export interface MigrateOptions {
  /** A direct connection, not one through a transaction pooler, because the lock belongs to the session. */
  readonly connection: ConnectionTarget;
  /** Directory of the numbered SQL files. */
  readonly directory: string | URL;
  readonly log: Log;
  readonly clock: Clock;
  readonly connectTimeoutSeconds?: number;
  /** Maximum wait for another migrating process, and for locks of running statements. */
  readonly timeoutSeconds?: number;
  /** Only lists pending migrations. */
  readonly check?: boolean;
  /** Migrations to apply. Others stay pending, and must not have been applied already. */
  readonly only?: readonly MigrationName[];
  /** Called, while the lock is held, before a contraction of a database that is already in use. */
  readonly beforeContraction?: (() => Promise<void>) | undefined;
}

export interface MigrateResult {
  /** Names such as `0001-baseline`, in order of their application. */
  readonly applied: readonly string[];
  readonly pending: readonly string[];
}

const CONNECT_TIMEOUT_SECONDS = 30;
const TIMEOUT_SECONDS = 600;
/** Key of the advisory lock: an arbitrary fixed number. */
const LOCK = '7810217731184421153';

/**
 * Migrates the database to the schema of this program. Each migration runs in a transaction, unless it builds indexes
 * concurrently. If several processes start this, one migrates, and the others wait and find nothing left to do.
 * @throws ExitError 1 if the database belongs to another program or a migration failed
 * @throws ExitError 69 if the database cannot be reached
 * @throws ExitError 75 if another process migrates, or holds locks, for too long
 */
export async function migrate(options: MigrateOptions): Promise<MigrateResult> {
  const { directory, only } = options;
  const names = only && new Set(only.map(nameOf));
  const isWanted = (migration: MigrationName) => names?.has(nameOf(migration)) !== false;
  return await withClient(options, async (client) => {
    const state = await readState(client, directory, only);
    const unwanted = state.applied.find((migration) => !isWanted(migration));
    if (unwanted !== undefined) {
      throw new ExitError(
        ExitCode.failure,
        `the database is newer: migration ${nameOf(unwanted)} was applied; use an empty database`,
      );
    }
    warnOfUnknown(state, options.log);
    if (options.check === true || state.pending.length === 0) {
      return { applied: [], pending: state.pending.map(nameOf) };
    }
    const deadline = performance.now() + (options.timeoutSeconds ?? TIMEOUT_SECONDS) * 1000;
    const problem = await privilegeProblem(client);
    if (problem !== undefined) throw new ExitError(ExitCode.unavailable, problem);
    await lock(client, deadline, options.log);
    await client.query(CREATE_SCHEMA_MIGRATIONS);
    // Read again, since another process may have migrated while this one was waiting.
    const { applied, pending } = await readState(client, directory, only);
    const wanted = pending.filter(isWanted);
    const isContracted = wanted.some(({ kind }) => kind === 'contract');
    if (isContracted && applied.length > 0) await options.beforeContraction?.();
    for (const migration of wanted) {
      await applyWithRetries(client, migration, deadline, options);
    }
    return { applied: wanted.map(nameOf), pending: pending.filter((one) => !isWanted(one)).map(nameOf) };
  });
}

interface MigrationStatus extends MigrationState {
  /** Why pending migrations cannot be applied, and which privilege to grant. */
  readonly problem: string | undefined;
}

/** Returns the applied, pending and unknown migrations. Throws as `migrate` does. */
export async function migrationStatus(options: MigrateOptions): Promise<MigrationStatus> {
  return await withClient(options, async (client) => {
    const state = await readState(client, options.directory);
    return { ...state, problem: state.pending.length === 0 ? undefined : await privilegeProblem(client) };
  });
}

async function privilegeProblem(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ role: string; schema: string; database: string; may_create: boolean }>(`
    select quote_ident(current_user) as role, quote_ident(current_schema()) as schema,
      quote_ident(current_database()) as database, has_schema_privilege(current_schema(), 'CREATE') as may_create`);
  const [found] = rows;
  if (found === undefined || found.may_create) return undefined;
  const { database, role, schema } = found;
  return `the role ${role} may not create tables in schema ${schema} of database ${database}. ${grantText({ role, schema })}`;
}

async function withClient<T>(options: MigrateOptions, work: (client: Client) => Promise<T>): Promise<T> {
  const { connection, connectTimeoutSeconds = CONNECT_TIMEOUT_SECONDS, log } = options;
  const client = await connectWithRetries(
    { connection, applicationName: 'latchkey migrate' },
    connectTimeoutSeconds,
    log,
  );
  try {
    await checkServer(client);
    return await work(client);
  } catch (error) {
    if (!(error instanceof DatabaseError) || !isMissingPrivilege(error)) throw error;
    throw new ExitError(ExitCode.unavailable, `${reasonOf(error)}${privilegeAdvice(error)}`, { cause: error });
  } finally {
    // Ends the session, which releases the lock.
    await client.end();
  }
}

/** Polls, because a session that waits for the lock would block `create index concurrently` in another one. */
async function lock(client: Client, deadline: number, log: Log): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    const { rows } = await client.query<{ locked: boolean }>(`select pg_try_advisory_lock(${LOCK}) as locked`);
    if (rows[0]?.locked === true) return;
    if (pauseMs === FIRST_PAUSE_MS) log.info('db.migrate', 'another process is migrating the database; waiting for it');
    await pauseUntil(pauseMs, deadline, 'another process is still migrating the database');
  }
}

function warnOfUnknown({ unknown }: MigrationState, log: Log): void {
  if (unknown.length === 0) return;
  log.warn('db.migrate', 'the database was migrated by a newer version of Latchkey', {
    migrations: unknown.map(nameOf).join(', '),
  });
}
