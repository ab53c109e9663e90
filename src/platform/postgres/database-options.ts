/** What the program says about its database: where it is, how many connections to keep, and how long to wait for it. */
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import type { RolePassword } from './role-password.ts';

export interface ServerAddress {
  /** Host name, or the directory of a Unix socket when it begins with `/`. */
  readonly host?: string;
  readonly port?: number;
}

/** As libpq's `target_session_attrs`, but for those that only standbys have: the service writes. */
export const SESSION_ATTRIBUTES = ['any', 'read-write', 'primary'] as const;
export type SessionAttributes = (typeof SESSION_ATTRIBUTES)[number];

/** As libpq's `channel_binding`: whether the password is proven to the server of this TLS connection only. */
export const CHANNEL_BINDINGS = ['disable', 'prefer', 'require'] as const;
type ChannelBinding = (typeof CHANNEL_BINDINGS)[number];

/** As libpq's `ssl_min_protocol_version`; Node.js speaks no older ones. */
export const TLS_VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;
type TlsVersion = (typeof TLS_VERSIONS)[number];

/** Where a PostgreSQL server is and who connects to it. Absent parts follow libpq: `PGHOST` and so on, then defaults. */
export interface ConnectionTarget extends ServerAddress {
  /** Servers that stand in for the first; see `choose-server.ts`. */
  readonly otherServers?: readonly ServerAddress[];
  /** Which server will do; `any` when absent. */
  readonly sessionAttributes?: SessionAttributes;
  readonly user?: string;
  readonly password?: string | RolePassword;
  readonly database?: string;
  readonly ssl?: SslOptions;
  readonly channelBinding?: ChannelBinding;
  /** Longest time for one attempt to connect; 3 seconds when absent. */
  readonly attemptSeconds?: number;
  /** Precedes the name of the process in the server's list of sessions. */
  readonly applicationName?: string;
  /** Command-line options for each session. */
  readonly options?: string;
}

/** As libpq's `sslmode`. */
export const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

export interface SslOptions {
  readonly mode: SslMode;
  /** PEM; the system's store when absent. */
  readonly ca?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly minVersion?: TlsVersion;
  /** TLS begins at once (libpq's `sslnegotiation=direct`). */
  readonly isDirect?: boolean;
}

/** The address without its password, for messages. */
export function describeTarget(target: ConnectionTarget): string {
  const places = [target, ...(target.otherServers ?? [])].map(describeServer);
  return `database ${target.database ?? target.user ?? 'postgres'} on ${places.join(' or ')}`;
}

export function describeServer({ host = 'localhost', port = 5432 }: ServerAddress): string {
  return host.startsWith('/') ? host : `${host}:${port}`;
}

/** How connections to PostgreSQL are made and limited. */
export interface DatabaseOptions {
  readonly connection: ConnectionTarget;
  readonly log: Log;
  /** Compared with the server's clock by `skewMs`. */
  readonly clock: Clock;
  /**
   * The kind of connection pooler in front of the server. With `transaction` the server connection may change after
   * each transaction, so statements have no names and settings are sent with each transaction.
   */
  readonly pooler?: 'none' | 'session' | 'transaction';
  /** Upper limit of the connections of this process, shared and exclusive together. */
  readonly maxConnections?: number;
  /** Connections kept open when idle. */
  readonly minConnections?: number;
  /** Total time for attempts to connect at start. */
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
  /** How many callers may wait for a connection at the same time. */
  readonly maxWaiters?: number;
  /** Shown in the server's list of sessions. */
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

export type CompleteDatabaseOptions = Required<DatabaseOptions>;

export function completeOptions(options: DatabaseOptions): CompleteDatabaseOptions {
  return { ...DEFAULTS, ...options };
}

const MAX_SHARED = 8;

/**
 * How many of the connections are shared; the rest are exclusive. Eight pipelined connections are enough for what one
 * process can send. A limit of one connection leaves none to share.
 */
export function sharedCount(maxConnections: number): number {
  return Math.min(MAX_SHARED, Math.ceil(maxConnections * 0.6), maxConnections - 1);
}
