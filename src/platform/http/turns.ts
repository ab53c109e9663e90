/**
 * A queue for requests that must not slow down other clients (security 4.17). These are requests of an address with
 * several in progress, and all requests of an address that has recently used much work. They start one by one,
 * alternating between addresses. Each is followed by a pause longer than the event loop time that it used.
 */
import { resumeTask, type Task } from '#platform/base/tasks.ts';

/** A request that may be queued. */
export interface TurnTaker {
  readonly task: Task;
  /** The key under which it is counted while it runs without having been queued. */
  turnKey: string | undefined;
}

interface Waiter {
  readonly taker: TurnTaker;
  readonly begin: () => void;
}

/**
 * Maximum number of concurrent requests per address. When a visitor opens a page, further ones wait a few milliseconds.
 */
const MAX_AT_ONCE = 3;
/** Maximum queue length per address. Further requests are refused. */
const MAX_WAITING_OF_ONE = 200;
const MAX_WAITING = 2000;
/** Maximum pause after a queued request. */
const MAX_PAUSE_MS = 1000;
/** A request that takes longer is waiting for something other than the event loop. */
const MAX_TURN_MS = 20;

export class Turns {
  /** Share of JavaScript time during which the process had a CPU, since tasks measure wall-clock time. */
  readonly #share: () => number;
  readonly #running = new Map<string, number>();
  readonly #waiting = new Map<string, Waiter[]>();
  /** Queued requests that have started but not ended, with the event loop time that they had used before. */
  readonly #begun = new Map<TurnTaker, number>();
  #waitingCount = 0;
  #mayBeginAt = 0;
  #latest: TurnTaker | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(share: () => number) {
    this.#share = share;
  }

  /**
   * Starts a request immediately. @returns false if its address has too many requests in progress, so that it must wait
   */
  begin(key: string, taker: TurnTaker): boolean {
    const count = this.#running.get(key) ?? 0;
    if (count >= MAX_AT_ONCE) return false;
    this.#running.set(key, count + 1);
    taker.turnKey = key;
    return true;
  }

  /** Resolves when it is the request's turn. Returns undefined if the queue is full. */
  wait(key: string, taker: TurnTaker): Promise<void> | undefined {
    const line = this.#waiting.get(key) ?? [];
    if (line.length >= MAX_WAITING_OF_ONE || this.#waitingCount >= MAX_WAITING) return undefined;
    if (line.length === 0) this.#waiting.set(key, line);
    this.#waitingCount += 1;
    return new Promise((resolve) => {
      line.push({ taker, begin: () => resumeTask(taker.task, resolve) });
      this.#plan();
    });
  }

  /** Ends a request, whether or not it was queued. */
  end(taker: TurnTaker): void {
    const { turnKey: key } = taker;
    if (key !== undefined) {
      const count = (this.#running.get(key) ?? 0) - 1;
      if (count > 0) this.#running.set(key, count);
      else this.#running.delete(key);
      return;
    }
    const before = this.#begun.get(taker);
    if (before === undefined) return;
    this.#begun.delete(taker);
    const now = performance.now();
    this.#mayBeginAt = Math.max(this.#mayBeginAt, now) + pauseAfter(this.#share() * (loopMs(taker.task) - before));
    if (this.#latest !== taker) return;
    this.#latest = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#plan();
  }

  #plan(): void {
    if (this.#timer !== undefined || this.#waitingCount === 0) return;
    const pauseMs = this.#latest === undefined ? this.#mayBeginAt - performance.now() : MAX_TURN_MS;
    this.#timer = setTimeout(() => this.#next(), Math.max(1, pauseMs));
  }

  #next(): void {
    this.#timer = undefined;
    this.#latest = undefined;
    for (const [key, line] of this.#waiting) {
      const waiter = line.shift();
      // Moves the address behind the others.
      this.#waiting.delete(key);
      if (line.length > 0) this.#waiting.set(key, line);
      if (waiter === undefined) continue;
      this.#waitingCount -= 1;
      this.#latest = waiter.taker;
      this.#begun.set(waiter.taker, loopMs(waiter.taker.task));
      waiter.begin();
      break;
    }
    this.#plan();
  }
}

/**
 * Returns how long the event loop stays free for other requests. After a short request few others wait, so twice its
 * time is enough. After a long one all others wait, so long ones must be rare.
 */
function pauseAfter(busyMs: number): number {
  return Math.min(MAX_PAUSE_MS, busyMs * Math.max(2, (busyMs * busyMs) / 4));
}

function loopMs({ cpuMs, offThreadMs }: Task): number {
  return cpuMs - offThreadMs;
}
