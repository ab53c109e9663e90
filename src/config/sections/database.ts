import type { z } from 'zod';
import { Secret } from '#platform/base/secret.ts';
import { rule } from '#platform/config/rule.ts';
import { hint } from '#platform/config/shape.ts';
import {
  choice,
  duration,
  type Immutable,
  integer,
  mapping,
  path,
  secret,
  secretFile,
  text,
} from '#platform/config/values.ts';
import { SSL_MODES } from '#platform/postgres/database-options.ts';
import {
  type ConnectionParts,
  completeServers,
  connectionDefaults,
  parsePostgresUri,
  readPostgresUri,
} from './postgres-uri.ts';

const EMBEDDED_URI = /^embedded:(?:\/\/(?<directory>\/.+))?$/;
const URI_EXPECTED = 'expected "embedded:", "embedded:///absolute/path" or "postgres://user@host/database"';
const POSTGRES_URI_EXPECTED = 'expected "postgres://user@host/database"';

/** A database URI. The error names what is wrong in it. */
function databaseUri(expected: string, isOther: (value: string) => boolean) {
  return secret().superRefine((value, context) => {
    if (isOther(value)) return;
    const read = readPostgresUri(value);
    if (read.ok) return;
    context.addIssue(/^postgres(?:ql)?:\/\//.test(value) ? `cannot be used: ${read.problem}` : expected);
  });
}

const embedded = mapping({
  user: hint(text({ maximum: 32, pattern: /^[A-Za-z_][\w.-]*\$?$/, expected: 'expected the name of an account' }), {
    defaultText: '`postgres`, else `nobody`',
  })
    .optional()
    .describe('Operating system account of the embedded server if the service runs as root.'),
  bin_dir: hint(path(), { defaultText: '`PATH`' })
    .optional()
    .describe('Directory with `initdb` and `postgres` (15 or later), for platforms without a bundled PostgreSQL.'),
});

const connectionParts = mapping({
  uri: hint(
    databaseUri(URI_EXPECTED, (value) => EMBEDDED_URI.test(value)),
    { defaultText: '`embedded:`' },
  )
    .optional()
    .describe(
      '`embedded:` runs a PostgreSQL server in `data_dir`, `embedded:///path` in another directory (single ' +
        'machine only). `postgres://` names a server, or several for failover ' +
        '(`postgres://user@a:5432,b:5432/name`): the first that accepts writes is used until it fails. ' +
        '`target_session_attrs` sets the required state: `read-write` (the default for several), `primary` ' +
        'or `any`.',
    ),
  uri_file: secretFile('uri'),
  host: hint(text({ maximum: 255, pattern: /^[^\s]+$/, expected: 'expected a host name or an IP address' }), {
    defaultText: '`PGHOST`, else `localhost`',
  })
    .optional()
    .describe(
      'Host of the PostgreSQL server, or several, separated by commas. This key and the following five ' +
        'replace `uri`.',
    ),
  port: hint(integer(1, 65535), { defaultText: '`PGPORT`, else 5432' })
    .optional()
    .describe('Port of the PostgreSQL server.'),
  socket: path().optional().describe("Directory of the server's Unix socket, instead of `host`."),
  username: hint(text({ maximum: 63 }), { defaultText: '`PGUSER`, else the account of the process' })
    .optional()
    .describe('Role to connect as; it must own its database or schema.'),
  password: hint(secret(), { defaultText: '`PGPASSWORD`' }).optional().describe('Password of the role.'),
  password_file: secretFile('password'),
  database: hint(text({ maximum: 63 }), { defaultText: '`PGDATABASE`, else the role' })
    .optional()
    .describe('Name of the database.'),
  ssl_mode: hint(choice(SSL_MODES), { defaultText: '`PGSSLMODE`, else `prefer`' })
    .optional()
    .describe('TLS mode of the connection, as in libpq.'),
  ssl_ca: secret().optional().describe('CA certificates (PEM) for verifying the server. Default: the system store.'),
  ssl_ca_file: secretFile('ssl_ca'),
  ssl_certificate: secret().optional().describe('Client certificate (PEM); requires `ssl_key`.'),
  ssl_certificate_file: secretFile('ssl_certificate'),
  ssl_key: secret().optional().describe('Private key of the client certificate (PEM).'),
  ssl_key_file: secretFile('ssl_key'),
  max_connections: integer(1, 1000).prefault(10).describe('Maximum number of connections per process.'),
  min_connections: integer(0, 1000).prefault(0).describe('Minimum number of connections to keep open.'),
  connect_timeout: duration('1s').prefault('30s').describe('How long to retry connecting at start.'),
  acquire_timeout: duration('1ms').prefault('5s').describe('Timeout for acquiring a connection; then 503.'),
  idle_timeout: duration('1s')
    .nullable()
    .prefault('10m')
    .describe('Time after which idle connections are closed. `null`: never.'),
  max_lifetime: duration('1s').nullable().prefault('30m').describe('Maximum age of a connection. `null`: unlimited.'),
  statement_timeout: duration('1ms').prefault('10s').describe('Timeout of a statement.'),
  slow_statement: duration('1ms').prefault('1s').describe('Statements that take longer are logged.'),
  pooler: choice(['none', 'session', 'transaction'])
    .prefault('none')
    .describe('Connection pooler in front of the database; `transaction` requires `migration_uri`.'),
  migration_uri: hint(
    databaseUri(POSTGRES_URI_EXPECTED, () => false),
    { defaultText: '`uri`' },
  )
    .optional()
    .describe('Direct connection for migrations.'),
  migration_uri_file: secretFile('migration_uri'),
  embedded: embedded.prefault({}).describe('Embedded PostgreSQL server.'),
});

const PARTS_BESIDE_URI = ['host', 'port', 'socket', 'username', 'password', 'database'] as const;

const withUriRule = rule(connectionParts, ['uri', ...PARTS_BESIDE_URI], (values, problem) => {
  if (values.uri === undefined) return;
  for (const key of PARTS_BESIDE_URI) {
    if (values[key] !== undefined) problem([key], 'not allowed together with "database.uri"');
  }
});
const withSocketRule = rule(withUriRule, ['host', 'socket'], ({ host, socket }, problem) => {
  if (host !== undefined && socket !== undefined) problem(['socket'], 'not allowed together with "database.host"');
});
const withKeyPairRule = rule(withSocketRule, ['ssl_certificate', 'ssl_key'], (values, problem) => {
  if (values.ssl_certificate !== undefined && values.ssl_key === undefined) {
    problem(['ssl_certificate'], 'needs "database.ssl_key" as well');
  }
  if (values.ssl_key !== undefined && values.ssl_certificate === undefined) {
    problem(['ssl_key'], 'needs "database.ssl_certificate" as well');
  }
});
const withPoolRule = rule(withKeyPairRule, ['min_connections', 'max_connections'], (values, problem) => {
  if (values.min_connections > values.max_connections) {
    problem(['min_connections'], `is above "database.max_connections" (${values.max_connections})`);
  }
});

/** Returns true if a document names a PostgreSQL server of its own. @param at whether the key is set, and its text */
export function namesServer(at: (key: string) => string | undefined): boolean {
  const uri = at('uri');
  return uri === undefined ? PARTS_BESIDE_URI.some((key) => at(key) !== undefined) : !EMBEDDED_URI.test(uri);
}

export const databaseSection = rule(withPoolRule, ['pooler', 'migration_uri'], ({ pooler, migration_uri }, problem) => {
  if (pooler === 'transaction' && migration_uri === undefined) {
    problem(['pooler'], '"transaction" needs "database.migration_uri", a direct connection for migrations');
  }
});

type ParsedDatabase = z.output<typeof databaseSection>;

export function databaseConfig(parsed: ParsedDatabase, environment: Readonly<Record<string, string | undefined>>) {
  const connection = (parts: ConnectionParts) => postgresConfig(parsed, parts, environment);
  const migration = parsed.migration_uri === undefined ? undefined : parsePostgresUri(parsed.migration_uri);
  return {
    server: databaseServer(parsed, connection),
    /** Direct connection for migrations; undefined: the same as `server`. */
    migrationServer: migration === undefined ? undefined : connection(migration),
    maxConnections: parsed.max_connections,
    minConnections: parsed.min_connections,
    connectTimeoutSeconds: parsed.connect_timeout,
    acquireTimeoutSeconds: parsed.acquire_timeout,
    /** Undefined: idle connections are kept open. */
    idleTimeoutSeconds: parsed.idle_timeout ?? undefined,
    /** Undefined: connections live as long as the process. */
    maxLifetimeSeconds: parsed.max_lifetime ?? undefined,
    statementTimeoutSeconds: parsed.statement_timeout,
    slowStatementSeconds: parsed.slow_statement,
    pooler: parsed.pooler,
  };
}

function databaseServer(parsed: ParsedDatabase, connection: (parts: ConnectionParts) => PostgresConfig) {
  const fromUri = parsed.uri === undefined ? undefined : parsePostgresUri(parsed.uri);
  if (fromUri !== undefined) return connection(fromUri);
  if (PARTS_BESIDE_URI.some((key) => parsed[key] !== undefined)) {
    const hosts = parsed.socket === undefined ? parsed.host?.split(',') : [parsed.socket];
    return connection({
      servers: (hosts ?? [undefined]).map((host) => ({ host, port: parsed.port })),
      user: parsed.username,
      password: parsed.password,
      database: parsed.database,
      sslMode: undefined,
      sessionAttributes: undefined,
      session: {},
      tls: {},
      files: {},
    });
  }
  return {
    kind: 'embedded' as const,
    /** Directory of the cluster; undefined: `db` in the data directory. */
    directory: EMBEDDED_URI.exec(parsed.uri ?? '')?.groups?.['directory'],
    /** Account that the server runs as if the service runs as root. */
    user: parsed.embedded.user,
    /** Where to find `initdb` and `postgres` if no bundled binary fits. */
    binDir: parsed.embedded.bin_dir,
  };
}

export type PostgresConfig = Immutable<ReturnType<typeof postgresConfig>>;

function postgresConfig(
  parsed: ParsedDatabase,
  parts: ConnectionParts,
  environment: Readonly<Record<string, string | undefined>>,
) {
  const defaults = connectionDefaults(environment);
  const user = parts.user ?? defaults.user;
  const password = parts.password ?? defaults.password;
  const servers = completeServers(parts.servers, defaults.servers);
  return {
    kind: 'postgres' as const,
    /** In connection order: port, and host name, address or Unix socket directory (starts with a slash). */
    servers,
    /** With several servers, connect to the one that accepts writes. */
    sessionAttributes:
      parts.sessionAttributes ?? defaults.sessionAttributes ?? (servers.length > 1 ? 'read-write' : 'any'),
    user,
    password: secretOf(password),
    database: parts.database ?? defaults.database ?? user,
    sslMode: parsed.ssl_mode ?? parts.sslMode ?? defaults.sslMode,
    /** As requested in the URI or in variables. */
    session: { ...defaults.session, ...parts.session },
    tls: parts.tls,
    /** PEM; undefined: the system's trust store. */
    sslCa: secretOf(parsed.ssl_ca),
    /** PEM, present together with `sslKey`. */
    sslCertificate: secretOf(parsed.ssl_certificate),
    sslKey: secretOf(parsed.ssl_key),
  };
}

function secretOf(value: string | undefined): Secret | undefined {
  return value === undefined ? undefined : new Secret(value);
}
