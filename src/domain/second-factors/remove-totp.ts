import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import type { Database } from '#platform/postgres/database.ts';
import { deleteOneTimeCodes } from './delete-one-time-codes.ts';
import { lockAccount } from './lock-account.ts';
import { type FactorChange, ownActor, recordFactorChange } from './record-factor-change.ts';

export interface ChangeFactorDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
}

/**
 * Removes a user's authenticator app and recovery codes.
 * @returns whether an app was removed
 */
export async function removeTotp(
  { database, clock, log, sendsNotices }: ChangeFactorDeps,
  change: Omit<FactorChange, 'now'>,
): Promise<boolean> {
  const { user, language } = change;
  const isRemoved = await database.transaction(
    async (transaction) => {
      if (!(await lockAccount(transaction, user))) return false;
      if (!(await deleteOneTimeCodes(transaction, user))) return false;
      const by = ownActor(change);
      await recordFactorChange(transaction, 'totp_removed', { user, by, language, now: clock.now(), sendsNotices });
      return true;
    },
    { isRepeatable: true },
  );
  if (isRemoved) log.info('totp.removed', 'authenticator app removed', { user });
  return isRemoved;
}
