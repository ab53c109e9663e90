/**
 * `latchkey worker`: the background work without the service (operations 3.2). It neither migrates nor brings clients
 * into the database; other processes do.
 */
import { join } from 'node:path';
import { buildApp } from '#app/app.ts';
import { createJobWorkers } from '#app/jobs.ts';
import { loadAssets } from '#browser/asset-files.ts';
import type { Config } from '#config/config.ts';
import { parseSocketAddress } from '#config/sections/http.ts';
import { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import { createCore } from '#domain/core.ts';
import { InstanceState } from '#domain/instance-state.ts';
import { openSecretKeys } from '#domain/secret-keys/secret-keys.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { packageRoot } from '#platform/base/package-root.ts';
import { EventLoopLag } from '#platform/http/overload.ts';
import { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import { openHasher, strengthWorkerUrl } from './accounts.ts';
import type { CommandIo, ConfigurationOptions } from './command-io.ts';
import { MIGRATIONS_DIRECTORY, openFoundation } from './foundation.ts';
import { untilStopped } from './shutdown.ts';
import { reopenLogAndKeys, SigningKeyReload } from './signing-key-reload.ts';
import { checkDatabase, watchDatabase } from './watch-database.ts';

const MIGRATION_WAIT_SECONDS = 60;

/** @returns the exit code, as that of `serve` */
export async function work(options: ConfigurationOptions, io: CommandIo): Promise<number> {
  const foundation = await openFoundation(options, io, {
    shouldMigrate: false,
    migrationWaitSeconds: MIGRATION_WAIT_SECONDS,
    needsSigningKeys: true,
  });
  const { log } = foundation.openLog;
  const lag = new EventLoopLag();
  const estimator = new StrengthEstimator(strengthWorkerUrl());
  const state = new InstanceState();
  const watched = { database: foundation.database, log, state, migrations: MIGRATIONS_DIRECTORY };
  const endWatch = watchDatabase(watched);
  try {
    const { config, database, keyRing, loaded, signingKeys } = foundation;
    if (signingKeys === undefined) throw new Error('the signing keys were not read');
    await checkDatabase(watched);
    const keyReload = new SigningKeyReload({ ...foundation, signingKeys, log });
    io.signals.onHangUp(() => void reopenLogAndKeys(foundation.openLog, keyReload));
    const core = createCore({
      config: { ...config, http: { ...config.http, listeners: healthListeners(loaded.environment) } },
      ...{ database, clock: systemClock, log, keyRing, signingKeys, estimator, lag },
      secretKeys: await openSecretKeys({ database, keyRing, clock: systemClock }),
      outbound: new OutboundHttp({ ...config.outbound, clock: systemClock, log }),
      hasher: openHasher(config, log, io.environment),
      instance: state,
      version: io.version,
    });
    const { server } = buildApp(core, loadAssets(join(packageRoot, 'dist/assets')));
    io.signals.check();
    const bound = await server.listen();
    const isBusy = () => database.statistics().waiting > 0;
    const workers = createJobWorkers({ ...core, isBusy });
    for (const worker of workers) worker.start();
    keyReload.start();
    for (const { address } of bound) log.info('startup', `health on ${address}`);
    log.info('startup', `latchkey ${io.version} does background work only`);
    state.isStarted = true;
    return await untilStopped({
      log,
      signals: io.signals,
      drain: () => {
        state.isDraining = true;
      },
      limits: config.limits,
      server,
      workers,
      finish: async () => keyReload.stop(),
    });
  } finally {
    endWatch();
    lag.stop();
    await estimator.close();
    await foundation.close();
  }
}

/** A place to ask how the worker is, when the operator names one. */
function healthListeners(environment: Readonly<Record<string, string | undefined>>): Config['http']['listeners'] {
  const text = environment[HEALTH_VARIABLE];
  if (text === undefined || text === '') return [];
  const bind = parseSocketAddress(text);
  if (bind === undefined) {
    throw new ExitError(
      ExitCode.config,
      `${HEALTH_VARIABLE}: expected "address:port" with an IP address and a port from 0 to 65535, got "${text}"`,
    );
  }
  return [{ name: 'health', resources: [{ name: 'health' }], binds: [bind], prefix: undefined }];
}

const HEALTH_VARIABLE = 'LATCHKEY_WORKER_HEALTH';
