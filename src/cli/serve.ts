/**
 * `latchkey serve`: everything in the order of operations 3.2, then the service until a signal ends it (8.5).
 */
import { join } from 'node:path';
import { buildApp } from '#app/app.ts';
import { createJobWorkers } from '#app/jobs.ts';
import { loadAssets } from '#browser/asset-files.ts';
import { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import { syncStaticClients } from '#domain/clients/sync-static-clients.ts';
import { createCore } from '#domain/core.ts';
import { InstanceState } from '#domain/instance-state.ts';
import { openSecretKeys } from '#domain/secret-keys/secret-keys.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { packageRoot } from '#platform/base/package-root.ts';
import { Secret } from '#platform/base/secret.ts';
import { EventLoopLag } from '#platform/http/overload.ts';
import { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import { accountDeps, hashesAtOnce, openHasher, strengthWorkerUrl } from './accounts.ts';
import { logStartup } from './banner.ts';
import type { CommandIo, ConfigurationOptions } from './command-io.ts';
import { ensureFirstAdmin, readFirstAdmin } from './first-admin.ts';
import { type Foundation, MIGRATIONS_DIRECTORY, openFoundation } from './foundation.ts';
import { ownCommand } from './own-command.ts';
import { untilStopped } from './shutdown.ts';
import { reopenLogAndKeys, SigningKeyReload } from './signing-key-reload.ts';
import { requireMemoryForHashes, warnOfMissingAdmins, warnOfMissingAlgorithms } from './start-checks.ts';
import { clientSyncDeps } from './sync-config.ts';
import { checkDatabase, watchDatabase } from './watch-database.ts';

export interface ServeOptions {
  readonly migrate: boolean;
  readonly sync: boolean;
  /** Whether background work is done here, too. */
  readonly worker: boolean;
  /** Seconds. */
  readonly migrateTimeout?: number;
}

/** @returns the exit code: 0 after a clean shutdown, also before the start was complete, 1 after a forced one */
export async function serve(options: ConfigurationOptions, command: ServeOptions, io: CommandIo): Promise<number> {
  try {
    return await run(options, command, io);
  } catch (error) {
    if (io.signals.isRequested && error instanceof ExitError) return ExitCode.ok;
    throw error;
  }
}

async function run(options: ConfigurationOptions, command: ServeOptions, io: CommandIo): Promise<number> {
  const foundation = await openFoundation(options, io, {
    shouldMigrate: command.migrate,
    migrateTimeoutSeconds: command.migrateTimeout,
    needsSigningKeys: true,
    hasJobs: command.worker,
  });
  const { log } = foundation.openLog;
  const lag = new EventLoopLag();
  const estimator = new StrengthEstimator(strengthWorkerUrl());
  const state = new InstanceState();
  const watched = { database: foundation.database, log, state, migrations: MIGRATIONS_DIRECTORY };
  const endWatch = watchDatabase(watched);
  try {
    const { config, database, keyRing, signingKeys } = foundation;
    if (signingKeys === undefined) throw new Error('the signing keys were not read');
    requireMemoryForHashes(config, hashesAtOnce(config, io.environment), process.constrainedMemory());
    await makeFirstAdmin(foundation);
    if (command.sync) {
      await syncStaticClients(clientSyncDeps(foundation), config.clients);
    }
    await checkDatabase(watched);
    warnOfMissingAlgorithms(config.clients, signingKeys, log);
    const keyReload = new SigningKeyReload({ ...foundation, signingKeys, log });
    io.signals.onHangUp(() => void reopenLogAndKeys(foundation.openLog, keyReload));
    const core = createCore({
      config,
      database,
      clock: systemClock,
      log,
      keyRing,
      signingKeys,
      secretKeys: await openSecretKeys({ database, keyRing, clock: systemClock }),
      hasher: openHasher(config, log, io.environment),
      estimator,
      lag,
      instance: state,
      outbound: new OutboundHttp({ ...config.outbound, clock: systemClock, log }),
      version: io.version,
    });
    const { activity } = core;
    const { server } = buildApp(core, loadAssets(join(packageRoot, 'dist/assets')));
    io.signals.check();
    const bound = await server.listen();
    activity.start();
    const isBusy = () => server.isOverloaded || database.statistics().waiting > 0;
    const jobs = { ...core, database: foundation.jobsDatabase, isBusy };
    const workers = command.worker ? createJobWorkers(jobs) : [];
    for (const worker of workers) worker.start();
    keyReload.start();
    const adminCommand = ownCommand(['manage', 'register-user', '--admin'], options, io.workingDirectory);
    const registerCommand = ownCommand(['manage', 'register-user'], options, io.workingDirectory);
    await warnOfMissingAdmins(database, config.policy.data.adminUsers, log, registerCommand);
    await logStartup({ foundation, bound, version: io.version, adminCommand });
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
      finish: async () => {
        keyReload.stop();
        await activity.stop();
      },
    });
  } finally {
    endWatch();
    lag.stop();
    await estimator.close();
    await foundation.close();
  }
}

async function makeFirstAdmin(foundation: Foundation): Promise<void> {
  const admin = await readFirstAdmin(foundation.loaded.environment);
  if (admin === undefined) return;
  const accounts = accountDeps(foundation);
  try {
    await ensureFirstAdmin(accounts, foundation.openLog.log, {
      username: admin.username,
      password: new Secret(admin.password),
    });
  } finally {
    await accounts.estimator.close();
  }
}
