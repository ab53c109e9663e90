import { LatchkeyError } from '#platform/base/errors.ts';
import { outside } from '#platform/base/tasks.ts';
import type { HashCaller } from '#platform/password-hash/hash-queue.ts';
import type { Strength } from './estimate-strength.ts';
import { StrengthThread } from './strength-thread.ts';

/**
 * Enough for a burst of users at once while the first thread loads its dictionaries. An estimate takes some hundredths
 * of a second.
 */
const MAX_REQUESTS = 64;
const MAX_REQUESTS_PER_ADDRESS = 4;
/** Below the time limit of a request. */
const MAX_WAIT_MS = 10_000;
/** Each takes 60 MB. The second starts when a request waits behind one from a different address. */
const MAX_THREADS = 2;
const MAX_ESTIMATE_MS = 1000;
/** Characters to score of a password that takes too long. The whole password is at least that hard to guess. */
const SHORTENED_CHARACTERS = 16;
const IDLE_MS = 60_000;
const RETRY_AFTER_SECONDS = 5;
const LATE = 'timed out waiting for a password estimate';

interface EstimateRequest {
  readonly password: string;
  readonly knownWords: readonly string[];
  readonly caller: HashCaller;
  readonly resolve: (strength: Strength) => void;
  readonly reject: (error: Error) => void;
  /** Latest start, as a `performance.now()` value. */
  readonly deadline: number;
  /** Whether estimating the whole password took too long. */
  isShortened: boolean;
}

/**
 * Estimates password strength in worker threads. Some passwords keep a thread busy for seconds. Each IP address
 * therefore has at most one running estimate and a few waiting ones, and addresses take turns. A thread that works for
 * more than a second is terminated. Threads start with the first request and end after an idle minute.
 */
export class StrengthEstimator {
  readonly #workerUrl: URL;
  readonly #maxEstimateMs: number;
  readonly #maxWaitMs: number;
  /** Waiting requests by IP address, in the order of their turns. */
  readonly #waiting = new Map<string, EstimateRequest[]>();
  readonly #running = new Map<StrengthThread, EstimateRequest>();
  #idle: StrengthThread[] = [];
  #idleTimer: NodeJS.Timeout | undefined;

  /**
   * @param workerUrl the built `strength.worker` file
   * @param maxEstimateMs one second except in tests
   * @param maxWaitMs ten seconds except in tests
   */
  constructor(workerUrl: URL, maxEstimateMs = MAX_ESTIMATE_MS, maxWaitMs = MAX_WAIT_MS) {
    this.#workerUrl = workerUrl;
    this.#maxEstimateMs = maxEstimateMs;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Throws `overloaded` if too many requests are waiting (of this caller or in total), if the request was not started
   * in time, or if the client disconnected.
   * @param knownWords username, email addresses and the like, which are easy to guess for this account
   */
  async estimate(password: string, knownWords: readonly string[], caller: HashCaller): Promise<Strength> {
    const { address, signal } = caller;
    if (signal?.aborted === true) throw overloaded('client disconnected');
    const all = [...this.#waiting.values()].flat().concat([...this.#running.values()]);
    const hasTooMany = all.filter((request) => request.caller.address === address).length >= MAX_REQUESTS_PER_ADDRESS;
    if (hasTooMany) throw overloaded('too many password estimates from one address are queued');
    if (all.length >= MAX_REQUESTS) throw overloaded('too many password estimates are queued');
    clearTimeout(this.#idleTimer);
    let waiting: NodeJS.Timeout | undefined;
    return await outside(
      new Promise<Strength>((resolve, reject) => {
        const deadline = performance.now() + this.#maxWaitMs;
        const request = { password, knownWords, caller, resolve, reject, deadline, isShortened: false };
        const onAbort = () => this.#leave(request, 'client disconnected');
        signal?.addEventListener('abort', onAbort, { once: true });
        waiting = setTimeout(() => this.#leave(request, LATE), this.#maxWaitMs).unref();
        this.#enqueue(request);
        this.#startNext();
      }),
    ).finally(() => clearTimeout(waiting));
  }

  /** Terminates the threads; open requests fail. */
  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const threads = [...this.#running.keys(), ...this.#idle];
    this.#idle = [];
    for (const request of [...this.#waiting.values()].flat())
      request.reject(new Error('the strength estimator was closed'));
    this.#waiting.clear();
    await Promise.all(threads.map((thread) => thread.end()));
  }

  #enqueue(request: EstimateRequest): void {
    const { address } = request.caller;
    const ofAddress = this.#waiting.get(address);
    if (ofAddress === undefined) this.#waiting.set(address, [request]);
    else ofAddress.push(request);
  }

  /** Removes a request that is still waiting. */
  #leave(request: EstimateRequest, why: string): void {
    const { address } = request.caller;
    const ofAddress = this.#waiting.get(address) ?? [];
    const others = ofAddress.filter((other) => other !== request);
    if (others.length === ofAddress.length) return;
    if (others.length === 0) this.#waiting.delete(address);
    else this.#waiting.set(address, others);
    request.reject(overloaded(why));
  }

  #startNext(): void {
    while (this.#running.size < MAX_THREADS) {
      const request = this.#takeNext();
      if (request === undefined) break;
      this.#idle = this.#idle.filter((thread) => thread.isUsable);
      void this.#run(this.#idle.pop() ?? new StrengthThread(this.#workerUrl), request);
    }
    if (this.#running.size > 0) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.close(), IDLE_MS).unref();
  }

  /** Takes the oldest request of the next address that has no running request. That address moves to the end. */
  #takeNext(): EstimateRequest | undefined {
    const busy = new Set([...this.#running.values()].map((request) => request.caller.address));
    for (const [address, [first, ...others]] of this.#waiting) {
      if (busy.has(address)) continue;
      this.#waiting.delete(address);
      if (others.length > 0) this.#waiting.set(address, others);
      return first;
    }
    return undefined;
  }

  async #run(thread: StrengthThread, request: EstimateRequest): Promise<void> {
    this.#running.set(thread, request);
    const { password, knownWords, isShortened } = request;
    const maxCharacters = isShortened ? SHORTENED_CHARACTERS : undefined;
    try {
      const strength = await thread.estimate({ password, knownWords, maxCharacters }, this.#maxEstimateMs);
      if (strength !== undefined) request.resolve(strength);
      else this.#retryShortened(request);
    } catch (error) {
      request.reject(error instanceof Error ? error : new Error(String(error)));
    }
    this.#running.delete(thread);
    if (thread.isUsable) this.#idle.push(thread);
    this.#startNext();
  }

  #retryShortened(request: EstimateRequest): void {
    if (request.caller.signal?.aborted === true) request.reject(overloaded('client disconnected'));
    else if (performance.now() >= request.deadline) request.reject(overloaded(LATE));
    else if (request.isShortened) request.reject(overloaded('the password takes too long to estimate'));
    else {
      request.isShortened = true;
      this.#enqueue(request);
    }
  }
}

function overloaded(description: string): LatchkeyError {
  return new LatchkeyError('overloaded', { description, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
