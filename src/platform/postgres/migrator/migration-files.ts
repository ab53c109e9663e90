/** Reads the numbered SQL migration files, including their names and first lines. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sha256 } from '#platform/base/secret.ts';

/**
 * `expand`: adds something, and older programs still work. `contract`: removes something that older programs may use.
 */
export type MigrationKind = 'expand' | 'contract';

/** Identifies a migration. */
export interface MigrationName {
  readonly version: number;
  readonly name: string;
}

/** A numbered file `NNNN-name.sql`. Never edited after its release. */
export interface Migration extends MigrationName {
  readonly kind: MigrationKind;
  /** Programs whose newest migration is older than this cannot run on the new schema. */
  readonly minReader: number;
  /** Builds indexes while the service is running: outside a transaction, statement by statement. */
  readonly isConcurrent: boolean;
  /** Name of the backfill that must be done first, as its job records it. */
  readonly backfill: string | undefined;
  /** SHA-256 of the text in hexadecimal. */
  readonly checksum: string;
  readonly text: string;
}

const FILE_NAME = /^(\d{4})-([a-z0-9-]+)\.sql$/;
/** Folder of the migrations that the baseline replaces, and the name of their first one. */
const PRE_RELEASE = 'pre-release';
const FIRST_OF_PRE_RELEASE = 'foundation';
const BASELINE = 1;
const FIRST_LINE = /^-- (expand|contract)( concurrently)?(?: min_reader=(\d+))?(?: after=([a-z0-9-]+))?$/;

/**
 * Returns the migrations that lead a database to the schema of this program, in order. A database that a version before
 * the first release created never gets the baseline, but the pending ones of the migrations that the baseline replaces.
 * Its list of applied migrations stays valid for the older version, so both can run during the upgrade.
 * @param applied migrations of the database; none if it is new
 */
export function migrationsFor(directory: string | URL, applied: readonly MigrationName[]): Migration[] {
  const path = pathOf(directory);
  const migrations = readMigrations(path);
  const isPreRelease = applied.some(({ version, name }) => version === BASELINE && name === FIRST_OF_PRE_RELEASE);
  if (!isPreRelease) return migrations;
  return [...readMigrations(join(path, PRE_RELEASE)), ...migrations.filter(({ version }) => version !== BASELINE)];
}

/**
 * Reads all migrations of a directory in order. The first line of each contains:
 *
 * - its kind
 * - `concurrently` if it builds indexes on tables that may be large
 * - `min_reader`, by default 0 for an expansion and its own number for a contraction
 * - `after=NAME` if a backfill must be done first
 */
export function readMigrations(directory: string | URL): Migration[] {
  const path = pathOf(directory);
  const migrations = readdirSync(path)
    .filter((fileName) => FILE_NAME.test(fileName))
    .sort()
    .map((fileName) => readMigration(fileName, readFileSync(join(path, fileName), 'utf8')));
  for (const [index, migration] of migrations.entries()) {
    if (migrations[index + 1]?.version === migration.version) {
      throw new Error(`more than one migration has the number ${migration.version}`);
    }
  }
  return migrations;
}

function pathOf(directory: string | URL): string {
  return directory instanceof URL ? fileURLToPath(directory) : directory;
}

function readMigration(fileName: string, content: string): Migration {
  // A checkout may have changed the line breaks, and the checksum must not depend on them.
  const text = content.replaceAll('\r\n', '\n');
  const [, number, name] = FILE_NAME.exec(fileName) ?? [];
  const [, kind, concurrently, minReader, backfill] = FIRST_LINE.exec(text.slice(0, text.indexOf('\n'))) ?? [];
  if (number === undefined || name === undefined || (kind !== 'expand' && kind !== 'contract')) {
    throw new Error(`the first line of ${fileName} must be "-- expand" or "-- contract"`);
  }
  const version = Number(number);
  const defaultMinReader = kind === 'expand' ? 0 : version;
  return {
    version,
    name,
    kind,
    minReader: minReader === undefined ? defaultMinReader : Number(minReader),
    isConcurrent: concurrently !== undefined,
    backfill,
    checksum: sha256(text).toString('hex'),
    text,
  };
}
