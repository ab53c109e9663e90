/** Background work: the job queues, and the workers that run them in this process. */
import { loadTranslations } from '#browser/i18n/load-translations.ts';
import { emailCodeMails } from '#browser/mails/email-code.ts';
import { invitationMails } from '#browser/mails/invitation.ts';
import { mailQueue } from '#browser/mails/mail-queue.ts';
import type { MailSource } from '#browser/mails/mail-source.ts';
import { recoveryMails } from '#browser/mails/recovery.ts';
import { securityNotices } from '#browser/mails/security-notice.ts';
import { Urls } from '#browser/urls.ts';
import { deactivateUserQueue } from '#domain/account-changes/deactivate-user.ts';
import { isRecoveryOpen } from '#domain/account-changes/is-recovery-open.ts';
import { reactivateUserQueue } from '#domain/account-changes/reactivate-user.ts';
import { adoptGroupNamesQueue } from '#domain/accounts/groups/adopt-names.ts';
import { rewriteGroupNamesQueue } from '#domain/accounts/groups/rewrite-names.ts';
import { sweepQueue } from '#domain/clean-up/clean-up.ts';
import type { Core } from '#domain/core.ts';
import { exportDataQueue } from '#domain/data-exports/export-data.ts';
import { provisionUserQueue } from '#domain/homeserver/provision-user.ts';
import { renameDeviceQueue } from '#domain/homeserver/rename-device.ts';
import { syncDevicesQueue } from '#domain/homeserver/sync-devices.ts';
import { reencryptFieldsQueue } from '#domain/keys/reencrypt-fields.ts';
import { backchannelLogoutQueues } from '#domain/oauth-sessions/backchannel-logout.ts';
import { rollUpQueue } from '#domain/statistics/roll-up.ts';
import { refreshMetadataQueue } from '#domain/upstream/refresh-job.ts';
import { unknownJobsQueue } from '#platform/jobs/unknown-jobs.ts';
import { JobWorker } from '#platform/jobs/worker.ts';
import type { MailTransport } from '#platform/mail/mail.ts';
import { sweeps } from './sweeps.ts';

/** `database` is a separate pool, so that requests do not wait for jobs. */
export interface JobDeps extends Core {
  /** Returns true while requests are waiting in this process. */
  readonly isBusy: () => boolean;
  /** Mail transport; undefined: no mail is sent. */
  readonly transport: MailTransport | undefined;
}

/** All kinds of mail. */
const MAILS: readonly MailSource[] = [emailCodeMails, invitationMails, recoveryMails, securityNotices];

/** Hourly jobs may take minutes. They have separate slots, so that other jobs need not wait. */
const HOURLY_AT_ONCE = 2;
const HOURLY_POLL_SECONDS = 10;

/**
 * Creates the workers of this process; the caller starts them. Jobs that call third-party hosts have a separate worker.
 */
export function createJobWorkers(deps: JobDeps): readonly JobWorker[] {
  const { config, database, clock, log } = deps;
  const { tracing } = deps.process;
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
        rollUpQueue({ ...deps, auditEventsSeconds: config.retention.auditEventsSeconds }),
        adoptGroupNamesQueue(deps),
        rewriteGroupNamesQueue(deps),
        refreshMetadataQueue({ ...deps, providers: deps.upstream.providers.enabled }),
        unknownJobsQueue({ ...shared, knownQueues: () => workers.flatMap(({ queueNames }) => queueNames) }),
      ],
      concurrency: HOURLY_AT_ONCE,
      pollIntervalSeconds: Math.max(HOURLY_POLL_SECONDS, pollIntervalSeconds),
    }),
  ];
  return workers;
}

/**
 * A separate worker, so that an unresponsive homeserver does not delay other jobs. It also ends jobs that were queued
 * before the homeserver was removed.
 */
export function createHomeserverWorker(deps: Core): JobWorker {
  const { config, database, clock, log } = deps;
  const { tracing } = deps.process;
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

/** A separate worker that holds one archive in memory at a time. */
export function createExportWorker(deps: Core): JobWorker {
  const { config, database, clock, log } = deps;
  const { tracing } = deps.process;
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

/** A separate worker, so that an unresponsive mail server does not delay other jobs. */
export function createMailWorker(deps: JobDeps): JobWorker {
  const { config, database, clock, log } = deps;
  const { tracing } = deps.process;
  const mails = {
    ...deps,
    urls: new Urls(config.http.publicBase),
    isRecoveryOpen: isRecoveryOpen(config),
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

/**
 * Jobs are taken only while the clock is right. A wrong clock would make future jobs due, and what the cleanup deletes
 * cannot be restored.
 */
function takesBy({ instance }: Core): () => boolean {
  return () => instance.isClockRight();
}
