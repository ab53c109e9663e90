import type { RateLimitingConfig } from '#config/sections/rate-limiting.ts';
import { chargeCtes } from '#domain/limits/charge-sql.ts';
import { awaitLimitCheck, secondsPerToken } from '#domain/limits/rate-limits.ts';
import { emailAuthenticationIsOpen, MAX_CODE_TRIES } from '#domain/records/liveness/email-authentications.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { parseSixDigits } from '#protocol/one-time-codes/typed-codes.ts';
import { begunAfter, type EmailAuthenticationId } from './email-authentication.ts';
import { isEmailCode } from './email-code.ts';

/**
 * Counts an attempt before the code is compared, so that parallel guesses gain nothing over sequential ones. `tries` is
 * null if the limit is reached or the authentication is not open.
 */
const countTry = statement<
  {
    readonly blocked_seconds: number | null;
    readonly is_charged: boolean;
    readonly tries: number | null;
    readonly mails: number | null;
    readonly has_code: boolean | null;
    readonly is_late: boolean | null;
  },
  {
    readonly id: string;
    readonly key: string;
    readonly burst: number;
    readonly seconds: number;
    readonly begunAfter: Date;
    readonly now: Date;
  }
>(
  'count-email-code-try',
  `with wanted as (select :key::text as key, :burst::float8 as burst, :seconds::float8 as seconds),
  ${chargeCtes(':now::timestamptz')},
  tried as (
    update user_email_authentications a set tries = a.tries + 1
    where a.id = :id::uuid and ${emailAuthenticationIsOpen('a', ':begunAfter::timestamptz')}
      and exists (select from charged)
    returning a.tries, a.mails, a.code_of_mail = a.mails as has_code,
      a.code_expires_at <= :now::timestamptz as is_late
  )
  select blocked.seconds as blocked_seconds, exists (select from charged) as is_charged,
    tried.tries, tried.mails, tried.has_code, tried.is_late
  from blocked left join tried on true`,
);

/** Marks the address as proven, unless another mail was requested since the code was compared. */
const complete = statement<{ id: string }, { readonly id: string; readonly mail: number; readonly now: Date }>(
  'complete-email-authentication',
  `update user_email_authentications set completed_at = :now::timestamptz
  where id = :id::uuid and completed_at is null and mails = :mail::integer
  returning id`,
);

export interface CheckCodeDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly limits: Pick<RateLimitingConfig, 'emailAuthentication'>;
}

interface Limited {
  readonly ok: false;
  readonly reason: 'rate-limited';
  readonly retryAfterSeconds: number;
}

/** Not open or no longer open: proven, exhausted or expired. */
interface NotOpen {
  readonly ok: false;
  readonly reason: 'not-open';
}

/** `malformed`: not six digits. `isLast`: that was the last attempt. */
interface WrongCode<Reason> {
  readonly ok: false;
  readonly reason: Reason;
  readonly isLast: boolean;
}

export type CheckCodeOutcome = { readonly ok: true } | WrongCode<'malformed' | 'wrong'> | NotOpen | Limited;

export type TryCodeOutcome =
  /** `mail`: number of the mail that contained the code. */
  | { readonly ok: true; readonly mail: number; readonly isLast: boolean }
  /** `late`: the code is right but has expired. */
  | WrongCode<'malformed'>
  | WrongCode<'wrong'>
  | WrongCode<'late'>
  | NotOpen
  | Limited;

/** Proves an address with the code that was mailed to it. Takes at most two statements. */
export async function checkEmailCode(
  deps: CheckCodeDeps,
  id: EmailAuthenticationId,
  typed: string,
): Promise<CheckCodeOutcome> {
  const tried = await tryEmailCode(deps, id, typed);
  if (!tried.ok) return tried.reason === 'late' ? { ...tried, reason: 'wrong' } : tried;
  const { mail, isLast } = tried;
  const isVerified = await markVerified(deps.database, { id, mail, now: deps.clock.now() });
  return isVerified ? { ok: true } : { ok: false, reason: 'wrong', isLast };
}

/**
 * Counts the attempt and checks the code, without marking the address as proven. The caller does that with
 * `markProven`, together with the change that needs the proof.
 */
export async function tryEmailCode(
  deps: CheckCodeDeps,
  id: EmailAuthenticationId,
  typed: string,
): Promise<TryCodeOutcome> {
  const { clock, database, keyRing, limits } = deps;
  const limiter = limits.emailAuthentication.attemptPerSession;
  const now = clock.now();
  const row = await awaitLimitCheck(
    database.first(countTry, {
      id: toUuid(id),
      key: `email-code:tries:${id}`,
      burst: limiter.burst,
      seconds: secondsPerToken(limiter),
      begunAfter: begunAfter(now),
      now: new Date(now),
    }),
  );
  if (row === undefined || !row.is_charged) {
    const seconds = row?.blocked_seconds ?? secondsPerToken(limiter);
    return { ok: false, reason: 'rate-limited', retryAfterSeconds: Math.ceil(seconds) };
  }
  if (row.tries === null || row.mails === null) return { ok: false, reason: 'not-open' };
  const isLast = row.tries >= MAX_CODE_TRIES;
  const code = parseSixDigits(typed);
  if (code === undefined) return { ok: false, reason: 'malformed', isLast };
  const mail = row.mails;
  // Always compared, even without a code, so that timing reveals nothing.
  const isRight = isEmailCode(keyRing, { authentication: id, mail }, code) && row.has_code === true;
  if (!isRight) return { ok: false, reason: 'wrong', isLast };
  return row.is_late === true ? { ok: false, reason: 'late', isLast } : { ok: true, mail, isLast };
}

/** @returns false if the address was already proven, or another mail was requested since the code was compared */
export async function markVerified(
  queryable: Queryable,
  { id, mail, now }: { readonly id: EmailAuthenticationId; readonly mail: number; readonly now: number },
): Promise<boolean> {
  return (await queryable.first(complete, { id: toUuid(id), mail, now: new Date(now) })) !== undefined;
}
