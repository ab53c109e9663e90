/**
 * Writes a backup: a `.tar.gz` with the manifest, optional secrets, and every table in parts from one snapshot. The
 * parts are compressed into a temporary file first because the manifest, which precedes them, contains their checksums.
 * Memory use does not depend on the size of the database.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Client } from 'pg';
import { KEY_CHECK_QUERY, keyChecksOf } from '#domain/keys/server-state.ts';
import { syncDirectory } from '#platform/base/files.ts';
import { randomBytes } from '#platform/base/random.ts';
import type { QuotedTable } from '#platform/postgres/dump/dumped-tables.ts';
import { beginSnapshot, readTable } from '#platform/postgres/dump/snapshot.ts';
import { listApplied } from '#platform/postgres/migrator/migration-state.ts';
import { END_OF_ARCHIVE, type TarFile, tarFile } from '#platform/tar/tar-archive.ts';
import { type ListedFile, MANIFEST_NAME, type Manifest, type ManifestTable, newManifest } from './manifest.ts';

/** The manifest contains the migrations; the other tables describe running processes. */
export const UNWANTED_TABLES = ['schema_migrations', 'queue_workers', 'homeserver_leases'];

export interface BackupOptions {
  /** Replaced if it exists. */
  readonly path: string;
  /** A dedicated connection. The caller closes it. */
  readonly client: Client;
  /** Version of this program. */
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly publicBase: string;
  /** Aborts the backup and removes temporary files. */
  readonly signal?: AbortSignal | undefined;
  /** Reads further files for the backup. Called after the snapshot has begun: keys are added but never removed. */
  readonly readSecrets: () => Promise<readonly TarFile[]>;
}

/** Writes a complete file with mode 0600 to `path`, or leaves the existing one unchanged. */
export async function writeBackup(options: BackupOptions): Promise<Manifest> {
  const { path } = options;
  const unfinished = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const pieces = `${unfinished}.parts`;
  try {
    const manifest = await writePieces(pieces, options);
    const content = Buffer.from(`${JSON.stringify(manifest, undefined, 1)}\n`);
    await pipeline(
      Readable.from([tarFile({ name: MANIFEST_NAME, content }, options.now)]),
      createGzip(),
      createWriteStream(unfinished, { flags: 'wx', mode: 0o600 }),
    );
    // Concatenated gzip files are a valid gzip file (RFC 1952 2.2).
    await pipeline(createReadStream(pieces), createWriteStream(unfinished, { flags: 'a' }));
    const file = await open(unfinished, 'r+');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
    await syncDirectory(dirname(path));
    return manifest;
  } finally {
    await rm(pieces, { force: true });
    await rm(unfinished, { force: true });
  }
}

async function writePieces(path: string, options: BackupOptions): Promise<Manifest> {
  const { client, now, publicBase, readSecrets, signal, version } = options;
  const { dumped, leftOut } = await beginSnapshot(client, UNWANTED_TABLES);
  const migrations = await listApplied(client);
  const checks = await client.query<{ value: Buffer }>(KEY_CHECK_QUERY);
  const secrets = await readSecrets();
  const tables: ManifestTable[] = [];
  async function* archive(): AsyncGenerator<Buffer> {
    for (const secret of secrets) yield tarFile(secret, now);
    for (const table of dumped) yield* filesOf(table);
    yield END_OF_ARCHIVE;
  }
  async function* filesOf(table: QuotedTable): AsyncGenerator<Buffer> {
    const parts: ManifestTable['parts'] = [];
    for await (const { content, rows } of readTable(client, table)) {
      const name = `tables/${table.name}/${String(parts.length + 1).padStart(6, '0')}.copy`;
      parts.push({ ...listed({ name, content }), rows });
      yield tarFile({ name, content }, now);
    }
    const rows = parts.reduce((sum, part) => sum + part.rows, 0);
    tables.push({ name: table.name, columns: [...table.columns], rows, parts });
  }
  const output = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  await pipeline(Readable.from(archive()), createGzip(), output, { signal });
  return newManifest({
    version,
    created_at: new Date(now).toISOString(),
    public_base: publicBase,
    migrations: migrations.map(({ version: number, name, checksum }) => ({ version: number, name, checksum })),
    encryption_key_checks: keyChecksOf(checks.rows[0]?.value).map((check) => check.toString('hex')),
    tables,
    left_out: [...leftOut],
    secrets: secrets.map(listed),
  });
}

function listed({ name, content }: TarFile): ListedFile {
  return { name, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
}
