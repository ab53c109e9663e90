import type { Log } from '#platform/base/log.ts';
import { randomBytes } from '#platform/base/random.ts';
import type { Connection } from './connection.ts';
import { adviceOn, reasonOf } from './failures.ts';

export interface ConnectionSetOptions {
  /** Opens and prepares one connection, and calls `ended` when it ends. */
  readonly open: (ended: (connection: Connection, reason: unknown) => void) => Promise<Connection>;
  readonly max: number;
  /** Number of connections kept open when idle. */
  readonly min: number;
  readonly idleTimeoutMs: number | null;
  readonly maxLifetimeMs: number | null;
  /**
   * A connection with an overdue response is considered lost after this time. The server's timeout ends statements
   * earlier.
   */
  readonly silenceMs: number;
  readonly lossLog: LossLog;
  readonly opened: (connection: Connection) => void;
  readonly refused: (reason: unknown) => void;
  /** Whether another connection is needed now. Called after a lost connection and after a failed attempt. */
  readonly needsConnection: () => boolean;
}

const FIRST_PAUSE_MS = 100;
/** Short, so that the service recovers within five seconds of the database. */
const MAX_PAUSE_MS = 1_000;
const RENEWAL_INTERVAL_MS = 1_000;

/**
 * The open connections of one pool. Opens connections on demand, replaces lost ones, and closes those that are idle for
 * too long, too old or unresponsive.
 */
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

  /** Open connections, including retired ones with statements in progress. */
  all(): Iterable<Connection> {
    return this.#connections.keys();
  }

  get openCount(): number {
    return this.#connections.size;
  }

  /** Starts opening a connection, unless the set is full or pauses after a failed attempt. */
  grow(): void {
    if (this.#isClosed || this.#retry !== undefined) return;
    if (this.#connections.size + this.#opening >= this.#options.max) return;
    this.#opening += 1;
    const startedAt = performance.now();
    this.#options
      .open((connection, reason) => this.#ended(connection, reason))
      .then(
        (connection) => this.#opened(connection),
        (reason: unknown) => this.#refused(reason, performance.now() - startedAt),
      );
  }

  #opened(connection: Connection): void {
    this.#opening -= 1;
    this.#pauseMs = FIRST_PAUSE_MS;
    if (this.#isClosed || connection.isLost) {
      void connection.close();
      return;
    }
    this.#retireOneThatIsTooOld();
    this.#connections.set(connection, { retireAt: this.#retirementTime(connection) });
    this.#options.opened(connection);
    if (this.#options.needsConnection()) this.grow();
  }

  /**
   * Called only when a replacement is open. Until then the old connection is kept, since the server may have become
   * unreachable or refuse new connections.
   */
  #retireOneThatIsTooOld(): void {
    const now = performance.now();
    for (const [connection, { retireAt }] of this.#connections) {
      if (!connection.isUsable || now <= retireAt) continue;
      connection.retire();
      return;
    }
  }

  /** @param tookMs duration of the attempt, which counts towards the pause */
  #refused(reason: unknown, tookMs: number): void {
    this.#opening -= 1;
    if (this.#isClosed) return;
    this.#options.lossLog.refused(reason);
    this.#options.refused(reason);
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      if (this.#options.needsConnection()) this.grow();
    }, this.#pauseMs - tookMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
  }

  #ended(connection: Connection, reason: unknown): void {
    this.#connections.delete(connection);
    if (this.#isClosed) return;
    if (reason !== undefined) this.#options.lossLog.lost(reason);
    if (this.#options.needsConnection()) this.grow();
  }

  /**
   * Closes or replaces connections that are due. Called once a second.
   * @returns whether a response from the server is overdue
   */
  sweep(now: number): boolean {
    const { idleTimeoutMs, silenceMs, min } = this.#options;
    let remaining = this.#connections.size;
    let isSilent = false;
    // One at a time, because a full set gives up a working connection before its replacement is open, which may fail.
    let mayReplace = this.#opening === 0 && ![...this.#connections.keys()].some(({ isRetired }) => isRetired);
    for (const [connection, { retireAt }] of this.#connections) {
      const quietMs = now - connection.lastActiveAt;
      const isIdle = connection.inFlight === 0 && !connection.isLent;
      if (connection.inFlight > 0 && quietMs > silenceMs) {
        isSilent = true;
        connection.destroy(new Error(`no response for ${Math.round(quietMs / 1000)} s`));
      } else if (connection.isUsable && now > retireAt && mayReplace) {
        mayReplace = false;
        if (this.#connections.size >= this.#options.max) connection.retire();
        else this.grow();
      } else if (
        connection.isUsable &&
        isIdle &&
        idleTimeoutMs !== null &&
        quietMs > idleTimeoutMs &&
        remaining > min
      ) {
        remaining -= 1;
        connection.retire();
      }
    }
    return isSilent;
  }

  /** Called when the server did not respond on one connection: requests on its other connections would wait as long. */
  distrustAll(): void {
    for (const connection of [...this.#connections.keys()]) {
      if (connection.inFlight > 0 || connection.isLent) connection.retire();
      else connection.destroy(new Error('the server did not respond on another connection'));
    }
  }

  /**
   * Replaces the connections to a server that has become read-only. New connections are kept, since their replacements
   * could lead to the same server, in an endless loop.
   */
  leaveServer(): void {
    const now = performance.now();
    for (const connection of [...this.#connections.keys()]) {
      if (now - connection.openedAt > RENEWAL_INTERVAL_MS) connection.retire();
    }
  }

  /** Replaces all connections, because their prepared statements no longer match the schema. */
  retireAll(): void {
    for (const connection of [...this.#connections.keys()]) connection.retire();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await Promise.all([...this.#connections.keys()].map((connection) => connection.close()));
  }

  /** Varied by up to 10%, so that connections opened together do not end together. */
  #retirementTime(connection: Connection): number {
    const { maxLifetimeMs } = this.#options;
    if (maxLifetimeMs === null) return Number.POSITIVE_INFINITY;
    return connection.openedAt + maxLifetimeMs * (0.9 + (0.2 * randomBytes(1).readUInt8(0)) / 255);
  }
}

/** Minimum time between two log lines of one kind, since a server that stops ends all connections at once. */
const LOG_INTERVAL_MS = 5_000;

/** Logs lost and refused connections, once per burst. Shared by all sets of a process. */
export class LossLog {
  readonly #log: Log;
  readonly #writtenAt = new Map<string, number>();
  #server: string | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  lost(reason: unknown): void {
    this.#write('database connection lost', reason);
  }

  refused(reason: unknown): void {
    this.#write('database unreachable; retrying', reason, adviceOn(reason));
  }

  /** Logs the server of a new connection, if it has changed. */
  reached(server: string): void {
    if (server === this.#server) return;
    this.#server = server;
    this.#log.info('db.server', `connected to database server ${server}`);
  }

  #write(message: string, reason: unknown, advice = ''): void {
    const now = performance.now();
    const last = this.#writtenAt.get(message);
    if (last !== undefined && now - last < LOG_INTERVAL_MS) return;
    this.#writtenAt.set(message, now);
    this.#log.warn('db.lost', message, { reason: reasonOf(reason) + advice });
  }
}
