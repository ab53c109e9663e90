import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

const deleteAll = statement<never, { readonly emailKeys: readonly string[] }>(
  'delete-email-authentications-of-addresses',
  'delete from user_email_authentications where email_key = any(:emailKeys::text[])',
);

/** Deletes all authentications of these addresses, which invalidates the codes mailed for them. */
export async function deleteEmailAuthentications(transaction: Queryable, emailKeys: readonly string[]): Promise<void> {
  await transaction.execute(deleteAll, { emailKeys });
}
