/** The confirmed e-mail addresses of accounts, table `user_emails`: each belongs to one account at most. */
import { newId, toUuid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { EmailAddress } from './email-address.ts';

/** No row when the address belongs to an account already. */
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
 * Gives a user a confirmed address. One statement, so that it may be sent alone or inside the caller's transaction.
 * @returns false when the address belongs to an account already
 */
export async function addEmail(queryable: Queryable, user: UserId, email: EmailAddress, now: number): Promise<boolean> {
  const id = toUuid(newId<'user-email'>(now));
  const row = await queryable.first(insertEmail, {
    id,
    userId: toUuid(user),
    email: email.address,
    emailKey: email.key,
    now: new Date(now),
  });
  return row !== undefined;
}

const listUserEmails = statement<{ email: string }, { readonly userId: string }>(
  'list-user-emails',
  'select email from user_emails where user_id = :userId::uuid order by created_at, id',
);

/** The confirmed addresses of a user, oldest first. */
export async function listEmails(queryable: Queryable, user: UserId): Promise<string[]> {
  return (await queryable.rows(listUserEmails, { userId: toUuid(user) })).map((row) => row.email);
}
