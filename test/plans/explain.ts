import { Client } from 'pg';
import { fillTables } from './fill-tables.ts';

/** Plans statements as the running service does, on a filled database and with whole-table scans at a prohibitive price. */
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

  /** The JSON of EXPLAIN for the generic plan, the one that fits any parameters. */
  async explain(text: string): Promise<unknown> {
    await this.#client.query(`prepare planned as ${text}`);
    try {
      const { rows } = await this.#client.query<{ count: number }>(
        `select coalesce(cardinality(parameter_types), 0) as count from pg_prepared_statements where name = 'planned'`,
      );
      const nulls = Array.from({ length: rows[0]?.count ?? 0 }, () => 'null').join(', ');
      const call = nulls === '' ? 'planned' : `planned(${nulls})`;
      const plans = await this.#client.query<{ 'QUERY PLAN': unknown }>(`explain (format json) execute ${call}`);
      return plans.rows[0]?.['QUERY PLAN'];
    } finally {
      await this.#client.query('deallocate planned');
    }
  }

  async close(): Promise<void> {
    await this.#client.end();
  }
}
