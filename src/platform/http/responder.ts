import { LatchkeyError } from '#platform/base/errors.ts';
import { failureReports } from '#platform/base/failure-reports.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { LogWriter } from '#platform/log/log-writer.ts';
import type { ErrorFormats, FailedRequest } from './error-format.ts';
import { logError } from './error-log.ts';
import type { Exchange } from './exchange.ts';
import type { PublicAddress } from './http-options.ts';
import { requestSpan } from './request-span.ts';
import type { HttpResponse } from './response.ts';
import type { CommonHeaders } from './response-headers.ts';
import type { Route } from './route.ts';

const STATUS_CLASSES = [undefined, '1xx', '2xx', '3xx', '4xx', '5xx'];
const MAX_DRAINED_BODY_BYTES = 64 * 1024;

export interface ResponderOptions {
  readonly log: LogWriter;
  readonly errorFormats: ErrorFormats;
  readonly headers: CommonHeaders;
  readonly address: PublicAddress;
  readonly maxRequestsPerConnection: number;
  /** Every answer from now on is the last of its connection. */
  isClosing(): boolean;
}

/** Sends the one answer of each request, after its line in the log. */
export class Responder {
  readonly #options: ResponderOptions;

  constructor(options: ResponderOptions) {
    this.#options = options;
  }

  /** Does nothing when the request was answered before: its handler had run out of time. */
  answer(exchange: Exchange, answer: HttpResponse): void {
    if (exchange.isAnswered) return;
    const { connection, request, response } = exchange;
    const { errorFormat, cookieChanges: setCookies } = exchange;
    const headers = this.#options.headers.complete(answer, { errorFormat, cors: this.#corsOf(exchange), setCookies });
    const isLast = this.#isLast(exchange);
    if (isLast && !connection.isMultiplexed) headers['connection'] = 'close';
    // Throws for what a header must not contain, while nothing has been logged or sent yet.
    response.writeHead(answer.status, headers);
    exchange.isAnswered = true;
    exchange.sentBytes = answer.body?.length ?? 0;
    if (isLast && (!request.complete || connection.isUnreadable)) connection.lingerOnClose();
    const { isAborted } = exchange;
    try {
      this.#account(exchange, answer.status);
    } finally {
      // The head is on its way: whatever fails here, the request gets its answer.
      response.end(request.method === 'HEAD' ? undefined : answer.body);
      if (isAborted) {
        this.#options.log.debug('http.server.aborted', 'the client was gone before the answer');
      }
      connection.advance(isLast);
    }
  }

  /** Answers with whatever was thrown, in the error format of the request, and logs what an operator should know of it. */
  answerFailure(exchange: Exchange, thrown: unknown): void {
    const { errorFormats, log } = this.#options;
    const error = reportFailure(log, thrown, exchange);
    try {
      this.answer(exchange, errorFormats[exchange.errorFormat].render(error, this.#failed(exchange, error)));
    } catch (defect) {
      reportFailure(log, defect, exchange);
      this.answer(exchange, { status: 500, headers: {} });
    }
  }

  /** Writes the line of the request, counts it, and ends its span. */
  #account(exchange: Exchange, status: number): void {
    const { request } = exchange;
    this.#options.log.request({
      task: exchange.task,
      method: exchange.loggedMethod,
      path: exchange.path,
      httpVersion: request.httpVersion,
      status,
      userAgent: request.headers['user-agent'],
      requester: exchange.requester,
      clientAddress: exchange.clientAddress,
      graphqlOperation: exchange.graphqlOperation,
    });
    metrics?.observe(
      'http_server_duration_seconds',
      {
        listener: exchange.table.listener,
        method: exchange.countedMethod,
        route: exchange.route?.path ?? 'unmatched',
        status: STATUS_CLASSES[Math.floor(status / 100)] ?? 'other',
      },
      (performance.now() - exchange.task.startedAt) / 1000,
    );
    failureReports?.answered({ task: exchange.task, name: nameOf(exchange), status });
    exchange.task.trace?.end(requestSpan(exchange, status));
  }

  /** Who may read the response: as the route says, else as the format of the path does. */
  #corsOf({ errorFormat, route }: Exchange): NonNullable<Route['cors']> {
    if (route !== undefined) return route.cors ?? 'none';
    return this.#options.errorFormats[errorFormat].cors;
  }

  #isLast({ body, connection, request }: Exchange): boolean {
    if (this.#options.isClosing() || connection.answered + 1 >= this.#options.maxRequestsPerConnection) return true;
    // It goes on, whatever becomes of one of its requests.
    if (connection.isMultiplexed) return false;
    if (connection.endsWithCurrent || body.hasFailed) return true;
    if (connection.isUnreadable && !connection.hasWaiting) return true;
    // What is left of a small body is read and dropped; more is not worth waiting for.
    return !request.complete && (body.announcedBytes ?? Number.POSITIVE_INFINITY) > MAX_DRAINED_BODY_BYTES;
  }

  #failed(exchange: Exchange, error: LatchkeyError): FailedRequest {
    const path = exchange.table.relative(exchange.path);
    const canReopen =
      path !== undefined && error.code !== 'not_found' && exchange.table.match('GET', path).kind === 'route';
    const query = exchange.rawQuery === '' ? '' : `?${exchange.rawQuery}`;
    return {
      requestId: exchange.task.id,
      headers: exchange.headers,
      cookies: exchange.cookies,
      reopenHref: canReopen ? this.#options.address.basePath + path.slice(1) + query : undefined,
    };
  }
}

/**
 * Returns what ended a request as an error that a format can render: anything that was not thrown on purpose becomes
 * `internal`, and logs it.
 */
function reportFailure(log: Log, thrown: unknown, exchange: Exchange): LatchkeyError {
  const isUnexpected = !(thrown instanceof LatchkeyError) || thrown.code === 'internal';
  if (isUnexpected) failureReports?.report(thrown, { name: nameOf(exchange), task: exchange.task });
  if (!(thrown instanceof LatchkeyError)) {
    const { message, stack } = describeError(thrown);
    log.error('error', message, { stack });
    return new LatchkeyError('internal', { cause: thrown });
  }
  logError(log, thrown);
  return thrown;
}

/** By the pattern of its route: a path is what somebody chose. */
function nameOf({ countedMethod: method, route }: Exchange): string {
  return `${method} ${route?.path ?? 'unmatched'}`;
}
