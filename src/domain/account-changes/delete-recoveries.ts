import { recoverySessionIsOpen } from '#domain/records/liveness/recoveries.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

/** Also deletes their tickets. */
const deletePending = statement<never, { readonly emailKeys: readonly string[] }>(
  'delete-recoveries-of-addresses',
  `delete from user_recovery_sessions s
    where s.email_key = any(:emailKeys::text[]) and ${recoverySessionIsOpen('s')}`,
);

/** Deletes unused recovery sessions for these addresses. */
export async function deletePendingRecoveries(transaction: Queryable, emailKeys: readonly string[]): Promise<void> {
  await transaction.execute(deletePending, { emailKeys });
}
