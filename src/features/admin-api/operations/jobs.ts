/** Background jobs (operations 4.12): waiting, running and dead ones. Completed jobs are deleted. */
import { z } from 'zod';
import { LatchkeyError } from '#platform/base/errors.ts';
import { deleteJob } from '#platform/jobs/delete-job.ts';
import { JOB_STATUSES, type JobRecord, jobs } from '#platform/jobs/job-listing.ts';
import { retryJob } from '#platform/jobs/retry-job.ts';
import { shownPayload } from '#platform/jobs/shown-payload.ts';
import { type Resource, single, time, timeOrNull } from '../definition/documents.ts';
import { filter, text } from '../definition/fields.ts';
import {
  actionOperation,
  change,
  getOperation,
  idOfPath,
  type ListSource,
  listOperation,
  logAction,
  missing,
  type Operation,
  singleResponse,
} from '../definition/operation.ts';

const STATUSES =
  '`available`: due, runs as soon as a process has capacity. `scheduled`: due later. `running`. ' +
  '`failed`: failed, will be retried. `dead`: failed for the last time.';

const JOB: Resource<JobRecord> = {
  type: 'job',
  path: 'jobs',
  description: 'Background job that is not completed.',
  attributes: z.object({
    queue: z.string().describe('Queue, which is the kind of job.'),
    status: z.enum(JOB_STATUSES).describe(STATUSES),
    attempt: z.int().min(0).describe('Number of runs, including the current one.'),
    created_at: z.iso.datetime().describe('When it was queued.'),
    scheduled_at: z.iso.datetime().nullable().describe('When it is due; null: it is running or dead.'),
    failed_at: z.iso.datetime().nullable().describe('When it failed for the last time; null: it is not dead.'),
    failed_reason: z.string().nullable().describe('Why the last run failed.'),
    queued_by: z.string().nullable().describe('The request or job that created it.'),
    started_at: z.null().describe('Not recorded.'),
    completed_at: z.null().describe('Completed jobs are deleted.'),
    next_attempt_id: z.null().describe('A job keeps its ID when it is retried.'),
    payload: z.unknown().describe('Possible secrets are removed.'),
  }),
  attributesOf: (job) => ({
    queue: job.queue,
    status: job.status,
    attempt: job.attempt,
    created_at: time(job.created_at),
    scheduled_at: timeOrNull(job.scheduled_at),
    failed_at: timeOrNull(job.failed_at),
    failed_reason: job.failed_reason,
    queued_by: job.queued_by,
    started_at: null,
    completed_at: null,
    next_attempt_id: null,
    payload: shownPayload(job.payload),
  }),
};

interface Wanted {
  readonly queue: string | undefined;
  readonly status: string | undefined;
}

/** The state of a job depends on the current time. */
const source: ListSource<JobRecord, Wanted> = {
  find: ({ database, clock }, id) => jobs.find(database, id, { now: new Date(clock.now()) }),
  page: ({ database, clock }, wanted, window) => jobs.page(database, { ...wanted, now: new Date(clock.now()) }, window),
  count: ({ database, clock }, wanted) => jobs.count(database, { ...wanted, now: new Date(clock.now()) }),
};

const SHARED = { resource: JOB, source };

export const jobOperations: readonly Operation[] = [
  listOperation({
    id: 'listJobs',
    summary: 'Lists background jobs that are queued, running or dead',
    description: 'Ordered by ID, which does not reflect time. Completed jobs are not kept.',
    ...SHARED,
    filters: z.object({
      queue: filter(text(255), 'Jobs in the queue of exactly this name.', 'send-security-notice'),
      status: filter(z.enum(JOB_STATUSES, JOB_STATUSES.join(', ')), `Jobs with this status. ${STATUSES}`),
    }),
    select: ({ queue, status }) => ({ queue, status }),
  }),
  getOperation({ id: 'getJob', summary: 'Gets a job', description: 'Returns a job by its ID.', ...SHARED }),
  {
    id: 'retryJob',
    method: 'POST',
    path: `${JOB.path}/:id/retry`,
    tag: JOB.type,
    summary: 'Retries a dead job',
    description: 'The job is due immediately, with its attempts reset, and keeps its ID.',
    answers: [singleResponse(201, JOB)],
    errors: ['invalid_id', 'not_found', 'job_not_dead', 'job_superseded'],
    run: async (call) => {
      const { core, context } = call;
      const id = idOfPath(context);
      const now = core.clock.now();
      const given = await source.find(core, id);
      if (given === undefined) throw missing(JOB.type);
      await change(call, { operation: 'retryJob', target: { type: JOB.type, id } }, async (_, transaction) => {
        const outcome = await retryJob(transaction, id, now);
        if (outcome === 'absent') throw missing(JOB.type);
        if (outcome === 'not-dead') throw new LatchkeyError('job_not_dead');
        if (outcome === 'waiting') throw new LatchkeyError('job_superseded');
      });
      logAction(call, 'retryJob', id);
      // Not read back, because the job may already be completed.
      const begun = { status: 'available', attempt: 0, created_at: now, scheduled_at: now, failed_at: null } as const;
      return single(201, JOB, { ...given, ...begun, failed_reason: null }, { ...call, action: 'retry' });
    },
  },
  actionOperation({
    id: 'cancelJob',
    method: 'DELETE',
    summary: 'Cancels a job that is not running',
    description: 'A running job cannot be canceled: 409.',
    ...SHARED,
    errors: ['job_running'],
    isSilent: true,
    run: async (call, _, action) => {
      await change(call, action, async ({ clock }, transaction) => {
        const outcome = await deleteJob(transaction, idOfPath(call.context), clock.now());
        if (outcome === 'absent') throw missing(JOB.type);
        if (outcome === 'running') throw new LatchkeyError('job_running');
      });
    },
  }),
];
