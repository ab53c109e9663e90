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
  getOperation,
  idOfPath,
  type ListSource,
  listOperation,
  logAction,
  missing,
  type Operation,
  singleAnswer,
} from '../definition/operation.ts';

const STATUSES =
  '`available`: due, and begun as soon as a process has room. `scheduled`: due later. `running`. `failed`: tried, and ' +
  'will be again. `dead`: given up.';

const JOB: Resource<JobRecord> = {
  type: 'job',
  path: 'jobs',
  description: 'A piece of background work that is not done.',
  attributes: z.object({
    queue: z.string().describe('What kind of work it is.'),
    status: z.enum(JOB_STATUSES).describe(STATUSES),
    attempt: z.int().min(0).describe('How often it was begun, the present run included.'),
    created_at: z.iso.datetime().describe('When it was queued.'),
    scheduled_at: z.iso.datetime().nullable().describe('When it is due; null: it runs, or was given up.'),
    failed_at: z.iso.datetime().nullable().describe('When it was given up; null: it was not.'),
    failed_reason: z.string().nullable().describe('Why its last run failed.'),
    queued_by: z.string().nullable().describe('The request or job that made it.'),
    started_at: z.null().describe('Is not recorded.'),
    completed_at: z.null().describe('A job that is done is deleted.'),
    next_attempt_id: z.null().describe('A job keeps its id when it is tried again.'),
    payload: z.unknown().describe('What might be a secret is left out.'),
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
    summary: 'Lists background work that waits, runs or was given up',
    description: 'In the order of their ids, which says nothing of time. What was done is not kept.',
    ...SHARED,
    filters: z.object({
      queue: filter(text(255), 'Jobs of the queue of exactly this name.', 'send-security-notice'),
      status: filter(z.enum(JOB_STATUSES, JOB_STATUSES.join(', ')), `Jobs in this state. ${STATUSES}`),
    }),
    select: ({ queue, status }) => ({ queue, status }),
  }),
  getOperation({ id: 'getJob', summary: 'Reads a job', description: 'One piece of work by its id.', ...SHARED }),
  {
    id: 'retryJob',
    method: 'POST',
    path: `${JOB.path}/:id/retry`,
    tag: JOB.type,
    summary: 'Lets a job begin again that was given up',
    description: 'It is due at once, as if it had never been tried, and keeps its id.',
    answers: [singleAnswer(201, JOB)],
    errors: ['invalid_id', 'not_found', 'job_not_dead', 'job_superseded'],
    run: async (call) => {
      const { core, context } = call;
      const id = idOfPath(context);
      const now = core.clock.now();
      const given = await source.find(core, id);
      const outcome = await retryJob(core.database, id, now);
      if (given === undefined || outcome === 'absent') throw missing(JOB.type);
      if (outcome === 'not-dead') throw new LatchkeyError('job_not_dead');
      if (outcome === 'waiting') throw new LatchkeyError('job_superseded');
      logAction(call, 'retryJob', id);
      // Not read back, because the job may already be completed.
      const begun = { status: 'available', attempt: 0, created_at: now, scheduled_at: now, failed_at: null } as const;
      return single(201, JOB, { ...given, ...begun, failed_reason: null }, { ...call, action: 'retry' });
    },
  },
  actionOperation({
    id: 'cancelJob',
    method: 'DELETE',
    summary: 'Takes a job away that does not run: what it was for is not done',
    description: 'A job that runs is not taken away: 409.',
    ...SHARED,
    errors: ['job_running'],
    isSilent: true,
    run: async ({ core, context }) => {
      const outcome = await deleteJob(core.database, idOfPath(context), core.clock.now());
      if (outcome === 'absent') throw missing(JOB.type);
      if (outcome === 'running') throw new LatchkeyError('job_running');
    },
  }),
];
