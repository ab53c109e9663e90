/** What `serve` and `worker` have in common: everything that a long-running process opens, runs and closes again. */
import { join } from 'node:path';
import { buildApp } from '#app/app.ts';
import { loadAssets } from '#browser/asset-files.ts';
import type { Config } from '#config/config.ts';
import type { LoadedConfig } from '#config/load.ts';
import { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import type { ClientSyncDeps } from '#domain/clients/sync-static-clients.ts';
import type { Core } from '#domain/core.ts';
import { InstanceState } from '#domain/instance-state.ts';
import { systemClock } from '#platform/base/clock.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import { packageRoot } from '#platform/base/package-root.ts';
import type { BoundAddress } from '#platform/http/listen.ts';
import { EventLoopLag } from '#platform/http/overload.ts';
import { strengthWorkerUrl } from './accounts.ts';
import type { CommandIo, ConfigurationOptions } from './command-io.ts';
import { type Foundation, type FoundationWants, MIGRATIONS_DIRECTORY, openFoundation } from './foundation.ts';
import { Reload } from './reload.ts';
import { openCore, RunningService } from './running-service.ts';
import { untilStopped } from './shutdown.ts';
import { warnOfMissingAlgorithms } from './start-checks.ts';
import { clientSyncDeps } from './sync-config.ts';
import { checkDatabase, watchDatabase } from './watch-database.ts';

export interface InstancePlan {
  readonly wants: Omit<FoundationWants, 'needsSigningKeys'>;
  /** Whether background work is done here. */
  readonly hasWorkers: boolean;
  /** In place of the configured ones. */
  listeners?(environment: LoadedConfig['environment']): Config['http']['listeners'];
  /** Refuses what cannot run here. Throws. */
  check?(config: Config): void;
  makeFirstAccounts?(foundation: Foundation): Promise<void>;
  /** Brings the database in line with the configuration. */
  sync?(deps: ClientSyncDeps, config: Config): Promise<void>;
  /** Runs once it listens and works, before it counts as started. */
  announce(core: Core, foundation: Foundation, bound: readonly BoundAddress[]): Promise<void>;
}

/** The first requests and probes after a start come before. */
const PRELOAD_AFTER_MS = 2000;

/** @returns the exit code: 0 after a clean shutdown, 1 after a forced one */
export async function runInstance(options: ConfigurationOptions, io: CommandIo, plan: InstancePlan): Promise<number> {
  const foundation = await openFoundation(options, io, { ...plan.wants, needsSigningKeys: true });
  const { log } = foundation.openLog;
  const lag = new EventLoopLag();
  const estimator = new StrengthEstimator(strengthWorkerUrl());
  const state = new InstanceState();
  const watched = {
    ...{ database: foundation.database, clock: systemClock },
    ...{ log, state, migrations: MIGRATIONS_DIRECTORY },
  };
  const endWatch = watchDatabase(watched);
  let preloading: NodeJS.Timeout | undefined;
  try {
    const { database, jobsDatabase, keyRing, loaded, signingKeys } = foundation;
    if (signingKeys === undefined) throw new Error('the signing keys were not read');
    const listeners = plan.listeners?.(loaded.environment);
    const adapt = (config: Config): Config =>
      listeners === undefined ? config : { ...config, http: { ...config.http, listeners } };
    const config = adapt(foundation.config);
    plan.check?.(config);
    await plan.makeFirstAccounts?.(foundation);
    await plan.sync?.(clientSyncDeps(foundation), config);
    warnOfMissingAlgorithms(config.clients, signingKeys, log);
    await checkDatabase(watched);
    const kept = {
      ...{ database, jobsDatabase, estimator, instance: state, lag, log },
      ...{ version: io.version, environment: io.environment, hasWorkers: plan.hasWorkers },
      assets: loadAssets(join(packageRoot, 'dist/assets')),
    };
    const settings = { loaded, config, keyRing, signingKeys };
    const core = await openCore(kept, settings);
    const { server, preload } = buildApp(core, kept.assets);
    io.signals.check();
    const bound = await server.listen();
    const service = new RunningService(kept, settings, core, server);
    service.start();
    await plan.announce(core, foundation, bound);
    const reload = new Reload({
      ...{ foundation, service, adapt },
      prepare: async (next, nextKeyRing) => {
        plan.check?.(next);
        await plan.sync?.(clientSyncDeps({ ...foundation, config: next, keyRing: nextKeyRing }), next);
      },
    });
    io.signals.onHangUp(() => void reload.request());
    state.isStarted = true;
    preloading = setTimeout(() => void preloadAll(preload, log), PRELOAD_AFTER_MS);
    return await untilStopped({
      log,
      signals: io.signals,
      drain: () => {
        state.isDraining = true;
      },
      server,
      service,
    });
  } finally {
    clearTimeout(preloading);
    endWatch();
    lag.stop();
    await estimator.close();
    await foundation.close();
  }
}

async function preloadAll(preload: () => Promise<void>, log: Log): Promise<void> {
  try {
    await preload();
    log.debug('http.preloaded', 'what first requests would have to wait for is loaded');
  } catch (error) {
    // The requests that need it will say so again.
    log.warn('http.preload_failed', 'something that requests need cannot be loaded', {
      reason: describeError(error).message,
    });
  }
}
