/**
 * Jobs that bring the devices of a person at the homeserver in line with their sessions (chat-compat 11.6 to 11.8): the
 * statement that ends a session writes one. At most one waits for each person, so many ends make one call. What it does
 * is in `devices/sync-devices.ts`.
 */
import { toUuid, type UserId } from '#platform/base/ids.ts';
import { INSERT_JOB, queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { Homeserver } from './homeserver.ts';

export const SYNC_DEVICES_QUEUE = 'sync-devices';

/**
 * An insert, inside a larger statement, of a job for each person. Expects `:queuedBy`. The waiting job of a person stands
 * for it, and is locked until the change commits, so that it cannot run before; one that was put off and has not run yet
 * comes forward, while one that is tried again keeps its time.
 * @param users query of `user_id`s, each once; @param now parameter with the time, cast to `timestamptz`
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

/** @param syncsDevices there is a homeserver: `homeserver.isConnected` */
export function sessionEndParams(syncsDevices: boolean): SessionEndParams {
  return { queuedBy: queuedBy(), syncsDevices };
}

/**
 * The same for the people whose sessions this statement has finished; none for a session whose device another one has
 * taken over, as it lives on. Expects `SessionEndParams`.
 * @param sessions queries of finished sessions with `user_id`, `device_id` and `finish_reason`
 */
export function insertSyncsOfEnded(sessions: readonly string[], now: string, dueAt?: string): string {
  const users = `select distinct gone.user_id from (${sessions.join(' union all ')}) gone
     where :syncsDevices::boolean and gone.user_id is not null and gone.device_id is not null
       and gone.finish_reason <> 'device_replaced'`;
  return insertDeviceSyncs(users, now, dueAt);
}

/** When syncs of a batch are due that nobody waits for: a homeserver is not to get hundreds of calls at once (chat-compat 15). */
export function spreadOver(now: string): string {
  return `${now} + interval '1 minute' + (row_number() over (order by told.user_id) - 1) * interval '10 seconds'`;
}

const insertSync = statement<never, { readonly userId: string; readonly queuedBy: string | null; readonly now: Date }>(
  'queue-device-sync',
  insertDeviceSyncs('select :userId::uuid as user_id', ':now::timestamptz'),
);

/** Queues one by itself. Nothing is queued where there is no homeserver. */
export async function queueDeviceSync(
  queryable: Queryable,
  homeserver: Pick<Homeserver, 'isConnected'>,
  { userId, now }: { readonly userId: UserId; readonly now: number },
): Promise<void> {
  if (!homeserver.isConnected) return;
  await queryable.execute(insertSync, { userId: toUuid(userId), queuedBy: queuedBy(), now: new Date(now) });
}
