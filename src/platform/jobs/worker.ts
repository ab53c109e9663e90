/**
 * Runs the jobs of some queues in this process. It polls for due jobs every second. While it has a backlog, it also
 * polls as soon as a job ends. It takes as many jobs as it has capacity for, with a statement that never gives a job to
 * two processes. A worker leases a job for a minute and renews the lease while the job runs. If the process dies, the
 * job is due again when the lease expires (operations 6.1, 6.2).
 */
import { randomInt } from 'node:crypto';
import type { Clock } from '#platform/base/clock.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import { metrics } from '#platform/base/metrics.ts';
import { delay, resumeTask, Task } from '#platform/base/tasks.ts';
import type { Tracing } from '#platform/base/tracing.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import { schedulePeriodicJobs } from './periodic-jobs.ts';
import { type JobOutcome, type JobQueue, readQueuedBy } from './queue.ts';
import { Interrupted, type JobRow, type RunningJob } from './running-job.ts';
import { JobSettlement } from './settle-job.ts';

export interface JobWorkerOptions {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  readonly tracing: Tracing;
  readonly queues: readonly JobQueue[];
  /** Maximum number of concurrent jobs. */
  readonly concurrency: number;
  readonly pollIntervalSeconds: number;
  readonly maxRetries: number;
  /** Whether more jobs may be taken now. Defaults to always. */
  readonly mayTake?: () => boolean;
}

const LEASE_SECONDS = 60;
/** A third of the lease, so two renewals may fail. */
const RENEW_MS = 20_000;
/** Maximum number of jobs taken by one statement, so that several processes share a backlog. */
const MAX_TAKEN = 5;
/** Delay before the first retry to store an outcome. */
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 15_000;
/** Time that aborted jobs have to react. */
const ABORT_MS = 1_000;

export class JobWorker {
  readonly #options: JobWorkerOptions;
  readonly #queues: ReadonlyMap<string, JobQueue>;
  readonly #id: string;
  readonly #settlement: JobSettlement;
  readonly #running = new Map<string, RunningJob>();
  /** One promise per running job, resolved when it ends. */
  readonly #ends = new Set<Promise<void>>();
  #count = 0;
  #isStopping = false;
  /** The last poll may have left due jobs behind for lack of capacity. */
  #hasBacklog = false;
  #isScheduled = false;
  #pollTimer: NodeJS.Timeout | undefined;
  #renewTimer: NodeJS.Timeout | undefined;
  #polling: Promise<void> | undefined;

  constructor(options: JobWorkerOptions) {
    this.#options = options;
    this.#queues = new Map(options.queues.map((queue) => [queue.name, queue]));
    this.#id = toUuid(newId(options.clock.now()));
    this.#settlement = new JobSettlement(options, this.#id);
  }

  /** Queues whose jobs it takes. */
  get queueNames(): readonly string[] {
    return [...this.#queues.keys()];
  }

  /** Counts the running jobs by queue. */
  countRunning(): ReadonlyMap<string, number> {
    const counts = new Map(this.queueNames.map((name) => [name, 0]));
    for (const { queue } of this.#running.values()) counts.set(queue.name, (counts.get(queue.name) ?? 0) + 1);
    return counts;
  }

  start(): void {
    this.#renewTimer ??= setInterval(() => void this.renew(), RENEW_MS).unref();
    this.#scheduleNextPoll(0);
  }

  /** Stops taking jobs, waits for the running ones and returns those that do not end in time. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#pollTimer);
    await this.#polling;
    await this.#endWithin(graceMs);
    for (const { aborting, task } of this.#running.values()) {
      resumeTask(task, () => aborting.abort(new Interrupted('the process is stopping')));
    }
    await this.#endWithin(ABORT_MS);
    clearInterval(this.#renewTimer);
  }

  /** Takes and starts as many due jobs as there is capacity for. @returns how many. Never throws. */
  async poll(): Promise<number> {
    const startedAt = performance.now();
    const { clock, concurrency, database, log, mayTake } = this.#options;
    this.#hasBacklog = false;
    if (mayTake?.() === false) return 0;
    try {
      if (!this.#isScheduled) await schedulePeriodicJobs(database, [...this.#queues.values()], clock.now());
      this.#isScheduled = true;
      const room = Math.min(MAX_TAKEN, concurrency - this.#running.size);
      this.#hasBacklog = room <= 0;
      if (room <= 0 || this.#isStopping) return 0;
      const now = clock.now();
      const rows = await database.rows(takeJobs, {
        queues: this.queueNames,
        room,
        worker: this.#id,
        now: new Date(now),
        leaseUntil: leaseUntil(now),
      });
      metrics?.observe('latchkey_worker_tick_seconds', {}, (performance.now() - startedAt) / 1000);
      this.#hasBacklog = rows.length === room;
      for (const row of rows) this.#start(row);
      return rows.length;
    } catch (error) {
      // The database module reports a lost connection itself.
      log.debug('job.poll', 'could not poll for due jobs', { reason: describeError(error).message });
      return 0;
    }
  }

  /** Waits until no job is running. */
  async idle(): Promise<void> {
    while (this.#ends.size > 0) await Promise.all(this.#ends);
  }

  /**
   * Renews the leases of the running jobs and aborts the jobs that another process has taken. Also reschedules jobs
   * whose due time lies in a future set by a clock that has since been set back. Never throws.
   */
  async renew(): Promise<void> {
    const { clock, database, log, mayTake } = this.#options;
    if (mayTake?.() === false) return;
    await this.#prolong();
    try {
      await database.execute(recallJobs, {
        queues: this.queueNames,
        now: new Date(clock.now()),
        leaseUntil: leaseUntil(clock.now()),
      });
    } catch (error) {
      log.debug('job.poll', 'could not reschedule future jobs', { reason: describeError(error).message });
    }
  }

  async #prolong(): Promise<void> {
    const { clock, database, log } = this.#options;
    const ids = [...this.#running.keys()];
    if (ids.length === 0) return;
    try {
      const kept = await database.rows(renewLeases, { ids, worker: this.#id, leaseUntil: leaseUntil(clock.now()) });
      const keptIds = new Set(kept.map(({ id }) => id));
      for (const id of ids) {
        const running = this.#running.get(id);
        if (running === undefined || keptIds.has(id)) continue;
        resumeTask(running.task, () => running.aborting.abort(new Interrupted('another process took over the job')));
      }
    } catch (error) {
      log.debug('job.poll', 'could not renew job leases', { reason: describeError(error).message });
    }
  }

  #scheduleNextPoll(milliseconds: number): void {
    if (this.#isStopping) return;
    this.#pollTimer = setTimeout(() => {
      this.#polling = this.poll().then(() => {
        this.#polling = undefined;
        const hasMore = this.#hasBacklog && this.#hasRoom;
        metrics?.count('latchkey_worker_wakeups_total', { reason: hasMore ? 'backlog' : 'interval' });
        this.#scheduleNextPoll(hasMore ? 0 : this.#pollMs());
      });
    }, milliseconds);
  }

  get #hasRoom(): boolean {
    return this.#running.size < this.#options.concurrency;
  }

  /** Polls immediately if there is a backlog, instead of waiting for the next interval. */
  #pollAgain(): void {
    if (!this.#hasBacklog || this.#pollTimer === undefined || this.#polling !== undefined) return;
    clearTimeout(this.#pollTimer);
    this.#scheduleNextPoll(0);
  }

  /** Varied by up to 10%, so that processes do not poll at the same time. */
  #pollMs(): number {
    const milliseconds = this.#options.pollIntervalSeconds * 1000;
    return randomInt(Math.round(milliseconds * 0.9), Math.round(milliseconds * 1.1) + 1);
  }

  #start(row: JobRow): void {
    const queue = this.#queues.get(row.queue);
    // A process suspended for longer than its lease may take a job that it is already running.
    if (queue === undefined || this.#running.has(row.id)) return;
    this.#count += 1;
    const task = new Task(`job-${row.queue}-${this.#count}`);
    const [parent, tracePlace] = readQueuedBy(row.queued_by);
    this.#options.tracing.beginJob(task, tracePlace);
    const running: RunningJob = { row, queue, task, parent, aborting: new AbortController(), hasCrashed: false };
    this.#running.set(row.id, running);
    const end = new Promise<void>((resolve) => {
      resumeTask(task, () => {
        void this.#run(running).then(resolve);
      });
    });
    this.#ends.add(end);
    void end.then(() => this.#ends.delete(end));
  }

  async #run(running: RunningJob): Promise<void> {
    let outcome: JobOutcome | Interrupted | undefined;
    try {
      outcome = await this.#outcomeOf(running);
      await this.#settle(running, outcome);
    } catch (error) {
      // The lease expires, and the job runs again.
      const reason = describeError(error).message;
      this.#options.log.warn('job.retry', `${running.row.queue} finished, but its outcome could not be stored`, {
        reason,
      });
    } finally {
      this.#running.delete(running.row.id);
      running.task.trace?.end(jobSpan(running, outcome));
      this.#pollAgain();
    }
  }

  /**
   * Retries for as long as a database is typically unavailable: if the outcome is not stored, the job runs a second
   * time.
   */
  async #settle(running: RunningJob, outcome: JobOutcome | Interrupted): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
      try {
        return await this.#settlement.settle(running, outcome);
      } catch (error) {
        if (this.#isStopping || pauseMs > MAX_PAUSE_MS) throw error;
      }
      await delay(pauseMs);
    }
  }

  async #outcomeOf(running: RunningJob): Promise<JobOutcome | Interrupted> {
    const { row, queue, task, aborting } = running;
    // The process also died during the last run.
    if (row.attempt > this.#options.maxRetries + 1 && !this.#settlement.mayRetry(row, queue))
      return { kind: 'failed', reason: 'the process exited during every run' };
    const { signal } = aborting;
    const limit = setTimeout(() => {
      resumeTask(task, () => aborting.abort(new Error(`took longer than ${queue.timeLimitSeconds} s`)));
    }, queue.timeLimitSeconds * 1000).unref();
    try {
      const aborted = new Promise<never>((_, reject) => {
        // Ensures that the abort happens in a stretch of the task.
        signal.addEventListener('abort', () => resumeTask(task, () => reject(signal.reason)));
      });
      return await Promise.race([
        queue.run({ id: row.id, payload: row.payload, attempt: row.attempt, signal }),
        aborted,
      ]);
    } catch (error) {
      if (signal.reason instanceof Interrupted) return signal.reason;
      const { message, stack } = describeError(signal.aborted ? signal.reason : reasonOf(error));
      this.#options.log.debug('job.retry', message, { stack });
      running.hasCrashed = true;
      running.error = error;
      return { kind: 'retry', reason: message };
    } finally {
      clearTimeout(limit);
    }
  }

  async #endWithin(milliseconds: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(() => resumeTask(undefined, resolve), milliseconds);
    });
    await Promise.race([this.idle(), limit]);
    clearTimeout(timer);
  }
}

/** Returns the database error if that caused the failure. */
function reasonOf(error: unknown): unknown {
  const isUnavailable = error instanceof LatchkeyError && error.code === 'temporarily_unavailable';
  return isUnavailable ? (error.cause ?? error) : error;
}

/** Leaves out the failure reason, which may contain anything. */
function jobSpan({ row, task }: RunningJob, outcome: JobOutcome | Interrupted | undefined) {
  const kind = outcome instanceof Interrupted ? 'interrupted' : outcome?.kind;
  const attributes = {
    'latchkey.task.id': task.id,
    'latchkey.job.id': row.id,
    'latchkey.job.queue': row.queue,
    'latchkey.job.attempt': row.attempt,
    'latchkey.job.outcome': kind,
  };
  const failure = kind === 'retry' || kind === 'failed' || kind === undefined ? (kind ?? 'error') : undefined;
  return { name: `job ${row.queue}`, attributes, failure };
}

function leaseUntil(now: number): Date {
  return new Date(now + LEASE_SECONDS * 1000);
}

/** Leaves jobs of unknown queues to versions that know them. */
const takeJobs = statement<
  JobRow,
  {
    readonly queues: readonly string[];
    readonly room: number;
    readonly worker: string;
    readonly now: Date;
    readonly leaseUntil: Date;
  }
>(
  'take-jobs',
  `with due as materialized (
    select id from queue_jobs
     where failed_at is null and due_at <= :now::timestamptz and queue = any (:queues::text[])
     order by due_at limit :room::integer
       for update skip locked
  )
  update queue_jobs job
     set worker = :worker::uuid, due_at = :leaseUntil::timestamptz, attempt = job.attempt + 1
   where job.id = any (array(select due.id from due))
  returning job.id, job.queue, job.payload, job.attempt, job.queued_by, ${ms('job.created_at')} as created_at`,
);

const renewLeases = statement<
  { id: string },
  { readonly ids: readonly string[]; readonly worker: string; readonly leaseUntil: Date }
>(
  'renew-jobs',
  `update queue_jobs set due_at = :leaseUntil::timestamptz
    where id = any (:ids::uuid[]) and worker = :worker::uuid
  returning id`,
);

/**
 * Jobs created or taken by a clock that was more than a minute ahead, or due later than any job can be. They become due
 * after one lease, because another process may be running one and renewing its lease.
 */
const recallJobs = statement<
  never,
  { readonly queues: readonly string[]; readonly now: Date; readonly leaseUntil: Date }
>(
  'recall-jobs',
  `update queue_jobs set due_at = :leaseUntil::timestamptz, created_at = least(created_at, :now::timestamptz)
    where failed_at is null and due_at > :leaseUntil::timestamptz and queue = any (:queues::text[])
      and (created_at > :leaseUntil::timestamptz
        or (worker is not null and due_at > :leaseUntil::timestamptz + interval '1 minute')
        or due_at > :now::timestamptz + interval '7 days')`,
);
