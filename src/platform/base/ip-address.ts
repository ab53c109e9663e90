/**
 * IP addresses and networks as text. Node's `isIP` decides what is an address, since `ipaddr.js`, which parses them,
 * also accepts octal and abbreviated notations.
 */
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A network without host bits, suitable for `BlockList.addSubnet`. */
export interface Cidr {
  readonly address: string;
  readonly prefixLength: number;
  readonly family: 'ipv4' | 'ipv6';
}

export const LOOPBACK_NETWORKS: readonly Cidr[] = [
  { address: '127.0.0.0', prefixLength: 8, family: 'ipv4' },
  { address: '::1', prefixLength: 128, family: 'ipv6' },
];

/** Addresses not routed on the internet (RFC 1918, RFC 4193), and loopback. */
export const PRIVATE_NETWORKS: readonly Cidr[] = [
  ...LOOPBACK_NETWORKS,
  { address: '10.0.0.0', prefixLength: 8, family: 'ipv4' },
  { address: '172.16.0.0', prefixLength: 12, family: 'ipv4' },
  { address: '192.168.0.0', prefixLength: 16, family: 'ipv4' },
  { address: 'fd00::', prefixLength: 8, family: 'ipv6' },
];

/** Formats a network for `parseCidr`. */
export function networkText({ address, prefixLength }: Cidr): string {
  return `${address}/${prefixLength}`;
}

/**
 * Parses an IP address (a network of one) or `IP/prefix`. Returns undefined for anything else and if host bits are set.
 */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0 || rest.length > 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return undefined;
  const bits = version === 4 ? 32 : 128;
  const prefixLength = prefix === undefined ? bits : Number(prefix);
  if (prefixLength > bits) return undefined;
  const parsed = version === 4 ? ipaddr.IPv4.parse(address) : parseIpv6(address);
  const network = (version === 4 ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(`${parsed}/${prefixLength}`);
  if (network.toString() !== parsed.toString()) return undefined;
  return { address, prefixLength, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** A set of networks that can be searched for an address. */
export class Networks {
  readonly #list = new BlockList();

  constructor(networks: readonly Cidr[]) {
    for (const { address, prefixLength, family } of networks) this.#list.addSubnet(address, prefixLength, family);
  }

  /** @param address in canonical form */
  has(address: string): boolean {
    return this.#list.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
  }
}

const UNKNOWN_ADDRESS = 'unknown';

/**
 * Returns the key under which rate limits count a caller's address. IPv4 addresses (also in IPv6 notation) are used as
 * they are. IPv6 addresses are reduced to their /64, since one customer controls that many. Callers with unknown
 * addresses share one key.
 * @see security R-40
 */
export function addressKey(address: string | undefined): string {
  if (address === undefined) return UNKNOWN_ADDRESS;
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return UNKNOWN_ADDRESS;
  const [withoutZone = ''] = address.split('%', 1);
  const parsed = parseIpv6(withoutZone);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const groups = parsed.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}

/** Returns the same key for an `inet` column. */
export function addressKeyAsInet(address: string | undefined): string {
  const key = addressKey(address);
  return key === UNKNOWN_ADDRESS ? '0.0.0.0' : key;
}

/** `ipaddr.js` mistakes `::192.0.2.1`, which RFC 4291 2.5.5.1 deprecates, for the mapped `::ffff:192.0.2.1`. */
function parseIpv6(address: string): ipaddr.IPv6 {
  return ipaddr.IPv6.parse(address.replace(/^::(?=\d+\.)/, '::0:'));
}
