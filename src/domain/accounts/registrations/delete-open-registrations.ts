import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

const deleteOpen = statement<never, { readonly emailKeys: readonly string[] }>(
  'delete-open-registrations-of-addresses',
  `delete from user_registrations r using user_email_authentications a
    where a.email_key = any(:emailKeys::text[]) and r.email_authentication_id = a.id and r.completed_at is null`,
);

/** Deletes unfinished registrations with these addresses. */
export async function deleteOpenRegistrations(transaction: Queryable, emailKeys: readonly string[]): Promise<void> {
  await transaction.execute(deleteOpen, { emailKeys });
}
