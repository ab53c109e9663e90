import type { InstanceState } from '#domain/instance-state.ts';
import { readMailBacklog } from '#domain/rate-limits/late-mails.ts';
import type { SteadyClock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import { resumeTask } from '#platform/base/tasks.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { isSchemaUsable } from '#platform/postgres/migrator/migration-state.ts';

const INTERVAL_MS = 60_000;
const LOOK_MS = 1000;
/** Beyond it, what has expired here has not there (operations 8.1). */
const MAX_SKEW_MS = 60_000;

export interface Watched {
  readonly database: OpenDatabase;
  /** Is told to use the clock of this machine once that agrees with the database's. */
  readonly clock: SteadyClock;
  readonly log: Log;
  readonly state: InstanceState;
  /** Folder of the migrations of this program. */
  readonly migrations: string;
  /** For tests: a clock that nobody can set, in milliseconds. */
  readonly monotonic?: () => number;
}

/**
 * Compares clock and schema of the database with this process and looks at the queue: once a minute, at once when the
 * clock of this machine was set, and each second while the clocks differ.
 */
export class DatabaseWatch {
  readonly #watched: Watched;
  readonly #monotonic: () => number;
  readonly #timers: NodeJS.Timeout[] = [];
  /** At the last comparison. */
  #clocksAgree = true;
  /** How often the clock was set, and how often of that it had been when the last comparison began. */
  #setCount = 0;
  #comparedCount = 0;
  #checking: Promise<void> | undefined;
  #wasSetBack = false;
  /** From then on, by the clock that nobody can set: what was due has been late for a minute, not since a clock was set. */
  #judgesQueueFrom = 0;
  /** Called when the clock went back: what is remembered until some time would be remembered for longer. */
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
   * One comparison. While the database cannot be reached there is nothing to compare, and the health check says that.
   * @param isQuiet whether it was said already that the clocks differ
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

  /** The database may not have been there when the clock was set, or its clock is set right now. */
  #look(): void {
    this.#notice();
    if (!this.#clocksAgree || this.#setCount !== this.#comparedCount) void this.check({ isQuiet: !this.#clocksAgree });
  }

  #notice(): void {
    const milliseconds = Math.round(this.#watched.clock.takeStep());
    if (milliseconds === 0) return;
    this.#watched.log.warn('clock.set', 'the clock of this machine was set, or the machine stood still', {
      milliseconds,
    });
    this.#setCount += 1;
    if (milliseconds > 0) this.#judgesQueueFrom = this.#monotonic() + INTERVAL_MS;
    this.#wasSetBack ||= milliseconds < 0;
    // Of nobody's request.
    resumeTask(undefined, () => void this.check());
  }

  async #compare(isQuiet: boolean): Promise<void> {
    const { clock, database, log, state, migrations } = this.#watched;
    try {
      this.#notice();
      const setCount = this.#setCount;
      // `db.skew` is logged by the database itself.
      const agree = Math.abs(await database.skewMs({ isQuiet })) <= MAX_SKEW_MS;
      if (this.#clocksAgree && !agree) {
        log.error(
          'db.skew',
          'not ready: set the clock of this machine or of the database; until then requests are answered 503, ' +
            'background work waits, and /health answers 503 clock',
        );
      }
      if (!this.#clocksAgree && agree) log.info('db.skew', 'the clocks of this machine and of the database agree');
      this.#clocksAgree = agree;
      this.#comparedCount = setCount;
      if (agree && setCount === this.#setCount) clock.accept();
      if (this.#wasSetBack) this.onSetBack();
      this.#wasSetBack = false;
      const isUsable = await isSchemaUsable(database, migrations);
      if (state.isSchemaUsable && !isUsable) {
        log.error('db.migrate', 'not ready: the schema does not fit this version; /health answers 503 migrations');
      }
      state.isSchemaUsable = isUsable;
      if (isUsable && agree && this.#monotonic() >= this.#judgesQueueFrom) await checkQueue(this.#watched);
    } catch {
      log.debug('db.skew', 'clock and schema of the database could not be read');
    }
  }
}

async function checkQueue({ database, clock, log, state }: Watched): Promise<void> {
  const { due, isLate, oldestMs } = await readMailBacklog(database, clock.now());
  const fields = { due, oldest_seconds: Math.round(oldestMs / 1000) };
  if (isLate && !state.areMailsLate) {
    log.warn('job.behind', 'mails are late; forms that send one answer 503 until they have caught up', fields);
  }
  if (!isLate && state.areMailsLate) log.info('job.behind', 'mails have caught up', fields);
  state.areMailsLate = isLate;
}
