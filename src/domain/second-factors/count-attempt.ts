import type { Limiter } from '#config/sections/rate-limiting.ts';
import { chargeCtes } from '#domain/limits/charge-sql.ts';
import {
  addressBucket,
  awaitLimitCheck,
  type Charges,
  refundTokens,
  secondsPerToken,
} from '#domain/limits/rate-limits.ts';
import { pendingLoginIsOpen } from '#domain/records/liveness/pending-logins.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { PendingLogin } from './pending-login.ts';

/** Wrong codes allowed per login. */
const MAX_FAILED_ATTEMPTS = 5;

export interface AttemptDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: {
    readonly login: { readonly perIp: Limiter };
    readonly secondFactor: { readonly perAccount: Limiter };
  };
}

export type CountedAttempt =
  /** `charges`: to refund if the code is correct. `isLast`: a wrong code ends the login. */
  | { readonly ok: true; readonly charges: Charges; readonly isLast: boolean }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number }
  | { readonly ok: false; readonly reason: 'not-open' };

const count = statement<
  {
    readonly blocked_seconds: number | null;
    readonly charged_keys: readonly string[] | null;
    readonly charged_seconds: readonly number[] | null;
    readonly failed_attempts: number | null;
  },
  {
    readonly id: string;
    readonly keys: readonly string[];
    readonly bursts: readonly number[];
    readonly seconds: readonly number[];
    readonly now: Date;
  }
>(
  'count-second-factor-attempt',
  `with wanted as (
    select bucket.key, bucket.burst, bucket.seconds
    from unnest(:keys::text[], :bursts::float8[], :seconds::float8[]) as bucket (key, burst, seconds)
  ),
  ${chargeCtes(':now::timestamptz')},
  tried as (
    update user_pending_logins l set failed_attempts = l.failed_attempts + 1
    where l.id = :id::uuid and ${pendingLoginIsOpen('l', ':now::timestamptz')}
      and l.failed_attempts < ${MAX_FAILED_ATTEMPTS} and (select count(*) from charged) = cardinality(:keys::text[])
    returning l.failed_attempts
  )
  select (select blocked.seconds from blocked) as blocked_seconds,
    (select array_agg(charged.key order by charged.key) from charged) as charged_keys,
    (select array_agg(charged.seconds order by charged.key) from charged) as charged_seconds,
    (select tried.failed_attempts from tried) as failed_attempts`,
);

/**
 * Counts a code before it is checked, so that parallel guesses have no advantage. A browser that has used the account
 * before has its own bucket. An attacker who knows the password and guesses codes elsewhere cannot lock out the owner
 * (security R-43).
 * @param nonce of the account in this browser; undefined if the account was not used here
 */
export async function countAttempt(
  { database, clock, log, limits }: AttemptDeps,
  { id, user }: PendingLogin,
  { address, nonce }: { readonly address: string | undefined; readonly nonce: string | undefined },
): Promise<CountedAttempt> {
  const account = `user:${toUuid(user.id)}`;
  const buckets = [
    addressBucket(log, { name: 'login', limiter: limits.login.perIp, address }),
    {
      key: nonce === undefined ? `second-factor:account:${account}` : `second-factor:known:${account}:${nonce}`,
      limiter: limits.secondFactor.perAccount,
    },
  ];
  const row = await awaitLimitCheck(
    database.first(count, {
      id: toUuid(id),
      keys: buckets.map(({ key }) => key),
      bursts: buckets.map(({ limiter }) => limiter.burst),
      seconds: buckets.map(({ limiter }) => secondsPerToken(limiter)),
      now: new Date(clock.now()),
    }),
  );
  const charges = { keys: row?.charged_keys ?? [], seconds: row?.charged_seconds ?? [] };
  const attempts = row?.failed_attempts ?? undefined;
  if (attempts !== undefined) return { ok: true, charges, isLast: attempts >= MAX_FAILED_ATTEMPTS };
  await refundTokens(database, charges);
  if (charges.keys.length === buckets.length) return { ok: false, reason: 'not-open' };
  metrics?.count('latchkey_rate_limited_total', { limiter: 'second-factor' });
  log.info('auth.refused', 'too many second-factor attempts', { code: 'rate_limited', user: user.id });
  const seconds = row?.blocked_seconds ?? secondsPerToken(limits.secondFactor.perAccount);
  return { ok: false, reason: 'rate-limited', retryAfterSeconds: Math.ceil(seconds) };
}
