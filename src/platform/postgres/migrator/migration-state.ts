/** Compares the migrations applied to a database, from its table `schema_migrations`, with those of this program. */
import { type Client, DatabaseError } from 'pg';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { Queryable } from '../database.ts';
import { grantText } from '../failures.ts';
import { type NoParameters, statement } from '../statement.ts';
import { type Migration, type MigrationKind, type MigrationName, migrationsFor } from './migration-files.ts';

/** A row of `schema_migrations`. */
export interface AppliedMigration extends MigrationName {
  readonly kind: MigrationKind;
  readonly minReader: number;
  readonly checksum: string;
  /** Milliseconds since the epoch. */
  readonly appliedAt: number;
}

export interface MigrationState {
  readonly applied: readonly AppliedMigration[];
  readonly pending: readonly Migration[];
  /** Applied by a newer program, and compatible with this one. */
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

const listVersions = statement<MigrationName & { min_reader: number }, NoParameters>(
  'schema-versions',
  'select version, name, min_reader from schema_migrations',
);

/**
 * Compares the database with the migrations of this program.
 * @param planned migrations of the schema that a new database shall get, if not the one of this program
 * @throws ExitError 1 if the database is too new for this program, contains a migration with a different text, or
 * belongs to another program
 */
export async function readState(
  client: Client,
  directory: string | URL,
  planned: readonly MigrationName[] = [],
): Promise<MigrationState> {
  const applied = await readApplied(client);
  const migrations = migrationsFor(directory, applied.length > 0 ? applied : planned);
  const ours = new Map(migrations.map((migration) => [migration.version, migration]));
  const newest = migrations.at(-1)?.version ?? 0;
  const unknown: AppliedMigration[] = [];
  for (const migration of applied) {
    const known = ours.get(migration.version);
    if (known === undefined) {
      if (migration.minReader > newest) {
        throw new ExitError(
          ExitCode.failure,
          `the database is newer than this program: migration ${nameOf(migration)} was applied to it`,
        );
      }
      unknown.push(migration);
    } else if (known.checksum !== migration.checksum) {
      throw new ExitError(
        ExitCode.failure,
        `migration ${nameOf(migration)} was applied with a different text than in this program`,
      );
    }
    ours.delete(migration.version);
  }
  return { applied, pending: [...ours.values()], unknown };
}

export function nameOf(migration: MigrationName): string {
  return `${String(migration.version).padStart(4, '0')}-${migration.name}`;
}

/**
 * Returns whether the schema still fits this running program. Another version may have migrated the database in the
 * meantime, or an operator may have restored an older backup.
 */
export async function isSchemaUsable(database: Queryable, directory: string | URL): Promise<boolean> {
  const applied = await database.rows(listVersions, {});
  const ours = migrationsFor(directory, applied).map(({ version }) => version);
  const versions = new Set(applied.map(({ version }) => version));
  const newest = Math.max(0, ...ours);
  const isReadable = applied.every(({ version, min_reader: minReader }) => version <= newest || minReader <= newest);
  return isReadable && ours.every((version) => versions.has(version));
}

/** Lists the applied migrations in order. The table must exist. */
export async function listApplied(client: Client): Promise<AppliedMigration[]> {
  const { rows } = await client.query<AppliedMigration>(`
    select version, name, kind, min_reader as "minReader", checksum,
      (extract(epoch from applied_at) * 1000)::float8 as "appliedAt"
    from schema_migrations order by version`);
  return rows;
}

async function readApplied(client: Client): Promise<AppliedMigration[]> {
  const { schema, tables } = await readTables(client);
  if (!tables.includes('schema_migrations')) {
    if (tables.length === 0) return [];
    const shown = tables.length > 3 ? [...tables.slice(0, 3), '…'] : tables;
    throw new ExitError(
      ExitCode.failure,
      `schema ${schema} of the database belongs to another program (it has ${shown.join(', ')}); use an empty database, into which "latchkey import" copies accounts`,
    );
  }
  try {
    return await listApplied(client);
  } catch (error) {
    if (error instanceof DatabaseError && error.code === '42703') {
      throw new ExitError(
        ExitCode.failure,
        "the database belongs to another program: its table schema_migrations is not Latchkey's",
      );
    }
    throw error;
  }
}

/**
 * Uses a single statement, so that a concurrent migration is seen completely or not at all. Ignores tables of
 * extensions.
 */
async function readTables(client: Client): Promise<{ schema: string; tables: readonly string[] }> {
  const { rows } = await client.query<{ role: string; schema: string | null; tables: string[] }>(`
    select quote_ident(current_user) as role, current_schema() as schema, coalesce(array_agg(c.relname::text order by c.relname), '{}') as tables
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
      and not exists (select from pg_depend d
        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')`);
  const found = rows[0];
  if (found === undefined || found.schema === null) {
    const advice = grantText({ role: found?.role ?? 'ROLE', schema: 'public' });
    throw new ExitError(
      ExitCode.failure,
      `the search path of the database contains no existing schema that the role can use. ${advice}`,
    );
  }
  return { schema: found.schema, tables: found.tables };
}
