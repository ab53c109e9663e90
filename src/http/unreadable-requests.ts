import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { LatchkeyError } from '#base/errors.ts';
import { resumeTask, type Task } from '#base/tasks.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import type { Exchange } from './exchange.ts';
import type { LogWriter } from './logging/log-writer.ts';
import type { RejectionReason, Rejections } from './logging/rejections.ts';
import type { RequestRecord } from './logging/request-line.ts';
import { answerRaw, readUnknownMethodHead } from './raw-answer.ts';
import { splitTarget } from './request-head.ts';

/** What the parser tells of a connection it gave up. */
export interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

export interface UnreadableRequestsOptions {
  readonly connections: Connections<Exchange>;
  readonly rejections: Rejections;
  readonly log: LogWriter;
  /** A task with the next request's identifier. */
  newTask(method: string): Task;
}

/** What arrives on a connection and never reaches a route: broken, unfinished, or by a method that nobody serves. */
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
    if (connection === undefined || connection.isBroken) {
      // Of a broken connection the answer under way is all that is still wanted.
      if (connection?.current === undefined) stream.destroy();
      return;
    }
    connection.isBroken = true;
    const { current, latest } = connection;
    const rejection = rejectionOf(error.code);
    if (current !== undefined && !current.isReceived) {
      // It is the body of a request that was handed over already: its own line tells what became of it.
      current.body.fail(new LatchkeyError(rejection?.status === 408 ? 'request_timeout' : 'malformed_request'));
    } else if (rejection === undefined || latest?.isReceived === false) {
      stream.destroy();
    } else if (current !== undefined) {
      // The connection ends with the answer to the request before.
      this.#options.rejections.report(rejection.reason, rejection.status, connection.peer.address);
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
    this.#refuseMethod(connection, {
      method: 'CONNECT',
      path: '*',
      httpVersion: request.httpVersion,
      userAgent: request.headers['user-agent'],
    });
  }

  #reject(connection: Connection<Exchange>, error: ParserError, rejection: Rejection): void {
    const { code, rawPacket, bytesParsed = 0 } = error;
    const isUnknownMethod = code === 'HPE_INVALID_METHOD' && rawPacket !== undefined;
    const head = isUnknownMethod ? readUnknownMethodHead(rawPacket, bytesParsed) : undefined;
    if (head !== undefined) {
      const { httpVersion, target, userAgent } = head;
      this.#refuseMethod(connection, { method: '_OTHER', path: splitTarget(target).path, httpVersion, userAgent });
      return;
    }
    this.#options.rejections.report(rejection.reason, rejection.status, connection.peer.address);
    answerRaw(connection.socket, rejection.status);
  }

  #refuseMethod(
    connection: Connection<Exchange>,
    head: Pick<RequestRecord, 'method' | 'path' | 'httpVersion' | 'userAgent'>,
  ): void {
    const task = this.#options.newTask(head.method);
    resumeTask(task, () => {
      const clientAddress = connection.peer.address;
      this.#options.log.request({ ...head, task, status: 405, requester: undefined, clientAddress });
      answerRaw(connection.socket, 405, { Allow: '' });
    });
  }
}

interface Rejection {
  readonly reason: RejectionReason;
  readonly status: number;
}

/** Undefined when the connection broke off. */
function rejectionOf(code: string | undefined): Rejection | undefined {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { reason: 'header_timeout', status: 408 };
  if (code === 'HPE_HEADER_OVERFLOW') return { reason: 'header_overflow', status: 431 };
  return code?.startsWith('HPE_') === true ? { reason: 'malformed', status: 400 } : undefined;
}
