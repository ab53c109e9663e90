import { metrics } from '#platform/base/metrics.ts';
import { unavailable } from './failures.ts';

/** Number of callers waiting for a connection, over all queues of one database. */
export interface WaitingGauge {
  waiting: number;
}

export interface WaitingLimits {
  readonly maxWaiters: number;
  readonly timeoutMs: number;
}

interface Waiter<T> {
  readonly serve: (value: T) => void;
  readonly refuse: (error: unknown) => void;
  /** In terms of `performance.now()`. */
  readonly since: number;
  readonly timer: NodeJS.Timeout;
}

/** Callers waiting for a connection in FIFO order, with limits on their number and waiting time. */
export class WaitingQueue<T> {
  readonly #limits: WaitingLimits;
  readonly #gauge: WaitingGauge;
  readonly #waiters = new Set<Waiter<T>>();
  #lastProblem: unknown;

  constructor(limits: WaitingLimits, gauge: WaitingGauge) {
    this.#limits = limits;
    this.#gauge = gauge;
  }

  get length(): number {
    return this.#waiters.size;
  }

  /** Sets why connections cannot be opened, or undefined once they can. Used as the `cause` of rejections. */
  setProblem(problem: unknown): void {
    this.#lastProblem = problem;
  }

  /**
   * Calls exactly one of the two functions, outside any stretch: `refuse` with `temporarily_unavailable` if the queue
   * is full or the wait takes too long.
   */
  add(serve: (value: T) => void, refuse: (error: unknown) => void): void {
    if (this.#gauge.waiting >= this.#limits.maxWaiters) {
      refuse(unavailable('Too many requests are waiting for the database.', this.#lastProblem));
      return;
    }
    const waiter: Waiter<T> = {
      serve,
      refuse,
      since: performance.now(),
      timer: setTimeout(() => {
        this.#remove(waiter);
        refuse(unavailable('The database did not become available in time.', this.#lastProblem));
      }, this.#limits.timeoutMs),
    };
    this.#gauge.waiting += 1;
    this.#waiters.add(waiter);
  }

  /** Serves the caller that has waited longest. Returns false if no caller is waiting. */
  serveNext(value: T): boolean {
    const [waiter] = this.#waiters;
    if (waiter === undefined) return false;
    this.#remove(waiter);
    waiter.serve(value);
    return true;
  }

  /** Refuses all waiting callers. */
  refuseAll(error: unknown): void {
    for (const waiter of [...this.#waiters]) {
      this.#remove(waiter);
      waiter.refuse(error);
    }
  }

  #remove(waiter: Waiter<T>): void {
    clearTimeout(waiter.timer);
    metrics?.observe('db_pool_wait_seconds', {}, (performance.now() - waiter.since) / 1000);
    this.#waiters.delete(waiter);
    this.#gauge.waiting -= 1;
  }
}
