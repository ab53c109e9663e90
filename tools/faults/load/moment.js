import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * How often clocks were set so far, as whoever is at work on something saw it when they began: what lives for a short time
 * and was made before may be over since.
 */
export class Moment {
  #sets = 0;
  /** The last one that was beyond the lifetime of access tokens. */
  #lastLong = 0;
  #began = new AsyncLocalStorage();

  /** Right before the clocks are set. @param isLong whether access tokens are over by then */
  pass({ isLong }) {
    this.#sets += 1;
    if (isLong) this.#lastLong = this.#sets;
  }

  /** Does something that begins now. */
  async begin(work) {
    return await this.#began.run(this.#sets, work);
  }

  /** How often clocks had been set when what is at work began. */
  get start() {
    return this.#began.getStore() ?? this.#sets;
  }

  /** Whether clocks were set since what is at work began. */
  get hasPassed() {
    return this.start < this.#sets;
  }

  /** Whether access tokens that were issued to what is at work may be over. */
  get endsTokens() {
    return this.start < this.#lastLong;
  }
}
