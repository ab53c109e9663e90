import { Listing } from '#platform/postgres/listing.ts';
import { ms } from '#platform/postgres/statement.ts';
import { queuedById } from './queue.ts';

/**
 * `available`: due, and runs as soon as a process has capacity. `scheduled`: due later. `running`. `failed`: will be
 * retried. `dead`: given up. Completed jobs are deleted.
 */
export const JOB_STATUSES = ['available', 'scheduled', 'running', 'failed', 'dead'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** Times in milliseconds since the epoch. */
export interface JobRecord {
  readonly id: string;
  readonly queue: string;
  readonly status: JobStatus;
  /** Number of runs, including the current one. */
  readonly attempt: number;
  readonly payload: unknown;
  /** The request or job that queued it. */
  readonly queued_by: string | null;
  readonly created_at: number;
  /** When it is due. Null while it runs and when it is dead. */
  readonly scheduled_at: number | null;
  readonly failed_at: number | null;
  /** Failure of the last run. */
  readonly failed_reason: string | null;
}

export interface JobFilters {
  /** The time of the request, required in every call. */
  readonly now: Date;
  readonly queue: string;
  readonly status: string;
}

const NOW = ':now::timestamptz';

/** SQL condition: a process is running the job. An expired lease means that its process crashed. */
export function jobIsRunning(job: string, now: string): string {
  return `(${job}.worker is not null and ${job}.failed_at is null and ${job}.due_at > ${now})`;
}

const STATUS = `case when j.failed_at is not null then 'dead'
    when ${jobIsRunning('j', NOW)} then 'running'
    when j.worker is null and j.attempt > 0 then 'failed'
    when j.due_at > ${NOW} then 'scheduled'
    else 'available' end`;

/** Sorted by identifier, not by creation time: the database generates most identifiers at random. */
export const jobs = new Listing<JobRecord, JobFilters>('jobs', {
  columns: {
    id: 'j.id',
    queue: 'j.queue',
    status: STATUS,
    attempt: 'j.attempt',
    payload: 'j.payload',
    queued_by: queuedById('j'),
    created_at: ms('j.created_at'),
    scheduled_at: `case when j.failed_at is null and not ${jobIsRunning('j', NOW)} then ${ms('j.due_at')} end`,
    failed_at: ms('j.failed_at'),
    failed_reason: 'j.failed_reason',
  },
  from: 'queue_jobs j',
  filters: {
    now: `${NOW} is not null`,
    queue: 'j.queue = :queue::text',
    status: `${STATUS} = :status::text`,
  },
});
