import type { Socket } from 'node:net';
import { addressKey } from '#platform/base/ip-address.ts';
import type { TrustedProxies } from './client-address.ts';
import { Connection } from './connection.ts';
import { type DescriptorLimit, measureDescriptors } from './descriptors.ts';
import type { HttpLimits } from './http-options.ts';

export type ConnectionLimits = Pick<HttpLimits, 'maxConnections' | 'maxConnectionsPerAddress'>;

/** All connections of the server, within their bounds. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #proxies: TrustedProxies;
  readonly #bySocket = new Map<Socket, Connection>();
  readonly #countByAddress = new Map<string, number>();
  readonly #onExhausted: (limit: DescriptorLimit) => void;
  #descriptors: DescriptorLimit = measureDescriptors(0);

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
    const peer = this.#proxies.peer(socket.remoteAddress);
    // By network for IPv6: one customer holds a whole /64 (security S-180).
    const counted = peer.isTrusted ? undefined : addressKey(peer.address);
    const ofAddress = counted === undefined ? 0 : (this.#countByAddress.get(counted) ?? 0);
    const isWithinBounds =
      this.#bySocket.size < this.#limits.maxConnections && ofAddress < this.#limits.maxConnectionsPerAddress;
    const isGone = socket.remoteAddress === undefined && !isLocal;
    if (!isWithinBounds || isGone || !this.#hasDescriptor()) {
      socket.destroy();
      return undefined;
    }
    const connection = new Connection(socket, peer);
    this.#bySocket.set(socket, connection);
    if (counted !== undefined) this.#countByAddress.set(counted, ofAddress + 1);
    socket.on('close', () => {
      connection.drop();
      this.#bySocket.delete(socket);
      if (counted !== undefined) this.#uncount(counted);
    });
    return connection;
  }

  of(socket: Socket): Connection | undefined {
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

  /** Closes what can be spared when the process may open fewer files than it was thought. */
  measureDescriptors(): void {
    this.#descriptors = measureDescriptors(this.#bySocket.size);
    for (let excess = this.#bySocket.size - this.#descriptors.connections; excess > 0; excess -= 1) {
      if (!this.#closeOne()) return;
    }
  }

  #hasDescriptor(): boolean {
    return this.#bySocket.size < this.#descriptors.connections || this.#closeOne();
  }

  /** Makes room for another connection. @returns false when the service works for all of them */
  #closeOne(): boolean {
    this.#onExhausted(this.#descriptors);
    let chosen: { readonly connection: Connection; readonly rank: number; readonly since: number } | undefined;
    for (const connection of this.#bySocket.values()) {
      const candidate = connection.socket.destroyed ? undefined : connection.dispensability;
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

  #uncount(address: string): void {
    const count = this.#countByAddress.get(address) ?? 0;
    if (count > 1) this.#countByAddress.set(address, count - 1);
    else this.#countByAddress.delete(address);
  }
}
