/** `GET /connection-info` on every kind of listener (operations 1.7.1). */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { AssetFiles } from '#browser/asset-files.ts';
import { InstanceState } from '#domain/instance-state.ts';
import { parseCidr } from '#platform/base/ip-address.ts';
import { Secret } from '#platform/base/secret.ts';
import type { HttpOptions, ListenerOptions } from '#platform/http/http-options.ts';
import { type RouteServer, startRouteServer } from '#test/support/route-server.ts';
import { selfSigned } from '#test/support/self-signed.ts';
import { mount } from './routes.ts';

const NAME = 'auth.example.test';
const pair = selfSigned([NAME]);
const routes = mount(
  {
    process: { version: '1.2.3', metricsPage: undefined, lag: { isLagging: false, isStalled: false } },
    ...{ instance: new InstanceState(), database: { ping: async () => {} } },
  },
  {
    assets: new AssetFiles({}, () => undefined),
    brand: { logo: undefined, darkLogo: undefined, icon: undefined, stylesheet: undefined },
  },
);
const tls = {
  ...{ certificate: new Secret(pair.cert), key: new Secret(pair.key), password: undefined },
  ...{ keyEncoding: 'utf8' as const, minVersion: 'TLSv1.2' as const },
};
const proxyProtocol = { from: undefined };
const V1 = 'PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n';
const V2 = Buffer.concat([
  Buffer.from('\r\n\r\n\0\r\nQUIT\n\x21\x21\0\x24', 'latin1'),
  Buffer.from(`20010db8${'0'.repeat(23)}5${'20010db8'.padEnd(32, '0')}126701bb`, 'hex'),
]);

let server: RouteServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function start(listener: Partial<ListenerOptions>, http: Partial<HttpOptions> = {}): Promise<RouteServer> {
  const binds = [{ host: '127.0.0.1', port: 0 }];
  const resources = [{ name: 'connection-info' as const }];
  const listeners = [{ name: 'setup', resources, binds, prefix: undefined, ...listener }];
  server = await startRouteServer(routes, { http: { listeners, ...http } });
  return server;
}

const request = (fields = ''): string =>
  `GET /connection-info HTTP/1.1\r\nHost: ${NAME}\r\n${fields}Connection: close\r\n\r\n`;

/** Parses the lines of a response. */
function factsOf(body: string): Record<string, string> {
  const lines = body.trimEnd().split('\n');
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
  );
}

async function responseOn(socket: Socket, bytes: string): Promise<{ head: string; facts: Record<string, string> }> {
  let received = '';
  socket.on('data', (chunk) => {
    received += String(chunk);
  });
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  const [head = '', body = ''] = received.split('\r\n\r\n');
  return { head, facts: factsOf(body) };
}

async function encrypted(socket: Socket, protocols?: string[]): Promise<TLSSocket> {
  return await new Promise((resolve, reject) => {
    const secured = connectTls(
      { socket, ca: pair.cert, servername: NAME, ...(protocols !== undefined && { ALPNProtocols: protocols }) },
      () => resolve(secured),
    );
    secured.on('error', reject);
  });
}

const NOTHING = { 'proxy-version': 'none', 'proxy-source': 'none', 'proxy-destination': 'none' };
const NO_TLS = { 'tls-version': 'none', 'tls-cipher': 'none', 'tls-alpn': 'none', 'tls-server-name': 'none' };

test('over plain HTTP: shows both ends of the socket, with the peer as the client', async () => {
  const { connect: open, port } = await start({});
  const socket = await open();
  const { localPort } = socket;
  const { head, facts } = await responseOn(socket, request());
  expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(head).toMatch(/^content-type: text\/plain; charset=utf-8$/im);
  expect(head).toMatch(/^cache-control: no-store$/im);
  expect(facts).toEqual({
    listener: 'setup',
    'socket-peer': `127.0.0.1:${localPort}`,
    'socket-local': `127.0.0.1:${port}`,
    ...{ ...NOTHING, ...NO_TLS, 'http-version': '1.1' },
    ...{ 'peer-address': '127.0.0.1', 'peer-trusted': 'no' },
    ...{ 'forwarding-header': 'x-forwarded-for', 'forwarding-received': 'none', 'client-address': '127.0.0.1' },
    'client-from': 'the peer address; forwarding headers are ignored because the peer is not in http.trusted_proxies',
  });
});

test('treats HEAD and other methods like /health, and returns 404 on other listeners and their other paths', async () => {
  const { origin, requestLines } = await start({});
  const address = `${origin}/connection-info`;
  const head = await fetch(address, { method: 'HEAD' });
  expect([head.status, Number(head.headers.get('content-length')) > 100, await head.text()]).toEqual([200, true, '']);
  const refused = await fetch(address, { method: 'POST' });
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  expect((await fetch(`${origin}/health`)).status).toBe(404);
  expect((await requestLines(3))[0]).toContain('"HEAD /connection-info HTTP/1.1" 200 OK');
  await server?.close();
  const other = await start({ resources: [{ name: 'health' }] });
  expect((await fetch(`${other.origin}/connection-info`)).status).toBe(404);
});

test.each([
  ['203.0.113.9, 198.51.100.4', '198.51.100.4', 'the last address in the forwarding header that is not'],
  ['127.0.0.3, 127.0.0.2', '127.0.0.3', 'the first address in the forwarding header, because all'],
  ['203.0.113.9, unknown, 127.0.0.2', '127.0.0.2', 'the address to the right of an invalid entry'],
  [undefined, '127.0.0.1', 'the peer address, because the trusted proxy sent no address in the forwarding header'],
])('behind a trusted proxy that sends %s', async (sent, address, decision) => {
  const loopback = parseCidr('127.0.0.0/8');
  await start({}, { trustedProxies: loopback === undefined ? [] : [loopback] });
  const socket = await server?.connect();
  if (socket === undefined) throw new Error('there is no server');
  const { facts } = await responseOn(socket, request(sent === undefined ? '' : `X-Forwarded-For: ${sent}\r\n`));
  expect(facts).toMatchObject({
    ...{ 'peer-trusted': 'yes', 'forwarding-received': sent ?? 'none', 'client-address': address },
    'client-from': expect.stringContaining(decision),
  });
});

test('keeps peer input on its own line, whatever it contains', async () => {
  const { connect: open } = await start({});
  const { facts } = await responseOn(
    await open(),
    request('X-Forwarded-For: <b>\x1b[2J\xff\u2028\u202e</b>\r\n').replace('\x1b', '\t'),
  );
  expect(Object.keys(facts)).toHaveLength(17);
  expect(facts['forwarding-received']).toBe('<b>\\t[2Jÿ\\u{2028}\\u{202e}</b>');
});

test('over TLS: shows version, cipher, ALPN protocol and server name', async () => {
  const { connect: open } = await start({ tls });
  const socket = await encrypted(await open());
  const { facts } = await responseOn(socket, request());
  expect(facts).toMatchObject({
    ...{ 'tls-version': 'TLSv1.3', 'tls-cipher': 'TLS_AES_128_GCM_SHA256', 'tls-alpn': 'none' },
    ...{ 'tls-server-name': NAME, 'http-version': '1.1', 'socket-peer': expect.stringMatching(/^127\.0\.0\.1:\d+$/) },
  });
});

test.each([
  ['version 1', V1, '1', '192.0.2.7', '192.0.2.7:4711', '198.51.100.1:443'],
  ['version 2', V2, '2', '2001:db8::5', '[2001:db8::5]:4711', '[2001:db8::]:443'],
])('over HTTP/2 behind a PROXY header of %s', async (_what, header, version, address, source, destination) => {
  const { connect: open, requestLines } = await start({ tls, proxyProtocol });
  const tcp = await open();
  const own = `127.0.0.1:${tcp.localPort}`;
  tcp.write(header);
  const socket = await encrypted(tcp, ['h2', 'http/1.1']);
  const session = connectHttp2(`https://${NAME}`, { createConnection: () => socket });
  const stream = session.request({ ':path': '/connection-info' });
  let body = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    body += text;
  });
  await new Promise((resolve) => stream.once('close', resolve));
  session.destroy();
  expect(factsOf(body)).toMatchObject({
    ...{ 'socket-peer': own, 'proxy-version': version, 'proxy-source': source, 'proxy-destination': destination },
    ...{ 'tls-version': 'TLSv1.3', 'tls-alpn': 'h2', 'tls-server-name': NAME, 'http-version': '2.0' },
    ...{ 'peer-address': address, 'peer-trusted': 'no', 'client-address': address },
  });
  expect((await requestLines(1))[0]).toMatch(
    new RegExp(`"GET /connection-info HTTP/2\\.0" 200 OK .* client\\.address=${address.replaceAll('.', '\\.')}$`),
  );
});

test("a PROXY header without an address: uses the socket's peer", async () => {
  const { connect: open } = await start({ proxyProtocol });
  const { facts } = await responseOn(await open(), `PROXY UNKNOWN\r\n${request()}`);
  expect(facts).toMatchObject({ ...NOTHING, 'proxy-version': '1', 'peer-address': '127.0.0.1' });
});

test('over a Unix socket: shows no addresses, and trusts the peer', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-info-'));
  const path = join(folder, 'http.sock');
  await start({ binds: [{ socket: path, mode: 0o600 }] }, { clientIpHeader: 'none' });
  const { facts } = await responseOn(connect(path), request('None: 192.0.2.1\r\n'));
  rmSync(folder, { recursive: true });
  expect(facts).toMatchObject({
    ...{ 'socket-peer': 'none', 'socket-local': 'none', 'peer-address': 'none', 'peer-trusted': 'yes' },
    ...{ 'forwarding-header': 'none', 'forwarding-received': 'none', 'client-address': 'none' },
    'client-from': 'the peer address, because http.client_ip_header is "none"',
  });
});
