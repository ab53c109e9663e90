import { parsePostgresUri } from '#config/sections/postgres-uri.ts';
import type { ConnectionTarget } from '#platform/postgres/database-options.ts';

/** The target that a `postgres://` address of the tests names; what it leaves out follows libpq. */
export function parseConnectionUri(uri: string): ConnectionTarget {
  const parts = parsePostgresUri(uri);
  if (parts === undefined) throw new Error('not an address of a PostgreSQL database');
  const { host, port, user, password, database, sslMode } = parts;
  return {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    ...(sslMode !== undefined && { ssl: { mode: sslMode } }),
  };
}
