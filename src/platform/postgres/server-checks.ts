import type { Client } from 'pg';
import { ExitError } from '#platform/base/errors.ts';

const OLDEST_VERSION = 15;

/**
 * Refuses a server that Latchkey cannot run on.
 * @throws ExitError 69 for a server older than PostgreSQL 15, another encoding than UTF-8, or a read-only database
 */
export async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: number; encoding: string; readOnly: boolean }>(`
    select current_setting('server_version_num')::int / 10000 as version,
      current_setting('server_encoding') as encoding,
      pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as "readOnly"`);
  const server = rows[0];
  if (server === undefined) throw new ExitError(69, 'the database server did not say what it is');
  if (server.version < OLDEST_VERSION) {
    throw new ExitError(
      69,
      `the server runs PostgreSQL ${server.version}; version ${OLDEST_VERSION} or later is needed`,
    );
  }
  if (server.encoding !== 'UTF8') {
    throw new ExitError(69, `the database is encoded in ${server.encoding}; create it with encoding UTF8`);
  }
  if (server.readOnly) throw new ExitError(69, 'the database is read-only; connect to the primary server');
}
