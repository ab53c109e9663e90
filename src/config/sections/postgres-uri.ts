import { userInfo } from 'node:os';
import { SSL_MODES, type SslMode } from '#platform/postgres/database-options.ts';

/** What a source says of a connection; libpq's defaults and `PG...` variables fill in the rest. */
export interface ConnectionParts {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly sslMode: SslMode | undefined;
}

const PARAMETERS = new Set(['host', 'port', 'user', 'password', 'dbname', 'sslmode']);

/**
 * Reads a connection URI as libpq does, but for one host only and with the parameters that `database.*` has keys for;
 * an unknown parameter is refused, since leaving one out could weaken the connection.
 * @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 */
export function parsePostgresUri(uri: string): ConnectionParts | undefined {
  const match = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(uri);
  if (match === null) return undefined;
  const [, login = '', hostPort = '', path = '', query = ''] = match;
  const address = /^(?:\[([\da-fA-F:.]+)\]|([^:,[\]]*))(?::(\d{1,5}))?$/.exec(hostPort);
  const parameters = new URLSearchParams(query);
  if (address === null || [...parameters.keys()].some((name) => !PARAMETERS.has(name))) return undefined;

  const [userText, ...passwordText] = login.split(':');
  const host = parameters.get('host') ?? address[1] ?? decoded(address[2]);
  const port = portOf(parameters.get('port') ?? address[3]);
  const user = parameters.get('user') ?? decoded(userText);
  const password = parameters.get('password') ?? decoded(passwordText.join(':'));
  const database = parameters.get('dbname') ?? decoded(path);
  const sslMode = sslModeOf(parameters.get('sslmode') ?? undefined);
  if ([host, port, user, password, database, sslMode].includes(null)) return undefined;
  return {
    host: host ?? undefined,
    port: port ?? undefined,
    user: user ?? undefined,
    password: password ?? undefined,
    database: database ?? undefined,
    sslMode: sslMode ?? undefined,
  };
}

/** Undefined when empty, null when the percent-encoding is broken. */
function decoded(text: string | undefined): string | null | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function portOf(text: string | undefined): number | null | undefined {
  if (text === undefined || text === '') return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65535 ? port : null;
}

function sslModeOf(text: string | undefined): SslMode | null | undefined {
  if (text === undefined) return undefined;
  return SSL_MODES.find((mode) => mode === text) ?? null;
}

/** `PGHOST` and its kin, else what libpq takes. */
export function connectionDefaults(environment: Readonly<Record<string, string | undefined>>) {
  return {
    host: environment['PGHOST'] || 'localhost',
    port: portOf(environment['PGPORT']) ?? 5432,
    user: environment['PGUSER'] || accountName(),
    password: environment['PGPASSWORD'] || undefined,
    database: environment['PGDATABASE'] || undefined,
    sslMode: sslModeOf(environment['PGSSLMODE']) ?? 'prefer',
  };
}

/** A numeric account without an entry in the system's list has no name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'postgres';
  }
}
