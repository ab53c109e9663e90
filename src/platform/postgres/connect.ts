import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { Client, types } from 'pg';
import type { ConnectionTarget, SslOptions } from './connection-target.ts';

type TlsWay = false | TlsOptions;

export interface ConnectOptions {
  readonly connection: ConnectionTarget;
  readonly applicationName: string;
  /** Sends statements without waiting for the answers to those before. */
  readonly isPipelined?: boolean;
}

/** Longest time for one attempt, name look-up and authentication included. */
const ATTEMPT_TIMEOUT_MS = 3_000;

/**
 * A connected client of the driver. The TLS modes that name two ways (`allow`, `prefer`) try the second when the
 * first fails.
 */
export async function connect(options: ConnectOptions): Promise<Client> {
  const [first, second] = tlsWays(options.connection);
  try {
    return await connectOnce(options, first);
  } catch (error) {
    if (second === undefined || isUnreachable(error)) throw error;
    return await connectOnce(options, second);
  }
}

async function connectOnce(options: ConnectOptions, ssl: TlsWay): Promise<Client> {
  const { host, port, user, password, database } = options.connection;
  const client = new Client({
    host,
    port,
    user,
    password,
    database,
    ssl,
    pipeline: options.isPipelined === true,
    keepAlive: true,
    application_name: options.applicationName,
    connectionTimeoutMillis: ATTEMPT_TIMEOUT_MS,
  });
  // A count is a number here; the bound of exact integers is far above any count.
  client.setTypeParser(types.builtins.INT8, Number);
  // Without a listener a failure after the attempt was given up would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
  return client;
}

function tlsWays(target: ConnectionTarget): readonly [TlsWay, TlsWay?] {
  const { ssl } = target;
  if (target.host?.startsWith('/') === true) return [false];
  if (ssl === undefined || ssl.mode === 'disable') return [false];
  const encrypted = tlsOptions(ssl);
  if (ssl.mode === 'allow') return [false, encrypted];
  if (ssl.mode === 'prefer') return [encrypted, false];
  return [encrypted];
}

function tlsOptions(ssl: SslOptions): TlsOptions {
  // As in libpq, `require` with a CA at hand checks the certificate too.
  const isVerified = ssl.mode.startsWith('verify-') || (ssl.mode === 'require' && ssl.ca !== undefined);
  return {
    rejectUnauthorized: isVerified,
    ...(ssl.mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    ...(ssl.ca !== undefined && { ca: ssl.ca }),
    ...(ssl.certificate !== undefined && { cert: ssl.certificate }),
    ...(ssl.key !== undefined && { key: ssl.key }),
  };
}

function isUnreachable(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'connect';
}
