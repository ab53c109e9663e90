import { readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { addressKey } from '#platform/base/ip-address.ts';
import { isErrno } from '#platform/base/system-errors.ts';
import type { TrustedProxies } from './client-address.ts';
import { Connection } from './connection.ts';
import type { HttpLimits } from './http-options.ts';
import type { ProxySource } from './proxy-header.ts';

export type ConnectionLimits = Pick<HttpLimits, 'maxConnections' | 'maxConnectionsPerAddress'>;

/** Tracks all connections of the server and enforces their limits. */
export class Connections {
  /** Number of connections received so far. */
  accepted = 0;
  readonly #limits: ConnectionLimits;
  #proxies: TrustedProxies;
  readonly #bySocket = new Map<Socket, Connection>();
  readonly #countByAddress = new Map<string, number>();
  /** The key under which each connection is counted. Connections from trusted peers are not counted. */
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
   * Registers a connection. Returns undefined and closes it if it exceeds a limit or its peer is already gone.
   * @param isLocal whether it arrived on a Unix socket and therefore has no address
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
   * Applies the PROXY header of a connection: from now on it counts towards the client named there.
   * @returns false if that client has too many connections; this one is then closed
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

  /** Continues a connection on its TLS socket. */
  continueOn(connection: Connection, socket: Socket): void {
    this.#bySocket.delete(connection.socket);
    connection.continueOn(socket);
    this.#bySocket.set(socket, connection);
  }

  /** Replaces the trusted proxies, also for open connections. */
  trust(proxies: TrustedProxies): void {
    this.#proxies = proxies;
    for (const connection of this.#bySocket.values()) connection.peer = proxies.peer(connection.peer.address);
  }

  of(socket: Socket): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  /** Extends all deadlines for reading responses and for staying idle. */
  extendDeadlines(byMs: number): void {
    for (const connection of this.#bySocket.values()) connection.extendDeadlines(byMs);
  }

  resetStuck(now: number): void {
    for (const connection of this.#bySocket.values()) connection.resetIfStuck(now);
  }

  /** Asks the clients of all HTTP/2 connections not to send further requests. */
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

  /** Closes the least useful connections if the process can open fewer files than before. */
  measureDescriptors(): void {
    this.#descriptors = measureDescriptors(this.#bySocket.size, this.#descriptors);
    for (let excess = this.#bySocket.size - this.#descriptors.connections; excess > 0; excess -= 1) {
      if (!this.#closeOne()) return;
    }
  }

  #hasDescriptor(): boolean {
    return this.#bySocket.size < this.#descriptors.connections || this.#closeOne();
  }

  /** Makes room for another connection. @returns false if all of them are being served */
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

  /** @returns false if the peer has reached its limit */
  #countPeer(connection: Connection): boolean {
    const { peer } = connection;
    if (peer.isTrusted) return true;
    // IPv6 addresses count by network, since one customer controls a whole /64 (security S-180).
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

/**
 * File descriptors for everything else that the process opens between two measurements: database, files, name lookups.
 */
const HEADROOM = 32;
/** Far from the limit, descriptors are not counted. */
const FAR = 1024;
const MIN_CONNECTIONS = 8;

/** The operating system's limit on open files of this process. */
export interface DescriptorLimit {
  /** Open files of any kind. */
  readonly openFiles: number;
  /** Number of connections that are possible besides the other open files. */
  readonly connections: number;
}

const UNLIMITED: DescriptorLimit = {
  openFiles: Number.POSITIVE_INFINITY,
  connections: Number.POSITIVE_INFINITY,
};

/**
 * Measures the limit. It can change while the process runs, and Node.js does not report that it is reached: it accepts
 * connections and closes them silently (security S-187). Systems without `/proc` count as unlimited.
 * @param connections number of open connections. @param last previous measurement
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
    // Measuring requires a descriptor, and all of them are in use, so some connections must be closed.
    return { openFiles: last.openFiles, connections: Math.max(MIN_CONNECTIONS, connections - HEADROOM) };
  }
}
