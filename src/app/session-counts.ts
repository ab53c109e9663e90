import { countLiveSessions } from '#domain/administration/count-live-sessions.ts';
import type { Gauges } from '#platform/metrics/registry.ts';
import type { Queryable } from '#platform/postgres/database.ts';

const INTERVAL_MS = 300_000;

/** Counts sessions in the background, so that collecting metrics does not wait for it. */
export class SessionCounts {
  readonly #database: Queryable;
  #timer: NodeJS.Timeout | undefined;
  #counts: Awaited<ReturnType<typeof countLiveSessions>> = [];

  /** @param database pool that requests do not wait for */
  constructor(database: Queryable) {
    this.#database = database;
  }

  /** Counts now and every five minutes. */
  async start(): Promise<void> {
    this.#timer ??= setInterval(() => void this.#count(), INTERVAL_MS).unref();
    await this.#count();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  readonly gauges: Gauges = async (set) => {
    for (const { kind, count } of this.#counts) set('latchkey_sessions_active', { kind }, count);
  };

  /** While the database is unavailable, the last counts are kept. */
  async #count(): Promise<void> {
    this.#counts = await countLiveSessions(this.#database).catch(() => this.#counts);
  }
}
