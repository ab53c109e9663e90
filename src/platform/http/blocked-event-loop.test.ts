import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { delay, outside } from '#platform/base/tasks.ts';
import { type RouteServer, startRouteServer, until } from '#test/support/route-server.ts';
import { json } from './response.ts';
import type { Route } from './route.ts';
import type { HttpServer } from './server.ts';
import type { ServerLimits } from './serving.ts';

const LIMIT_SECONDS = 1;
/** Longer than the limit plus the second that Node.js adds to the keep-alive timeout. */
const BLOCKED_MS = 3000;
/** By then the server has accepted the connection and read its first bytes. */
const ACCEPTED_MS = 200;

const routes: Route[] = [
  { method: 'GET', path: '/', resource: 'human', errorFormat: 'page', handle: () => json(200, {}) },
  {
    method: 'POST',
    path: '/oauth2/token',
    resource: 'oauth',
    errorFormat: 'oauth-json',
    handle: async (context) => {
      await context.readForm();
      return json(200, {});
    },
  },
  {
    method: 'GET',
    path: '/blocking',
    resource: 'human',
    errorFormat: 'page',
    handle: async () => {
      block();
      await outside(readFile(fileURLToPath(import.meta.url)));
      return json(200, {});
    },
  },
];

/** Blocks the event loop of this process, and with it the server. */
function block(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED_MS);
}

describe('after the event loop was blocked for longer than a timeout', () => {
  let server: RouteServer | undefined;

  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  /** Sends the first part and, while the event loop is blocked, the second. Returns what is received after it. */
  async function exchange(
    limits: Partial<ServerLimits>,
    parts: {
      readonly first: string;
      isReady?(server: HttpServer, received: string): boolean;
      readonly second: string;
    },
  ): Promise<string> {
    server = await startRouteServer(routes, { limits });
    const started = server;
    const socket = await started.connect();
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      received += text;
    });
    socket.write(parts.first);
    const { isReady } = parts;
    if (isReady === undefined) await delay(ACCEPTED_MS);
    else await until(() => isReady(started.server, received));
    received = '';
    // The kernel takes the bytes before this process is blocked.
    socket.write(parts.second);
    block();
    await until(() => received !== '' || socket.closed);
    socket.destroy();
    return received;
  }

  test('serves a request whose head arrived in the meantime', async () => {
    const reply = await exchange(
      { headersTimeoutSeconds: LIMIT_SECONDS },
      { first: 'GET / HTTP/1.1\r\n', second: 'Host: x\r\n\r\n' },
    );
    expect(reply).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('serves a request whose body arrived in the meantime', async () => {
    const head =
      'POST /oauth2/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n';
    const reply = await exchange(
      { headersTimeoutSeconds: LIMIT_SECONDS, requestTimeoutSeconds: LIMIT_SECONDS },
      { first: `${head}\r\n`, isReady: ({ served }) => served === 1, second: 'a=b' },
    );
    expect(reply).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('serves the next request on a connection that was idle', async () => {
    const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
    const reply = await exchange(
      { keepAliveTimeoutSeconds: LIMIT_SECONDS },
      { first: get, isReady: (_, received) => received.endsWith('{}'), second: get },
    );
    expect(reply).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('lets a handler finish', async () => {
    server = await startRouteServer(routes, { limits: { handlerTimeoutSeconds: LIMIT_SECONDS } });
    const reply = await fetch(`${server.origin}/blocking`);
    expect(reply.status).toBe(200);
  });

  test('still refuses a head that never arrives', async () => {
    const reply = await exchange(
      { headersTimeoutSeconds: LIMIT_SECONDS },
      { first: 'GET / HTTP/1.1\r\n', second: 'Host: x\r\n' },
    );
    expect(reply).toMatch(/^HTTP\/1\.1 408 /);
  });
});
