/** The `jobs` commands (operations 3.6). They change rows of the queue; the processes of the service do the work. */
import { distance } from 'fastest-levenshtein';
import { openFoundation } from '#app/service/foundation.ts';
import { refusableTransaction } from '#domain/accounts/registrations/refusable-transaction.ts';
import { type AdminAction, OPERATOR, recordAdminAction } from '#domain/audit/record-admin-action.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { fromUuid, parseId, type Ulid } from '#platform/base/ids.ts';
import { deleteJob } from '#platform/jobs/delete-job.ts';
import { type JobRecord, type JobStatus, jobs } from '#platform/jobs/job-listing.ts';
import { listPeriodicQueues, type RunOutcome, runPeriodicJobNow } from '#platform/jobs/periodic-jobs.ts';
import { type RetryOutcome, retryJob } from '#platform/jobs/retry-job.ts';
import { shownPayload } from '#platform/jobs/shown-payload.ts';
import type { Database, OpenDatabase } from '#platform/postgres/database.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { operatorChange } from './operator-change.ts';
import { table } from './table.ts';
import { visible } from './visible-text.ts';

export interface ListJobsOptions {
  readonly status?: JobStatus;
  readonly queue?: string;
  readonly limit: number;
  /** List queue names instead of jobs. */
  readonly queues: boolean;
}

/** `jobs list`: a table, or with `--json` one document per line. */
export async function listJobs(
  configuration: CommandOptions,
  { status, queue, limit, queues }: ListJobsOptions,
  io: CommandIo,
): Promise<void> {
  await withDatabase(configuration, io, async (database) => {
    if (queues) {
      const names = await listPeriodicQueues(database);
      io.stdout(
        configuration.isJson ? `${JSON.stringify({ queues: names })}\n` : names.map((name) => `${name}\n`).join(''),
      );
      return;
    }
    const filters = { now: new Date(systemClock.now()), queue, status };
    const window = { size: limit, isFromEnd: false, after: undefined, before: undefined };
    const { items, hasNext } = await jobs.page(database, filters, window);
    if (configuration.isJson) for (const job of items) io.stdout(`${JSON.stringify(documentOf(job))}\n`);
    else io.stdout(jobsTable(items));
    io.stderr(hasNext ? `only the first ${limit} are shown\n` : `total: ${items.length}\n`);
  });
}

/** `jobs show`. Throws `ExitError` 1 if the job does not exist. */
export async function showJob(configuration: CommandOptions, text: string, io: CommandIo): Promise<void> {
  const id = idOf(text);
  await withDatabase(configuration, io, async (database) => {
    const job = await jobs.find(database, id, { now: new Date(systemClock.now()) });
    if (job === undefined) throw notFound();
    const document = documentOf(job);
    if (configuration.isJson) return io.stdout(`${JSON.stringify(document)}\n`);
    for (const [name, value] of Object.entries(document)) {
      const shown = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '-');
      io.stdout(`${name.padEnd(15)}${visible(shown)}\n`);
    }
  });
}

/** `jobs retry ID`. Throws `ExitError` 1 if the job does not exist or cannot be retried. */
export async function retryOne(configuration: CommandOptions, text: string, io: CommandIo): Promise<void> {
  const id = idOf(text);
  await withDatabase(configuration, io, async (database) => {
    const outcome = await retryRecorded(database, id);
    if (outcome !== 'retried') throw whyNot(outcome);
    io.stdout(configuration.isJson ? `${JSON.stringify({ retried: 1 })}\n` : 'the job is due now\n');
  });
}

async function retryRecorded(database: Database, id: Ulid): Promise<RetryOutcome> {
  const now = systemClock.now();
  return await refusableTransaction<RetryOutcome>(database, async (transaction, refuse) => {
    const outcome = await retryJob(transaction, id, now);
    if (outcome !== 'retried') return refuse(outcome);
    await recordAdminAction(transaction, OPERATOR, jobAction('jobs retry', id), now);
    return outcome;
  });
}

function jobAction(operation: string, id: Ulid): AdminAction {
  return { operation, target: { type: 'job', id } };
}

function whyNot(outcome: Exclude<RetryOutcome, 'retried'>): ExitError {
  switch (outcome) {
    case 'absent':
      return notFound();
    case 'not-dead':
      return new ExitError(ExitCode.failure, 'the job is not dead: it is waiting or running');
    case 'waiting':
      return new ExitError(ExitCode.failure, 'a job for the same work is already waiting; delete this one');
  }
}

const PAGE = 100;

/** `jobs retry --all-dead`: retries failed jobs unless an equivalent job is waiting. */
export async function retryAllDead(
  configuration: CommandOptions,
  { queue }: { readonly queue: string | undefined },
  io: CommandIo,
): Promise<void> {
  await withDatabase(configuration, io, async (database) => {
    const now = new Date(systemClock.now());
    const counts = { retried: 0, waiting: 0 };
    let after: Ulid | undefined;
    for (;;) {
      const window = { size: PAGE, isFromEnd: false, after, before: undefined };
      const { items, hasNext } = await jobs.page(database, { now, queue, status: 'dead' }, window);
      for (const { id } of items) {
        after = fromUuid(id);
        const outcome = await retryRecorded(database, after);
        if (outcome === 'retried' || outcome === 'waiting') counts[outcome] += 1;
      }
      if (!hasNext) break;
    }
    const { retried, waiting } = counts;
    io.stdout(configuration.isJson ? `${JSON.stringify({ retried, superseded: waiting })}\n` : `due now: ${retried}\n`);
    if (waiting > 0 && !configuration.isJson)
      io.stderr(`skipped because a job for the same work is already waiting: ${waiting}\n`);
  });
}

/** `jobs delete`. Throws `ExitError` 1 if the job does not exist or is running. */
export async function deleteOne(configuration: CommandOptions, text: string, io: CommandIo): Promise<void> {
  const id = idOf(text);
  await withDatabase(configuration, io, async (database) => {
    await operatorChange({ database, clock: systemClock }, jobAction('jobs delete', id), async (transaction) => {
      const outcome = await deleteJob(transaction, id, systemClock.now());
      if (outcome === 'absent') throw notFound();
      if (outcome === 'running') {
        throw new ExitError(ExitCode.failure, 'the job is running; retry when it has finished');
      }
    });
    io.stdout(configuration.isJson ? `${JSON.stringify({ deleted: id })}\n` : 'deleted\n');
  });
}

/** `jobs run`. Throws `ExitError` 2 for a queue without recurring jobs, 1 while the job is running. */
export async function runQueue(configuration: CommandOptions, queue: string, io: CommandIo): Promise<void> {
  await withDatabase(configuration, io, async (database) => {
    const outcome = await operatorChange<RunOutcome>(
      { database, clock: systemClock },
      (done) => (done.kind === 'due' ? jobAction('jobs run', done.id) : undefined),
      async (transaction) => await runPeriodicJobNow(transaction, queue, systemClock.now()),
    );
    if (outcome.kind === 'absent')
      throw new ExitError(ExitCode.usage, unknownQueue(queue, await listPeriodicQueues(database)));
    if (outcome.kind === 'running') throw new ExitError(ExitCode.failure, `${queue} is already running`);
    io.stdout(configuration.isJson ? `${JSON.stringify({ queue, status: 'available' })}\n` : `${queue} is due now\n`);
  });
}

function unknownQueue(queue: string, known: readonly string[]): string {
  const [nearest] = known.toSorted((one, other) => distance(queue, one) - distance(queue, other));
  const advice =
    nearest === undefined ? 'queues are only known after the first start of the service' : `did you mean ${nearest}?`;
  return `unknown recurring job ${visible(queue)}: ${advice}`;
}

async function withDatabase(
  configuration: CommandOptions,
  io: CommandIo,
  work: (database: OpenDatabase) => Promise<void>,
): Promise<void> {
  const foundation = await openFoundation({ ...configuration, isQuiet: true }, io, {
    shouldMigrate: true,
    needsSigningKeys: false,
  });
  try {
    await io.signals.race(work(foundation.database));
  } finally {
    await foundation.close();
  }
}

function idOf(text: string): Ulid {
  const id = parseId(text);
  if (id === undefined) throw new ExitError(ExitCode.usage, `${visible(text)} is not a job id`);
  return id;
}

function notFound(): ExitError {
  return new ExitError(ExitCode.failure, 'job not found: it is complete or was deleted');
}

function documentOf({ id, payload, created_at, scheduled_at, failed_at, ...rest }: JobRecord) {
  return {
    id: fromUuid(id),
    queue: rest.queue,
    status: rest.status,
    attempt: rest.attempt,
    created_at: timeOf(created_at),
    scheduled_at: timeOf(scheduled_at),
    failed_at: timeOf(failed_at),
    failed_reason: rest.failed_reason,
    queued_by: rest.queued_by,
    payload: shownPayload(payload),
  };
}

function timeOf(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}

const MAX_REASON_CHARACTERS = 80;

function jobsTable(records: readonly JobRecord[]): string {
  return table([
    ['ID', 'QUEUE', 'STATUS', 'ATTEMPT', 'CREATED', 'DUE', 'REASON'],
    ...records.map((job) => [
      fromUuid(job.id),
      visible(job.queue),
      job.status,
      String(job.attempt),
      secondOf(job.created_at),
      job.scheduled_at === null ? '-' : secondOf(job.scheduled_at),
      visible(job.failed_reason?.slice(0, MAX_REASON_CHARACTERS) ?? '-'),
    ]),
  ]);
}

/** Formats a time in UTC, with seconds. */
function secondOf(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
