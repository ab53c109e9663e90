/** `latchkey restore`: restores a database from a backup, completely or not at all (operations 3.11). */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { placeSecrets, requireRightKeys } from '#app/backup/backup-secrets.ts';
import { loadBackup, requireKnownMigrations } from '#app/backup/load-backup.ts';
import { type Manifest, summaryOf } from '#app/backup/manifest.ts';
import { readSecrets, verifyBackup } from '#app/backup/read-backup.ts';
import { MIGRATIONS_DIRECTORY, openConfiguredLog, prepareForDatabase } from '#app/service/foundation.ts';
import { configSources } from '#app/service/process-context.ts';
import type { Config } from '#config/config.ts';
import { loadConfig } from '#config/load.ts';
import { uriConnection } from '#config/uri-connection.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { systemReason } from '#platform/base/system-errors.ts';
import { replaceFiles } from '#platform/embedded-postgres/replace-files.ts';
import type { LogWriter } from '#platform/log/log-writer.ts';
import type { ConnectionTarget } from '#platform/postgres/database-options.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';

export interface RestoreFlags {
  readonly force: boolean;
  readonly to?: string;
}

/** @throws ExitError 2 if it cannot be read */
function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ExitError(ExitCode.usage, `--to: cannot read the file ${path}: ${systemReason(error)}`);
  }
}

/** Restores, and prints what was restored, what was moved away, and the next steps for the operator. */
export async function restore(
  options: CommandOptions,
  path: string,
  flags: RestoreFlags,
  io: CommandIo,
): Promise<void> {
  const { config } = loadConfig(configSources(options, io));
  const target = flags.to === undefined ? undefined : uriConnection(flags.to, '--to', io.environment, readPem);
  if (target === undefined) requireEmbedded(config);
  const { log, sink } = openConfiguredLog(config, { ...options, isQuiet: true });
  const stop = new AbortController();
  io.signals.listen(() => stop.abort());
  try {
    const work = new Restore({ config, io, log, path: resolve(io.workingDirectory, path), signal: stop.signal });
    const restored = await work.run(target, flags.force);
    io.stdout(options.isJson ? `${JSON.stringify(restored)}\n` : textOf(restored));
  } catch (error) {
    io.signals.check();
    throw error;
  } finally {
    await sink.flush();
  }
}

interface Restored extends ReturnType<typeof summaryOf> {
  readonly moved_to: string | null;
  /** Files of the data directory restored from the backup. */
  readonly secrets: readonly string[];
  readonly warnings: readonly string[];
}

interface RestoreDeps {
  readonly config: Config;
  readonly io: CommandIo;
  readonly log: LogWriter;
  readonly path: string;
  readonly signal: AbortSignal;
}

class Restore {
  readonly #deps: RestoreDeps;

  constructor(deps: RestoreDeps) {
    this.#deps = deps;
  }

  async run(target: ConnectionTarget | undefined, force: boolean): Promise<Restored> {
    const { config, io, path, signal } = this.#deps;
    const manifest = await verifyBackup(path);
    signal.throwIfAborted();
    requireKnownMigrations(manifest, MIGRATIONS_DIRECTORY);
    const contained = await readSecrets(path);
    await requireRightKeys(manifest, config, contained);
    await prepareForDatabase(config, io.version);
    let secrets: readonly string[] = [];
    const fill = async (connection: ConnectionTarget): Promise<void> => {
      await this.#load(manifest, connection);
      secrets = await placeSecrets(contained, config);
    };
    let formerFiles: string | undefined;
    if (target !== undefined) await fill(target);
    else formerFiles = await this.#replace(fill, force);
    const warnings = warningsOf(manifest, config);
    return { ...summaryOf(manifest), moved_to: formerFiles ?? null, secrets, warnings };
  }

  async #load(manifest: Manifest, target: ConnectionTarget): Promise<void> {
    const { log, path, signal } = this.#deps;
    const migrationsDirectory = MIGRATIONS_DIRECTORY;
    await loadBackup({ path, manifest, target, migrationsDirectory, log, clock: systemClock, signal });
  }

  async #replace(fill: (connection: ConnectionTarget) => Promise<void>, movesAway: boolean) {
    const { config, log } = this.#deps;
    const { server } = config.database;
    if (server.kind !== 'embedded') return undefined;
    return await replaceFiles({
      dataDir: config.dataDir,
      clusterDir: server.directory ?? join(config.dataDir, 'db'),
      serverUser: server.user,
      binDir: server.binDir,
      log,
      movesAway,
      suffix: new Date(systemClock.now()).toISOString().replace(/[-:]|\.\d+/g, ''),
      fill,
    });
  }
}

function requireEmbedded({ database }: Config): void {
  if (database.server.kind === 'embedded') return;
  throw new ExitError(
    ExitCode.usage,
    'the database is an external PostgreSQL; pass it with --to to restore a backup into it, which must be empty',
  );
}

function warningsOf(manifest: Manifest, { http }: Config): readonly string[] {
  return manifest.public_base === http.publicBase
    ? []
    : [
        `the backup is from the service at ${manifest.public_base}, but public_base is ${http.publicBase}: ` +
          'clients, cookies and passkeys are bound to the former URL',
      ];
}

function textOf({ created_at, moved_to, rows, secrets, tables, version, warnings }: Restored): string {
  return (
    `restored ${rows} rows in ${tables} tables from a backup of ${created_at} (Latchkey ${version})\n` +
    (moved_to === null ? '' : `the previous database was moved to ${moved_to}\n`) +
    (secrets.length === 0 ? '' : `written to the data directory: ${secrets.join(', ')}\n`) +
    'waiting jobs were marked as dead: run latchkey jobs list --status dead, and retry those that you still need\n' +
    warnings.map((warning) => `warning: ${warning}\n`).join('')
  );
}
