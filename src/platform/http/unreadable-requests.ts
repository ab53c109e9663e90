import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorCode, LatchkeyError } from '#platform/base/errors.ts';
import { resumeTask } from '#platform/base/tasks.ts';
import { reasonPhrase } from '#platform/log/request-line.ts';
import type { Connection, PendingRequest } from './connection.ts';
import type { RejectionReason, Rejections } from './connection-warnings.ts';
import type { Connections } from './connections.ts';
import type { ReceivedRequest } from './message.ts';
import { afterPendingEvents } from './pending-events.ts';

/** Code of Node's error for a head or body that takes too long. */
const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

/** The parser's error for a connection that it gave up on. */
export interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

export interface UnreadableRequestsOptions {
  readonly connections: Connections;
  readonly rejections: Rejections;
  /** Answers a request without a response object from Node, after the waiting requests before it. */
  serve(connection: Connection, request: IncomingMessage): void;
}

/**
 * Handles requests that never reach a route: malformed, incomplete, or with a method that Node does not support. They
 * are answered after the requests before them, and their connection ends.
 */
export class UnreadableRequests {
  readonly #options: UnreadableRequestsOptions;

  constructor(options: UnreadableRequestsOptions) {
    this.#options = options;
  }

  /** Called when parsing fails, a timeout expires, or the peer is gone. */
  onClientError(error: ParserError, stream: Duplex): void {
    const connection = stream instanceof Socket ? this.#options.connections.of(stream) : undefined;
    if (error.code === REQUEST_TIMEOUT && connection !== undefined) void this.#onTimeout(error, connection);
    else this.#onError(error, stream, connection);
  }

  /** Node reports this once for each request, so a request that is late must be refused now. */
  async #onTimeout(error: ParserError, connection: Connection): Promise<void> {
    const { socket } = connection;
    const awaited = connection.latest;
    const isAwaitingBody = connection.receiving !== undefined;
    await afterPendingEvents();
    const hasArrived = isAwaitingBody ? awaited?.isReceived === true : connection.latest !== awaited;
    if (!hasArrived && !socket.destroyed) this.#onError(error, socket, connection);
  }

  #onError(error: ParserError, stream: Duplex, connection: Connection | undefined): void {
    // The connection closes on its own once the last response has been sent.
    if (connection?.isOver === true) return;
    if (connection === undefined || connection.isUnreadable) {
      // Only the responses in progress are still needed.
      if (connection?.isBusy !== true) stream.destroy();
      return;
    }
    connection.isUnreadable = true;
    const rejection = rejectionOf(error.code);
    const { receiving } = connection;
    if (receiving?.isAnswered === false) {
      // The bytes belong to the body of a request that was already passed on. Its own log line shows the outcome.
      receiving.failBody(new LatchkeyError(rejection?.status === 408 ? 'request_timeout' : 'malformed_request'));
    } else if (rejection === undefined || receiving !== undefined) {
      stream.destroy();
    } else {
      this.#reject(connection, error, rejection);
    }
  }

  /** Node does not pass CONNECT to a request handler. */
  onConnect(request: IncomingMessage): void {
    const connection = this.#options.connections.of(request.socket);
    if (connection === undefined) return;
    // Node has removed its own listeners from the socket.
    connection.socket.on('error', () => {});
    if (connection.isOver) {
      connection.socket.destroySoon();
      return;
    }
    connection.isUnreadable = true;
    // Replaces the tunnel's destination, which is not a path of this service (operations 5.1).
    request.url = '*';
    this.#options.serve(connection, request);
  }

  #reject(connection: Connection, error: ParserError, rejection: Rejection): void {
    const { code, rawPacket, bytesParsed = 0 } = error;
    // Bytes after a POST without a declared length are more likely its body than a request with an unknown method.
    const isUnknownMethod = code === 'HPE_INVALID_METHOD' && rawPacket !== undefined && !connection.isBodyUndeclared;
    const request = isUnknownMethod ? readUnknownMethod(connection.socket, rawPacket, bytesParsed) : undefined;
    if (request !== undefined) {
      this.#options.serve(connection, request);
      return;
    }
    const { reason, refusal, status } = rejection;
    // A connection without any data was opened in advance, as browsers do, and never used.
    const isSilent = reason === 'header_timeout' && connection.socket.bytesRead === 0;
    // Logged outside of the task of a request that arrived in the same packet.
    resumeTask(undefined, () => {
      if (isSilent) this.#options.rejections.reportSilent(connection.peer.address);
      else this.#options.rejections.report(reason, status, connection.peer.address);
    });
    if (refusal === undefined) connection.admit(new RawRefusal(connection, status));
    else this.#options.serve(connection, readRefused(connection, error, refusal));
  }
}

/** Represents bytes that could not be parsed as a request in the queue of a connection. */
class RawRefusal implements PendingRequest {
  readonly isAnswered = false;
  readonly isReceived = true;
  readonly isBodyUndeclared = false;
  readonly mayHaveBody = false;
  readonly isSent = false;
  readonly #connection: Connection;
  readonly #status: number;

  constructor(connection: Connection, status: number) {
    this.#connection = connection;
    this.#status = status;
  }

  start(): void {
    this.#connection.lingerOnClose();
    respondRaw(this.#connection.socket, this.#status);
    this.#connection.drop();
  }

  /** No request follows. */
  onceSent(): void {}

  /** Has no body. */
  failBody(): void {}
}

interface Rejection {
  readonly reason: RejectionReason;
  readonly status: number;
  /** The error that answers the request. Undefined while its head is incomplete. */
  readonly refusal?: Refusal;
}

/** Returns undefined if the connection was lost. */
function rejectionOf(code: string | undefined): Rejection | undefined {
  if (code === REQUEST_TIMEOUT) return { reason: 'header_timeout', status: 408 };
  // The connection preface of a client that assumes HTTP/2 (RFC 9113 3.4).
  if (code === 'HPE_PAUSED_H2_UPGRADE') return { reason: 'http2', status: 400, refusal: 'malformed_request' };
  if (code === 'HPE_HEADER_OVERFLOW') {
    return { reason: 'header_overflow', status: 431, refusal: 'headers_too_large' };
  }
  if (code?.startsWith('HPE_') !== true) return undefined;
  return { reason: 'malformed', status: 400, refusal: 'malformed_request' };
}

const HEAD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,1024}) (\S{1,8192}) HTTP\/1\.([01])\r\n((?:[^\r\n]*\r\n)*?)\r\n/;
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*(.*?)[ \t]*$/;
/** The fields that can affect the response. All others are only counted. */
const JOINED_FIELDS = new Set(['accept', 'accept-language', 'forwarded', 'x-forwarded-for']);
const SINGLE_FIELDS = new Set(['user-agent', 'traceparent']);

/**
 * Parses a request that Node's parser rejected only for its unknown method, so that it can be answered like any other.
 * Returns undefined if the bytes are not a complete head.
 * @param parsedBytes position in `packet` at which the parser stopped, within the method
 */
function readUnknownMethod(socket: Socket, packet: Buffer, parsedBytes: number): IncomingMessage | undefined {
  const start = packet.lastIndexOf('\n', Math.max(0, parsedBytes - 1)) + 1;
  const [, method, target, minor, lines = ''] = HEAD.exec(packet.toString('latin1', start)) ?? [];
  if (method === undefined || target === undefined || minor === undefined) return undefined;
  const request = new IncomingMessage(socket);
  if (!addFields(request, lines.split('\r\n').slice(0, -1))) return undefined;
  return complete(request, method, target, `1.${minor}`);
}

type Refusal = Extract<ErrorCode, 'malformed_request' | 'headers_too_large'>;

/** A request that the parser rejected, with the parts that could be read. */
class RefusedRequest extends IncomingMessage implements ReceivedRequest {
  readonly refusal: Refusal;

  constructor(socket: Socket, refusal: Refusal) {
    super(socket);
    this.refusal = refusal;
  }
}

const HEAD_END = '\r\n\r\n';
/** No more of a head is ever read: with the default limits, Node gives up at this size. */
const MAX_READ_BYTES = 24 * 1024;
const FIRST_LINE =
  /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,1024})(?: ([^ \r\n]{1,8192})(?: HTTP\/(\d\.\d)(?=\r?\n))?|(?=[\r\n]|$))/;
/** Logged in place of parts of the request line that could not be read. */
const UNREAD = '-';

/**
 * Extracts the method, target, version and the fields needed for the log as far as possible. Reads nothing if the bytes
 * may belong to a body or a header field, which must never reach the log (operations 5.10).
 */
function readRefused(connection: Connection, error: ParserError, refusal: Refusal): IncomingMessage {
  const { bytesParsed = 0, code, rawPacket = Buffer.alloc(0) } = error;
  const request = new RefusedRequest(connection.socket, refusal);
  if (code === 'HPE_PAUSED_H2_UPGRADE') return complete(request, 'PRI', '*', '2.0');
  const former = rawPacket.subarray(0, bytesParsed).lastIndexOf(HEAD_END);
  const start = former === -1 ? 0 : former + HEAD_END.length;
  const isHead = former === -1 ? connection.beginsHead(rawPacket.length) : !connection.mayHaveBody;
  const text = isHead ? rawPacket.toString('latin1', start, start + MAX_READ_BYTES) : '';
  const [, method = UNREAD, target = UNREAD, version = ''] = FIRST_LINE.exec(text) ?? [];
  // Only the lines that the parser has seen, including the rejected one.
  const refused = text.indexOf('\n', bytesParsed - start);
  const lines = text.slice(0, refused === -1 ? undefined : refused + 1).split(/\r?\n/);
  if (version !== '') addFields(request, lines.slice(1));
  return complete(request, method, method === 'CONNECT' ? '*' : target, version);
}

/** @returns false if a line is not a header field; the fields before it have been added */
function addFields(request: IncomingMessage, lines: readonly string[]): boolean {
  for (const line of lines) {
    const [, name = '', value = ''] = FIELD.exec(line) ?? [];
    if (name === '') return false;
    request.rawHeaders.push(name, value);
    const key = name.toLowerCase();
    const known = request.headers[key];
    if (known === undefined && (SINGLE_FIELDS.has(key) || JOINED_FIELDS.has(key))) request.headers[key] = value;
    else if (typeof known === 'string' && JOINED_FIELDS.has(key)) request.headers[key] = `${known}, ${value}`;
  }
  return true;
}

function complete(request: IncomingMessage, method: string, target: string, version: string): IncomingMessage {
  request.method = method;
  request.url = target;
  request.httpVersion = version;
  request.complete = true;
  return request;
}

/** Answers on a connection without a readable request, and closes it. */
function respondRaw(socket: Socket, status: number): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.write(
    `HTTP/1.1 ${status} ${reasonPhrase(status)}\r\nConnection: close\r\nContent-Length: 0\r\n` +
      'Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n',
  );
  socket.destroySoon();
}
