import type { Task } from '#platform/base/tasks.ts';
import type { JobQueue } from './queue.ts';

/** A job taken by this process. */
export interface JobRow {
  readonly id: string;
  readonly queue: string;
  readonly payload: unknown;
  readonly attempt: number;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  readonly queued_by: string | null;
}

export interface RunningJob {
  readonly row: JobRow;
  readonly queue: JobQueue;
  readonly task: Task;
  /** The request or job that queued it. */
  readonly parent: string | undefined;
  readonly aborting: AbortController;
  /** It threw, or exceeded its time limit. */
  hasCrashed: boolean;
  /** The error of the crash. */
  error?: unknown;
}

/** Abort reason that is not the job's fault. */
export class Interrupted extends Error {}
