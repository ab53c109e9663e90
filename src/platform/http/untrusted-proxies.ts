import { type Cidr, Networks, networkText, PRIVATE_NETWORKS } from '#platform/base/ip-address.ts';
import type { Log } from '#platform/base/log.ts';

const MAX_ADDRESSES = 16;

/**
 * Private addresses that sent a forwarding header without being trusted. They are probably reverse proxies missing in
 * `http.trusted_proxies`. All of their clients then share the limits of one address.
 */
export class UntrustedProxies {
  readonly #log: Log;
  readonly #trusted: readonly Cidr[];
  readonly #private = new Networks(PRIVATE_NETWORKS);
  readonly #addresses = new Set<string>();

  /** @param trusted if empty, the operator trusts no proxies, and nothing is reported */
  constructor(log: Log, trusted: readonly Cidr[]) {
    this.#log = log;
    this.#trusted = trusted;
  }

  get addresses(): readonly string[] {
    return [...this.#addresses];
  }

  /** Logs each address once. @param address of an untrusted peer that sent the header */
  report(address: string, header: string): void {
    if (this.#trusted.length === 0 || this.#addresses.has(address) || this.#addresses.size === MAX_ADDRESSES) return;
    // Any client on the internet can send the header, so advice to trust it would be wrong.
    if (!this.#private.has(address)) return;
    this.#addresses.add(address);
    this.#log.warn(
      'http.proxy.untrusted',
      'ignored a forwarding header from an address that is not in http.trusted_proxies; if it is your reverse proxy, add this line',
      { 'client.address': address, header, line: trustLine(this.#trusted, address) },
    );
  }
}

/** Returns the line for the `http` section that additionally trusts an address. */
export function trustLine(trusted: readonly Cidr[], address: string): string {
  const entries = [...trusted.map(networkText), address];
  return `trusted_proxies: [${entries.map((entry) => (entry.includes(':') ? `"${entry}"` : entry)).join(', ')}]`;
}
