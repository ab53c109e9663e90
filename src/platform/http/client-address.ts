import { isIP, SocketAddress } from 'node:net';
import { Networks } from '#platform/base/ip-address.ts';
import type { HttpOptions } from './http-options.ts';

/** The other end of a connection. Peers on Unix sockets have no address and are trusted. */
export interface Peer {
  readonly address: string | undefined;
  readonly isTrusted: boolean;
}

/** The networks whose forwarding headers are trusted (`http.trusted_proxies`). */
export class TrustedProxies extends Networks {
  /** @param socketAddress `remoteAddress` of the socket; undefined for a Unix socket */
  peer(socketAddress: string | undefined): Peer {
    const address = socketAddress === undefined ? undefined : canonicalAddress(socketAddress);
    return { address, isTrusted: address === undefined || this.has(address) };
  }
}

/**
 * Normalizes an IP address: mapped IPv4 becomes IPv4, and IPv6 follows RFC 5952 without a zone. Returns undefined if
 * the text is not an address.
 */
export function canonicalAddress(text: string): string | undefined {
  const family = isIP(text);
  if (family === 4) return text;
  if (family === 0) return undefined;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  const mapped = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : '';
  return isIP(mapped) === 4 ? mapped : address;
}

const MAX_ENTRIES = 50;

/** The client address of a request, and how it was determined. */
export interface ClientSource {
  /** In canonical form. Undefined for a Unix socket without a header. */
  readonly address: string | undefined;
  readonly decidedBy: /** The peer itself, because it is not a trusted proxy or no header is configured or present. */
    | 'untrusted-peer'
    | 'no-header-configured'
    | 'no-header'
    /** The rightmost entry of the header that is not a trusted proxy. */
    | 'entry'
    /** The leftmost entry, because all of them are trusted proxies. */
    | 'only-proxies'
    /** The entry to the right of one that is not an address. */
    | 'unreadable-entry';
}

/**
 * Determines the client address of a request (operations 5.6). The header is read only if the peer is trusted. It is
 * read from the right, since each proxy appends the address it saw: the first entry that is not a trusted proxy is the
 * client.
 * @param header all lines of `X-Forwarded-For` or `Forwarded`, joined with commas; undefined if absent
 */
export function findClient(
  peer: Peer,
  kind: HttpOptions['clientIpHeader'],
  header: string | undefined,
  proxies: TrustedProxies,
): ClientSource {
  if (!peer.isTrusted) return { address: peer.address, decidedBy: 'untrusted-peer' };
  if (kind === 'none') return { address: peer.address, decidedBy: 'no-header-configured' };
  if (header === undefined || header.trim() === '') return { address: peer.address, decidedBy: 'no-header' };
  const entries = kind === 'forwarded' ? forwardedFor(header) : header.split(',');
  let accepted = peer.address;
  for (const entry of entries.slice(-MAX_ENTRIES).reverse()) {
    const address = entry === undefined ? undefined : canonicalAddress(withoutPort(entry.trim()));
    // Entries to the left of an invalid one cannot be attributed to a trusted proxy.
    if (address === undefined) return { address: accepted, decidedBy: 'unreadable-entry' };
    if (!proxies.has(address)) return { address, decidedBy: 'entry' };
    accepted = address;
  }
  return { address: accepted, decidedBy: 'only-proxies' };
}

const IPV4_WITH_PORT = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/;
const BRACKETED = /^\[([^\]]*)\](?::\d{1,5})?$/;

function withoutPort(entry: string): string {
  return IPV4_WITH_PORT.exec(entry)?.[1] ?? BRACKETED.exec(entry)?.[1] ?? entry;
}

const FOR = /(?:^|;)\s*for=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))\s*(?=;|$)/i;

/** Returns the `for` value of each element (RFC 7239 4), undefined for elements without a valid one. */
function forwardedFor(header: string): (string | undefined)[] {
  return listElements(header).map((element) => {
    const match = FOR.exec(element);
    return match?.[1] ?? match?.[2];
  });
}

/**
 * Splits a list at commas outside quotes. Quotes are paired from the right, where our proxies append: a quote that a
 * client left open must not swallow the entries appended after it.
 */
function listElements(header: string): string[] {
  const elements: string[] = [];
  let pieces: string[] = [];
  let isQuoteOpen = false;
  for (const piece of header.split(',').reverse()) {
    pieces.push(piece);
    const quotes = piece.replace(/\\./g, '').split('"').length - 1;
    if (quotes % 2 === 1) isQuoteOpen = !isQuoteOpen;
    if (isQuoteOpen) continue;
    elements.push(pieces.reverse().join(','));
    pieces = [];
  }
  // Text after an unclosed quote is not an element.
  if (pieces.length > 0) elements.push('');
  return elements.reverse();
}
