import type { Queryable } from '../database.ts';
import { type NoParameters, statement } from '../statement.ts';
import { readMigrations } from './migration-files.ts';

const listVersions = statement<{ version: number; min_reader: number }, NoParameters>(
  'schema-versions',
  'select version, min_reader from schema_migrations',
);

/**
 * Whether the schema still fits a program that runs: another version may have migrated the database in the meantime, or
 * somebody may have put back an older one.
 */
export async function isSchemaUsable(database: Queryable, directory: string | URL): Promise<boolean> {
  const ours = readMigrations(directory).map(({ version }) => version);
  const applied = await database.rows(listVersions, {});
  const versions = new Set(applied.map(({ version }) => version));
  const newest = Math.max(0, ...ours);
  const isReadable = applied.every(({ version, min_reader: minReader }) => version <= newest || minReader <= newest);
  return isReadable && ours.every((version) => versions.has(version));
}
