import { execFile, spawnSync } from 'node:child_process';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secret } from '#platform/base/secret.ts';
import { type RouteServer, startRouteServer, until } from '#test/support/route-server.ts';
import { selfSigned } from '#test/support/self-signed.ts';
import type { ListenerOptions, TlsOptions } from './http-options.ts';
import { plainText } from './response.ts';
import type { Route } from './route.ts';

const NAME = 'auth.example.test';
/** A machine with Node.js may not have curl. */
const HAS_CURL = spawnSync('curl', ['--version']).status === 0;

function tlsOf({ key, cert }: { key: string; cert: string }, minVersion: TlsOptions['minVersion'] = 'TLSv1.2') {
  const secrets = { certificate: new Secret(cert), key: new Secret(key), password: undefined };
  return { ...secrets, keyEncoding: 'utf8' as const, minVersion };
}

function listening(name: string, tls: TlsOptions): ListenerOptions {
  const binds = [{ host: '127.0.0.1', port: 0 }];
  return { name, resources: [{ name: 'human' }], binds, prefix: undefined, tls };
}

const shared = { resource: 'human', errorFormat: 'page' } as const;
const ROUTES: Route[] = [
  { ...shared, method: 'GET', path: '/peer', handle: ({ clientAddress }) => plainText(200, `${clientAddress}`) },
  { ...shared, method: 'GET', path: '/large', handle: () => plainText(200, 'x'.repeat(20_000_000)) },
  {
    ...shared,
    method: 'POST',
    path: '/form',
    handle: async (context) => plainText(200, (await context.readForm()).get('a') ?? ''),
  },
];

let pair: { key: string; cert: string };
let server: RouteServer;

beforeAll(async () => {
  pair = selfSigned([NAME]);
  server = await startRouteServer(ROUTES, {
    http: { listeners: [listening('test', tlsOf(pair))] },
    limits: { handshakeTimeoutSeconds: 0.3 },
  });
});

afterAll(async () => await server.close());

async function open(options: ConnectionOptions = {}, port = server.port): Promise<TLSSocket> {
  return await new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca: pair.cert, servername: NAME, ...options }, () =>
      resolve(socket),
    );
    socket.on('error', reject);
  });
}

async function exchange(bytes: string, options: ConnectionOptions = {}): Promise<string> {
  const socket = await open(options);
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  return received;
}

const rejected = (): string[] => server.lines.filter((line) => line.includes('http.connection.rejected'));

describe('a listener with TLS (operations 1.7.3)', () => {
  test('serves sequential and pipelined requests with the address of the peer', async () => {
    const get = `GET /peer HTTP/1.1\r\nHost: ${NAME}\r\n`;
    const response = await exchange(`${get}\r\n${get}Connection: close\r\n\r\n`);
    expect(response.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    expect(response).toContain('127.0.0.1');
  });

  test.skipIf(!HAS_CURL)('serves curl a page and accepts a form sent after 100 Continue', async () => {
    const run = (...more: string[]): Promise<string> =>
      new Promise((resolve, reject) => {
        const options = ['-sSk', '--resolve', `${NAME}:${server.port}:127.0.0.1`, ...more];
        execFile('curl', options, (error, stdout) => (error === null ? resolve(stdout) : reject(error)));
      });
    expect(await run(`https://${NAME}:${server.port}/peer`)).toBe('127.0.0.1');
    const expecting = ['-H', 'Expect: 100-continue', '-d', 'a=b', `https://${NAME}:${server.port}/form`];
    expect(await run(...expecting)).toBe('b');
  });

  test('speaks HTTP/1.1 by ALPN, and nothing with a peer that supports only another protocol (RFC 7301 3.2)', async () => {
    const socket = await open({ ALPNProtocols: ['spdy/1', 'http/1.1'] });
    expect(socket.alpnProtocol).toBe('http/1.1');
    socket.destroy();
    await expect(open({ ALPNProtocols: ['imap'] })).rejects.toThrow(/no application protocol/i);
  });

  test('speaks TLS 1.2 and 1.3 with forward secrecy only, and with min_version 1.3 only that', async () => {
    const old = await open({ maxVersion: 'TLSv1.2' });
    expect([old.getProtocol(), old.getCipher().name]).toEqual(['TLSv1.2', 'ECDHE-ECDSA-AES128-GCM-SHA256']);
    old.destroy();
    const next = await open();
    expect(next.getProtocol()).toBe('TLSv1.3');
    next.destroy();
    const weak = { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' } as const;
    await expect(open(weak)).rejects.toThrow(/handshake failure/);
    const strict = await startRouteServer(ROUTES, {
      http: { listeners: [listening('test', tlsOf(pair, 'TLSv1.3'))] },
    });
    await expect(open({ maxVersion: 'TLSv1.2' }, strict.port)).rejects.toThrow(/protocol version/);
    await strict.close();
  });

  test('rejects renegotiation by the client', async () => {
    const socket = await open({ maxVersion: 'TLSv1.2' });
    const outcome = new Promise<Error | null>((resolve) => {
      socket.on('error', resolve);
      socket.renegotiate({}, resolve);
    });
    expect((await outcome)?.message).toMatch(/no renegotiation/i);
    socket.destroy();
  });

  test('closes input that is not a handshake, such as plain HTTP, with reason=tls and no request', async () => {
    const before = rejected().length;
    expect(await server.exchange(`GET /peer HTTP/1.1\r\nHost: ${NAME}\r\n\r\n`)).not.toContain('HTTP/1.1');
    await until(() => rejected().length > before);
    expect(rejected().at(-1)).toMatch(/WARN http\.connection\.rejected .*reason=tls client\.address=127\.0\.0\.1/);
  });

  test('closes an unfinished or absent handshake after limits.handshake_timeout (S-139)', async () => {
    const before = rejected().length;
    const started = performance.now();
    const [silent, slow] = [await server.connect(), await server.connect()];
    // The first bytes of a ClientHello.
    slow.write(Buffer.from('160301020001', 'hex'));
    for (const socket of [silent, slow]) socket.on('error', () => {});
    await Promise.all([silent, slow].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    expect(performance.now() - started).toBeGreaterThan(250);
    await until(() => rejected().length >= before + 2);
    expect(rejected().at(-1)).toContain('reason=tls');
  });

  test('lets a connection idle once its handshake finished in time', async () => {
    const socket = await open();
    const started = performance.now();
    await until(() => performance.now() > started + 500);
    socket.write(`GET /peer HTTP/1.1\r\nHost: ${NAME}\r\nConnection: close\r\n\r\n`);
    const response = await new Promise((resolve) => socket.once('data', resolve));
    expect(String(response)).toContain('200 OK');
    socket.destroy();
  });

  test('logs nothing for clients that connect and disconnect, as health checks of load balancers do', async () => {
    const before = rejected().length;
    const socket = await server.connect();
    await new Promise<void>((resolve) => {
      socket.end(resolve);
    });
    await until(() => socket.destroyed);
    (await open()).destroy();
    expect(rejected().length).toBe(before);
  });

  test('answers a malformed request as it does without TLS', async () => {
    expect(await exchange('GET / HTTP/9\r\n\r\n')).toContain('400 Bad Request');
    expect(await exchange(`BREW / HTTP/1.1\r\nHost: ${NAME}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(await exchange(`GET / HTTP/1.1\r\nHost: ${NAME}\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`)).toContain(' 431 ');
  });
});

describe('a certificate replaced at run time', () => {
  const fingerprint = async (): Promise<string> => {
    const socket = await open({ rejectUnauthorized: false });
    const found = socket.getPeerX509Certificate()?.fingerprint256 ?? '';
    socket.destroy();
    return found;
  };

  test('is used for new connections, and open ones continue', async () => {
    const before = await fingerprint();
    const open1 = await open();
    server.server.reloadTls([listening('test', tlsOf(selfSigned([NAME]))), listening('other', tlsOf(pair))]);
    expect(await fingerprint()).not.toBe(before);
    open1.write(`GET /peer HTTP/1.1\r\nHost: ${NAME}\r\nConnection: close\r\n\r\n`);
    expect(String(await new Promise((resolve) => open1.once('data', resolve)))).toContain('200 OK');
  });
});

test('on shutdown an idle TLS connection is closed, and one with a request in flight gets its response', async () => {
  const other = await startRouteServer(ROUTES, { http: { listeners: [listening('test', tlsOf(pair))] } });
  const idle = await open({}, other.port);
  const reading = await open({}, other.port);
  let bytes = 0;
  reading.write(`GET /large HTTP/1.1\r\nHost: ${NAME}\r\n\r\n`);
  await new Promise((resolve) => reading.once('readable', resolve));
  const closed = other.server.close(20_000);
  reading.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await Promise.all([idle, reading].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  expect(await closed).toBe('clean');
  expect(bytes).toBeGreaterThan(20_000_000);
});
