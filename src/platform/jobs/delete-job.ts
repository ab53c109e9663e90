import { toUuid, type Ulid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { jobIsRunning } from './job-listing.ts';

/** Cancels a job that is not running. Its work is not done. */
export async function deleteJob(
  queryable: Queryable,
  id: Ulid,
  now: number,
): Promise<'deleted' | 'running' | 'absent'> {
  const row = await queryable.first(remove, { id: toUuid(id), now: new Date(now) });
  if (row === undefined) return 'absent';
  return row.is_running ? 'running' : 'deleted';
}

const remove = statement<{ is_running: boolean }, { readonly id: string; readonly now: Date }>(
  'delete-job',
  `with job as materialized (
    select j.id, ${jobIsRunning('j', ':now::timestamptz')} as is_running from queue_jobs j where j.id = :id::uuid for update
  ), deleted as (
    delete from queue_jobs where id = (select job.id from job where not job.is_running)
  )
  select job.is_running from job`,
);
