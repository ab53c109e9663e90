import { type ErrorTable, LatchkeyError } from '#platform/base/errors.ts';
import { failureReports } from '#platform/base/failure-reports.ts';
import { describeError } from '#platform/base/log.ts';
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
import { sendBody } from './send-body.ts';
import { type BodyParts, sendParts } from './stream-body.ts';

const MAX_DRAINED_BODY_BYTES = 64 * 1024;

export interface ResponderOptions {
  readonly log: LogWriter;
  readonly errors: ErrorTable;
  readonly errorFormats: ErrorFormats;
  readonly headers: CommonHeaders;
  readonly address: PublicAddress;
  readonly maxRequestsPerConnection: number;
  /** Every response from now on is the last of its connection. */
  isClosing(): boolean;
}

/** Sends the response of each request, after writing its log line; the line of a stream follows its end. */
export class Responder {
  readonly #options: ResponderOptions;

  constructor(options: ResponderOptions) {
    this.#options = options;
  }

  /**
   * Sends a response. Does nothing if the request was already answered because its handler timed out.
   * @returns a promise for a stream, which resolves when it has been sent or given up
   */
  answer(exchange: Exchange, result: HttpResponse): Promise<void> | undefined {
    if (exchange.isAnswered) return undefined;
    const { connection, request, response } = exchange;
    const { body } = result;
    if (typeof body === 'object' && !Buffer.isBuffer(body)) {
      return this.#answerInParts(exchange, result, body[Symbol.asyncIterator]());
    }
    const isLast = this.#isLast(exchange);
    this.#writeHead(exchange, result, isLast);
    exchange.sentBytes = body?.length ?? 0;
    const { isAborted } = exchange;
    try {
      this.#account(exchange, result.status);
    } finally {
      // The response head is written, so the response must be sent even if something fails here.
      sendBody(response, request.method === 'HEAD' ? undefined : body);
      if (isAborted) {
        this.#options.log.debug('http.server.aborted', 'client disconnected before the response');
      }
      connection.advance(isLast);
    }
    return undefined;
  }

  /** Sends a stream. A response that cannot be completed is cut off, because its status has already been sent. */
  async #answerInParts(exchange: Exchange, result: HttpResponse, parts: BodyParts): Promise<void> {
    const { connection, request, response } = exchange;
    const isHead = request.method === 'HEAD';
    try {
      // Read before the head is sent, so that an error here is answered like any other.
      const first = isHead ? undefined : await parts.next();
      if (exchange.isAnswered) return;
      // The end of an HTTP/1.0 body is the end of its connection.
      const isLast = this.#isLast(exchange) || request.httpVersion === '1.0';
      this.#writeHead(exchange, result, isLast);
      try {
        if (first === undefined) response.end();
        else await this.#sendParts(exchange, parts, first);
      } finally {
        this.#account(exchange, result.status);
        connection.advance(isLast);
      }
    } finally {
      await parts.return?.();
    }
  }

  async #sendParts(exchange: Exchange, parts: BodyParts, first: IteratorResult<string>): Promise<void> {
    const { log } = this.#options;
    let outcome: string = 'failed';
    try {
      outcome = await sendParts(exchange, parts, first);
    } catch (thrown) {
      reportFailure(this.#options, thrown, exchange);
    }
    if (outcome !== 'complete') exchange.connection.abandon(exchange.response);
    log.info('http.server.streamed', 'streamed response ended', { outcome, bytes: exchange.sentBytes });
  }

  /** Throws for invalid header values, before anything is logged or sent. */
  #writeHead(exchange: Exchange, result: HttpResponse, isLast: boolean): void {
    const { connection, request, response } = exchange;
    const { errorFormat, cookieChanges: setCookies } = exchange;
    const headers = this.#options.headers.complete(result, { errorFormat, cors: this.#corsOf(exchange), setCookies });
    if (isLast && !connection.isMultiplexed) headers['connection'] = 'close';
    response.writeHead(result.status, headers);
    exchange.isAnswered = true;
    if (isLast && (!request.complete || connection.isUnreadable)) connection.lingerOnClose();
  }

  /** Responds with a thrown error in the error format of the request, and logs what operators need to know. */
  answerFailure(exchange: Exchange, thrown: unknown): void {
    const { errorFormats } = this.#options;
    const error = reportFailure(this.#options, thrown, exchange);
    try {
      void this.answer(exchange, errorFormats[exchange.errorFormat].render(error, this.#failed(exchange, error)));
    } catch (defect) {
      reportFailure(this.#options, defect, exchange);
      void this.answer(exchange, { status: 500, headers: {} });
    }
  }

  /** Writes the log line and the metrics of the request and ends its span. */
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
        status: String(status),
      },
      (performance.now() - exchange.task.startedAt) / 1000,
    );
    failureReports?.answered({ task: exchange.task, name: nameOf(exchange), status });
    exchange.task.trace?.end(requestSpan(exchange, status));
  }

  /** Returns the CORS policy of the route. Without a route, the error format determines it. */
  #corsOf({ errorFormat, route }: Exchange): NonNullable<Route['cors']> {
    if (route !== undefined) return route.cors ?? 'none';
    return this.#options.errorFormats[errorFormat].cors;
  }

  #isLast({ body, connection, request }: Exchange): boolean {
    if (this.#options.isClosing() || connection.answered + 1 >= this.#options.maxRequestsPerConnection) return true;
    // The connection continues regardless of individual requests.
    if (connection.isMultiplexed) return false;
    if (connection.endsWithCurrent || body.hasFailed) return true;
    if (connection.isUnreadable && !connection.hasWaiting) return true;
    // The rest of a small body is read and discarded. A larger body is not worth reading, so the connection ends.
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

/** Converts and logs the error that ended a request. Everything that was not thrown deliberately becomes `internal`. */
function reportFailure(
  { errors, log }: Pick<ResponderOptions, 'errors' | 'log'>,
  thrown: unknown,
  exchange: Exchange,
): LatchkeyError {
  const isUnexpected = !(thrown instanceof LatchkeyError) || thrown.code === 'internal';
  if (isUnexpected) failureReports?.report(thrown, { name: nameOf(exchange), task: exchange.task });
  if (!(thrown instanceof LatchkeyError)) {
    const { message, stack } = describeError(thrown);
    log.error('error', message, { stack });
    return new LatchkeyError('internal', { cause: thrown });
  }
  logError(log, thrown, errors);
  return thrown;
}

/** Names a request by its route pattern, since the path is chosen by the client. */
function nameOf({ countedMethod: method, route }: Exchange): string {
  return `${method} ${route?.path ?? 'unmatched'}`;
}
