import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import { endTrust } from '#domain/second-factors/trusted-browsers.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { PasskeyId, UserId } from '#vocabulary/ids.ts';

interface PasskeyOfUser {
  readonly user: UserId;
  readonly passkey: PasskeyId;
  readonly by: AuditActor;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Removes a passkey that a user lost, on behalf of an administrator. Unlike the user, administrators may remove the
 * only way to sign in: they can send the user a link to set a password. The user is notified. Expects the caller's
 * transaction.
 * @param sendsNotices whether users get email notices
 * @returns whether the account had this passkey
 */
export async function removePasskeyOfUser(
  transaction: Transaction,
  { user, passkey, by, now }: PasskeyOfUser,
  sendsNotices: boolean,
): Promise<boolean> {
  const removed = await transaction.first(removeOne, { userId: toUuid(user), passkeyId: toUuid(passkey) });
  if (removed === undefined) return false;
  const { name } = removed;
  const detail = { ...by.detail, passkey: name };
  const eventId = await recordAuditEvent(transaction, {
    kind: 'passkey_removed',
    at: now,
    userId: user,
    ...by,
    detail,
  });
  if (sendsNotices) {
    const change = { change: 'passkey_removed', passkey: name };
    await queueNotice(transaction, 'factor_changed', { user, eventId, detail: change, now });
  }
  // The device may be lost and have a trusted browser.
  await endTrust(transaction, user);
  return true;
}

/**
 * Includes locked and deactivated accounts, because they may be restored later. The lock comes first, so that a user
 * who removes another passkey at the same time does not count on this one.
 */
const removeOne = statement<{ name: string }, { readonly userId: string; readonly passkeyId: string }>(
  'remove-passkey-of-user',
  `with account as materialized (
    select u.id from users u where u.id = :userId::uuid for no key update
  )
  delete from user_passkeys k using account
   where k.id = :passkeyId::uuid and k.user_id = account.id
  returning k.name`,
);
