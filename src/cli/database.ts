/** `latchkey database migrate`, and helpers for commands that open the database without the rest of the service. */

import { migrationsOf, openConfiguredLog, type ServerInUse, useServer } from '#app/service/foundation.ts';
import { configSources } from '#app/service/process-context.ts';
import type { Config } from '#config/config.ts';
import { loadConfig } from '#config/load.ts';
import type { LogWriter } from '#platform/log/log-writer.ts';
import { migrate } from '#platform/postgres/migrator/migrate.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';

/**
 * Applies pending migrations, or only lists them with `check`.
 * @returns the exit code: 1 if some are pending
 */
export async function migrateDatabase(
  options: CommandOptions,
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

/** Opens the configured server for `work`, and releases it afterwards. */
export async function withServer(
  options: CommandOptions,
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
