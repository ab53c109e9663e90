import { IncomingMessage } from 'node:http';
import { createServer, Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Task } from '#platform/base/tasks.ts';
import { until } from '#test/support/route-server.ts';
import { Connection } from './connection.ts';
import { RequestBody } from './request-body.ts';

describe('slow peers (operations 9.1, security S-139)', () => {
  function announcing(bytes: number): { request: IncomingMessage; body: RequestBody } {
    const request = new IncomingMessage(new Socket());
    request.headers['content-length'] = String(bytes);
    return { request, body: new RequestBody(request, new Task('POST-1')) };
  }

  test('abandons a body slower than 1 KiB a second after five seconds, not before', async () => {
    const { body } = announcing(60_000);
    const reading = body.read(65_536);
    const started = performance.now();
    body.failIfSlow(started + 4000, 30_000);
    expect(body.isBeingRead).toBe(true);
    body.failIfSlow(started + 6000, 30_000);
    await expect(reading).rejects.toMatchObject({ code: 'request_timeout' });
  });

  test('waits for a faster body', async () => {
    const { request, body } = announcing(60_000);
    const reading = body.read(65_536);
    request.push(Buffer.alloc(10_000));
    await new Promise((resolve) => setImmediate(resolve));
    body.failIfSlow(performance.now() + 9000, 30_000);
    request.push(Buffer.alloc(50_000));
    expect((await reading).length).toBe(60_000);
  });

  test('resets a connection whose client reads nothing of a response for 30 seconds, but not one that reads', async () => {
    const accepted = new Promise<Socket>((resolve) => {
      const server = createServer((socket) => {
        server.close();
        resolve(socket);
      });
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        if (typeof address === 'object' && address !== null) client.connect(address.port, '127.0.0.1');
      });
    });
    const client = new Socket();
    client.on('error', () => {});
    client.pause();
    const socket = await accepted;
    const connection = new Connection(socket, { address: '127.0.0.1', isTrusted: false });
    socket.write(Buffer.alloc(20_000_000));
    await until(() => socket.writableLength > 0);
    connection.resetIfStuck(0);
    connection.resetIfStuck(29_000);
    expect(socket.destroyed).toBe(false);
    connection.extendDeadlines(12_000);
    connection.resetIfStuck(41_000);
    expect(socket.destroyed).toBe(false);
    connection.resetIfStuck(43_000);
    expect(socket.destroyed).toBe(true);
    client.destroy();
  });
});
