/** What `serve` and `worker` have in common: everything that a long-running process opens, runs and closes again. */
import { join } from 'node:path';
import { buildApp } from '#app/app.ts';
import { createJobWorkers } from '#app/jobs.ts';
import { loadAssets } from '#browser/asset-files.ts';
import type { Config } from '#config/config.ts';
import type { LoadedConfig } from '#config/load.ts';
import { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import { type Core, createCore } from '#domain/core.ts';
import { InstanceState } from '#domain/instance-state.ts';
import { openSecretKeys } from '#domain/secret-keys/secret-keys.ts';
import type { SigningKeys } from '#domain/signing-keys/signing-keys.ts';
import { systemClock } from '#platform/base/clock.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import { packageRoot } from '#platform/base/package-root.ts';
import type { BoundAddress } from '#platform/http/listen.ts';
import { EventLoopLag } from '#platform/http/overload.ts';
import { openTransport } from '#platform/mail/open-transport.ts';
import { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import { openHasher, strengthWorkerUrl } from './accounts.ts';
import type { CommandIo, ConfigurationOptions } from './command-io.ts';
import { type Foundation, type FoundationWants, MIGRATIONS_DIRECTORY, openFoundation } from './foundation.ts';
import { untilStopped } from './shutdown.ts';
import { reopenLogAndKeys, SigningKeyReload } from './signing-key-reload.ts';
import { testTransport } from './test-transport.ts';
import { checkDatabase, watchDatabase } from './watch-database.ts';

export interface InstancePlan {
  readonly wants: Omit<FoundationWants, 'needsSigningKeys'>;
  /** Whether background work is done here. */
  readonly hasWorkers: boolean;
  /** In place of the configured ones. */
  listeners?(environment: LoadedConfig['environment']): Config['http']['listeners'];
  /** What has to be done before the service is put together. */
  prepare?(foundation: Foundation, signingKeys: SigningKeys): Promise<void>;
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
    const { config, database, keyRing, signingKeys } = foundation;
    if (signingKeys === undefined) throw new Error('the signing keys were not read');
    const listeners = plan.listeners?.(foundation.loaded.environment) ?? config.http.listeners;
    await plan.prepare?.(foundation, signingKeys);
    await checkDatabase(watched);
    const keyReload = new SigningKeyReload({ ...foundation, signingKeys, log });
    io.signals.onHangUp(() => void reopenLogAndKeys(foundation.openLog, keyReload));
    const core = createCore({
      config: { ...config, http: { ...config.http, listeners } },
      ...{ database, clock: systemClock, log, keyRing, signingKeys, estimator, lag },
      secretKeys: await openSecretKeys({ database, keyRing, clock: systemClock }),
      hasher: openHasher(config, log, io.environment),
      instance: state,
      outbound: new OutboundHttp({ ...config.outbound, clock: systemClock, log }),
      version: io.version,
    });
    await core.policy.refresh();
    const { server, preload } = buildApp(core, loadAssets(join(packageRoot, 'dist/assets')));
    io.signals.check();
    const bound = await server.listen();
    core.activity.start();
    core.policy.start();
    const isBusy = () => server.isOverloaded || database.statistics().waiting > 0;
    const transport = openTransport(config.email.transport, systemClock);
    const jobs = { ...core, database: foundation.jobsDatabase, isBusy, transport };
    const workers = plan.hasWorkers ? createJobWorkers(jobs) : [];
    if (plan.hasWorkers) void testTransport(transport, log);
    for (const worker of workers) worker.start();
    keyReload.start();
    await plan.announce(core, foundation, bound);
    state.isStarted = true;
    preloading = setTimeout(() => void preloadAll(preload, log), PRELOAD_AFTER_MS);
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
        core.policy.stop();
        await core.activity.stop();
      },
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
