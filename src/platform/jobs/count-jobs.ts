import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

/** Counting stops here, so that it stays fast with a large backlog. */
const MAX_COUNTED = 10_000;

const countDue = statement<{ due: number; dead: number }, { readonly now: Date; readonly limit: number }>(
  'count-jobs',
  `select (select count(*) from (
            select from queue_jobs where failed_at is null and due_at <= :now::timestamptz and worker is null
             limit :limit::integer) due)::integer as due,
          (select count(*) from (
            select from queue_jobs where failed_at is not null and failed_at <= :now::timestamptz
             limit :limit::integer) dead)::integer as dead`,
);

/** Counts the jobs of all queues that are due and wait for a process, and the dead ones; at most 10,000 each. */
export async function countJobs(database: Queryable, now: number): Promise<{ due: number; dead: number }> {
  const row = await database.first(countDue, { now: new Date(now), limit: MAX_COUNTED });
  return { due: row?.due ?? 0, dead: row?.dead ?? 0 };
}
