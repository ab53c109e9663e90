import { Listing } from '#platform/postgres/listing.ts';
import { ms } from '#platform/postgres/statement.ts';
import { queuedById } from './queue.ts';

/**
 * `available`: due, and taken as soon as a process has room. `scheduled`: due later. `running`. `failed`: tried, and will
 * be again. `dead`: given up. What was done is deleted.
 */
export const JOB_STATUSES = ['available', 'scheduled', 'running', 'failed', 'dead'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** Times in milliseconds since the epoch. */
export interface JobRecord {
  readonly id: string;
  readonly queue: string;
  readonly status: JobStatus;
  /** Runs so far, with the present one. */
  readonly attempt: number;
  readonly payload: unknown;
  /** The request or job that made it. */
  readonly queued_by: string | null;
  readonly created_at: number;
  /** When it is due; null while it runs, and when it is dead. */
  readonly scheduled_at: number | null;
  readonly failed_at: number | null;
  /** Of the last run. */
  readonly failed_reason: string | null;
}

export interface JobFilters {
  /** The time of the request, which every call names. */
  readonly now: Date;
  readonly queue: string;
  readonly status: string;
}

const NOW = ':now::timestamptz';

/** Whether a process works on it: a lease that ran out was that of a process which died. */
export function jobIsRunning(job: string, now: string): string {
  return `(${job}.worker is not null and ${job}.failed_at is null and ${job}.due_at > ${now})`;
}

const STATUS = `case when j.failed_at is not null then 'dead'
    when ${jobIsRunning('j', NOW)} then 'running'
    when j.worker is null and j.attempt > 0 then 'failed'
    when j.due_at > ${NOW} then 'scheduled'
    else 'available' end`;

/** In the order of identifiers, which is not that of creation: most are made in the database, at random. */
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
