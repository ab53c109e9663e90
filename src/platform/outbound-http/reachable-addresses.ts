import ipaddr from 'ipaddr.js';
import { type Cidr, Networks } from '#platform/base/ip-address.ts';

/** The Azure metadata service has a public address, but the virtual machine's host answers it. */
const METADATA_ADDRESSES = ['168.63.129.16'];
/** The only IPv6 range routed on the internet (RFC 4291 2.4, IANA). Excludes mapped, compatible and NAT64 addresses. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** The permitted addresses for third-party URLs: public ones, and the networks that the operator allows. */
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
 * Excludes loopback, private, link-local, shared (CGNAT), unique-local, multicast, unspecified, reserved and
 * documentation addresses. Also excludes IPv4 within IPv6 in any form (mapped, compatible, NAT64, 6to4, Teredo) and
 * cloud metadata services.
 * @see security 3.9
 */
function isPublic(address: string): boolean {
  if (METADATA_ADDRESSES.includes(address)) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6));
}
