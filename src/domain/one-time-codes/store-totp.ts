import { newId, toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { lockAccount } from './lock-account.ts';
import { type FactorChange, ownActor, recordFactorChange } from './record-factor-change.ts';
import { type RecoveryCodeKeys, replaceRecoveryCodes } from './recovery-code-set.ts';
import { sealTotpSecret } from './totp-secret.ts';

export interface StoreTotpDeps {
  readonly keyRing: KeyRing;
  readonly secretKeys: RecoveryCodeKeys;
  /** People are told by mail. */
  readonly sendsNotices: boolean;
}

/** A secret of which a code was shown to be right. */
export interface ProvenTotp extends FactorChange {
  readonly secret: Buffer;
  /** Time step of that code, which is not accepted again. */
  readonly step: number;
}

export type StoreTotpOutcome =
  /** The codes as they are shown, once. */
  | { readonly ok: true; readonly recoveryCodes: readonly string[] }
  /** `unusable`: the account is locked or deactivated. */
  | { readonly ok: false; readonly reason: 'already-enrolled' | 'unusable' };

/**
 * Gives an account a secret and a fresh set of recovery codes, in the caller's transaction. Whatever else is being set
 * up for the account ends. The lock of the account comes first: of two at once one is stored, none after a deactivation.
 */
export async function storeTotp(
  { keyRing, secretKeys, sendsNotices }: StoreTotpDeps,
  transaction: Transaction,
  proven: ProvenTotp,
): Promise<StoreTotpOutcome> {
  const { user, secret, step, language, now } = proven;
  const userId = toUuid(user);
  if (!(await lockAccount(transaction, user))) return { ok: false, reason: 'unusable' };
  const id = newId<'totp-secret'>(now);
  const stored = await transaction.first(insertSecret, {
    id: toUuid(id),
    userId,
    secretSealed: sealTotpSecret(keyRing, 'user_totp_secrets', id, secret),
    step,
    now: new Date(now),
  });
  if (stored === undefined) return { ok: false, reason: 'already-enrolled' };
  const recoveryCodes = await replaceRecoveryCodes(transaction, secretKeys, user, now);
  const by = ownActor(proven);
  await recordFactorChange(transaction, 'totp_added', { user, by, language, now, sendsNotices });
  return { ok: true, recoveryCodes };
}

/** No row when the account has one. */
const insertSecret = statement<
  { id: string },
  {
    readonly id: string;
    readonly userId: string;
    readonly secretSealed: Buffer;
    readonly step: number;
    readonly now: Date;
  }
>(
  'insert-totp-secret',
  `with stored as (
    insert into user_totp_secrets (id, user_id, secret_sealed, last_used_step, created_at)
    values (:id::uuid, :userId::uuid, :secretSealed::bytea, :step::integer, :now::timestamptz)
    on conflict (user_id) do nothing
    returning id, user_id
  ), ended as (
    delete from user_totp_enrolments e using stored where e.user_id = stored.user_id
  )
  select id from stored`,
);
