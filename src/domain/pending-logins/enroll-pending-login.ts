import { type PendingLoginId, toUuid } from '#platform/base/ids.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { firstFactorStands, pendingLoginIsOpen } from './liveness.ts';

// The code that was right is no failed attempt.
const enroll = statement<never, { readonly id: string; readonly now: Date }>(
  'enroll-pending-login',
  `update user_pending_logins l set enrolled_at = :now::timestamptz, failed_attempts = l.failed_attempts - 1
    where l.id = :id::uuid and l.setup_sealed is not null and l.enrolled_at is null
      and ${pendingLoginIsOpen('l', ':now::timestamptz')} and ${firstFactorStands('l')}`,
);

/**
 * Notes that the person has set up what they were asked to, in the transaction that stores it.
 * @returns false when the login is over, or they have done so before
 */
export async function enrollPendingLogin(transaction: Transaction, id: PendingLoginId, now: number): Promise<boolean> {
  return (await transaction.execute(enroll, { id: toUuid(id), now: new Date(now) })) > 0;
}

const keep = statement<never, { readonly id: string; readonly setupSealed: Buffer }>(
  'keep-factor-setup',
  'update user_pending_logins set setup_sealed = :setupSealed::bytea where id = :id::uuid',
);

/** Replaces what the person is shown. */
export async function keepSetup(transaction: Transaction, id: PendingLoginId, setupSealed: Buffer): Promise<void> {
  await transaction.execute(keep, { id: toUuid(id), setupSealed });
}
