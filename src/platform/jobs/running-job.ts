import type { Task } from '#platform/base/tasks.ts';
import type { JobQueue } from './queue.ts';

/** A job that was taken. */
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
  /** It threw, or took too long. */
  hasCrashed: boolean;
  /** What it crashed with. */
  error?: unknown;
}

/** Why a run was aborted; it is not the job's fault. */
export class Interrupted extends Error {}
