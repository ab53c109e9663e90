import { toUuid, type Ulid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { isUniqueViolation } from '#platform/postgres/failures.ts';
import { statement } from '#platform/postgres/statement.ts';

/** `waiting`: the queue already has a waiting job with the same key, which does the same work. */
export type RetryOutcome = 'retried' | 'not-dead' | 'waiting' | 'absent';

/** Restarts a dead job as if it were new. */
export async function retryJob(queryable: Queryable, id: Ulid, now: number): Promise<RetryOutcome> {
  try {
    const row = await queryable.first(retry, { id: toUuid(id), now: new Date(now) });
    return row?.outcome ?? 'absent';
  } catch (error) {
    // It was queued while this statement ran.
    if (isUniqueViolation(error, 'queue_jobs_waiting')) return 'waiting';
    throw error;
  }
}

/** Also resets the age, because some queues retry their jobs until they reach a certain age. */
const retry = statement<{ outcome: RetryOutcome }, { readonly id: string; readonly now: Date }>(
  'retry-job',
  `with job as materialized (
    select id, queue, dedup_key, failed_at is not null as is_dead from queue_jobs where id = :id::uuid for update
  ), retried as (
    update queue_jobs
       set failed_at = null, failed_reason = null, attempt = 0, worker = null, created_at = :now::timestamptz,
           due_at = :now::timestamptz
     where id = (select job.id from job where job.is_dead and not exists (
             select from queue_jobs other
              where other.queue = job.queue and other.dedup_key = job.dedup_key
                and other.worker is null and other.failed_at is null))
    returning id
  )
  select case when exists (select from retried) then 'retried' when job.is_dead then 'waiting' else 'not-dead' end as outcome
    from job`,
);
