/**
 * The process clock. Code that compares times receives it as a parameter, so that tests can advance it. Statements that
 * compare stored times receive `now` as a parameter.
 */
export interface Clock {
  /** Milliseconds since the epoch (UTC). */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Whole seconds since the epoch, the unit of protocol bodies. */
export function epochSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

/** Maximum clock difference between instances. An instance that differs by more serves no requests (operations 8.1). */
const MAX_DIFFERENCE_MS = 60_000;

/**
 * Returns whether an event happened within the last `withinMs`. Times in the future do not count: they were written
 * before a clock was set back and would otherwise stay recent until that clock catches up.
 */
export function isRecent(at: number, withinMs: number, now: number): boolean {
  const age = now - at;
  return age <= withinMs && age >= -MAX_DIFFERENCE_MS;
}

/**
 * Returns whether an event happened after `moment`. Times far beyond it do not count: they were written before a clock
 * was set back.
 */
export function happenedAfter(at: number, moment: number): boolean {
  return at > moment && at - moment <= MAX_DIFFERENCE_MS;
}

/** Smaller steps are corrections, including leap seconds. Larger ones mean that the clock was set. */
const MIN_STEP_MS = 5000;

/**
 * The clock of requests and jobs. It follows the system clock until that clock is set. It then continues on the
 * monotonic clock until the new time has been compared and accepted. So a possibly wrong time is never used or stored.
 */
export class SteadyClock implements Clock {
  readonly #machine: Clock;
  readonly #monotonic: () => number;
  /** Difference between the time in use and the monotonic clock, in milliseconds. */
  #offset: number;
  /** Difference between the system clock and the monotonic clock at the last check, in milliseconds. */
  #lookedAt: number;

  /** @param monotonic milliseconds since an arbitrary moment */
  constructor(machine: Clock, monotonic: () => number = () => performance.now()) {
    this.#machine = machine;
    this.#monotonic = monotonic;
    this.#offset = machine.now() - monotonic();
    this.#lookedAt = this.#offset;
  }

  now(): number {
    const now = this.#machine.now();
    const steady = this.#monotonic();
    if (isStep(now - steady - this.#offset)) return Math.round(steady + this.#offset);
    this.#offset = now - steady;
    return now;
  }

  /**
   * Returns by how many milliseconds the system clock was set, or the machine was suspended, since the last call.
   * Returns 0 if neither happened.
   */
  takeStep(): number {
    const offset = this.#machine.now() - this.#monotonic();
    const step = offset - this.#lookedAt;
    this.#lookedAt = offset;
    return isStep(step) ? step : 0;
  }

  /** Resumes following the system clock, with the offset that the last `takeStep` measured. */
  accept(): void {
    this.#offset = this.#lookedAt;
  }
}

function isStep(milliseconds: number): boolean {
  return Math.abs(milliseconds) >= MIN_STEP_MS;
}
