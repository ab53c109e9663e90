import { connect as connectTls } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { parseCidr } from '#platform/base/ip-address.ts';
import { Secret } from '#platform/base/secret.ts';
import { type RouteServer, startRouteServer, until } from '#test/support/route-server.ts';
import { selfSigned } from '#test/support/self-signed.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ListenerOptions } from './http-options.ts';
import { plainText } from './response.ts';
import type { Route } from './route.ts';

const GET = 'GET /peer HTTP/1.1\r\nHost: auth.example.test\r\n';
const LAST = `${GET}Connection: close\r\n\r\n`;
const V1 = 'PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n';

const ROUTES: Route[] = [
  {
    ...{ resource: 'human', errorFormat: 'page', method: 'GET', path: '/peer' },
    handle: ({ clientAddress }) => plainText(200, `client ${clientAddress}.`),
  } as const,
];

/** @param options in addition to `proxy_protocol` for all peers */
async function start(
  options: Partial<ListenerOptions> = {},
  maxConnectionsPerAddress = 100,
  handshakeTimeoutSeconds = 0.3,
): Promise<RouteServer> {
  const [trusted] = ['203.0.113.0/24'].flatMap((text) => parseCidr(text) ?? []);
  const listener: ListenerOptions = {
    ...{ name: 'test', resources: [{ name: 'human' }], binds: [{ host: '127.0.0.1', port: 0 }], prefix: undefined },
    proxyProtocol: { from: undefined },
    ...options,
  };
  return await startRouteServer(ROUTES, {
    http: { listeners: [listener], trustedProxies: trusted === undefined ? [] : [trusted] },
    limits: { handshakeTimeoutSeconds, maxConnectionsPerAddress },
  });
}

const server = await sharedByTests(start());

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

/** Builds a version 2 header. @param family of address and transport */
function v2(command: number, family: number, addresses: Buffer | string, announced?: number): Buffer {
  const content = Buffer.from(addresses);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(announced ?? content.length);
  return Buffer.concat([SIGNATURE, Buffer.of(command, family), length, content]);
}

const IPV4 = Buffer.from([192, 0, 2, 9, 198, 51, 100, 1, 0x12, 0x67, 1, 0xbb]);
const IPV6 = Buffer.concat([Buffer.from(`20010db8${'0'.repeat(23)}5`, 'hex'), Buffer.alloc(20)]);
/** PP2_TYPE_AUTHORITY with three bytes. */
const TLV = Buffer.from([2, 0, 3, 97, 98, 99]);

const seenBy = async (header: Buffer | string, request = LAST, from = server): Promise<string> =>
  /client ([^.]*(?:\.\d+)*)\./.exec(
    await from.exchange(Buffer.concat([Buffer.from(header), Buffer.from(request)])),
  )?.[1] ?? 'nothing';

describe('the source named by a PROXY header is the client (operations 1.7.4, 5.6)', () => {
  test.each([
    ['version 1, IPv4', V1, '192.0.2.7'],
    ['version 1, IPv6', 'PROXY TCP6 2001:DB8::7 2001:db8::1 1 2\r\n', '2001:db8::7'],
    ['version 1, IPv4 in IPv6', 'PROXY TCP6 ::ffff:192.0.2.8 ::1 1 2\r\n', '192.0.2.8'],
    ['version 2, IPv4', v2(0x21, 0x11, IPV4), '192.0.2.9'],
    ['version 2, IPv6, and ignored extensions', v2(0x21, 0x21, Buffer.concat([IPV6, TLV])), '2001:db8::5'],
  ])('%s', async (_what, header, expected) => {
    expect(await seenBy(header)).toBe(expected);
  });

  test.each([
    ['version 1, UNKNOWN', 'PROXY UNKNOWN\r\n'],
    ['version 1, UNKNOWN with ignored text', 'PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n'],
    ['version 2, LOCAL, whatever follows', v2(0x20, 0x11, IPV4)],
    ['version 2, no family', v2(0x21, 0x00, '')],
    ['version 2, no family, with parts', v2(0x21, 0x00, TLV)],
  ])('uses the peer of the socket when the header names no source: %s', async (_what, header) => {
    expect(await seenBy(header)).toBe('127.0.0.1');
  });

  test('reads a header that arrives byte by byte, with requests behind it in one piece or several', async () => {
    const socket = await server.connect();
    let received = '';
    socket.setNoDelay().on('data', (chunk) => {
      received += String(chunk);
    });
    for (const byte of v2(0x21, 0x11, IPV4)) {
      socket.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.write(`${GET}\r\n${GET}`);
    await until(() => received.includes('client 192.0.2.9.'));
    socket.write('Connection: close\r\n\r\n');
    await new Promise((resolve) => socket.once('close', resolve));
    expect(received.match(/200 OK/g)).toHaveLength(2);
  });

  test('forwarding headers behind it count only when the source is a trusted proxy (S-147, S-148)', async () => {
    const forwarded = `${GET}X-Forwarded-For: 192.0.2.99\r\nConnection: close\r\n\r\n`;
    expect(await seenBy(V1, forwarded)).toBe('192.0.2.7');
    expect(await seenBy(V1.replace('192.0.2.7', '203.0.113.5'), forwarded)).toBe('192.0.2.99');
  });

  test('precedes TLS when a listener has both, also in one packet with the handshake', async () => {
    const { cert, key } = selfSigned(['auth.example.test']);
    const secrets = { certificate: new Secret(cert), key: new Secret(key), password: undefined };
    const both = await start({ tls: { ...secrets, keyEncoding: 'utf8', minVersion: 'TLSv1.2' } });
    const tcp = await both.connect();
    tcp.cork();
    tcp.write(V1);
    const socket = connectTls({ socket: tcp, ca: cert, servername: 'auth.example.test' });
    process.nextTick(() => tcp.uncork());
    let received = '';
    socket.on('data', (chunk) => {
      received += String(chunk);
    });
    socket.write(LAST);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(received).toContain('client 192.0.2.7.');
    // Without the header, the TLS handshake is parsed as one.
    const bare = connectTls({ port: both.port, host: '127.0.0.1', ca: cert, servername: 'auth.example.test' });
    await expect(new Promise((_resolve, reject) => bare.once('error', reject))).rejects.toThrow();
    await until(() => both.lines.some((line) => line.includes('reason=proxy')));
    await both.close();
  });
});

const rejected = (from = server): string[] => from.lines.filter((line) => line.includes('http.connection.rejected'));

describe('a connection without a valid header is closed without a response', () => {
  test.each([
    ['a request', LAST],
    ['version 1 of an unknown protocol', 'PROXY UDP4 192.0.2.7 198.51.100.1 1 2\r\n'],
    ['addresses of another family', 'PROXY TCP4 2001:db8::7 2001:db8::1 1 2\r\n'],
    ['an address with a zone', 'PROXY TCP6 fe80::1%eth0 fe80::2 1 2\r\n'],
    ['an address in octal', 'PROXY TCP4 192.0.2.007 198.51.100.1 1 2\r\n'],
    ['two spaces', 'PROXY  TCP4 192.0.2.7 198.51.100.1 1 2\r\n'],
    ['a port beyond 65535', 'PROXY TCP4 192.0.2.7 198.51.100.1 70000 2\r\n'],
    ['a port with a sign', 'PROXY TCP4 192.0.2.7 198.51.100.1 +1 2\r\n'],
    ['something more', 'PROXY TCP4 192.0.2.7 198.51.100.1 1 2 3\r\n'],
    ['lower case', 'proxy TCP4 192.0.2.7 198.51.100.1 1 2\r\n'],
    ['more than 107 bytes of version 1', `PROXY UNKNOWN ${'x'.repeat(100)}\r\n`],
    ['another version', v2(0x31, 0x11, IPV4)],
    ['another command', v2(0x22, 0x11, IPV4)],
    ['a Unix socket', v2(0x21, 0x31, Buffer.alloc(216))],
    ['datagrams', v2(0x21, 0x12, IPV4)],
    ['too few bytes for its addresses', v2(0x21, 0x21, IPV4)],
    ['more than 4 KiB of version 2', v2(0x21, 0x11, IPV4, 5000)],
    ['half a signature, and a request', Buffer.concat([SIGNATURE.subarray(0, 6), Buffer.from(LAST)])],
  ])('%s', async (_what, header) => {
    const before = server.lines.length;
    expect(await server.exchange(Buffer.concat([Buffer.from(header), Buffer.from(LAST)]))).toBe('');
    await until(() => server.lines.length > before);
    expect(server.lines.at(-1)).toMatch(
      / (?:WARN http\.connection\.rejected connection rejected reason=proxy client\.address=127\.0\.0\.1|WARN http\.connection\.rejected more .*)$/,
    );
  });

  test('at the byte that exceeds a limit, whatever time is left (S-139)', async () => {
    const patient = await start({}, 100, 3600);
    expect(await patient.exchange(`PROXY UNKNOWN ${'x'.repeat(200)}`)).toBe('');
    expect(await patient.exchange(v2(0x21, 0x11, IPV4, 5000))).toBe('');
    await patient.close();
  });

  test('when it stays silent or stops in the middle, after limits.handshake_timeout (S-139)', async () => {
    const other = await start();
    const started = performance.now();
    const sockets = await Promise.all([other.connect(), other.connect(), other.connect()]);
    sockets[1]?.write(V1.slice(0, 20));
    sockets[2]?.write(v2(0x21, 0x11, IPV4).subarray(0, 14));
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    expect(performance.now() - started).toBeGreaterThan(250);
    expect(rejected(other)).toHaveLength(3);
    expect(rejected(other).every((line) => line.includes('reason=proxy'))).toBe(true);
    await other.close();
  });

  test('without a log line when it closes before the first byte, as health checks of load balancers do', async () => {
    const other = await start();
    expect(await seenBy(V1, LAST, other)).toBe('192.0.2.7');
    const socket = await other.connect();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.end();
    await closed;
    expect(rejected(other)).toEqual([]);
    await other.close();
  });

  test('when the peer is outside of `from` and must not name an address (S-147)', async () => {
    const [elsewhere, here] = ['192.0.2.0/24', '127.0.0.0/8'].map((text) => parseCidr(text));
    if (elsewhere === undefined || here === undefined) throw new Error('not a network');
    const other = await start({ proxyProtocol: { from: [elsewhere] } });
    expect(await other.exchange(V1 + LAST).catch(() => '')).toBe('');
    expect(rejected(other)).toEqual([expect.stringContaining('reason=proxy client.address=127.0.0.1')]);
    await other.close();
    const both = await start({ proxyProtocol: { from: [elsewhere, here] } });
    expect(await seenBy(V1, LAST, both)).toBe('192.0.2.7');
    await both.close();
  });
});

test('limits.max_connections_per_address counts the source, not the load balancer', async () => {
  const other = await start({}, 2);
  const opened = async (source: string) => {
    const socket = await other.connect();
    socket.write(`PROXY TCP4 ${source} 198.51.100.1 1 2\r\n${GET}\r\n`);
    const first = await new Promise<string>((resolve) => {
      socket.once('data', (chunk) => resolve(String(chunk)));
      socket.once('close', () => resolve(''));
    });
    return { socket, isServed: first.includes(`client ${source}.`) };
  };
  const held: Awaited<ReturnType<typeof opened>>[] = [];
  for (const source of ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.2', '192.0.2.3'])
    held.push(await opened(source));
  expect(held.map(({ isServed }) => isServed)).toEqual([true, true, true, true, true]);
  expect((await opened('192.0.2.1')).isServed).toBe(false);
  expect(rejected(other)).toEqual([expect.stringContaining('reason=limit client.address=192.0.2.1')]);
  const closed = new Promise((resolve) => held[0]?.socket.once('close', resolve));
  held[0]?.socket.destroy();
  await closed;
  let isServed = false;
  while (!isServed) ({ isServed } = await opened('192.0.2.1'));
  await other.close();
});
