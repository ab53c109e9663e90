import { toUuid } from '#platform/base/ids.ts';
import type { PasskeyProof } from './prove-passkey.ts';

export type UsedPasskeyParams = {
  readonly passkeyId: string;
  readonly signCount: number;
  readonly isBackedUp: boolean;
  readonly now: Date;
};

/**
 * An update that counts the use of a passkey, for the statement that does what it was used for; `from` conditions can be
 * added. It changes no row when the passkey was removed, or another use with the same counter was first.
 */
export const USED_PASSKEY = `update user_passkeys k
    set sign_count = :signCount::bigint, backed_up = :isBackedUp::boolean, last_used_at = :now::timestamptz
  from account
  where k.id = :passkeyId::uuid and k.user_id = account.user_id
    and (k.sign_count = 0 or k.sign_count < :signCount::bigint)`;

export function usedPasskeyParams(proof: PasskeyProof, now: number): UsedPasskeyParams {
  return {
    passkeyId: toUuid(proof.passkeyId),
    signCount: proof.signCount,
    isBackedUp: proof.isBackedUp,
    now: new Date(now),
  };
}
