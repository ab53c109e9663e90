/**
 * Handles jobs that no process takes because only another version knows their queue, for example after a rollback.
 * Processes of both versions may share the table for a while, so these jobs are dead only after a day (operations 6.1).
 */
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { DONE, type JobQueue } from './queue.ts';

const UNCLAIMED_MS = 24 * 3_600_000;
const MAX_MARKED = 1000;
const REASON = 'no running version knows its queue';

export interface UnknownJobsDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the names of all queues of this version. */
  readonly knownQueues: () => readonly string[];
}

/** Hourly work that marks these jobs as dead and logs an error. */
export function unknownJobsQueue(deps: UnknownJobsDeps): JobQueue {
  return {
    name: 'fail-unknown-jobs',
    minuteOfHour: 54,
    timeLimitSeconds: 60,
    run: async () => {
      const marked = await failUnknownJobs(deps);
      return marked < MAX_MARKED ? DONE : { kind: 'unfinished', payload: {} };
    },
  };
}

async function failUnknownJobs({ database, clock, log, knownQueues }: UnknownJobsDeps): Promise<number> {
  const now = clock.now();
  const rows = await database.rows(failUnknown, {
    known: knownQueues(),
    dueBefore: new Date(now - UNCLAIMED_MS),
    now: new Date(now),
  });
  const counts = new Map<string, number>();
  for (const { queue } of rows) counts.set(queue, (counts.get(queue) ?? 0) + 1);
  for (const [queue, jobs] of counts) log.error('job.dead', `jobs of ${queue}: ${REASON}`, { queue, jobs });
  return rows.length;
}

/** Jobs that run, or wait for a retry, have been due for less than a day. */
const failUnknown = statement<
  { queue: string },
  { readonly known: readonly string[]; readonly dueBefore: Date; readonly now: Date }
>(
  'fail-unknown-jobs',
  `with unknown as materialized (
    select id from queue_jobs
     where failed_at is null and due_at < :dueBefore::timestamptz and queue <> all (:known::text[])
     order by due_at limit ${MAX_MARKED}
       for update skip locked
  )
  update queue_jobs job set worker = null, failed_at = :now::timestamptz, failed_reason = '${REASON}'
   where job.id = any (array(select unknown.id from unknown))
  returning job.queue`,
);
