import { accountIsDeactivated } from '#domain/records/liveness/accounts.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import type { UpstreamProviders } from '#domain/upstream/upstream-providers.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import { DONE, type Job, type JobOutcome, type JobQueue } from '#platform/jobs/queue.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { ArchiveTooLarge } from '#platform/zip/zip-archive.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { makeArchive } from './make-archive.ts';
import { EXPORT_QUEUE, KEPT } from './start-data-export.ts';

export interface ExportDataDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly upstream: { readonly providers: UpstreamProviders };
  readonly serviceName: string;
  /** URL of the server. */
  readonly address: string;
  /** Whether users get email notices about changes to their account. */
  readonly sendsNotices: boolean;
  readonly maxRetries: number;
}

const TIME_LIMIT_SECONDS = 60;

/** Creates the archive of an export and notifies the user by email. A second run finds the archive already made. */
export function exportDataQueue(deps: ExportDataDeps): JobQueue {
  return { name: EXPORT_QUEUE, timeLimitSeconds: TIME_LIMIT_SECONDS, run: (job) => exportData(deps, job) };
}

async function exportData(deps: ExportDataDeps, job: Job): Promise<JobOutcome> {
  const { database, clock, log, serviceName, address } = deps;
  const exportId = exportOf(job.payload);
  const wanted = exportId === undefined ? undefined : await database.first(findWanted, { id: exportId });
  // The archive exists already, or was deleted with the account.
  if (wanted === undefined) return DONE;
  const user: UserId = fromUuid(wanted.user_id);
  try {
    const source = { ...deps, user, signal: job.signal };
    const archive = await makeArchive(source, { serviceName, address, now: clock.now() });
    // If another process has claimed the job, it creates the archive as well.
    job.signal.throwIfAborted();
    await store(deps, { exportId: wanted.id, user, language: wanted.language ?? undefined, archive });
    log.info('data_export.ready', 'data export created', { user: user, bytes: archive.length });
    return DONE;
  } catch (error) {
    const isTooLarge = error instanceof ArchiveTooLarge;
    if (isTooLarge || job.attempt > deps.maxRetries) {
      await database.execute(markFailed, { id: wanted.id, now: new Date(clock.now()) });
    }
    if (isTooLarge) return { kind: 'failed', reason: error.message };
    throw error;
  }
}

async function store(
  { database, clock, sendsNotices }: ExportDataDeps,
  made: {
    readonly exportId: string;
    readonly user: UserId;
    readonly language: string | undefined;
    readonly archive: Buffer;
  },
): Promise<void> {
  const { exportId, user, language, archive } = made;
  await database.transaction(
    async (transaction) => {
      const now = clock.now();
      const stored = await transaction.execute(storeArchive, { id: exportId, archive, now: new Date(now) });
      if (stored > 0 && sendsNotices) await queueNotice(transaction, 'data_export', { user, language, now });
    },
    { isRepeatable: true },
  );
}

const findWanted = statement<{ id: string; user_id: string; language: string | null }, { readonly id: string }>(
  'find-data-export-to-make',
  `select e.id, e.user_id, e.language from data_exports e join users u on u.id = e.user_id
    where e.id = :id::uuid and e.ready_at is null and not (${accountIsDeactivated('u')})`,
);

/** Also stores an export that had failed before its job was rerun. */
const storeArchive = statement<never, { readonly id: string; readonly archive: Buffer; readonly now: Date }>(
  'store-data-export',
  `update data_exports
      set archive = :archive::bytea, size_bytes = octet_length(:archive::bytea), ready_at = :now::timestamptz,
          failed_at = null, expires_at = :now::timestamptz + ${KEPT}
    where id = :id::uuid and ready_at is null`,
);

const markFailed = statement<never, { readonly id: string; readonly now: Date }>(
  'fail-data-export',
  'update data_exports set failed_at = :now::timestamptz where id = :id::uuid and ready_at is null',
);

function exportOf(payload: unknown): string | undefined {
  const isNamed = typeof payload === 'object' && payload !== null && 'export_id' in payload;
  return isNamed && typeof payload.export_id === 'string' ? payload.export_id : undefined;
}
