import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { PasskeyProof } from './prove-passkey.ts';

export type UsedPasskeyParams = {
  readonly passkeyId: string;
  readonly signCount: number;
  readonly isBackedUp: boolean;
  readonly isBackupEligible: boolean;
  readonly now: Date;
};

/**
 * An update that records the use of a passkey, for the statement that the passkey is used for. Expects a CTE `account`
 * with the owner's `user_id`. Changes no row if the passkey was removed, or if a concurrent use had the same counter.
 */
export const USED_PASSKEY = `update user_passkeys k
    set sign_count = :signCount::bigint, backed_up = :isBackedUp::boolean,
        backup_eligible = coalesce(k.backup_eligible, :isBackupEligible::boolean), last_used_at = :now::timestamptz
  from account
  where k.id = :passkeyId::uuid and k.user_id = account.user_id
    and (k.sign_count = 0 or k.sign_count < :signCount::bigint)`;

export function usedPasskeyParams(proof: PasskeyProof, now: number): UsedPasskeyParams {
  return {
    passkeyId: toUuid(proof.passkeyId),
    signCount: proof.signCount,
    isBackedUp: proof.isBackedUp,
    isBackupEligible: proof.isSynced,
    now: new Date(now),
  };
}

// Locks the account first, in the same order as the removal of passkeys.
const use = statement<{ id: string }, UsedPasskeyParams & { readonly userId: string }>(
  'use-passkey',
  `with account as (
    select u.id as user_id from users u where u.id = :userId::uuid for share of u
  )
  ${USED_PASSKEY}
  returning k.id`,
);

/**
 * Records the use of a passkey in the transaction that it is used for. Roll that back if this returns false.
 * @returns false if the passkey was removed, or if a concurrent use had the same counter
 */
export async function usePasskey(transaction: Queryable, proof: PasskeyProof, now: number): Promise<boolean> {
  const params = { ...usedPasskeyParams(proof, now), userId: toUuid(proof.userId) };
  return (await transaction.first(use, params)) !== undefined;
}
