import { parsePostgresUri } from '#config/sections/postgres-uri.ts';
import type { ConnectionTarget } from '#platform/postgres/database-options.ts';

/** Parses a `postgres://` URI of the tests. Missing parts default as in libpq. */
export function parseConnectionUri(uri: string): ConnectionTarget & { readonly password?: string } {
  const parts = parsePostgresUri(uri);
  if (parts === undefined) throw new Error('not an address of a PostgreSQL database');
  const { servers, user, password, database, sslMode, sessionAttributes, session, tls } = parts;
  const [first = {}, ...otherServers] = servers.map(({ host, port }) => ({
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
  }));
  return {
    ...first,
    ...(otherServers.length > 0 && { otherServers }),
    ...(sessionAttributes !== undefined && { sessionAttributes }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    ...session,
    ...(sslMode !== undefined && { ssl: { ...tls, mode: sslMode } }),
  };
}
