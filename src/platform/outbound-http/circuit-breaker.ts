import type { Clock } from '#platform/base/clock.ts';

const MAX_FAILURES_IN_A_ROW = 5;
const REST_MS = 10_000;

/**
 * Keeps requests of people from waiting for a server that does not answer: after five failures in a row they fail at
 * once for ten seconds, and then one at a time tries whether it is back (operations 9.3).
 */
export class CircuitBreaker {
  readonly #clock: Clock;
  #failures = 0;
  #restsUntil = 0;
  #isTrying = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a call may be made now. Each that is admitted must be reported by `succeed`, `fail` or `giveUp`. */
  admits(): boolean {
    if (this.#failures < MAX_FAILURES_IN_A_ROW) return true;
    if (this.#isTrying || this.#clock.now() < this.#restsUntil) return false;
    this.#isTrying = true;
    return true;
  }

  /** Calls that did not ask for admission are reported as well. */
  succeed(): void {
    this.#failures = 0;
    this.#isTrying = false;
  }

  fail(): void {
    this.#failures += 1;
    this.#isTrying = false;
    if (this.#failures >= MAX_FAILURES_IN_A_ROW) this.#restsUntil = this.#clock.now() + REST_MS;
  }

  /** The call was not made after all. */
  giveUp(): void {
    this.#isTrying = false;
  }
}
