import type { Log } from '#platform/base/log.ts';
import { reasonOf } from './failures.ts';

/** Shortest time between two lines of the same kind: a server that stops ends every connection at once. */
const INTERVAL_MS = 5_000;

/** Tells the operator about lost and refused connections, once for each burst. */
export class LossReports {
  readonly #log: Log;
  readonly #reportedAt = new Map<string, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  lost(reason: unknown): void {
    this.#report('a database connection was lost', reason);
  }

  refused(reason: unknown): void {
    this.#report('the database cannot be reached; trying again', reason);
  }

  #report(message: string, reason: unknown): void {
    const now = performance.now();
    const last = this.#reportedAt.get(message);
    if (last !== undefined && now - last < INTERVAL_MS) return;
    this.#reportedAt.set(message, now);
    this.#log.warn('db.lost', message, { reason: reasonOf(reason) });
  }
}
