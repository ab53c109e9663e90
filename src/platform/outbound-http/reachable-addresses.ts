import ipaddr from 'ipaddr.js';
import { type Cidr, Networks } from '#platform/base/ip-address.ts';

/** In a public range, but answered by the machine's own host: the metadata service of Azure. */
const METADATA_ADDRESSES = ['168.63.129.16'];
/** The only part of IPv6 that the Internet routes (RFC 4291 2.4, IANA); mapped, compatible and NAT64 are outside. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Which addresses may be connected to for a URL that a stranger named: public ones, and networks of the operator. */
export class ReachableAddresses {
  readonly #allowed: Networks;

  constructor(allowedNetworks: readonly Cidr[]) {
    this.#allowed = new Networks(allowedNetworks);
  }

  /** @param address an IP address in canonical form */
  has(address: string): boolean {
    return this.#allowed.has(address) || isPublic(address);
  }
}

/**
 * Not: loopback, private, link-local, shared (CGNAT), unique-local, multicast, unspecified, reserved, documentation,
 * IPv4 inside of IPv6 in any form (mapped, compatible, NAT64, 6to4, Teredo), metadata services of clouds.
 * @see security 3.9
 */
function isPublic(address: string): boolean {
  if (METADATA_ADDRESSES.includes(address)) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6));
}
