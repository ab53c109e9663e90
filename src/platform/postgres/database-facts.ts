import type { Queryable } from './database.ts';
import { type NoParameters, statement } from './statement.ts';

/** Information about a database for its operator. */
export interface DatabaseFacts {
  readonly serverVersion: string;
  readonly sizeBytes: number;
  /** The ten largest tables, with the planner's estimate of their row count. Null before the first estimate. */
  readonly largestTables: readonly {
    readonly name: string;
    readonly estimatedRows: number | null;
    readonly bytes: number;
  }[];
}

const findServer = statement<{ version: string; bytes: number }, NoParameters>(
  'db.facts.server',
  `select current_setting('server_version') as version, pg_database_size(current_database())::float8 as bytes`,
);

const listLargestTables = statement<{ name: string; rows: number | null; bytes: number }, NoParameters>(
  'db.facts.tables',
  `select relname::text as name, nullif(reltuples, -1)::float8 as rows, pg_total_relation_size(oid)::float8 as bytes
   from pg_class
   where relkind = 'r' and relnamespace = to_regnamespace(current_schema())
   order by pg_total_relation_size(oid) desc, relname
   limit 10`,
);

const findVersion = statement<{ version: string }, NoParameters>(
  'db.version',
  `select current_setting('server_version') as version`,
);

export async function readServerVersion(database: Queryable): Promise<string> {
  return (await database.first(findVersion, {}))?.version ?? '';
}

export async function readDatabaseFacts(database: Queryable): Promise<DatabaseFacts> {
  const server = await database.first(findServer, {});
  const tables = await database.rows(listLargestTables, {});
  return {
    serverVersion: server?.version ?? '',
    sizeBytes: server?.bytes ?? 0,
    largestTables: tables.map((table) => ({ name: table.name, estimatedRows: table.rows, bytes: table.bytes })),
  };
}
