import type { Clock } from '#platform/base/clock.ts';

const MAX_FAILURES_IN_A_ROW = 5;
const REST_MS = 10_000;

/**
 * Prevents user requests from waiting for an unresponsive server. After five consecutive failures, calls fail
 * immediately for ten seconds. Then one call at a time checks whether the server has recovered (operations 9.3).
 */
export class CircuitBreaker {
  readonly #clock: Clock;
  #failures = 0;
  #restsUntil = 0;
  #isTrying = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns whether a call may be made now. Report each admitted call with `succeed`, `fail` or `giveUp`. */
  admits(): boolean {
    if (this.#failures < MAX_FAILURES_IN_A_ROW) return true;
    if (this.#isTrying || this.#clock.now() < this.#restsUntil) return false;
    this.#isTrying = true;
    return true;
  }

  /** Also accepts reports of calls that were not admitted first. */
  succeed(): void {
    this.#failures = 0;
    this.#isTrying = false;
  }

  fail(): void {
    this.#failures += 1;
    this.#isTrying = false;
    if (this.#failures >= MAX_FAILURES_IN_A_ROW) this.#restsUntil = this.#clock.now() + REST_MS;
  }

  /** Reports that an admitted call was not made. */
  giveUp(): void {
    this.#isTrying = false;
  }
}
