/**
 * Reports failures to Sentry or a compatible service. Errors become events, with the most recent failed requests as
 * breadcrumbs. A sample of requests is reported as transactions with their timings. Loaded only if configured.
 * @see https://develop.sentry.dev/sdk/foundations/transport/envelopes/
 */
import { hostname } from 'node:os';
import type { Clock } from '#platform/base/clock.ts';
import type { CompletedRequest, FailedWork, FailureReports } from '#platform/base/failure-reports.ts';
import { randomBytes } from '#platform/base/random.ts';
import type { Task } from '#platform/base/tasks.ts';
import { describeErrors } from './described-errors.ts';
import type { Envelopes } from './envelopes.ts';

const MAX_BREADCRUMBS = 30;

export interface SentryReportsOptions {
  readonly clock: Clock;
  readonly environment: string;
  /** Fractions of the errors and of the requests that are sent. */
  readonly sampleRate: number;
  readonly tracesSampleRate: number;
  readonly version: string;
  readonly envelopes: Pick<Envelopes, 'add'>;
}

export class SentryReports implements FailureReports {
  readonly #options: SentryReportsOptions;
  readonly #breadcrumbs: object[] = [];

  constructor(options: SentryReportsOptions) {
    this.#options = options;
  }

  report(error: unknown, { name, isFatal = false, task }: FailedWork): void {
    const { sampleRate, envelopes } = this.#options;
    if (!isChosen(sampleRate)) return;
    const values = describeErrors(error).map((one) => ({ ...one, mechanism: { type: 'generic', handled: !isFatal } }));
    envelopes.add('error', {
      ...this.#shared(name, task),
      timestamp: this.#now(),
      level: isFatal ? 'fatal' : 'error',
      exception: { values },
      breadcrumbs: { values: [...this.#breadcrumbs] },
    });
  }

  answered({ task, name, status }: CompletedRequest): void {
    if (status >= 500) this.#remember({ task, name, status });
    const { tracesSampleRate, envelopes } = this.#options;
    if (tracesSampleRate === 0 || !isChosen(tracesSampleRate)) return;
    const timestamp = this.#now();
    envelopes.add('transaction', {
      ...this.#shared(name, task, status),
      type: 'transaction',
      transaction_info: { source: 'route' },
      timestamp,
      start_timestamp: timestamp - (performance.now() - task.startedAt) / 1000,
      spans: [],
      measurements: {
        'latchkey.cpu': { value: task.cpuMs, unit: 'millisecond' },
        'latchkey.db': { value: task.dbMs, unit: 'millisecond' },
        'latchkey.queries': { value: task.queries, unit: 'none' },
      },
    });
  }

  /** ERROR lines of requests are breadcrumbs rather than events, since the failure behind them is an event. */
  #remember({ task, name, status }: CompletedRequest): void {
    if (this.#breadcrumbs.length >= MAX_BREADCRUMBS) this.#breadcrumbs.shift();
    this.#breadcrumbs.push({
      timestamp: this.#now(),
      category: 'http.server.response',
      level: 'error',
      message: `${name} ${status}`,
      data: { request: task.id },
    });
  }

  #shared(transaction: string, task: Task | undefined, status?: number) {
    const { environment, version } = this.#options;
    const { context } = task?.trace ?? {};
    return {
      event_id: randomBytes(16).toString('hex'),
      platform: 'node',
      release: `latchkey@${version}`,
      environment,
      server_name: hostname(),
      transaction,
      tags: task === undefined ? {} : { 'latchkey.task.id': task.id },
      contexts: {
        runtime: { name: 'node', version: process.versions.node },
        trace: {
          trace_id: task?.traceId ?? randomBytes(16).toString('hex'),
          span_id: context?.spanId ?? randomBytes(8).toString('hex'),
          ...(status !== undefined && {
            op: 'http.server',
            status: status >= 500 ? 'internal_error' : 'ok',
            data: { 'http.response.status_code': status },
          }),
        },
      },
    };
  }

  #now(): number {
    return this.#options.clock.now() / 1000;
  }
}

function isChosen(rate: number): boolean {
  return randomBytes(4).readUInt32BE() / 2 ** 32 < rate;
}
