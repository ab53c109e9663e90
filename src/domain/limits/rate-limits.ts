/**
 * Rate limits, table `rate_limits`: one row per token bucket that is not full. A bucket's key consists of the name of
 * the limit and what it counts.
 *
 * Statements of other modules charge buckets along with their own work, using the fragments of `charge-sql.ts`.
 */

import { createHmac } from 'node:crypto';
import type { Limiter } from '#config/sections/rate-limiting.ts';
import { deleteOldest, type SweepRow } from '#domain/clean-up/sweep.ts';
import type { Clock } from '#platform/base/clock.ts';
import { addressKey } from '#platform/base/ip-address.ts';
import type { Log } from '#platform/base/log.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { evenWhenOver } from '#platform/base/tasks.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { StatementError, unavailable } from '#platform/postgres/failures.ts';
import { statement } from '#platform/postgres/statement.ts';
import { LIMITER_LABELS } from '#vocabulary/metric-labels.ts';
import { bucketIsOfLater, chargeCtes, refundCtes } from './charge-sql.ts';
import { type QueueState, requireMailsInTime } from './late-mails.ts';

/** One token bucket of a limiter. */
export interface Bucket {
  readonly key: string;
  readonly limiter: Limiter;
  /** Set if the tokens are for emails, which must arrive in time. */
  readonly mails?: QueueState;
}

/** Tokens that were taken and can be refunded. */
export interface Charges {
  readonly keys: readonly string[];
  /** Seconds per token of each key. */
  readonly seconds: readonly number[];
}

export type Taken =
  | { readonly ok: true; readonly charges: Charges }
  | { readonly ok: false; readonly retryAfterSeconds: number };

const take = statement<
  { blocked_seconds: number | null; charged_keys: string[] | null; charged_seconds: number[] | null },
  {
    readonly now: Date;
    readonly keys: readonly string[];
    readonly bursts: readonly number[];
    readonly seconds: readonly number[];
  }
>(
  'take-tokens',
  `with wanted as (
    select bucket.key, bucket.burst, bucket.seconds
    from unnest(:keys::text[], :bursts::float8[], :seconds::float8[]) as bucket (key, burst, seconds)
  ),
  ${chargeCtes(':now::timestamptz')}
  select (select blocked.seconds from blocked) as blocked_seconds,
    (select array_agg(charged.key order by charged.key) from charged) as charged_keys,
    (select array_agg(charged.seconds order by charged.key) from charged) as charged_seconds`,
);

const refund = statement<never, { readonly keys: readonly string[]; readonly seconds: readonly number[] }>(
  'refund-tokens',
  `with ${refundCtes(':keys::text[]', ':seconds::float8[]')} select`,
);

const OF_LATER = bucketIsOfLater(
  'bucket',
  ':now::timestamptz',
  ':burst::float8',
  'make_interval(secs => :seconds::float8)',
);

// Counts a failure in any case, but never drains the bucket below empty.
const recordFailure = statement<
  { shut_seconds: number },
  { readonly now: Date; readonly key: string; readonly burst: number; readonly seconds: number }
>(
  'count-failure',
  `insert into rate_limits as bucket (key, tat)
  values (:key::text, :now::timestamptz + make_interval(secs => :seconds::float8))
  on conflict (key) do update set tat = least(
    case when ${OF_LATER} then :now::timestamptz else greatest(bucket.tat, :now::timestamptz) end
      + make_interval(secs => :seconds::float8),
    :now::timestamptz + make_interval(secs => :seconds::float8) * :burst::float8
  )
  returning greatest(0,
    extract(epoch from bucket.tat - :now::timestamptz)::float8 - :seconds::float8 * (:burst::float8 - 1)
  )::float8 as shut_seconds`,
);

const readEmpty = statement<
  { is_empty: boolean },
  { readonly now: Date; readonly key: string; readonly burst: number; readonly seconds: number }
>(
  'is-bucket-empty',
  `select exists (
    select from rate_limits bucket
     where bucket.key = :key::text
       and bucket.tat > :now::timestamptz + make_interval(secs => :seconds::float8) * (:burst::float8 - 1)
       and not ${OF_LATER}
  ) as is_empty`,
);

/**
 * Waits for a statement that checks a limit. If the database fails, it is unknown whether the limit is reached, so the
 * request is rejected and may be retried. Throws `temporarily_unavailable`.
 */
export async function awaitLimitCheck<T>(check: Promise<T>): Promise<T> {
  try {
    return await check;
  } catch (error) {
    throw error instanceof StatementError
      ? unavailable('Rate limits cannot be checked at the moment. Retry later.', error)
      : error;
  }
}

/**
 * Takes one token from every bucket, or none if one of them is empty. Runs one statement. If another caller took a last
 * token concurrently, a second one refunds the tokens taken so far.
 * @throws LatchkeyError `mails_delayed`
 */
export async function takeTokens(database: Queryable, clock: Clock, buckets: readonly Bucket[]): Promise<Taken> {
  for (const { mails } of buckets) {
    if (mails !== undefined) await requireMailsInTime(database, clock, mails);
  }
  const row = await awaitLimitCheck(
    database.first(take, {
      now: new Date(clock.now()),
      keys: buckets.map((bucket) => bucket.key),
      bursts: buckets.map((bucket) => bucket.limiter.burst),
      seconds: buckets.map((bucket) => secondsPerToken(bucket.limiter)),
    }),
  );
  const charges = { keys: row?.charged_keys ?? [], seconds: row?.charged_seconds ?? [] };
  if (charges.keys.length === buckets.length) return { ok: true, charges };
  if (metrics !== undefined) countRefusal(buckets);
  await refundTokens(database, charges);
  const fallback = Math.max(...buckets.map((bucket) => secondsPerToken(bucket.limiter)));
  return { ok: false, retryAfterSeconds: Math.ceil(row?.blocked_seconds ?? fallback) };
}

/** Buckets charged together serve one purpose, named by the first. */
function countRefusal([bucket]: readonly Bucket[]): void {
  const name = bucket?.key.split(':', 1)[0];
  const limiter = LIMITER_LABELS.find((label) => label === name) ?? 'other';
  metrics?.count('latchkey_rate_limited_total', { limiter });
}

/** Returns a bucket for emails, which gives out no tokens while emails are late (operations 9.4). */
export function mailBucket(bucket: Bucket, mails: QueueState): Bucket {
  return { ...bucket, mails };
}

/** Refunds the tokens of `takeTokens`, for limits that only count failures. Runs no statement if there are none. */
export async function refundTokens(database: Queryable, charges: Charges): Promise<void> {
  const { keys, seconds } = charges;
  if (keys.length > 0) await awaitLimitCheck(evenWhenOver(() => database.execute(refund, { keys, seconds })));
}

/**
 * Counts a failure, for limits that only count failures. Returns the seconds for which the key is now blocked (0 if it
 * is not). The caller remembers this and rejects requests without further work, even those with the correct secret.
 */
export async function countFailure(database: Queryable, clock: Clock, bucket: Bucket): Promise<number> {
  const params = {
    now: new Date(clock.now()),
    key: bucket.key,
    burst: bucket.limiter.burst,
    seconds: secondsPerToken(bucket.limiter),
  };
  const row = await awaitLimitCheck(evenWhenOver(() => database.first(recordFailure, params)));
  return row?.shut_seconds ?? 0;
}

/** Returns whether failures have used up all tokens. Takes none. */
export async function isBucketEmpty(database: Queryable, clock: Clock, bucket: Bucket): Promise<boolean> {
  const row = await awaitLimitCheck(
    database.first(readEmpty, {
      now: new Date(clock.now()),
      key: bucket.key,
      burst: bucket.limiter.burst,
      seconds: secondsPerToken(bucket.limiter),
    }),
  );
  return row?.is_empty === true;
}

/** What an IP address is charged for. */
interface AddressCharge {
  /** Name of the limit. */
  readonly name:
    | 'captcha'
    | 'captcha-login'
    | 'client_registration'
    | 'login'
    | 'passkey'
    | 'registration'
    | 'registration-check'
    | 'registration-token'
    | 'email-code'
    | 'recovery-ticket'
    | 'admin-token'
    | 'client-sector'
    | 'sso-redirect'
    | 'graphql'
    | 'upstream';
  readonly limiter: Limiter;
  readonly address: string | undefined;
}

/** Takes a token from an address's bucket for a limit, in one statement. */
export async function chargeAddress(
  deps: { readonly database: Queryable; readonly clock: Clock; readonly log: Log },
  charge: AddressCharge,
): Promise<Taken> {
  return await takeTokens(deps.database, deps.clock, [addressBucket(deps.log, charge)]);
}

/** Returns an address's bucket for a limit, to charge it together with others. */
export function addressBucket(log: Log, { name, limiter, address }: AddressCharge): Bucket {
  return { key: `${name}:ip:${addressBucketKey(log, address)}`, limiter };
}

/** Returns the part of a bucket's key that identifies an address. Requests without a known address share a bucket. */
export function addressBucketKey(log: Log, address: string | undefined): string {
  if (address === undefined) {
    log.warn('rate_limit.shared', 'rate limit bucket shared by all callers without a known address');
  }
  return addressKey(address);
}

/**
 * Returns the part of a bucket's key for a name that no account has. It is an HMAC, so that the table does not reveal
 * the input, which may be a password entered by mistake.
 * @param name in lower case
 */
export function unknownNameKey(keyRing: KeyRing, name: string): string {
  return createHmac('sha256', keyRing.derive('rate-limit-names')).update(name).digest('base64url');
}

/** Returns the seconds until one token is available. */
export function secondsPerToken(limiter: Limiter): number {
  return 1 / limiter.perSecond;
}

export const rateLimitSweeps: readonly SweepRow[] = [
  {
    name: 'cleanup-rate-limits',
    minute: 56,
    // A bucket whose time has passed is full, like a bucket without a row.
    batch: deleteOldest('sweep-rate-limits', {
      table: 'rate_limits',
      key: 'key',
      orderedBy: 'tat',
      isDue: 't.tat < :now::timestamptz',
    }),
    parameters: (now) => ({ now: new Date(now) }),
  },
];
