import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';

/** Background jobs that are due but not running. */
export interface Backlog {
  /** How long the oldest waiting job has been due, in milliseconds. 0 if no job is due. */
  readonly oldestMs: number;
  /** Number of due jobs, counted up to the limit. */
  readonly due: number;
  /** Whether a process is running a job. */
  readonly isWorking: boolean;
}

/** A running job is due when its lease expires, so it does not count as waiting. */
const readDue = statement<
  { oldest: number | null; due: number; is_working: boolean },
  { readonly now: Date; readonly limit: number }
>(
  'job-backlog',
  `select (select ${ms('due_at')} from queue_jobs
            where failed_at is null and due_at <= :now::timestamptz order by due_at limit 1) as oldest,
          (select count(*)::integer from (
             select from queue_jobs where failed_at is null and due_at <= :now::timestamptz limit :limit::integer
           ) as waiting) as due,
          exists (select from queue_jobs where failed_at is null and due_at > :now::timestamptz
                   and due_at <= :now::timestamptz + interval '1 minute' and worker is not null) as is_working`,
);

export async function readBacklog(queryable: Queryable, now: number, limit: number): Promise<Backlog> {
  const row = await queryable.first(readDue, { now: new Date(now), limit });
  return {
    oldestMs: row?.oldest == null ? 0 : Math.max(0, now - row.oldest),
    due: row?.due ?? 0,
    isWorking: row?.is_working === true,
  };
}

const readDueOf = statement<
  { oldest: number | null; due: number },
  { readonly queues: readonly string[]; readonly now: Date; readonly limit: number }
>(
  'job-backlog-of',
  `select ${ms('min(waiting.due_at)')} as oldest, count(*)::integer as due
     from (select due_at from queue_jobs
            where queue = any (:queues::text[]) and failed_at is null and due_at <= :now::timestamptz
            order by due_at limit :limit::integer) as waiting`,
);

/** Reads the backlog of some queues. `due` is counted up to the limit. */
export async function readBacklogOf(
  queryable: Queryable,
  queues: readonly string[],
  now: number,
  limit: number,
): Promise<Pick<Backlog, 'due' | 'oldestMs'>> {
  const row = await queryable.first(readDueOf, { queues, now: new Date(now), limit });
  return { oldestMs: row?.oldest == null ? 0 : Math.max(0, now - row.oldest), due: row?.due ?? 0 };
}

const countFailed = statement<{ failed: number }, { readonly now: Date; readonly limit: number }>(
  'failed-jobs',
  `select count(*)::integer as failed from (
     select from queue_jobs where failed_at is not null and failed_at <= :now::timestamptz limit :limit::integer
   ) as failed`,
);

/** Counts the dead jobs that are still kept, up to the limit. */
export async function countFailedJobs(queryable: Queryable, now: number, limit: number): Promise<number> {
  return (await queryable.first(countFailed, { now: new Date(now), limit }))?.failed ?? 0;
}

const listOverdue = statement<{ queue: string }, { readonly queues: readonly string[]; readonly before: Date }>(
  'overdue-queues',
  `select distinct queue from queue_jobs
    where queue = any (:queues::text[]) and worker is null and failed_at is null and due_at < :before::timestamptz
    order by queue`,
);

/** Lists the queues with a job that has been waiting since before a time. */
export async function listOverdueQueues(
  queryable: Queryable,
  queues: readonly string[],
  before: Date,
): Promise<readonly string[]> {
  return (await queryable.rows(listOverdue, { queues, before })).map(({ queue }) => queue);
}
