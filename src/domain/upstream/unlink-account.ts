import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

const unlink = statement<never, { readonly userId: string }>(
  'unlink-account',
  'update upstream_links set user_id = null where user_id = :userId::uuid',
);

/** Unlinks an account's identities at providers. Other accounts may then link them. */
export async function unlinkAccount(transaction: Queryable, user: UserId): Promise<void> {
  await transaction.execute(unlink, { userId: toUuid(user) });
}
