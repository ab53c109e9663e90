import { Worker } from 'node:worker_threads';
import type { Strength } from './estimate-strength.ts';
import type { StrengthReply, StrengthRequest } from './strength.worker.ts';

interface OpenRequest {
  readonly limitMs: number;
  readonly resolve: (strength: Strength | undefined) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout | undefined;
}

/** A worker thread that estimates the strength of passwords, one at a time. */
export class StrengthThread {
  readonly #worker: Worker;
  #open: OpenRequest | undefined;
  #isEnded = false;

  constructor(workerUrl: URL) {
    this.#worker = new Worker(workerUrl);
    // Does not keep the process alive: waiting callers hold an open socket or terminal.
    this.#worker.unref();
    this.#worker.on('message', (reply: StrengthReply) => this.#receive(reply));
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', () => this.#fail(new Error('the strength worker exited')));
  }

  /** False once the thread has ended for any reason. */
  get isUsable(): boolean {
    return !this.#isEnded;
  }

  /**
   * Returns the strength; undefined if the estimate took longer than `limitMs`, which terminates the thread. The time
   * for loading the thread does not count.
   */
  estimate(request: StrengthRequest, limitMs: number): Promise<Strength | undefined> {
    return new Promise((resolve, reject) => {
      this.#open = { limitMs, resolve, reject, timer: undefined };
      this.#worker.postMessage(request);
    });
  }

  /** Terminates the thread; an open request fails. */
  async end(): Promise<void> {
    this.#fail(new Error('the strength worker was closed'));
    await this.#worker.terminate();
  }

  #receive(reply: StrengthReply): void {
    const open = this.#open;
    if (open === undefined) return;
    if (reply === 'begun') {
      open.timer = setTimeout(() => this.#giveUp(open), open.limitMs).unref();
      return;
    }
    this.#finish(open);
    open.resolve(reply);
  }

  #giveUp(open: OpenRequest): void {
    this.#isEnded = true;
    this.#finish(open);
    open.resolve(undefined);
    void this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.#isEnded = true;
    const open = this.#open;
    if (open === undefined) return;
    this.#finish(open);
    open.reject(error);
  }

  #finish(open: OpenRequest): void {
    clearTimeout(open.timer);
    this.#open = undefined;
  }
}
