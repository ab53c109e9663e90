import type { Socket } from 'node:net';
import type { LatchkeyError } from '#platform/base/errors.ts';
import type { Peer } from './client-address.ts';
import type { OutgoingResponse } from './message.ts';
import type { ProxySource } from './proxy-header.ts';

const MAX_PIPELINED = 16;
const SLOW_READER_MS = 30_000;
const LINGER_MS = 1000;

/** A request from the point of view of its connection. */
export interface PendingRequest {
  readonly isAnswered: boolean;
  /** The body has been received completely. */
  readonly isReceived: boolean;
  /** The request may have a body but declares no length. */
  readonly isBodyUndeclared: boolean;
  /** Bytes after the head may be its body. */
  readonly mayHaveBody: boolean;
  /** The response has been sent completely. */
  readonly isSent: boolean;
  /** Starts serving it. */
  start(): void;
  /** Calls back when `isSent` becomes true. Never calls back if the connection ends first. */
  onceSent(callback: () => void): void;
  /** Reports that the rest of its body will not arrive. */
  failBody(failure: LatchkeyError): void;
}

/** A connection from the point of view of a request. */
export interface RequestConnection {
  /** The socket that requests are read from. */
  readonly socket: Socket;
  readonly peer: Peer;
  /** Contents of the PROXY header, if there was one. */
  readonly proxy: ProxySource | undefined;
  /** Requests are served concurrently. */
  readonly isMultiplexed: boolean;
  readonly answered: number;
  readonly isUnreadable: boolean;
  readonly hasWaiting: boolean;
  readonly endsWithCurrent: boolean;
  /** Ends the connection after the current request, since the bytes after it may not be a request. */
  endAfterCurrent(): void;
  lingerOnClose(): void;
  /**
   * Ends a response whose body cannot be completed, so that the client does not take the beginning for the whole (RFC
   * 9112 8, RFC 9113 8.1).
   */
  abandon(response: OutgoingResponse): void;
  /** Reports that a request was answered. @param isLast no further request is accepted */
  advance(isLast: boolean): void;
}

/** Serves the requests of a connection concurrently. */
export interface Multiplexer {
  readonly isBusy: boolean;
  readonly idleSince: number;
  /** Asks the peer not to send further requests. */
  announceEnd(): void;
  /** Closes whatever is finished, idle or stuck. */
  sweep(now: number): void;
  /** Extends the time that the peer has for each of these. */
  extendDeadlines(byMs: number): void;
}

/**
 * A connection and its requests. Requests are served one by one: responses to pipelined requests must be sent in order
 * anyway, and a single connection cannot take more than its share. The next request waits until the previous response
 * has been sent, so responses cannot pile up for a peer that does not read.
 */
export class Connection implements RequestConnection {
  readonly isMultiplexed = false;
  /** The socket that requests are read from: the TLS socket if the connection is encrypted. */
  socket: Socket;
  /** The other end, from the PROXY header if there is one. */
  peer: Peer;
  proxy: ProxySource | undefined;
  /** Undefined for HTTP/1. */
  multiplexer: Multiplexer | undefined;
  /** Number of requests answered so far. */
  answered = 0;
  /** No further requests can be read. The waiting ones are the last. */
  isUnreadable = false;
  /**
   * The current response is the last one, even if requests are waiting, since the bytes after it may not be a request.
   */
  endsWithCurrent = false;
  /** The last response has been sent. Anything that arrives later must not be served (RFC 9112 9.6). */
  isOver = false;
  /** The request being served. */
  #current: PendingRequest | undefined;
  /** The request answered last. */
  #previous: PendingRequest | undefined;
  /** The request received last. */
  #latest: PendingRequest | undefined;
  readonly #accepted: Socket;
  readonly #waiting: PendingRequest[] = [];
  #idleSince = performance.now();
  #bytesReadWhenIdle = 0;
  #unsentBytes = 0;
  #progressAt = 0;

  constructor(socket: Socket, peer: Peer) {
    this.socket = socket;
    this.#accepted = socket;
    this.peer = peer;
  }

  /** A request is being served or waiting. */
  get isBusy(): boolean {
    return this.#current !== undefined || this.#waiting.length > 0;
  }

  /** A request is waiting behind the current one. */
  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** The bytes after the latest request may be meant as its body. */
  get isBodyUndeclared(): boolean {
    return this.#latest?.isBodyUndeclared === true;
  }

  /** Bytes after the head of the latest request may be its body. */
  get mayHaveBody(): boolean {
    return this.#latest?.mayHaveBody === true;
  }

  /** Returns whether the bytes read last start with the head of a request. @param byteCount their number */
  beginsHead(byteCount: number): boolean {
    return !this.isBusy && !this.mayHaveBody && this.socket.bytesRead - byteCount === this.#bytesReadWhenIdle;
  }

  /** The request received last. */
  get latest(): PendingRequest | undefined {
    return this.#latest;
  }

  /** The latest request, if its body is still arriving. */
  get receiving(): PendingRequest | undefined {
    return this.#latest?.isReceived === false ? this.#latest : undefined;
  }

  /**
   * Serves a request as soon as all earlier responses have been sent.
   * @returns false if too many requests are waiting. The connection is then destroyed, since pausing it would not stop
   * Node's parser, which continues with the data already read.
   */
  admit(request: PendingRequest): boolean {
    if (this.#waiting.length === MAX_PIPELINED) {
      this.cut();
      return false;
    }
    this.#latest = request;
    this.#waiting.push(request);
    if (this.#current === undefined && this.#waiting.length === 1) {
      // It arrived together with the previous request. Other connections go first, so that a flood does not delay them.
      if (this.socket.bytesRead === this.#bytesReadWhenIdle) setImmediate(() => this.#goOn());
      else this.#goOn();
    }
    return true;
  }

  /**
   * Reports that the current request was answered. Continues with the next one unless the response ended the
   * connection.
   */
  advance(isLast: boolean): void {
    this.answered += 1;
    this.#previous = this.#current;
    this.#current = undefined;
    if (isLast) {
      this.drop();
      return;
    }
    this.#idleSince = performance.now();
    this.#bytesReadWhenIdle = this.socket.bytesRead;
    this.#goOn();
  }

  /** Reads requests from this socket from now on. No request has been read before. */
  continueOn(socket: Socket): void {
    this.socket = socket;
    this.#bytesReadWhenIdle = socket.bytesRead - socket.readableLength;
    this.#idleSince = performance.now();
  }

  endAfterCurrent(): void {
    this.endsWithCurrent = true;
  }

  /** Destroys the connection immediately, including waiting requests. */
  cut(): void {
    this.drop();
    this.socket.destroy();
  }

  /** Stops serving requests on this connection. */
  drop(): void {
    this.isOver = true;
    this.#waiting.length = 0;
  }

  /** Called while the server closes. Destroys the connection unless a request is being served, waiting or arriving. */
  closeIfIdle(now: number, idleMs: number): void {
    if (this.multiplexer !== undefined) {
      this.multiplexer.announceEnd();
      this.multiplexer.sweep(now);
      return;
    }
    // The client may read the response more slowly than it was written.
    if (this.#previous?.isSent === false) this.#idleSince = now;
    const isSilent = this.socket.bytesRead === this.#bytesReadWhenIdle;
    if (!this.isBusy && isSilent && now - this.#idleSince > idleMs) this.socket.destroy();
  }

  /**
   * Determines which connections are closed first if there are too many: those with the lowest rank, oldest first.
   * Undefined while a request is being processed.
   */
  get closingOrder(): { readonly rank: number; readonly since: number } | undefined {
    if (this.multiplexer !== undefined) {
      return this.multiplexer.isBusy ? undefined : { rank: 0, since: this.multiplexer.idleSince };
    }
    const since = this.#idleSince;
    if (this.isBusy)
      return this.receiving?.isAnswered === false && this.#waiting.length === 0 ? { rank: 2, since } : undefined;
    return { rank: this.socket.bytesRead === this.#bytesReadWhenIdle ? 0 : 1, since };
  }

  /** Extends the time that the client has for reading a response. */
  extendDeadlines(byMs: number): void {
    this.#progressAt += byMs;
    this.multiplexer?.extendDeadlines(byMs);
  }

  /** Resets the connection if the client has not read any part of a response for 30 s. */
  resetIfStuck(now: number): void {
    if (this.multiplexer !== undefined) {
      this.multiplexer.sweep(now);
      return;
    }
    const unsent = this.socket.writableLength;
    if (unsent === 0 || unsent !== this.#unsentBytes) {
      this.#unsentBytes = unsent;
      this.#progressAt = now;
    } else if (now - this.#progressAt > SLOW_READER_MS) {
      this.#reset();
    }
  }

  /**
   * Delays the close until the peer has read the response (RFC 9112 9.6). An immediate close with unread bytes of a
   * refused body would reset the connection, and the response could get lost.
   */
  lingerOnClose(): void {
    const { socket } = this;
    socket.destroySoon = () => {
      socket.end();
      socket.resume();
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    };
  }

  /** Resets the connection. Its end is how an HTTP/1.0 client recognizes a complete body. */
  abandon(): void {
    this.drop();
    this.#reset();
  }

  /** Resets the TCP connection, also below TLS. Unix sockets cannot be reset and are closed. */
  #reset(): void {
    if (this.#accepted.remoteFamily === undefined) this.socket.destroy();
    else this.#accepted.resetAndDestroy();
  }

  /** Serves the next request, now or when the previous response has been sent. */
  #goOn(): void {
    if (this.#waiting.length === 0) return;
    if (this.#previous?.isSent === false) {
      this.#previous.onceSent(() => this.#goOn());
      return;
    }
    this.#current = this.#waiting.shift();
    this.#current?.start();
  }
}
