import { completeServers, connectionDefaults } from '#config/sections/postgres-uri.ts';
import { uriConnection } from '#config/uri-connection.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { type ConnectionTarget, SSL_MODES } from '#platform/postgres/database-options.ts';
import type { SynapseConfiguration } from './synapse-files.ts';
import type { SynapseDatabase, SynapseSettings } from './synapse-settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the connection to the database of a Synapse.
 * @param uri overrides the Synapse configuration
 * @throws ExitError 1 for SQLite, or if no database is configured
 */
export function sourceConnection(
  configuration: SynapseConfiguration,
  uri: string | undefined,
  environment: Environment,
): ConnectionTarget {
  if (uri !== undefined) {
    if (/^sqlite/i.test(uri)) throw onSqlite();
    return uriConnection(uri, '--synapse-database-uri', environment, configuration.readFile);
  }
  const database = databaseOf(configuration.settings);
  if (database === undefined) {
    throw new ExitError(
      ExitCode.failure,
      'the configuration of Synapse has no database settings: pass all of its files, or --synapse-database-uri',
    );
  }
  if (database.name !== 'psycopg2') throw onSqlite();
  return connectionOfArguments(database, configuration, environment);
}

/** If there are several databases, returns the one with the accounts. */
function databaseOf({ database, databases, database_path: path }: SynapseSettings): SynapseDatabase | undefined {
  if (database !== null && database !== undefined) return database;
  if (path !== null && path !== undefined) throw onSqlite();
  return Object.values(databases ?? {}).find(({ data_stores: stores }) => stores?.includes('main') ?? true);
}

function onSqlite(): ExitError {
  return new ExitError(
    ExitCode.failure,
    'this Synapse uses SQLite, which cannot be imported. Migrate it to PostgreSQL first, with its script ' +
      'synapse_port_db: https://element-hq.github.io/synapse/latest/postgres.html#porting-from-sqlite',
  );
}

/** Converts the arguments that Synapse passes to its database driver. */
function connectionOfArguments(
  { args }: SynapseDatabase,
  { readFile }: SynapseConfiguration,
  environment: Environment,
): ConnectionTarget {
  const defaults = connectionDefaults(environment);
  const port = args?.port === null || args?.port === undefined ? undefined : Number(args.port);
  const servers = (args?.host ?? '').split(',').map((host) => ({ host: host || undefined, port }));
  const [first, ...otherServers] = completeServers(servers, defaults.servers);
  const user = args?.user ?? defaults.user;
  const password = args?.password ?? defaults.password;
  const file = (path: string | null | undefined) => (path === null || path === undefined ? undefined : readFile(path));
  const [ca, certificate, key] = [file(args?.sslrootcert), file(args?.sslcert), file(args?.sslkey)];
  return {
    ...first,
    otherServers,
    user,
    database: args?.dbname ?? args?.database ?? defaults.database ?? user,
    ...(password !== undefined && { password }),
    ssl: {
      mode: SSL_MODES.find((mode) => mode === args?.sslmode) ?? defaults.sslMode,
      ...(ca !== undefined && { ca }),
      ...(certificate !== undefined && { certificate }),
      ...(key !== undefined && { key }),
    },
  };
}
