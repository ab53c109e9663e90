import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

const deleteOfUser = statement<never, { readonly userId: string }>(
  'delete-data-exports-of-user',
  'delete from data_exports e where e.user_id = :userId::uuid',
);

/** Deletes all archives of a user. A running export job then finds no row to update. */
export async function deleteDataExports(transaction: Queryable, user: UserId): Promise<void> {
  await transaction.execute(deleteOfUser, { userId: toUuid(user) });
}
