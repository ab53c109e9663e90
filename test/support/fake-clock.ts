import type { Clock } from '#platform/base/clock.ts';

/** A clock that stands still until a test advances it. */
export class FakeClock implements Clock {
  #now: number;

  constructor(now = Date.UTC(2026, 5, 1, 12)) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  advanceSeconds(seconds: number): void {
    this.#now += seconds * 1000;
  }
}
