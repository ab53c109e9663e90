/**
 * Reports unexpected failures to the operator's Sentry, if one is configured. Like the metrics, reports go to one sink
 * for the whole process. Without a sink, a report costs one comparison:
 *
 *     failureReports?.report(error, { name: 'job send-mail', isFatal: false });
 *
 * See decision 0033. Reports contain only the method, route pattern and status of a request.
 */
import type { Task } from './tasks.ts';

/** The work that failed: a job, a request (named by its route pattern) or the process. */
export interface FailedWork {
  readonly name: string;
  /** The failure ends the process. */
  readonly isFatal?: boolean;
  readonly task?: Task | undefined;
}

export interface CompletedRequest {
  readonly task: Task;
  /** Method and route pattern. */
  readonly name: string;
  readonly status: number;
}

export interface FailureReports {
  report(error: unknown, work: FailedWork): void;
  /** Called for every request. */
  answered(request: CompletedRequest): void;
}

export let failureReports: FailureReports | undefined;

/** Sends all reports to this sink from now on, or discards them if undefined. */
export function reportFailuresTo(reports: FailureReports | undefined): void {
  failureReports = reports;
}
