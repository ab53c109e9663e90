/**
 * Commands that connections need besides the registered statements: settings of a new session, and BEGIN, COMMIT and
 * ROLLBACK. Behind a transaction pooler, all commands are unnamed, and the settings are sent with each transaction.
 */
import type { Client } from 'pg';
import type { CompleteDatabaseOptions } from './database-options.ts';
import type { Command } from './query.ts';
import { type AnyStatement, parameterValues } from './statement.ts';

/** How statements and transactions are sent: named or unnamed. */
export interface Dialect {
  /** BEGIN, and the timeouts if they are sent with each transaction. Sent together with the first statement. */
  readonly begin: readonly Command[];
  readonly commit: Command;
  readonly rollback: Command;
  readonly toCommand: (statement: AnyStatement, parameters: object) => Command;
}

/** Timeouts that the server enforces for one kind of connection. */
export interface SessionSettings {
  readonly statementTimeoutMs: number;
  /** Maximum wait for a row or table lock. */
  readonly lockTimeoutMs: number;
}

/** Maximum pause between two statements of a transaction, so that a hanging process does not keep its locks. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/** Maximum time that a transaction waits for a lock. */
export const TRANSACTION_LOCK_MS = 3_000;

/** Prepared on each connection, except behind a transaction pooler. */
const BEGIN = transactionCommand('begin');
const COMMIT = transactionCommand('commit');
const ROLLBACK = transactionCommand('rollback');

/** The lock timeout is short, since all later statements on the shared connection wait as well. */
export function sharedSettings(options: CompleteDatabaseOptions): SessionSettings {
  return { statementTimeoutMs: options.statementTimeoutSeconds * 1000, lockTimeoutMs: 1_000 };
}

export function exclusiveSettings(options: CompleteDatabaseOptions): SessionSettings {
  return { statementTimeoutMs: options.statementTimeoutSeconds * 1000, lockTimeoutMs: TRANSACTION_LOCK_MS };
}

/**
 * Prepares a new connection. Does not use startup parameters, because poolers reject them.
 *
 * Plans are generic: created once for all parameters. They use an index even if a table is so small that a sequential
 * scan would be cheaper. The reason is that a plan lasts as long as its connection, and the table may grow. The test of
 * the plans checks these plans.
 *
 * For statements that do require a sequential scan, servers before 18 then estimate very high costs. They would compile
 * the statement and start parallel workers, which takes more than a second, so both are disabled.
 *
 * A role's or database's `synchronous_commit = off` is overridden, since a response promises that its changes are
 * stored.
 * @returns the server's response time for a statement, in milliseconds
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

/** Returns a command with the timeouts, to be sent before a statement or transaction behind a transaction pooler. */
export function localSettings(settings: SessionSettings): Command {
  const values = {
    statement_timeout: settings.statementTimeoutMs,
    lock_timeout: settings.lockTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  };
  const calls = Object.entries(values).map(([name, value]) => `set_config('${name}', '${value}', true)`);
  return { label: 'db.settings', name: undefined, text: `select ${calls.join(', ')}`, params: [] };
}

/** Returns how transactions and statements are sent with the configured pooler. */
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
