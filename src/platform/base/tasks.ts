import type { TaskTrace } from './spans.ts';

/**
 * One owner at a time: which request or job the JavaScript that runs right now belongs to, and what it has cost.
 *
 * A task runs as a sequence of stretches of uninterrupted JavaScript. The first begins with its arrival, each further
 * one with the completion of something it awaited outside JavaScript (a statement, a hash, a body chunk, a timer).
 * Every such completion is handed over through `resumeTask`, which delivers the next one only after the promises of
 * the former have drained. So a waiting task is never charged for another's work, and any line logged in between can
 * be attributed without passing an identifier around.
 *
 * Rule for callers: code that awaits something from outside wraps it in `outside(...)`, unless the wrapper it uses
 * (database, password hashes, request bodies) does so already.
 */
export class Task {
  /** `POST-71` for a request, `job-<queue>-<n>` for a job; shared by every log line written on its behalf. */
  id: string;
  /** W3C trace id, 32 lower-case hex digits, when the task belongs to a trace. */
  traceId: string | undefined;
  /** Where its spans are recorded; undefined while no exporter is configured. */
  trace: TaskTrace | undefined;
  /** Number of stretches so far. */
  polls = 0;
  /** Processor time in milliseconds: its stretches, plus what worker threads spent for it. */
  cpuMs = 0;
  /** The part of it that worker threads spent. */
  offThreadMs = 0;
  /** Time in milliseconds between handing statements to the driver and their complete results, summed up. */
  dbMs = 0;
  /** Statements sent. */
  queries = 0;
  /** Rows returned by those statements. */
  fetched = 0;
  /**
   * Its time limit has answered for it: nothing more is read or written on its behalf, so that nothing is done that was
   * answered with a refusal, and nobody waits behind work that is in vain.
   */
  isOver = false;
  /** `performance.now()` at its arrival. */
  readonly startedAt: number;

  constructor(id: string) {
    this.id = id;
    this.startedAt = performance.now();
  }
}

interface Delivery {
  readonly task: Task | undefined;
  readonly run: () => void;
}

const settled = Promise.resolve();
let owner: Task | undefined;
let isBusy = false;
let stretchStartedAt = 0;
let waiting: Delivery[] = [];
let nextWaiting = 0;

/** The task on whose behalf the current JavaScript runs; undefined outside any. */
export function currentTask(): Task | undefined {
  return owner;
}

/**
 * Runs `run` as a new stretch of `task`, at once when no stretch is under way, else as soon as those before it have
 * drained (still before the next event of the loop). `run` must not throw.
 */
export function resumeTask(task: Task | undefined, run: () => void): void {
  if (isBusy) waiting.push({ task, run });
  else beginStretch(task, run);
}

/** Processor time of the running stretch up to now; makes a figure read in the middle of a stretch exact. */
export function bankCurrentStretch(): void {
  if (owner === undefined) return;
  const now = performance.now();
  owner.cpuMs += now - stretchStartedAt;
  stretchStartedAt = now;
}

/** Awaits a promise that settles outside JavaScript and continues as a new stretch of the task that called. */
export function outside<T>(promise: Promise<T>): Promise<T> {
  const task = owner;
  return new Promise<T>((resolve, reject) => {
    promise.then(
      (value) => resumeTask(task, () => resolve(value)),
      (error: unknown) => resumeTask(task, () => reject(error)),
    );
  });
}

/** Work that is due also when the task of the caller is over: what it holds is given back. */
export function evenWhenOver<T>(work: () => Promise<T>): Promise<T> {
  if (owner?.isOver !== true) return work();
  return outside(
    new Promise((resolve, reject) => {
      resumeTask(undefined, () => void work().then(resolve, reject));
    }),
  );
}

/** Continues as a new stretch of the calling task after `milliseconds`. */
export function delay(milliseconds: number): Promise<void> {
  const task = owner;
  return new Promise((resolve) => {
    setTimeout(() => resumeTask(task, resolve), milliseconds);
  });
}

function beginStretch(task: Task | undefined, run: () => void): void {
  isBusy = true;
  owner = task;
  if (task !== undefined) task.polls += 1;
  stretchStartedAt = performance.now();
  // Ticks run before promises, promises are drained whole, and a tick asked for by a promise runs after that drain:
  // the end of this chain is the end of the stretch.
  process.nextTick(awaitPromises);
  run();
}

function awaitPromises(): void {
  // Costs less than `queueMicrotask`, which makes a resource for asynchronous hooks each time.
  void settled.then(awaitTicks);
}

function awaitTicks(): void {
  process.nextTick(endStretch);
}

function endStretch(): void {
  bankCurrentStretch();
  owner = undefined;
  isBusy = false;
  const next = waiting[nextWaiting];
  if (next === undefined) return;
  nextWaiting += 1;
  if (nextWaiting === waiting.length) {
    waiting = [];
    nextWaiting = 0;
  }
  beginStretch(next.task, next.run);
}
