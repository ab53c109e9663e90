/**
 * Work that is due at a certain minute of every hour, or several times per hour. Each periodic job is one row, with an
 * id that all instances compute identically, and is rescheduled after each run. So its runs never overlap, pile up or
 * get lost. If several runs were missed while no process was running, it runs once.
 */
import { createHash } from 'node:crypto';
import { fromUuid, type Ulid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { jobIsRunning } from './job-listing.ts';
import type { JobQueue } from './queue.ts';

const MINUTE_MS = 60_000;

/**
 * Inserts the periodic jobs missing from this database. Revives jobs that are dead because only versions without them
 * were running.
 */
export async function schedulePeriodicJobs(
  database: Queryable,
  queues: readonly JobQueue[],
  now: number,
): Promise<void> {
  const periodic = queues.flatMap(({ name, minuteOfHour, everyMinutes, isDueAtFirstStart }) =>
    minuteOfHour === undefined
      ? []
      : [{ name, dueAt: new Date(isDueAtFirstStart === true ? now : nextRun(minuteOfHour, everyMinutes, now)) }],
  );
  if (periodic.length === 0) return;
  await database.execute(scheduleJobs, {
    ids: periodic.map(({ name }) => scheduledId(name)),
    queues: periodic.map(({ name }) => name),
    dueAt: periodic.map(({ dueAt }) => dueAt),
    now: new Date(now),
  });
}

/** Returns the next time after `now` at this minute of an hour (UTC), or a whole number of periods away from it. */
export function nextRun(minuteOfHour: number, everyMinutes: number | undefined, now: number): number {
  const period = (everyMinutes ?? 60) * MINUTE_MS;
  const first = minuteOfHour * MINUTE_MS;
  return first + (Math.floor((now - first) / period) + 1) * period;
}

/** A periodic job has the same id on all instances, and therefore one row. */
function scheduledId(queue: string): string {
  const hex = createHash('sha256').update(`hourly:${queue}`).digest('hex');
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const scheduleJobs = statement<
  never,
  {
    readonly ids: readonly string[];
    readonly queues: readonly string[];
    readonly dueAt: readonly Date[];
    readonly now: Date;
  }
>(
  'schedule-jobs',
  `insert into queue_jobs (id, queue, payload, created_at, due_at)
   select hourly.id, hourly.queue, '{}', :now::timestamptz, hourly.due_at
     from unnest(:ids::uuid[], :queues::text[], :dueAt::timestamptz[]) as hourly (id, queue, due_at)
    order by hourly.id
   on conflict (id) do update
     set due_at = excluded.due_at, attempt = 0, worker = null, failed_at = null, failed_reason = null
     where queue_jobs.failed_at is not null`,
);

/** Lists the queues of periodic jobs. Each has a row as soon as a process that runs it has started. */
export async function listPeriodicQueues(database: Queryable): Promise<readonly string[]> {
  const names = (await database.rows(listQueues, {})).map(({ queue }) => queue);
  const ids = new Map(names.map((name) => [scheduledId(name), name]));
  const rows = await database.rows(findJobs, { ids: [...ids.keys()] });
  return rows.flatMap(({ id }) => ids.get(id) ?? []).toSorted();
}

export type RunOutcome = { readonly kind: 'due'; readonly id: Ulid } | { readonly kind: 'running' | 'absent' };

/** Makes a periodic job due now, even if it is dead. `running`: it is already running. */
export async function runPeriodicJobNow(database: Queryable, queue: string, now: number): Promise<RunOutcome> {
  const id = scheduledId(queue);
  const row = await database.first(runNow, { id, now: new Date(now) });
  if (row === undefined) return { kind: 'absent' };
  return row.is_running ? { kind: 'running' } : { kind: 'due', id: fromUuid(id) };
}

/** Only for manual use, since it reads the whole table. */
const listQueues = statement<{ queue: string }, object>('list-job-queues', 'select distinct queue from queue_jobs');

const findJobs = statement<{ id: string }, { readonly ids: readonly string[] }>(
  'find-periodic-jobs',
  'select id from queue_jobs where id = any (:ids::uuid[])',
);

const runNow = statement<{ is_running: boolean }, { readonly id: string; readonly now: Date }>(
  'run-periodic-job',
  `with job as materialized (
    select j.id, ${jobIsRunning('j', ':now::timestamptz')} as is_running from queue_jobs j where j.id = :id::uuid for update
  ), due as (
    update queue_jobs set due_at = :now::timestamptz, worker = null, failed_at = null, failed_reason = null
     where id = (select job.id from job where not job.is_running)
  )
  select job.is_running from job`,
);
