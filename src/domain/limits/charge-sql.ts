/**
 * Token buckets in SQL, for statements that charge them together with other work. A bucket is stored as its theoretical
 * arrival time (GCRA). A token is available while that time is at most `burst - 1` tokens ahead.
 *
 * The fragments are common table expressions. They are safe under concurrency: each upsert evaluates the row as the
 * previous one left it.
 *
 * Buckets are looked up one by one, with a limit that keeps the planner from using a join. When the clean-up has
 * emptied the table, a join plan would scan the whole table on each request until the next analyze.
 */

/**
 * Returns an SQL condition: the bucket has given out more tokens than it holds. Its time is from before the clock was
 * set back, and it counts as full. The extra minute allows for different clocks of instances.
 * @param burst SQL expression
 * @param interval SQL expression of the time between two tokens
 */
export function bucketIsOfLater(bucket: string, now: string, burst: string, interval: string): string {
  return `${bucket}.tat > ${now} + ${interval} * ${burst} + interval '1 minute'`;
}

/**
 * Returns two CTEs. `blocked(seconds)` is the time until a token is available, or null if all buckets have one.
 * `charged(key, seconds)` has the charged buckets: all of `wanted` or none. If another caller takes a last token
 * concurrently, it has some of them, which the caller must refund (`refundCtes`).
 *
 * Expects a preceding CTE `wanted(key text, burst float8, seconds float8)` with distinct keys and the seconds per
 * token.
 * @param now the parameter that holds the process clock, for example `:now::timestamptz`
 */
export function chargeCtes(now: string): string {
  const burst = '(select wanted.burst from wanted where wanted.key = excluded.key)';
  const isOfLater = bucketIsOfLater('bucket', now, burst, `(excluded.tat - ${now})`);
  return `blocked as materialized (
    select max(extract(epoch from bucket.tat - ${now})::float8 - wanted.seconds * (wanted.burst - 1)) as seconds
    from wanted cross join lateral (select one.tat from rate_limits one where one.key = wanted.key limit 1) bucket
    where bucket.tat > ${now} + make_interval(secs => wanted.seconds) * (wanted.burst - 1)
      and not ${bucketIsOfLater('bucket', now, 'wanted.burst', 'make_interval(secs => wanted.seconds)')}
  ),
  taken as (
    insert into rate_limits as bucket (key, tat)
    -- in the order of keys, so that two callers never wait for each other
    select wanted.key, ${now} + make_interval(secs => wanted.seconds)
    from wanted where (select blocked.seconds from blocked) is null order by wanted.key
    on conflict (key) do update set tat = case when ${isOfLater} then ${now} else greatest(bucket.tat, ${now}) end
        + (excluded.tat - ${now})
      where ${isOfLater} or bucket.tat <= ${now} + (excluded.tat - ${now})
        * (select wanted.burst - 1 from wanted where wanted.key = excluded.key)
    returning bucket.key
  ),
  charged as (
    select wanted.key, wanted.seconds from taken join wanted on wanted.key = taken.key
  )`;
}

/**
 * Returns CTEs that refund tokens.
 * @param keys parameter with the keys, for example `:keys::text[]`
 * @param seconds parameter with the seconds per token, for example `:seconds::float8[]`
 * @param condition SQL condition for the refund
 */
export function refundCtes(keys: string, seconds: string, condition = 'true'): string {
  return `refundable as (
    select bucket.key, make_interval(secs => refund.seconds) as amount
    from (select key, seconds from unnest(${keys}, ${seconds}) as given (key, seconds) order by key) refund
    cross join lateral (select one.key from rate_limits one where one.key = refund.key limit 1 for update) bucket
    where ${condition}
  ),
  refunded as (
    update rate_limits bucket set tat = bucket.tat - refundable.amount
    from refundable
    where bucket.key = any (array(select one.key from refundable one)) and bucket.key = refundable.key
  )`;
}
