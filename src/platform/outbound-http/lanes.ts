import { outside } from '#platform/base/tasks.ts';

interface Lane {
  running: number;
  readonly waiting: Set<() => void>;
}

export interface LaneLimits {
  /** Maximum concurrency for one key. Further calls are queued. */
  readonly perKey: number;
  /** Maximum number of running and queued calls over all keys. */
  readonly total: number;
}

/** Limits the concurrency for each key, so that one slow host does not delay others. */
export class Lanes {
  readonly #limits: LaneLimits;
  readonly #lanes = new Map<string, Lane>();
  #total = 0;

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  /**
   * Runs `work` when there is capacity.
   * @param signal ends the wait
   * @throws the error from `refusal` if too many calls are in progress or the signal ends the wait
   */
  async run<T>(key: string, signal: AbortSignal, refusal: () => Error, work: () => Promise<T>): Promise<T> {
    if (this.#total >= this.#limits.total) throw refusal();
    const lane = this.#lanes.get(key) ?? { running: 0, waiting: new Set() };
    this.#lanes.set(key, lane);
    this.#total += 1;
    try {
      await this.#enter(lane, signal, refusal);
      try {
        return await work();
      } finally {
        const [next] = lane.waiting;
        // The slot passes to the next caller, so the number of running calls does not change.
        if (next === undefined) lane.running -= 1;
        else {
          lane.waiting.delete(next);
          next();
        }
      }
    } finally {
      this.#total -= 1;
      if (lane.running === 0 && lane.waiting.size === 0) this.#lanes.delete(key);
    }
  }

  async #enter(lane: Lane, signal: AbortSignal, refusal: () => Error): Promise<void> {
    if (lane.running < this.#limits.perKey) {
      lane.running += 1;
      return;
    }
    const turn = new AbortController();
    await outside(
      new Promise<void>((resolve, reject) => {
        lane.waiting.add(resolve);
        const leave = (): void => {
          lane.waiting.delete(resolve);
          reject(refusal());
        };
        signal.addEventListener('abort', leave, { signal: turn.signal });
      }),
    ).finally(() => turn.abort());
  }
}
