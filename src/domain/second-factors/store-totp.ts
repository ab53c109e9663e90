import { sealTotpSecret } from '#domain/records/totp-secret.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { lockAccount } from './lock-account.ts';
import { type FactorChange, ownActor, recordFactorChange } from './record-factor-change.ts';
import { type RecoveryCodeKeys, replaceRecoveryCodes } from './recovery-code-set.ts';

export interface StoreTotpDeps {
  readonly keyRing: KeyRing;
  readonly secretKeys: RecoveryCodeKeys;
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
}

/** A secret for which the user has entered a valid code. */
export interface VerifiedTotp extends FactorChange {
  readonly secret: Buffer;
  /** Time step of that code, which cannot be reused. */
  readonly step: number;
}

export type StoreTotpOutcome =
  /** The recovery codes in display format, shown once. */
  | { readonly ok: true; readonly recoveryCodes: readonly string[] }
  /** `unusable`: the account is locked or deactivated. */
  | { readonly ok: false; readonly reason: 'already-enrolled' | 'unusable' };

/**
 * Stores a secret and a new set of recovery codes in the caller's transaction. Unfinished enrollments of the account
 * end. The account is locked first: of two concurrent calls one succeeds, and none does after a deactivation.
 */
export async function storeTotp(
  { keyRing, secretKeys, sendsNotices }: StoreTotpDeps,
  transaction: Transaction,
  verified: VerifiedTotp,
): Promise<StoreTotpOutcome> {
  const { user, secret, step, language, now } = verified;
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
  const by = ownActor(verified);
  await recordFactorChange(transaction, 'totp_added', { user, by, language, now, sendsNotices });
  return { ok: true, recoveryCodes };
}

/** Returns no row if the account already has a secret. */
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
