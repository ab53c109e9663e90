/** Database configuration: address, number of connections and timeouts. */
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import type { RolePassword } from './role-password.ts';

export interface ServerAddress {
  /** Host name, or the directory of a Unix socket if it starts with `/`. */
  readonly host?: string;
  readonly port?: number;
}

/** Like libpq's `target_session_attrs`, without the values for standbys, because the service writes. */
export const SESSION_ATTRIBUTES = ['any', 'read-write', 'primary'] as const;
export type SessionAttributes = (typeof SESSION_ATTRIBUTES)[number];

/** Like libpq's `channel_binding`: whether the password is bound to the TLS connection of the server. */
export const CHANNEL_BINDINGS = ['disable', 'prefer', 'require'] as const;
type ChannelBinding = (typeof CHANNEL_BINDINGS)[number];

/** Like libpq's `ssl_min_protocol_version`. Node.js does not support older versions. */
export const TLS_VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;
type TlsVersion = (typeof TLS_VERSIONS)[number];

/**
 * Address and credentials of a PostgreSQL server. Missing parts are filled in as in libpq: from `PGHOST` and so on,
 * then with defaults.
 */
export interface ConnectionTarget extends ServerAddress {
  /** Alternatives to the first server. See `choose-server.ts`. */
  readonly otherServers?: readonly ServerAddress[];
  /** Required type of server. Defaults to `any`. */
  readonly sessionAttributes?: SessionAttributes;
  readonly user?: string;
  readonly password?: string | RolePassword;
  readonly database?: string;
  readonly ssl?: SslOptions;
  readonly channelBinding?: ChannelBinding;
  /** Timeout for one connection attempt. Defaults to 3 seconds. */
  readonly attemptSeconds?: number;
  /** Prefix of the process name in the server's list of sessions. */
  readonly applicationName?: string;
  /** Command-line options for each session. */
  readonly options?: string;
}

/** Like libpq's `sslmode`. */
export const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

export interface SslOptions {
  readonly mode: SslMode;
  /** PEM. Defaults to the system's certificate store. */
  readonly ca?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly minVersion?: TlsVersion;
  /** Starts with a TLS handshake (libpq's `sslnegotiation=direct`). */
  readonly isDirect?: boolean;
}

/** Returns the address without the password, for messages. */
export function describeTarget(target: ConnectionTarget): string {
  const places = [target, ...(target.otherServers ?? [])].map(describeServer);
  return `database ${target.database ?? target.user ?? 'postgres'} on ${places.join(' or ')}`;
}

export function describeServer({ host = 'localhost', port = 5432 }: ServerAddress): string {
  return host.startsWith('/') ? host : `${host}:${port}`;
}

/** Connection settings and limits for PostgreSQL. */
export interface DatabaseOptions {
  readonly connection: ConnectionTarget;
  readonly log: Log;
  /** `skewMs` compares it with the server's clock. */
  readonly clock: Clock;
  /**
   * The kind of connection pooler in front of the server. With `transaction`, the server connection may change after
   * each transaction, so statements are unnamed and settings are sent with each transaction.
   */
  readonly pooler?: 'none' | 'session' | 'transaction';
  /** Maximum number of connections of this process, shared and exclusive ones together. */
  readonly maxConnections?: number;
  /** Number of connections kept open when idle. */
  readonly minConnections?: number;
  /** Total time for connection attempts at startup. */
  readonly connectTimeoutSeconds?: number;
  /** Maximum time to wait for a connection. */
  readonly acquireTimeoutSeconds?: number;
  /** Idle connections are closed after this time. Null disables it. */
  readonly idleTimeoutSeconds?: number | null;
  /** Connections are replaced after this time, varied by up to 10%. Null disables it. */
  readonly maxLifetimeSeconds?: number | null;
  readonly statementTimeoutSeconds?: number;
  /** Statements that take longer are logged as `db.slow`. */
  readonly slowStatementSeconds?: number;
  /** Maximum number of callers waiting for a connection. */
  readonly maxWaiters?: number;
  /** Shown in the server's list of sessions. */
  readonly applicationName?: string;
}

/** Defaults of the `database` settings. */
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
 * Returns the number of shared connections. The others are exclusive. Eight pipelined connections are enough for what
 * one process can send. With a limit of one connection, none is shared.
 */
export function sharedCount(maxConnections: number): number {
  return Math.min(MAX_SHARED, Math.ceil(maxConnections * 0.6), maxConnections - 1);
}
