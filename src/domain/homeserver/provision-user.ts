import { fromUuid, newId, toUuid } from '#platform/base/ids.ts';
import { INSERT_JOB, type JobQueue, ON_WAITING_JOB, queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { queueDeviceSync } from './device-sync-jobs.ts';
import type { Homeserver } from './homeserver.ts';
import { type NotifyDeps, notificationQueue } from './notify-homeserver.ts';
import { provisionUser } from './unknown-devices.ts';

export const PROVISION_USER_QUEUE = 'provision-user';

/**
 * Jobs with and without a display name have different keys. Otherwise a job without one could replace the other, and
 * the name would be lost.
 */
const insertProvisioning = statement<
  never,
  {
    readonly id: string;
    readonly userId: string;
    readonly displayName: string | null;
    readonly queuedBy: string | null;
    readonly now: Date;
  }
>(
  'queue-provisioning',
  `${INSERT_JOB}
   values (:id::uuid, '${PROVISION_USER_QUEUE}',
     jsonb_strip_nulls(jsonb_build_object('user_id', :userId::uuid, 'display_name', :displayName::text)),
     :userId::uuid::text || case when :displayName::text is null then '' else ' named' end,
     :queuedBy::text, :now::timestamptz, :now::timestamptz)
   ${ON_WAITING_JOB}`,
);

export interface Provisioning {
  readonly userId: UserId;
  /** Undefined to leave the name at the homeserver unchanged. */
  readonly displayName?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Queues the update of the homeserver about a new user, or about changed email addresses or a changed lock. Pass the
 * transaction of the change. Does nothing without a homeserver.
 */
export async function queueProvisioning(
  transaction: Queryable,
  homeserver: Pick<Homeserver, 'isConnected'>,
  { userId, displayName, now }: Provisioning,
): Promise<void> {
  if (!homeserver.isConnected) return;
  await transaction.execute(insertProvisioning, {
    id: toUuid(newId(now)),
    userId: toUuid(userId),
    displayName: displayName ?? null,
    queuedBy: queuedBy(),
    now: new Date(now),
  });
}

export function provisionUserQueue(deps: NotifyDeps): JobQueue {
  return notificationQueue(PROVISION_USER_QUEUE, deps, async (notified, context, payload) => {
    // Otherwise a user that the homeserver never knew would become active there.
    if (notified.isDeactivated) return { ok: true, value: undefined };
    // The user may have changed or removed the name since.
    const displayName = isNamed(payload) ? notified.storedDisplayName : undefined;
    const result = await provisionUser(deps, notified, displayName, context);
    const user = { userId: fromUuid<'user'>(notified.userId), now: deps.clock.now() };
    if (result.ok) await queueDeviceSync(deps.database, deps.homeserver, user);
    return result;
  });
}

/** Returns whether the job sets a display name. */
function isNamed(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && typeof Object(payload).display_name === 'string';
}
