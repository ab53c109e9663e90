/** The background work of the service: which jobs there are, and the workers that run them in this process. */
import type { Config } from '#config/config.ts';
import { sweepQueue } from '#domain/clean-up/clean-up.ts';
import type { Subjects } from '#domain/clients/subjects.ts';
import { backchannelLogoutQueue } from '#domain/oauth-sessions/backchannel-logout.ts';
import type { SigningKeys } from '#domain/signing-keys/signing-keys.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import { JobWorker } from '#platform/jobs/worker.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { Database } from '#platform/postgres/database.ts';
import { sweeps } from './sweeps.ts';

export interface JobDeps {
  readonly config: Pick<Config, 'http' | 'jobs' | 'retention'>;
  /** Not the one that requests wait for. */
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly signingKeys: SigningKeys;
  readonly subjects: Subjects;
  readonly outbound: OutboundHttp;
  /** Whether requests of this process wait. */
  readonly isBusy: () => boolean;
}

/** Hourly work may take minutes: it has room of its own, so that other jobs need not wait for it. */
const HOURLY_AT_ONCE = 2;
const HOURLY_POLL_SECONDS = 10;

/** The workers of this process, which run nothing until they are started. */
export function createJobWorkers(deps: JobDeps): readonly JobWorker[] {
  const { config, database, clock, log } = deps;
  const { concurrency, maxRetries, pollIntervalSeconds } = config.jobs;
  const shared = { database, clock, log, maxRetries };
  const hourly = sweeps.map((sweep) => sweepQueue(sweep, { ...deps, retention: config.retention }));
  return [
    new JobWorker({
      ...shared,
      queues: [backchannelLogoutQueue({ ...deps, issuer: config.http.issuer })],
      concurrency,
      pollIntervalSeconds,
    }),
    new JobWorker({
      ...shared,
      queues: hourly,
      concurrency: HOURLY_AT_ONCE,
      pollIntervalSeconds: Math.max(HOURLY_POLL_SECONDS, pollIntervalSeconds),
    }),
  ];
}
