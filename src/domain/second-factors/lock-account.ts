import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

const lock = statement<{ id: string }, { readonly userId: string }>(
  'lock-account-to-change-factors',
  `select u.id from users u where ${accountIsUsable('u')} and u.id = :userId::uuid for no key update`,
);

/**
 * Serializes changes to the second factors of an account. Call it before anything else is read.
 * @returns false if the account is locked or deactivated
 */
export async function lockAccount(transaction: Transaction, user: UserId): Promise<boolean> {
  return (await transaction.first(lock, { userId: toUuid(user) })) !== undefined;
}
