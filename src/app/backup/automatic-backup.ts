/**
 * Writes an automatic backup before a migration drops what the previous version still uses, so that the operator can go
 * back. Only the latest one is kept in the data directory.
 */
import { readdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import { isDiskFull } from '#platform/base/system-errors.ts';
import { connectWithRetries } from '#platform/postgres/connect.ts';
import type { ConnectionTarget } from '#platform/postgres/database-options.ts';
import { listApplied } from '#platform/postgres/migrator/migration-state.ts';
import type { Manifest } from './manifest.ts';
import { readManifest } from './read-backup.ts';
import { writeBackup } from './write-backup.ts';

const CONNECT_SECONDS = 30;
const NAME = /^before-.*\.tar\.gz$/;

export interface AutomaticBackupOptions {
  readonly dataDir: string;
  readonly connection: ConnectionTarget;
  /** Version of this program, which is about to migrate. */
  readonly version: string;
  readonly publicBase: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Writes `before-VERSION.tar.gz`. If the disk has too little space, the migration continues with a warning. */
export async function backUpBeforeContraction(options: AutomaticBackupOptions): Promise<void> {
  const { clock, connection, dataDir, log, publicBase, version } = options;
  const name = `before-${version}.tar.gz`;
  const path = join(dataDir, name);
  const warnOfNoRoom = () =>
    log.warn('db.migrate', `not enough disk space for a backup before the migration: ${path} was not written`);
  const applicationName = `latchkey backup:${process.pid}`;
  const client = await connectWithRetries({ connection, applicationName }, CONNECT_SECONDS, log);
  try {
    if (await isOfThisUpgrade(await readManifest(path), client)) return;
    if (!(await fits(client, dataDir))) {
      warnOfNoRoom();
      return;
    }
    try {
      await writeBackup({ path, client, version, now: clock.now(), publicBase, readSecrets: async () => [] });
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      warnOfNoRoom();
      return;
    }
    log.info('db.migrate', `backup written before the migration: ${path}`);
  } finally {
    client.connection.stream.destroy();
  }
  for (const other of await readdir(dataDir)) {
    if (NAME.test(other) && other !== name) await rm(join(dataDir, other), { force: true });
  }
}

/**
 * Returns true if an earlier attempt of this upgrade wrote the backup and then applied migrations. Its older state is
 * the one to keep.
 */
async function isOfThisUpgrade(kept: Manifest | undefined, client: Client): Promise<boolean> {
  if (kept === undefined) return false;
  const applied = await listApplied(client);
  return kept.migrations.length < applied.length;
}

/** Two copies of the compressed text are smaller than the database files. */
async function fits(client: Client, directory: string): Promise<boolean> {
  const { rows } = await client.query<{ bytes: number }>(
    'select pg_database_size(current_database())::float8 as bytes',
  );
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize > (rows[0]?.bytes ?? 0);
}
