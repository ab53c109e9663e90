/**
 * A sweep removes or empties rows of one table that are no longer needed (operations 6.4). The module that owns the
 * table decides which rows: it lists its sweeps as `SweepRow`, with the schedule, the statement of one batch, and the
 * values of its parameters. `clean-up.ts` decides when, and runs the batches one after another.
 *
 * A batch goes through its table in one of three ways:
 *
 * - `deleteOldest` deletes every row that it examines
 * - `walkTable` examines rows in index order and sweeps those that are due
 * - `endSessions` does the same for sessions that end
 */
import type { RetentionConfig } from '#config/sections/retention.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

/** Rows that one batch examines. */
export const BATCH_ROWS = 1000;

/** Where a batch ended in the order of its index, as text values that the database reads back exactly. */
export interface Position {
  /** Value of the index's time column; empty if the index is ordered by `id` only. */
  readonly at: string;
  readonly id: string;
}

/** Sorts before every row. */
export const START: Position = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' };

/** Reads a position that was stored as JSON. */
export function positionOf(value: unknown): Position | undefined {
  if (typeof value !== 'object' || value === null || !('at' in value) || !('id' in value)) return undefined;
  const { at, id } = value;
  return typeof at === 'string' && typeof id === 'string' ? { at, id } : undefined;
}

export interface SweptBatch {
  /** Rows removed or emptied. */
  readonly rows: number;
  /** Where the next batch starts; undefined if no rows are left. */
  readonly next: Position | undefined;
}

/** Settings that decide which rows are due. */
export interface SweepRules extends RetentionConfig {
  /** Whether a homeserver is connected, which must learn about devices of ended sessions. */
  readonly syncsDevices: boolean;
}

export interface Sweep {
  /** `cleanup-` and the table name, or `expire-` for a sweep that ends sessions instead of deleting rows. */
  readonly name: `${'cleanup' | 'expire'}-${string}`;
  /** Minute of the hour at which the sweep is due. Sweeps are spread over the hour so that they do not overlap. */
  readonly minute: number;
  /** Interval of a sweep that runs more often than hourly, counted from that minute. */
  readonly everyMinutes?: number;
  /**
   * Runs one batch.
   * @param now milliseconds since the epoch
   */
  sweep(database: Queryable, now: number, rules: SweepRules, from: Position): Promise<SweptBatch>;
}

/** Returns the time `seconds` before `now`. */
export function secondsBefore(now: number, seconds: number): Date {
  return new Date(now - seconds * 1000);
}

/** Activity is buffered in memory and written within a minute, or two if the database is slow. */
const MAX_ACTIVITY_DELAY_SECONDS = 120;

/** Returns the limit below which a session's stored last activity means that it was unused for `seconds`. */
export function unusedSince(now: number, seconds: number): Date {
  return secondsBefore(now, seconds + MAX_ACTIVITY_DELAY_SECONDS);
}

type SweepParameters = Readonly<Record<string, Date | string | boolean | null>>;

/** Sweeps one batch. `parameters` are those of the row. */
type Batch = (database: Queryable, parameters: SweepParameters, from: Position) => Promise<SweptBatch>;

export interface SweepRow extends Pick<Sweep, 'name' | 'minute' | 'everyMinutes'> {
  readonly batch: Batch;
  /** Undefined if the settings turn the sweep off. */
  readonly parameters: (now: number, rules: SweepRules) => SweepParameters | undefined;
}

export function sweepOf({ batch, parameters, ...schedule }: SweepRow): Sweep {
  return {
    ...schedule,
    sweep: async (database, now, rules, from) => {
      const values = parameters(now, rules);
      return values === undefined ? { rows: 0, next: undefined } : await batch(database, values, from);
    },
  };
}

interface OldestRows {
  readonly table: string;
  /** Primary key; `id` by default. */
  readonly key?: string;
  /** Time column of an index. */
  readonly orderedBy: string;
  /** Condition on `t` that limits this column. */
  readonly isDue: string;
}

/** Deletes a batch of rows by time, oldest first. */
export function deleteOldest(label: string, rows: OldestRows): Batch {
  const deleting = statement<never, SweepParameters>(label, deleteOldestSql(rows));
  return async (database, parameters) => {
    const deleted = await database.execute(deleting, parameters);
    return { rows: deleted, next: deleted < BATCH_ROWS ? undefined : START };
  };
}

/** Returns the same as SQL, for statements that do more with the deleted rows `d`. */
export function deleteOldestSql({ table, key = 'id', orderedBy, isDue }: OldestRows): string {
  return `delete from ${table} d where d.${key} = any (array(
    select t.${key} from ${table} t where ${isDue} order by t.${orderedBy} limit ${BATCH_ROWS} for update skip locked
  ))`;
}

interface Walk {
  readonly table: string;
  /** Time column of `t` that the index is ordered by, before the primary key. Undefined for the primary key alone. */
  readonly orderedBy?: string;
  /** Condition on `t` that ends the walk early. */
  readonly within?: string;
  /** Condition on `t` that selects the rows to sweep among those that a batch examines. */
  readonly isDue: string;
}

/** Returns the order of a walk, its time column, and the condition that selects what it has not examined yet. */
function walkParts({ orderedBy, within }: Walk) {
  const rest = within === undefined ? '' : ` and ${within}`;
  return orderedBy === undefined
    ? { order: 't.id', at: 'null::timestamptz', range: `t.id > :fromId::uuid${rest}` }
    : {
        order: `t.${orderedBy}, t.id`,
        at: `t.${orderedBy}`,
        range: `(t.${orderedBy}, t.id) > (:fromAt::timestamptz, :fromId::uuid)${rest}`,
      };
}

function positionParameters({ at, id }: Position) {
  return { fromAt: at, fromId: id };
}

interface WalkedRow {
  readonly examined: number;
  readonly swept: number;
  readonly last_at: string | null;
  readonly last_id: string | null;
}

/**
 * Examines a batch of rows in index order and sweeps those that are due. Locked rows are left for the next run. Rows
 * that are not due remain, so the walk has to remember its position.
 * @param walk with `action`: `delete from x t` or an update, without its condition
 */
export function walkTable(label: string, walk: Walk & { readonly action: string }): Batch {
  const { table, isDue, action } = walk;
  const { at, order, range } = walkParts(walk);
  const walking = statement<WalkedRow, SweepParameters>(
    label,
    `with walked as materialized (
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
  from walked last order by last.at desc, last.id desc limit 1`,
  );
  return async (database, parameters, from) => {
    const row = await database.first(walking, { ...parameters, ...positionParameters(from) });
    if (row === undefined || row.last_id === null) return { rows: 0, next: undefined };
    const isLast = row.examined < BATCH_ROWS;
    return { rows: row.swept, next: isLast ? undefined : { at: row.last_at ?? '', id: row.last_id } };
  };
}

/** Sessions that one batch ends. Each of them also changes tokens, events and jobs. */
const ENDED_ROWS = 100;

interface EndedRow {
  readonly ended: number;
  /** Where the next batch starts; null if no rows are left. */
  readonly next_at: string | null;
  readonly next_id: string | null;
}

/**
 * Examines a batch of sessions in index order and ends those that are due. The condition is rechecked when the row is
 * locked. Rows that are already locked, such as a session during a refresh, are left for the next run.
 * @param walk with `ending`: CTEs that end the sessions in `due`
 */
export function endSessions(label: string, walk: Walk & { readonly ending: string }): Batch {
  const { table, isDue, ending } = walk;
  const { at, order, range } = walkParts(walk);
  const walking = statement<EndedRow, SweepParameters>(
    label,
    `with recursive walked as materialized (
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
    left join lateral (select at, id from full_batch order by at, id limit 1) next on true`,
  );
  return async (database, parameters, from) => {
    const row = await database.first(walking, { ...parameters, ...positionParameters(from) });
    const next = row?.next_id == null ? undefined : { at: row.next_at ?? '', id: row.next_id };
    return { rows: row?.ended ?? 0, next };
  };
}
