/** HTTP/2 without TLS on listeners that allow it, beside HTTP/1.1 on the same address (RFC 9113 3.3, operations 1.7.3). */
import { execFile } from 'node:child_process';
import { type ClientHttp2Session, connect, constants, type OutgoingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import { beforeEach, describe, expect, test } from 'vitest';
import { FrameClient } from '#test/support/http2-frames.ts';
import { parseRequestLine, REQUEST_LINE } from '#test/support/log-expression.ts';
import { type RouteServer, type RouteServerOptions, startRouteServer, until } from '#test/support/route-server.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ListenerOptions } from './http-options.ts';
import { plainText } from './response.ts';
import type { Route } from './route.ts';

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const waiting: (() => void)[] = [];
const shared = { resource: 'human', errorFormat: 'page' } as const;
const ROUTES: Route[] = [
  { ...shared, method: 'GET', path: '/peer', handle: ({ clientAddress }) => plainText(200, `${clientAddress}`) },
  {
    ...shared,
    method: 'GET',
    path: '/held',
    handle: async () => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return plainText(200, 'held');
    },
  },
  {
    ...shared,
    method: 'POST',
    path: '/form',
    handle: async (context) => plainText(200, (await context.readForm()).get('a') ?? ''),
  },
];

async function start(
  limits: RouteServerOptions['limits'] = {},
  more: Partial<ListenerOptions> = {},
): Promise<RouteServer> {
  const binds = [{ host: '127.0.0.1', port: 0 }];
  const listener = { name: 'test', resources: [{ name: 'human' as const }], binds, prefix: undefined };
  return await startRouteServer(ROUTES, {
    http: { listeners: [{ ...listener, cleartextHttp2: true, ...more }] },
    limits,
  });
}

const server = await sharedByTests(start());

function client(of: RouteServer = server): ClientHttp2Session {
  const session = connect(of.origin);
  session.on('error', () => {});
  return session;
}

interface TestResponse {
  readonly status: number | undefined;
  readonly body: string;
}

function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string): Promise<TestResponse> {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return new Promise((resolve) => {
    let status: number | undefined;
    let text = '';
    stream.on('response', (received) => {
      status = received[':status'];
    });
    stream.on('error', () => {});
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    stream.on('close', () => resolve({ status, body: text }));
  });
}

const FORM = { ':method': 'POST', ':path': '/form', 'content-type': 'application/x-www-form-urlencoded' };
const lines = (of: RouteServer): string[] => of.lines.filter((line) => line.includes(' http.server.response '));
const rejected = (of: RouteServer): string[] => of.lines.filter((line) => line.includes('http.connection.rejected'));

beforeEach(() => {
  for (const release of waiting.splice(0)) release();
});

describe('a client with prior knowledge of HTTP/2', () => {
  test('gets many responses concurrently over one connection, and sends forms', async () => {
    const session = client();
    const before = lines(server).length;
    const responses = await Promise.all(Array.from({ length: 200 }, () => ask(session, { ':path': '/peer' })));
    expect(new Set(responses.map(({ status, body }) => `${status} ${body}`))).toEqual(new Set(['200 127.0.0.1']));
    expect((await ask(session, FORM, 'a=b')).body).toBe('b');
    expect((await ask(session, FORM, 'a='.padEnd(100_000, 'x'))).status).toBe(413);
    const written = lines(server).slice(before);
    expect(written.slice(0, 200).every((line) => line.includes('"GET /peer HTTP/2.0" 200 OK'))).toBe(true);
    expect(written.every((line) => REQUEST_LINE.test(line))).toBe(true);
    expect(new Set(written.map((line) => parseRequestLine(line).id)).size).toBe(202);
    session.close();
  });

  test('curl gets pages and sends forms, and over HTTP/1.1 too', async () => {
    const run = (version: string, path: string, body?: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const form = body === undefined ? [] : ['--data-binary', '@-'];
        const options = ['-sS', version, '-w', ' %{http_code} %{http_version}', ...form, `${server.origin}${path}`];
        const child = execFile('curl', options, (error, out) => (error === null ? resolve(out) : reject(error)));
        child.stdin?.end(body);
      });
    expect(await run('--http2-prior-knowledge', '/peer')).toBe('127.0.0.1 200 2');
    expect(await run('--http2-prior-knowledge', '/form', 'a=b')).toBe('b 200 2');
    expect(await run('--http1.1', '/form', 'a=c')).toBe('c 200 1.1');
    // With `Upgrade: h2c`, which RFC 9113 3.1 has removed, the response is HTTP/1.1.
    expect(await run('--http2', '/peer')).toBe('127.0.0.1 200 1.1');
  });

  test('may send the preface byte by byte', async () => {
    const socket = await server.connect();
    socket.setNoDelay(true);
    const peer = new FrameClient(delayed(socket));
    peer.request(1, [
      [':method', 'GET'],
      [':scheme', 'http'],
      [':authority', '127.0.0.1'],
      [':path', '/peer'],
    ]);
    expect(await peer.outcomeOf(1)).toBe('200');
    peer.close();
  });

  test('behind a PROXY header is the client that it names, also if both arrive at once', async () => {
    const proxied = await start({}, { proxyProtocol: { from: undefined } });
    const socket = await proxied.connect();
    socket.cork();
    socket.write('PROXY TCP4 192.0.2.7 198.51.100.1 4711 80\r\n');
    const session = connect(proxied.origin, { createConnection: () => socket });
    socket.uncork();
    expect(await ask(session, { ':path': '/peer' })).toEqual({ status: 200, body: '192.0.2.7' });
    session.close();
    const later = await proxied.connect();
    later.write('PROXY TCP4 192.0.2.8 198.51.100.1 4711 80\r\n');
    const received = new Promise((resolve) => later.once('data', resolve));
    later.write('GET /peer HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(String(await received)).toMatch(/^HTTP\/1\.1 200 OK\r\n.*192\.0\.2\.8$/s);
    later.destroy();
    await proxied.close();
  });
});

/** Writes each byte of the first packet in a packet of its own. */
function delayed(socket: Socket): Socket {
  const write = socket.write.bind(socket);
  let isFirst = true;
  Object.assign(socket, {
    write: (bytes: string | Buffer) => {
      if (!isFirst) return write(bytes);
      isFirst = false;
      let last = true;
      for (const byte of Buffer.from(bytes)) last = write(Buffer.of(byte));
      return last;
    },
  });
  return socket;
}

describe('a client of HTTP/1.1 on the same address', () => {
  test('gets responses, pipelined and kept alive', async () => {
    const request = 'GET /peer HTTP/1.1\r\nHost: a\r\n';
    const received = await server.exchange(`${request}\r\n${request}Connection: close\r\n\r\n`);
    expect(received.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  });

  test('whose request starts like the preface gets its own response', async () => {
    // The first bytes arrive alone.
    const socket = await server.connect();
    const received = new Promise((resolve) => socket.once('data', resolve));
    socket.write('P');
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.write('OST /form HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n');
    socket.write('Content-Type: application/x-www-form-urlencoded\r\n\r\na=b');
    expect(String(await received)).toMatch(/^HTTP\/1\.1 200 OK/);
    socket.destroy();
    const method = await server.exchange('PROPFIND /peer HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(method).toMatch(/^HTTP\/1\.1 405 /);
    const almost = await server.exchange(PREFACE.replace('SM', 'XY'));
    expect(almost).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('limits hold without TLS (S-142)', () => {
  test('requests reset immediately end the connection after 200 (rapid reset)', async () => {
    const flooded = await start();
    const peer = new FrameClient(await flooded.connect());
    peer.together(() => {
      for (let index = 0; index < 250; index += 1) {
        peer.request(2 * index + 1, [
          [':method', 'GET'],
          [':scheme', 'http'],
          [':authority', '127.0.0.1'],
          [':path', '/held'],
        ]);
        peer.reset(2 * index + 1);
      }
    });
    expect(await peer.goawayCode()).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(rejected(flooded).at(-1)).toContain('reason=limit client.address=127.0.0.1');
    await flooded.close();
  });

  test('a silent client, one that stops in the preface and one that stops after it are closed', async () => {
    const quick = await start({ headersTimeoutSeconds: 0.3, keepAliveTimeoutSeconds: 0.3, handlerTimeoutSeconds: 0.2 });
    expect(await quick.exchange('')).toBe('');
    expect(rejected(quick)).toEqual([expect.stringContaining('DEBUG')]);
    expect(await quick.exchange(PREFACE.slice(0, 20))).toBe('');
    expect(rejected(quick).at(-1)).toContain('reason=header_timeout client.address=127.0.0.1');
    const socket = await quick.connect();
    socket.write(PREFACE);
    socket.resume();
    const session = client(quick);
    expect((await ask(session, { ':path': '/peer' })).status).toBe(200);
    await until(() => socket.destroyed && session.destroyed);
    await quick.close();
  });

  test('a client that ends before the preface is complete is closed', async () => {
    const socket = await server.connect();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resume().end(PREFACE.slice(0, 10));
    await closed;
    expect(rejected(server).at(-1)).toContain('reason=malformed');
    const silent = await server.connect();
    const before = rejected(server).length;
    silent.resume().end();
    await new Promise((resolve) => silent.once('close', resolve));
    expect(rejected(server)).toHaveLength(before);
  });

  test('connections beyond max_connections_per_address are closed', async () => {
    const small = await start({ maxConnectionsPerAddress: 2 });
    const sessions = [client(small), client(small)];
    for (const session of sessions) expect((await ask(session, { ':path': '/peer' })).status).toBe(200);
    const third = client(small);
    await until(() => third.destroyed);
    expect(rejected(small).at(-1)).toContain('reason=limit');
    for (const session of sessions) session.close();
    await small.close();
  });
});

test('shutdown sends GOAWAY, answers requests in flight, and closes connections that have sent nothing', async () => {
  const ending = await start();
  const session = client(ending);
  const silent = await ending.connect();
  const isSilentClosed = new Promise((resolve) => silent.resume().once('close', resolve));
  const goaway = new Promise((resolve) => session.on('goaway', resolve));
  const response = ask(session, { ':path': '/held' });
  await until(() => waiting.length === 1);
  const closed = ending.server.close(10_000);
  expect(await goaway).toBe(constants.NGHTTP2_NO_ERROR);
  await isSilentClosed;
  for (const release of waiting.splice(0)) release();
  expect(await response).toEqual({ status: 200, body: 'held' });
  expect(await closed).toBe('clean');
});
