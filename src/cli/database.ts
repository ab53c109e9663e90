/** `latchkey database …`: the schema, without the rest of the service. */

import type { Config } from '#config/config.ts';
import { loadConfig } from '#config/load.ts';
import { systemClock } from '#platform/base/clock.ts';
import type { LogWriter } from '#platform/log/log-writer.ts';
import { readDatabaseFacts } from '#platform/postgres/database-facts.ts';
import { migrate, migrationStatus } from '#platform/postgres/migrator/migrate.ts';
import { nameOf } from '#platform/postgres/migrator/migration-state.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import type { CommandIo, ConfigurationOptions } from './command-io.ts';
import { configSources } from './command-io.ts';
import { migrationsOf, openConfiguredLog, type ServerInUse, useServer } from './foundation.ts';

/** Applies pending migrations; with `check` only names them. @returns the exit code: 1 when some are pending */
export async function migrateDatabase(
  options: ConfigurationOptions,
  command: { readonly check: boolean; readonly migrateTimeout?: number },
  io: CommandIo,
): Promise<number> {
  return await withServer(options, io, async (server, log, config) => {
    const { applied, pending } = await migrate({
      ...migrationsOf(config, server.directConnection, log, io.version),
      check: command.check,
      ...(command.migrateTimeout !== undefined && { timeoutSeconds: command.migrateTimeout }),
    });
    const lines = [...applied.map((name) => `applied ${name}`), ...pending.map((name) => `pending ${name}`)];
    if (options.isJson) io.stdout(`${JSON.stringify({ applied, pending })}\n`);
    else io.stdout(`${lines.length === 0 ? 'no pending migrations' : lines.join('\n')}\n`);
    return pending.length === 0 ? 0 : 1;
  });
}

/** Server, migrations, size and largest tables. */
export async function databaseStatus(options: ConfigurationOptions, io: CommandIo): Promise<number> {
  return await withServer(options, io, async (server, log, config) => {
    const state = await migrationStatus(migrationsOf(config, server.directConnection, log, io.version));
    const { connectTimeoutSeconds } = config.database;
    const database = await openDatabase({
      connection: server.connection,
      log,
      clock: systemClock,
      connectTimeoutSeconds,
    });
    try {
      const facts = await readDatabaseFacts(database);
      const status = {
        kind: config.database.server.kind === 'embedded' ? 'embedded' : 'external',
        ...facts,
        applied: state.applied.map(nameOf),
        pending: state.pending.map(nameOf),
        unknown: state.unknown.map(nameOf),
      };
      io.stdout(options.isJson ? `${JSON.stringify(status)}\n` : statusText(status));
      return 0;
    } finally {
      await database.close();
    }
  });
}

function statusText(status: Readonly<Record<string, unknown>> & Awaited<ReturnType<typeof readDatabaseFacts>>): string {
  const list = (name: 'applied' | 'pending' | 'unknown'): string => {
    const names = status[name];
    return `${name}: ${Array.isArray(names) && names.length > 0 ? names.join(', ') : 'none'}\n`;
  };
  const mebibytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`;
  const tables = status.largestTables.map(
    ({ name, estimatedRows, bytes }) =>
      `  ${name}: ${estimatedRows === null ? 'rows not estimated yet' : `about ${estimatedRows} rows`}, ${mebibytes(bytes)}\n`,
  );
  return (
    `server: ${String(status['kind'])} PostgreSQL ${status.serverVersion}, ${mebibytes(status.sizeBytes)}\n` +
    list('applied') +
    list('pending') +
    list('unknown') +
    `largest tables:\n${tables.join('')}`
  );
}

/** Opens the server of a configuration for `work`, and lets go of it. */
export async function withServer(
  options: ConfigurationOptions,
  io: CommandIo,
  work: (server: ServerInUse, log: LogWriter, config: Config) => Promise<number>,
): Promise<number> {
  const { config } = loadConfig(configSources(options, io));
  const { log, sink } = openConfiguredLog(config, options);
  try {
    const server = await useServer(config, log, io.version);
    try {
      return await io.signals.race(work(server, log, config));
    } finally {
      await server.release();
    }
  } finally {
    await sink.flush();
  }
}
