import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';

/** Amount of background work in one queue. */
export interface QueueSize {
  readonly queue: string;
  /** Waiting jobs, due now or later. */
  readonly queued: number;
  /** Age of the job that has been due the longest. 0 if no job is due. */
  readonly oldestDueSeconds: number;
  /** Dead jobs that are still kept. */
  readonly dead: number;
}

/** Counting stops here, so that measuring a large backlog stays fast. */
const MAX_COUNTED = 100_000;

const measureQueues = statement<
  { queue: string; queued: number; oldest_due_at: number | null; dead: number },
  { readonly now: Date; readonly queues: readonly string[]; readonly limit: number }
>(
  'queue-sizes',
  `with waiting as (
    select queue, due_at from queue_jobs
     where failed_at is null and due_at > '-infinity' and worker is null order by due_at limit :limit::integer
  ), dead as (
    select queue from queue_jobs
     where failed_at is not null and failed_at <= :now::timestamptz order by failed_at limit :limit::integer
  )
  select name.queue,
    (select count(*) from waiting where waiting.queue = name.queue)::integer as queued,
    (select ${ms('min(waiting.due_at)')} from waiting where waiting.queue = name.queue) as oldest_due_at,
    (select count(*) from dead where dead.queue = name.queue)::integer as dead
  from unnest(:queues::text[]) as name (queue) order by name.queue`,
);

export async function readQueueSizes(
  database: Queryable,
  queues: readonly string[],
  now: number,
): Promise<readonly QueueSize[]> {
  const rows = await database.rows(measureQueues, { now: new Date(now), queues, limit: MAX_COUNTED });
  return rows.map(({ queue, queued, oldest_due_at: dueAt, dead }) => {
    return { queue, queued, oldestDueSeconds: Math.max(0, now - (dueAt ?? now)) / 1000, dead };
  });
}
