/**
 * The commands that the connections need besides the registered statements: settings of a new session, and BEGIN,
 * COMMIT and ROLLBACK. Behind a transaction pooler no command has a name, and the settings are sent again with each
 * transaction.
 */
import type { Client } from 'pg';
import type { CompleteDatabaseOptions } from './database-options.ts';
import type { Command } from './query.ts';
import { type AnyStatement, parameterValues } from './statement.ts';

/** How statements and transactions are sent: with or without names. */
export interface Dialect {
  /** BEGIN, and the time-outs where they are sent with each transaction; sent together with the first statement. */
  readonly begin: readonly Command[];
  readonly commit: Command;
  readonly rollback: Command;
  readonly toCommand: (statement: AnyStatement, parameters: object) => Command;
}

/** Time-outs that the server enforces for one kind of connection. */
export interface SessionSettings {
  readonly statementTimeoutMs: number;
  /** Longest wait for a row or table lock. */
  readonly lockTimeoutMs: number;
}

/** Longest pause between two statements of a transaction: a process that hangs must not keep its locks. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/** Longest wait of a transaction for a lock. */
export const TRANSACTION_LOCK_MS = 3_000;

/** Prepared on each connection, except behind a transaction pooler. */
const BEGIN = transactionCommand('begin');
const COMMIT = transactionCommand('commit');
const ROLLBACK = transactionCommand('rollback');

/** The lock time-out is short: everything sent later on the shared connection waits as well. */
export function sharedSettings(options: CompleteDatabaseOptions): SessionSettings {
  return { statementTimeoutMs: options.statementTimeoutSeconds * 1000, lockTimeoutMs: 1_000 };
}

export function exclusiveSettings(options: CompleteDatabaseOptions): SessionSettings {
  return { statementTimeoutMs: options.statementTimeoutSeconds * 1000, lockTimeoutMs: TRANSACTION_LOCK_MS };
}

/**
 * Prepares a new connection. Start-up parameters are not used for this, since poolers refuse them.
 *
 * Plans are generic, that is, made once for all parameters. They use an index even where a table is so small that a
 * sequential scan would be cheaper: a plan lives as long as its connection, and the table may grow in that time. The
 * test of the plans checks these plans. For statements that do need a sequential scan, servers before 18 then estimate
 * such high costs that they would compile the statement and start parallel workers, which takes a second and more. A
 * role or database with `synchronous_commit = off` is overruled, since an answer promises that its changes are stored.
 * @returns how many milliseconds the server takes for a statement
 */
export async function prepareSession(client: Client, settings: SessionSettings): Promise<number> {
  await client.query(`
    set statement_timeout = ${settings.statementTimeoutMs};
    set lock_timeout = ${settings.lockTimeoutMs};
    set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS};
    set plan_cache_mode = force_generic_plan;
    set enable_seqscan = off;
    set jit = off;
    set max_parallel_workers_per_gather = 0;
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`);
  let quickestMs = Number.POSITIVE_INFINITY;
  for (const command of [BEGIN, ROLLBACK]) {
    const startedAt = performance.now();
    await client.query({ name: command.name, text: command.text });
    quickestMs = Math.min(quickestMs, performance.now() - startedAt);
  }
  return quickestMs;
}

/** The time-outs as one command that is sent before a statement or transaction, for use behind a transaction pooler. */
export function localSettings(settings: SessionSettings): Command {
  const values = {
    statement_timeout: settings.statementTimeoutMs,
    lock_timeout: settings.lockTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  };
  const calls = Object.entries(values).map(([name, value]) => `set_config('${name}', '${value}', true)`);
  return { label: 'db.settings', name: undefined, text: `select ${calls.join(', ')}`, params: [] };
}

/** How transactions and statements are sent with the configured pooler. */
export function dialectOf(options: CompleteDatabaseOptions): Dialect {
  if (options.pooler !== 'transaction') {
    return { begin: [BEGIN], commit: COMMIT, rollback: ROLLBACK, toCommand: namedCommand };
  }
  return {
    begin: [withoutName(BEGIN), localSettings(exclusiveSettings(options))],
    commit: withoutName(COMMIT),
    rollback: withoutName(ROLLBACK),
    toCommand: unnamedCommand,
  };
}

function namedCommand(made: AnyStatement, parameters: object): Command {
  return { label: made.label, name: made.name, text: made.text, params: parameterValues(made, parameters) };
}

function unnamedCommand(made: AnyStatement, parameters: object): Command {
  return { label: made.label, name: undefined, text: made.text, params: parameterValues(made, parameters) };
}

function withoutName(command: Command): Command {
  return { ...command, name: undefined };
}

function transactionCommand(text: string): Command {
  return { label: `db.${text}`, name: `latchkey-${text}`, text, params: [] };
}
