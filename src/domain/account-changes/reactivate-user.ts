import { markReactivated } from '#domain/accounts/deactivation-mark.ts';
import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import type { CallContext, Homeserver, HomeserverResult } from '#domain/homeserver/homeserver.ts';
import { type NotifyDeps, notificationQueue } from '#domain/homeserver/notify-homeserver.ts';
import { queueProvisioning } from '#domain/homeserver/provision-user.ts';
import { fromUuid, newId, toUuid } from '#platform/base/ids.ts';
import { INSERT_JOB, type JobQueue, ON_WAITING_JOB, queuedBy } from '#platform/jobs/queue.ts';
import type { Database, Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

const QUEUE = 'reactivate-user';

const insertJob = statement<
  never,
  { readonly id: string; readonly userId: string; readonly queuedBy: string | null; readonly now: Date }
>(
  'queue-reactivation',
  `${INSERT_JOB}
   values (:id::uuid, '${QUEUE}', jsonb_build_object('user_id', :userId::uuid), :userId::uuid::text,
     :queuedBy::text, :now::timestamptz, :now::timestamptz)
   ${ON_WAITING_JOB}`,
);

/**
 * Reactivates an account. The homeserver goes first, so that an account is never active here but deactivated there.
 * Without a homeserver, the account is reactivated immediately. Expects the caller's transaction.
 */
export async function reactivateUser(
  transaction: Queryable,
  homeserver: Pick<Homeserver, 'isConnected'>,
  { user, now }: { readonly user: UserId; readonly now: number },
): Promise<void> {
  if (!homeserver.isConnected) return await reactivateHere(transaction, homeserver, { user, now });
  const userId = toUuid(user);
  await transaction.execute(insertJob, { id: toUuid(newId(now)), userId, queuedBy: queuedBy(), now: new Date(now) });
}

export async function reactivateHere(
  transaction: Queryable,
  homeserver: Pick<Homeserver, 'isConnected'>,
  { user, by, now }: { readonly user: UserId; readonly by?: AuditActor; readonly now: number },
): Promise<void> {
  if (!(await markReactivated(transaction, user))) return;
  await recordAuditEvent(transaction, { kind: 'account_reactivated', at: now, userId: user, ...by });
  // The lock may have changed in the meantime, which is not synced for a deactivated user.
  await queueProvisioning(transaction, homeserver, { userId: user, now });
}

export interface ReactivationDeps extends NotifyDeps {
  readonly database: Database;
}

export function reactivateUserQueue(deps: ReactivationDeps): JobQueue {
  return notificationQueue(QUEUE, deps, async (notified, context) => {
    const result = await reactivateThere(deps.homeserver, notified.localpart, context);
    if (!result.ok) return result;
    const now = deps.clock.now();
    const user = fromUuid<'user'>(notified.userId);
    await deps.database.transaction((transaction) => reactivateHere(transaction, deps.homeserver, { user, now }), {
      isRepeatable: true,
    });
    return result;
  });
}

/** Reactivates only users who are deactivated there, because Synapse creates a new profile (chat-compat 11.6). */
export async function reactivateThere(
  homeserver: Homeserver,
  localpart: string,
  context: CallContext,
): Promise<HomeserverResult<unknown>> {
  const known = await homeserver.queryUser(localpart, context);
  // The provisioning that follows creates the user.
  if (!known.ok) return known.reason === 'unknown-user' ? { ok: true, value: undefined } : known;
  if (!known.value.isDeactivated) return known;
  return await homeserver.reactivateUser(localpart, context);
}
