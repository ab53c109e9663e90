import { fromUuid, newId, toUuid, type UserId } from '#platform/base/ids.ts';
import { INSERT_JOB, type JobQueue, ON_WAITING_JOB, queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { queueDeviceSync } from './device-sync-jobs.ts';
import type { Homeserver } from './homeserver.ts';
import { type TellDeps, tellingQueue } from './tell-homeserver.ts';

export const PROVISION_USER_QUEUE = 'provision-user';

/**
 * A job that brings a display name is another one than a job that does not, which would otherwise take its place and
 * lose the name.
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
  /** Undefined: the name stays as it is there. */
  readonly displayName?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Has the homeserver told of a new person, or of what has changed about them: e-mail addresses, the lock. Pass the
 * transaction of the change. Nothing is queued where there is no homeserver.
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

export function provisionUserQueue(deps: TellDeps): JobQueue {
  return tellingQueue(PROVISION_USER_QUEUE, deps, async (told, context, payload) => {
    // Otherwise somebody whom the homeserver never knew would become active there.
    if (told.isDeactivated) return { ok: true, value: undefined };
    // The person may have chosen another one since, or none.
    const displayName = isNamed(payload) ? told.storedDisplayName : undefined;
    const result = await deps.homeserver.provisionUser({ ...told, displayName }, context);
    const user = { userId: fromUuid<'user'>(told.userId), now: deps.clock.now() };
    if (result.ok) await queueDeviceSync(deps.database, deps.homeserver, user);
    return result;
  });
}

/** It is to bring a display name. */
function isNamed(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && typeof Object(payload).display_name === 'string';
}
