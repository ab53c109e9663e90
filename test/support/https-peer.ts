import { createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { systemClock } from '#platform/base/clock.ts';
import { OutboundHttp, type OutboundOptions } from '#platform/outbound-http/outbound-http.ts';
import { silentLog } from './silent-log.ts';

/** A server of somebody else: https on loopback, under a name that only the guard of a test knows. */
export interface HttpsPeer {
  readonly server: Server;
  readonly port: number;
  /** `https://peer.example:PORT` */
  readonly origin: string;
  /** Connections accepted so far. */
  connections(): number;
  stop(): Promise<void>;
}

const NAMES = ['peer.example', '*.peer.example', 'localhost'];
let certified: { readonly key: string; readonly cert: string } | undefined;

export async function startHttpsPeer(answer: RequestListener): Promise<HttpsPeer> {
  const server = createServer(certificate(), answer);
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

/** The guard as it is, but every name leads to loopback, which it may reach, and it trusts the certificate of peers. */
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

/** Made once for each process, so that no key lies in the repository. */
export function certificate(): { readonly key: string; readonly cert: string } {
  certified ??= selfSigned(NAMES);
  return certified;
}

/** RFC 5280 4.1, in DER: the least that a TLS client asks for. */
function selfSigned(names: readonly string[]): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(0x30, objectId('2a8648ce3d040302'));
  const name = der(0x30, der(0x31, der(0x30, objectId('550403'), der(0x0c, Buffer.from('peer.example')))));
  const alternatives = der(0x30, ...names.map((one) => der(0x82, Buffer.from(one))));
  const signed = der(
    0x30,
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1)),
    algorithm,
    name,
    der(0x30, der(0x18, Buffer.from('20200101000000Z')), der(0x18, Buffer.from('20991231235959Z'))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, der(0x30, objectId('551d11'), der(0x04, alternatives)))),
  );
  const signature = createSign('sha256').update(signed).sign(privateKey);
  const whole = der(0x30, signed, algorithm, der(0x03, Buffer.concat([Buffer.of(0), signature])));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  if (length < 0x100) return Buffer.concat([Buffer.of(tag, 0x81, length), content]);
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), content]);
}

function objectId(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}
