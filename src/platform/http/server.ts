/**
 * The HTTP server: `node:http` with the limits of operations 9.1 around a table of routes. Path of a request:
 *
 * 1. `listen.ts` binds the addresses. `connections.ts` accepts a connection, or closes it if there are too many.
 * 2. `opening.ts` reads the PROXY header and sets up TLS if the listener uses them. It then passes the connection to
 *    the implementation of its protocol.
 * 3. Node parses the head. Requests that it cannot parse go to `unreadable-requests.ts`.
 * 4. The request becomes an `Exchange` (`exchange.ts`, a `RequestContext` for handlers) and waits on its `Connection`
 *    until all previous responses have been sent. `#begin` then assigns its number and its task.
 * 5. `dispatch.ts` checks the head (`request-head.ts`) and the load (`overload.ts`), finds the route (`route-table.ts`)
 *    and calls its handler, which reads the form if necessary (`request-body.ts`).
 * 6. The handler returns an `HttpResponse` or throws. `responder.ts` renders errors in the format of the route.
 * 7. `responder.ts` completes the headers (`response-headers.ts`), writes the log line and sends the response
 *    (`send-body.ts`). A response in parts (`stream-body.ts`) is sent first.
 */
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { LatchkeyError } from '#platform/base/errors.ts';
import { delay, outside, resumeTask, Task } from '#platform/base/tasks.ts';
import type { Tracing } from '#platform/base/tracing.ts';
import type { LogWriter } from '#platform/log/log-writer.ts';
import type { Connection } from './connection.ts';
import { DescriptorWarnings, Rejections } from './connection-warnings.ts';
import { Connections } from './connections.ts';
import { dispatch } from './dispatch.ts';
import { Exchange, type ExchangeParts } from './exchange.ts';
import type { ListenerOptions } from './http-options.ts';
import { InheritedSockets } from './inherited-sockets.ts';
import { type BoundAddress, bind } from './listen.ts';
import type { ReceivedRequest } from './message.ts';
import { createNodeServer, MAX_SWEEP_MS, nodeLimits } from './node-server.ts';
import { Opening, type Speaker } from './opening.ts';
import type { EventLoopLag } from './overload.ts';
import { InFlight } from './overload.ts';
import { afterPendingEvents } from './pending-events.ts';
import { loggedMethod } from './request-head.ts';
import { type ServedRequest, ServedRequests } from './served-requests.ts';
import { type ServerLimits, type ServerParts, Serving, type ServingOptions } from './serving.ts';
import { openCertificate } from './tls-pair.ts';
import { REFUSAL_HOLD_MS, WorkBudget, WorkUsedUp } from './work-budget.ts';

export interface HttpServerOptions extends ServingOptions {
  readonly log: LogWriter;
  readonly lag: Pick<EventLoopLag, 'isLagging'>;
  readonly tracing: Tracing;
}

/** A request received by a listener. */
interface Received extends Pick<ExchangeParts, 'connection' | 'expectsContinue' | 'request' | 'response'> {
  readonly listener: string;
  /** Called before the request is served. */
  prepare?(): void;
}

/** A sweep that is later than this shows that the event loop was blocked. */
const MAX_SWEEP_DELAY_MS = 250;
const CLOSING_SWEEP_MS = 50;
/** Maximum time that a stopping server waits for a pause before it stops listening. */
const MAX_PAUSE_SEARCH_MS = 2000;
const PAUSE_CHECK_MS = 2;
/** Number of quiet checks that count as a pause. Decreases with the time spent waiting. */
const PAUSE_CHECKS = 25;
const MIN_PAUSE_CHECKS = 2;
/** After this time the minimum number of checks is enough, and the checks run continuously. */
const PATIENCE_MS = 500;
/** While the server closes, a connection that is idle this long is assumed to have no request on its way. */
const IDLE_WHEN_CLOSING_MS = 250;
/** Extends that time by a multiple of a sweep's delay, since clients on the same machine are delayed as well. */
const IDLE_PER_DELAY = 4;
const MAX_IDLE_WHEN_CLOSING_MS = 2000;
const HANDLER_TIMEOUT_RETRY_SECONDS = 5;
/** Maximum number of delayed refusals. Beyond it, the connection is closed instead. */
const MAX_HELD = 1000;

export class HttpServer {
  readonly #lag: HttpServerOptions['lag'];
  readonly #tracing: Tracing;
  readonly #listeners: readonly ListenerOptions[];
  readonly #inherited: InheritedSockets;
  readonly #connections: Connections;
  readonly #rejections: Rejections;
  readonly #inFlight: InFlight;
  readonly #work: WorkBudget;
  readonly #parts: ServerParts;
  readonly #served = new ServedRequests();
  readonly #servers: Server[] = [];
  /** By listener name. */
  readonly #openings = new Map<string, Opening>();
  #serving: Serving;
  #sweeper: NodeJS.Timeout;
  /** Every response is the last of its connection. */
  #isClosing = false;
  #answered = 0;
  #held = 0;
  #counter = 0;

  /** The server does not listen until `listen` is called. */
  constructor(options: HttpServerOptions) {
    const { http, lag, limits, log, tracing } = options;
    this.#lag = lag;
    this.#tracing = tracing;
    this.#listeners = http.listeners;
    this.#inherited = new InheritedSockets(http.listenVariables);
    this.#inFlight = new InFlight(limits.maxInFlight);
    this.#work = new WorkBudget(limits.work, log);
    this.#parts = { log, inFlight: this.#inFlight, work: this.#work, isClosing: () => this.#isClosing };
    this.#serving = new Serving(options, this.#parts);
    const warnings = new DescriptorWarnings(log);
    this.#connections = new Connections(limits, this.#serving.proxies, (limit) => warnings.report(limit));
    this.#rejections = new Rejections(log);
    this.#sweeper = this.#startSweeping();
  }

  /**
   * Prepares new settings for answering requests. Listeners (except for their certificates) and connection limits stay
   * unchanged.
   * @throws Error if any setting cannot be used
   * @returns a function that applies the settings to all new requests; current ones keep theirs
   */
  prepare(options: ServingOptions): () => void {
    const serving = new Serving(options, this.#parts);
    const useCertificates = this.#prepareTls(options.http.listeners);
    return () => {
      useCertificates();
      this.#replace(serving, options.limits);
    };
  }

  #replace(serving: Serving, limits: ServerLimits): void {
    this.#serving = serving;
    this.#inFlight.max = limits.maxInFlight;
    this.#work.limits = limits.work;
    this.#connections.trust(this.#serving.proxies);
    for (const server of this.#servers) Object.assign(server, nodeLimits(limits));
    clearInterval(this.#sweeper);
    this.#sweeper = this.#startSweeping();
  }

  /**
   * Applies the certificates of these listeners, matched by name, to new connections. Listeners that started without
   * TLS stay without it.
   * @throws Error if a certificate cannot be used, without changing anything
   */
  reloadTls(listeners: readonly Pick<ListenerOptions, 'name' | 'tls'>[]): void {
    this.#prepareTls(listeners)();
  }

  #prepareTls(listeners: readonly Pick<ListenerOptions, 'name' | 'tls'>[]): () => void {
    const certificates = listeners.flatMap(({ name, tls }) => {
      const opening = this.#openings.get(name);
      return opening === undefined || tls === undefined ? [] : [{ opening, certificate: openCertificate(tls) }];
    });
    return () => {
      for (const { opening, certificate } of certificates) opening.useCertificate(certificate);
    };
  }

  /** Lists the expiry of each listener's certificate, in milliseconds since the epoch. */
  *listCertificates(): Iterable<{ readonly listener: string; readonly validTo: number }> {
    for (const [listener, { certificate }] of this.#openings) {
      if (certificate !== undefined) yield { listener, validTo: certificate.validTo };
    }
  }

  /** Number of requests being served. */
  get served(): number {
    return this.#served.size;
  }

  /** Private addresses that sent a forwarding header without being trusted proxies. */
  get untrustedProxies(): readonly string[] {
    return this.#serving.untrustedProxies.addresses;
  }

  /** Lists the listener and method of each request being served. */
  *listServed(): Iterable<{ readonly listener: string; readonly method: string }> {
    for (const { exchange } of this.#served)
      yield { listener: exchange.table.listener, method: exchange.countedMethod };
  }

  /** Whether new requests are refused: all of them, or the less urgent ones. */
  get isOverloaded(): boolean {
    return this.#inFlight.isFull || (this.#inFlight.areSeveral && this.#lag.isLagging);
  }

  /** Binds all listeners. If one fails, throws `ExitError` 71 with nothing left bound. */
  async listen(): Promise<BoundAddress[]> {
    const bound: BoundAddress[] = [];
    try {
      for (const listener of this.#listeners) {
        const { binds, name } = listener;
        const hasHttp2 = listener.tls !== undefined || listener.cleartextHttp2 === true;
        const needsOpening = hasHttp2 || listener.proxyProtocol !== undefined;
        if (needsOpening) this.#openings.set(name, this.#openingOf(listener));
        const serveHttp2 = hasHttp2 ? await this.#http2Of(name) : undefined;
        const createServer = (isLocal: boolean): Server => this.#createServer(name, isLocal, serveHttp2);
        for (const entry of binds) {
          bound.push(...(await bind(name, entry, createServer, this.#servers, this.#inherited)));
        }
      }
    } catch (error) {
      await this.close(0);
      throw error;
    }
    return bound;
  }

  /**
   * Tells clients to use other connections: `Connection: close` with each response, GOAWAY on HTTP/2. The server keeps
   * listening, so that clients returning to this instance are served.
   */
  drain(): void {
    this.#isClosing = true;
    this.#connections.announceEnd();
  }

  /**
   * Drains, stops listening, lets the requests in flight finish and closes each connection after its response
   * (operations 8.5).
   * @returns `forced` if connections had to be destroyed after `graceMs`
   */
  async close(graceMs: number): Promise<'clean' | 'forced'> {
    this.drain();
    const idleCloser = this.#startClosingIdle();
    let outcome: 'clean' | 'forced' = 'clean';
    const deadline = setTimeout(() => {
      if (this.#connections.count > 0) outcome = 'forced';
      this.destroyConnections();
    }, graceMs);
    await this.#untilPause(graceMs);
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
    clearTimeout(deadline);
    clearInterval(idleCloser);
    clearInterval(this.#sweeper);
    return outcome;
  }

  /**
   * Waits for a moment without new connections. When the listener closes, the kernel resets connections that have not
   * been accepted, and clients that just received a response are the most likely to open one. A pause is measured in
   * checks rather than time: on a busy machine, time passes without this process or its clients running.
   */
  async #untilPause(graceMs: number): Promise<void> {
    const from = performance.now();
    let quietChecks = this.#connections.count === 0 ? PAUSE_CHECKS : 0;
    let activity = this.#activity;
    for (;;) {
      // First accepts all connections that are already pending.
      await afterPendingEvents();
      quietChecks = activity === this.#activity ? quietChecks + 1 : 0;
      activity = this.#activity;
      const searchedMs = performance.now() - from;
      if (searchedMs >= Math.min(MAX_PAUSE_SEARCH_MS, graceMs / 2)) return;
      if (quietChecks >= Math.max(MIN_PAUSE_CHECKS, PAUSE_CHECKS * (1 - searchedMs / PATIENCE_MS))) return;
      if (searchedMs > PATIENCE_MS) continue;
      await outside(new Promise((resolve) => setTimeout(resolve, PAUSE_CHECK_MS)));
    }
  }

  /** A number that changes with every connection and every response. */
  get #activity(): number {
    return this.#connections.accepted + this.#answered;
  }

  #startClosingIdle(): NodeJS.Timeout {
    let sweptAt = performance.now();
    let idleMs = IDLE_WHEN_CLOSING_MS;
    return setInterval(() => {
      const now = performance.now();
      const delayMs = Math.max(0, now - sweptAt - CLOSING_SWEEP_MS);
      sweptAt = now;
      const neededMs = IDLE_WHEN_CLOSING_MS + IDLE_PER_DELAY * delayMs;
      idleMs = Math.min(MAX_IDLE_WHEN_CLOSING_MS, Math.max(idleMs, neededMs));
      void this.#closeIdle(now, idleMs);
    }, CLOSING_SWEEP_MS);
  }

  async #closeIdle(now: number, idleMs: number): Promise<void> {
    // On a busy machine, data from a client may remain unread for longer than the idle time.
    await afterPendingEvents();
    this.#connections.closeIdle(now, idleMs);
  }

  /** Destroys all connections immediately. */
  destroyConnections(): void {
    this.#connections.destroyAll();
  }

  #openingOf(listener: ListenerOptions): Opening {
    return new Opening({
      ...{ listener, connections: this.#connections, rejections: this.#rejections },
      timeoutMs: () => this.#serving.limits.handshakeTimeoutSeconds * 1000,
      headersTimeoutMs: () => this.#serving.limits.headersTimeoutSeconds * 1000,
    });
  }

  async #http2Of(listener: string): Promise<Speaker> {
    // Loaded only for listeners with HTTP/2, because the module costs time and memory at startup.
    const { serveHttp2 } = await import('./http2-connection.ts');
    return serveHttp2({
      limits: () => this.#serving.limits,
      serve: (connection, request, response) => {
        const expectsContinue = request.headers.expect?.toLowerCase() === '100-continue';
        this.#exchange({ listener, request, response, connection, expectsContinue }).start();
      },
      report: (reason, { peer }) =>
        resumeTask(undefined, () => this.#rejections.report(reason, undefined, peer.address)),
    });
  }

  #createServer(listener: string, isLocal: boolean, serveHttp2: Speaker | undefined): Server {
    const opening = this.#openings.get(listener);
    return createNodeServer({
      ...{ isLocal, opening, serveHttp2, connections: this.#connections, rejections: this.#rejections },
      limits: this.#serving.limits,
      receive: (request, response, expectsContinue) => this.#receive(listener, request, response, expectsContinue),
      receiveLast: (connection, request) => this.#receiveLast(listener, connection, request),
    });
  }

  #receive(listener: string, request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const connection = this.#connections.of(request.socket);
    if (connection === undefined || connection.isOver) return;
    if (connection.admit(this.#exchange({ listener, request, response, connection, expectsContinue }))) return;
    // Logged outside of the task of the request being served on the connection.
    resumeTask(undefined, () => this.#rejections.report('limit', undefined, connection.peer.address));
  }

  /** Serves a request without a response object from Node. It is the last one on its connection. */
  #receiveLast(listener: string, connection: Connection, request: IncomingMessage): void {
    const { socket } = connection;
    const response = new ServerResponse(request);
    const prepare = (): void => {
      response.assignSocket(socket);
      response.once('finish', () => socket.destroySoon());
    };
    connection.admit(this.#exchange({ listener, request, response, connection, expectsContinue: false, prepare }));
  }

  /** Creates the exchange of a request, with the settings in force at its arrival. */
  #exchange({ listener, prepare, request, response, connection, expectsContinue }: Received): Exchange {
    const serving = this.#serving;
    const task = this.#newTask(request, connection.peer.isTrusted);
    const start = (exchange: Exchange): void => {
      prepare?.();
      this.#begin(exchange, serving);
    };
    const settings = serving.exchange;
    const table = serving.tableOf(listener);
    return new Exchange({ settings, table, task, request, response, connection, expectsContinue, start });
  }

  #newTask(request: ReceivedRequest, isTrusted: boolean): Task {
    const task = new Task(loggedMethod(request.method ?? ''));
    this.#tracing.beginRequest(task, request.headers, isTrusted);
    return task;
  }

  #begin(exchange: Exchange, serving: Serving): void {
    // Numbered only now, so that requests discarded with their connection leave neither a log line nor a gap.
    this.#counter += 1;
    exchange.task.id = `${exchange.loggedMethod}-${this.#counter}`;
    const served = this.#served.add(exchange, serving);
    resumeTask(exchange.task, () => void this.#serve(served));
  }

  async #serve(served: ServedRequest): Promise<void> {
    const { exchange, serving } = served;
    const { dispatch: settings, responder } = serving;
    try {
      const response = await dispatch(exchange, settings, this.#lag.isLagging);
      const streaming = responder.answer(exchange, response);
      if (streaming !== undefined) await streaming;
    } catch (thrown) {
      if (thrown instanceof WorkUsedUp && thrown.isRepeated) await this.#hold(exchange);
      responder.answerFailure(exchange, thrown);
    } finally {
      this.#inFlight.leave(exchange);
      this.#served.remove(served);
      this.#answered += 1;
      exchange.charge();
    }
  }

  /** Slows down a caller that continues after a refusal, since even refusals cost something. */
  async #hold(exchange: Exchange): Promise<void> {
    if (this.#held >= MAX_HELD) {
      exchange.connection.endAfterCurrent();
      return;
    }
    this.#held += 1;
    exchange.deadline = Number.POSITIVE_INFINITY;
    this.#inFlight.leave(exchange);
    await delay(REFUSAL_HOLD_MS);
    this.#held -= 1;
  }

  #startSweeping(): NodeJS.Timeout {
    const sweepMs = Math.min(MAX_SWEEP_MS, this.#serving.exchange.handlerTimeoutMs / 4);
    let sweptAt = performance.now();
    return setInterval(() => {
      const now = performance.now();
      const delayMs = now - sweptAt - sweepMs;
      sweptAt = now;
      if (delayMs > MAX_SWEEP_DELAY_MS) this.#extendDeadlines(delayMs);
      this.#sweep(now);
    }, sweepMs).unref();
  }

  /** Time during which the event loop was blocked does not count: neither peers nor handlers could make progress. */
  #extendDeadlines(byMs: number): void {
    for (const { exchange } of this.#served) exchange.extendDeadlines(byMs);
    this.#connections.extendDeadlines(byMs);
  }

  #sweep(now: number): void {
    for (const { exchange, serving } of this.#served) {
      exchange.body.failIfSlow(now, serving.limits.requestTimeoutSeconds * 1000);
      if (now > exchange.deadline && !exchange.isAnswered) this.#expire(exchange, serving);
    }
    this.#connections.resetStuck(now);
    this.#connections.measureDescriptors();
  }

  /**
   * Answers a request whose handler took too long. The handler runs until its next operation, and its result is
   * discarded.
   */
  #expire(exchange: Exchange, { responder }: Serving): void {
    exchange.deadline = Number.POSITIVE_INFINITY;
    exchange.task.isOver = true;
    const error = new LatchkeyError('temporarily_unavailable', { retryAfterSeconds: HANDLER_TIMEOUT_RETRY_SECONDS });
    resumeTask(exchange.task, () => responder.answerFailure(exchange, error));
  }
}

/** Creates the server for these routes. It does not listen until `listen` is called. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  return new HttpServer(options);
}
