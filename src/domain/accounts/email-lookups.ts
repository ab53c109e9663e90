import { toUuid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

const ofUser = statement<{ email: string }, { readonly userId: string }>(
  'list-user-emails',
  'select email from user_emails where user_id = :userId::uuid order by created_at, id',
);

/** The confirmed addresses of a user, oldest first. */
export async function listEmails(queryable: Queryable, user: UserId): Promise<string[]> {
  return (await queryable.rows(ofUser, { userId: toUuid(user) })).map((row) => row.email);
}
