/**
 * Deactivation of accounts: the flag `deactivated_at`, whether the homeserver knows of it, and the data that goes with
 * the account. Email addresses are always deleted; with erasure also the password, groups and the like.
 */

import { accountIsDeactivated } from '#domain/records/liveness/accounts.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

const mark = statement<never, { readonly userId: string; readonly now: Date }>(
  'mark-deactivated',
  `update users
      set deactivated_at = :now::timestamptz, homeserver_deactivated_at = null, homeserver_erased_at = null
    where id = :userId::uuid and not (${accountIsDeactivated('users')})`,
);

const unmark = statement<never, { readonly userId: string }>(
  'unmark-deactivated',
  `update users set deactivated_at = null, homeserver_deactivated_at = null, homeserver_erased_at = null
    where id = :userId::uuid and ${accountIsDeactivated('users')}`,
);

const markAtHomeserver = statement<never, { readonly userId: string; readonly isErased: boolean; readonly now: Date }>(
  'mark-deactivated-at-homeserver',
  `update users
      set homeserver_deactivated_at = :now::timestamptz,
          homeserver_erased_at = case when :isErased::boolean then :now::timestamptz else homeserver_erased_at end
    where id = :userId::uuid and ${accountIsDeactivated('users')}`,
);

/** Also deletes the recovery tickets mailed to these addresses, and imported identifiers that are not supported. */
const deleteEmails = statement<{ email_key: string }, { readonly userId: string }>(
  'delete-emails-of-user',
  `with unsupported as (delete from user_unsupported_threepids where user_id = :userId::uuid)
   delete from user_emails where user_id = :userId::uuid returning email_key`,
);

const deleteHash = statement<never, { readonly userId: string }>(
  'delete-password',
  'delete from user_passwords where user_id = :userId::uuid',
);

/** The username is kept so that it cannot be reused. */
const eraseFacts = statement<never, { readonly userId: string; readonly now: Date }>(
  'erase-facts',
  `update users set display_name = null, given_name = null, family_name = null, time_zone = null, groups = null,
     claims = null, updated_at = :now::timestamptz
    where id = :userId::uuid
      and num_nonnulls(display_name, given_name, family_name, time_zone, groups, claims) > 0`,
);

/**
 * Marks an account as deactivated. Expects the caller's transaction, which locks the account.
 * @returns whether this call deactivated it
 */
export async function markDeactivated(transaction: Queryable, user: UserId, now: number): Promise<boolean> {
  return (await transaction.execute(mark, { userId: toUuid(user), now: new Date(now) })) > 0;
}

/**
 * Records that the homeserver has deactivated the account, so that it need not be notified again.
 * @param userId as stored in the database
 */
export async function markDeactivatedAtHomeserver(
  database: Queryable,
  userId: string,
  { isErased, now }: { readonly isErased: boolean; readonly now: number },
): Promise<void> {
  await database.execute(markAtHomeserver, { userId, isErased, now: new Date(now) });
}

/**
 * Releases the email addresses of a deactivated account. Without erasure, password and display name are kept: a sign-in
 * with the right password then reports the deactivation instead of a wrong password. Expects the caller's transaction.
 * @returns the comparison keys of the released addresses
 */
export async function removePersonalData(
  transaction: Queryable,
  user: UserId,
  { isErased, now }: { readonly isErased: boolean; readonly now: number },
): Promise<readonly string[]> {
  const userId = toUuid(user);
  const freed = await transaction.rows(deleteEmails, { userId });
  if (isErased) {
    await deletePassword(transaction, user);
    await transaction.execute(eraseFacts, { userId, now: new Date(now) });
  }
  return freed.map(({ email_key }) => email_key);
}

/** Deletes the password, which disables password sign-in. */
export async function deletePassword(transaction: Queryable, user: UserId): Promise<void> {
  await transaction.execute(deleteHash, { userId: toUuid(user) });
}

/**
 * Reactivates an account. Restores neither email addresses nor sessions, and does not unlock the account.
 * @returns whether this call reactivated it
 */
export async function markReactivated(transaction: Queryable, user: UserId): Promise<boolean> {
  return (await transaction.execute(unmark, { userId: toUuid(user) })) > 0;
}
