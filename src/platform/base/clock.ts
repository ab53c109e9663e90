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

/**
 * The clock of requests and jobs: that of this machine, until somebody sets it. From then on it continues from the time
 * before, by the monotonic clock, until the new time was compared and accepted. So nothing is judged or written by a time
 * that may be wrong.
 */
export class SteadyClock implements Clock {
  readonly #machine: Clock;
  readonly #monotonic: () => number;
  /** Milliseconds from the monotonic clock to the time that is used. */
  #offset: number;
  /** Milliseconds from the monotonic clock to that of the machine, at the last look. */
  #lookedAt: number;

  /** @param monotonic milliseconds since any moment */
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
   * By how many milliseconds the clock of this machine was set, or the machine stood still, since the last call; 0: it
   * was not.
   */
  takeStep(): number {
    const offset = this.#machine.now() - this.#monotonic();
    const step = offset - this.#lookedAt;
    this.#lookedAt = offset;
    return isStep(step) ? step : 0;
  }

  /** Uses the clock of this machine again, as the last `takeStep` saw it. */
  accept(): void {
    this.#offset = this.#lookedAt;
  }
}

function isStep(milliseconds: number): boolean {
  return Math.abs(milliseconds) >= MIN_STEP_MS;
}
