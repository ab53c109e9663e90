/**
 * Deletes rows whose time is over (operations 6.4): each sweep is hourly work of the job queue, and so runs on one
 * process at a time. Each batch is a transaction of its own, with a pause after it, so that requests are hardly slowed
 * down. Which rows are deleted is decided by the modules that own the tables.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import { metrics } from '#platform/base/metrics.ts';
import { outside } from '#platform/base/tasks.ts';
import { DONE, type Job, type JobOutcome, type JobQueue } from '#platform/jobs/queue.ts';
import type { Database } from '#platform/postgres/database.ts';
import { type Position, positionOf, START, type Sweep, type SweepRules } from './sweep.ts';

export interface CleanUpDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly rules: SweepRules;
  /** Whether requests wait for the processor or the database: then the next batch waits too. */
  readonly isBusy: () => boolean;
  /** While the clock may be wrong nothing is deleted. */
  readonly instance: { isClockRight(): boolean };
  /** For tests, which don't wait. */
  readonly pause?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const PAUSE_MS = 100;
const BUSY_PAUSE_MS = 1_000;
/** However busy the service is, a batch runs after this many pauses: a table must not grow without end. */
const MAX_BUSY_PAUSES = 10;
/** After this it gives way to others that are due, and continues where it was. */
const MAX_SWEEP_MS = 9 * 60_000;
const TIME_LIMIT_SECONDS = 600;

export function sweepQueue(sweep: Sweep, deps: CleanUpDeps): JobQueue {
  return {
    name: sweep.name,
    minuteOfHour: sweep.minute,
    ...(sweep.everyMinutes === undefined ? {} : { everyMinutes: sweep.everyMinutes }),
    timeLimitSeconds: TIME_LIMIT_SECONDS,
    run: (job) => sweepTable(sweep, deps, job),
  };
}

async function sweepTable(sweep: Sweep, deps: CleanUpDeps, { payload, signal }: Job): Promise<JobOutcome> {
  const { clock, database, instance, log, rules } = deps;
  const mayGoOn = (): boolean => clock.now() - startedAt < MAX_SWEEP_MS && !signal.aborted && instance.isClockRight();
  const startedAt = clock.now();
  let position: Position | undefined = positionOf(payload) ?? START;
  let rows = 0;
  try {
    while (position !== undefined && mayGoOn()) {
      const from: Position = position;
      const batch = await database.transaction((open) => sweep.sweep(open, clock.now(), rules, from));
      rows += batch.rows;
      metrics?.count('latchkey_cleanup_rows_total', { table: tableOf(sweep) }, batch.rows);
      position = batch.next;
      await rest(deps, signal);
    }
  } finally {
    const fields = { rows, milliseconds: clock.now() - startedAt };
    if (rows > 0 && sweep.endsSessions === true) log.info('cleanup', `${sweep.name} ended sessions`, fields);
    else if (rows > 0) log.info('cleanup', `${sweep.name} removed what was over`, fields);
    else log.debug('cleanup', `${sweep.name} found nothing`, fields);
  }
  return position === undefined ? DONE : { kind: 'unfinished', payload: position };
}

/** What the metrics call it. */
export function tableOf({ name }: Pick<Sweep, 'name'>): string {
  return name.replace(/^(cleanup|expire)-/, '');
}

async function rest({ isBusy, pause = pauseFor }: CleanUpDeps, signal: AbortSignal): Promise<void> {
  await pause(PAUSE_MS, signal);
  for (let pauses = 0; isBusy() && pauses < MAX_BUSY_PAUSES && !signal.aborted; pauses += 1) {
    await pause(BUSY_PAUSE_MS, signal);
  }
}

async function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  await outside(sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined));
}
