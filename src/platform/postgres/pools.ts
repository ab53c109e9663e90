/**
 * The two connection pools of a process: a shared one, whose pipelined connections serve single statements of many
 * callers at once, and an exclusive one for transactions.
 */
import { connect, inTime } from './connect.ts';
import { Connection } from './connection.ts';
import { ConnectionSet, type ConnectionSetOptions, LossLog } from './connection-set.ts';
import { type CompleteDatabaseOptions, describeServer, sharedCount } from './database-options.ts';
import { exclusiveSettings, prepareSession, type SessionSettings, sharedSettings } from './session-commands.ts';
import { type WaitingGauge, type WaitingLimits, WaitingQueue } from './waiting-queue.ts';

/** Provides connections; callers wait when none is free. */
export interface ConnectionPool {
  readonly set: ConnectionSet;
  /** Calls `serve` with a connection, at once when one is free, or `refuse` when the wait is too long. */
  take(serve: (connection: Connection) => void, refuse: (error: unknown) => void): void;
  giveBack(connection: Connection): void;
  close(reason: unknown): Promise<void>;
}

export interface Pools {
  /** For single statements; the exclusive pool when the limit leaves no connection to share. */
  readonly singles: ConnectionPool;
  readonly exclusives: ConnectionPool;
}

type PoolOptions = Omit<ConnectionSetOptions, 'opened' | 'refused' | 'needsConnection'> & {
  readonly limits: WaitingLimits;
  readonly gauge: WaitingGauge;
};

/** Time that the server gets beyond its own statement time-out before the connection counts as lost. */
const SILENCE_MARGIN_MS = 3_000;

/** Makes `slow` report every statement. */
const EVERY_STATEMENT_MS = -1;

/** The two pools of one process, within their common limit. Opens no connection yet. */
export function openPools(options: CompleteDatabaseOptions, gauge: WaitingGauge): Pools {
  const lossLog = new LossLog(options.log);
  const poolOptions = (max: number, settings: SessionSettings): PoolOptions => ({
    max,
    min: Math.min(options.minConnections, max),
    idleTimeoutMs: milliseconds(options.idleTimeoutSeconds),
    maxLifetimeMs: milliseconds(options.maxLifetimeSeconds),
    silenceMs: options.statementTimeoutSeconds * 1000 + SILENCE_MARGIN_MS,
    lossLog,
    limits: { maxWaiters: options.maxWaiters, timeoutMs: options.acquireTimeoutSeconds * 1000 },
    gauge,
    open: (ended) => openConnection(options, settings, lossLog, ended),
  });
  const shared = sharedCount(options.maxConnections);
  const exclusives = new ExclusivePool(poolOptions(options.maxConnections - shared, exclusiveSettings(options)));
  if (shared === 0) return { singles: exclusives, exclusives };
  return { singles: new SharedPool(poolOptions(shared, sharedSettings(options))), exclusives };
}

/**
 * Connections that many callers use at the same time, each for single statements only. One that has more to answer than
 * it can within two seconds gets no more: the callers wait here, where they can give up.
 */
class SharedPool implements ConnectionPool {
  readonly set: ConnectionSet;
  readonly #queue: WaitingQueue<Connection>;

  constructor(options: PoolOptions) {
    this.#queue = new WaitingQueue(options.limits, options.gauge);
    this.set = new ConnectionSet({
      ...options,
      opened: () => {
        this.#queue.setProblem(undefined);
        this.giveBack();
      },
      refused: (reason) => this.#queue.setProblem(reason),
      needsConnection: () => this.#leastBusy() === undefined,
    });
  }

  take(serve: (connection: Connection) => void, refuse: (error: unknown) => void): void {
    const connection = this.#leastBusy();
    // A busy connection serves for now; the new one takes its share of later statements.
    if (connection === undefined || connection.inFlight > 0) this.set.grow();
    if (connection === undefined) this.#queue.add(serve, refuse);
    else serve(connection);
  }

  giveBack(): void {
    while (this.#queue.length > 0) {
      const connection = this.#leastBusy();
      if (connection === undefined) return;
      this.#queue.serveNext(connection);
    }
  }

  async close(reason: unknown): Promise<void> {
    this.#queue.refuseAll(reason);
    await this.set.close();
  }

  #leastBusy(): Connection | undefined {
    let found: Connection | undefined;
    for (const connection of this.set.all()) {
      if (!connection.isUsable) continue;
      if (found !== undefined && connection.inFlight >= found.inFlight) continue;
      if (connection.isCongested) continue;
      found = connection;
      if (found.inFlight === 0) break;
    }
    return found;
  }
}

/** Connections that belong to one caller at a time. */
class ExclusivePool implements ConnectionPool {
  readonly set: ConnectionSet;
  readonly #queue: WaitingQueue<Connection>;
  /** The most recently used last: it is taken first, so that the others can reach their idle time-out. */
  readonly #idle: Connection[] = [];

  constructor(options: PoolOptions) {
    this.#queue = new WaitingQueue(options.limits, options.gauge);
    this.set = new ConnectionSet({
      ...options,
      opened: (connection) => {
        this.#queue.setProblem(undefined);
        this.giveBack(connection);
      },
      refused: (reason) => this.#queue.setProblem(reason),
      needsConnection: () => this.#queue.length > 0,
    });
  }

  take(serve: (connection: Connection) => void, refuse: (error: unknown) => void): void {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (!connection.isUsable) continue;
      connection.isLent = true;
      serve(connection);
      return;
    }
    this.set.grow();
    this.#queue.add(serve, refuse);
  }

  giveBack(connection: Connection): void {
    if (!connection.isClean) connection.destroy(new Error('transaction left open'));
    else if (!connection.isUsable) connection.endLoan();
    else {
      connection.isLent = true;
      if (this.#queue.serveNext(connection)) return;
      connection.isLent = false;
      this.#idle.push(connection);
    }
  }

  async close(reason: unknown): Promise<void> {
    this.#queue.refuseAll(reason);
    await this.set.close();
  }
}

async function openConnection(
  options: CompleteDatabaseOptions,
  settings: SessionSettings,
  lossLog: LossLog,
  ended: Parameters<ConnectionSetOptions['open']>[0],
): Promise<Connection> {
  const client = await connect({ ...options, isPipelined: true });
  let statementMs = 0;
  try {
    if (options.pooler !== 'transaction') statementMs = await inTime(client, () => prepareSession(client, settings));
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
  const { connection, log } = options;
  if (connection.otherServers !== undefined && connection.otherServers.length > 0) {
    lossLog.reached(describeServer({ host: client.host, port: client.port }));
  }
  const slowMs = options.slowStatementSeconds * 1000;
  const slow = (label: string, elapsedMs: number): void => {
    const isSlow = elapsedMs > slowMs;
    if (isSlow) log.warn('db.slow', `slow statement ${label}`, { milliseconds: Math.round(elapsedMs) });
    else log.trace?.('db.statement', `statement ${label} completed`, { milliseconds: Number(elapsedMs.toFixed(1)) });
  };
  return new Connection(client, { ended, slow }, log.trace === undefined ? slowMs : EVERY_STATEMENT_MS, statementMs);
}

function milliseconds(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000;
}
