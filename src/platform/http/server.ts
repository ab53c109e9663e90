/**
 * The HTTP server: `node:http` with the limits of operations 9.1 around a table of routes. The way of a request:
 *
 * 1. `listen.ts` binds the addresses; `connections.ts` accepts a connection or closes it when there are too many.
 * 2. Node parses the head; what it cannot parse goes to `unreadable-requests.ts`.
 * 3. The request becomes an `Exchange` (`exchange.ts`, a `RequestContext` for handlers) and waits on its `Connection`
 *    until the responses before it were sent. `#begin` then gives it its number and its task.
 * 4. `dispatch.ts` judges the head (`request-head.ts`) and the load (`overload.ts`), finds the route
 *    (`route-table.ts`) and calls its handler, which reads the form if it needs it (`request-body.ts`).
 * 5. The handler returns an `HttpResponse` or throws; `responder.ts` renders an error in the format of the route.
 * 6. `responder.ts` completes the headers (`response-headers.ts`), writes the log line, and sends the response.
 */
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { LatchkeyError } from '#platform/base/errors.ts';
import { resumeTask, Task } from '#platform/base/tasks.ts';
import type { LogWriter } from '#platform/log/log-writer.ts';
import { TrustedProxies } from './client-address.ts';
import type { Connection } from './connection.ts';
import { DescriptorWarnings, Rejections } from './connection-warnings.ts';
import { Connections } from './connections.ts';
import type { Cookies } from './cookies.ts';
import { dispatch } from './dispatch.ts';
import type { ErrorFormats } from './error-format.ts';
import { Exchange, type ExchangeSettings } from './exchange.ts';
import type { HttpLimits, HttpOptions, ListenerOptions, PublicAddress } from './http-options.ts';
import { type BoundAddress, bind } from './listen.ts';
import type { EventLoopLag } from './overload.ts';
import { InFlight } from './overload.ts';
import { loggedMethod, traceIdOf } from './request-head.ts';
import { Responder } from './responder.ts';
import { CommonHeaders } from './response-headers.ts';
import type { ErrorFormat, Route } from './route.ts';
import { RouteTable } from './route-table.ts';
import { UnreadableRequests } from './unreadable-requests.ts';

export interface HttpServerOptions {
  readonly routes: readonly Route[];
  readonly http: Pick<HttpOptions, 'listeners' | 'trustedProxies' | 'clientIpHeader' | 'hsts'>;
  readonly limits: ServerLimits;
  readonly address: PublicAddress;
  /** The error format of a path that no route answers. */
  readonly formatOfPath: (path: string) => ErrorFormat;
  /** Headers of all responses of routes whose error format is `page`. */
  readonly pageHeaders: Readonly<Record<string, string>>;
  readonly log: LogWriter;
  readonly cookies: Cookies;
  readonly errorFormats: ErrorFormats;
  readonly lag: Pick<EventLoopLag, 'isLagging'>;
}

export type ServerLimits = Pick<
  HttpLimits,
  | 'handlerTimeoutSeconds'
  | 'headersTimeoutSeconds'
  | 'keepAliveTimeoutSeconds'
  | 'maxBody'
  | 'maxConnections'
  | 'maxConnectionsPerAddress'
  | 'maxHeadersBytes'
  | 'maxInFlight'
  | 'maxRequestLineBytes'
  | 'maxRequestsPerConnection'
  | 'requestTimeoutSeconds'
>;

const MAX_SWEEP_MS = 1000;
const CLOSING_SWEEP_MS = 50;
const HANDLER_TIMEOUT_RETRY_SECONDS = 5;

export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #settings: ExchangeSettings;
  readonly #connections: Connections;
  readonly #rejections: Rejections;
  readonly #responder: Responder;
  readonly #inFlight: InFlight;
  /** Requests being served, those whose body is still arriving included. */
  readonly #served = new Set<Exchange>();
  readonly #servers: Server[] = [];
  readonly #sweeper: NodeJS.Timeout;
  #counter = 0;

  /** Nothing listens until `listen`. */
  constructor(options: HttpServerOptions) {
    const { http, limits, log, address } = options;
    const proxies = new TrustedProxies(http.trustedProxies);
    this.#options = options;
    this.#inFlight = new InFlight(limits.maxInFlight);
    this.#settings = {
      cookies: options.cookies,
      errorFormats: options.errorFormats,
      proxies,
      clientIpHeader: http.clientIpHeader,
      maxFormBytes: limits.maxBody.formBytes,
      maxJsonBytes: limits.maxBody.jsonBytes,
      handlerTimeoutMs: limits.handlerTimeoutSeconds * 1000,
      inFlight: this.#inFlight,
    };
    const warnings = new DescriptorWarnings(log);
    this.#connections = new Connections(limits, proxies, (limit) => warnings.report(limit));
    this.#rejections = new Rejections(log);
    this.#responder = new Responder({
      log,
      address,
      errorFormats: options.errorFormats,
      headers: new CommonHeaders({ isHttps: address.isHttps, hsts: http.hsts, pageHeaders: options.pageHeaders }),
      maxRequestsPerConnection: limits.maxRequestsPerConnection,
    });
    const sweepMs = Math.min(MAX_SWEEP_MS, this.#settings.handlerTimeoutMs / 4);
    this.#sweeper = setInterval(() => this.#sweep(), sweepMs).unref();
  }

  /** Requests being served right now. */
  get served(): number {
    return this.#served.size;
  }

  /** New requests are refused, all of them or those that can wait. */
  get isOverloaded(): boolean {
    return this.#inFlight.isFull || this.#options.lag.isLagging;
  }

  /** Binds all listeners. Throws `ExitError` 71, with nothing left bound, when one fails. */
  async listen(): Promise<BoundAddress[]> {
    const bound: BoundAddress[] = [];
    try {
      for (const listener of this.#options.http.listeners) {
        const table = this.#tableOf(listener);
        for (const entry of listener.binds) {
          bound.push(
            ...(await bind(listener.name, entry, () => this.#createServer(table, 'socket' in entry), this.#servers)),
          );
        }
      }
    } catch (error) {
      await this.close(0);
      throw error;
    }
    return bound;
  }

  /**
   * Stops listening, lets requests in flight end and closes each connection after its answer (operations 8.5).
   * @returns `forced` when connections had to be destroyed after `graceMs`
   */
  async close(graceMs: number): Promise<'clean' | 'forced'> {
    this.#responder.isClosing = true;
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)));
    const idleCloser = setInterval(() => this.#connections.closeIdle(performance.now()), CLOSING_SWEEP_MS);
    let outcome: 'clean' | 'forced' = 'clean';
    const deadline = setTimeout(() => {
      if (this.#connections.count > 0) outcome = 'forced';
      this.destroyConnections();
    }, graceMs);
    await Promise.all(closed);
    clearTimeout(deadline);
    clearInterval(idleCloser);
    clearInterval(this.#sweeper);
    return outcome;
  }

  /** Ends every connection at once, answered or not. */
  destroyConnections(): void {
    this.#connections.destroyAll();
  }

  #tableOf(listener: ListenerOptions): RouteTable {
    const resources = new Set(listener.resources.map((resource) => resource.name));
    return new RouteTable(this.#options.routes, resources, listener.prefix);
  }

  #createServer(table: RouteTable, isLocal: boolean): Server {
    const { limits } = this.#options;
    const headersTimeout = limits.headersTimeoutSeconds * 1000;
    const server = createServer({
      insecureHTTPParser: false,
      // Judged by `judgeHead`, so that the refusal gets its line in the log.
      requireHostHeader: false,
      maxHeaderSize: limits.maxRequestLineBytes + limits.maxHeadersBytes,
      headersTimeout,
      requestTimeout: limits.requestTimeoutSeconds * 1000,
      keepAliveTimeout: limits.keepAliveTimeoutSeconds * 1000,
      connectionsCheckingInterval: Math.min(MAX_SWEEP_MS, headersTimeout / 4),
    });
    // At `close` Node would cut off connections whose next request is on its way: `Connections.closeIdle` waits.
    server.closeIdleConnections = () => {};
    server.on('connection', (socket) => {
      const address = socket.remoteAddress;
      if (this.#connections.accept(socket, isLocal) === undefined) this.#rejections.report('limit', undefined, address);
    });
    server.on('request', (request, response) => this.#receive(table, request, response, false));
    server.on('checkContinue', (request, response) => this.#receive(table, request, response, true));
    server.on('checkExpectation', (request, response) => this.#receive(table, request, response, false));
    const unreadable = new UnreadableRequests({
      connections: this.#connections,
      rejections: this.#rejections,
      serve: (connection, request) => this.#receiveLast(table, connection, request),
    });
    server.on('connect', (request) => unreadable.onConnect(request));
    server.on('clientError', (error, stream) => unreadable.onClientError(error, stream));
    return server;
  }

  #receive(table: RouteTable, request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const connection = this.#connections.of(request.socket);
    if (connection === undefined || connection.isOver) return;
    const task = newTask(request);
    const start = (exchange: Exchange): void => this.#begin(exchange);
    const settings = this.#settings;
    const parts = { settings, table, task, request, response, connection, expectsContinue, start };
    if (connection.admit(new Exchange(parts))) return;
    // Not on behalf of the request that is being served on it.
    resumeTask(undefined, () => this.#rejections.report('limit', undefined, connection.peer.address));
  }

  /** A request that Node makes no response for; nothing can follow it on its connection. */
  #receiveLast(table: RouteTable, connection: Connection, request: IncomingMessage): void {
    const { socket } = connection;
    const response = new ServerResponse(request);
    const start = (exchange: Exchange): void => {
      response.assignSocket(socket);
      response.once('finish', () => socket.destroySoon());
      this.#begin(exchange);
    };
    const settings = this.#settings;
    const task = newTask(request);
    connection.admit(
      new Exchange({ settings, table, task, request, response, connection, expectsContinue: false, start }),
    );
  }

  #begin(exchange: Exchange): void {
    // Numbered only now: of what waited on a connection that was cut, no line and no number remains.
    this.#counter += 1;
    exchange.task.id = `${exchange.loggedMethod}-${this.#counter}`;
    this.#served.add(exchange);
    resumeTask(exchange.task, () => void this.#serve(exchange));
  }

  async #serve(exchange: Exchange): Promise<void> {
    const { lag, limits, formatOfPath } = this.#options;
    const { handlerTimeoutMs } = this.#settings;
    const settings = { limits, formatOfPath, handlerTimeoutMs, inFlight: this.#inFlight };
    try {
      const answer = await dispatch(exchange, settings, lag.isLagging);
      this.#responder.answer(exchange, answer);
    } catch (thrown) {
      this.#responder.answerFailure(exchange, thrown);
    } finally {
      this.#inFlight.leave(exchange);
      this.#served.delete(exchange);
    }
  }

  #sweep(): void {
    const now = performance.now();
    for (const exchange of this.#served) {
      exchange.body.failIfSlow(now);
      if (now > exchange.deadline && !exchange.isAnswered) this.#expire(exchange);
    }
    this.#connections.resetStuck(now);
    this.#connections.measureDescriptors();
  }

  /** The handler took too long. It runs on, since what it has begun may commit, but its answer comes too late. */
  #expire(exchange: Exchange): void {
    exchange.deadline = Number.POSITIVE_INFINITY;
    const error = new LatchkeyError('temporarily_unavailable', { retryAfterSeconds: HANDLER_TIMEOUT_RETRY_SECONDS });
    resumeTask(exchange.task, () => this.#responder.answerFailure(exchange, error));
  }
}

function newTask(request: IncomingMessage): Task {
  const task = new Task(loggedMethod(request.method ?? ''));
  task.traceId = traceIdOf(request.headers['traceparent']);
  return task;
}

/** The server for these routes; nothing listens until `listen`. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  return new HttpServer(options);
}
