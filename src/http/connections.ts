import type { Socket } from 'node:net';
import type { LimitsConfig } from '#config/config.ts';
import type { TrustedProxies } from './client-address.ts';
import { Connection } from './connection.ts';

export type ConnectionLimits = Pick<LimitsConfig, 'maxConnections' | 'maxConnectionsPerAddress'>;

/** All connections of the server, within their bounds. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #proxies: TrustedProxies;
  readonly #bySocket = new Map<Socket, Connection>();
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
  accept(socket: Socket, isLocal: boolean): Connection | undefined {
    const peer = this.#proxies.peer(socket.remoteAddress);
    const counted = peer.isTrusted ? undefined : peer.address;
    const ofAddress = counted === undefined ? 0 : (this.#countByAddress.get(counted) ?? 0);
    const isWithinBounds =
      this.#bySocket.size < this.#limits.maxConnections && ofAddress < this.#limits.maxConnectionsPerAddress;
    if (!isWithinBounds || (socket.remoteAddress === undefined && !isLocal)) {
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

  #uncount(address: string): void {
    const count = this.#countByAddress.get(address) ?? 0;
    if (count > 1) this.#countByAddress.set(address, count - 1);
    else this.#countByAddress.delete(address);
  }
}
