import { type Client, DatabaseError } from 'pg';
import { ExitError } from '#platform/base/errors.ts';
import type { Migration, MigrationKind } from './migration-files.ts';

/** A row of `schema_migrations`. */
export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly kind: MigrationKind;
  readonly minReader: number;
  readonly checksum: string;
  /** Milliseconds since the epoch. */
  readonly appliedAt: number;
}

export interface MigrationState {
  readonly applied: readonly AppliedMigration[];
  readonly pending: readonly Migration[];
  /** Applied by a newer program; harmless for this one. */
  readonly unknown: readonly AppliedMigration[];
}

export const CREATE_SCHEMA_MIGRATIONS = `
  create table if not exists schema_migrations (
    version integer primary key,
    name text not null,
    checksum text not null,
    kind text not null,
    min_reader integer not null,
    applied_at timestamptz not null,
    duration_ms integer not null
  )`;

/**
 * Compares the database with the migrations of this program.
 * @throws ExitError 1 when the database is newer than this program can read, holds a migration whose text was changed,
 *   or belongs to something else
 */
export async function readState(client: Client, migrations: readonly Migration[]): Promise<MigrationState> {
  const applied = await readApplied(client);
  const ours = new Map(migrations.map((migration) => [migration.version, migration]));
  const newest = migrations.at(-1)?.version ?? 0;
  const unknown: AppliedMigration[] = [];
  for (const one of applied) {
    const known = ours.get(one.version);
    if (known === undefined) {
      if (one.minReader > newest) {
        throw new ExitError(1, `the database is newer than this program: ${nameOf(one)} was applied to it`);
      }
      unknown.push(one);
    } else if (known.checksum !== one.checksum) {
      throw new ExitError(1, `migration ${nameOf(one)} was applied with another text than this program has`);
    }
    ours.delete(one.version);
  }
  return { applied, pending: [...ours.values()], unknown };
}

export function nameOf(migration: { readonly version: number; readonly name: string }): string {
  return `${String(migration.version).padStart(4, '0')}-${migration.name}`;
}

async function readApplied(client: Client): Promise<AppliedMigration[]> {
  const { schema, tables } = await readTables(client);
  if (!tables.includes('schema_migrations')) {
    if (tables.length === 0) return [];
    const shown = tables.length > 3 ? [...tables.slice(0, 3), '…'] : tables;
    throw new ExitError(
      1,
      `schema ${schema} of the database belongs to another program (it has ${shown.join(', ')}); use an empty database`,
    );
  }
  try {
    const result = await client.query<AppliedMigration>(`
      select version, name, kind, min_reader as "minReader", checksum,
        (extract(epoch from applied_at) * 1000)::float8 as "appliedAt"
      from schema_migrations order by version`);
    return result.rows;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === '42703') {
      throw new ExitError(1, 'the database belongs to another program: its table schema_migrations is not ours');
    }
    throw error;
  }
}

/** In one statement, so that a migration elsewhere shows whole or not at all. Tables of extensions do not count. */
async function readTables(client: Client): Promise<{ schema: string; tables: readonly string[] }> {
  const { rows } = await client.query<{ schema: string | null; tables: string[] }>(`
    select current_schema() as schema, coalesce(array_agg(c.relname::text order by c.relname), '{}') as tables
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
      and not exists (select from pg_depend d
        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')`);
  const found = rows[0];
  if (found === undefined || found.schema === null) {
    throw new ExitError(1, 'the search path of the database names no schema that exists');
  }
  return { schema: found.schema, tables: found.tables };
}
