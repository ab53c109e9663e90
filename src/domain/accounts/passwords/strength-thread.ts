import { Worker } from 'node:worker_threads';
import type { Strength } from './estimate-strength.ts';
import type { StrengthQuestion, StrengthReply } from './strength.worker.ts';

interface Asked {
  readonly limitMs: number;
  readonly resolve: (strength: Strength | undefined) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout | undefined;
}

/** One worker thread that estimates the strength of passwords, one at a time. */
export class StrengthThread {
  readonly #worker: Worker;
  #asked: Asked | undefined;
  #isEnded = false;

  constructor(workerUrl: URL) {
    this.#worker = new Worker(workerUrl);
    // It never keeps the process alive; who waits for an answer does so by a socket or a terminal.
    this.#worker.unref();
    this.#worker.on('message', (reply: StrengthReply) => this.#receive(reply));
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', () => this.#fail(new Error('the strength worker ended')));
  }

  /** False once it has ended, for whatever reason. */
  get isUsable(): boolean {
    return !this.#isEnded;
  }

  /**
   * The strength; undefined when the estimate took longer than `limitMs`, which ends the thread. What it takes to
   * load the thread does not count.
   */
  estimate(question: StrengthQuestion, limitMs: number): Promise<Strength | undefined> {
    return new Promise((resolve, reject) => {
      this.#asked = { limitMs, resolve, reject, timer: undefined };
      this.#worker.postMessage(question);
    });
  }

  /** Ends the thread; an open question fails. */
  async end(): Promise<void> {
    this.#fail(new Error('the strength worker was closed'));
    await this.#worker.terminate();
  }

  #receive(reply: StrengthReply): void {
    const asked = this.#asked;
    if (asked === undefined) return;
    if (reply === 'begun') {
      asked.timer = setTimeout(() => this.#giveUp(asked), asked.limitMs).unref();
      return;
    }
    this.#finish(asked);
    asked.resolve(reply);
  }

  #giveUp(asked: Asked): void {
    this.#isEnded = true;
    this.#finish(asked);
    asked.resolve(undefined);
    void this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.#isEnded = true;
    const asked = this.#asked;
    if (asked === undefined) return;
    this.#finish(asked);
    asked.reject(error);
  }

  #finish(asked: Asked): void {
    clearTimeout(asked.timer);
    this.#asked = undefined;
  }
}
