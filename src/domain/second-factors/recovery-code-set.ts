import { createHmac } from 'node:crypto';
import type { SecretKeys } from '#domain/keys/secret-keys.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { formatRecoveryCode, newRecoveryCodes } from '#protocol/one-time-codes/recovery-codes.ts';
import type { UserId } from '#vocabulary/ids.ts';

export type RecoveryCodeKeys = Pick<SecretKeys, 'recoveryCodes'>;

/** Returns the lookup key of a code. It includes the user, so that equal codes of two accounts have different keys. */
export function recoveryCodeHmac({ recoveryCodes }: RecoveryCodeKeys, user: UserId, code: string): Buffer {
  return createHmac('sha256', recoveryCodes).update(`${user}|${code}`).digest();
}

const replaceCodes = statement<
  never,
  {
    readonly userId: string;
    readonly ids: readonly string[];
    readonly codeHmacs: readonly Buffer[];
    readonly now: Date;
  }
>(
  'replace-recovery-codes',
  `with former as (
    delete from user_recovery_codes c where c.user_id = :userId::uuid
  )
  insert into user_recovery_codes (id, user_id, code_hmac, created_at)
  select made.id, :userId::uuid, made.code_hmac, :now::timestamptz
    from unnest(:ids::uuid[], :codeHmacs::bytea[]) as made (id, code_hmac)`,
);

/**
 * Replaces a user's recovery codes; the previous ones stop working. Expects the caller's transaction, which must have
 * locked the account, because two concurrent sets would otherwise both be kept.
 * @returns the codes in display format, shown once
 */
export async function replaceRecoveryCodes(
  transaction: Queryable,
  secretKeys: RecoveryCodeKeys,
  user: UserId,
  now: number,
): Promise<readonly string[]> {
  const codes = newRecoveryCodes();
  await transaction.execute(replaceCodes, {
    userId: toUuid(user),
    ids: codes.map(() => toUuid(newId(now))),
    codeHmacs: codes.map((code) => recoveryCodeHmac(secretKeys, user, code)),
    now: new Date(now),
  });
  return codes.map(formatRecoveryCode);
}
