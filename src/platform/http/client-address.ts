import { isIP, SocketAddress } from 'node:net';
import { Networks } from '#platform/base/ip-address.ts';
import type { HttpOptions } from './http-options.ts';

/** The other end of a connection; no address behind a Unix socket, which counts as trusted. */
export interface Peer {
  readonly address: string | undefined;
  readonly isTrusted: boolean;
}

/** The networks whose forwarding header is believed (`http.trusted_proxies`). */
export class TrustedProxies extends Networks {
  /** @param socketAddress `remoteAddress` of the socket; undefined behind a Unix socket */
  peer(socketAddress: string | undefined): Peer {
    const address = socketAddress === undefined ? undefined : canonicalAddress(socketAddress);
    return { address, isTrusted: address === undefined || this.has(address) };
  }
}

/**
 * One spelling per address: IPv4 also when it came mapped into IPv6, IPv6 as in RFC 5952 without a zone. Undefined
 * when the text is not an address.
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

/** Who sent a request, and what decided on it. */
export interface ClientSource {
  /** In canonical form; undefined behind a Unix socket without header. */
  readonly address: string | undefined;
  readonly decidedBy: /** The peer is no trusted proxy, or no header is to be read: the peer itself. */
    | 'untrusted-peer'
    | 'no-header-configured'
    | 'no-header'
    /** The right-most entry of the header that is not a trusted proxy. */
    | 'entry'
    /** All of them are: the left-most. */
    | 'only-proxies'
    /** An entry that is not an address: what stands right of it. */
    | 'unreadable-entry';
}

/**
 * Who sent a request (operations 5.6). A header is read only when the peer is trusted, from the right, since each proxy
 * appends the address it saw: the first entry that is not a trusted proxy is the caller.
 * @param header all lines of `X-Forwarded-For` or `Forwarded`, joined by commas; undefined without one
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
    // Beyond an entry that is not an address nothing is known to come from a proxy of ours.
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

/** The `for` value of each element (RFC 7239 4); undefined for an element without a readable one. */
function forwardedFor(header: string): (string | undefined)[] {
  return listElements(header).map((element) => {
    const match = FOR.exec(element);
    return match?.[1] ?? match?.[2];
  });
}

/**
 * Splits a list at its commas, but those inside quotes. Quotes are paired from the right, where our proxies append: one
 * that a caller left open must not swallow what was appended behind it.
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
  // What began with a quote that nothing closes is not an element.
  if (pieces.length > 0) elements.push('');
  return elements.reverse();
}
