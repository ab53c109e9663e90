import type { InstanceState } from '#domain/instance-state.ts';
import { readMailBacklog } from '#domain/limits/late-mails.ts';
import type { SteadyClock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import { resumeTask } from '#platform/base/tasks.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { isSchemaUsable } from '#platform/postgres/migrator/migration-state.ts';

const INTERVAL_MS = 60_000;
const LOOK_MS = 1000;
/** With a larger difference, what has expired here has not expired there (operations 8.1). */
const MAX_SKEW_MS = 60_000;

export interface Watched {
  readonly database: OpenDatabase;
  /** Switches to the system clock once it agrees with the database. */
  readonly clock: SteadyClock;
  readonly log: Log;
  readonly state: InstanceState;
  /** Migrations directory of this program. */
  readonly migrations: string;
  /** For tests: a monotonic clock in milliseconds. */
  readonly monotonic?: () => number;
}

/**
 * Compares the clock and schema of the database with this process, and checks the queue: every minute, as soon as the
 * system clock was set, and every second while the clocks differ.
 */
export class DatabaseWatch {
  readonly #watched: Watched;
  readonly #monotonic: () => number;
  readonly #timers: NodeJS.Timeout[] = [];
  /** Result of the last comparison. */
  #clocksAgree = true;
  /** Number of clock changes, in total and when the last comparison began. */
  #setCount = 0;
  #comparedCount = 0;
  #checking: Promise<void> | undefined;
  #wasSetBack = false;
  /**
   * Monotonic time of the next queue check. After a clock change, jobs must be late for a minute before they count as
   * late.
   */
  #judgesQueueFrom = 0;
  /** Called when the clock went back, because entries with an expiry would be kept for longer. */
  onSetBack: () => void = () => undefined;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#monotonic = watched.monotonic ?? (() => performance.now());
    watched.state.isClockRight = () => this.#isClockRight();
  }

  start(): void {
    this.#timers.push(setInterval(() => void this.check(), INTERVAL_MS).unref());
    this.#timers.push(setInterval(() => this.#look(), LOOK_MS).unref());
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  /**
   * Compares once. If the database is unreachable, there is nothing to compare, and the health check reports it.
   * @param isQuiet whether a difference has been logged already
   */
  check({ isQuiet = false } = {}): Promise<void> {
    this.#checking ??= this.#compare(isQuiet).finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  #isClockRight(): boolean {
    this.#notice();
    return this.#clocksAgree && this.#setCount === this.#comparedCount;
  }

  /**
   * Repeats the comparison: the database may have been unreachable when the clock was set, or its clock may be
   * changing.
   */
  #look(): void {
    this.#notice();
    if (!this.#clocksAgree || this.#setCount !== this.#comparedCount) void this.check({ isQuiet: !this.#clocksAgree });
  }

  #notice(): void {
    const milliseconds = Math.round(this.#watched.clock.takeStep());
    if (milliseconds === 0) return;
    this.#watched.log.warn('clock.set', 'system clock changed, or the machine was suspended', {
      milliseconds,
    });
    this.#setCount += 1;
    if (milliseconds > 0) this.#judgesQueueFrom = this.#monotonic() + INTERVAL_MS;
    this.#wasSetBack ||= milliseconds < 0;
    // Not part of any request.
    resumeTask(undefined, () => void this.check());
  }

  async #compare(isQuiet: boolean): Promise<void> {
    const { clock, database, log, state, migrations } = this.#watched;
    try {
      this.#notice();
      const setCount = this.#setCount;
      // The database module logs `db.skew`.
      const agree = Math.abs(await database.skewMs({ isQuiet })) <= MAX_SKEW_MS;
      if (this.#clocksAgree && !agree) {
        log.error(
          'db.skew',
          'not ready: correct the clock of this machine or of the database; until then, requests get 503, ' +
            'background jobs wait, and /health returns 503 clock',
        );
      }
      if (!this.#clocksAgree && agree) log.info('db.skew', 'clock skew resolved');
      this.#clocksAgree = agree;
      this.#comparedCount = setCount;
      if (agree && setCount === this.#setCount) clock.accept();
      if (this.#wasSetBack) this.onSetBack();
      this.#wasSetBack = false;
      const isUsable = await isSchemaUsable(database, migrations);
      if (state.isSchemaUsable && !isUsable) {
        log.error(
          'db.migrate',
          'not ready: the database schema does not match this version; /health returns 503 migrations',
        );
      }
      state.isSchemaUsable = isUsable;
      if (isUsable && agree && this.#monotonic() >= this.#judgesQueueFrom) await checkQueue(this.#watched);
    } catch {
      log.debug('db.skew', 'could not read the clock and schema of the database');
    }
  }
}

async function checkQueue({ database, clock, log, state }: Watched): Promise<void> {
  const { due, isLate, oldestMs } = await readMailBacklog(database, clock.now());
  const fields = { due, oldest_seconds: Math.round(oldestMs / 1000) };
  if (isLate && !state.areMailsLate) {
    log.warn('job.behind', 'emails are delayed; forms that send one return 503 until the queue has caught up', fields);
  }
  if (!isLate && state.areMailsLate) log.info('job.behind', 'emails are no longer delayed', fields);
  state.areMailsLate = isLate;
}
