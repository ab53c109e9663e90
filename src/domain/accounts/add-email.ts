import { newId, toUuid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { EmailAddress } from './email-address.ts';
import { insertEmail } from './email-writes.ts';

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
