import { consumeOnce } from '#domain/limits/replayed-values.ts';
import { openTotpSecret } from '#domain/records/totp-secret.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { matchingTotpStep, totpStep } from '#protocol/one-time-codes/totp.ts';
import { parseSixDigits } from '#protocol/one-time-codes/typed-codes.ts';
import type { UserId } from '#vocabulary/ids.ts';

export interface TypedCode {
  readonly user: UserId;
  /** As entered by the user. */
  readonly code: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type TotpCodeOutcome =
  | { readonly ok: true }
  /** `malformed`: not six digits. `used`: correct, but this code or a later one was already accepted. */
  | { readonly ok: false; readonly reason: 'malformed' | 'not-enrolled' | 'used' | 'wrong' };

/** How long each code is remembered individually. */
const REMEMBERED_MS = 86_400_000;
/** Accepted codes are never further ahead: they belong to the next step at most, on a clock that is a minute off. */
const MAX_STEPS_AHEAD = 3;

/**
 * Accepts a code from a user's authenticator app, once: of several concurrent requests, one succeeds. The code of the
 * previous step is accepted too, unless it or a later one was already used (browser-flows 4.2). Pass the transaction of
 * the operation that the code is for. Callers enforce the rate limits.
 *
 * If the clock was ahead when a later code was accepted, and was set back since, each code still works once. The user
 * would otherwise have to wait until that time. Codes used before the clock was set must stay invalid.
 */
export async function consumeTotpCode(
  { database, keyRing }: { readonly database: Queryable; readonly keyRing: KeyRing },
  { user, code: typed, now }: TypedCode,
): Promise<TotpCodeOutcome> {
  const code = parseSixDigits(typed);
  if (code === undefined) return { ok: false, reason: 'malformed' };
  const row = await database.first(findSecret, { userId: toUuid(user) });
  if (row === undefined) return { ok: false, reason: 'not-enrolled' };
  const secret = openTotpSecret(keyRing, 'user_totp_secrets', fromUuid(row.id), row.secret_sealed);
  const step = matchingTotpStep(secret, code, now);
  if (step === undefined) return { ok: false, reason: 'wrong' };
  const oneTime = { kind: 'totp-code', owner: row.id, value: String(step), expiresAt: now + REMEMBERED_MS } as const;
  if (!(await consumeOnce(database, oneTime, now))) return { ok: false, reason: 'used' };
  const ofLater = totpStep(now) + MAX_STEPS_AHEAD;
  const isFirst = (await database.execute(useStep, { id: row.id, step, ofLater, now: new Date(now) })) > 0;
  return isFirst ? { ok: true } : { ok: false, reason: 'used' };
}

const findSecret = statement<{ id: string; secret_sealed: Buffer }, { readonly userId: string }>(
  'find-totp-secret',
  'select t.id, t.secret_sealed from user_totp_secrets t where t.user_id = :userId::uuid',
);

/** Selects by the ID of the secret, because a secret set up since then has not used the code. */
const useStep = statement<
  never,
  { readonly id: string; readonly step: number; readonly ofLater: number; readonly now: Date }
>(
  'use-totp-step',
  `update user_totp_secrets set last_used_step = :step::integer, last_used_at = :now::timestamptz
    where id = :id::uuid and (last_used_step < :step::integer or last_used_step > :ofLater::integer)`,
);
