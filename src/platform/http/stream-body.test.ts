/** Bodies that are sent part by part (administration A-19). */
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { LatchkeyError } from '#platform/base/errors.ts';
import { delay } from '#platform/base/tasks.ts';
import { startRouteServer, until } from '#test/support/route-server.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { Route } from './route.ts';

const PART = '#'.repeat(100_000);
const PARTS = 400;

/** What the stream of the current test did. */
let made = 0;
let ended = 0;
let failing: { readonly at: number; readonly error: Error } | undefined;
let beforePart: ((part: number) => void) | undefined;

async function* parts(count: number): AsyncGenerator<string> {
  try {
    for (let part = 0; part < count; part += 1) {
      await delay(0);
      beforePart?.(part);
      if (failing?.at === part) throw failing.error;
      made += 1;
      yield part === 0 ? 'é' : PART;
    }
  } finally {
    ended += 1;
  }
}

const headers = { 'content-type': 'text/csv; charset=utf-8' };
const shared = { resource: 'oauth', errorFormat: 'oauth-json' } as const;
const ROUTES: Route[] = [
  { ...shared, method: 'GET', path: '/short', handle: () => ({ status: 200, headers, body: parts(3) }) },
  { ...shared, method: 'GET', path: '/long', handle: () => ({ status: 200, headers, body: parts(PARTS) }) },
  { ...shared, method: 'GET', path: '/empty', handle: () => ({ status: 200, headers, body: parts(0) }) },
];
const server = await sharedByTests(startRouteServer(ROUTES));
beforeEach(() => {
  [made, ended, failing, beforePart] = [0, 0, undefined, undefined];
  server.lines.length = 0;
});

const request = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const streamed = () => server.lines.find((line) => line.includes('http.server.streamed'));

/** Opens a connection, and collects what it receives. */
async function reading(bytes: string) {
  const socket = await server.connect();
  const received = { text: '', error: undefined as NodeJS.ErrnoException | undefined };
  socket.setEncoding('latin1').on('data', (text: string) => {
    received.text += text;
  });
  socket.removeAllListeners('error').on('error', (error: NodeJS.ErrnoException) => {
    received.error = error;
  });
  socket.write(bytes);
  return { socket, received };
}

describe('a streamed response', () => {
  test('has no length, and its line follows the last byte; the next request is served after it', async () => {
    const reply = await server.exchange(request('/short') + request('/empty', 'Connection: close\r\n'));
    const [first = '', second = ''] = reply.split(/(?<=\r\n0\r\n\r\n)/);
    expect(first).toMatch(/^HTTP\/1\.1 200 OK\r\n.*transfer-encoding: chunked\r\n/is);
    expect(first).not.toMatch(/content-length/i);
    expect(first).toContain('\r\n2\r\n\xc3\xa9\r\n');
    expect(first.match(/#/g)).toHaveLength(200_000);
    expect(second).toMatch(/^HTTP\/1\.1 200 OK\r\n.*connection: close\r\n/is);
    const events = server.lines.map((line) => / (http\.server\.\w+) (GET-\d+) /.exec(line)?.slice(1).join(' '));
    const [one, two] = [...new Set(events.map((event) => event?.split(' ')[1]))];
    expect(events).toEqual([
      `http.server.streamed ${one}`,
      `http.server.response ${one}`,
      `http.server.streamed ${two}`,
      `http.server.response ${two}`,
    ]);
    expect(streamed()).toContain('outcome=complete bytes=200002');
    expect(ended).toBe(2);
  });

  test('is not read for HEAD, and the connection stays open', async () => {
    const reply = await server.exchange(
      `${request('/short').replace('GET', 'HEAD')}${request('/empty', 'Connection: close\r\n')}`,
    );
    expect(reply.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    expect(made).toBe(0);
    expect(server.lines.find((line) => line.includes('"HEAD /short'))).toContain(' 200 OK ');
  });

  test('is read as fast as the client takes it', async () => {
    const { socket, received } = await reading(request('/long', 'Connection: close\r\n'));
    socket.pause();
    await until(() => made > 0);
    let before = -1;
    while (before !== made) {
      before = made;
      await delay(50);
    }
    expect(made).toBeLessThan(PARTS / 2);
    expect(server.server.served).toBe(1);
    socket.resume();
    await until(() => socket.closed);
    expect(received.text.endsWith('\r\n0\r\n\r\n')).toBe(true);
    expect(made).toBe(PARTS);
  });

  test.each(['resetAndDestroy', 'end'] as const)('ends when the client leaves by %s', async (leave) => {
    const { socket } = await reading(request('/long'));
    socket.pause();
    await until(() => made > 0);
    socket[leave]();
    if (leave === 'end') socket.resume();
    await until(() => ended === 1);
    await until(() => server.server.served === 0);
    expect(streamed()).toContain('outcome=aborted');
    expect(made).toBeLessThan(PARTS);
    socket.destroy();
  });
});

describe('a stream that fails', () => {
  test('before its first part is answered like any other failure', async () => {
    failing = { at: 0, error: new LatchkeyError('temporarily_unavailable', { retryAfterSeconds: 5 }) };
    const reply = await server.exchange(request('/short', 'Connection: close\r\n'));
    expect(reply).toMatch(/^HTTP\/1\.1 503 .*retry-after: 5\r\n.*"temporarily_unavailable"/is);
    expect(streamed()).toBeUndefined();
  });

  test.each(['1.1', '1.0'])(
    'later is cut off, so that HTTP/%s clients do not take it for complete',
    async (version) => {
      failing = { at: 2, error: new Error('connection to the database lost') };
      const { socket, received } = await reading(request('/short').replace('1.1', version));
      await until(() => socket.closed);
      expect(received.error?.code).toBe('ECONNRESET');
      expect(received.text).toMatch(/^HTTP\/1\.1 200 OK/);
      expect(received.text).not.toContain('\r\n0\r\n');
      await until(() => server.server.served === 0);
      expect(server.lines.map((line) => line.split(' ').slice(1, 3).join(' '))).toEqual([
        'ERROR error',
        'INFO http.server.streamed',
        'INFO http.server.response',
      ]);
      expect(streamed()).toContain('outcome=failed bytes=100002');
    },
  );

  test('takes at most ten minutes', async () => {
    const { now } = performance;
    const clock = vi.spyOn(performance, 'now');
    beforePart = (part) => {
      if (part === 2) clock.mockImplementation(() => now.call(performance) + 600_001);
    };
    const { socket } = await reading(request('/short'));
    await until(() => ended === 1);
    clock.mockRestore();
    await until(() => socket.closed);
    expect(streamed()).toContain('outcome=timeout');
  });
});

test('an HTTP/1.0 body ends with its connection', async () => {
  const reply = await server.exchange(
    `GET /short HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n${request('/short')}`,
  );
  expect(reply).toMatch(/^HTTP\/1\.1 200 OK\r\n.*connection: close\r\n/is);
  expect(reply.match(/HTTP/g)).toHaveLength(1);
  expect(reply.endsWith(PART)).toBe(true);
  await setImmediate();
  expect(streamed()).toContain('outcome=complete');
});
