/**
 * Background jobs, table `queue_jobs`. A job is a row inserted in the transaction of the change that needs it: it runs
 * if that transaction commits, and never otherwise. It runs at least once, on any process, so its work must tolerate
 * repetition. `worker.ts` runs jobs. The modules that queue jobs define what they do.
 *
 * Decision 0011 explains why this is not a library.
 */
import { currentTask } from '#platform/base/tasks.ts';
import { tracePlaceOf } from '#platform/base/tracing.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

/** One run of a job. */
export interface Job {
  /** The same in all runs: letters, digits and hyphens. */
  readonly id: string;
  /** As stored, possibly by another version of this program. */
  readonly payload: unknown;
  /** 1 for the first run. */
  readonly attempt: number;
  /** Aborted at the time limit, and when the process must stop. */
  readonly signal: AbortSignal;
}

/** Result of a run. A run that throws is retried. */
export type JobOutcome =
  | { readonly kind: 'done' }
  /** The job continues immediately with another payload, as if it were new. */
  | { readonly kind: 'unfinished'; readonly payload: object }
  | { readonly kind: 'retry'; readonly reason: string; readonly afterSeconds?: number | undefined }
  /** The job cannot run yet. It runs later, and this run does not count. */
  | { readonly kind: 'postponed'; readonly reason: string; readonly afterSeconds: number }
  /** A retry would not help. */
  | { readonly kind: 'failed'; readonly reason: string };

export const DONE: JobOutcome = { kind: 'done' };

/** Jobs of one kind. */
export interface JobQueue {
  readonly name: string;
  readonly timeLimitSeconds: number;
  /**
   * Jobs of this queue are retried until they reach this age, at most 15 minutes apart, regardless of the number of
   * attempts. Jobs of other queues are retried up to the worker's limit.
   */
  readonly retriedForSeconds?: number;
  /**
   * For hourly work: the minute at which it is due. The job is one row that is rescheduled, so its runs never overlap.
   */
  readonly minuteOfHour?: number;
  /** For work that is due more often, counted from `minuteOfHour`. A divisor of 60. */
  readonly everyMinutes?: number;
  /** Hourly work that is due at once when the first process with this queue starts. */
  readonly isDueAtFirstStart?: boolean;
  run(job: Job): Promise<JobOutcome>;
}

/** Head of an insert within a larger statement. Values follow in this order, then `ON_WAITING_JOB`. */
export const INSERT_JOB = 'insert into queue_jobs (id, queue, payload, dedup_key, queued_by, created_at, due_at)';

/** SQL condition: the job is neither running nor dead. @param job alias of `queue_jobs` */
export function jobIsWaiting(job: string): string {
  return `(${job}.worker is null and ${job}.failed_at is null)`;
}

/**
 * A waiting job with the same key takes the payload and the age of the new one. Its row is locked until the change
 * commits, so that it cannot run earlier, on outdated data. A job that is already running does not count.
 */
export const ON_WAITING_JOB = `on conflict (queue, dedup_key) where worker is null and failed_at is null
  do update set payload = excluded.payload, created_at = excluded.created_at`;

/**
 * Returns the request or job that is queuing a job, with its position in a trace if it has one. For statements that
 * insert jobs themselves.
 */
export function queuedBy(): string | null {
  const task = currentTask();
  if (task === undefined) return null;
  const place = tracePlaceOf(task);
  return place === undefined ? task.id : `${task.id} ${place}`;
}

/** Parses a value from `queuedBy`. Returns an empty list for periodic jobs. */
export function readQueuedBy(text: string | null): readonly [parent?: string, tracePlace?: string] {
  const [parent, place] = text?.split(' ') ?? [];
  return parent === undefined ? [] : place === undefined ? [parent] : [parent, place];
}

/** SQL for the id without the trace. */
export function queuedById(job: string): string {
  return `split_part(${job}.queued_by, ' ', 1)`;
}

const MAX_DELETED = 1000;

const deleteFailed = statement<never, { readonly failedBefore: Date }>(
  'delete-failed-jobs',
  `delete from queue_jobs where id = any (array(
     select id from queue_jobs where failed_at < :failedBefore::timestamptz
      order by failed_at limit ${MAX_DELETED} for update skip locked
   ))`,
);

/** Deletes a batch of jobs that died before a time. @returns how many, and whether it was the last batch */
export async function deleteFailedJobs(
  queryable: Queryable,
  failedBefore: Date,
): Promise<{ readonly rows: number; readonly isLast: boolean }> {
  const rows = await queryable.execute(deleteFailed, { failedBefore });
  return { rows, isLast: rows < MAX_DELETED };
}
