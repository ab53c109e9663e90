import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { LatchkeyError } from '#platform/base/errors.ts';
import { resumeTask } from '#platform/base/tasks.ts';
import { reasonPhrase } from '#platform/log/request-line.ts';
import type { Connection, PendingRequest } from './connection.ts';
import type { RejectionReason, Rejections } from './connection-warnings.ts';
import type { Connections } from './connections.ts';

/** What the parser tells of a connection it gave up. */
export interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

export interface UnreadableRequestsOptions {
  readonly connections: Connections;
  readonly rejections: Rejections;
  /** Answers a request that Node gives no response object for, after those that wait before it. */
  serve(connection: Connection, request: IncomingMessage): void;
}

/**
 * What arrives on a connection and never reaches a route: broken, unfinished, or by a method that nobody serves. It is
 * the last of its connection, and is answered after the requests before it.
 */
export class UnreadableRequests {
  readonly #options: UnreadableRequestsOptions;

  constructor(options: UnreadableRequestsOptions) {
    this.#options = options;
  }

  /** The parser failed, a time limit passed, or the peer is gone. */
  onClientError(error: ParserError, stream: Duplex): void {
    const connection = stream instanceof Socket ? this.#options.connections.of(stream) : undefined;
    // It closes by itself once the last answer has left.
    if (connection?.isOver === true) return;
    if (connection === undefined || connection.isUnreadable) {
      // What is being answered is all that is still wanted of it.
      if (connection?.isBusy !== true) stream.destroy();
      return;
    }
    connection.isUnreadable = true;
    const rejection = rejectionOf(error.code);
    const { receiving } = connection;
    if (receiving?.isAnswered === false) {
      // It is the body of a request that was handed over already: its own line tells what became of it.
      receiving.failBody(new LatchkeyError(rejection?.status === 408 ? 'request_timeout' : 'malformed_request'));
    } else if (rejection === undefined || receiving !== undefined) {
      stream.destroy();
    } else {
      this.#reject(connection, error, rejection);
    }
  }

  /** Node hands CONNECT to no request handler. */
  onConnect(request: IncomingMessage): void {
    const connection = this.#options.connections.of(request.socket);
    if (connection === undefined) return;
    // Node has taken its own listeners off the socket.
    connection.socket.on('error', () => {});
    if (connection.isOver) {
      connection.socket.destroySoon();
      return;
    }
    connection.isUnreadable = true;
    // Not what a tunnel would lead to, which is not a path of ours (operations 5.1).
    request.url = '*';
    this.#options.serve(connection, request);
  }

  #reject(connection: Connection, error: ParserError, rejection: Rejection): void {
    const { code, rawPacket, bytesParsed = 0 } = error;
    // What follows a POST of no declared length is rather its body than a request by a method of its own.
    const isUnknownMethod = code === 'HPE_INVALID_METHOD' && rawPacket !== undefined && !connection.isBodyUndeclared;
    const request = isUnknownMethod ? readUnknownMethod(connection.socket, rawPacket, bytesParsed) : undefined;
    if (request !== undefined) {
      this.#options.serve(connection, request);
      return;
    }
    const { reason, status } = rejection;
    // Not on behalf of a request that came in the same packet.
    resumeTask(undefined, () => this.#options.rejections.report(reason, status, connection.peer.address));
    connection.admit(new RawRefusal(connection, rejection.status));
  }
}

/** Takes the place in the queue of a connection of bytes that could not be read as a request. */
class RawRefusal implements PendingRequest {
  readonly isAnswered = false;
  readonly isReceived = true;
  readonly isBodyUndeclared = false;
  readonly isSent = false;
  readonly #connection: Connection;
  readonly #status: number;

  constructor(connection: Connection, status: number) {
    this.#connection = connection;
    this.#status = status;
  }

  start(): void {
    this.#connection.lingerOnClose();
    answerRaw(this.#connection.socket, this.#status);
    this.#connection.drop();
  }

  /** Nothing follows it. */
  onceSent(): void {}

  /** It has none. */
  failBody(): void {}
}

interface Rejection {
  readonly reason: RejectionReason;
  readonly status: number;
}

/** Undefined when the connection broke off. */
function rejectionOf(code: string | undefined): Rejection | undefined {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { reason: 'header_timeout', status: 408 };
  // The first bytes that a peer sends who knows that HTTP/2 is spoken (RFC 9113 3.4).
  if (code === 'HPE_PAUSED_H2_UPGRADE') return { reason: 'http2', status: 400 };
  if (code === 'HPE_HEADER_OVERFLOW') return { reason: 'header_overflow', status: 431 };
  return code?.startsWith('HPE_') === true ? { reason: 'malformed', status: 400 } : undefined;
}

const HEAD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,1024}) (\S{1,8192}) HTTP\/1\.([01])\r\n((?:[^\r\n]*\r\n)*?)\r\n/;
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*(.*?)[ \t]*$/;
/** What an answer to such a request can depend on; of the others only the number counts. */
const JOINED_FIELDS = new Set(['accept', 'accept-language', 'forwarded', 'x-forwarded-for']);
const SINGLE_FIELDS = new Set(['user-agent', 'traceparent']);

/**
 * Reads the request that Node's parser refused only because it does not know the method, so that it can be answered
 * as any other; undefined when its bytes are not a whole head.
 * @param parsedBytes where in `packet` the parser stopped, within the method
 */
function readUnknownMethod(socket: Socket, packet: Buffer, parsedBytes: number): IncomingMessage | undefined {
  const start = packet.lastIndexOf('\n', Math.max(0, parsedBytes - 1)) + 1;
  const [, method, target, minor, lines = ''] = HEAD.exec(packet.toString('latin1', start)) ?? [];
  if (method === undefined || target === undefined || minor === undefined) return undefined;
  const request = new IncomingMessage(socket);
  for (const line of lines.split('\r\n').slice(0, -1)) {
    const [, name = '', value = ''] = FIELD.exec(line) ?? [];
    if (name === '') return undefined;
    request.rawHeaders.push(name, value);
    const key = name.toLowerCase();
    const known = request.headers[key];
    if (known === undefined && (SINGLE_FIELDS.has(key) || JOINED_FIELDS.has(key))) request.headers[key] = value;
    else if (typeof known === 'string' && JOINED_FIELDS.has(key)) request.headers[key] = `${known}, ${value}`;
  }
  request.method = method;
  request.url = target;
  request.httpVersion = `1.${minor}`;
  request.complete = true;
  return request;
}

/** Answers on a connection on which no request could be read, and ends it. */
function answerRaw(socket: Socket, status: number): void {
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
