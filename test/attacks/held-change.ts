import pg from 'pg';

const DEADLINE_MS = 30_000;

/** A row change that another process has made but not yet committed. */
export class HeldChange {
  readonly #client: pg.Client;
  readonly #watcher: pg.Client;

  private constructor(client: pg.Client, watcher: pg.Client) {
    this.#client = client;
    this.#watcher = watcher;
  }

  /** Makes the change and keeps its transaction open. */
  static async make(connectionString: string, text: string, params: readonly unknown[]): Promise<HeldChange> {
    const client = new pg.Client({ connectionString });
    const watcher = new pg.Client({ connectionString });
    await Promise.all([client.connect(), watcher.connect()]);
    await client.query('begin');
    const { rowCount } = await client.query(text, [...params]);
    if (rowCount !== 1) throw new Error(`${rowCount ?? 'no'} rows changed by ${text}`);
    return new HeldChange(client, watcher);
  }

  /**
   * Commits as soon as `work` waits for the change, or has settled without waiting.
   * @param waiting number of its statements that wait at the same time
   * @returns its result
   */
  async commitDuring<T>(work: Promise<T>, waiting = 1): Promise<T> {
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    work.then(over, over);
    try {
      const deadline = performance.now() + DEADLINE_MS;
      while (!isOver && (await this.#countWaiting()) < waiting) {
        if (performance.now() > deadline) throw new Error('no request waits for the change');
      }
      await this.#client.query('commit');
      return await work;
    } finally {
      await Promise.all([this.#client.end(), this.#watcher.end()]);
    }
  }

  async #countWaiting(): Promise<number> {
    const { rows } = await this.#watcher.query<{ waiting: number }>(
      `select count(*)::integer as waiting from pg_stat_activity other
        where other.datname = current_database() and cardinality(pg_blocking_pids(other.pid)) > 0`,
    );
    return rows[0]?.waiting ?? 0;
  }
}
