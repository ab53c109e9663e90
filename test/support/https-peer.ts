import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { systemClock } from '#platform/base/clock.ts';
import { OutboundHttp, type OutboundOptions } from '#platform/outbound-http/outbound-http.ts';
import { selfSigned } from './self-signed.ts';
import { silentLog } from './silent-log.ts';

/** A third-party server: HTTPS on loopback, under a name that resolves only in tests. */
export interface HttpsPeer {
  readonly server: Server;
  readonly port: number;
  /** `https://peer.example:PORT` */
  readonly origin: string;
  /** Number of connections accepted so far. */
  connections(): number;
  stop(): Promise<void>;
}

const NAMES = ['peer.example', '*.peer.example', 'localhost'];
let certified: { readonly key: string; readonly cert: string } | undefined;

export async function startHttpsPeer(response: RequestListener): Promise<HttpsPeer> {
  const server = createServer(certificate(), response);
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the peer is bound to no port');
  const { port } = bound;
  return {
    server,
    port,
    origin: `https://peer.example:${port}`,
    connections: () => connections,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * The real outbound client, except that every name resolves to loopback, loopback is allowed, and the peers'
 * certificate is trusted.
 */
export function loopbackOutbound(
  peers: readonly Pick<HttpsPeer, 'port'>[],
  options: Partial<OutboundOptions> = {},
): OutboundHttp {
  return new OutboundHttp({
    clock: systemClock,
    log: silentLog,
    allowedNetworks: [{ address: '127.0.0.0', prefixLength: 8, family: 'ipv4' }],
    allowedPorts: peers.map(({ port }) => port),
    resolve: async () => ['127.0.0.1'],
    trustedCertificates: certificate().cert,
    ...options,
  });
}

/** Generated once per process, so that the repository contains no key. */
export function certificate(): { readonly key: string; readonly cert: string } {
  certified ??= selfSigned(NAMES);
  return certified;
}
