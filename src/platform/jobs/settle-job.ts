/**
 * Settles a job after a run: completes it, schedules a retry or keeps it as dead (operations 6.2). Also writes its log
 * line and metrics.
 */
import { randomInt } from 'node:crypto';
import type { Clock } from '#platform/base/clock.ts';
import { failureReports } from '#platform/base/failure-reports.ts';
import type { Log } from '#platform/base/log.ts';
import { metrics } from '#platform/base/metrics.ts';
import { statisticsText } from '#platform/log/format-request-line.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { isUniqueViolation } from '#platform/postgres/failures.ts';
import { statement } from '#platform/postgres/statement.ts';
import { nextRun } from './periodic-jobs.ts';
import type { JobOutcome, JobQueue } from './queue.ts';
import { Interrupted, type JobRow, type RunningJob } from './running-job.ts';

interface SettlementOptions {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxRetries: number;
}

const FIRST_RETRY_SECONDS = 5;
const MAX_RETRY_AFTER_SECONDS = 3600;
/** Maximum delay between two runs of a job that is retried by age. */
const MAX_RETRY_SECONDS = 900;
const MAX_REASON_BYTES = 4096;

export class JobSettlement {
  readonly #options: SettlementOptions;
  readonly #worker: string;

  /** @param worker id of the worker that runs the jobs */
  constructor(options: SettlementOptions, worker: string) {
    this.#options = options;
    this.#worker = worker;
  }

  /** Stores the outcome of a run. If that fails, it throws and can be retried. */
  async settle(running: RunningJob, outcome: JobOutcome | Interrupted): Promise<void> {
    await this.#store(running, outcome);
    if (metrics !== undefined && !(outcome instanceof Interrupted)) this.#report(running, outcome);
  }

  async #store(running: RunningJob, outcome: JobOutcome | Interrupted): Promise<void> {
    const { clock, log } = this.#options;
    const { row, queue, task, parent } = running;
    const now = clock.now();
    const fields = { attempt: row.attempt, parent };
    const statistics = () => statisticsText(task, performance.now() - task.startedAt);
    if (outcome instanceof Interrupted) {
      await this.#putBack(row, { dueAt: now, attempt: row.attempt - 1, reason: null, payload: null });
      log.info('job.retry', `${row.queue} was interrupted: ${outcome.message}`, fields);
      return;
    }
    if (outcome.kind === 'postponed') {
      const dueAt = now + outcome.afterSeconds * 1000;
      await this.#putBack(row, { dueAt, attempt: row.attempt - 1, reason: null, payload: null });
      log.debug('job.postponed', `${row.queue}: ${outcome.reason}`, fields);
      return;
    }
    if (outcome.kind === 'retry' && this.mayRetry(row, queue)) {
      const afterSeconds = retryDelay(row.attempt, queue, outcome.afterSeconds);
      await this.#putBack(row, { dueAt: now + afterSeconds * 1000, attempt: row.attempt, ...outcome, payload: null });
      const after_seconds = Math.round(afterSeconds);
      log.warn('job.retry', `${row.queue} ${statistics()}`, { ...fields, reason: outcome.reason, after_seconds });
      return;
    }
    if (outcome.kind === 'unfinished') {
      const payload = JSON.stringify(outcome.payload);
      await this.#putBack(row, { dueAt: now, attempt: 0, reason: null, payload });
    } else if (queue.minuteOfHour !== undefined) {
      await this.#putBack(row, {
        dueAt: nextRun(queue.minuteOfHour, queue.everyMinutes, now),
        attempt: 0,
        reason: outcome.kind === 'done' ? null : outcome.reason,
        payload: '{}',
      });
    } else if (outcome.kind === 'done') {
      await this.#options.database.execute(completeJob, { id: row.id, worker: this.#worker });
    } else {
      const reason = cut(outcome.reason);
      await this.#options.database.execute(failJob, { id: row.id, worker: this.#worker, reason, now: new Date(now) });
    }
    if (outcome.kind === 'retry' || outcome.kind === 'failed') {
      if (running.hasCrashed) failureReports?.report(running.error, { name: `job ${row.queue}`, task });
      log.error('job.dead', `${row.queue} ${statistics()}`, { ...fields, reason: outcome.reason });
    } else if (queue.minuteOfHour === undefined) log.info('job.completed', `${row.queue} ${statistics()}`, fields);
    else log.debug('job.completed', `${row.queue} ${statistics()}`, fields);
  }

  #report({ row, queue, task, hasCrashed }: RunningJob, { kind }: JobOutcome): void {
    const isOver = kind === 'done' || kind === 'unfinished' || kind === 'postponed';
    const failed = hasCrashed ? 'crashed' : 'failed';
    const retried = this.mayRetry(row, queue) ? 'retry' : 'abandon';
    const labels = {
      queue: queue.name,
      result: isOver ? 'success' : failed,
      decision: isOver ? 'none' : kind === 'retry' ? retried : 'fail',
    };
    metrics?.observe('latchkey_jobs_processed_seconds', labels, (performance.now() - task.startedAt) / 1000);
  }

  /** Returns whether a failed run is followed by a retry. */
  mayRetry({ attempt, created_at }: JobRow, { retriedForSeconds }: JobQueue): boolean {
    if (retriedForSeconds === undefined) return attempt <= this.#options.maxRetries;
    return this.#options.clock.now() - created_at < retriedForSeconds * 1000;
  }

  async #putBack(
    row: JobRow,
    state: {
      readonly dueAt: number;
      readonly attempt: number;
      readonly reason: string | null;
      /** Null leaves it unchanged. */
      readonly payload: string | null;
    },
  ): Promise<void> {
    const { dueAt, attempt, reason, payload } = state;
    try {
      await this.#options.database.execute(putBackJob, {
        id: row.id,
        worker: this.#worker,
        dueAt: new Date(dueAt),
        attempt,
        reason: reason === null ? null : cut(reason),
        payload,
      });
    } catch (error) {
      if (!isUniqueViolation(error, 'queue_jobs_waiting')) throw error;
      // A newer job with the same key is already waiting and does the same work.
      await this.#options.database.execute(completeJob, { id: row.id, worker: this.#worker });
    }
  }
}

/** Returns 5 s, 10 s, 20 s and so on, varied by up to 20%, or longer if the other side asks for it. */
function retryDelay(attempt: number, queue: JobQueue, requestedSeconds: number | undefined): number {
  const spread = randomInt(80, 121) / 100;
  const longest = queue.retriedForSeconds === undefined ? Number.POSITIVE_INFINITY : MAX_RETRY_SECONDS;
  const delay = Math.min(FIRST_RETRY_SECONDS * 2 ** (attempt - 1) * spread, longest);
  return Math.max(delay, Math.min(requestedSeconds ?? 0, MAX_RETRY_AFTER_SECONDS));
}

/** Makes a reason storable: error messages may contain anything, and PostgreSQL text cannot contain NUL. */
function cut(reason: string): string {
  const bytes = Buffer.from(reason.replaceAll('\0', ' '));
  return new TextDecoder().decode(bytes.subarray(0, MAX_REASON_BYTES), { stream: true });
}

interface OwnJob {
  readonly id: string;
  readonly worker: string;
}

const completeJob = statement<never, OwnJob>(
  'complete-job',
  'delete from queue_jobs where id = :id::uuid and worker = :worker::uuid',
);

const putBackJob = statement<
  never,
  OwnJob & {
    readonly dueAt: Date;
    readonly attempt: number;
    readonly reason: string | null;
    readonly payload: string | null;
  }
>(
  'put-job-back',
  `update queue_jobs
      set worker = null, due_at = :dueAt::timestamptz, attempt = :attempt::integer, failed_reason = :reason::text,
          payload = coalesce(:payload::jsonb, payload)
    where id = :id::uuid and worker = :worker::uuid`,
);

const failJob = statement<never, OwnJob & { readonly reason: string; readonly now: Date }>(
  'fail-job',
  `update queue_jobs set worker = null, failed_at = :now::timestamptz, failed_reason = :reason::text
    where id = :id::uuid and worker = :worker::uuid`,
);
