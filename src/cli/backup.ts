/** `latchkey backup`: a consistent backup of the embedded database while it is in use (operations 3.11). */
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { secretsToBackUp } from '#app/backup/backup-secrets.ts';
import { summaryOf } from '#app/backup/manifest.ts';
import { writeBackup } from '#app/backup/write-backup.ts';
import { configSources } from '#app/service/process-context.ts';
import { loadConfig } from '#config/load.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { systemReason } from '#platform/base/system-errors.ts';
import { connectWithRetries } from '#platform/postgres/connect.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { withServer } from './database.ts';

export interface BackupFlags {
  readonly output: string;
  readonly includeSecrets: boolean;
}

/** Writes the backup and prints a summary. */
export async function backUp(options: CommandOptions, flags: BackupFlags, io: CommandIo): Promise<void> {
  const path = resolve(io.workingDirectory, flags.output);
  await requireEmbedded(options, io);
  if (await isThere(path)) throw new ExitError(ExitCode.cantCreate, `${path} already exists; choose another file`);
  await withServer({ ...options, isQuiet: true }, io, async ({ connection }, log, config) => {
    const applicationName = `latchkey backup:${process.pid}`;
    const client = await connectWithRetries(
      { connection, applicationName },
      config.database.connectTimeoutSeconds,
      log,
    );
    const stop = new AbortController();
    io.signals.listen(() => stop.abort());
    try {
      const manifest = await writeBackup({
        ...{ path, client, version: io.version, now: systemClock.now(), signal: stop.signal },
        publicBase: config.http.publicBase,
        readSecrets: async () => (flags.includeSecrets ? await secretsToBackUp(config) : []),
      });
      const summary = summaryOf(manifest);
      if (options.isJson) io.stdout(`${JSON.stringify({ path, ...summary })}\n`);
      else io.stdout(`${path}: ${summary.rows} rows from ${summary.tables} tables\n`);
      return ExitCode.ok;
    } catch (error) {
      io.signals.check();
      throw toCallersError(error, path);
    } finally {
      client.connection.stream.destroy();
    }
  });
}

/** External servers have backup tools that include roles and support incremental backups. */
async function requireEmbedded(options: CommandOptions, io: CommandIo): Promise<void> {
  const { config } = loadConfig(configSources(options, io));
  const { server } = config.database;
  if (server.kind === 'postgres') {
    throw new ExitError(
      ExitCode.usage,
      'the database is an external PostgreSQL; back it up with its own tools, for example pg_dump --format=custom, ' +
        'and keep the configuration and its secrets together with the backup',
    );
  }
  const directory = server.directory ?? join(config.dataDir, 'db');
  if (await isThere(directory)) return;
  throw new ExitError(ExitCode.failure, `nothing to back up: no database in ${directory}`);
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

function toCallersError(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EACCES' || code === 'EPERM') {
    return new ExitError(ExitCode.noPermission, `cannot write ${path}: permission denied`, { cause: error });
  }
  if (error instanceof Error && 'syscall' in error) {
    return new ExitError(ExitCode.failure, `cannot write ${path}: ${systemReason(error)}`, { cause: error });
  }
  if (code === '42P01') {
    return new ExitError(ExitCode.failure, 'nothing to back up: the database has never been migrated', {
      cause: error,
    });
  }
  return error;
}
