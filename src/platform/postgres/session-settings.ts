import type { Client } from 'pg';
import type { Command } from './command.ts';

/** Bounds that the server itself keeps for one kind of connection. */
export interface SessionSettings {
  readonly statementTimeoutMs: number;
  /** Longest wait for a row or table lock: on a shared connection everything behind the statement waits as well. */
  readonly lockTimeoutMs: number;
}

/** Longest pause between two statements of a transaction; a frozen process must not keep its locks. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/** The commands that bracket transactions; prepared on each connection, but behind a transaction pooler. */
export const BEGIN = transactionCommand('begin');
export const COMMIT = transactionCommand('commit');
export const ROLLBACK = transactionCommand('rollback');

function transactionCommand(text: string): Command {
  return { label: `db.${text}`, name: `latchkey-${text}`, text, params: [] };
}

/**
 * Prepares a new connection. Not done by start-up parameters, which poolers refuse.
 *
 * Plans are generic, that is made once for all parameters, and look up by index also where a table is so small that
 * reading it whole would be cheaper: a plan lives as long as its connection, and the table may grow meanwhile. These
 * are the plans that the plan test judges. Where a table has to be read whole all the same, servers before 18 count
 * that as so dear that they would compile the statement and start workers for it, at a second and more. An account
 * or database with `synchronous_commit = off` is overruled, since an answer promises what it says is stored.
 */
export async function prepareSession(client: Client, settings: SessionSettings): Promise<void> {
  await client.query(`
    set statement_timeout = ${settings.statementTimeoutMs};
    set lock_timeout = ${settings.lockTimeoutMs};
    set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS};
    set plan_cache_mode = force_generic_plan;
    set enable_seqscan = off;
    set jit = off;
    set max_parallel_workers_per_gather = 0;
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`);
  for (const command of [BEGIN, ROLLBACK]) await client.query({ name: command.name, text: command.text });
}

/** The same as one command of the transaction that follows it, for servers behind a transaction pooler. */
export function localSettings(settings: SessionSettings): Command {
  const values = {
    statement_timeout: settings.statementTimeoutMs,
    lock_timeout: settings.lockTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  };
  const calls = Object.entries(values).map(([name, value]) => `set_config('${name}', '${value}', true)`);
  return { label: 'db.settings', name: undefined, text: `select ${calls.join(', ')}`, params: [] };
}
