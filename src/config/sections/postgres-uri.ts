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

/** Connection parameters from one source. libpq's defaults and `PG...` variables complete them. */
export interface ConnectionParts {
  /** In connection order; never empty. */
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

/** Session parameters other than the server address. */
type SessionParts = Pick<ConnectionTarget, 'applicationName' | 'attemptSeconds' | 'channelBinding' | 'options'>;
type TlsParts = Pick<SslOptions, 'isDirect' | 'minVersion'>;

/** Absolute paths of PEM files, keyed by the setting for their content. */
interface TlsFiles {
  readonly ssl_ca?: string;
  readonly ssl_certificate?: string;
  readonly ssl_key?: string;
}

interface ServerParts {
  readonly host: string | undefined;
  readonly port: number | undefined;
}

/** A parsed URI, or its problem: the parameter or position, never any text of the URI. */
type ReadUri =
  | { readonly ok: true; readonly parts: ConnectionParts }
  | { readonly ok: false; readonly problem: string };

const DEFAULT_PORT = 5432;
const MIN_ATTEMPT_SECONDS = 2;
const MAX_ATTEMPT_SECONDS = 60;
const MAX_NAME_BYTES = 40;

class UriProblem extends Error {}

/**
 * Parses a connection URI like libpq. A parameter without effect here is rejected unless it requests what already
 * holds, because ignoring one could weaken the connection.
 * @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 */
export function readPostgresUri(uri: string): ReadUri {
  try {
    return { ok: true, parts: partsOf(uri) };
  } catch (error) {
    if (error instanceof UriProblem) return { ok: false, problem: error.message };
    throw error;
  }
}

/** Parses a URI; undefined if `readPostgresUri` rejects it. */
export function parsePostgresUri(uri: string): ConnectionParts | undefined {
  const read = readPostgresUri(uri);
  return read.ok ? read.parts : undefined;
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

/** Requires that every "%" starts an encoded character. */
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

/**
 * Requires encoded "/", "?", "#" and "@" in passwords: an unencoded one ends the password early, and the rest is parsed
 * as host or path.
 */
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

/** Called only for URI delimiters, so that no other part of a password is shown. */
function characterAt(uri: string, at: number): string {
  return `"${uri.charAt(at)}" at position ${at + 1}`;
}

function readParameters(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const piece of query.split('&').filter((one) => one !== '')) {
    const [nameText = '', ...valueText] = piece.split('=');
    const name = decodeURIComponent(nameText);
    const reason = parameterProblem(name, decodeURIComponent(valueText.join('=')));
    // Anything that does not look like a name may be the rest of a password.
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

/** Parameters accepted only with the values that already hold. */
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

/** Returns why the parameter cannot be used, or undefined if it can. */
function parameterProblem(name: string, value: string): string | undefined {
  if (USED.has(name)) return undefined;
  const accepted = IS_SO.get(name);
  if (accepted?.test(value) === true) return undefined;
  if (accepted !== undefined) return 'is supported only with the value that is the default';
  return INSTEAD.get(name) ?? 'is not supported';
}

function sslModeOf(mode: string | undefined, ssl: string | undefined): SslMode | undefined {
  // A value of Node.js drivers: encrypted, without certificate verification.
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

/** As in libpq, one second counts as two. Zero means no limit, and then our default applies. */
function attemptSecondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^-?\d{1,6}$/.test(text)) throw new UriProblem('the parameter "connect_timeout" has to be a number of seconds');
  const seconds = Number(text);
  return seconds <= 0 ? undefined : Math.min(Math.max(seconds, MIN_ATTEMPT_SECONDS), MAX_ATTEMPT_SECONDS);
}

/** PostgreSQL keeps 63 bytes, which must include the process name. */
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

/**
 * @param hostPorts host part of the URI, for example `a:5432,[::1]`
 * @param host query parameter of the URI; takes precedence
 * @param port query parameter of the URI; takes precedence
 */
function serversOf(hostPorts: string, host: string | undefined, port: string | undefined): ServerParts[] {
  const addresses = hostPorts.split(',').map((one) => /^(?:\[([\da-fA-F:.]+)\]|([^:[\]@]*))(?::(\d{1,5}))?$/.exec(one));
  if (addresses.includes(null)) throw new UriProblem('a host or port in it cannot be read; expected host:port');
  const hosts = host === undefined ? addresses.map((one) => one?.[1] ?? decoded(one?.[2])) : host.split(',');
  const ports = port === undefined ? addresses.map((one) => one?.[3]) : port.split(',');
  const servers = pairedServers(hosts, ports);
  if (servers === undefined) throw new UriProblem('hosts and ports in it do not fit together; a port is 1 to 65535');
  return servers;
}

/** As in libpq, one port applies to all hosts; otherwise the number of ports must equal the number of hosts. */
function pairedServers(
  hosts: readonly (string | undefined)[],
  ports: readonly (string | undefined)[],
): ServerParts[] | undefined {
  if (ports.length !== 1 && ports.length !== hosts.length) return undefined;
  const servers: ServerParts[] = [];
  for (const [index, host] of hosts.entries()) {
    const port = portOf(ports.length === 1 ? ports[0] : ports[index]);
    // An empty name in a list would silently mean the default host.
    if (port === null || (hosts.length > 1 && !host)) return undefined;
    servers.push({ host: host || undefined, port });
  }
  return servers;
}

/** Returns undefined for an empty text. */
function decoded(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : decodeURIComponent(text);
}

function portOf(text: string | undefined): number | null | undefined {
  if (text === undefined || text === '') return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65535 ? port : null;
}

/** @param shown the alternatives as the message lists them */
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

/** Returns `PGHOST` and the related variables, or libpq's defaults. */
export function connectionDefaults(environment: Readonly<Record<string, string | undefined>>) {
  const { PGHOST: hosts, PGPORT: ports } = environment;
  return {
    servers: pairedServers((hosts || 'localhost').split(','), ports?.split(',') ?? [undefined]) ?? [],
    user: environment['PGUSER'] || accountName(),
    password: environment['PGPASSWORD'] || undefined,
    database: environment['PGDATABASE'] || undefined,
    sslMode: SSL_MODES.find((mode) => mode === environment['PGSSLMODE']) ?? 'prefer',
    sessionAttributes: SESSION_ATTRIBUTES.find((one) => one === environment['PGTARGETSESSIONATTRS']),
    session: sessionOf((name) => environment[SESSION_VARIABLES.get(name) ?? '']),
  };
}

const SESSION_VARIABLES: ReadonlyMap<string, string> = new Map([
  ['application_name', 'PGAPPNAME'],
  ['options', 'PGOPTIONS'],
]);

/** Completes the servers that a source names with the defaults of the environment. */
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

/** A numeric user ID without a passwd entry has no name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'postgres';
  }
}
