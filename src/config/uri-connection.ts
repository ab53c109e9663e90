import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { ConnectionTarget } from '#platform/postgres/database-options.ts';
import { completeServers, connectionDefaults, parsePostgresUri } from './sections/postgres-uri.ts';

/**
 * The database that an option of a command names; what its address leaves out follows libpq.
 * @throws ExitError 2 when it is no address of a PostgreSQL database
 */
export function uriConnection(
  uri: string,
  option: string,
  environment: Readonly<Record<string, string | undefined>>,
): ConnectionTarget {
  const parts = parsePostgresUri(uri);
  if (parts === undefined) {
    throw new ExitError(
      ExitCode.usage,
      `${option}: expected postgres://user@host/database (parameters: host, port, user, password, dbname, sslmode)`,
    );
  }
  const defaults = connectionDefaults(environment);
  const [first, ...otherServers] = completeServers(parts.servers, defaults.servers);
  const user = parts.user ?? defaults.user;
  const password = parts.password ?? defaults.password;
  return {
    ...first,
    otherServers,
    user,
    database: parts.database ?? defaults.database ?? user,
    ...(password !== undefined && { password }),
    ssl: { mode: parts.sslMode ?? defaults.sslMode },
  };
}
