/**
 * Deletes expired rows (operations 6.4). Each sweep is an hourly job, so it runs in one process at a time. Each batch
 * is its own transaction followed by a pause, to keep the impact on requests small. The modules that own the tables
 * decide which rows are deleted.
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
  /** Whether requests are waiting for the CPU or the database. The next batch then waits too. */
  readonly isBusy: () => boolean;
  /** While the clock may be wrong, no rows are deleted. */
  readonly instance: { isClockRight(): boolean };
  /** Replaces the pause in tests. */
  readonly pause?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const MIN_PAUSE_MS = 100;
/** A batch is followed by a pause of this many times its duration, so that cleanup takes a tenth of one processor. */
const PAUSES_PER_BATCH = 9;
const MAX_PAUSE_MS = 5_000;
const BUSY_PAUSE_MS = 1_000;
/** A batch runs after this many pauses even under load, so that tables cannot grow without limit. */
const MAX_BUSY_PAUSES = 10;
/** After this time, a sweep makes way for other due jobs and later continues where it stopped. */
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
      const batchStartedAt = performance.now();
      const batch = await database.transaction((open) => sweep.sweep(open, clock.now(), rules, from));
      rows += batch.rows;
      metrics?.count('latchkey_cleanup_rows_total', { table: tableOf(sweep) }, batch.rows);
      position = batch.next;
      await rest(deps, performance.now() - batchStartedAt, signal);
    }
  } finally {
    const fields = { rows, milliseconds: clock.now() - startedAt };
    if (rows > 0 && sweep.name.startsWith('expire-')) log.info('cleanup', `${sweep.name} ended sessions`, fields);
    else if (rows > 0) log.info('cleanup', `${sweep.name} deleted expired rows`, fields);
    else log.debug('cleanup', `${sweep.name} found nothing to delete`, fields);
  }
  return position === undefined ? DONE : { kind: 'unfinished', payload: position };
}

/** Returns the table name that metrics use. */
export function tableOf({ name }: Pick<Sweep, 'name'>): string {
  return name.replace(/^(cleanup|expire)-/, '');
}

async function rest({ isBusy, pause = pauseFor }: CleanUpDeps, batchMs: number, signal: AbortSignal): Promise<void> {
  await pause(Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, batchMs * PAUSES_PER_BATCH)), signal);
  for (let pauses = 0; isBusy() && pauses < MAX_BUSY_PAUSES && !signal.aborted; pauses += 1) {
    await pause(BUSY_PAUSE_MS, signal);
  }
}

async function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  await outside(sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined));
}
