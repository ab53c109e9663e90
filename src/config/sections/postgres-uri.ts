import { userInfo } from 'node:os';
import {
  SESSION_ATTRIBUTES,
  type SessionAttributes,
  SSL_MODES,
  type SslMode,
} from '#platform/postgres/database-options.ts';

/** What a source says of a connection; libpq's defaults and `PG...` variables fill in the rest. */
export interface ConnectionParts {
  /** In the order in which they are tried; never empty. */
  readonly servers: readonly ServerParts[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly sslMode: SslMode | undefined;
  readonly sessionAttributes: SessionAttributes | undefined;
}

interface ServerParts {
  readonly host: string | undefined;
  readonly port: number | undefined;
}

const DEFAULT_PORT = 5432;
const PARAMETERS = new Set(['host', 'port', 'user', 'password', 'dbname', 'sslmode', 'target_session_attrs']);

/**
 * Reads a connection URI as libpq does, but only with the parameters that mean something here; an unknown parameter is
 * refused, since leaving one out could weaken the connection.
 * @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 */
export function parsePostgresUri(uri: string): ConnectionParts | undefined {
  const match = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(uri);
  if (match === null) return undefined;
  const [, login = '', hostPorts = '', path = '', query = ''] = match;
  const parameters = new URLSearchParams(query);
  if ([...parameters.keys()].some((name) => !PARAMETERS.has(name))) return undefined;

  const [userText, ...passwordText] = login.split(':');
  const servers = serversOf(hostPorts, parameters.get('host'), parameters.get('port'));
  const user = parameters.get('user') ?? decoded(userText);
  const password = parameters.get('password') ?? decoded(passwordText.join(':'));
  const database = parameters.get('dbname') ?? decoded(path);
  const sslMode = oneOf(SSL_MODES, parameters.get('sslmode'));
  const sessionAttributes = oneOf(SESSION_ATTRIBUTES, parameters.get('target_session_attrs'));
  if (servers === undefined || [user, password, database, sslMode, sessionAttributes].includes(null)) return undefined;
  return {
    servers,
    user: user ?? undefined,
    password: password ?? undefined,
    database: database ?? undefined,
    sslMode: sslMode ?? undefined,
    sessionAttributes: sessionAttributes ?? undefined,
  };
}

/** @param hostPorts of the URI, for example `a:5432,[::1]`; `host` and `port` are its parameters, which count more */
function serversOf(hostPorts: string, host: string | null, port: string | null): ServerParts[] | undefined {
  const addresses = hostPorts.split(',').map((one) => /^(?:\[([\da-fA-F:.]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(one));
  const hosts = host === null ? addresses.map((one) => one?.[1] ?? decoded(one?.[2])) : host.split(',');
  const ports = port === null ? addresses.map((one) => one?.[3]) : port.split(',');
  return addresses.includes(null) ? undefined : pairedServers(hosts, ports);
}

/** As in libpq, one port is that of all hosts, and several are as many as there are hosts. */
function pairedServers(
  hosts: readonly (string | null | undefined)[],
  ports: readonly (string | undefined)[],
): ServerParts[] | undefined {
  if (ports.length !== 1 && ports.length !== hosts.length) return undefined;
  const servers: ServerParts[] = [];
  for (const [index, host] of hosts.entries()) {
    const port = portOf(ports.length === 1 ? ports[0] : ports[index]);
    // An empty name in a list would be a server that nobody thought of.
    if (host === null || port === null || (hosts.length > 1 && !host)) return undefined;
    servers.push({ host: host || undefined, port });
  }
  return servers;
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

function oneOf<T extends string>(choices: readonly T[], text: string | null | undefined): T | null | undefined {
  if (text === undefined || text === null) return undefined;
  return choices.find((choice) => choice === text) ?? null;
}

/** `PGHOST` and its kin, else what libpq takes. */
export function connectionDefaults(environment: Readonly<Record<string, string | undefined>>) {
  const { PGHOST: hosts, PGPORT: ports } = environment;
  return {
    servers: pairedServers((hosts || 'localhost').split(','), ports?.split(',') ?? [undefined]) ?? [],
    user: environment['PGUSER'] || accountName(),
    password: environment['PGPASSWORD'] || undefined,
    database: environment['PGDATABASE'] || undefined,
    sslMode: oneOf(SSL_MODES, environment['PGSSLMODE']) ?? 'prefer',
    sessionAttributes: oneOf(SESSION_ATTRIBUTES, environment['PGTARGETSESSIONATTRS']) ?? undefined,
  };
}

/** The servers that a source names, completed by those of the environment. */
export function completeServers(given: readonly ServerParts[], defaults: readonly ServerParts[]) {
  const [first] = given;
  const isNamed = given.length > 1 || first?.host !== undefined;
  const servers = isNamed || defaults.length === 0 ? given : defaults;
  const onlyPort = isNamed ? undefined : first?.port;
  const sharedPort = new Set(defaults.map(({ port }) => port)).size === 1 ? defaults[0]?.port : undefined;
  return servers.map(({ host = 'localhost', port }) => ({
    host,
    port: onlyPort ?? port ?? sharedPort ?? DEFAULT_PORT,
  }));
}

/** A numeric account without an entry in the system's list has no name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'postgres';
  }
}
