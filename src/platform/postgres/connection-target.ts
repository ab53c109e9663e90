/** Where a PostgreSQL server is and who connects to it. Absent parts follow libpq: `PGHOST` and so on, then defaults. */
export interface ConnectionTarget {
  /** Host name, or the folder of a Unix socket when it begins with `/`. */
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  readonly ssl?: SslOptions;
}

export type SslMode = 'disable' | 'allow' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';

export interface SslOptions {
  readonly mode: SslMode;
  /** PEM; the system's store when absent. */
  readonly ca?: string;
  readonly certificate?: string;
  readonly key?: string;
}

/** The address without its password, for messages. */
export function describeTarget(target: ConnectionTarget): string {
  const host = target.host ?? 'localhost';
  const place = host.startsWith('/') ? host : `${host}:${target.port ?? 5432}`;
  return `database ${target.database ?? target.user ?? 'postgres'} on ${place}`;
}
