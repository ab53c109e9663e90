/**
 * An HTTP/2 connection. node:http2 implements the protocol, and this file adds limits (operations 9.1, security S-142).
 * Requests are served concurrently, each as an ordinary `Exchange`. node:http2 itself rejects endless CONTINUATION
 * frames, oversized heads and streams beyond `max_concurrent_streams`.
 */
import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Connection, Multiplexer, RequestConnection } from './connection.ts';
import type { HttpLimits } from './http-options.ts';
import { Http2Request, Http2Response } from './http2-messages.ts';
import type { OutgoingResponse } from './message.ts';
import type { Speaker } from './opening.ts';

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

/**
 * Maximum number of reset streams, and of frames that require an acknowledgment, per window. More end the connection.
 */
const MAX_PER_WINDOW = 200;
const WINDOW_MS = 10_000;
/** Requests already on their way when the end is announced are still served for this long. */
const NOTICE_MS = 250;
/** A closed connection is destroyed after this time. */
const CLOSE_MS = 1000;
/** Time for a disconnected peer to read the reason. */
const LAST_WORD_MS = 100;
const HIGHEST_STREAM = 2 ** 31 - 1;
/**
 * Enough for the pseudo-headers and the field limit plus some, so that requests slightly above the limit get our own
 * response.
 */
const MAX_HEADER_PAIRS = 128;
/** Overhead per field in the header list size (RFC 9113 6.5.2). */
const FIELD_REST_BYTES = 32;
/** A client that reads no further slice of a response for this long is disconnected. */
const SLOW_READER_MS = 30_000;

export interface Http2Options {
  /** The current limits. */
  limits(): Http2Limits;
  serve(connection: Http2Connection, request: Http2Request, response: Http2Response): void;
  /** Called when the peer exceeds a limit or violates the protocol. The connection ends. */
  report(reason: 'limit' | 'malformed', connection: Connection): void;
}

type Http2Limits = Pick<
  HttpLimits,
  | 'headersTimeoutSeconds'
  | 'keepAliveTimeoutSeconds'
  | 'maxConcurrentStreams'
  | 'maxHeadersBytes'
  | 'maxRequestLineBytes'
>;

/** Serves HTTP/2 on connections whose peers chose it. */
export function serveHttp2(options: Http2Options): Speaker {
  return (connection) => {
    connection.multiplexer = new Http2Connection(connection, options);
  };
}

class Http2Connection implements RequestConnection, Multiplexer {
  readonly isMultiplexed = true;
  readonly isUnreadable = false;
  readonly hasWaiting = false;
  readonly endsWithCurrent = false;
  answered = 0;
  readonly #connection: Connection;
  readonly #session: ServerHttp2Session;
  readonly #options: Http2Options;
  readonly #resets = new Burst();
  readonly #acknowledged = new Burst();
  /** Open streams, with their deadline for reading more of the response. */
  readonly #streams = new Map<ServerHttp2Stream, number>();
  /** The peer has sent its initial settings. */
  #isGreeted = false;
  #idleSince = performance.now();
  /** When the peer last read a part of any response. */
  #takenAt = performance.now();
  #endingSince: number | undefined;

  constructor(connection: Connection, options: Http2Options) {
    const { maxConcurrentStreams, maxHeadersBytes, maxRequestLineBytes } = options.limits();
    this.#connection = connection;
    this.#options = options;
    const maxHeaderListSize = maxRequestLineBytes + maxHeadersBytes + FIELD_REST_BYTES * MAX_HEADER_PAIRS;
    const settings = { maxConcurrentStreams, maxHeaderListSize, enableConnectProtocol: false };
    const session = performServerHandshake(connection.socket, { settings, maxHeaderListPairs: MAX_HEADER_PAIRS });
    this.#session = session;
    session.on(
      'stream',
      (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: readonly string[]) =>
        this.#receive(stream, headers, rawHeaders),
    );
    session.on('ping', () => this.#count(this.#acknowledged));
    session.on('remoteSettings', () => {
      this.#isGreeted = true;
      this.#count(this.#acknowledged);
    });
    session.on('error', () => {
      // Errors that follow from a reported end are not reported again.
      if (!connection.isOver) options.report('malformed', connection);
      connection.drop();
    });
    // The session waits for this event, which only a node:tls server emits for the sockets that it accepts.
    connection.socket.emit('secureConnect');
  }

  get peer(): Connection['peer'] {
    return this.#connection.peer;
  }

  get proxy(): Connection['proxy'] {
    return this.#connection.proxy;
  }

  get socket(): Socket {
    return this.#connection.socket;
  }

  get isBusy(): boolean {
    return this.#streams.size > 0;
  }

  get idleSince(): number {
    return this.#idleSince;
  }

  /** One of several concurrent requests does not end the connection. */
  endAfterCurrent(): void {}

  /** Not needed, since the connection ends with a frame that identifies the requests served. */
  lingerOnClose(): void {}

  abandon(response: OutgoingResponse): void {
    response.destroy();
  }

  advance(isLast: boolean): void {
    this.answered += 1;
    if (isLast) this.announceEnd();
  }

  /** Requests already on their way are still served (RFC 9113 6.8). */
  announceEnd(): void {
    if (this.#endingSince !== undefined || this.#session.destroyed) return;
    this.#endingSince = performance.now();
    this.#session.goaway(NGHTTP2_NO_ERROR, HIGHEST_STREAM);
  }

  sweep(now: number): void {
    const { headersTimeoutSeconds, keepAliveTimeoutSeconds } = this.#options.limits();
    const maxIdleMs = (this.#isGreeted ? keepAliveTimeoutSeconds : headersTimeoutSeconds) * 1000;
    const isIdle = !this.isBusy && now - this.#idleSince > maxIdleMs;
    if (isIdle || (this.#endingSince !== undefined && now - this.#endingSince > NOTICE_MS)) this.#close(now);
    for (const [stream, deadline] of this.#streams) if (now > deadline) this.#giveUp(stream, now);
  }

  extendDeadlines(byMs: number): void {
    this.#idleSince += byMs;
    this.#takenAt += byMs;
    if (this.#endingSince !== undefined) this.#endingSince += byMs;
    for (const [stream, deadline] of this.#streams) this.#streams.set(stream, deadline + byMs);
  }

  #close(now: number): void {
    this.#endingSince ??= now;
    if (!this.#session.closed) this.#session.close();
    else if (!this.isBusy && now - Math.max(this.#endingSince, this.#idleSince) > CLOSE_MS) this.#connection.cut();
  }

  /**
   * Handles a response that the client does not read. Ends the connection if the client reads no other response either.
   */
  #giveUp(stream: ServerHttp2Stream, now: number): void {
    if (stream.closed || now - this.#takenAt > SLOW_READER_MS) this.#connection.cut();
    else stream.close(NGHTTP2_CANCEL);
  }

  #receive(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]): void {
    stream.on('error', () => {});
    if (this.#connection.isOver) {
      stream.close(NGHTTP2_REFUSED_STREAM);
      return;
    }
    this.#streams.set(stream, Number.POSITIVE_INFINITY);
    stream.once('close', () => {
      this.#streams.delete(stream);
      this.#idleSince = performance.now();
      if (stream.rstCode !== NGHTTP2_NO_ERROR) this.#count(this.#resets);
    });
    const request = new Http2Request(stream, headers, rawHeaders);
    stream.once('finish', () => {
      this.#takenAt = performance.now();
    });
    const response = new Http2Response(stream, request, {
      onSlice: (hasTaken) => this.#expectReading(stream, hasTaken),
      onPause: () => this.#awaitPart(stream),
    });
    // Waits until everything in the same packet has been read. So a request that is reset immediately is never started
    // (CVE-2023-44487).
    setImmediate(() => {
      if (!response.closed && !this.#connection.isOver) this.#options.serve(this, request, response);
    });
  }

  /** Sets the deadline for reading the next part of a response. */
  #expectReading(stream: ServerHttp2Stream, hasTaken: boolean): void {
    const now = performance.now();
    if (hasTaken) this.#takenAt = now;
    if (this.#streams.has(stream)) this.#streams.set(stream, now + SLOW_READER_MS);
  }

  /** Everything has been read, so there is no deadline until the next part exists. */
  #awaitPart(stream: ServerHttp2Stream): void {
    this.#takenAt = performance.now();
    if (this.#streams.has(stream)) this.#streams.set(stream, Number.POSITIVE_INFINITY);
  }

  #count(burst: Burst): void {
    if (this.#connection.isOver || !burst.exceeds(performance.now())) return;
    this.#connection.drop();
    this.#options.report('limit', this.#connection);
    this.#session.goaway(NGHTTP2_ENHANCE_YOUR_CALM);
    // An immediate close would discard the frame that contains the reason.
    setTimeout(
      () => this.#session.destroy(new Error('too many frames in a short time'), NGHTTP2_ENHANCE_YOUR_CALM),
      LAST_WORD_MS,
    ).unref();
  }
}

/** Detects that an event occurs too often within the window. */
class Burst {
  readonly #times: number[] = [];
  #next = 0;

  exceeds(now: number): boolean {
    const earlier = this.#times[this.#next];
    this.#times[this.#next] = now;
    this.#next = (this.#next + 1) % MAX_PER_WINDOW;
    return earlier !== undefined && now - earlier < WINDOW_MS;
  }
}
