import { toUuid, type Ulid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import { HOUR_MS, NO_CLIENT } from './counters.ts';
import type { Metric, Step } from './metrics.ts';

/** One hour or day. */
export interface Point {
  /** Its start, in milliseconds since the epoch. */
  readonly at: number;
  /** Undefined for a share of nothing. */
  readonly value: number | undefined;
}

export interface WantedSeries {
  readonly metric: Metric;
  readonly step: Step;
  /** Undefined: all clients together. */
  readonly client: Ulid<'client'> | undefined;
  /** Milliseconds since the epoch, rounded to whole steps by `spanOf`. */
  readonly since: number;
  /** Exclusive. */
  readonly until: number;
}

export const STEP_MS: Readonly<Record<Step, number>> = { hour: HOUR_MS, day: 24 * HOUR_MS };

/** Extends a period to whole hours or days (UTC). */
export function wholeSteps(step: Step, since: number, until: number): { since: number; until: number } {
  const length = STEP_MS[step];
  return { since: Math.floor(since / length) * length, until: Math.ceil(until / length) * length };
}

/** Reads a series. Every step of the period has a point. */
export async function readSeries(queryable: Queryable, wanted: WantedSeries): Promise<readonly Point[]> {
  const { metric, step, client, since, until } = wanted;
  const isShare = metric === 'second_factor_share';
  const rows = await queryable.rows(findBuckets, {
    metrics: isShare ? [PART, WHOLE] : [metric],
    step,
    client: client === undefined ? NO_CLIENT : toUuid(client),
    since: new Date(since),
    until: new Date(until),
  });
  const values = new Map(rows.map((row) => [`${row.metric} ${row.started_at}`, row.value]));
  const length = STEP_MS[step];
  return Array.from({ length: Math.max(0, (until - since) / length) }, (_, index) => {
    const at = since + index * length;
    const countOf = (name: string): number => values.get(`${name} ${at}`) ?? 0;
    if (!isShare) return { at, value: countOf(metric) };
    return { at, value: countOf(WHOLE) === 0 ? undefined : countOf(PART) / countOf(WHOLE) };
  });
}

const PART = 'sign_ins_with_second_factor';
const WHOLE = 'sign_ins';

const findBuckets = statement<
  { metric: string; started_at: number; value: number },
  {
    readonly metrics: readonly string[];
    readonly step: Step;
    readonly client: string;
    readonly since: Date;
    readonly until: Date;
  }
>(
  'statistics-series',
  `select b.metric, ${ms('b.started_at')} as started_at, b.value::float8 as value
     from statistics_buckets b
    where b.metric = any (:metrics::text[]) and b.step = :step::text and b.client_id = :client::uuid
      and b.started_at >= :since::timestamptz and b.started_at < :until::timestamptz`,
);
