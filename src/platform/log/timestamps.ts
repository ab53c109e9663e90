import type { Clock } from '#platform/base/clock.ts';

const MAX_DRIFT_MS = 5;

/**
 * UTC times with microseconds for the log: the monotonic clock anchored to the wall clock, and anchored anew when the
 * two have drifted apart (the wall clock was set, or the machine slept).
 */
export class Timestamps {
  readonly #clock: Clock;
  #offsetMs = 0;
  #second = -1;
  /** `2026-06-17T10:49:22.` of that second: making it anew for each line would cost six times as much. */
  #prefix = '';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** For example `2026-06-17T10:49:22.419912Z`. */
  now(): string {
    const wall = this.#clock.now();
    const monotonic = performance.now();
    if (Math.abs(monotonic + this.#offsetMs - wall) > MAX_DRIFT_MS) this.#offsetMs = wall - monotonic;
    const micros = Math.floor((monotonic + this.#offsetMs) * 1000);
    const second = Math.floor(micros / 1_000_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#prefix = new Date(second * 1000).toISOString().slice(0, 20);
    }
    return `${this.#prefix}${String(micros - second * 1_000_000).padStart(6, '0')}Z`;
  }
}
