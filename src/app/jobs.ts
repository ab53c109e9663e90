/** The background work of the service: which jobs there are, and the workers that run them in this process. */
import { loadTranslations } from '#browser/i18n/translations.ts';
import { emailCodeMails } from '#browser/mails/email-code.ts';
import { mailQueue } from '#browser/mails/mail-queue.ts';
import type { MailSource } from '#browser/mails/mail-source.ts';
import { recoveryMails } from '#browser/mails/recovery.ts';
import { securityNotices } from '#browser/mails/security-notice.ts';
import { Urls } from '#browser/urls.ts';
import { sweepQueue } from '#domain/clean-up/clean-up.ts';
import type { Core } from '#domain/core.ts';
import { exportDataQueue } from '#domain/data-exports/export-data.ts';
import { deactivateUserQueue } from '#domain/deactivations/deactivate-user.ts';
import { reactivateUserQueue } from '#domain/deactivations/reactivate-user.ts';
import { renameDeviceQueue } from '#domain/devices/rename-device.ts';
import { syncDevicesQueue } from '#domain/devices/sync-devices.ts';
import { provisionUserQueue } from '#domain/homeserver/provision-user.ts';
import { backchannelLogoutQueues } from '#domain/oauth-sessions/backchannel-logout.ts';
import { reencryptFieldsQueue } from '#domain/reencryption/reencrypt-fields.ts';
import { refreshMetadataQueue } from '#domain/upstream/refresh-job.ts';
import { unknownJobsQueue } from '#platform/jobs/unknown-jobs.ts';
import { JobWorker } from '#platform/jobs/worker.ts';
import type { MailTransport } from '#platform/mail/mail.ts';
import { sweeps } from './sweeps.ts';

/** `database` is not the one that requests wait for. */
export interface JobDeps extends Core {
  /** Whether requests of this process wait. */
  readonly isBusy: () => boolean;
  /** Who takes mails; undefined: none are sent. */
  readonly transport: MailTransport | undefined;
}

/** All kinds of mail. */
const MAILS: readonly MailSource[] = [emailCodeMails, recoveryMails, securityNotices];

/** Hourly work may take minutes: it has room of its own, so that other jobs need not wait for it. */
const HOURLY_AT_ONCE = 2;
const HOURLY_POLL_SECONDS = 10;

/**
 * The workers of this process, which run nothing until they are started. What waits for hosts of strangers has a worker
 * of its own.
 */
export function createJobWorkers(deps: JobDeps): readonly JobWorker[] {
  const { config, database, clock, log, tracing } = deps;
  const { concurrency, maxRetries, pollIntervalSeconds } = config.jobs;
  const shared = { ...{ database, clock, log, tracing, maxRetries }, mayTake: takesBy(deps) };
  const logouts = backchannelLogoutQueues({ ...deps, issuer: config.http.issuer });
  const rules = { ...config.retention, syncsDevices: deps.homeserver.isConnected };
  const hourly = sweeps.map((sweep) => sweepQueue(sweep, { ...deps, rules }));
  const workers: readonly JobWorker[] = [
    createMailWorker(deps),
    createHomeserverWorker(deps),
    createExportWorker(deps),
    new JobWorker({
      ...shared,
      queues: [logouts.configured],
      concurrency,
      pollIntervalSeconds,
    }),
    new JobWorker({
      ...shared,
      queues: [logouts.registered],
      concurrency: Math.ceil(concurrency / 2),
      pollIntervalSeconds,
    }),
    new JobWorker({
      ...shared,
      queues: [
        ...hourly,
        reencryptFieldsQueue(deps),
        refreshMetadataQueue({ ...deps, providers: deps.upstreamProviders.enabled }),
        unknownJobsQueue({ ...shared, knownQueues: () => workers.flatMap(({ queueNames }) => queueNames) }),
      ],
      concurrency: HOURLY_AT_ONCE,
      pollIntervalSeconds: Math.max(HOURLY_POLL_SECONDS, pollIntervalSeconds),
    }),
  ];
  return workers;
}

/** One of its own, so that a homeserver that hangs holds up nothing else. Jobs from before there was none end there. */
export function createHomeserverWorker(deps: Core): JobWorker {
  const { config, database, clock, log, tracing } = deps;
  const { concurrency, maxRetries, pollIntervalSeconds } = config.jobs;
  const queues = [
    provisionUserQueue(deps),
    syncDevicesQueue(deps),
    renameDeviceQueue(deps),
    deactivateUserQueue(deps),
    reactivateUserQueue(deps),
  ];
  return new JobWorker({
    ...{ database, clock, log, tracing, maxRetries, queues, concurrency, pollIntervalSeconds },
    mayTake: takesBy(deps),
  });
}

/** One of its own, which holds one archive in memory at a time. */
export function createExportWorker(deps: Core): JobWorker {
  const { config, database, clock, log, tracing } = deps;
  const { maxRetries, pollIntervalSeconds } = config.jobs;
  const queue = exportDataQueue({
    ...{ ...deps, maxRetries, serviceName: config.branding.serviceName },
    address: new Urls(config.http.publicBase).base,
  });
  return new JobWorker({
    database,
    clock,
    log,
    tracing,
    maxRetries,
    queues: [queue],
    concurrency: 1,
    pollIntervalSeconds,
    mayTake: takesBy(deps),
  });
}

/** Mails have a worker of their own, so that a mail server that hangs holds up nothing else. */
export function createMailWorker(deps: JobDeps): JobWorker {
  const { config, database, clock, log, tracing } = deps;
  const mails = {
    ...deps,
    urls: new Urls(config.http.publicBase),
    catalog: loadTranslations(config.templates.translations),
  };
  return new JobWorker({
    ...{ database, clock, log, tracing },
    ...{ maxRetries: config.jobs.maxRetries, pollIntervalSeconds: config.jobs.pollIntervalSeconds },
    queues: MAILS.map((source) => mailQueue(source, mails)),
    concurrency: config.email.maxConnections,
    mayTake: takesBy(deps),
  });
}

/** A wrong clock would make jobs of later due, and what the clean-up deletes is gone for everybody. */
function takesBy({ instance }: Core): () => boolean {
  return () => instance.isClockRight();
}
