import { consumeOnce } from '#domain/replayed-values/replayed-values.ts';
import { fromUuid, toUuid, type UserId } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { matchingTotpStep, totpStep } from '#protocol/one-time-codes/totp.ts';
import { parseSixDigits } from '#protocol/one-time-codes/typed-codes.ts';
import { openTotpSecret } from './totp-secret.ts';

export interface TypedCode {
  readonly user: UserId;
  /** As it was typed. */
  readonly code: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type TotpCodeOutcome =
  | { readonly ok: true }
  /** `malformed`: not six digits. `used`: right, but it or a later one was accepted before. */
  | { readonly ok: false; readonly reason: 'malformed' | 'not-enrolled' | 'used' | 'wrong' };

/** How long each code is remembered by itself. */
const REMEMBERED_MS = 86_400_000;
/** No code that was accepted is further ahead: of the step after the present one, by a clock that differs by a minute. */
const MAX_STEPS_AHEAD = 3;

/**
 * Accepts a code of a person's authenticator app, once: one statement decides, so that of many at once one is accepted.
 * A code of the step before is accepted too, unless it or a later one was before (browser-flows 4.2). Pass the
 * transaction of what the code is for. Limits are the caller's business.
 *
 * When a later one was accepted while the clock was ahead, which has been set back since, each code still works once: the
 * person would have to wait for that time, and what was used before the clock was set must not be good again.
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

/** By the id of the secret: one that was set up since has not seen the code. */
const useStep = statement<
  never,
  { readonly id: string; readonly step: number; readonly ofLater: number; readonly now: Date }
>(
  'use-totp-step',
  `update user_totp_secrets set last_used_step = :step::integer, last_used_at = :now::timestamptz
    where id = :id::uuid and (last_used_step < :step::integer or last_used_step > :ofLater::integer)`,
);
