/**
 * Jobs that sync a user's devices at the homeserver with their sessions (chat-compat 11.6 to 11.8). The statement that
 * ends a session inserts one. At most one waits per user, so that many ended sessions make one call. The job itself is
 * in `sync-devices.ts`.
 */
import { toUuid } from '#platform/base/ids.ts';
import { INSERT_JOB, queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { Homeserver } from './homeserver.ts';

export const SYNC_DEVICES_QUEUE = 'sync-devices';

/**
 * Returns an insert of one job per user, for use within a larger statement. Expects `:queuedBy`. A user's waiting job
 * is reused and locked until the change commits, so that it cannot run before. A waiting job that has not run yet
 * becomes due earlier if needed, while a retry keeps its time.
 * @param users query of distinct `user_id`s
 * @param now parameter with the time, cast to `timestamptz`
 * @param dueAt expression on `told`, the rows of that query
 */
export function insertDeviceSyncs(users: string, now: string, dueAt: string = now): string {
  return `${INSERT_JOB}
    select gen_random_uuid(), '${SYNC_DEVICES_QUEUE}', jsonb_build_object('user_id', told.user_id), told.user_id::text,
           :queuedBy::text, ${now}, ${dueAt}
      from (${users}) told
     order by told.user_id
    on conflict (queue, dedup_key) where worker is null and failed_at is null
      do update set created_at = excluded.created_at,
        due_at = case when queue_jobs.attempt = 0 then least(queue_jobs.due_at, excluded.due_at) else queue_jobs.due_at end`;
}

/** Parameters of every statement that ends sessions. */
export type SessionEndParams = {
  readonly queuedBy: string | null;
  readonly syncsDevices: boolean;
};

/** @param syncsDevices whether there is a homeserver: `homeserver.isConnected` */
export function sessionEndParams(syncsDevices: boolean): SessionEndParams {
  return { queuedBy: queuedBy(), syncsDevices };
}

/**
 * Returns the same for users whose sessions the statement has ended. Skips sessions whose device now belongs to another
 * session, because the device stays. Expects `SessionEndParams`.
 * @param sessions queries of finished sessions with `user_id`, `device_id` and `finish_reason`
 */
export function insertSyncsOfEnded(sessions: readonly string[], now: string, dueAt?: string): string {
  const users = `select distinct gone.user_id from (${sessions.join(' union all ')}) gone
     where :syncsDevices::boolean and gone.user_id is not null and gone.device_id is not null
       and gone.finish_reason <> 'device_replaced'`;
  return insertDeviceSyncs(users, now, dueAt);
}

/**
 * Returns the due times for a batch of background syncs, so that the homeserver does not get hundreds of calls at the
 * same time (chat-compat 15).
 */
export function spreadOver(now: string): string {
  return `${now} + interval '1 minute' + (row_number() over (order by told.user_id) - 1) * interval '10 seconds'`;
}

const insertSync = statement<never, { readonly userId: string; readonly queuedBy: string | null; readonly now: Date }>(
  'queue-device-sync',
  insertDeviceSyncs('select :userId::uuid as user_id', ':now::timestamptz'),
);

/** Queues a single sync. Does nothing without a homeserver. */
export async function queueDeviceSync(
  queryable: Queryable,
  homeserver: Pick<Homeserver, 'isConnected'>,
  { userId, now }: { readonly userId: UserId; readonly now: number },
): Promise<void> {
  if (!homeserver.isConnected) return;
  await queryable.execute(insertSync, { userId: toUuid(userId), queuedBy: queuedBy(), now: new Date(now) });
}
