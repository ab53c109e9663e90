/**
 * Opens individual connections to a server, or to one of several, with or without TLS. Retries while a server is
 * starting, and checks that Latchkey can run on it.
 */

import { Socket, type SocketConnectOpts } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { Client, types } from 'pg';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { lookUpHost } from '#platform/base/host-names.ts';
import type { Log } from '#platform/base/log.ts';
import { chooseServer } from './choose-server.ts';
import { type ConnectionTarget, describeTarget, type ServerAddress, type SslOptions } from './database-options.ts';
import { adviceOn, codeOf, MissingPassword, reasonOf } from './failures.ts';
import { RolePassword } from './role-password.ts';

/** TLS options of the driver, or false for no TLS. */
type TlsChoice = false | TlsOptions;

export interface ConnectOptions {
  readonly connection: ConnectionTarget;
  readonly applicationName: string;
  /** Sends statements without waiting for the results of earlier ones. */
  readonly isPipelined?: boolean;
}

/** Timeout for one attempt, including name lookup and authentication. */
const ATTEMPT_TIMEOUT_MS = 3_000;
/**
 * Idle time before the operating system sends TCP keep-alive probes. Ten unanswered probes, one per second, end the
 * connection. The probes also keep firewalls from dropping idle connections. The default would be two hours.
 */
const KEEP_ALIVE_MS = 10_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;
const OLDEST_VERSION = 15;

/** Connects and returns a client of the driver. */
export function connect(options: ConnectOptions): Promise<Client> {
  return chooseServer(options.connection, (server) => connectTo(options, server));
}

/** The TLS modes `allow` and `prefer` have an alternative that is tried if the first attempt fails. */
async function connectTo(options: ConnectOptions, server: ServerAddress): Promise<Client> {
  const { password, ssl } = options.connection;
  const [first, second] = tlsChoices(server, ssl);
  const attempt = async (tls: TlsChoice): Promise<Client> =>
    password instanceof RolePassword
      ? await password.use((one) => connectOnce(options, server, tls, one))
      : await connectOnce(options, server, tls, password);
  try {
    return await attempt(first);
  } catch (error) {
    if (second === undefined || isUnreachable(error) || error instanceof UnsuitableServer) throw error;
    try {
      return await attempt(second);
    } catch (other) {
      throw new BothRefused({ error, isEncrypted: first !== false }, { error: other, isEncrypted: second !== false });
    }
  }
}

interface FailedAttempt {
  readonly error: unknown;
  readonly isEncrypted: boolean;
}

/**
 * Both attempts failed, with and without TLS. A TLS-only server reports only that it requires TLS in the second one.
 */
class BothRefused extends Error {
  /** Code of the attempt that reveals the actual problem. */
  readonly code: string | undefined;

  constructor(first: FailedAttempt, second: FailedAttempt) {
    const text = ({ error, isEncrypted }: FailedAttempt) =>
      `${isEncrypted ? 'with' : 'without'} TLS: ${reasonOf(error)}`;
    super(`${text(first)}; ${text(second)}`, { cause: first.error });
    this.name = 'BothRefused';
    const [code, ...others] = [first.error, second.error].map(codeOf).filter((one) => one !== NOT_ADMITTED);
    this.code = code ?? others[0] ?? codeOf(first.error);
  }
}

/** `invalid_authorization_specification`, for example for connections that pg_hba.conf does not allow. */
const NOT_ADMITTED = '28000';

/**
 * Connects at the start of a command, with retries, since the server may be starting as well. The first failure is
 * logged immediately, so that the operator notices a wrong address before the timeout.
 * @throws ExitError 69 after `timeoutSeconds` without success
 */
export async function connectWithRetries(options: ConnectOptions, timeoutSeconds: number, log: Log): Promise<Client> {
  const deadline = performance.now() + timeoutSeconds * 1000;
  const target = describeTarget(options.connection);
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    try {
      return await connect(options);
    } catch (error) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) {
        throw new ExitError(ExitCode.unavailable, `cannot connect to ${target}: ${reasonOf(error)}${adviceOn(error)}`, {
          cause: error,
        });
      }
      if (pauseMs === FIRST_PAUSE_MS) {
        log.warn('db.lost', `cannot connect to ${target}; retrying for ${timeoutSeconds} s`, {
          reason: reasonOf(error),
        });
      }
      await pause(Math.min(pauseMs, leftMs));
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    }
  }
}

/**
 * Rejects a server on which Latchkey cannot run.
 * @throws ExitError 69 for a server older than PostgreSQL 15, an encoding other than UTF-8, or a read-only database
 */
export async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: number; encoding: string; readOnly: boolean }>(`
    select current_setting('server_version_num')::int / 10000 as version,
      current_setting('server_encoding') as encoding,
      pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as "readOnly"`);
  const server = rows[0];
  if (server === undefined) throw new ExitError(ExitCode.unavailable, 'the database server did not return its version');
  if (server.version < OLDEST_VERSION) {
    throw new ExitError(
      ExitCode.unavailable,
      `the server runs PostgreSQL ${server.version}; version ${OLDEST_VERSION} or later is required`,
    );
  }
  if (server.encoding !== 'UTF8') {
    throw new ExitError(
      ExitCode.unavailable,
      `the database has encoding ${server.encoding}; create it with encoding UTF8`,
    );
  }
  if (server.readOnly)
    throw new ExitError(ExitCode.unavailable, 'the database is read-only; connect to the primary server');
}

/** The server responds but does not satisfy `sessionAttributes`. */
class UnsuitableServer extends Error {}

async function connectOnce(
  options: ConnectOptions,
  server: ServerAddress,
  ssl: TlsChoice,
  password: string | undefined,
): Promise<Client> {
  const { user, database, attemptSeconds, channelBinding = 'disable', applicationName } = options.connection;
  const { host, port } = server;
  if (channelBinding === 'require' && ssl === false)
    throw new Error('channel_binding=require requires TLS: set sslmode=require or stricter');
  const client = new Client({
    host,
    port,
    user,
    password,
    database,
    ssl,
    stream: () => new NamedSocket(),
    pipeline: options.isPipelined === true,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name:
      applicationName === undefined ? options.applicationName : `${applicationName} ${options.applicationName}`,
    connectionTimeoutMillis: attemptSeconds === undefined ? ATTEMPT_TIMEOUT_MS : attemptSeconds * 1000,
    enableChannelBinding: channelBinding !== 'disable' && ssl !== false,
    ...(options.connection.options !== undefined && { options: options.connection.options }),
    ...(ssl !== false && options.connection.ssl?.isDirect === true && { sslnegotiation: 'direct' as const }),
  });
  const checkBinding = channelBinding === 'require' ? requireChannelBinding(client) : undefined;
  // Parses counts as JavaScript numbers. They never approach the largest safe integer.
  client.setTypeParser(types.builtins.INT8, Number);
  // Without a listener, an error after the attempt was abandoned would end the process.
  client.on('error', () => {});
  let isRequested = false;
  for (const method of PASSWORD_REQUESTS) client.connection.on(method, () => (isRequested = true));
  try {
    await client.connect();
    checkBinding?.();
    await inTime(client, () => requireSuitable(client, options.connection));
  } catch (error) {
    client.connection.stream.destroy();
    throw isRequested && (password ?? '') === '' ? new MissingPassword() : error;
  }
  return client;
}

/** Events of the driver. */
const PLAIN_REQUESTS = ['authenticationCleartextPassword', 'authenticationMD5Password'] as const;
const PASSWORD_REQUESTS = ['authenticationSASL', ...PLAIN_REQUESTS] as const;

/**
 * Ends the connection unless the password is proven only to the holder of the certificate (RFC 5802 6).
 * @returns a check that throws if the server did not require channel binding
 */
function requireChannelBinding({ connection }: Client): () => void {
  let isBound = false;
  const failure = (reason: string): Error => new Error(`channel_binding=require: ${reason}`);
  const refuse = (reason: string): void => {
    connection.stream.destroy(failure(reason));
  };
  connection.on('authenticationSASL', ({ mechanisms }: { readonly mechanisms: readonly string[] }) => {
    isBound = mechanisms.includes('SCRAM-SHA-256-PLUS');
    if (!isBound) refuse('the server does not offer SCRAM-SHA-256-PLUS');
  });
  for (const method of PLAIN_REQUESTS)
    connection.on(method, () => refuse('the server requests a password without SCRAM'));
  return () => {
    if (!isBound) throw failure('the server does not request a password');
  };
}

/**
 * Adds our host name lookup, since the driver has no option for it. The driver passes port and host, or a socket path.
 */
class NamedSocket extends Socket {
  override connect(target: SocketConnectOpts | number | string, host?: string | (() => void)): this {
    if (typeof target === 'string') return super.connect(target);
    if (typeof target !== 'number') return super.connect(target);
    return super.connect({ port: target, lookup: lookUpHost, ...(typeof host === 'string' && { host }) });
  }
}

/** Ends a new connection whose server stops responding during `work`, which then fails. */
export async function inTime<T>(client: Client, work: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => client.connection.stream.destroy(), ATTEMPT_TIMEOUT_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}

async function requireSuitable(client: Client, { sessionAttributes = 'any' }: ConnectionTarget): Promise<void> {
  if (sessionAttributes === 'any') return;
  const { rows } = await client.query<{ is_standby: boolean; is_read_only: boolean }>(
    `select pg_is_in_recovery() as is_standby, current_setting('transaction_read_only')::boolean as is_read_only`,
  );
  const [server] = rows;
  if (server === undefined || server.is_standby) throw new UnsuitableServer('the server is a standby');
  if (server.is_read_only && sessionAttributes === 'read-write') throw new UnsuitableServer('the server is read-only');
}

function tlsChoices(server: ServerAddress, ssl: SslOptions | undefined): readonly [TlsChoice, TlsChoice?] {
  if (server.host?.startsWith('/') === true) return [false];
  if (ssl === undefined || ssl.mode === 'disable') return [false];
  const encrypted = tlsOptions(ssl);
  if (ssl.mode === 'allow') return [false, encrypted];
  if (ssl.mode === 'prefer') return [encrypted, false];
  return [encrypted];
}

function tlsOptions(ssl: SslOptions): TlsOptions {
  // As in libpq, `require` with a CA also verifies the certificate.
  const isVerified = ssl.mode.startsWith('verify-') || (ssl.mode === 'require' && ssl.ca !== undefined);
  return {
    rejectUnauthorized: isVerified,
    ...(ssl.mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    ...(ssl.ca !== undefined && { ca: ssl.ca }),
    ...(ssl.certificate !== undefined && { cert: ssl.certificate }),
    ...(ssl.key !== undefined && { key: ssl.key }),
    ...(ssl.minVersion !== undefined && { minVersion: ssl.minVersion }),
  };
}

function isUnreachable(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'connect';
}
