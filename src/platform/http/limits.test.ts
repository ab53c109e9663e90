import { afterEach, describe, expect, test } from 'vitest';
import { type RouteServer, type RouteServerOptions, startRouteServer, until } from '#test/support/route-server.ts';
import { json } from './response.ts';
import type { Route } from './route.ts';

/** Releases the response of a request to `/held`. */
let release: () => void = () => {};
/** Results of `beginWrite` in the handlers of `/written`. */
const writes: boolean[] = [];

async function held(): Promise<void> {
  await new Promise<void>((resolve) => {
    release = resolve;
  });
}

/** More than the operating system buffers for a client that does not read. */
const LARGE_BYTES = 8_000_000;
/** Number of served requests to `/large`. */
let large = 0;

const routes: Route[] = [
  { method: 'GET', path: '/', resource: 'human', errorFormat: 'page', handle: () => json(200, {}) },
  {
    method: 'GET',
    path: '/held',
    resource: 'human',
    errorFormat: 'page',
    handle: async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return json(200, {});
    },
  },
  {
    method: 'GET',
    path: '/asked-elsewhere',
    resource: 'human',
    errorFormat: 'page',
    timeLimitSeconds: 30,
    handle: async () => {
      await held();
      return json(200, {});
    },
  },
  {
    method: 'GET',
    path: '/written',
    resource: 'human',
    errorFormat: 'page',
    handle: async (context) => {
      if (context.query.get('late') !== undefined) await held();
      writes.push(context.beginWrite());
      if (context.query.get('late') === undefined) await held();
      return json(200, {});
    },
  },
  {
    method: 'GET',
    path: '/sign-in',
    resource: 'human',
    errorFormat: 'page',
    capacity: 'sign-in',
    handle: () => new Promise(() => {}),
  },
  {
    method: 'GET',
    path: '/probe',
    resource: 'health',
    errorFormat: 'plain-json',
    capacity: 'essential',
    handle: () => json(200, {}),
  },
  {
    method: 'GET',
    path: '/large',
    resource: 'human',
    errorFormat: 'page',
    handle: () => {
      large += 1;
      return { status: 200, headers: {}, body: Buffer.alloc(LARGE_BYTES, 'x') };
    },
  },
  {
    method: 'POST',
    path: '/oauth2/token',
    resource: 'oauth',
    errorFormat: 'oauth-json',
    cors: 'get-post',
    handle: async (context) =>
      json(200, Object.fromEntries([...(await context.readForm()).names()].map((n) => [n, 1]))),
  },
  {
    method: 'POST',
    path: '/form',
    resource: 'human',
    errorFormat: 'page',
    handle: async (context) => json(200, (await context.readForm()).get('a') ?? null),
  },
];

let service: RouteServer | undefined;
afterEach(async () => {
  large = 0;
  await service?.close();
  service = undefined;
});

async function start(options: RouteServerOptions = {}): Promise<RouteServer> {
  service = await startRouteServer(routes, options);
  return service;
}

const FORM = 'content-type: application/x-www-form-urlencoded\r\n';
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const GET_CLOSE = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

describe('limits of connections and requests (operations 9.1)', () => {
  test('closes connections beyond the limit of one address and serves others', async () => {
    const { connect, exchange, lines } = await start({ limits: { maxConnectionsPerAddress: 2 } });
    const open = [await connect(), await connect()];
    expect(await exchange(GET)).toBe('');
    expect(lines[0]).toMatch(
      /http\.connection\.rejected connection rejected reason=limit client\.address=127\.0\.0\.1$/,
    );
    open[0]?.destroy();
    await until(() => open[0]?.closed === true);
    await until(() => lines.length > 0);
    await expect.poll(() => exchange(GET_CLOSE)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('a trusted proxy may open more connections than one address', async () => {
    const trustedProxies = [{ address: '127.0.0.0', prefixLength: 8, family: 'ipv4' } as const];
    const { connect, exchange } = await start({ limits: { maxConnectionsPerAddress: 1 }, http: { trustedProxies } });
    await connect();
    await connect();
    expect(await exchange(GET_CLOSE)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('enforces the total connection limit', async () => {
    const trustedProxies = [{ address: '127.0.0.0', prefixLength: 8, family: 'ipv4' } as const];
    const { connect, exchange } = await start({ limits: { maxConnections: 1 }, http: { trustedProxies } });
    await connect();
    expect(await exchange(GET)).toBe('');
  });

  test('the last request allowed on a connection gets Connection: close', async () => {
    const { exchange } = await start({ limits: { maxRequestsPerConnection: 2 } });
    const reply = await exchange(GET + GET + GET);
    expect(reply.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    expect(reply.match(/connection: (close|keep-alive)/gi)).toEqual(['Connection: keep-alive', 'connection: close']);
  });

  test('requests after the last response are not served, not even without a response (RFC 9112 9.6, security S-150)', async () => {
    const { exchange, requestLines } = await start({ limits: { maxRequestsPerConnection: 1 } });
    await exchange(GET + GET);
    const hidden = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: x, chunked\r\n\r\n0\r\n\r\n';
    await exchange(hidden + GET);
    await exchange(GET_CLOSE);
    const statuses = (await requestLines(3)).map((line) => / HTTP\/1\.1" (\d+) /.exec(line)?.[1]);
    expect(statuses).toEqual(['200', '400', '200']);
  });

  test('rejects requests beyond max_in_flight with 503 and a Retry-After of 1 to 5 seconds', async () => {
    const { connect, exchange, server } = await start({ limits: { maxInFlight: 1 } });
    const held = await connect();
    held.write('GET /held HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => server.served === 1);
    for (const [head, shape] of [
      ['GET / HTTP/1.1', 'text/html'],
      ['POST /oauth2/token HTTP/1.1', '"error":"temporarily_unavailable"'],
    ] as const) {
      const reply = await exchange(`${head}\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(reply).toMatch(/^HTTP\/1\.1 503 .*retry-after: [1-5]\r\n/s);
      expect(reply).toContain(shape);
    }
    release();
    held.destroy();
    await until(() => server.served === 0);
    expect(await exchange(GET_CLOSE)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('routes with reserved capacity are served when all slots are taken, each kind up to its share (S-176)', async () => {
    const { connect, exchange, server } = await start({ limits: { maxInFlight: 1 } });
    const held = await connect();
    held.write('GET /held HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => server.served === 1);
    const ask = (path: string) => exchange(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(await ask('/')).toMatch(/^HTTP\/1\.1 503 /);
    expect(await ask('/probe')).toMatch(/^HTTP\/1\.1 200 /);
    const signingIn = await Promise.all(Array.from({ length: 8 }, () => connect()));
    for (const socket of signingIn) socket.write('GET /sign-in HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => server.served === 9);
    expect(await ask('/sign-in')).toMatch(/^HTTP\/1\.1 503 /);
    expect(await ask('/probe')).toMatch(/^HTTP\/1\.1 200 /);
    for (const socket of [held, ...signingIn]) socket.destroy();
  });

  test('a request takes a slot once its body has arrived (S-176)', async () => {
    const { connect, exchange, server } = await start({ limits: { maxInFlight: 1 } });
    const head = `POST /form HTTP/1.1\r\nHost: x\r\n${FORM}Connection: close\r\nContent-Length: 3\r\n\r\n`;
    const unfinished = await connect();
    let reply = '';
    unfinished.on('data', (bytes: Buffer) => {
      reply += bytes.toString();
    });
    unfinished.write(`${head}a=`);
    await until(() => server.served === 1);
    expect(await exchange(GET_CLOSE)).toMatch(/^HTTP\/1\.1 200 /);
    const held = await connect();
    held.write('GET /held HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => server.served === 2);
    unfinished.write('b');
    await until(() => unfinished.closed);
    expect(reply).toMatch(/^HTTP\/1\.1 503 .*retry-after: [1-5]\r\n/s);
    release();
    await until(() => server.served === 0);
    expect(await exchange(`${head}a=b`)).toMatch(/^HTTP\/1\.1 200 /);
    held.destroy();
  });

  /** Sends a request whose handler waits. @returns a function that releases it, and its response */
  async function hold(exchange: RouteServer['exchange'], path: string) {
    const before = release;
    const response = exchange(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    await until(() => release !== before);
    return { answer: response, letGo: release };
  }

  test('while the event loop lags, rejects pages and serves machine routes', async () => {
    const { exchange, server } = await start({ lag: { isLagging: true } });
    // A single request is served late: the machine is busy, and a rejection would not help.
    expect(await exchange(GET_CLOSE)).toMatch(/^HTTP\/1\.1 200 /);
    expect(server.isOverloaded).toBe(false);
    const held = [];
    for (let count = 0; count < 7; count += 1) held.push(await hold(exchange, '/held'));
    expect(await exchange(GET_CLOSE)).toMatch(/^HTTP\/1\.1 503 .*retry-after: [1-5]\r\n/s);
    const post = `POST /oauth2/token HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${FORM}Content-Length: 3\r\n\r\na=b`;
    expect(await exchange(post)).toMatch(/^HTTP\/1\.1 200 /);
    expect(server.isOverloaded).toBe(false);
    for (const { letGo } of held) letGo();
    for (const { answer: response } of held) expect(await response).toMatch(/^HTTP\/1\.1 200 /);
    expect(await exchange(GET_CLOSE)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('a handler that exceeds its time gets 503, and its own response is discarded', async () => {
    const { exchange, lines, server } = await start({ limits: { handlerTimeoutSeconds: 0.05 } });
    const reply = await exchange('GET /held HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(reply).toMatch(/^HTTP\/1\.1 503 .*retry-after: 5\r\n/s);
    release();
    await until(() => server.served === 0);
    expect(lines.filter((line) => line.includes('http.server.response'))).toHaveLength(1);
  });

  test('a handler that waits for another server has the time limit of its route', async () => {
    const { exchange, server } = await start({ limits: { handlerTimeoutSeconds: 0.05 } });
    const asking = await hold(exchange, '/asked-elsewhere');
    const later = await hold(exchange, '/held');
    expect(await later.answer).toMatch(/^HTTP\/1\.1 503 /);
    asking.letGo();
    later.letGo();
    expect(await asking.answer).toMatch(/^HTTP\/1\.1 200 /);
    await until(() => server.served === 0);
  });

  test('writes nothing once the time limit has responded, and waits for writes in progress', async () => {
    const { exchange, server } = await start({ limits: { handlerTimeoutSeconds: 0.05 } });
    const late = await hold(exchange, '/written?late=1');
    expect(await late.answer).toMatch(/^HTTP\/1\.1 503 /);
    late.letGo();
    await until(() => server.served === 0);
    expect(writes).toEqual([false]);
    const inTime = await hold(exchange, '/written');
    const later = await hold(exchange, '/held');
    expect(await later.answer).toMatch(/^HTTP\/1\.1 503 /);
    inTime.letGo();
    later.letGo();
    expect(await inTime.answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(writes).toEqual([false, true]);
    await until(() => server.served === 0);
  });

  test('a body that does not arrive in time is a 408 on the request line, not a rejected connection', async () => {
    const { exchange, lines } = await start({ limits: { headersTimeoutSeconds: 0.1, requestTimeoutSeconds: 0.1 } });
    const reply = await exchange(`POST /oauth2/token HTTP/1.1\r\nHost: x\r\n${FORM}Content-Length: 9\r\n\r\na=`);
    expect(reply).toMatch(/^HTTP\/1\.1 408 /);
    expect(lines.filter((line) => !line.includes(' DEBUG '))).toEqual([
      expect.stringContaining('"POST /oauth2/token HTTP/1.1" 408 Request Timeout'),
    ]);
  });

  test('rejects a body announced as too large before reading it, and the response arrives while the client sends', async () => {
    const { connect } = await start();
    const socket = await connect();
    let reply = '';
    socket.on('data', (bytes: Buffer) => {
      reply += bytes.toString();
    });
    socket.write(`POST /oauth2/token HTTP/1.1\r\nHost: x\r\n${FORM}Content-Length: 1000000000\r\n\r\n`);
    socket.write(Buffer.alloc(1_000_000, 'x'));
    await until(() => socket.closed, 5000);
    expect(reply).toMatch(/^HTTP\/1\.1 413 .*connection: close\r\n.*"invalid_request"/s);
  });

  test('rejects a chunked body at the byte that exceeds the limit', async () => {
    const { exchange } = await start();
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    const reply = await exchange(
      `POST /oauth2/token HTTP/1.1\r\nHost: x\r\n${FORM}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}`,
    );
    expect(reply).toMatch(/^HTTP\/1\.1 413 .*connection: close\r\n/s);
  });

  test('ignores a small body on GET and closes the connection on a large one', async () => {
    const { exchange } = await start();
    const small = await exchange(`GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello${GET_CLOSE}`);
    expect(small.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    const large = await exchange('GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\n');
    expect(large).toMatch(/^HTTP\/1\.1 200 .*connection: close\r\n/s);
  });

  test('sends 100 Continue only when the body is wanted', async () => {
    const { exchange } = await start();
    const ask = (length: number) =>
      exchange(
        `POST /oauth2/token HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\n${FORM}` +
          `Content-Length: ${length}\r\n\r\na=b`,
      );
    expect(await ask(3)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
    expect(await ask(100_000)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('answers pipelined requests in order, one after another', async () => {
    const { connect, server } = await start();
    const socket = await connect();
    socket.write(`GET /held HTTP/1.1\r\nHost: x\r\n\r\n${GET.repeat(16)}`);
    await until(() => server.served === 1);
    let reply = '';
    socket.on('data', (bytes: Buffer) => {
      reply += bytes.toString();
    });
    release();
    await until(() => (reply.match(/HTTP\/1\.1 200 OK/g) ?? []).length === 17);
    socket.destroy();
  });

  test('cuts a connection on which a 17th request would wait, and serves none of those waiting (S-175)', async () => {
    const { connect, exchange, lines, server } = await start();
    const socket = await connect();
    socket.write(`GET /held HTTP/1.1\r\nHost: x\r\n\r\n${GET.repeat(17)}`);
    await until(() => socket.closed);
    release();
    await until(() => server.served === 0);
    expect(await exchange(GET_CLOSE)).toMatch(/^HTTP\/1\.1 200 /);
    const requests = lines.filter((line) => line.includes('http.server.response'));
    expect(requests.map((line) => / (GET-\d+) - "GET (\S+) /.exec(line)?.slice(1))).toEqual([
      ['GET-1', '/held'],
      ['GET-2', '/'],
    ]);
    expect(lines.join('\n')).toMatch(/http\.connection\.rejected connection rejected reason=limit client\.address=/);
  });

  test('requests read together and answered immediately do not starve other connections (S-175)', async () => {
    const { connect, lines } = await start();
    const socket = await connect();
    let reply = '';
    socket.on('data', (bytes: Buffer) => {
      reply += bytes.toString();
    });
    const responses = () => (reply.match(/HTTP\/1\.1 200 OK/g) ?? []).length;
    // The server reads all of it in one chunk. Node.js's parser allows a response to a request with a body before it
    // parses the next.
    socket.write(`POST /oauth2/token HTTP/1.1\r\nHost: x\r\n${FORM}Content-Length: 3\r\n\r\na=b`.repeat(100));
    await until(() => socket.closed || responses() === 100);
    expect(responses()).toBeLessThanOrEqual(1);
    expect(lines.join('\n')).toMatch(/http\.connection\.rejected connection rejected reason=limit client\.address=/);
  });

  test('serves the next request only when the previous response has left the process (S-175)', async () => {
    const { connect, server } = await start();
    const socket = await connect();
    socket.pause();
    socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(10));
    await until(() => large > 0);
    // Responses are sent in the same turn of the event loop, or wait for the reader.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(large).toBe(1);
    let received = 0;
    socket.on('data', (bytes: Buffer) => {
      received += bytes.length;
    });
    socket.resume();
    await until(() => received > 10 * LARGE_BYTES);
    expect(large).toBe(10);
    expect(server.served).toBe(0);
    socket.destroy();
  });

  describe('input that reaches no route, behind waiting requests (S-185)', () => {
    test.each([
      ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
      ['an unknown method', 'FROB / HTTP/1.1\r\nHost: x\r\n\r\n', 405],
      ['a malformed request', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n', 400],
      ['a head that is too large', `GET / HTTP/1.1\r\nHost: x\r\na: ${'b'.repeat(30_000)}\r\n\r\n`, 431],
      ['a broken body', 'POST /form HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n', 415],
      ['a broken form', `POST /form HTTP/1.1\r\nHost: x\r\n${FORM}Transfer-Encoding: chunked\r\n\r\nx\r\n`, 400],
    ])('%s is answered last and closes the connection', async (_case, bytes, status) => {
      const { connect, server } = await start();
      const socket = await connect();
      let reply = '';
      socket.on('data', (part: Buffer) => {
        reply += part.toString();
      });
      socket.write('GET /held HTTP/1.1\r\nHost: x\r\n\r\n');
      await until(() => server.served === 1);
      socket.write(`GET /large HTTP/1.1\r\nHost: x\r\n\r\n${bytes}${GET}`);
      // The earlier responses are still pending, so this one has to wait.
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      expect(reply).toBe('');
      release();
      await until(() => socket.closed);
      const heads = reply.match(/HTTP\/1\.1 \d{3} |connection: close/gi);
      expect(heads).toEqual(['HTTP/1.1 200 ', 'HTTP/1.1 200 ', `HTTP/1.1 ${status} `, expect.stringMatching(/close/i)]);
      expect(reply.length).toBeGreaterThan(LARGE_BYTES);
    });
  });
});

describe('forms', () => {
  async function post(path: string, body: string, type = 'application/x-www-form-urlencoded'): Promise<Response> {
    const { origin } = service ?? (await start());
    return fetch(origin + path, { method: 'POST', headers: { 'content-type': type }, body });
  }

  test.each([
    ['application/x-www-form-urlencoded', 200],
    ['application/x-www-form-urlencoded; charset=UTF-8', 200],
    ['Application/X-WWW-Form-Urlencoded;charset="utf-8"', 200],
    ['application/x-www-form-urlencoded; charset=utf-7', 415],
    ['application/x-www-form-urlencoded; charset=utf-16', 415],
    ['multipart/form-data; boundary=x', 415],
    ['text/plain', 415],
    ['application/json', 415],
  ])('a page accepts forms in UTF-8 only: %s is %i (security S-161)', async (type, status) => {
    expect((await post('/form', 'a=b', type)).status).toBe(status);
  });

  test.each([
    ['invalid UTF-8', 'a=%ff%fe'],
    ['over-long UTF-8', 'a=%c0%af'],
    ['a surrogate', 'a=%ed%a0%80'],
    ['a truncated character', 'a=%e2%82'],
    ['a bad escape', 'a=%zz'],
    ['NUL', 'a=b%00c'],
    ['101 fields', Array.from({ length: 101 }, (_, index) => `f${index}=1`).join('&')],
  ])('%s is rejected with 400 on pages and machine routes (security S-159)', async (_case, body) => {
    expect((await post('/form', body)).status).toBe(400);
    const response = await post('/oauth2/token', body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: 'invalid_request' });
  });

  test('a page rejects a repeated field and one over 8 KiB; machine routes check these themselves', async () => {
    expect((await post('/form', 'a=1&a=2')).status).toBe(400);
    expect((await post('/form', `a=${'x'.repeat(8193)}`)).status).toBe(400);
    expect((await post('/form', `credential=${'x'.repeat(8193)}`)).status).toBe(200);
    expect((await post('/oauth2/token', 'a=1&a=2')).status).toBe(200);
  });

  test('names of object properties are ordinary fields (security S-157)', async () => {
    const response = await post('/oauth2/token', '__proto__=x&constructor.prototype=y&toString=z');
    expect(response.status).toBe(200);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});
