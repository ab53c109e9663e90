import { firstFactorStands, pendingLoginIsOpen } from '#domain/records/liveness/pending-logins.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { PendingLoginId } from '#vocabulary/ids.ts';

// The correct code is not a failed attempt.
const enroll = statement<never, { readonly id: string; readonly now: Date }>(
  'enroll-pending-login',
  `update user_pending_logins l set enrolled_at = :now::timestamptz, failed_attempts = l.failed_attempts - 1
    where l.id = :id::uuid and l.setup_sealed is not null and l.enrolled_at is null
      and ${pendingLoginIsOpen('l', ':now::timestamptz')} and ${firstFactorStands('l')}`,
);

/**
 * Records that the user has enrolled, in the transaction that stores the factor.
 * @returns false if the login has ended or the user has already enrolled
 */
export async function enrollPendingLogin(transaction: Transaction, id: PendingLoginId, now: number): Promise<boolean> {
  return (await transaction.execute(enroll, { id: toUuid(id), now: new Date(now) })) > 0;
}

const keep = statement<never, { readonly id: string; readonly setupSealed: Buffer }>(
  'keep-factor-setup',
  'update user_pending_logins set setup_sealed = :setupSealed::bytea where id = :id::uuid',
);

/** Replaces the stored enrollment data. */
export async function keepSetup(transaction: Transaction, id: PendingLoginId, setupSealed: Buffer): Promise<void> {
  await transaction.execute(keep, { id: toUuid(id), setupSealed });
}
