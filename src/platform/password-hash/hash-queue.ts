/**
 * The queue for password hashing (operations 9.2). It limits the number of concurrent hashes, the number of waiting
 * callers, the share of each address and the waiting time.
 */
import { LatchkeyError } from '#platform/base/errors.ts';
import { metrics } from '#platform/base/metrics.ts';
import { currentTask, outside } from '#platform/base/tasks.ts';

/** The caller for whom a password is hashed. */
export interface HashCaller {
  /** Key of the client's address. Callers from one address get only a part of the queue. */
  readonly address: string;
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal | undefined;
}

export interface HashQueueLimits {
  /** Maximum number of concurrent hashes. */
  readonly concurrency: number;
  /** Maximum number of waiting callers. */
  readonly length: number;
}

export interface HashQueueOptions extends HashQueueLimits {
  readonly maxWaitMs: number;
}

interface Waiting {
  readonly address: string;
  readonly start: () => void;
}

const RETRY_AFTER_SECONDS = 5;

export class HashQueue {
  readonly #maxWaitMs: number;
  #limits: HashQueueLimits;
  #running = 0;
  // In order of arrival. A Set allows removal from the middle without a search.
  readonly #waiting = new Set<Waiting>();
  readonly #waitingOf = new Map<string, number>();

  constructor(options: HashQueueOptions) {
    this.#maxWaitMs = options.maxWaitMs;
    this.#limits = options;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Changes the limits, also for callers that are already waiting. Running work continues. */
  limit(limits: HashQueueLimits): void {
    this.#limits = limits;
    this.#startWaiting();
  }

  /**
   * Runs `work`, which computes on another thread, when there is capacity. Its duration counts as CPU time of the task.
   * Throws `overloaded` if the queue is full, the wait takes too long, or the client disconnects.
   */
  async run<T>(work: () => Promise<T>, caller: HashCaller): Promise<T> {
    if (caller.signal?.aborted === true) throw clientLeft();
    if (this.#running < this.#limits.concurrency) this.#running += 1;
    else await this.#awaitTurn(caller);
    return await outside(this.#compute(work, caller.signal));
  }

  /** Starts the next caller however the work ends, even if it throws before it returns a promise. */
  async #compute<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const task = currentTask();
    const startedAt = performance.now();
    try {
      if (signal?.aborted === true) throw clientLeft();
      return await work();
    } finally {
      if (task !== undefined) {
        const ms = performance.now() - startedAt;
        task.cpuMs += ms;
        task.offThreadMs += ms;
      }
      task?.trace?.record({ name: 'password hash', kind: 'internal', startedAt, attributes: {} });
      this.#running -= 1;
      this.#startWaiting();
    }
  }

  #awaitTurn(caller: HashCaller): Promise<void> {
    const { address, signal } = caller;
    const ofAddress = this.#waitingOf.get(address) ?? 0;
    const { length } = this.#limits;
    if (this.#waiting.size >= length || ofAddress >= Math.max(1, Math.floor(length / 4))) {
      throw overloaded('too many password checks are waiting');
    }
    return outside(
      new Promise<void>((resolve, reject) => {
        const leave = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          this.#remove(waiting);
        };
        const waiting: Waiting = {
          address,
          start: () => {
            leave();
            resolve();
          },
        };
        const onAbort = (): void => {
          leave();
          reject(clientLeft());
        };
        const timer = setTimeout(() => {
          leave();
          reject(overloaded('no capacity for a password check in time'));
        }, this.#maxWaitMs);
        signal?.addEventListener('abort', onAbort, { once: true });
        this.#waiting.add(waiting);
        this.#waitingOf.set(address, ofAddress + 1);
      }),
    );
  }

  #remove(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    const left = (this.#waitingOf.get(waiting.address) ?? 1) - 1;
    if (left === 0) this.#waitingOf.delete(waiting.address);
    else this.#waitingOf.set(waiting.address, left);
  }

  #startWaiting(): void {
    for (const next of this.#waiting) {
      if (this.#running >= this.#limits.concurrency) return;
      this.#running += 1;
      next.start();
    }
  }
}

function overloaded(description: string): LatchkeyError {
  metrics?.count('latchkey_password_rejected_total', {});
  return new LatchkeyError('overloaded', { description, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function clientLeft(): LatchkeyError {
  return new LatchkeyError('overloaded', {
    description: 'client disconnected',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
