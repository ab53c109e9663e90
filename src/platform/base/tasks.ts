import type { TaskTrace } from './spans.ts';

/**
 * Tracks which request or job the running JavaScript belongs to, and what it has cost.
 *
 * A task runs as a sequence of stretches of uninterrupted JavaScript. The first starts when the task arrives. Each
 * following one starts when an operation that the task awaited outside JavaScript completes (a statement, a hash, a
 * body chunk, a timer). All completions pass through `resumeTask`, which delivers the next one only after the promises
 * of the previous one have drained. So a waiting task is never charged for another task's work, and log lines can be
 * attributed without passing an identifier around.
 *
 * Rule for callers: wrap awaits of external operations in `outside(...)`, unless the wrapper in use (database, password
 * hashes, request bodies) already does so.
 */
export class Task {
  /** `POST-71` for a request, `job-<queue>-<n>` for a job. Included in all log lines of the task. */
  id: string;
  /** W3C trace id (32 lowercase hex digits), if the task belongs to a trace. */
  traceId: string | undefined;
  /** Records the spans of the task. Undefined if no exporter is configured. */
  trace: TaskTrace | undefined;
  /** Number of stretches so far. */
  polls = 0;
  /** CPU time in milliseconds: the task's stretches plus its work on worker threads. */
  cpuMs = 0;
  /** The part of `cpuMs` spent on worker threads. */
  offThreadMs = 0;
  /** Total time in milliseconds from passing statements to the driver until their results were complete. */
  dbMs = 0;
  /** Statements sent. */
  queries = 0;
  /** Rows returned by those statements. */
  fetched = 0;
  /**
   * The task timed out and was answered. It reads and writes nothing more. So a refused request has no effect, and
   * other requests do not wait for useless work.
   */
  isOver = false;
  /** `performance.now()` when the task arrived. */
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

/** Returns the task that the running JavaScript belongs to, or undefined outside of tasks. */
export function currentTask(): Task | undefined {
  return owner;
}

/**
 * Runs `run` as a new stretch of `task`: immediately if no stretch is running, otherwise after the earlier ones have
 * drained. That is still before the next event of the event loop. `run` must not throw.
 */
export function resumeTask(task: Task | undefined, run: () => void): void {
  if (isBusy) waiting.push({ task, run });
  else beginStretch(task, run);
}

/** Adds the CPU time of the running stretch so far to its task, so that figures read in mid-stretch are exact. */
export function bankCurrentStretch(): void {
  if (owner === undefined) return;
  const now = performance.now();
  owner.cpuMs += now - stretchStartedAt;
  stretchStartedAt = now;
}

/** Awaits a promise that settles outside JavaScript and continues as a new stretch of the calling task. */
export function outside<T>(promise: Promise<T>): Promise<T> {
  const task = owner;
  return new Promise<T>((resolve, reject) => {
    promise.then(
      (value) => resumeTask(task, () => resolve(value)),
      (error: unknown) => resumeTask(task, () => reject(error)),
    );
  });
}

/** Runs work that must be done even if the caller's task has timed out, for example to release resources. */
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
  // Ticks run before promises, promises drain completely, and a tick queued by a promise runs after that. So the end of
  // this chain is the end of the stretch.
  process.nextTick(awaitPromises);
  run();
}

function awaitPromises(): void {
  // Cheaper than `queueMicrotask`, which creates an async hooks resource on each call.
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
