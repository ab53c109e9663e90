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

export interface Sweep {
  /** `cleanup-` and the table. */
  readonly name: `cleanup-${string}`;
  /** Minute of the hour at which it is due; spread, so that sweeps do not meet. */
  readonly minute: number;
  /**
   * One batch.
   * @param now milliseconds since the epoch
   */
  sweep(database: Queryable, now: number, retention: RetentionConfig, from: Position): Promise<SweptBatch>;
}

/** The time that lies `seconds` before `now`. */
export function secondsBefore(now: number, seconds: number): Date {
  return new Date(now - seconds * 1000);
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

/**
 * SQL that deletes a batch of rows by time, oldest first.
 * @param key primary key; @param isDue condition on `t` that holds the index's time column below a bound
 */
export function deleteOldestSql(table: string, key: string, orderedBy: string, isDue: string): string {
  return `delete from ${table} d where d.${key} = any (array(
    select t.${key} from ${table} t where ${isDue} order by t.${orderedBy} limit ${BATCH_ROWS} for update skip locked
  ))`;
}
