/**
 * A sweep removes, or empties, the rows of one table that are no longer needed (operations 6.4). The module that owns
 * the table decides which; `clean-up.ts` decides when, and runs one batch after the other.
 */
import type { RetentionConfig } from '#config/sections/retention.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { Statement } from '#platform/postgres/statement.ts';

/** Rows that one batch looks at. */
export const BATCH_ROWS = 1000;

/** Where in the order of its index a batch ended, as texts that the database reads back exactly. */
export interface Position {
  /** Time that the index orders by; empty for one that orders by `id`. */
  readonly at: string;
  readonly id: string;
}

/** Before every row. */
export const START: Position = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' };

/** A position that was kept as JSON. */
export function positionOf(value: unknown): Position | undefined {
  if (typeof value !== 'object' || value === null || !('at' in value) || !('id' in value)) return undefined;
  const { at, id } = value;
  return typeof at === 'string' && typeof id === 'string' ? { at, id } : undefined;
}

export interface SweptBatch {
  /** Rows removed or emptied. */
  readonly rows: number;
  /** Where the next batch begins; undefined: nothing is left. */
  readonly next: Position | undefined;
}

/** What decides which rows are due. */
export interface SweepRules extends RetentionConfig {
  /** There is a homeserver, which is told of devices whose sessions end. */
  readonly syncsDevices: boolean;
}

export interface Sweep {
  /** `cleanup-` and the table; `expire-` for one that ends sessions in place of deleting rows. */
  readonly name: `${'cleanup' | 'expire'}-${string}`;
  /** Its rows are not removed: sessions end. For the log. */
  readonly endsSessions?: true;
  /** Minute of the hour at which it is due; spread, so that sweeps do not meet. */
  readonly minute: number;
  /** For one that is due more often, counted from that minute. */
  readonly everyMinutes?: number;
  /**
   * One batch.
   * @param now milliseconds since the epoch
   */
  sweep(database: Queryable, now: number, rules: SweepRules, from: Position): Promise<SweptBatch>;
}

/** The time that lies `seconds` before `now`. */
export function secondsBefore(now: number, seconds: number): Date {
  return new Date(now - seconds * 1000);
}

/** Activity is gathered in memory and written within a minute, or two when the database is slow. */
const MAX_ACTIVITY_DELAY_SECONDS = 120;

/** Sessions whose last activity that was written is older than this went unused for `seconds`. */
export function unusedSince(now: number, seconds: number): Date {
  return secondsBefore(now, seconds + MAX_ACTIVITY_DELAY_SECONDS);
}

/** A batch of a statement that takes every row it looks at. */
export async function sweepAll<Parameters extends object>(
  database: Queryable,
  statement: Statement<never, Parameters>,
  parameters: Parameters,
): Promise<SweptBatch> {
  const rows = await database.execute(statement, parameters);
  return { rows, next: rows < BATCH_ROWS ? undefined : START };
}

/** What a walk returns, as one row. */
export interface WalkRow {
  readonly examined: number;
  readonly swept: number;
  readonly last_at: string | null;
  readonly last_id: string | null;
}

/** A batch of a statement made of `walkSql`, which passes over rows and so has to remember how far it came. */
export async function sweepSome<Parameters extends object>(
  database: Queryable,
  statement: Statement<WalkRow, Parameters>,
  parameters: Parameters,
): Promise<SweptBatch> {
  const row = await database.first(statement, parameters);
  if (row === undefined || row.last_id === null) return { rows: 0, next: undefined };
  const isLast = row.examined < BATCH_ROWS;
  return { rows: row.swept, next: isLast ? undefined : { at: row.last_at ?? '', id: row.last_id } };
}

/**
 * SQL that looks at a batch of rows in the order of an index and sweeps those of them that are due. Locked rows are
 * left for the next run.
 */
export function walkSql(walk: {
  readonly table: string;
  /** Condition on `t`: which rows to look at, beginning after a position. */
  readonly range: string;
  /** Time column of `t` that the index orders by; undefined: the primary key alone. */
  readonly orderedBy?: string;
  /** Condition on `t`: which of them to sweep. */
  readonly isDue: string;
  /** `delete from x t`, or an update, without its condition. */
  readonly action: string;
}): string {
  const { table, range, orderedBy, isDue, action } = walk;
  const at = orderedBy === undefined ? 'null::timestamptz' : `t.${orderedBy}`;
  const order = orderedBy === undefined ? 't.id' : `t.${orderedBy}, t.id`;
  return `with walked as materialized (
    select t.id, ${at} as at from ${table} t where ${range} order by ${order} limit ${BATCH_ROWS}
  ), due as materialized (
    select t.id from ${table} t where t.id = any (array(select walked.id from walked)) and ${isDue}
    for update of t skip locked
  ), swept as (
    ${action} where t.id = any (array(select due.id from due)) returning t.id
  )
  select (select count(*) from walked)::integer as examined,
    (select count(*) from swept)::integer as swept,
    last.at::text as last_at,
    last.id::text as last_id
  from walked last order by last.at desc, last.id desc limit 1`;
}

/** What a walk that ends sessions returns, as one row. */
export interface EndingWalkRow {
  readonly ended: number;
  /** Where the next batch begins; null: nothing is left. */
  readonly next_at: string | null;
  readonly next_id: string | null;
}

/** A batch of a statement made of `endingWalkSql`. */
export async function sweepEnding<Parameters extends object>(
  database: Queryable,
  statement: Statement<EndingWalkRow, Parameters>,
  parameters: Parameters,
): Promise<SweptBatch> {
  const row = await database.first(statement, parameters);
  const next = row?.next_id == null ? undefined : { at: row.next_at ?? '', id: row.next_id };
  return { rows: row?.ended ?? 0, next };
}

/** Sessions that one batch ends: each brings rows of tokens, events and jobs along. */
const ENDED_ROWS = 100;

/**
 * SQL that looks at a batch of sessions in the order of an index, and ends those of them that are due. What is due is
 * judged once more when the row is locked; rows that somebody else holds, such as a session that is refreshed right
 * now, are left for the next run.
 */
export function endingWalkSql(walk: {
  readonly table: string;
  /** Condition on `t`: which rows to look at, beginning after a position. */
  readonly range: string;
  /** Time column of `t` that the index orders by; undefined: the primary key alone. */
  readonly orderedBy?: string;
  /** Condition on `t`: which of them to end. */
  readonly isDue: string;
  /** CTEs that end the sessions of `due`. */
  readonly ending: string;
}): string {
  const { table, range, orderedBy, isDue, ending } = walk;
  const at = orderedBy === undefined ? 'null::timestamptz' : `t.${orderedBy}`;
  const order = orderedBy === undefined ? 't.id' : `t.${orderedBy}, t.id`;
  return `with recursive walked as materialized (
    select t.id, ${at} as at from ${table} t where ${range} order by ${order} limit ${BATCH_ROWS}
  ), due as materialized (
    select t.id, ${at} as at from ${table} t where t.id = any (array(select walked.id from walked)) and ${isDue}
     order by ${order} limit ${ENDED_ROWS}
       for no key update of t skip locked
  ), ${ending}, full_batch as (
    (select due.at, due.id from due order by due.at, due.id offset ${ENDED_ROWS - 1})
    union all
    (select walked.at, walked.id from walked order by walked.at, walked.id offset ${BATCH_ROWS - 1})
  )
  select (select count(*) from due)::integer as ended, next.at::text as next_at, next.id::text as next_id
    from (select 1) one
    left join lateral (select at, id from full_batch order by at, id limit 1) next on true`;
}

/**
 * SQL that deletes a batch of rows by time, oldest first.
 * @param key primary key; @param isDue condition on `t` that holds the index's time column below a bound
 */
export function deleteOldestSql(table: string, key: string, orderedBy: string, isDue: string): string {
  return `delete from ${table} d where d.${key} = any (array(
    select t.${key} from ${table} t where ${isDue} order by t.${orderedBy} limit ${BATCH_ROWS} for update skip locked
  ))`;
}
