/**
 * The queue in front of password hashing (operations 9.2): a bounded number of hashes at once, a bounded number of
 * callers that wait, a part of it for each address, and a bounded wait.
 */
import { LatchkeyError } from '#platform/base/errors.ts';
import { metrics } from '#platform/base/metrics.ts';
import { currentTask, outside } from '#platform/base/tasks.ts';

/** Who a password is hashed for. */
export interface HashCaller {
  /** Key of the client's address: callers of one address get only a part of the queue. */
  readonly address: string;
  /** Aborted when the client has left. */
  readonly signal?: AbortSignal | undefined;
}

export interface HashQueueOptions {
  /** Hashes computed at once. */
  readonly concurrency: number;
  /** Callers that may wait. */
  readonly length: number;
  readonly maxWaitMs: number;
}

interface Waiting {
  readonly address: string;
  readonly start: () => void;
}

const RETRY_AFTER_SECONDS = 5;

export class HashQueue {
  readonly #options: HashQueueOptions;
  readonly #maxPerAddress: number;
  #running = 0;
  // In order of arrival; a Set removes from the middle without a search.
  readonly #waiting = new Set<Waiting>();
  readonly #waitingOf = new Map<string, number>();

  constructor(options: HashQueueOptions) {
    this.#options = options;
    this.#maxPerAddress = Math.max(1, Math.floor(options.length / 4));
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Runs `work`, which computes in another thread, when it is its turn; its time counts as CPU time of the task.
   * Throws `overloaded` when the queue is full, the wait was too long, or the client has left.
   */
  async run<T>(work: () => Promise<T>, caller: HashCaller): Promise<T> {
    if (caller.signal?.aborted === true) throw clientLeft();
    if (this.#running < this.#options.concurrency) this.#running += 1;
    else await this.#awaitTurn(caller);
    return await outside(this.#compute(work, caller.signal));
  }

  /** Lets the next caller run however the work ends, also when it throws before it returns a promise. */
  async #compute<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const task = currentTask();
    const startedAt = performance.now();
    try {
      if (signal?.aborted === true) throw clientLeft();
      return await work();
    } finally {
      if (task !== undefined) task.cpuMs += performance.now() - startedAt;
      task?.trace?.record({ name: 'password hash', kind: 'internal', startedAt, attributes: {} });
      this.#startNext();
    }
  }

  #awaitTurn(caller: HashCaller): Promise<void> {
    const { address, signal } = caller;
    const ofAddress = this.#waitingOf.get(address) ?? 0;
    if (this.#waiting.size >= this.#options.length || ofAddress >= this.#maxPerAddress) {
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
          reject(overloaded('no password check was free in time'));
        }, this.#options.maxWaitMs);
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

  #startNext(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#running -= 1;
    else next.start();
  }
}

function overloaded(description: string): LatchkeyError {
  metrics?.count('latchkey_password_rejected_total', {});
  return new LatchkeyError('overloaded', { description, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function clientLeft(): LatchkeyError {
  return new LatchkeyError('overloaded', { description: 'the client left', retryAfterSeconds: RETRY_AFTER_SECONDS });
}
