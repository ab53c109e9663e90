/** Serves requests, runs background work, or both, in this process until it is stopped. */
import { hostname } from 'node:os';
import { buildApp } from '#app/app.ts';
import { expiryGauges } from '#app/expiry-gauges.ts';
import { processGauges, showKnownSeries, workGauges } from '#app/process-gauges.ts';
import { SessionCounts } from '#app/session-counts.ts';
import { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import { InstanceState } from '#domain/instance-state.ts';
import { SteadyClock, systemClock } from '#platform/base/clock.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import { EventLoopLag } from '#platform/http/overload.ts';
import { MIGRATIONS_DIRECTORY } from './foundation.ts';
import type { PreparedInstance } from './instance-plan.ts';
import { openAssets } from './open-assets.ts';
import { openMetrics } from './open-metrics.ts';
import { openSentry } from './open-sentry.ts';
import { openTracing } from './open-tracing.ts';
import { strengthWorkerUrl } from './password-hashing.ts';
import { Reload } from './reload.ts';
import { openCore, RunningService } from './running-service.ts';
import { untilStopped } from './shutdown.ts';
import { DatabaseWatch } from './watch-database.ts';

/** Lets the first requests and probes after the start go first. */
const PRELOAD_AFTER_MS = 2000;

/** @returns the exit code: 0 after a clean shutdown, 1 after a forced one */
export async function runService(prepared: PreparedInstance): Promise<number> {
  const { adapt, config, context, foundation, manager, plan, prepareReload, signingKeys } = prepared;
  const { log } = foundation.openLog;
  const lag = new EventLoopLag();
  const estimator = new StrengthEstimator(strengthWorkerUrl());
  const state = new InstanceState();
  const clock = new SteadyClock(systemClock);
  const watch = new DatabaseWatch({
    ...{ database: foundation.database, clock, log, state },
    migrations: MIGRATIONS_DIRECTORY,
  });
  watch.start();
  let preloading: NodeJS.Timeout | undefined;
  let counts: SessionCounts | undefined;
  try {
    const { database, jobsDatabase, keyRing, loaded } = foundation;
    await watch.check();
    const { version } = context;
    const opened = await openMetrics(config.telemetry, { clock, log, version, isMember: plan.isMember });
    const traces = await openTracing(config.telemetry.tracing, { clock, log, version });
    const { tracing } = traces;
    const closeSentry = await openSentry(config.telemetry.sentry, { clock, log, version });
    const flushTelemetry = async (): Promise<void> => {
      await Promise.all([traces.close(), opened?.close(), closeSentry()]);
    };
    const kept = {
      ...{ clock, database, jobsDatabase, estimator, instance: state, lag, log, tracing, flushTelemetry },
      ...{ version, environment: context.environment, hasWorkers: plan.hasWorkers },
      hasGeneratedRoot: foundation.hasGeneratedRoot,
      processName: `${hostname()}:${process.pid}`,
      assets: openAssets(loaded.config.assets),
      metricsPage: opened?.page,
    };
    const { policyModule } = foundation;
    const settings = { loaded, restart: [], readAt: clock.now(), config, keyRing, signingKeys, policyModule };
    const core = await openCore(kept, settings);
    const { server, preload } = buildApp(core, kept.assets);
    context.signals.check();
    const bound = await server.listen();
    const service = new RunningService(kept, settings, core, server);
    const { listeners } = config.http;
    const gauges = { ...kept, listeners, server, core: () => service.core };
    if (opened !== undefined) {
      showKnownSeries(opened.registry);
      opened.registry.readGauges(expiryGauges(server, clock, () => service.signingKeys));
      opened.registry.readGauges(processGauges(gauges));
      opened.registry.readGauges(workGauges({ jobsDatabase, clock }, () => service.workers));
    }
    if (opened !== undefined && plan.hasWorkers) {
      counts = new SessionCounts(jobsDatabase);
      opened.registry.readGauges(counts.gauges);
      void counts.start();
    }
    service.start();
    try {
      await plan.announce(foundation, bound);
    } catch (error) {
      // Listeners and workers would keep alive a process that will never be ready.
      const workers = service.workers.map((worker) => worker.stop(0));
      await Promise.all([server.close(0), service.stop(), ...workers]);
      throw error;
    }
    const toldManager = plan.isMember ? undefined : manager;
    const reload = new Reload({ foundation, service, adapt, prepare: prepareReload, manager: toldManager });
    watch.onSetBack = () => void service.renew();
    context.signals.onHangUp(() => void reload.request().then((isDone) => plan.reloaded?.(isDone)));
    state.isStarted = true;
    toldManager?.ready(() => !lag.isStalled);
    preloading = setTimeout(() => void preloadAll(preload, log), PRELOAD_AFTER_MS);
    return await untilStopped({
      log,
      signals: context.signals,
      drain: () => {
        state.isDraining = true;
        service.freeze();
        server.drain();
        void toldManager?.stopping();
      },
      server,
      service,
    });
  } finally {
    clearTimeout(preloading);
    counts?.stop();
    watch.stop();
    lag.stop();
    await estimator.close();
  }
}

async function preloadAll(preload: () => Promise<void>, log: Log): Promise<void> {
  try {
    await preload();
    log.debug('http.preloaded', 'preloading finished');
  } catch (error) {
    // Requests that need it will fail with the same error.
    log.warn('http.preload_failed', 'preloading failed', {
      reason: describeError(error).message,
    });
  }
}
