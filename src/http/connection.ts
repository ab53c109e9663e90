import type { Socket } from 'node:net';
import type { Peer } from './client-address.ts';

const MAX_PIPELINED = 16;
const SLOW_READER_MS = 30_000;
/** While the server closes, a connection that stays idle this long has no request under way to us either. */
const IDLE_WHEN_CLOSING_MS = 250;
const LINGER_MS = 1000;

/** A request as its connection sees it. */
export interface PendingRequest {
  readonly isAnswered: boolean;
  /** Its body has arrived to the last byte. */
  readonly isReceived: boolean;
  /** Begins to serve it. */
  start(): void;
}

/**
 * One connection and the requests that came over it. They are served one after another: answers of pipelined requests
 * have to leave in order anyway, and so one connection cannot take more than its share.
 */
export class Connection<Request extends PendingRequest> {
  readonly socket: Socket;
  readonly peer: Peer;
  /** Requests answered so far. */
  answered = 0;
  /** The request being served. */
  current: Request | undefined;
  /** The one that arrived last. */
  latest: Request | undefined;
  /** No further request can be read from it: what is being answered is the last. */
  isBroken = false;
  /** Its last answer was given: what else arrives on it must not be served (RFC 9112 9.6). */
  isOver = false;
  readonly #waiting: Request[] = [];
  #idleSince = performance.now();
  #bytesReadWhenIdle = 0;
  #unsentBytes = 0;
  #progressAt = 0;

  constructor(socket: Socket, peer: Peer) {
    this.socket = socket;
    this.peer = peer;
  }

  /** Serves a request as soon as those before it were answered. */
  admit(request: Request): void {
    this.latest = request;
    if (this.current === undefined) {
      this.current = request;
      request.start();
      return;
    }
    this.#waiting.push(request);
    if (this.#waiting.length >= MAX_PIPELINED) this.socket.pause();
  }

  /** The current request was answered: goes on with the next, unless that answer ended the connection. */
  advance(isLast: boolean): void {
    this.answered += 1;
    this.isOver = isLast;
    this.current = isLast ? undefined : this.#waiting.shift();
    if (this.current !== undefined) {
      this.current.start();
      return;
    }
    this.#waiting.length = 0;
    this.#idleSince = performance.now();
    this.#bytesReadWhenIdle = this.socket.bytesRead;
    if (this.socket.isPaused()) this.socket.resume();
  }

  /** No request is served, waits, or has begun to arrive. */
  isIdle(now: number): boolean {
    return (
      this.current === undefined &&
      this.socket.bytesRead === this.#bytesReadWhenIdle &&
      now - this.#idleSince > IDLE_WHEN_CLOSING_MS
    );
  }

  /** Resets the connection when its reader has taken nothing of an answer for 30 s. */
  resetIfStuck(now: number): void {
    const unsent = this.socket.writableLength;
    if (unsent === 0 || unsent !== this.#unsentBytes) {
      this.#unsentBytes = unsent;
      this.#progressAt = now;
    } else if (now - this.#progressAt > SLOW_READER_MS) {
      this.socket.resetAndDestroy();
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
}
