import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { recoverySessionIsOpen } from './liveness.ts';

/** With their tickets. */
const deletePending = statement<never, { readonly emailKeys: readonly string[] }>(
  'delete-recoveries-of-addresses',
  `delete from user_recovery_sessions s
    where s.email_key = any(:emailKeys::text[]) and ${recoverySessionIsOpen('s')}`,
);

/** Forgets requests for a new password that came with these addresses and were not used. */
export async function deletePendingRecoveries(transaction: Queryable, emailKeys: readonly string[]): Promise<void> {
  await transaction.execute(deletePending, { emailKeys });
}
