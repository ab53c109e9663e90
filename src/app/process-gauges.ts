/** Gauges of the current state, read only when metrics are collected. */
import type { Config } from '#config/config.ts';
import { tableOf } from '#domain/clean-up/clean-up.ts';
import type { Core } from '#domain/core.ts';
import { type Metrics, metrics } from '#platform/base/metrics.ts';
import { outside } from '#platform/base/tasks.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { readQueueSizes } from '#platform/jobs/queue-sizes.ts';
import type { JobWorker } from '#platform/jobs/worker.ts';
import type { Gauges } from '#platform/metrics/registry.ts';
import { listActiveCalls } from '#platform/outbound-http/call-metrics.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { readServerVersion } from '#platform/postgres/database-facts.ts';
import { FLOW_RESULTS, UPSTREAM_CALLBACK_RESULTS, UPSTREAM_LOGIN_RESULTS } from '#vocabulary/metric-labels.ts';
import { sweeps } from './sweeps.ts';

export interface GaugeDeps {
  readonly version: string;
  readonly listeners: Config['http']['listeners'];
  readonly server: Pick<HttpServer, 'listServed'>;
  readonly database: OpenDatabase;
  readonly jobsDatabase: OpenDatabase;
  /** Returns the current core, which a reload replaces. */
  core(): Pick<Core, 'activity' | 'config' | 'hasher'>;
}

/** Collectors time out after ten seconds, and need the metrics most while the database is slow. */
const DATABASE_MS = 2_000;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * Gauges of background work.
 * @param workers the current workers; empty if other processes run the jobs
 */
export function workGauges(
  { clock, jobsDatabase }: Pick<GaugeDeps, 'jobsDatabase'> & Pick<Core, 'clock'>,
  workers: () => readonly JobWorker[],
): Gauges {
  return async (set) => {
    const running = new Map<string, number>();
    for (const worker of workers()) {
      for (const [queue, count] of worker.countRunning()) running.set(queue, (running.get(queue) ?? 0) + count);
    }
    for (const [queue, count] of running) set('latchkey_jobs_active', { queue }, count);
    if (running.size === 0) return;
    // Without a database, the other gauges are still reported.
    const sizes = await inTime(readQueueSizes(jobsDatabase, [...running.keys()], clock.now()), []);
    for (const { queue, queued, oldestDueSeconds, dead } of sizes) {
      set('latchkey_jobs_queued', { queue }, queued);
      set('latchkey_jobs_oldest_due_seconds', { queue }, oldestDueSeconds);
      set('latchkey_jobs_dead', { queue }, dead);
    }
  };
}

/** @param otherwise result if the database fails or takes too long */
async function inTime<T>(reading: Promise<T>, otherwise: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(otherwise), DATABASE_MS);
  });
  const read = reading.catch(() => otherwise);
  try {
    return await outside(Promise.race([read, tooLate]));
  } finally {
    clearTimeout(timer);
  }
}

const UPSTREAM_COUNTERS = [
  ['latchkey_upstream_callback_total', UPSTREAM_CALLBACK_RESULTS],
  ['latchkey_upstream_login_total', UPSTREAM_LOGIN_RESULTS],
  ['latchkey_upstream_registration_total', FLOW_RESULTS],
] as const;

/** Initializes the series of providers, which a reload may add. */
function showProviderSeries(providers: Config['upstreamOauth2']['providers']): void {
  for (const { id: provider } of providers) {
    for (const [name, results] of UPSTREAM_COUNTERS) {
      for (const result of results) metrics?.count(name, { provider, result }, 0);
    }
  }
}

/** Initializes counters with 0 whose labels only the composition knows. */
export function showKnownSeries(registry: Metrics): void {
  for (const sweep of sweeps) registry.count('latchkey_cleanup_rows_total', { table: tableOf(sweep) }, 0);
}

/** Gauges of every process. */
export function processGauges(deps: GaugeDeps): Gauges {
  const { listeners, server, version } = deps;
  const databases = [...new Set([deps.database, deps.jobsDatabase])];
  let serverVersion = '';
  return async (set) => {
    if (serverVersion === '') serverVersion = await inTime(readServerVersion(deps.database), '');
    set('latchkey_build_info', { version, node: process.versions.node, database: serverVersion }, 1);
    const served = new Map(
      listeners.flatMap(({ name: listener }) =>
        METHODS.map((method) => [`${listener} ${method}`, { listener, method, count: 0 }]),
      ),
    );
    for (const { listener, method } of server.listServed()) {
      const counted = served.get(`${listener} ${method}`) ?? { listener, method, count: 0 };
      counted.count += 1;
      served.set(`${listener} ${method}`, counted);
    }
    for (const { listener, method, count } of served.values()) {
      set('http_server_active_requests', { listener, method }, count);
    }
    let idle = 0;
    let used = 0;
    let waiting = 0;
    for (const statistics of databases.map((database) => database.statistics())) {
      idle += statistics.open - statistics.busy;
      used += statistics.busy;
      waiting += statistics.waiting;
    }
    for (const { server: called, method, count } of listActiveCalls()) {
      set('http_client_active_requests', { server: called, method }, count);
    }
    set('db_pool_connections', { state: 'idle' }, idle);
    set('db_pool_connections', { state: 'used' }, used);
    set('db_pool_waiting', {}, waiting);
    const { activity, config, hasher } = deps.core();
    showProviderSeries(config.upstreamOauth2.providers);
    set('latchkey_password_queue_length', {}, hasher.waiting);
    set('latchkey_activity_pending', {}, activity.pending);
  };
}
