/** Restores a backup into an empty database and migrates it to the schema of this program. */
import { type Client, DatabaseError } from 'pg';
import type { Clock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import { HOLD_JOBS } from '#platform/jobs/hold-jobs.ts';
import { connectWithRetries } from '#platform/postgres/connect.ts';
import type { ConnectionTarget } from '#platform/postgres/database-options.ts';
import { LoadProblem, loadTables, NotEmpty } from '#platform/postgres/dump/load-tables.ts';
import { reasonOf } from '#platform/postgres/failures.ts';
import { migrate } from '#platform/postgres/migrator/migrate.ts';
import { migrationsFor } from '#platform/postgres/migrator/migration-files.ts';
import { nameOf } from '#platform/postgres/migrator/migration-state.ts';
import type { Manifest, ManifestTable } from './manifest.ts';
import { readBackup } from './read-backup.ts';
import { UNWANTED_TABLES } from './write-backup.ts';

const CONNECT_SECONDS = 30;

export interface LoadOptions {
  readonly path: string;
  /** The verified manifest. */
  readonly manifest: Manifest;
  readonly target: ConnectionTarget;
  readonly migrationsDirectory: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Aborts the restore. */
  readonly signal: AbortSignal;
}

/** @throws ExitError 1 if this program lacks a migration of the backup or has a different version of it */
export function requireKnownMigrations(manifest: Manifest, directory: string): void {
  const ours = new Map(
    migrationsFor(directory, manifest.migrations).map((migration) => [migration.version, migration]),
  );
  for (const migration of manifest.migrations) {
    const known = ours.get(migration.version);
    if (known === undefined) {
      throw new ExitError(
        ExitCode.failure,
        `the backup has a newer schema: Latchkey ${manifest.version} wrote it, after migration ${nameOf(migration)}. ` +
          'Restore it with that version or a later one.',
      );
    }
    if (known.checksum !== migration.checksum) {
      throw new ExitError(
        ExitCode.failure,
        `the backup was written after a migration ${nameOf(migration)} that differs from the one in this program`,
      );
    }
  }
}

/**
 * Applies the migrations of the backup, loads its rows in one transaction, then applies later migrations.
 * @throws ExitError 1 if the database is not empty or rejects the rows, 65, 69, 75
 */
export async function loadBackup(options: LoadOptions): Promise<void> {
  const { clock, log, manifest, migrationsDirectory, signal, target } = options;
  const migrations = { connection: target, directory: migrationsDirectory, log, clock };
  await migrate({ ...migrations, only: manifest.migrations });
  const client = await connectWithRetries(
    { connection: target, applicationName: 'latchkey restore' },
    CONNECT_SECONDS,
    log,
  );
  const giveUp = (): unknown => client.connection.stream.destroy();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    signal.throwIfAborted();
    await loadRows(client, options);
  } finally {
    signal.removeEventListener('abort', giveUp);
    giveUp();
  }
  signal.throwIfAborted();
  await migrate(migrations);
}

async function loadRows(client: Client, { clock, manifest, path }: LoadOptions): Promise<void> {
  const files = readBackup(path, () => {});
  async function* contentOf({ parts }: ManifestTable): AsyncGenerator<Buffer> {
    for (let count = 0; count < parts.length; count += 1) {
      const next = await files.next();
      if (next.done !== true) yield next.value.content;
    }
  }
  const byName = new Map(manifest.tables.map((table) => [table.name, table]));
  const reason = `held: the database was restored from a backup of ${manifest.created_at}`;
  try {
    for (let count = 0; count < manifest.secrets.length; count += 1) await files.next();
    await loadTables(client, {
      tables: manifest.tables,
      unwanted: UNWANTED_TABLES,
      read: ({ name }) => contentOf(byName.get(name) ?? { name, columns: [], rows: 0, parts: [] }),
      finish: async (transaction) => {
        await transaction.query(HOLD_JOBS, [new Date(clock.now()), reason]);
      },
    });
  } catch (error) {
    throw toCallersError(error, path);
  } finally {
    await files.return(undefined);
  }
}

function toCallersError(error: unknown, path: string): unknown {
  if (error instanceof NotEmpty) {
    return new ExitError(ExitCode.cantCreate, `the database is not empty (${error.message}); nothing was changed`);
  }
  if (error instanceof LoadProblem) {
    return new ExitError(ExitCode.dataError, `${path} is not a usable backup: ${error.message}`);
  }
  // A lack of resources, such as a full disk, is not the backup's fault.
  if (!(error instanceof DatabaseError) || error.code?.startsWith('53') === true) return error;
  return new ExitError(ExitCode.failure, `the database rejected rows of the backup: ${reasonOf(error)}`, {
    cause: error,
  });
}
