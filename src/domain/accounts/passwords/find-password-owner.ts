import { toUser, type User, type UserRow, userColumns } from '#domain/records/user.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

/** An account that is about to get a different password. */
export interface FoundPasswordOwner {
  readonly user: User;
  readonly hasPassword: boolean;
  /** Confirmed addresses, which are easy to guess. */
  readonly emails: readonly string[];
}

const findOwner = statement<UserRow & { has_password: boolean; emails: string[] }, { readonly userId: string }>(
  'find-password-owner',
  `select ${userColumns('u')}, exists (select from user_passwords p where p.user_id = u.id) as has_password,
          array(select e.email from user_emails e where e.user_id = u.id) as emails
     from users u where u.id = :userId::uuid`,
);

export async function findPasswordOwner(queryable: Queryable, user: UserId): Promise<FoundPasswordOwner | undefined> {
  const row = await queryable.first(findOwner, { userId: toUuid(user) });
  if (row === undefined) return undefined;
  return { user: toUser(row), hasPassword: row.has_password, emails: row.emails };
}
