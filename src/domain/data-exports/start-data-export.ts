import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { dataExportState } from '#domain/records/liveness/data-exports.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid, newId, toUuid } from '#platform/base/ids.ts';
import { INSERT_JOB, ON_WAITING_JOB, queuedBy } from '#platform/jobs/queue.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { DataExportId, UserId } from '#vocabulary/ids.ts';

export const EXPORT_QUEUE = 'export-data';

/** How long the row is kept, and the archive once it is ready. */
export const KEPT = `interval '7 days'`;

export interface StartDataExportDeps {
  readonly database: Database;
  readonly clock: Clock;
}

export interface StartedDataExport {
  /** `in-progress`: an earlier export is not finished; `rate-limited`: there was one in the last 24 hours. */
  readonly status: 'started' | 'in-progress' | 'rate-limited';
  /** The new export, or the one that blocks it. */
  readonly id: DataExportId;
}

/**
 * Starts an export of the stored data about a user: inserts a row and the job that creates the archive. One export per
 * day is allowed. A failed one blocks the next for an hour only.
 *
 * A separate statement locks the account, so that the next one sees what concurrent requests have committed. Two
 * concurrent requests start one export, and none starts after a deactivation.
 * @returns undefined if the account is locked or deactivated
 */
export async function startDataExport(
  { database, clock }: StartDataExportDeps,
  { user, language }: { readonly user: UserId; readonly language: string },
): Promise<StartedDataExport | undefined> {
  const userId = toUuid(user);
  return await database.transaction(
    async (transaction) => {
      if ((await transaction.first(lockAccount, { userId })) === undefined) return undefined;
      const now = clock.now();
      const id: DataExportId = newId(now);
      const jobId = toUuid(newId(now));
      const row = await transaction.first(insertUnlessRecent, {
        ...{ userId, language, jobId, queuedBy: queuedBy() },
        id: toUuid(id),
        now: new Date(now),
      });
      if (row?.id == null) return { status: 'started', id };
      return { status: row.state === 'pending' ? 'in-progress' : 'rate-limited', id: fromUuid(row.id) };
    },
    { isRepeatable: true },
  );
}

const lockAccount = statement<{ id: string }, { readonly userId: string }>(
  'lock-account-to-export',
  `select u.id from users u where ${accountIsUsable('u')} and u.id = :userId::uuid for no key update`,
);

/**
 * Returns the export that blocks a new one. Exports dated in the future, from before the clock was set back, do not
 * block. Uses index `data_exports_user`; a user has few exports.
 */
const insertUnlessRecent = statement<
  { id: string | null; state: string | null },
  {
    readonly userId: string;
    readonly language: string;
    readonly id: string;
    readonly jobId: string;
    readonly queuedBy: string | null;
    readonly now: Date;
  }
>(
  'start-data-export',
  `with recent as materialized (
    select e.id, ${dataExportState('e', ':now::timestamptz')} as state, e.created_at
      from data_exports e
     where e.user_id = :userId::uuid and e.created_at > :now::timestamptz - interval '24 hours'
       and e.created_at <= :now::timestamptz + interval '1 minute'
  ), standing as materialized (
    select recent.id, recent.state from recent
     where recent.state <> 'failed' or recent.created_at > :now::timestamptz - interval '1 hour'
     order by recent.state = 'pending' desc, recent.id desc limit 1
  ), inserted as (
    insert into data_exports (id, user_id, language, created_at, expires_at)
    select :id::uuid, :userId::uuid, :language::text, :now::timestamptz, :now::timestamptz + ${KEPT}
     where not exists (select from standing)
    returning id
  ), queued as (
    ${INSERT_JOB}
    select :jobId::uuid, '${EXPORT_QUEUE}', jsonb_build_object('export_id', inserted.id), :userId::uuid::text,
           :queuedBy::text, :now::timestamptz, :now::timestamptz
      from inserted
    ${ON_WAITING_JOB}
  )
  select standing.id, standing.state from (select 1) one left join standing on true`,
);
