import type { Queryable } from './database.ts';
import { type NoParameters, statement } from './statement.ts';

/** Configuration of a server, for the operator. */
export interface ServerSettings {
  /** For example 15. */
  readonly majorVersion: number;
  /** Maximum number of connections of ordinary roles, over all programs. */
  readonly maxConnections: number;
  /** Number of connected processes of this service. */
  readonly instances: number;
  readonly hasDataChecksums: boolean;
  /** Committed changes survive a crash of the machine. */
  readonly isDurable: boolean;
}

const readSettings = statement<
  { major: number; connections: number; instances: number; checksums: boolean; is_durable: boolean },
  NoParameters
>(
  'db.settings',
  `select current_setting('server_version_num')::integer / 10000 as major,
          current_setting('max_connections')::integer
            - current_setting('superuser_reserved_connections')::integer as connections,
          (select count(distinct application_name)::integer from pg_stat_activity
            where datname = current_database() and application_name ~ '(^| )latchkey:[0-9]+$') as instances,
          current_setting('data_checksums') = 'on' as checksums,
          current_setting('fsync') = 'on' as is_durable`,
);

export async function readServerSettings(database: Queryable): Promise<ServerSettings> {
  const row = await database.first(readSettings, {});
  if (row === undefined) throw new Error('a server has settings');
  return {
    majorVersion: row.major,
    maxConnections: row.connections,
    instances: row.instances,
    hasDataChecksums: row.checksums,
    isDurable: row.is_durable,
  };
}
