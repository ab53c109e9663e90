/** HTTP/2 on TLS listeners, with real clients and with attackers (operations 9.1, security S-142). */
import { execFile } from 'node:child_process';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { connect as connectTcp, createServer, type Socket } from 'node:net';
import { Agent, fetch } from 'undici';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Secret } from '#platform/base/secret.ts';
import { delay } from '#platform/base/tasks.ts';
import { FrameClient } from '#test/support/http2-frames.ts';
import { parseRequestLine, REQUEST_LINE } from '#test/support/log-expression.ts';
import {
  type RouteServer,
  type RouteServerOptions,
  startRouteServer,
  TEST_LIMITS,
  until,
} from '#test/support/route-server.ts';
import { selfSigned } from '#test/support/self-signed.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { Connection } from './connection.ts';
import { serveHttp2 } from './http2-connection.ts';
import type { Http2Response } from './http2-messages.ts';
import { json, plainText } from './response.ts';
import type { Route } from './route.ts';

const NAME = 'auth.example.test';
const pair = selfSigned([NAME]);
const waiting: (() => void)[] = [];
const LARGE = 'x'.repeat(3_000_000);

const shared = { resource: 'human', errorFormat: 'page' } as const;
const ROUTES: Route[] = [
  { ...shared, method: 'GET', path: '/peer', handle: ({ clientAddress }) => plainText(200, `${clientAddress}`) },
  { ...shared, method: 'GET', path: '/large', handle: () => plainText(200, LARGE) },
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
    method: 'GET',
    path: '/streamed',
    handle: ({ query }) => ({ status: 200, headers: {}, body: parts(query.get('fail') !== undefined) }),
  },
  {
    ...shared,
    method: 'GET',
    path: '/slow',
    handle: async () => {
      await delay(5);
      return json(200, {});
    },
  },
  {
    ...shared,
    method: 'POST',
    path: '/form',
    handle: async (context) => plainText(200, (await context.readForm()).get('a') ?? ''),
  },
];

let unfinished = 0;

async function* parts(isFailing: boolean): AsyncGenerator<string> {
  unfinished += 1;
  try {
    for (let part = 0; part < 20; part += 1) {
      await delay(0);
      if (isFailing && part === 10) throw new Error('connection to the database lost');
      yield LARGE.slice(0, 100_000);
    }
  } finally {
    unfinished -= 1;
  }
}

async function start(limits: RouteServerOptions['limits'] = {}): Promise<RouteServer> {
  const tls = {
    ...{ certificate: new Secret(pair.cert), key: new Secret(pair.key), password: undefined },
    ...{ keyEncoding: 'utf8' as const, minVersion: 'TLSv1.2' as const },
  };
  const binds = [{ host: '127.0.0.1', port: 0 }];
  const listeners = [{ name: 'test', resources: [{ name: 'human' as const }], binds, prefix: undefined, tls }];
  return await startRouteServer(ROUTES, { http: { listeners }, limits });
}

const server = await sharedByTests(start());

function client({ port }: RouteServer = server): ClientHttp2Session {
  const session = connect(`https://${NAME}:${port}`, {
    ca: pair.cert,
    lookup: (_name, _options, found) => found(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  session.on('error', () => {});
  return session;
}

const frames = (of: RouteServer = server): Promise<FrameClient> => FrameClient.connect(of.port, pair.cert, NAME);

interface TestResponse {
  readonly status: number | undefined;
  readonly headers: Record<string, unknown>;
  readonly body: string;
  readonly resetCode: number | undefined;
}

function responseOf(stream: ClientHttp2Stream): Promise<TestResponse> {
  return new Promise((resolve) => {
    let headers: Record<string, unknown> = {};
    let body = '';
    stream.on('response', (received) => {
      headers = received;
    });
    stream.on('error', () => {});
    stream.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    stream.on('close', () =>
      resolve({ status: Number(headers[':status']) || undefined, headers, body, resetCode: stream.rstCode }),
    );
  });
}

function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string): Promise<TestResponse> {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return responseOf(stream);
}

const FORM = { ':method': 'POST', ':path': '/form', 'content-type': 'application/x-www-form-urlencoded' };
const lines = (of: RouteServer = server): string[] =>
  of.lines.filter((line) => line.includes(' http.server.response '));
const rejected = (of: RouteServer = server): string[] =>
  of.lines.filter((line) => line.includes('http.connection.rejected'));

beforeEach(() => {
  for (const release of waiting.splice(0)) release();
});

describe('an HTTP/2 client (ALPN h2, operations 1.7.3)', () => {
  test('gets many responses concurrently over one connection, each with its own log line and number', async () => {
    const before = lines().length;
    const session = client();
    const responses = await Promise.all(Array.from({ length: 300 }, () => ask(session, { ':path': '/peer' })));
    expect(new Set(responses.map(({ status, body }) => `${status} ${body}`))).toEqual(new Set(['200 127.0.0.1']));
    const written = lines().slice(before);
    expect(written).toHaveLength(300);
    expect(written.every((line) => REQUEST_LINE.test(line) && line.includes('"GET /peer HTTP/2.0" 200 OK'))).toBe(true);
    expect(new Set(written.map((line) => parseRequestLine(line).id)).size).toBe(300);
    session.close();
  });

  test('sends forms with and without Content-Length, and after 100 Continue', async () => {
    const session = client();
    expect((await ask(session, FORM, 'a=b')).body).toBe('b');
    expect((await ask(session, { ...FORM, 'content-length': 3 }, 'a=c')).body).toBe('c');
    const waits = session.request({ ...FORM, expect: '100-continue' });
    const response = responseOf(waits);
    waits.on('continue', () => waits.end('a=d'));
    expect((await response).body).toBe('d');
    session.close();
  });

  test('gets 404, 405, 413, 414, 415 and 431 as over HTTP/1.1 and continues on the same connection', async () => {
    const session = client();
    const status = async (headers: OutgoingHttpHeaders, body?: string) => (await ask(session, headers, body)).status;
    expect(await status({ ':path': '/nothing' })).toBe(404);
    expect(await status({ ':path': '/peer', ':method': 'DELETE' })).toBe(405);
    expect(await status({ ':path': '/peer', ':method': 'BREW' })).toBe(405);
    expect(await status({ ':path': '/peer', ':method': 'HEAD' })).toBe(200);
    expect(await status({ ':path': '/peer', ':method': 'OPTIONS' })).toBe(204);
    expect(await status({ ':path': '*', ':method': 'OPTIONS' })).toBe(204);
    expect(await status(FORM, 'a='.padEnd(100_000, 'x'))).toBe(413);
    const announced = session.request({ ...FORM, 'content-length': 10_000_000 });
    expect((await responseOf(announced)).status).toBe(413);
    expect(await status({ ':path': `/${'x'.repeat(8200)}` })).toBe(414);
    expect(await status({ ...FORM, 'content-type': 'text/plain' }, 'a=b')).toBe(415);
    expect(await status({ ':path': '/peer', 'x-large': 'x'.repeat(17_000) })).toBe(431);
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`x-${index}`, '1']));
    expect(await status({ ':path': '/peer', ...many })).toBe(431);
    expect(await status({ ':path': '/peer' })).toBe(200);
    session.close();
  });

  test('gets the headers of pages, no header field that HTTP/2 forbids and no push', async () => {
    const session = client();
    session.on('stream', () => expect.unreachable('a push'));
    const { headers } = await ask(session, { ':path': '/peer' });
    for (const name of ['connection', 'keep-alive', 'transfer-encoding', 'upgrade'])
      expect(headers).not.toHaveProperty(name);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'content-length': '9' });
    session.close();
  });

  test('curl gets pages and sends forms', async () => {
    const run = (path: string, body?: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const options = ['-sSk', '--http2', '-w', ' %{http_code} %{http_version}'];
        const form = body === undefined ? [] : ['--data-binary', '@-'];
        const place = ['--resolve', `${NAME}:${server.port}:127.0.0.1`, `https://${NAME}:${server.port}${path}`];
        const child = execFile('curl', [...options, ...form, ...place], (error, out) =>
          error === null ? resolve(out) : reject(error),
        );
        child.stdin?.end(body);
      });
    expect(await run('/peer')).toBe('127.0.0.1 200 2');
    expect(await run('/form', 'a=b')).toBe('b 200 2');
    expect(await run('/form', 'a='.padEnd(200_000, 'x'))).toMatch(/ 413 2$/);
  });

  test('undici sends requests, including forms', async () => {
    const agent = new Agent({
      allowH2: true,
      connect: {
        ca: pair.cert,
        lookup: (_name, _options, found) => found(null, [{ address: '127.0.0.1', family: 4 }]),
      },
    });
    const url = `https://${NAME}:${server.port}`;
    const texts = await Promise.all(
      Array.from({ length: 20 }, async () => await (await fetch(`${url}/peer`, { dispatcher: agent })).text()),
    );
    expect(new Set(texts)).toEqual(new Set(['127.0.0.1']));
    const sent = await fetch(`${url}/form`, {
      method: 'POST',
      body: new URLSearchParams({ a: 'b' }),
      dispatcher: agent,
    });
    expect(await sent.text()).toBe('b');
    expect(
      lines()
        .slice(-21)
        .every((line) => line.includes('HTTP/2.0')),
    ).toBe(true);
    await agent.close();
  });

  test('a client that disconnects while sending its body leaves one line with 400 (operations 5.1)', async () => {
    const before = lines().length;
    const session = client();
    const stream = session.request({ ...FORM, 'content-length': 100 });
    stream.on('error', () => {});
    stream.write('a=');
    await until(() => server.server.served === 1);
    stream.close(constants.NGHTTP2_CANCEL);
    await until(() => lines().length > before);
    expect(lines().at(-1)).toContain('"POST /form HTTP/2.0" 400 ');
    session.close();
  });

  test('a later disconnect ends the handler, logs the status and emits http.server.aborted', async () => {
    const session = client();
    const stream = session.request({ ':path': '/held' });
    stream.on('error', () => {});
    await until(() => waiting.length === 1);
    stream.close(constants.NGHTTP2_CANCEL);
    await ask(session, { ':path': '/peer' });
    for (const release of waiting.splice(0)) release();
    const index = (): number => server.lines.findIndex((line) => line.includes('"GET /held HTTP/2.0" 200 '));
    await until(() => index() !== -1);
    expect(server.lines[index() + 1]).toContain('DEBUG http.server.aborted');
    session.close();
  });
});

describe('a streamed response over HTTP/2', () => {
  const streamed = () => server.lines.filter((line) => line.includes('http.server.streamed')).at(-1);

  test('is sent completely, and not read for HEAD', async () => {
    const session = client();
    const response = await ask(session, { ':path': '/streamed' });
    expect(response).toMatchObject({ status: 200, resetCode: 0 });
    expect(response.body).toHaveLength(2_000_000);
    expect(response.headers).not.toHaveProperty('content-length');
    expect(streamed()).toContain('outcome=complete bytes=2000000');
    const before = server.lines.length;
    const head = await ask(session, { ':path': '/streamed', ':method': 'HEAD' });
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(server.lines.slice(before).join()).not.toContain('http.server.streamed');
    session.close();
  });

  test('is reset if it fails, and the connection stays open', async () => {
    const session = client();
    const { resetCode, status } = await ask(session, { ':path': '/streamed?fail=1' });
    expect({ resetCode, status }).toEqual({ status: 200, resetCode: constants.NGHTTP2_INTERNAL_ERROR });
    await until(() => streamed()?.includes('outcome=failed') === true);
    expect((await ask(session, { ':path': '/peer' })).status).toBe(200);
    session.close();
  });

  test('ends when the client cancels it', async () => {
    const session = client();
    const stream = session.request({ ':path': '/streamed' });
    stream.on('error', () => {});
    // The client does not read, so the flow-control window is full before the last part.
    await until(() => unfinished === 1);
    stream.close(constants.NGHTTP2_CANCEL);
    await until(() => unfinished === 0);
    await until(() => streamed()?.includes('outcome=aborted') === true);
    session.close();
  });
});

describe('ambiguous requests (RFC 9113 8.2, 8.3, security S-149 to S-152)', () => {
  const GOOD = [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':authority', NAME],
    [':path', '/peer'],
  ] as const;
  const replaced = (name: string, value: string) =>
    GOOD.map((one) => (one[0] === name ? ([name, value] as const) : one));
  const without = (name: string) => GOOD.filter((one) => one[0] !== name);

  test.each([
    ['as it should be', GOOD, '200'],
    ['the same host twice', [...GOOD, ['host', NAME]], '200'],
    ['host instead of :authority', [...without(':authority'), ['host', NAME]], '200'],
    ['another host', [...GOOD, ['host', 'other.example']], '400'],
    ['two hosts', [...GOOD, ['host', NAME], ['host', 'other.example']], 'reset'],
    ['no host', without(':authority'), 'reset'],
    ['an empty :authority', replaced(':authority', ''), 'refused'],
    ['a scheme of another kind', replaced(':scheme', 'gopher'), '400'],
    ['two caller credentials', [...GOOD, ['authorization', 'Bearer a'], ['authorization', 'Bearer b']], '400'],
    ['a fragment in the path', replaced(':path', '/peer#x'), '400'],
    ['no slash', replaced(':path', 'peer'), 'reset'],
    ['an absolute address as path', replaced(':path', `https://${NAME}/peer`), 'reset'],
    ['an empty path', replaced(':path', ''), 'reset'],
    ['asterisk for GET', replaced(':path', '*'), 'reset'],
    ['a second line in the path', replaced(':path', '/peer HTTP/1.1\r\nhost: x'), 'reset'],
    ['a second line in a field, which is dropped', [...GOOD, ['x-a', 'b\r\nx-c: d']], '200'],
    ['a method with a blank', replaced(':method', 'GET / HTTP/1.1'), 'reset'],
    ['a pseudo-header twice', [...GOOD, [':path', '/held']], 'reset'],
    ['a pseudo-header after fields', [['x-a', 'b'], ...GOOD], 'reset'],
    ['an unknown pseudo-header', [...GOOD, [':origin', 'x']], 'reset'],
    ['a pseudo-header of responses', [...GOOD, [':status', '200']], 'reset'],
    ['a capital in a name', [...GOOD, ['X-A', 'b']], 'reset'],
    ['connection', [...GOOD, ['connection', 'close']], 'reset'],
    ['transfer-encoding', [...GOOD, ['transfer-encoding', 'chunked']], 'reset'],
    ['upgrade', [...GOOD, ['upgrade', 'h2c']], 'reset'],
    ['keep-alive', [...GOOD, ['keep-alive', 'timeout=5']], 'reset'],
    ['proxy-connection', [...GOOD, ['proxy-connection', 'close']], 'reset'],
    ['te', [...GOOD, ['te', 'gzip']], 'reset'],
    ['two lengths', [...GOOD, ['content-length', '0'], ['content-length', '5']], 'reset'],
    ['a length that the frames do not have', [...GOOD, ['content-length', '5']], 'reset'],
    [
      'CONNECT',
      [
        [':method', 'CONNECT'],
        [':authority', 'other.example:443'],
      ],
      '405',
    ],
    ['a WebSocket', [...replaced(':method', 'CONNECT'), [':protocol', 'websocket']], 'reset'],
  ] as const)('%s', async (_name, fields, expected) => {
    const peer = await frames();
    peer.request(1, fields);
    const outcome = await peer.outcomeOf(1);
    if (expected === 'refused') expect(['400', 'reset']).toContain(outcome);
    else expect(outcome).toBe(expected);
    peer.close();
  });

  test('ignores Upgrade: h2c and speaks no HTTP/2 without ALPN', async () => {
    const socket = await FrameClient.socket(server.port, pair.cert, NAME, ['http/1.1']);
    socket.write(
      `GET /peer HTTP/1.1\r\nHost: ${NAME}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    );
    expect(String(await new Promise((resolve) => socket.once('data', resolve)))).toMatch(/^HTTP\/1\.1 200 OK/);
    socket.destroy();
  });
});

test('rejects HTTP/2 without TLS with its own reason, also behind a PROXY header', async () => {
  const binds = [{ host: '127.0.0.1', port: 0 }];
  const listener = { name: 'plain', resources: [{ name: 'human' as const }], binds, prefix: undefined };
  const plain = await startRouteServer(ROUTES, { http: { listeners: [listener] } });
  const session = connect(plain.origin);
  await expect(new Promise((_resolve, reject) => session.on('error', reject))).rejects.toThrow();
  const listeners = [{ ...listener, proxyProtocol: { from: undefined } }];
  const proxied = await startRouteServer(ROUTES, { http: { listeners } });
  const preface = 'PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
  expect(await proxied.exchange(preface)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(rejected(plain)).toEqual([expect.stringContaining('reason=http2 status=400 client.address=127.0.0.1')]);
  expect(rejected(proxied)).toEqual([expect.stringContaining('reason=http2 status=400 client.address=192.0.2.7')]);
  await plain.close();
  await proxied.close();
});

describe('floods (S-142)', () => {
  const HEAD = [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':authority', NAME],
    [':path', '/held'],
  ] as const;
  const CALM = constants.NGHTTP2_ENHANCE_YOUR_CALM;

  test('requests reset immediately end the connection after 200, and most start no work (rapid reset)', async () => {
    const before = lines().length + waiting.length;
    const peer = await frames();
    peer.together(() => {
      for (let index = 0; index < 250; index += 1) {
        peer.request(2 * index + 1, HEAD);
        peer.reset(2 * index + 1);
      }
    });
    expect(await peer.goawayCode()).toBe(CALM);
    expect(rejected().at(-1)).toMatch(/WARN http\.connection\.rejected .*reason=limit client\.address=127\.0\.0\.1/);
    expect(lines().length + waiting.length - before).toBeLessThan(50);
  });

  test('requests reset one after another, each once it is served, end the connection too', async () => {
    const peer = await frames();
    for (let index = 0; index < 201 && !peer.isClosed; index += 1) {
      peer.request(2 * index + 1, HEAD);
      const served = waiting.length;
      await until(() => waiting.length > served || peer.isClosed);
      peer.reset(2 * index + 1);
    }
    expect(await peer.goawayCode()).toBe(CALM);
    expect(waiting.length).toBeLessThanOrEqual(202);
  });

  test.each(['ping', 'settings'] as const)(
    'more than 200 %s frames in ten seconds end the connection',
    async (kind) => {
      const peer = await frames();
      for (let index = 0; index < 250; index += 1) peer[kind]();
      expect(await peer.goawayCode()).toBe(CALM);
    },
  );

  test('as many as a normal client needs do not', async () => {
    const peer = await frames();
    for (let index = 0; index < 150; index += 1) peer.ping();
    peer.request(1, [...HEAD.slice(0, 3), [':path', '/peer']]);
    expect(await peer.outcomeOf(1)).toBe('200');
    peer.close();
  });

  test('an endless header block ends the connection (CONTINUATION flood)', async () => {
    const peer = await frames();
    peer.request(1, HEAD, { isEnd: false });
    for (let index = 0; index < 2000 && !peer.isClosed; index += 1) peer.continuation(1);
    await until(() => peer.isClosed);
    expect(waiting).toEqual([]);
  });

  test('serves 100 of 1,000 concurrent streams and refuses the others', async () => {
    const peer = await frames();
    for (let index = 0; index < 1000; index += 1) peer.request(2 * index + 1, HEAD);
    await until(() => waiting.length >= 100);
    peer.ping();
    await until(() => peer.isClosed || peer.pongs > 0);
    expect(waiting.length).toBe(100);
    peer.close();
  });
});

describe('a response that the client does not read (operations 9.1, S-139)', () => {
  let served = 0;
  beforeEach(() => {
    served = 0;
  });

  /** Opens an HTTP/2 connection without TLS to a server whose responses have 3 MB. */
  async function opened(
    respond = (response: Http2Response) => response.end(LARGE),
  ): Promise<{ connection: Connection; socket: Socket }> {
    const listener = createServer();
    const accepted = new Promise<Connection>((resolve) => {
      listener.once('connection', (socket) => {
        const connection = new Connection(socket, { address: '127.0.0.1', isTrusted: false });
        serveHttp2({
          limits: () => TEST_LIMITS,
          serve: (_connection, _request, response) => {
            response.writeHead(200, {});
            respond(response);
            served += 1;
          },
          report: () => {},
        })(connection);
        resolve(connection);
      });
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const address = listener.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const socket = connectTcp(port, '127.0.0.1');
    socket.on('error', () => {});
    const connection = await accepted;
    listener.close();
    return { connection, socket };
  }

  test('ends its stream after 30 seconds, and the connection stays open', async () => {
    const { connection, socket } = await opened();
    const session = connect('http://127.0.0.1', { createConnection: () => socket });
    const stream = session.request();
    // The flow-control window is full, because the client does not read.
    await new Promise((resolve) => stream.on('response', resolve));
    const given = performance.now();
    connection.resetIfStuck(given + 29_000);
    const clock = vi.spyOn(performance, 'now').mockReturnValue(given + 20_000);
    const others = await ask(session, {});
    clock.mockRestore();
    expect([others.status, others.body.length]).toEqual([200, LARGE.length]);
    const closed = new Promise((resolve) => stream.on('close', resolve));
    connection.extendDeadlines(12_000);
    connection.resetIfStuck(given + 41_000);
    expect(stream.closed).toBe(false);
    connection.resetIfStuck(given + 43_000);
    stream.on('error', () => {}).resume();
    await closed;
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
    expect(connection.socket.destroyed).toBe(false);
    session.destroy();
  });

  test('gives a client as long for each part of a stream, and does not count the time until the next part', async () => {
    const { connection, socket } = await opened((response) => {
      response.write(Buffer.alloc(10_000), () => response.write(Buffer.alloc(1_000_000), () => {}));
    });
    const session = connect('http://127.0.0.1', { createConnection: () => socket });
    const stream = session.request();
    stream.on('error', () => {}).resume();
    let length = 0;
    stream.on('data', ({ length: more }: Buffer) => {
      length += more;
    });
    await until(() => length === 1_010_000);
    await delay(20);
    connection.resetIfStuck(performance.now() + 60_000);
    expect(stream.closed).toBe(false);
    const other = session.request();
    other.on('error', () => {});
    await new Promise((resolve) => other.on('response', resolve));
    await until(() => served === 2);
    await delay(20);
    const closed = new Promise((resolve) => other.resume().on('close', resolve));
    connection.resetIfStuck(performance.now() + 29_000);
    expect(other.closed).toBe(false);
    session.destroy();
    await closed;
  });

  test('does not count time during which the event loop was blocked as idle', async () => {
    const { connection, socket } = await opened();
    const session = connect('http://127.0.0.1', { createConnection: () => socket });
    await new Promise((resolve) => session.on('remoteSettings', resolve));
    const now = performance.now();
    connection.extendDeadlines(10_000);
    connection.resetIfStuck(now + 1000 * TEST_LIMITS.keepAliveTimeoutSeconds + 9000);
    expect(session.closed).toBe(false);
    connection.resetIfStuck(now + 1000 * TEST_LIMITS.keepAliveTimeoutSeconds + 11_000);
    await until(() => session.closed);
  });

  test('ends the connection of a peer that does not even read the reset', async () => {
    const { connection, socket } = await opened();
    const peer = new FrameClient(socket);
    peer.takeNothing();
    for (const stream of [1, 3, 5, 7]) {
      peer.request(stream, [
        [':method', 'GET'],
        [':scheme', 'http'],
        [':authority', NAME],
        [':path', '/'],
      ]);
    }
    await until(() => served === 4);
    const now = performance.now();
    connection.resetIfStuck(now + 29_000);
    expect(connection.socket.destroyed).toBe(false);
    connection.resetIfStuck(now + 31_000);
    expect(connection.socket.destroyed).toBe(true);
    socket.destroy();
  });
});

describe('limits of a peer (operations 9.1)', () => {
  test('after max_requests_per_connection asks the client to reconnect and answers requests in flight', async () => {
    const few = await start({ maxRequestsPerConnection: 20 });
    const session = client(few);
    const goaway = new Promise<number>((resolve) => session.on('goaway', resolve));
    const responses = await Promise.all(Array.from({ length: 50 }, () => ask(session, { ':path': '/peer' })));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await goaway).toBe(constants.NGHTTP2_NO_ERROR);
    await until(() => session.closed && session.destroyed);
    await few.close();
  });

  test('requests beyond max_in_flight get 503, however many streams carry them', async () => {
    const small = await start({ maxInFlight: 10 });
    const session = client(small);
    const held = Array.from({ length: 10 }, () => ask(session, { ':path': '/held' }));
    await until(() => waiting.length === 10);
    const responses = await Promise.all(Array.from({ length: 30 }, () => ask(session, { ':path': '/peer' })));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([503]));
    for (const release of waiting.splice(0)) release();
    expect(new Set((await Promise.all(held)).map(({ status }) => status))).toEqual(new Set([200]));
    session.close();
    await small.close();
  });

  test('closes an idle connection after keep_alive_timeout and a silent one after headers_timeout', async () => {
    const quick = await start({ keepAliveTimeoutSeconds: 0.5, headersTimeoutSeconds: 0.5, handlerTimeoutSeconds: 0.4 });
    const session = client(quick);
    const goaway = new Promise<number>((resolve) => session.on('goaway', resolve));
    const silent = await FrameClient.socket(quick.port, pair.cert, NAME, ['h2']);
    silent.resume();
    expect((await ask(session, { ':path': '/peer' })).status).toBe(200);
    expect(await goaway).toBe(constants.NGHTTP2_NO_ERROR);
    await until(() => session.destroyed && silent.destroyed);
    await quick.close();
  });

  test('a body that exceeds request_timeout gets 408, a handler that does gets 503', async () => {
    const quick = await start({ headersTimeoutSeconds: 0.2, requestTimeoutSeconds: 0.3, handlerTimeoutSeconds: 0.4 });
    const session = client(quick);
    const stream = session.request(FORM);
    const [late, slow] = [responseOf(stream), ask(session, { ':path': '/held' })];
    stream.write('a=');
    expect([(await late).status, (await slow).status]).toEqual([408, 503]);
    expect((await ask(session, { ':path': '/peer' })).status).toBe(200);
    session.close();
    await quick.close();
  });
});

describe('server shutdown (operations 8.5)', () => {
  test('sends GOAWAY and loses no request', async () => {
    const ending = await start();
    const outcomes: (number | undefined)[] = [];
    let isStopping = false;
    const run = async (): Promise<void> => {
      for (;;) {
        const session = client(ending);
        const isOpen = await new Promise<boolean>((resolve) => {
          session.once('connect', () => resolve(true));
          session.once('close', () => resolve(false));
        });
        if (!isOpen && isStopping) return;
        // Like real clients, sends nothing after GOAWAY.
        let isEnding = false;
        session.once('goaway', () => {
          isEnding = true;
        });
        while (!isEnding && !session.closed) {
          outcomes.push(
            ...(await Promise.all(Array.from({ length: 5 }, () => ask(session, { ':path': '/slow' })))).map(
              ({ status }) => status,
            ),
          );
        }
      }
    };
    const clients = Array.from({ length: 4 }, run);
    await until(() => outcomes.length > 100);
    isStopping = true;
    const closed = ending.server.close(10_000);
    await Promise.all(clients);
    expect(await closed).toBe('clean');
    expect(new Set(outcomes)).toEqual(new Set([200]));
  });

  test('waits for requests in flight and closes idle connections', async () => {
    const ending = await start();
    const [busy, idle] = [client(ending), client(ending)];
    const response = ask(busy, { ':path': '/held' });
    await until(() => waiting.length === 1 && idle.connecting === false);
    const closed = ending.server.close(10_000);
    await until(() => idle.destroyed);
    for (const release of waiting.splice(0)) release();
    expect((await response).body).toBe('held');
    expect(await closed).toBe('clean');
  });
});
