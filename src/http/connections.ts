import type { Socket } from 'node:net';
import type { LimitsConfig } from '#config/config.ts';
import type { Peer, TrustedProxies } from './client-address.ts';

const MAX_PIPELINED = 16;
const SLOW_READER_MS = 30_000;
/** While the server closes, a connection that stays idle this long has no request under way to us either. */
const IDLE_WHEN_CLOSING_MS = 250;
const LINGER_MS = 1000;

export type ConnectionLimits = Pick<LimitsConfig, 'maxConnections' | 'maxConnectionsPerAddress'>;

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

/** All connections of the server, within their bounds. */
export class Connections<Request extends PendingRequest> {
  readonly #limits: ConnectionLimits;
  readonly #proxies: TrustedProxies;
  readonly #bySocket = new Map<Socket, Connection<Request>>();
  readonly #countByAddress = new Map<string, number>();

  constructor(limits: ConnectionLimits, proxies: TrustedProxies) {
    this.#limits = limits;
    this.#proxies = proxies;
  }

  get count(): number {
    return this.#bySocket.size;
  }

  /**
   * Undefined when the connection exceeds a bound, or its peer is gone already; it is closed then.
   * @param isLocal it came in by a Unix socket, and so has no address
   */
  accept(socket: Socket, isLocal: boolean): Connection<Request> | undefined {
    const peer = this.#proxies.peer(socket.remoteAddress);
    const counted = peer.isTrusted ? undefined : peer.address;
    const ofAddress = counted === undefined ? 0 : (this.#countByAddress.get(counted) ?? 0);
    const isWithinBounds =
      this.#bySocket.size < this.#limits.maxConnections && ofAddress < this.#limits.maxConnectionsPerAddress;
    if (!isWithinBounds || (socket.remoteAddress === undefined && !isLocal)) {
      socket.destroy();
      return undefined;
    }
    const connection = new Connection<Request>(socket, peer);
    this.#bySocket.set(socket, connection);
    if (counted !== undefined) this.#countByAddress.set(counted, ofAddress + 1);
    socket.on('close', () => {
      this.#bySocket.delete(socket);
      if (counted !== undefined) this.#uncount(counted);
    });
    return connection;
  }

  of(socket: Socket): Connection<Request> | undefined {
    return this.#bySocket.get(socket);
  }

  resetStuck(now: number): void {
    for (const connection of this.#bySocket.values()) connection.resetIfStuck(now);
  }

  closeIdle(now: number): void {
    for (const connection of this.#bySocket.values()) if (connection.isIdle(now)) connection.socket.destroy();
  }

  destroyAll(): void {
    for (const connection of this.#bySocket.values()) connection.socket.destroy();
  }

  #uncount(address: string): void {
    const count = this.#countByAddress.get(address) ?? 0;
    if (count > 1) this.#countByAddress.set(address, count - 1);
    else this.#countByAddress.delete(address);
  }
}
