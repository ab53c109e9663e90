import { Client } from 'pg';
import type { AnyStatement } from '#platform/postgres/statement.ts';
import { fillTables } from './fill-tables.ts';

/** Plans statements like the running service, on a filled database and with prohibitive costs for sequential scans. */
export class Explainer {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async open(connectionString: string): Promise<Explainer> {
    const client = new Client({ connectionString });
    await client.connect();
    await fillTables(client);
    await client.query('set plan_cache_mode = force_generic_plan; set enable_seqscan = off');
    return new Explainer(client);
  }

  /** Returns the JSON of EXPLAIN for the generic plan, which is independent of parameters. */
  async explain(text: string): Promise<unknown> {
    return (await this.describe(text)).plan;
  }

  /** Returns the same with the types of the parameters, in the order of their numbers. */
  async describe(text: string): Promise<{ readonly plan: unknown; readonly types: readonly string[] }> {
    await this.#client.query(`prepare planned as ${text}`);
    try {
      const { rows } = await this.#client.query<{ types: string[] }>(
        `select coalesce(parameter_types::text[], '{}') as types from pg_prepared_statements where name = 'planned'`,
      );
      const types = rows[0]?.types ?? [];
      const call = types.length === 0 ? 'planned' : `planned(${types.map(() => 'null').join(', ')})`;
      const plans = await this.#client.query<{ 'QUERY PLAN': unknown }>(`explain (format json) execute ${call}`);
      return { plan: plans.rows[0]?.['QUERY PLAN'], types };
    } finally {
      await this.#client.query('deallocate planned');
    }
  }

  /**
   * Returns the JSON of EXPLAIN (ANALYZE) for the generic plan: what the statement read with these parameters.
   * @param parameters by name, in PostgreSQL syntax; null for omitted ones
   */
  async run(made: AnyStatement, parameters: Readonly<Record<string, string>>): Promise<unknown> {
    const values = made.parameterNames.map((name) => {
      const value = parameters[name];
      return value === undefined ? 'null' : this.#client.escapeLiteral(value);
    });
    await this.#client.query(`prepare run as ${made.text}`);
    try {
      const { rows } = await this.#client.query<{ 'QUERY PLAN': unknown }>(
        `explain (analyze, buffers, timing off, format json) execute run${values.length === 0 ? '' : `(${values.join(', ')})`}`,
      );
      return rows[0]?.['QUERY PLAN'];
    } finally {
      await this.#client.query('deallocate run');
    }
  }

  /** Runs a statement that inserts a test's rows. */
  async fill(text: string): Promise<void> {
    await this.#client.query(text);
  }

  async close(): Promise<void> {
    await this.#client.end();
  }
}
