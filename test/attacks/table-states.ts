import type { Queryable } from '#platform/postgres/database.ts';
import { sql } from '../support/fixtures.ts';

/**
 * Tables that a rejected request may write to: rate limit counters, the audit trail (security G4), used proofs, and
 * counters of the statistics. `user_active_days` is written in the background for earlier requests.
 */
const MAY_CHANGE = new Set([
  'audit_events',
  'login_failures',
  'rate_limits',
  'replayed_values',
  'statistics_counters',
  'user_active_days',
]);
/** Columns written in the background for earlier requests, and the count of wrong passwords of a session. */
const IGNORED_COLUMNS = ['last_active_at', 'last_active_ip', 'failed_reauths'];

/** Row count and digest of each table that a rejected request must not change. */
export type TableStates = ReadonlyMap<string, string>;

export class TableReader {
  readonly #database: Queryable;
  #query: string | undefined;

  constructor(database: Queryable) {
    this.#database = database;
  }

  async read(): Promise<TableStates> {
    this.#query ??= await this.#buildQuery();
    const rows = await sql<{ name: string; state: string }>(this.#database, this.#query);
    return new Map(rows.map((row) => [row.name, row.state]));
  }

  async #buildQuery(): Promise<string> {
    const tables = await sql<{ name: string }>(
      this.#database,
      `select tablename::text as name from pg_tables where schemaname = current_schema() order by tablename`,
    );
    const ignored = IGNORED_COLUMNS.map((column) => `'${column}'`).join(', ');
    return tables
      .filter(({ name }) => !MAY_CHANGE.has(name))
      .map(
        ({ name }) =>
          `select '${name}' as name, count(*) || ':' ||
             coalesce(sum(hashtextextended((to_jsonb(t) - array[${ignored}])::text, 0)), 0) as state
             from ${name} t`,
      )
      .join(' union all ');
  }
}

/** Returns the tables that differ. */
export function changedTables(before: TableStates, after: TableStates): string[] {
  return [...after].filter(([name, state]) => before.get(name) !== state).map(([name]) => name);
}
