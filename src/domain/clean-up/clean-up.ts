/**
 * Deletes rows whose time is over (operations 6.4), until a job queue does: one process of a database at a time, which
 * holds the row lease `clean-up`. The lease of a process that dies runs out within a minute. Each batch is a
 * transaction of its own on a connection of its own, with a pause after it, so that requests are hardly slowed down.
 *
 * The table `sweep_runs` says when each sweep is due: once an hour, however often processes start and stop. Leases are
 * in `leases.ts`. Which rows are deleted is decided by the modules that own the tables.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RetentionConfig } from '#config/sections/retention.ts';
import type { Clock } from '#platform/base/clock.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import type { Database, Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { releaseLease, takeLease } from './leases.ts';
import { type Position, START, type Sweep } from './sweep.ts';

export interface CleanUpDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly retention: RetentionConfig;
  /** Tables that refer to others come first. */
  readonly sweeps: readonly Sweep[];
  /** Whether requests wait for the processor or the database: then the next batch waits too. */
  readonly isBusy: () => boolean;
  /** For tests, which don't wait. */
  readonly pause?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const LEASE = 'clean-up';
const LEASE_SECONDS = 60;
/** A third of the lease: a batch and the pauses after it fit in what is left. */
const RENEW_MS = 20_000;
const TICK_MS = 30_000;
const PAUSE_MS = 100;
const BUSY_PAUSE_MS = 1_000;
/** However busy the service is, a batch runs after this many pauses: a table must not grow without end. */
const MAX_BUSY_PAUSES = 10;
/** After this the next sweep runs. */
const MAX_SWEEP_MS = 9 * 60_000;

export class CleanUp {
  readonly #deps: CleanUpDeps;
  readonly #holder = randomUUID();
  readonly #pause: NonNullable<CleanUpDeps['pause']>;
  readonly #stopping = new AbortController();
  /** Where sweeps that ran out of time continue. */
  readonly #positions = new Map<string, Position>();
  /** Until then the lease is held without being prolonged. */
  #renewAt = 0;
  #isScheduled = false;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(deps: CleanUpDeps) {
    this.#deps = deps;
    this.#pause = deps.pause ?? pauseFor;
  }

  /** Looks for due sweeps twice a minute. */
  start(): void {
    this.#timer ??= setInterval(() => void this.run(), TICK_MS).unref();
    void this.run();
  }

  /** Ends after the batch under way and gives the lease back. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#running;
  }

  /** Does what is due, unless another process does it. Never throws. */
  run(): Promise<void> {
    this.#running ??= this.#runDue().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #runDue(): Promise<void> {
    try {
      await this.#schedule();
      while (!this.#stopping.signal.aborted) {
        const due = await this.#listDue();
        if (due.length === 0 || !(await this.#holdLease())) return;
        try {
          if (!(await this.#sweepAll(due))) return;
        } finally {
          this.#renewAt = 0;
          await releaseLease(this.#deps.database, LEASE, this.#holder);
        }
      }
    } catch (error) {
      this.#reportFailure('clean-up could not be done', error);
    }
  }

  /** @returns false when there is a reason to leave the rest for later */
  async #sweepAll(due: readonly Sweep[]): Promise<boolean> {
    let hasFailed = false;
    for (const sweep of due) {
      try {
        if (!(await this.#sweepTable(sweep))) return false;
      } catch (error) {
        hasFailed = true;
        this.#reportFailure(`${sweep.name} could not be done`, error);
      }
    }
    return !hasFailed;
  }

  /** @returns false when the process stops or lost its lease */
  async #sweepTable(sweep: Sweep): Promise<boolean> {
    const { clock, database, log, retention } = this.#deps;
    const startedAt = clock.now();
    let position: Position | undefined = this.#positions.get(sweep.name) ?? START;
    let rows = 0;
    let isInterrupted = false;
    try {
      while (position !== undefined && clock.now() - startedAt < MAX_SWEEP_MS) {
        isInterrupted = !(await this.#holdLease());
        if (isInterrupted) break;
        const from: Position = position;
        const batch = await database.transaction((open) => sweep.sweep(open, clock.now(), retention, from));
        rows += batch.rows;
        position = batch.next;
        await this.#rest();
      }
    } finally {
      const fields = { rows, milliseconds: clock.now() - startedAt };
      if (rows > 0) log.info('cleanup', `${sweep.name} removed what was over`, fields);
      else log.debug('cleanup', `${sweep.name} found nothing`, fields);
    }
    if (isInterrupted) return false;
    if (position === undefined) {
      this.#positions.delete(sweep.name);
      await scheduleSweep(database, sweep, clock.now());
    } else {
      // It stays due, and continues from here after the others.
      this.#positions.set(sweep.name, position);
    }
    return true;
  }

  async #rest(): Promise<void> {
    const { signal } = this.#stopping;
    await this.#pause(PAUSE_MS, signal);
    for (let pauses = 0; this.#deps.isBusy() && pauses < MAX_BUSY_PAUSES && !signal.aborted; pauses += 1) {
      await this.#pause(BUSY_PAUSE_MS, signal);
    }
  }

  /** @returns false when another process has it, or this one stops */
  async #holdLease(): Promise<boolean> {
    if (this.#stopping.signal.aborted) return false;
    const { clock, database } = this.#deps;
    const now = clock.now();
    if (now < this.#renewAt) return true;
    const isHeld = await takeLease(database, { name: LEASE, holder: this.#holder, seconds: LEASE_SECONDS, now });
    this.#renewAt = isHeld ? now + RENEW_MS : 0;
    return isHeld;
  }

  async #schedule(): Promise<void> {
    if (this.#isScheduled) return;
    await scheduleSweeps(this.#deps.database, this.#deps.sweeps, this.#deps.clock.now());
    this.#isScheduled = true;
  }

  async #listDue(): Promise<readonly Sweep[]> {
    const { clock, database, sweeps } = this.#deps;
    const due = await listDueSweeps(database, sweeps, clock.now());
    return sweeps.filter((sweep) => due.has(sweep.name));
  }

  #reportFailure(message: string, error: unknown): void {
    this.#deps.log.warn('cleanup.failed', message, { reason: describeError(error).message });
  }
}

async function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const schedule = statement<never, { readonly names: readonly string[]; readonly dueAt: readonly Date[] }>(
  'schedule-sweeps',
  `insert into sweep_runs (name, due_at)
  select run.name, run.due_at from unnest(:names::text[], :dueAt::timestamptz[]) as run (name, due_at) order by run.name
  on conflict (name) do nothing`,
);

const listDue = statement<{ name: string }, { readonly names: readonly string[]; readonly now: Date }>(
  'due-sweeps',
  'select name from sweep_runs where name = any (:names::text[]) and due_at <= :now::timestamptz',
);

const reschedule = statement<never, { readonly name: string; readonly dueAt: Date }>(
  'reschedule-sweep',
  'update sweep_runs set due_at = :dueAt::timestamptz where name = :name::text',
);

/** Sweeps that this database does not know yet become due at their next minute. */
async function scheduleSweeps(database: Queryable, sweeps: readonly Sweep[], now: number): Promise<void> {
  await database.execute(schedule, {
    names: sweeps.map(({ name }) => name),
    dueAt: sweeps.map((sweep) => nextRun(sweep, now)),
  });
}

async function listDueSweeps(database: Queryable, sweeps: readonly Sweep[], now: number): Promise<ReadonlySet<string>> {
  const rows = await database.rows(listDue, { names: sweeps.map(({ name }) => name), now: new Date(now) });
  return new Set(rows.map(({ name }) => name));
}

/** After a run that came to its end. */
async function scheduleSweep(database: Queryable, sweep: Sweep, now: number): Promise<void> {
  await database.execute(reschedule, { name: sweep.name, dueAt: nextRun(sweep, now) });
}

function nextRun({ minute }: Sweep, now: number): Date {
  const thisHour = Math.floor(now / HOUR_MS) * HOUR_MS + minute * MINUTE_MS;
  return new Date(thisHour > now ? thisHour : thisHour + HOUR_MS);
}
