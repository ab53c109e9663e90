import type { Socket } from 'node:net';
import type { LatchkeyError } from '#platform/base/errors.ts';
import type { Peer } from './client-address.ts';
import type { ProxySource } from './proxy-header.ts';

const MAX_PIPELINED = 16;
const SLOW_READER_MS = 30_000;
const LINGER_MS = 1000;

/** A request as its connection sees it. */
export interface PendingRequest {
  readonly isAnswered: boolean;
  /** Its body has arrived to the last byte. */
  readonly isReceived: boolean;
  /** It may have meant to send a body, and did not say how long that is. */
  readonly isBodyUndeclared: boolean;
  /** Bytes behind its head may be its body. */
  readonly mayHaveBody: boolean;
  /** Its answer has left the process to the last byte. */
  readonly isSent: boolean;
  /** Begins to serve it. */
  start(): void;
  /** Calls back once `isSent`; never when the connection ends before. */
  onceSent(callback: () => void): void;
  /** The rest of its body will not come. */
  failBody(failure: LatchkeyError): void;
}

/** A connection as a request sees it that came over it. */
export interface RequestConnection {
  /** What requests are read from. */
  readonly socket: Socket;
  readonly peer: Peer;
  /** What its PROXY header said; undefined without one. */
  readonly proxy: ProxySource | undefined;
  /** Its requests are served side by side. */
  readonly isMultiplexed: boolean;
  readonly answered: number;
  readonly isUnreadable: boolean;
  readonly hasWaiting: boolean;
  readonly endsWithCurrent: boolean;
  /** What follows the current request may be no request at all. */
  endAfterCurrent(): void;
  lingerOnClose(): void;
  /** A request was answered. @param isLast no further one is wanted */
  advance(isLast: boolean): void;
}

/** What serves the requests of a connection side by side. */
export interface Multiplexer {
  readonly isBusy: boolean;
  readonly idleSince: number;
  /** Asks the peer to send no further requests. */
  announceEnd(): void;
  /** Closes what is over, idle or stuck. */
  sweep(now: number): void;
}

/**
 * One connection and the requests that came over it. They are served one after another: answers of pipelined requests
 * have to leave in order anyway, and so one connection cannot take more than its share. The next one waits until the
 * answer before it was sent, so that a peer who never reads cannot make answers pile up.
 */
export class Connection implements RequestConnection {
  readonly isMultiplexed = false;
  /** What requests are read from; that of TLS when they are encrypted. */
  socket: Socket;
  /** The other end, as the PROXY header names it where there is one. */
  peer: Peer;
  proxy: ProxySource | undefined;
  /** Undefined while it speaks HTTP/1. */
  multiplexer: Multiplexer | undefined;
  /** Requests answered so far. */
  answered = 0;
  /** No further request can be read from it: those that wait are the last. */
  isUnreadable = false;
  /** The answer to the current request is the last, whatever waits: bytes behind it may be no request at all. */
  endsWithCurrent = false;
  /** Its last answer was given: what else arrives on it must not be served (RFC 9112 9.6). */
  isOver = false;
  /** The request being served. */
  #current: PendingRequest | undefined;
  /** The one that was answered last. */
  #previous: PendingRequest | undefined;
  /** The one that arrived last. */
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

  /** A request is being served or waits. */
  get isBusy(): boolean {
    return this.#current !== undefined || this.#waiting.length > 0;
  }

  /** Behind the request being served there is another. */
  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** The latest request may have meant the bytes behind it as its body. */
  get isBodyUndeclared(): boolean {
    return this.#latest?.isBodyUndeclared === true;
  }

  /** Bytes behind the head of the latest request may be its body. */
  get mayHaveBody(): boolean {
    return this.#latest?.mayHaveBody === true;
  }

  /** Whether the bytes that were read last begin with the head of a request. @param byteCount how many they were */
  beginsHead(byteCount: number): boolean {
    return !this.isBusy && !this.mayHaveBody && this.socket.bytesRead - byteCount === this.#bytesReadWhenIdle;
  }

  /** The latest request, when its body is still arriving. */
  get receiving(): PendingRequest | undefined {
    return this.#latest?.isReceived === false ? this.#latest : undefined;
  }

  /**
   * Serves a request as soon as the answers to those before it were sent.
   * @returns false when too many wait: the connection is cut. Pausing it would not stop Node's parser, which goes on
   * with what it has read.
   */
  admit(request: PendingRequest): boolean {
    if (this.#waiting.length === MAX_PIPELINED) {
      this.cut();
      return false;
    }
    this.#latest = request;
    this.#waiting.push(request);
    if (this.#current === undefined && this.#waiting.length === 1) {
      // It was read together with the request before it: other connections come first, whose turn a flood would take.
      if (this.socket.bytesRead === this.#bytesReadWhenIdle) setImmediate(() => this.#goOn());
      else this.#goOn();
    }
    return true;
  }

  /** The current request was answered: goes on with the next, unless that answer ended the connection. */
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

  /** Requests are read from this socket from now on; none was read before. */
  continueOn(socket: Socket): void {
    this.socket = socket;
    this.#bytesReadWhenIdle = socket.bytesRead - socket.readableLength;
    this.#idleSince = performance.now();
  }

  endAfterCurrent(): void {
    this.endsWithCurrent = true;
  }

  /** Ends the connection at once, with all that waits on it. */
  cut(): void {
    this.drop();
    this.socket.destroy();
  }

  /** Nothing more is served on it. */
  drop(): void {
    this.isOver = true;
    this.#waiting.length = 0;
  }

  /** While the server closes: ends it unless a request is served, waits, or has begun to arrive. */
  closeIfIdle(now: number, idleMs: number): void {
    if (this.multiplexer !== undefined) {
      this.multiplexer.announceEnd();
      this.multiplexer.sweep(now);
      return;
    }
    // Its reader may be slower than its answer was made.
    if (this.#previous?.isSent === false) this.#idleSince = now;
    const isSilent = this.socket.bytesRead === this.#bytesReadWhenIdle;
    if (!this.isBusy && isSilent && now - this.#idleSince > idleMs) this.socket.destroy();
  }

  /**
   * Which connections are closed first when there are too many: lower first, and of equal ones the one that has been so for longer.
   * Undefined while the service works for it.
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

  /** Resets the connection when its reader has taken nothing of an answer for 30 s. */
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
   * Makes the end of the connection wait until the peer has read the answer (RFC 9112 9.6): closing at once, with
   * bytes of a refused body unread, would reset the connection and may take the answer with it.
   */
  lingerOnClose(): void {
    const { socket } = this;
    socket.destroySoon = () => {
      socket.end();
      socket.resume();
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    };
  }

  /** Only TCP can be reset, below TLS as well; a Unix socket is closed. */
  #reset(): void {
    if (this.#accepted.remoteFamily === undefined) this.socket.destroy();
    else this.#accepted.resetAndDestroy();
  }

  /** Serves the next request, now or once the answer before it was sent. */
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
