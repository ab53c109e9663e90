import { userInfo } from 'node:os';
import {
  CHANNEL_BINDINGS,
  type ConnectionTarget,
  SESSION_ATTRIBUTES,
  type SessionAttributes,
  SSL_MODES,
  type SslMode,
  type SslOptions,
  TLS_VERSIONS,
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
  readonly session: SessionParts;
  readonly tls: TlsParts;
  readonly files: TlsFiles;
}

/** How sessions are begun, beyond where they lead. */
type SessionParts = Pick<ConnectionTarget, 'applicationName' | 'attemptSeconds' | 'channelBinding' | 'options'>;
type TlsParts = Pick<SslOptions, 'isDirect' | 'minVersion'>;

/** Absolute paths of PEM files, by the setting that holds their content. */
interface TlsFiles {
  readonly ssl_ca?: string;
  readonly ssl_certificate?: string;
  readonly ssl_key?: string;
}

interface ServerParts {
  readonly host: string | undefined;
  readonly port: number | undefined;
}

/** A URI as it was read, or what is wrong with it: the parameter or the position, never a part of its text. */
type ReadUri = { readonly parts: ConnectionParts } | { readonly problem: string };

const DEFAULT_PORT = 5432;
const MIN_ATTEMPT_SECONDS = 2;
const MAX_ATTEMPT_SECONDS = 60;
const MAX_NAME_BYTES = 40;

class UriProblem extends Error {}

/**
 * Reads a connection URI as libpq does. A parameter that has no effect here is refused, unless what it asks for is so
 * anyway: leaving one out could weaken the connection.
 * @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 */
export function readPostgresUri(uri: string): ReadUri {
  try {
    return { parts: partsOf(uri) };
  } catch (error) {
    if (error instanceof UriProblem) return { problem: error.message };
    throw error;
  }
}

/** Undefined for a URI that `readPostgresUri` refuses. */
export function parsePostgresUri(uri: string): ConnectionParts | undefined {
  const read = readPostgresUri(uri);
  return 'parts' in read ? read.parts : undefined;
}

function partsOf(uri: string): ConnectionParts {
  const scheme = /^postgres(?:ql)?:\/\//.exec(uri)?.[0];
  if (scheme === undefined) throw new UriProblem('it does not begin with "postgres://" or "postgresql://"');
  requireEncoding(uri);
  const match = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?(#)?/.exec(uri);
  const [, login = '', hostPorts = '', path = '', query = '', fragment] = match ?? [];
  requireEncodedLogin(uri, scheme.length, { hasLogin: login !== '', hostPorts, path });
  if (fragment !== undefined)
    throw new UriProblem(`${characterAt(uri, uri.indexOf('#'))} has no meaning there: write it as %23`);
  const parameters = readParameters(query);
  const get = (name: string): string | undefined => parameters.get(name);

  const [userText, ...passwordText] = login.split(':');
  return {
    servers: serversOf(hostPorts, get('host'), get('port')),
    user: get('user') ?? decoded(userText),
    password: get('password') ?? decoded(passwordText.join(':')),
    database: get('dbname') ?? decoded(path),
    sslMode: sslModeOf(get('sslmode'), get('ssl')),
    sessionAttributes: sessionAttributesOf(get('target_session_attrs')),
    session: sessionOf(get),
    tls: tlsOf(get),
    files: filesOf(get),
  };
}

/** Every "%" begins an encoded character. */
function requireEncoding(uri: string): void {
  const at = uri.search(/%(?![\da-fA-F]{2})/);
  if (at !== -1)
    throw new UriProblem(`${characterAt(uri, at)} is not followed by two hexadecimal digits: write it as %25`);
  try {
    decodeURIComponent(uri);
  } catch {
    throw new UriProblem('encoded characters (%XX) in it are not UTF-8');
  }
}

interface Authority {
  readonly hasLogin: boolean;
  readonly hostPorts: string;
  readonly path: string;
}

/** A "/", "?", "#" or "@" that a password has in clear ends it too early; the rest then reads as host or path. */
function requireEncodedLogin(uri: string, start: number, { hasLogin, hostPorts, path }: Authority): void {
  if (hasLogin && hostPorts.includes('@')) {
    const at = uri.indexOf('@', start);
    throw new UriProblem(`${characterAt(uri, at)} ends the password, and another "@" follows: write it as %40`);
  }
  const end = start + uri.slice(start).search(/[/?#]|$/);
  if (hasLogin || end === uri.length || !uri.includes('@', end)) return;
  const isPath = uri.charAt(end) === '/' && hostPorts !== '' && path.includes('@');
  const isNoHost = /:(?!\d{1,5}$)[^\]]*$/.test(hostPorts);
  if (isPath || isNoHost) {
    const code = uri.charCodeAt(end).toString(16).toUpperCase();
    throw new UriProblem(
      `${characterAt(uri, end)} ends the host, and an "@" follows: within a password write it as %${code}`,
    );
  }
}

/** Only ever of a character that has a meaning in a URI. */
function characterAt(uri: string, at: number): string {
  return `"${uri.charAt(at)}" at position ${at + 1}`;
}

function readParameters(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const piece of query.split('&').filter((one) => one !== '')) {
    const [nameText = '', ...valueText] = piece.split('=');
    const name = decodeURIComponent(nameText);
    const reason = parameterProblem(name, decodeURIComponent(valueText.join('=')));
    // What looks like no name may be the rest of a password.
    const shown = /^[a-z_]{1,40}$/i.test(name) ? `the parameter "${name}"` : 'a parameter';
    if (reason !== undefined) throw new UriProblem(`${shown} ${reason}`);
    parameters.set(name, decodeURIComponent(valueText.join('=')));
  }
  return parameters;
}

const USED = new Set([
  ...['host', 'port', 'user', 'password', 'dbname', 'sslmode', 'ssl', 'target_session_attrs', 'channel_binding'],
  ...[
    'connect_timeout',
    'application_name',
    'fallback_application_name',
    'options',
    'sslrootcert',
    'sslcert',
    'sslkey',
  ],
  ...['ssl_min_protocol_version', 'sslnegotiation'],
]);

/** Parameters that ask for what is so anyway, with the values that do. */
const IS_SO: ReadonlyMap<string, RegExp> = new Map([
  ['client_encoding', /^(?:utf-?8|auto)$/i],
  ['gssencmode', /^(?:disable|prefer)$/],
  ['keepalives', /^1$/],
  ['keepalives_idle', /^\d+$/],
  ['keepalives_interval', /^\d+$/],
  ['keepalives_count', /^\d+$/],
  ['tcp_user_timeout', /^\d+$/],
  ['load_balance_hosts', /^disable$/],
  ['replication', /^(?:false|off|no|0)$/],
  ['sslcompression', /^0$/],
  ['sslcertmode', /^(?:allow|disable)$/],
  ['sslsni', /^1$/],
  ['ssl_max_protocol_version', /^(?:TLSv1\.3)?$/],
  ['uselibpqcompat', /^true$/],
]);

const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['hostaddr', 'is not supported: name the address by "host"'],
  ['passfile', 'is not supported: use "database.password_file"'],
  ['service', 'is not supported: spell out the connection'],
  ['sslpassword', 'is not supported: use a key without password'],
  ['sslcrl', 'is not supported: lists of revoked certificates are not read'],
  ['sslcrldir', 'is not supported: lists of revoked certificates are not read'],
  ['require_auth', 'is not supported: "channel_binding=require" refuses every other way to prove the password'],
  ['pgbouncer', 'belongs to Prisma: take it out and set "database.pooler" to "transaction"'],
  ['schema', 'belongs to Prisma: take it out and use "options=-c%20search_path%3DNAME"'],
  ['connection_limit', 'belongs to Prisma: take it out and set "database.max_connections"'],
  ['pool_timeout', 'belongs to Prisma: take it out and set "database.acquire_timeout"'],
]);

/** Why it cannot be used; undefined when it can. */
function parameterProblem(name: string, value: string): string | undefined {
  if (USED.has(name)) return undefined;
  const accepted = IS_SO.get(name);
  if (accepted?.test(value) === true) return undefined;
  if (accepted !== undefined) return 'is supported only with the value that is the default';
  return INSTEAD.get(name) ?? 'is not supported';
}

function sslModeOf(mode: string | undefined, ssl: string | undefined): SslMode | undefined {
  // Of drivers for Node.js: encrypted, whatever certificate the server has.
  if (mode === 'no-verify' || (mode === undefined && ssl === 'no-verify')) return 'require';
  if (mode === undefined && ssl !== undefined) {
    if (ssl === 'true' || ssl === '1') return 'require';
    throw new UriProblem('the parameter "ssl" has to be "true"; "sslmode" says more');
  }
  return oneOf('sslmode', [...SSL_MODES, 'no-verify'], SSL_MODES, mode);
}

function sessionAttributesOf(text: string | undefined): SessionAttributes | undefined {
  if (text === 'read-only' || text === 'standby' || text === 'prefer-standby')
    throw new UriProblem('the parameter "target_session_attrs" asks for a standby, and the service writes');
  return oneOf('target_session_attrs', SESSION_ATTRIBUTES, SESSION_ATTRIBUTES, text);
}

function sessionOf(get: (name: string) => string | undefined): SessionParts {
  const channelBinding = oneOf('channel_binding', CHANNEL_BINDINGS, CHANNEL_BINDINGS, get('channel_binding'));
  const attemptSeconds = attemptSecondsOf(get('connect_timeout'));
  const applicationName = shortened(get('application_name') ?? get('fallback_application_name'));
  const options = get('options');
  return {
    ...(channelBinding !== undefined && { channelBinding }),
    ...(attemptSeconds !== undefined && { attemptSeconds }),
    ...(applicationName !== undefined && { applicationName }),
    ...(options !== undefined && options !== '' && { options }),
  };
}

const NEGOTIATIONS = ['postgres', 'direct'] as const;

function tlsOf(get: (name: string) => string | undefined): TlsParts {
  const minVersion = oneOf('ssl_min_protocol_version', TLS_VERSIONS, TLS_VERSIONS, get('ssl_min_protocol_version'));
  const negotiation = oneOf('sslnegotiation', NEGOTIATIONS, NEGOTIATIONS, get('sslnegotiation'));
  return {
    ...(minVersion !== undefined && { minVersion }),
    ...(negotiation === 'direct' && { isDirect: true }),
  };
}

/** As in libpq, one second counts as two, and none at all is no limit: then ours holds. */
function attemptSecondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^-?\d{1,6}$/.test(text)) throw new UriProblem('the parameter "connect_timeout" has to be a number of seconds');
  const seconds = Number(text);
  return seconds <= 0 ? undefined : Math.min(Math.max(seconds, MIN_ATTEMPT_SECONDS), MAX_ATTEMPT_SECONDS);
}

/** The server keeps 63 bytes, and the name of the process has to fit in. */
function shortened(name: string | undefined): string | undefined {
  const text = name?.replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_NAME_BYTES);
  return text === '' ? undefined : text;
}

function filesOf(get: (name: string) => string | undefined): TlsFiles {
  const [ca, certificate, key] = ['sslrootcert', 'sslcert', 'sslkey'].map((name) => {
    const path = get(name);
    if (path === undefined || path === '' || (name === 'sslrootcert' && path === 'system')) return undefined;
    if (!path.startsWith('/')) throw new UriProblem(`the parameter "${name}" has to be an absolute path`);
    return path;
  });
  return {
    ...(ca !== undefined && { ssl_ca: ca }),
    ...(certificate !== undefined && { ssl_certificate: certificate }),
    ...(key !== undefined && { ssl_key: key }),
  };
}

/** @param hostPorts of the URI, for example `a:5432,[::1]`; `host` and `port` are its parameters, which count more */
function serversOf(hostPorts: string, host: string | undefined, port: string | undefined): ServerParts[] {
  const addresses = hostPorts.split(',').map((one) => /^(?:\[([\da-fA-F:.]+)\]|([^:[\]@]*))(?::(\d{1,5}))?$/.exec(one));
  if (addresses.includes(null)) throw new UriProblem('a host or port in it cannot be read; expected host:port');
  const hosts = host === undefined ? addresses.map((one) => one?.[1] ?? decoded(one?.[2])) : host.split(',');
  const ports = port === undefined ? addresses.map((one) => one?.[3]) : port.split(',');
  const servers = pairedServers(hosts, ports);
  if (servers === undefined) throw new UriProblem('hosts and ports in it do not fit together; a port is 1 to 65535');
  return servers;
}

/** As in libpq, one port is that of all hosts, and several are as many as there are hosts. */
function pairedServers(
  hosts: readonly (string | undefined)[],
  ports: readonly (string | undefined)[],
): ServerParts[] | undefined {
  if (ports.length !== 1 && ports.length !== hosts.length) return undefined;
  const servers: ServerParts[] = [];
  for (const [index, host] of hosts.entries()) {
    const port = portOf(ports.length === 1 ? ports[0] : ports[index]);
    // An empty name in a list would be a server that nobody thought of.
    if (port === null || (hosts.length > 1 && !host)) return undefined;
    servers.push({ host: host || undefined, port });
  }
  return servers;
}

/** Undefined when empty. */
function decoded(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : decodeURIComponent(text);
}

function portOf(text: string | undefined): number | null | undefined {
  if (text === undefined || text === '') return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65535 ? port : null;
}

/** @param shown what the message offers */
function oneOf<T extends string>(
  name: string,
  shown: readonly string[],
  choices: readonly T[],
  text: string | undefined,
): T | undefined {
  if (text === undefined) return undefined;
  const found = choices.find((choice) => choice === text);
  if (found === undefined) throw new UriProblem(`the parameter "${name}" has to be one of ${shown.join(', ')}`);
  return found;
}

/** `PGHOST` and its kin, else what libpq takes. */
export function connectionDefaults(environment: Readonly<Record<string, string | undefined>>) {
  const { PGHOST: hosts, PGPORT: ports } = environment;
  return {
    servers: pairedServers((hosts || 'localhost').split(','), ports?.split(',') ?? [undefined]) ?? [],
    user: environment['PGUSER'] || accountName(),
    password: environment['PGPASSWORD'] || undefined,
    database: environment['PGDATABASE'] || undefined,
    sslMode: SSL_MODES.find((mode) => mode === environment['PGSSLMODE']) ?? 'prefer',
    sessionAttributes: SESSION_ATTRIBUTES.find((one) => one === environment['PGTARGETSESSIONATTRS']),
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
