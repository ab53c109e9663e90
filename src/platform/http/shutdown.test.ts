import { Agent, get } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { ExitError } from '#platform/base/errors.ts';
import { delay } from '#platform/base/tasks.ts';
import { type RouteServer, startRouteServer, until } from '#test/support/route-server.ts';
import { json } from './response.ts';
import type { Route } from './route.ts';

let release: () => void = () => {};

const routes: Route[] = [
  { method: 'GET', path: '/', resource: 'human', errorFormat: 'page', handle: () => json(200, {}) },
  {
    method: 'GET',
    path: '/slow',
    resource: 'human',
    errorFormat: 'page',
    handle: async () => {
      await delay(5);
      return json(200, {});
    },
  },
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
];

let service: RouteServer | undefined;
afterEach(async () => service?.close());

describe('shutdown (operations 8.5)', () => {
  test('tells connections to close before closing the listener', async () => {
    service = await startRouteServer(routes);
    const { port, server } = service;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await request(port, agent)).toBe('200');
    const closing = server.close(5000);
    // The first uses the open connection, which is then closed. The second opens a new one.
    expect([await request(port, agent), await request(port, agent)]).toEqual(['200', '200']);
    expect(await closing).toBe('clean');
    expect(await request(port, new Agent())).toBe('ECONNREFUSED');
  });

  test('while draining, every response asks to close the connection, and new ones are served', async () => {
    service = await startRouteServer(routes);
    service.server.drain();
    for (let count = 0; count < 2; count += 1) {
      expect(await service.exchange('GET / HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(
        /^HTTP\/1\.1 200 .*connection: close\r\n/s,
      );
    }
  });

  test('a request in flight gets Connection: close, and nothing new is accepted', async () => {
    service = await startRouteServer(routes);
    const socket = await service.connect();
    let reply = '';
    socket.on('data', (bytes: Buffer) => {
      reply += bytes.toString();
    });
    socket.write('GET /held HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => service?.server.served === 1);
    const closing = service.server.close(5000);
    // The listener stays open for half a second, for clients that reconnect.
    await delay(700);
    await expect(service.connect()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    release();
    expect(await closing).toBe('clean');
    await until(() => socket.closed);
    expect(reply).toMatch(/^HTTP\/1\.1 200 .*connection: close\r\n/s);
  });

  test('closes idle connections', async () => {
    service = await startRouteServer(routes);
    const sockets = [await service.connect(), await service.connect()];
    sockets[0]?.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    sockets[0]?.resume();
    await service.requestLines(1);
    expect(await service.server.close(5000)).toBe('clean');
    await until(() => sockets.every((socket) => socket.destroyed || socket.resume().readableEnded));
  });

  test('serves connections that were established but not yet accepted', async () => {
    service = await startRouteServer(routes);
    const responded = request(service.port, new Agent());
    await new Promise(process.nextTick);
    expect(await Promise.all([service.server.close(5000), responded])).toEqual(['clean', '200']);
  });

  test('answers requests sent on an idle connection but not yet read', async () => {
    service = await startRouteServer(routes);
    const socket = await service.connect();
    let reply = '';
    socket.on('data', (bytes: Buffer) => {
      reply += bytes.toString();
    });
    const closing = service.server.close(5000);
    await delay(100);
    // Continues after pending I/O and before the timers.
    await new Promise(setImmediate);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    // Blocks for longer than the idle timeout.
    for (const end = performance.now() + 500; performance.now() < end; );
    expect(await closing).toBe('clean');
    await until(() => socket.closed);
    expect(reply).toMatch(/^HTTP\/1\.1 200 .*connection: close\r\n/s);
  });

  test('cuts off and logs requests that do not end in time', async () => {
    service = await startRouteServer(routes);
    const socket = await service.connect();
    socket.on('error', () => {});
    socket.write('GET /held HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => service?.server.served === 1);
    expect(await service.server.close(20)).toBe('forced');
    release();
  });

  test('under load no request fails: those sent on open connections are answered', async () => {
    service = await startRouteServer(routes);
    const { port, server } = service;
    const outcomes: string[] = [];
    let isStopping = false;
    const client = async (): Promise<void> => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (;;) {
        const outcome = await request(port, agent);
        // After an orderly close of its connection, a client cannot reconnect.
        if (isStopping && outcome === 'ECONNREFUSED') return;
        outcomes.push(outcome);
        if (outcome !== '200') return;
      }
    };
    const clients = Array.from({ length: 8 }, client);
    await until(() => outcomes.length > 100);
    isStopping = true;
    const closed = server.close(5000);
    await Promise.all(clients);
    expect(await closed).toBe('clean');
    expect(new Set(outcomes)).toEqual(new Set(['200']));
  });
});

function request(port: number, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    const sent = get({ port, host: '127.0.0.1', path: '/slow', agent }, (response) => {
      response.resume();
      response.on('end', () => resolve(String(response.statusCode)));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'failed'));
  });
}

describe('listening (operations 1.7.2)', () => {
  test('an address in use ends the start with exit code 71, the address and the system error; nothing stays bound', async () => {
    service = await startRouteServer(routes);
    const taken = { host: '127.0.0.1', port: service.port };
    const free = { host: '127.0.0.1', port: 0 };
    const listeners = [
      { name: 'web', resources: [{ name: 'human' } as const], binds: [free, taken], prefix: undefined },
    ];
    const failure: unknown = await startRouteServer(routes, { http: { listeners } }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ExitError);
    expect(failure).toMatchObject({ exitCode: 71 });
    expect(String(failure)).toContain(`127.0.0.1:${service.port}`);
    expect(String(failure)).toContain('EADDRINUSE');
  });

  test('without a host serves both families on one port; a name binds all its addresses', async () => {
    const resources = [{ name: 'human' } as const];
    const binds = [
      { host: undefined, port: 0 },
      { host: 'localhost', port: 0 },
    ];
    service = await startRouteServer(routes, {
      http: { listeners: [{ name: 'web', resources, binds, prefix: undefined }] },
    });
    expect((await fetch(`http://127.0.0.1:${service.port}/`)).status).toBe(200);
  });

  test('a listener responds with 404 for resources that it does not mount and paths outside its prefix', async () => {
    const resources = [{ name: 'human' } as const];
    const binds = [{ host: '127.0.0.1', port: 0 }];
    const more: Route[] = [
      ...routes,
      { method: 'GET', path: '/health', resource: 'health', errorFormat: 'plain-json', handle: () => json(200, {}) },
    ];
    service = await startRouteServer(more, {
      http: { listeners: [{ name: 'web', resources, binds, prefix: '/auth' }] },
    });
    const status = async (path: string) => (await fetch(`${service?.origin}${path}`)).status;
    expect(await status('/auth/')).toBe(200);
    expect(await status('/auth/health')).toBe(404);
    expect(await status('/')).toBe(404);
    expect(await status('/authx')).toBe(404);
    // Redirects to the prefix with a trailing slash.
    expect(await status('/auth')).toBe(200);
    expect((await service.requestLines(1))[0]).toContain('"GET /auth/ HTTP/1.1"');
  });
});
