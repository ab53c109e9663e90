import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import type { ConnectionTarget } from './connection-target.ts';

/** How connections to PostgreSQL are made and bounded. */
export interface DatabaseOptions {
  readonly connection: ConnectionTarget;
  readonly log: Log;
  /** Compared with the server's clock by `skewMs`. */
  readonly clock: Clock;
  /**
   * What stands between us and the server. `transaction`: a server connection may change after each transaction, so
   * statements have no names and settings travel with each transaction.
   */
  readonly pooler?: 'none' | 'session' | 'transaction';
  /** Upper bound of connections of this process, shared and exclusive together. */
  readonly maxConnections?: number;
  /** Connections kept open when idle. */
  readonly minConnections?: number;
  /** Total time of attempts to connect at start. */
  readonly connectTimeoutSeconds?: number;
  /** Longest wait for a connection. */
  readonly acquireTimeoutSeconds?: number;
  /** Idle connections are closed after this time; null: never. */
  readonly idleTimeoutSeconds?: number | null;
  /** Connections are replaced after this time, 10 % more or less; null: never. */
  readonly maxLifetimeSeconds?: number | null;
  readonly statementTimeoutSeconds?: number;
  /** Statements that take longer are logged as `db.slow`. */
  readonly slowStatementSeconds?: number;
  /** Callers that may wait for a connection at the same time. */
  readonly maxWaiters?: number;
  /** Shown by the server's list of sessions. */
  readonly applicationName?: string;
}

/** The defaults of the `database` settings. */
const DEFAULTS = {
  pooler: 'none',
  maxConnections: 10,
  minConnections: 0,
  connectTimeoutSeconds: 30,
  acquireTimeoutSeconds: 5,
  idleTimeoutSeconds: 600,
  maxLifetimeSeconds: 1800,
  statementTimeoutSeconds: 10,
  slowStatementSeconds: 1,
  maxWaiters: 200,
  applicationName: 'latchkey',
} as const;

export type CompleteOptions = Required<DatabaseOptions>;

export function completeOptions(options: DatabaseOptions): CompleteOptions {
  return { ...DEFAULTS, ...options };
}

const MAX_SHARED = 8;

/**
 * How many of the connections are shared; the rest is exclusive. Eight pipelined ones keep any server busy that one
 * process can feed. A bound of one connection leaves none to share.
 */
export function sharedCount(maxConnections: number): number {
  return Math.min(MAX_SHARED, Math.ceil(maxConnections * 0.6), maxConnections - 1);
}
