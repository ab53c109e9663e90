/**
 * `latchkey worker`: background work without the service (operations 3.2). It neither migrates nor syncs clients; other
 * processes do.
 */

import { runInstance } from '#app/service/instance.ts';
import type { Config } from '#config/config.ts';
import { parseSocketAddress } from '#config/sections/http.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';

const MIGRATION_WAIT_SECONDS = 60;
const HEALTH_VARIABLE = 'LATCHKEY_WORKER_HEALTH';

/** @returns the exit code, like `serve` */
export async function work(options: CommandOptions, io: CommandIo): Promise<number> {
  return await runInstance(options, io, {
    wants: { shouldMigrate: false, migrationWaitSeconds: MIGRATION_WAIT_SECONDS },
    hasWorkers: true,
    mayHaveMembers: false,
    isMember: false,
    listeners: healthListeners,
    announce: async ({ openLog: { log } }, bound) => {
      for (const { address } of bound) log.info('startup', `health on ${address}`);
      log.info('startup', `latchkey ${io.version} runs background jobs only`);
    },
  });
}

/** Optional listener for health checks and metrics of the worker. */
function healthListeners(
  environment: Readonly<Record<string, string | undefined>>,
  { telemetry }: Pick<Config, 'telemetry'>,
): Config['http']['listeners'] {
  const text = environment[HEALTH_VARIABLE];
  if (text === undefined || text === '') return [];
  const bind = parseSocketAddress(text);
  if (bind === undefined) {
    throw new ExitError(
      ExitCode.config,
      `${HEALTH_VARIABLE}: expected "address:port" with an IP address and a port from 0 to 65535, got "${text}"`,
    );
  }
  const isScraped = telemetry.metrics.exporter === 'prometheus';
  const resources = [{ name: 'health' } as const, ...(isScraped ? [{ name: 'prometheus' } as const] : [])];
  return [{ name: 'health', resources, binds: [bind], prefix: undefined }];
}
