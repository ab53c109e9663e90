import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Counts clock changes, and remembers the count at the start of each task. Short-lived values from before a change may
 * have expired since.
 */
export class Moment {
  #sets = 0;
  /** The last change that exceeded the lifetime of access tokens. */
  #lastLong = 0;
  #began = new AsyncLocalStorage();

  /**
   * Called right before the clocks are set.
   * @param isLong whether access tokens will have expired
   */
  pass({ isLong }) {
    this.#sets += 1;
    if (isLong) this.#lastLong = this.#sets;
  }

  /** Runs a task that starts now. */
  async begin(work) {
    return await this.#began.run(this.#sets, work);
  }

  /** Number of clock changes when the current task started. */
  get start() {
    return this.#began.getStore() ?? this.#sets;
  }

  /** Whether clocks were set since the current task started. */
  get hasPassed() {
    return this.start < this.#sets;
  }

  /** Whether access tokens of the current task may have expired. */
  get endsTokens() {
    return this.start < this.#lastLong;
  }
}
