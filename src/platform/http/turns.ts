/**
 * Requests that wait so that others are served as before (security 4.17): those of one address beyond a few at a time,
 * and all of an address that has used much work lately. They begin one after another, the addresses in turn, with a
 * pause after each that is longer than the event loop was busy with it.
 */
import { resumeTask, type Task } from '#platform/base/tasks.ts';

/** A request that takes turns. */
export interface TurnTaker {
  readonly task: Task;
  /** What it is counted by while it is under way without having waited. */
  turnKey: string | undefined;
}

interface Waiter {
  readonly taker: TurnTaker;
  readonly begin: () => void;
}

/** Of one address at once. Further ones wait, those of a visitor who opens a page for a few milliseconds. */
const MAX_AT_ONCE = 3;
/** Of one address; a further one is not worth waiting for. */
const MAX_WAITING_OF_ONE = 200;
const MAX_WAITING = 2000;
/** The longest that the event loop is kept free of them after one. */
const MAX_PAUSE_MS = 1000;
/** One that takes longer waits for something else than the event loop. */
const MAX_TURN_MS = 20;

export class Turns {
  /** The processors' share of the time that JavaScript ran, as tasks are timed by the clock. */
  readonly #share: () => number;
  readonly #running = new Map<string, number>();
  readonly #waiting = new Map<string, Waiter[]>();
  /** Those that waited and have not ended, with the time of the event loop that they had used before. */
  readonly #begun = new Map<TurnTaker, number>();
  #waitingCount = 0;
  #mayBeginAt = 0;
  #latest: TurnTaker | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(share: () => number) {
    this.#share = share;
  }

  /** Has a request begin at once. @returns false when so many of its address are under way that it has to wait */
  begin(key: string, taker: TurnTaker): boolean {
    const count = this.#running.get(key) ?? 0;
    if (count >= MAX_AT_ONCE) return false;
    this.#running.set(key, count + 1);
    taker.turnKey = key;
    return true;
  }

  /** Resolves when it is the turn of this request; undefined when too many wait already. */
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

  /** A request is over, whether or not it has taken a turn. */
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
      // Other addresses come first.
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
 * For how long the event loop is kept free for others after it was busy for so long. Behind a short one hardly anybody
 * waits, so twice the time is enough; behind a long one all others do, so that those come seldom.
 */
function pauseAfter(busyMs: number): number {
  return Math.min(MAX_PAUSE_MS, busyMs * Math.max(2, (busyMs * busyMs) / 4));
}

function loopMs({ cpuMs, offThreadMs }: Task): number {
  return cpuMs - offThreadMs;
}
