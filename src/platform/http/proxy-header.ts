/**
 * Parser for the PROXY protocol, versions 1 and 2 (haproxy.org, proxy-protocol.txt). TCP load balancers use this header
 * to pass on the client address. The parser works without a socket; `opening.ts` reads the bytes.
 */
import { isIPv4, isIPv6 } from 'node:net';

export type ProxyHeader =
  /** More bytes are needed. */
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'invalid' }
  | ({ readonly kind: 'complete'; readonly length: number } & ProxySource);

/** Contents of a header. */
export interface ProxySource {
  readonly version: 1 | 2;
  /** Undefined if the header names no client. Then the peer of the socket counts. */
  readonly route: ProxiedRoute | undefined;
}

/** The addresses of the client and of the destination of its connection. */
export interface ProxiedRoute {
  readonly source: Endpoint;
  readonly destination: Endpoint;
}

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

const INCOMPLETE: ProxyHeader = { kind: 'incomplete' };
const INVALID: ProxyHeader = { kind: 'invalid' };

const V1_START = Buffer.from('PROXY ');
const V2_START = Buffer.from('\r\n\r\n\0\r\nQUIT\n');
const MAX_V1_BYTES = 107;
const MAX_V2_BYTES = 4096;

/** Parses the first bytes of a connection. Fails at the first byte that cannot be valid. */
export function parseProxyHeader(bytes: Buffer): ProxyHeader {
  if (startsLike(bytes, V2_START)) return parseV2(bytes);
  return startsLike(bytes, V1_START) ? parseV1(bytes) : INVALID;
}

/** Returns whether `bytes` and `start` agree up to the length of the shorter one. */
export function startsLike(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  return bytes.subarray(0, length).equals(start.subarray(0, length));
}

function parseV1(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, MAX_V1_BYTES).indexOf('\r\n');
  if (end === -1) return bytes.length >= MAX_V1_BYTES ? INVALID : INCOMPLETE;
  const header = { kind: 'complete', length: end + 2, version: 1 } as const;
  const [, protocol, ...rest] = bytes.toString('latin1', 0, end).split(' ');
  // The rest of the line is ignored (PROXY protocol 2.1).
  if (protocol === 'UNKNOWN') return { ...header, route: undefined };
  const [source = '', destination = '', sourcePort = '', destinationPort = '', ...more] = rest;
  const isAddress = protocol === 'TCP4' ? isIPv4 : protocol === 'TCP6' ? isPlainIPv6 : undefined;
  const isValid =
    isAddress?.(source) === true &&
    isAddress(destination) &&
    isPort(sourcePort) &&
    isPort(destinationPort) &&
    more.length === 0;
  if (!isValid) return INVALID;
  const route = {
    source: { address: source, port: Number(sourcePort) },
    destination: { address: destination, port: Number(destinationPort) },
  };
  return { ...header, route };
}

/** Rejects zones, which mean nothing to another machine. */
function isPlainIPv6(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

function isPort(text: string): boolean {
  return /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535;
}

/** Byte offsets of the version 2 fields (PROXY protocol 2.2). */
const COMMAND_AT = 12;
const FAMILY_AT = 13;
const LENGTH_AT = 14;
const ADDRESSES_AT = 16;
/** The upper half of the byte is version 2. */
const LOCAL = 0x20;
const PROXY = 0x21;
/** Unspecified family, over TCP or an unspecified transport. */
const UNSPECIFIED = [0x00, 0x01];
const TCP_OVER_IPV4 = 0x11;
const TCP_OVER_IPV6 = 0x21;
const IPV4_BYTES = 4;
const IPV6_BYTES = 16;
const PORT_BYTES = 2;

function parseV2(bytes: Buffer): ProxyHeader {
  if (bytes.length < ADDRESSES_AT) return INCOMPLETE;
  const command = bytes[COMMAND_AT];
  const addressBytes = bytes.readUInt16BE(LENGTH_AT);
  const length = ADDRESSES_AT + addressBytes;
  if ((command !== LOCAL && command !== PROXY) || length > MAX_V2_BYTES) return INVALID;
  if (bytes.length < length) return INCOMPLETE;
  const header = { kind: 'complete', length, version: 2 } as const;
  const family = bytes.readUInt8(FAMILY_AT);
  // A receiver accepts LOCAL with any addresses and ignores them (PROXY protocol 2.2).
  if (command === LOCAL || UNSPECIFIED.includes(family)) return { ...header, route: undefined };
  const size = family === TCP_OVER_IPV4 ? IPV4_BYTES : family === TCP_OVER_IPV6 ? IPV6_BYTES : undefined;
  if (size === undefined || addressBytes < 2 * (size + PORT_BYTES)) return INVALID;
  return { ...header, route: readRoute(bytes.subarray(ADDRESSES_AT), size) };
}

/** Both addresses, followed by both ports. */
function readRoute(bytes: Buffer, size: number): ProxiedRoute {
  const endpoint = (index: number): Endpoint => ({
    address: addressText(bytes.subarray(index * size, (index + 1) * size)),
    port: bytes.readUInt16BE(2 * size + index * PORT_BYTES),
  });
  return { source: endpoint(0), destination: endpoint(1) };
}

function addressText(bytes: Buffer): string {
  if (bytes.length === IPV4_BYTES) return bytes.join('.');
  return (bytes.toString('hex').match(/.{4}/g) ?? []).join(':');
}
