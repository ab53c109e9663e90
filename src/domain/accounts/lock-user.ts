import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { queueProvisioning } from '#domain/homeserver/provision-user.ts';
import { accountIsLocked } from '#domain/records/liveness/accounts.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

/** Keeps the time of the first lock. */
const lock = statement<never, { readonly userId: string; readonly now: Date }>(
  'lock-user',
  `update users set locked_at = :now::timestamptz where id = :userId::uuid and not (${accountIsLocked('users')})`,
);

const unlock = statement<never, { readonly userId: string }>(
  'unlock-user',
  `update users set locked_at = null where id = :userId::uuid and ${accountIsLocked('users')}`,
);

export interface LockChange {
  readonly user: UserId;
  /** Undefined: an operator at the command line. */
  readonly by?: AuditActor;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Blocks an account from the commit on. Its sessions do not end, so all of them work again after unlocking. Expects the
 * caller's transaction. @returns whether this call locked it
 */
export async function lockUser(
  transaction: Queryable,
  homeserver: Pick<Homeserver, 'isConnected'>,
  { user, by, now }: LockChange,
): Promise<boolean> {
  if ((await transaction.execute(lock, { userId: toUuid(user), now: new Date(now) })) === 0) return false;
  await recordAuditEvent(transaction, { kind: 'account_locked', at: now, userId: user, ...by });
  await queueProvisioning(transaction, homeserver, { userId: user, now });
  return true;
}

/** Unlocks an account. Expects the caller's transaction. @returns whether this call unlocked it */
export async function unlockUser(
  transaction: Queryable,
  homeserver: Pick<Homeserver, 'isConnected'>,
  { user, by, now }: LockChange,
): Promise<boolean> {
  if ((await transaction.execute(unlock, { userId: toUuid(user) })) === 0) return false;
  await recordAuditEvent(transaction, { kind: 'account_unlocked', at: now, userId: user, ...by });
  await queueProvisioning(transaction, homeserver, { userId: user, now });
  return true;
}
