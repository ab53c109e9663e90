/**
 * Background work, table `queue_jobs`. A job is a row that is written in the transaction of the change that needs it:
 * it runs if that commits, and never if it does not. It runs at least once, on any process, so whatever it does may be
 * done twice. `worker.ts` runs jobs; the modules that need them say what a job of theirs does.
 *
 * Decision 0011 says why this is not a library.
 */
import { currentTask } from '#platform/base/tasks.ts';
import { tracePlaceOf } from '#platform/base/tracing.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

/** One run of a job. */
export interface Job {
  /** The same in all its runs: letters, digits and hyphens. */
  readonly id: string;
  /** As it was written, maybe by another version of this program. */
  readonly payload: unknown;
  /** 1 for the first run. */
  readonly attempt: number;
  /** Aborted at the time limit, and when the process has to stop. */
  readonly signal: AbortSignal;
}

/** What a run came to; one that throws is retried. */
export type JobOutcome =
  | { readonly kind: 'done' }
  /** The same job continues at once, with another payload and as if it were new. */
  | { readonly kind: 'unfinished'; readonly payload: object }
  | { readonly kind: 'retry'; readonly reason: string; readonly afterSeconds?: number | undefined }
  /** It is not its turn yet: it runs later, and this run does not count. */
  | { readonly kind: 'postponed'; readonly reason: string; readonly afterSeconds: number }
  /** No retry could help. */
  | { readonly kind: 'failed'; readonly reason: string };

export const DONE: JobOutcome = { kind: 'done' };

/** Jobs of one kind. */
export interface JobQueue {
  readonly name: string;
  readonly timeLimitSeconds: number;
  /**
   * Such jobs are retried until they are this old, at most a quarter of an hour apart, however often that is. The
   * others are retried as often as the worker says.
   */
  readonly retriedForSeconds?: number;
  /** For work that is due once an hour, at this minute. Its job is one row that comes back, so it never overlaps itself. */
  readonly minuteOfHour?: number;
  /** For such work that is due more often, counted from that minute; a divisor of 60. */
  readonly everyMinutes?: number;
  run(job: Job): Promise<JobOutcome>;
}

/** The head of an insert inside a larger statement; values follow in this order, then `ON_WAITING_JOB`. */
export const INSERT_JOB = 'insert into queue_jobs (id, queue, payload, dedup_key, queued_by, created_at, due_at)';

/** Nobody works on it, and it was not given up. A condition for statements. @param job alias of `queue_jobs` */
export function jobIsWaiting(job: string): string {
  return `(${job}.worker is null and ${job}.failed_at is null)`;
}

/**
 * A waiting job with the same key stands for the new one. It is locked until the change commits, so that it cannot run
 * before, on what was true until then; its age begins with the new one. A job that runs already does not count.
 */
export const ON_WAITING_JOB = `on conflict (queue, dedup_key) where worker is null and failed_at is null
  do update set payload = excluded.payload, created_at = excluded.created_at`;

/**
 * The request or job that queues one now and, when it belongs to a trace, its place there; for statements that insert
 * jobs themselves.
 */
export function queuedBy(): string | null {
  const task = currentTask();
  if (task === undefined) return null;
  const place = tracePlaceOf(task);
  return place === undefined ? task.id : `${task.id} ${place}`;
}

/** What `queuedBy` has put together; nothing for periodic work. */
export function readQueuedBy(text: string | null): readonly [parent?: string, tracePlace?: string] {
  const [parent, place] = text?.split(' ') ?? [];
  return parent === undefined ? [] : place === undefined ? [parent] : [parent, place];
}

/** SQL of the id alone. */
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

/** Deletes a batch of jobs that failed for good before a time. @returns how many, and whether there may be more */
export async function deleteFailedJobs(
  queryable: Queryable,
  failedBefore: Date,
): Promise<{ readonly rows: number; readonly isLast: boolean }> {
  const rows = await queryable.execute(deleteFailed, { failedBefore });
  return { rows, isLast: rows < MAX_DELETED };
}
