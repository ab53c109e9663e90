/**
 * Where the program says that something failed that never should: the operator's Sentry, where one is configured. As with
 * the metrics there is one place for the whole process, and without one a report costs one comparison:
 *
 *     failureReports?.report(error, { name: 'job send-mail', isFatal: false });
 *
 * See decision 0033. Nothing of a request goes out but its method, the pattern of its route and its status.
 */
import type { Task } from './tasks.ts';

/** What failed: a job, a request by the pattern of its route, or the process. */
export interface FailedWork {
  readonly name: string;
  /** The process ends. */
  readonly isFatal?: boolean;
  readonly task?: Task | undefined;
}

export interface AnsweredRequest {
  readonly task: Task;
  /** Method and pattern of the route. */
  readonly name: string;
  readonly status: number;
}

export interface FailureReports {
  report(error: unknown, work: FailedWork): void;
  /** Hears of every request. */
  answered(request: AnsweredRequest): void;
}

export let failureReports: FailureReports | undefined;

/** Sends all reports there from now on; undefined: nowhere. */
export function reportFailuresTo(reports: FailureReports | undefined): void {
  failureReports = reports;
}
