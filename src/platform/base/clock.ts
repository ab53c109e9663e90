/**
 * The process clock. Passed to whatever compares times, so that tests can advance it; every statement that compares
 * stored times gets its `now` as a parameter.
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

/** Clocks of instances differ by no more: one that is further off serves nothing (operations 8.1). */
const MAX_DIFFERENCE_MS = 60_000;

/**
 * Whether something happened within the last `withinMs`. What lies in the future did not: it was written before a clock
 * was set back, and would be recent for as long as that clock was ahead.
 */
export function isRecent(at: number, withinMs: number, now: number): boolean {
  const age = now - at;
  return age <= withinMs && age >= -MAX_DIFFERENCE_MS;
}

/** Whether something happened after a moment: what lies far beyond it was written before a clock was set back. */
export function happenedAfter(at: number, moment: number): boolean {
  return at > moment && at - moment <= MAX_DIFFERENCE_MS;
}

/** Below it a clock was corrected, also by a leap second; beyond it, it was set. */
const MIN_STEP_MS = 5000;

/** Notices that the clock of this machine was set, or that the machine stood still, by a clock that nobody can set. */
export class ClockSteps {
  readonly #clock: Clock;
  readonly #monotonic: () => number;
  #offset: number;

  /** @param monotonic milliseconds since any moment */
  constructor(clock: Clock, monotonic: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#monotonic = monotonic;
    this.#offset = clock.now() - monotonic();
  }

  /** By how many milliseconds the clock was set since the last call; 0: it was not. */
  take(): number {
    const offset = this.#clock.now() - this.#monotonic();
    const step = offset - this.#offset;
    this.#offset = offset;
    return Math.abs(step) < MIN_STEP_MS ? 0 : step;
  }
}
