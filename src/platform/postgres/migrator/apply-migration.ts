/** Applies one migration: in a transaction, or statement by statement if it builds indexes concurrently. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, DatabaseError } from 'pg';
import type { Clock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import { isMissingPrivilege, reasonOf } from '../failures.ts';
import type { Migration } from './migration-files.ts';
import { nameOf } from './migration-state.ts';

export const FIRST_PAUSE_MS = 250;
export const MAX_PAUSE_MS = 5_000;
/** Prefix of the `server_state` keys that backfill jobs write when they are done. */
const BACKFILL_DONE = 'backfill:';
const CREATE_INDEX = /^create (?:unique )?index concurrently ([a-z0-9_]+) on /;
const DROP_INDEX = /^drop index concurrently if exists [a-z0-9_]+$/;

/**
 * Applies one migration and inserts its row into `schema_migrations`. Waits for locks in short attempts.
 * @throws ExitError 1 if it fails or its backfill is not done, 75 if it cannot get its locks before `deadline`
 */
export async function applyWithRetries(
  client: Client,
  migration: Migration,
  deadline: number,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<void> {
  await requireBackfill(client, migration);
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    try {
      const durationMs = migration.isConcurrent
        ? await applyConcurrently(client, migration, clock, deadline)
        : await apply(client, migration, clock);
      log.info('db.migrate', `applied migration ${nameOf(migration)}`, { milliseconds: durationMs });
      return;
    } catch (error) {
      if (isMissingPrivilege(error)) throw error;
      if (!isLockProblem(error)) {
        throw new ExitError(ExitCode.failure, `migration ${nameOf(migration)} failed: ${reasonOf(error)}`, {
          cause: error,
        });
      }
      if (pauseMs === FIRST_PAUSE_MS) log.info('db.migrate', `migration ${nameOf(migration)} is waiting for locks`);
      await pauseUntil(
        pauseMs,
        deadline,
        `migration ${nameOf(migration)} could not acquire its locks: ${reasonOf(error)}`,
      );
    }
  }
}

/** Waits before the next attempt. @throws ExitError 75 with `problem` after `deadline` */
export async function pauseUntil(pauseMs: number, deadline: number, problem: string): Promise<void> {
  const leftMs = deadline - performance.now();
  if (leftMs <= 0) throw new ExitError(ExitCode.tempFail, problem);
  await pause(Math.min(pauseMs, leftMs));
}

/**
 * Runs in one transaction. The lock timeout is short, since all other queries would queue behind a waiting ALTER TABLE.
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
    if (command !== 'COMMIT') throw new Error(`the server responded to COMMIT with ${command}`);
    return durationMs;
  } catch (error) {
    // If the connection is lost, the server rolls back on its own.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** Inserts the row last. If the process dies before, the next one finds the indexes and only inserts the row. */
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

/** Requires that the previous version has completed the rows that the new schema's constraints would reject. */
async function requireBackfill(client: Client, migration: Migration): Promise<void> {
  if (migration.backfill === undefined) return;
  const { rowCount } = await client.query('select from server_state where key = $1', [
    `${BACKFILL_DONE}${migration.backfill}`,
  ]);
  if (rowCount === 1) return;
  throw new ExitError(
    ExitCode.failure,
    `migration ${nameOf(migration)} requires the backfill ${migration.backfill}: ` +
      'run the previous version until it logs that the backfill is complete',
  );
}

function isLockProblem(error: unknown): boolean {
  return error instanceof DatabaseError && ['55P03', '40P01', '40001'].includes(error.code ?? '');
}

/**
 * Builds or drops indexes without blocking writes. PostgreSQL allows that only outside a transaction, so each statement
 * must be repeatable. An existing index is kept. An invalid one, left behind by an interrupted build, is dropped and
 * rebuilt.
 * @param lockTimeoutMs maximum wait for older transactions; no other session waits behind it
 * @throws Error if a statement is of neither kind
 */
async function runIndexStatements(client: Client, text: string, lockTimeoutMs: number): Promise<void> {
  const statements = text
    .replace(/^--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim().replace(/\s+/g, ' '))
    .filter((statement) => statement !== '');
  await client.query(`set statement_timeout = 0; set lock_timeout = ${Math.max(1, Math.round(lockTimeoutMs))}`);
  for (const statement of statements) {
    const [, index] = CREATE_INDEX.exec(statement) ?? [];
    if (index === undefined && !DROP_INDEX.test(statement)) {
      throw new Error(
        `expected "create index concurrently" or "drop index concurrently if exists", found: ${statement}`,
      );
    }
    const state = index === undefined ? 'absent' : await stateOf(client, index);
    if (state === 'valid') continue;
    if (state === 'invalid') await client.query(`drop index concurrently ${index}`);
    await client.query(statement);
  }
}

async function stateOf(client: Client, index: string): Promise<'absent' | 'valid' | 'invalid'> {
  const { rows } = await client.query<{ valid: boolean }>(
    'select indisvalid and indisready as valid from pg_index where indexrelid = to_regclass($1)',
    [index],
  );
  if (rows[0] === undefined) return 'absent';
  return rows[0].valid ? 'valid' : 'invalid';
}
