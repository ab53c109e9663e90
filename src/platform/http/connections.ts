import { readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { addressKey } from '#platform/base/ip-address.ts';
import { isErrno } from '#platform/base/system-errors.ts';
import type { TrustedProxies } from './client-address.ts';
import { Connection } from './connection.ts';
import type { HttpLimits } from './http-options.ts';
import type { ProxySource } from './proxy-header.ts';

export type ConnectionLimits = Pick<HttpLimits, 'maxConnections' | 'maxConnectionsPerAddress'>;

/** All connections of the server, within their bounds. */
export class Connections {
  /** Connections that have come so far. */
  accepted = 0;
  readonly #limits: ConnectionLimits;
  #proxies: TrustedProxies;
  readonly #bySocket = new Map<Socket, Connection>();
  readonly #countByAddress = new Map<string, number>();
  /** What each connection is counted by; those of trusted peers are not. */
  readonly #counted = new Map<Connection, string>();
  readonly #onExhausted: (limit: DescriptorLimit) => void;
  #descriptors: DescriptorLimit = measureDescriptors(0, UNLIMITED);

  /** @param onExhausted called for each connection that is closed because file descriptors run out */
  constructor(limits: ConnectionLimits, proxies: TrustedProxies, onExhausted: (limit: DescriptorLimit) => void) {
    this.#limits = limits;
    this.#proxies = proxies;
    this.#onExhausted = onExhausted;
  }

  get count(): number {
    return this.#bySocket.size;
  }

  /**
   * Undefined when the connection exceeds a bound, or its peer is gone already; it is closed then.
   * @param isLocal it came in by a Unix socket, and so has no address
   */
  accept(socket: Socket, isLocal: boolean): Connection | undefined {
    this.accepted += 1;
    const connection = new Connection(socket, this.#proxies.peer(socket.remoteAddress));
    const isGone = socket.remoteAddress === undefined && !isLocal;
    const isFull = this.#bySocket.size >= this.#limits.maxConnections;
    if (isFull || isGone || !this.#hasDescriptor() || !this.#countPeer(connection)) {
      socket.destroy();
      return undefined;
    }
    this.#bySocket.set(socket, connection);
    socket.on('close', () => {
      connection.drop();
      this.#bySocket.delete(connection.socket);
      this.#uncountPeer(connection);
    });
    return connection;
  }

  /**
   * The PROXY header of a connection was read: from now on it counts as one of who is named there.
   * @returns false when they have too many; it is closed then
   */
  identify(connection: Connection, header: ProxySource): boolean {
    connection.proxy = header;
    if (header.route !== undefined) {
      this.#uncountPeer(connection);
      connection.peer = this.#proxies.peer(header.route.source.address);
      if (!this.#countPeer(connection)) {
        connection.cut();
        return false;
      }
    }
    connection.continueOn(connection.socket);
    return true;
  }

  /** A connection goes on encrypted. */
  continueOn(connection: Connection, socket: Socket): void {
    this.#bySocket.delete(connection.socket);
    connection.continueOn(socket);
    this.#bySocket.set(socket, connection);
  }

  /** Believes other proxies from now on, also on connections that are open. */
  trust(proxies: TrustedProxies): void {
    this.#proxies = proxies;
    for (const connection of this.#bySocket.values()) connection.peer = proxies.peer(connection.peer.address);
  }

  of(socket: Socket): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  resetStuck(now: number): void {
    for (const connection of this.#bySocket.values()) connection.resetIfStuck(now);
  }

  /** Tells the clients of all HTTP/2 connections to send no further requests. */
  announceEnd(): void {
    for (const connection of this.#bySocket.values()) connection.multiplexer?.announceEnd();
  }

  /** Closes connections that have been idle for `idleMs`. */
  closeIdle(now: number, idleMs: number): void {
    for (const connection of this.#bySocket.values()) connection.closeIfIdle(now, idleMs);
  }

  destroyAll(): void {
    for (const connection of this.#bySocket.values()) connection.socket.destroy();
  }

  /** Closes the connections of least use when the process may open fewer files than it was thought. */
  measureDescriptors(): void {
    this.#descriptors = measureDescriptors(this.#bySocket.size, this.#descriptors);
    for (let excess = this.#bySocket.size - this.#descriptors.connections; excess > 0; excess -= 1) {
      if (!this.#closeOne()) return;
    }
  }

  #hasDescriptor(): boolean {
    return this.#bySocket.size < this.#descriptors.connections || this.#closeOne();
  }

  /** Frees a slot for another connection. @returns false when the service works for all of them */
  #closeOne(): boolean {
    this.#onExhausted(this.#descriptors);
    let chosen: { readonly connection: Connection; readonly rank: number; readonly since: number } | undefined;
    for (const connection of this.#bySocket.values()) {
      const candidate = connection.socket.destroyed ? undefined : connection.closingOrder;
      if (candidate === undefined) continue;
      const isBetter =
        chosen === undefined ||
        candidate.rank < chosen.rank ||
        (candidate.rank === chosen.rank && candidate.since < chosen.since);
      if (isBetter) chosen = { connection, ...candidate };
    }
    chosen?.connection.cut();
    return chosen !== undefined;
  }

  /** @returns false when the peer has as many as one may have */
  #countPeer(connection: Connection): boolean {
    const { peer } = connection;
    if (peer.isTrusted) return true;
    // By network for IPv6: one customer holds a whole /64 (security S-180).
    const key = addressKey(peer.address);
    const count = this.#countByAddress.get(key) ?? 0;
    if (count >= this.#limits.maxConnectionsPerAddress) return false;
    this.#countByAddress.set(key, count + 1);
    this.#counted.set(connection, key);
    return true;
  }

  #uncountPeer(connection: Connection): void {
    const key = this.#counted.get(connection);
    if (key === undefined) return;
    this.#counted.delete(connection);
    const count = this.#countByAddress.get(key) ?? 0;
    if (count > 1) this.#countByAddress.set(key, count - 1);
    else this.#countByAddress.delete(key);
  }
}

/** File descriptors for what else a process opens between two measurements: the database, files, look-ups of names. */
const HEADROOM = 32;
/** Far from the limit nothing is counted. */
const FAR = 1024;
const MIN_CONNECTIONS = 8;

/** What the operating system lets this process keep open. */
export interface DescriptorLimit {
  /** Open files of any kind. */
  readonly openFiles: number;
  /** Connections that fit next to everything else that is open. */
  readonly connections: number;
}

const UNLIMITED: DescriptorLimit = {
  openFiles: Number.POSITIVE_INFINITY,
  connections: Number.POSITIVE_INFINITY,
};

/**
 * Measured, since the limit can be changed while the process runs, and since nothing tells when it is reached: Node.js
 * then takes connections and closes them without a word (security S-187). No limit where there is no `/proc`.
 * @param connections open ones. @param last what was measured before
 */
function measureDescriptors(connections: number, last: DescriptorLimit): DescriptorLimit {
  try {
    const [, text = ''] = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    if (text === '' || text === 'unlimited') return UNLIMITED;
    const openFiles = Number(text);
    if (openFiles - connections > FAR) return { openFiles, connections: openFiles - FAR / 2 };
    const others = readdirSync('/proc/self/fd').length - connections;
    return { openFiles, connections: Math.max(MIN_CONNECTIONS, openFiles - others - HEADROOM) };
  } catch (error) {
    if (!isErrno(error, 'EMFILE', 'ENFILE')) return UNLIMITED;
    // It takes a descriptor to measure, and all are used up: some connections have to go.
    return { openFiles: last.openFiles, connections: Math.max(MIN_CONNECTIONS, connections - HEADROOM) };
  }
}
