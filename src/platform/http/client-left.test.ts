import { afterEach, describe, expect, test } from 'vitest';
import { type RouteServer, startRouteServer, until } from '#test/support/route-server.ts';
import type { RequestContext } from './request-context.ts';

let server: RouteServer;
let context: RequestContext | undefined;
let release: () => void;

afterEach(async () => {
  release();
  await server.close();
  context = undefined;
});

async function start(handlerTimeoutSeconds = 30): Promise<void> {
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const handle = async (received: RequestContext) => {
    context = received;
    await released;
    return { status: 204, headers: {} };
  };
  const route = { method: 'GET', path: '/wait', resource: 'health', errorFormat: 'plain-json', handle } as const;
  server = await startRouteServer([route], { limits: { handlerTimeoutSeconds } });
}

const REQUEST = 'GET /wait HTTP/1.1\r\nHost: x\r\n\r\n';

describe('the abort signal of a request, for queued work (operations 9.2)', () => {
  test.each(['resetAndDestroy', 'end'] as const)('fires when the client disconnects by %s', async (leave) => {
    await start();
    const socket = await server.connect();
    socket.write(REQUEST);
    await until(() => context !== undefined);
    expect(context?.signal.aborted).toBe(false);
    socket[leave]();
    await until(() => context?.signal.aborted === true);
  });

  test('is already aborted when first requested after the client disconnected', async () => {
    await start();
    const socket = await server.connect();
    socket.write(REQUEST);
    await until(() => context !== undefined);
    socket.resetAndDestroy();
    await server.server.close(0);
    expect(context?.signal.aborted).toBe(true);
  });

  test('fires when the handler exceeds its time limit, since the response was sent', async () => {
    await start(0.1);
    const socket = await server.connect();
    socket.write(REQUEST);
    await until(() => context !== undefined);
    const signal = context?.signal;
    await until(() => signal?.aborted === true);
    expect((await server.requestLines(1))[0]).toContain(' 503 ');
    expect(socket.destroyed).toBe(false);
  });

  test('is not triggered by earlier requests on the same connection', async () => {
    await start();
    const socket = await server.connect();
    socket.write('GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n');
    await server.requestLines(1);
    socket.write(REQUEST);
    await until(() => context !== undefined);
    expect(context?.signal.aborted).toBe(false);
    const first = context;
    release();
    await server.requestLines(2);
    await until(() => first?.signal.aborted === true);
    socket.destroy();
  });
});
