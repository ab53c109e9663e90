import type { AuditActor } from '#domain/audit/audit-event.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { deleteOneTimeCodes } from './delete-one-time-codes.ts';
import { recordFactorChange } from './record-factor-change.ts';

export interface FactorRemoval {
  readonly user: UserId;
  readonly by: AuditActor;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Removes a lost authenticator app and the recovery codes, on behalf of an administrator or operator. The password
 * alone is then enough to sign in, so the owner is notified. Expects the caller's transaction.
 * @returns whether an app was removed
 */
export async function removeSecondFactors(
  transaction: Transaction,
  { user, by, now }: FactorRemoval,
  sendsNotices: boolean,
): Promise<boolean> {
  await transaction.first(lockAccount, { userId: toUuid(user) });
  if (!(await deleteOneTimeCodes(transaction, user))) return false;
  await recordFactorChange(transaction, 'totp_removed', { user, by, language: undefined, now, sendsNotices });
  return true;
}

/** Includes locked and deactivated accounts, because they may be restored later. */
const lockAccount = statement<{ id: string }, { readonly userId: string }>(
  'lock-account-to-remove-factors',
  'select u.id from users u where u.id = :userId::uuid for no key update',
);
