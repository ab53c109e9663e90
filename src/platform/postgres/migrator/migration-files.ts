import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sha256 } from '#platform/base/secret.ts';

/**
 * `expand`: additive, programs of before run on. `contract`: takes something away that older programs may use.
 */
export type MigrationKind = 'expand' | 'contract';

/** A numbered file `NNNN-name.sql`; never edited once it was released. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly kind: MigrationKind;
  /** Programs whose newest migration is older than this cannot run on the result. */
  readonly minReader: number;
  /** Builds indexes while the service runs: outside a transaction, statement by statement. */
  readonly isConcurrent: boolean;
  /** The back-fill that has to be done before, as its job records it. */
  readonly backfill: string | undefined;
  /** SHA-256 of the text, in hexadecimal. */
  readonly checksum: string;
  readonly text: string;
}

const FILE_NAME = /^(\d{4})-([a-z0-9-]+)\.sql$/;
const FIRST_LINE = /^-- (expand|contract)( concurrently)?(?: min_reader=(\d+))?(?: after=([a-z0-9-]+))?$/;

/**
 * Reads every migration of a folder, in their order. The first line of each says its kind; `concurrently` when it
 * builds indexes on tables that may be large; `min_reader`, without which any program may read after an expansion and
 * only those that know it after a contraction; and `after=NAME` when a back-fill has to be done before.
 */
export function readMigrations(directory: string | URL): Migration[] {
  const folder = directory instanceof URL ? fileURLToPath(directory) : directory;
  const migrations = readdirSync(folder)
    .filter((fileName) => FILE_NAME.test(fileName))
    .sort()
    .map((fileName) => readMigration(fileName, readFileSync(join(folder, fileName), 'utf8')));
  for (const [index, migration] of migrations.entries()) {
    if (migrations[index + 1]?.version === migration.version) {
      throw new Error(`two migrations have the number ${migration.version}`);
    }
  }
  return migrations;
}

function readMigration(fileName: string, content: string): Migration {
  // A checkout may have turned the line ends; the checksum must not depend on it.
  const text = content.replaceAll('\r\n', '\n');
  const [, number, name] = FILE_NAME.exec(fileName) ?? [];
  const [, kind, concurrently, minReader, backfill] = FIRST_LINE.exec(text.slice(0, text.indexOf('\n'))) ?? [];
  if (number === undefined || name === undefined || (kind !== 'expand' && kind !== 'contract')) {
    throw new Error(`the first line of ${fileName} must be "-- expand" or "-- contract"`);
  }
  const version = Number(number);
  const usualMinReader = kind === 'expand' ? 0 : version;
  return {
    version,
    name,
    kind,
    minReader: minReader === undefined ? usualMinReader : Number(minReader),
    isConcurrent: concurrently !== undefined,
    backfill,
    checksum: sha256(text).toString('hex'),
    text,
  };
}
