import { Worker } from 'node:worker_threads';
import { LatchkeyError } from '#base/errors.ts';
import { outside } from '#base/tasks.ts';
import type { Strength, StrengthAnswer, StrengthQuestion } from './strength-messages.ts';

const MOST_WAITING = 16;
const IDLE_MS = 60_000;
const RETRY_AFTER_SECONDS = 5;

interface Asked {
  readonly resolve: (strength: Strength) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Asks a worker thread how hard passwords are to guess. The thread starts with the first question and ends after a
 * minute without any; questions are answered one after the other, and few may wait.
 */
export class StrengthEstimator {
  readonly #workerUrl: URL;
  readonly #asked = new Map<number, Asked>();
  #worker: Worker | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #lastId = 0;

  /** @param workerUrl the built `strength.worker` file */
  constructor(workerUrl: URL) {
    this.#workerUrl = workerUrl;
  }

  /**
   * Throws `overloaded` when too many questions wait.
   * @param knownWords username, addresses and the like: easy to guess for this account
   */
  async estimate(password: string, knownWords: readonly string[]): Promise<Strength> {
    if (this.#asked.size >= MOST_WAITING) {
      throw new LatchkeyError('overloaded', {
        description: 'too many password estimates are waiting',
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    clearTimeout(this.#idleTimer);
    this.#lastId += 1;
    const id = this.#lastId;
    const question: StrengthQuestion = { id, password, knownWords };
    return await outside(
      new Promise<Strength>((resolve, reject) => {
        this.#asked.set(id, { resolve, reject });
        this.#startedWorker().postMessage(question);
      }),
    );
  }

  /** Ends the thread; open questions fail. */
  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#forget(worker, new Error('the strength worker was closed'));
    await worker.terminate();
  }

  #startedWorker(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(this.#workerUrl);
    // It never keeps the process alive; who waits for an answer does so by a socket or a terminal.
    worker.unref();
    worker.on('message', (answer: StrengthAnswer) => this.#deliver(answer));
    worker.on('error', (error) => this.#forget(worker, error instanceof Error ? error : new Error(String(error))));
    worker.on('exit', () => this.#forget(worker, new Error('the strength worker ended')));
    this.#worker = worker;
    return worker;
  }

  #deliver(answer: StrengthAnswer): void {
    this.#asked.get(answer.id)?.resolve({ score: answer.score, isCommon: answer.isCommon });
    this.#asked.delete(answer.id);
    if (this.#asked.size > 0) return;
    this.#idleTimer = setTimeout(() => void this.close(), IDLE_MS).unref();
  }

  #forget(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const asked of this.#asked.values()) asked.reject(error);
    this.#asked.clear();
  }
}
