/** Confirmed email addresses of accounts, table `user_emails`. Each address belongs to at most one account. */

import { accountIsDeactivated } from '#domain/records/liveness/accounts.ts';
import { primaryFirst } from '#domain/records/primary-email.ts';
import { fromUuid, newId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { EmailAddress } from './email-address.ts';
import type { UserEmailId } from './list-user-emails.ts';

/** Maximum number of addresses that a user can add to an account. */
export const MAX_EMAILS = 20;

/** Returns no row if the address already belongs to an account. */
const insertEmail = statement<
  { id: string },
  {
    readonly id: string;
    readonly userId: string;
    readonly email: string;
    readonly emailKey: string;
    readonly now: Date;
  }
>(
  'insert-user-email',
  `insert into user_emails (id, user_id, email, email_key, created_at)
  values (:id::uuid, :userId::uuid, :email::text, :emailKey::text, :now::timestamptz)
  on conflict (email_key) do nothing
  returning id`,
);

/**
 * Adds a confirmed address to an account. Uses one statement, which also works outside a transaction.
 * @returns undefined if the address already belongs to an account
 */
export async function addEmail(
  queryable: Queryable,
  user: UserId,
  email: EmailAddress,
  now: number,
): Promise<UserEmailId | undefined> {
  const id: UserEmailId = newId(now);
  const row = await queryable.first(insertEmail, {
    id: toUuid(id),
    userId: toUuid(user),
    email: email.address,
    emailKey: email.key,
    now: new Date(now),
  });
  return row === undefined ? undefined : id;
}

const deleteEmail = statement<{ email: string }, { readonly userId: string; readonly emailKey: string }>(
  'delete-user-email',
  'delete from user_emails where user_id = :userId::uuid and email_key = :emailKey::text returning email',
);

/**
 * Removes an address from an account, including the recovery tickets mailed to it.
 * @returns false if the account does not have the address
 */
export async function removeEmail(queryable: Queryable, user: UserId, emailKey: string): Promise<boolean> {
  return (await queryable.first(deleteEmail, { userId: toUuid(user), emailKey })) !== undefined;
}

const findOwner = statement<{ user_id: string }, { readonly emailKey: string }>(
  'find-owner-of-email',
  'select user_id from user_emails where email_key = :emailKey::text',
);

/** Returns the account that has this confirmed address. */
export async function findEmailOwner(queryable: Queryable, emailKey: string): Promise<UserId | undefined> {
  const row = await queryable.first(findOwner, { emailKey });
  return row === undefined ? undefined : fromUuid<'user'>(row.user_id);
}

const listUserEmails = statement<{ email: string }, { readonly userId: string }>(
  'list-user-emails',
  'select email from user_emails where user_id = :userId::uuid order by created_at, id',
);

/** Returns the confirmed addresses of a user, oldest first. */
export async function listEmails(queryable: Queryable, user: UserId): Promise<string[]> {
  return (await queryable.rows(listUserEmails, { userId: toUuid(user) })).map((row) => row.email);
}

const lockOwner = statement<{ id: string }, { readonly userId: string }>(
  'lock-owner-of-emails',
  `select u.id from users u where u.id = :userId::uuid and not (${accountIsDeactivated('u')}) for no key update`,
);

const listKeys = statement<{ email_key: string }, { readonly userId: string }>(
  'list-email-keys',
  `select e.email_key from user_emails e where e.user_id = :userId::uuid order by ${primaryFirst('e')}`,
);

/**
 * Locks the account until the transaction ends: concurrent requests can neither change its addresses nor deactivate it.
 * The lock is a separate statement, so that the read after it sees what earlier holders committed.
 * @returns comparison keys of the addresses, primary first; undefined: the account does not exist or is deactivated
 */
export async function lockEmails(transaction: Queryable, user: UserId): Promise<readonly string[] | undefined> {
  const userId = toUuid(user);
  if ((await transaction.first(lockOwner, { userId })) === undefined) return undefined;
  return (await transaction.rows(listKeys, { userId })).map(({ email_key }) => email_key);
}

const choosePrimary = statement<never, { readonly userId: string; readonly emailKey: string }>(
  'choose-primary-email',
  `update user_emails e
      set is_primary = e.email_key = :emailKey::text
    where e.user_id = :userId::uuid and e.is_primary <> (e.email_key = :emailKey::text)`,
);

/** Makes an address the primary one of its account. Expects a transaction that has called `lockEmails`. */
export async function makeEmailPrimary(transaction: Queryable, user: UserId, emailKey: string): Promise<void> {
  await transaction.execute(choosePrimary, { userId: toUuid(user), emailKey });
}
