import { toUuid } from '#platform/base/ids.ts';
import { statement } from '#platform/postgres/statement.ts';
import { lockAccount } from './lock-account.ts';
import { type FactorChange, ownActor, recordFactorChange } from './record-factor-change.ts';
import { type RecoveryCodeKeys, replaceRecoveryCodes } from './recovery-code-set.ts';
import type { ChangeFactorDeps } from './remove-totp.ts';

/**
 * Replaces the recovery codes of a user with an authenticator app.
 * @returns the codes in display format, shown once; undefined if the user has no app
 */
export async function regenerateRecoveryCodes(
  { database, clock, log, secretKeys, sendsNotices }: ChangeFactorDeps & { readonly secretKeys: RecoveryCodeKeys },
  change: Omit<FactorChange, 'now'>,
): Promise<readonly string[] | undefined> {
  const { user, language } = change;
  const codes = await database.transaction(
    async (transaction) => {
      if (!(await lockAccount(transaction, user))) return undefined;
      if ((await transaction.first(findApp, { userId: toUuid(user) })) === undefined) return undefined;
      const now = clock.now();
      const made = await replaceRecoveryCodes(transaction, secretKeys, user, now);
      const by = ownActor(change);
      await recordFactorChange(transaction, 'recovery_codes_generated', { user, by, language, now, sendsNotices });
      return made;
    },
    { isRepeatable: true },
  );
  if (codes !== undefined) log.info('recovery_codes.generated', 'recovery codes regenerated', { user });
  return codes;
}

const findApp = statement<{ id: string }, { readonly userId: string }>(
  'find-totp-of-user',
  'select t.id from user_totp_secrets t where t.user_id = :userId::uuid',
);
