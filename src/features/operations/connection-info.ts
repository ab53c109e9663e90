import { isIPv6 } from 'node:net';
import { canonicalAddress } from '#platform/http/client-address.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, plainText } from '#platform/http/response.ts';
import { decodeReceived, escapeText } from '#platform/log/escaping.ts';

type ConnectionInfo = RequestContext['connectionInfo'];

const MAX_SHOWN_CHARACTERS = 1024;

/** How the client's address was determined (operations 5.6). */
const DECISIONS: Readonly<Record<ConnectionInfo['client']['decidedBy'], string>> = {
  'untrusted-peer': 'the peer address; forwarding headers are ignored because the peer is not in http.trusted_proxies',
  'no-header-configured': 'the peer address, because http.client_ip_header is "none"',
  'no-header': 'the peer address, because the trusted proxy sent no address in the forwarding header',
  entry: 'the last address in the forwarding header that is not in http.trusted_proxies',
  'only-proxies': 'the first address in the forwarding header, because all of them are in http.trusted_proxies',
  'unreadable-entry':
    'the address to the right of an invalid entry in the forwarding header, or the peer address if there is none',
};

/**
 * Lists what the listener knows about this connection, one fact per line (operations 1.7.1). The response shows proxy
 * addresses to every caller, so enable it only on listeners that only operators can reach.
 */
export function connectionInfoResponse(info: ConnectionInfo): HttpResponse {
  const { client, forwarding, httpVersion, listener, peer, proxy, socket, tls } = info;
  const facts: readonly (readonly [name: string, value: string | undefined])[] = [
    ['listener', listener],
    ['socket-peer', endpointText(socket.peer)],
    ['socket-local', endpointText(socket.local)],
    ['proxy-version', proxy?.version.toString()],
    ['proxy-source', endpointText(proxy?.route?.source)],
    ['proxy-destination', endpointText(proxy?.route?.destination)],
    ['tls-version', tls?.version],
    ['tls-cipher', tls?.cipher],
    ['tls-alpn', tls?.protocol],
    ['tls-server-name', received(tls?.serverName)],
    ['http-version', httpVersion],
    ['peer-address', peer.address],
    ['peer-trusted', peer.isTrusted ? 'yes' : 'no'],
    ['forwarding-header', forwarding.header],
    ['forwarding-received', received(forwarding.received)],
    ['client-address', client.address],
    ['client-from', DECISIONS[client.decidedBy]],
  ];
  return plainText(200, facts.map(([name, value]) => `${name}: ${value ?? 'none'}\n`).join(''));
}

function endpointText(endpoint: ConnectionInfo['socket']['peer']): string | undefined {
  if (endpoint === undefined) return undefined;
  const address = canonicalAddress(endpoint.address) ?? endpoint.address;
  return isIPv6(address) ? `[${address}]:${endpoint.port}` : `${address}:${endpoint.port}`;
}

/** Escapes text from the peer, so that it cannot break the line. */
function received(text: string | undefined): string | undefined {
  return text === undefined ? undefined : escapeText(decodeReceived(text, MAX_SHOWN_CHARACTERS));
}
