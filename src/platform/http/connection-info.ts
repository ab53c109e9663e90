/** Connection details of a listener (operations 1.7.1), for diagnosing reverse proxies and load balancers. */
import { TLSSocket } from 'node:tls';
import type { ClientSource, Peer } from './client-address.ts';
import type { RequestConnection } from './connection.ts';
import type { HttpOptions } from './http-options.ts';
import type { Endpoint, ProxySource } from './proxy-header.ts';

export interface ConnectionInfo extends ConnectionFacts {
  /** Name of the listener. */
  readonly listener: string;
  readonly httpVersion: string;
  readonly forwarding: { readonly header: HttpOptions['clientIpHeader']; readonly received: string | undefined };
  readonly client: ClientSource;
}

interface ConnectionFacts {
  /** Both ends of the socket. Undefined for a Unix socket. */
  readonly socket: { readonly peer: Endpoint | undefined; readonly local: Endpoint | undefined };
  readonly proxy: ProxySource | undefined;
  /** Undefined if the connection is not encrypted. */
  readonly tls: TlsFacts | undefined;
  /** From the PROXY header if there is one. */
  readonly peer: Peer;
}

interface TlsFacts {
  readonly version: string;
  readonly cipher: string;
  /** The protocol chosen by ALPN. Undefined if the peer offered none. */
  readonly protocol: string | undefined;
  /** As sent by the peer (SNI). */
  readonly serverName: string | undefined;
}

export function describeConnection({ peer, proxy, socket }: RequestConnection): ConnectionFacts {
  return {
    socket: {
      peer: endpoint(socket.remoteAddress, socket.remotePort),
      local: endpoint(socket.localAddress, socket.localPort),
    },
    proxy,
    tls: socket instanceof TLSSocket ? tlsFacts(socket) : undefined,
    peer,
  };
}

function endpoint(address: string | undefined, port: number | undefined): Endpoint | undefined {
  return address === undefined || port === undefined ? undefined : { address, port };
}

function tlsFacts(socket: TLSSocket): TlsFacts {
  const { alpnProtocol } = socket;
  // Documented for the event `secureConnection` of node:tls, but missing in its types.
  const serverName: unknown = Reflect.get(socket, 'servername');
  return {
    version: socket.getProtocol() ?? 'unknown',
    cipher: socket.getCipher().standardName,
    protocol: typeof alpnProtocol === 'string' ? alpnProtocol : undefined,
    serverName: typeof serverName === 'string' ? serverName : undefined,
  };
}
