import { randomBytes } from '#platform/base/random.ts';
import type { Connection } from './connection.ts';
import type { LossReports } from './loss-reports.ts';

export interface ConnectionSetOptions {
  /** Opens and prepares one connection, and reports its end to `ended` of this set. */
  readonly open: (ended: (connection: Connection, reason: unknown) => void) => Promise<Connection>;
  readonly max: number;
  /** Kept open when idle. */
  readonly min: number;
  readonly idleTimeoutMs: number | null;
  readonly maxLifetimeMs: number | null;
  /** A connection that owes an answer and has given none for this long is dead: the server ends statements earlier. */
  readonly silenceMs: number;
  readonly losses: LossReports;
  readonly opened: (connection: Connection) => void;
  readonly refused: (reason: unknown) => void;
  /** Whether a further connection is wanted now; asked after a loss and after a failed attempt. */
  readonly isWanting: () => boolean;
}

const FIRST_PAUSE_MS = 100;
/** Short, so that service is back within five seconds of the database's return. */
const MAX_PAUSE_MS = 1_000;

/** Keeps connections of one kind open: grows on demand, replaces what is lost, ends what is idle, old or silent. */
export class ConnectionSet {
  readonly #options: ConnectionSetOptions;
  readonly #connections = new Map<Connection, { retireAt: number }>();
  #opening = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ConnectionSetOptions) {
    this.#options = options;
  }

  /** Open connections, the retired ones included that still owe answers. */
  all(): Iterable<Connection> {
    return this.#connections.keys();
  }

  get openCount(): number {
    return this.#connections.size;
  }

  /** Begins to open one more, unless the set is full or waits before its next attempt. */
  grow(): void {
    if (this.#isClosed || this.#retry !== undefined) return;
    if (this.#connections.size + this.#opening >= this.#options.max) return;
    this.#opening += 1;
    this.#options
      .open((connection, reason) => this.#ended(connection, reason))
      .then(
        (connection) => this.#opened(connection),
        (reason: unknown) => this.#refused(reason),
      );
  }

  #opened(connection: Connection): void {
    this.#opening -= 1;
    this.#pauseMs = FIRST_PAUSE_MS;
    if (this.#isClosed || connection.isLost) {
      void connection.close();
      return;
    }
    this.#connections.set(connection, { retireAt: this.#retirementTime(connection) });
    this.#options.opened(connection);
    if (this.#options.isWanting()) this.grow();
  }

  #refused(reason: unknown): void {
    this.#opening -= 1;
    if (this.#isClosed) return;
    this.#options.losses.refused(reason);
    this.#options.refused(reason);
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      if (this.#options.isWanting()) this.grow();
    }, this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
  }

  #ended(connection: Connection, reason: unknown): void {
    this.#connections.delete(connection);
    if (this.#isClosed) return;
    if (reason !== undefined) this.#options.losses.lost(reason);
    if (this.#options.isWanting()) this.grow();
  }

  /** Called each second. */
  sweep(now: number): void {
    const { idleTimeoutMs, silenceMs, min } = this.#options;
    let staying = this.#connections.size;
    for (const [connection, { retireAt }] of this.#connections) {
      const quietMs = now - connection.lastActiveAt;
      const isIdle = connection.inFlight === 0 && !connection.isLent;
      if (connection.inFlight > 0 && quietMs > silenceMs) {
        connection.destroy(new Error(`no answer for ${Math.round(quietMs / 1000)} s`));
      } else if (connection.isUsable && now > retireAt) {
        connection.retire();
        this.grow();
      } else if (connection.isUsable && isIdle && idleTimeoutMs !== null && quietMs > idleTimeoutMs && staying > min) {
        staying -= 1;
        connection.retire();
      }
    }
  }

  /** Replaces every connection: what they have prepared no longer fits the schema. */
  retireAll(): void {
    for (const connection of [...this.#connections.keys()]) connection.retire();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await Promise.all([...this.#connections.keys()].map((connection) => connection.close()));
  }

  /** Ten percent earlier or later, so that connections opened together do not end together. */
  #retirementTime(connection: Connection): number {
    const { maxLifetimeMs } = this.#options;
    if (maxLifetimeMs === null) return Number.POSITIVE_INFINITY;
    return connection.openedAt + maxLifetimeMs * (0.9 + (0.2 * randomBytes(1).readUInt8(0)) / 255);
  }
}
