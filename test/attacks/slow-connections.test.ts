/** Security 4.17, S-139: thousands of connections that are opened and held. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { quantile } from '../support/measuring.ts';
import { attackedService, C1 } from './attacked-service.ts';

const OF_EACH_KIND = 500;
const OPENED_AT_ONCE = 100;
const BYTE_EVERY_MS = 5000;
/** The longest limit is for a peer that never reads: 30 s, after another 30 s to notice. */
const MAX_HELD_MS = 75_000;
const WINDOW = 60;

// Default limits, except the 75 s for idle connections, which would only lengthen the test.
const attacked = attackedService({ limits: { keep_alive_timeout: '15s' } });

const GET = 'GET /login HTTP/1.1\r\nHost: x\r\n\r\n';
const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n';

interface Kind {
  /** Sent immediately. */
  readonly start: string;
  /** Sent byte by byte. */
  readonly drip?: string;
  readonly neverReads?: boolean;
}

const KINDS: Readonly<Record<string, Kind>> = {
  'a head, one byte every 5 s': { start: 'GET /login HTTP/1.1\r\nHost: x\r\nX-Slow: ', drip: 'x' },
  'a body, one byte every 5 s': {
    start: `POST /oauth2/token HTTP/1.1\r\nHost: x\r\n${FORM}Content-Length: 10000\r\n\r\ngrant_type=`,
    drip: 'x',
  },
  'responses that are never read': { start: GET.repeat(8), neverReads: true },
  'idle after a response': { start: GET },
};

test('2,000 slow connections, 500 of each kind, are closed at the limits while honest requests are served (S-139)', {
  timeout: 240_000,
}, async () => {
  const { accessToken } = await attacked.tokens(await attacked.signedIn('amira'), C1);
  const valid = async (): Promise<number> => {
    const started = performance.now();
    expect((await attacked.introspect(accessToken))['active']).toBe(true);
    expect((await attacked.ask({ target: '/login' })).status).toBe(200);
    expect((await attacked.ask({ target: '/health' })).status).toBe(200);
    return performance.now() - started;
  };
  const idle: number[] = [];
  while (idle.length < 5 * WINDOW) idle.push(await valid());

  const held = await openAll();
  const openedAt = performance.now();
  const during: number[] = [];
  const silent = held.filter(({ neverReads }) => !neverReads);
  while (silent.some(({ socket }) => !socket.closed)) {
    during.push(await valid());
    expect(performance.now() - openedAt, 'connections are held for longer than the limits').toBeLessThan(MAX_HELD_MS);
  }
  // These sockets are not read, so their end is only visible after resuming.
  const unread = held.filter(({ neverReads }) => neverReads);
  await Promise.all(
    unread.map(async ({ socket }) => {
      const isOver = new Promise((resolve) => socket.once('close', resolve));
      const received = once(socket, 'data');
      socket.resume();
      await Promise.race([received, isOver]);
    }),
  );
  const resumedAt = performance.now();
  while (unread.some(({ socket }) => !socket.closed)) {
    during.push(await valid());
    expect(performance.now() - resumedAt, 'an unread connection was still open').toBeLessThan(10_000);
  }
  for (const { timer } of held) clearInterval(timer);

  expect(quietest(during)).toBeLessThan(2 * quietest(idle));
  const late = attacked.service.requestLines().filter(({ status }) => status === 408);
  expect(late.map(({ path }) => path)).toEqual(Array.from({ length: OF_EACH_KIND }, () => '/oauth2/token'));
});

/** Returns the 95th percentile of the window with the least other load. */
function quietest(times: readonly number[]): number {
  const windows = Array.from({ length: Math.floor(times.length / WINDOW) }, (_, index) =>
    quantile(times.slice(index * WINDOW, (index + 1) * WINDOW), 0.95),
  );
  return Math.min(...windows);
}

interface Held {
  readonly socket: Socket;
  readonly neverReads: boolean;
  readonly timer: NodeJS.Timeout | undefined;
}

async function openAll(): Promise<Held[]> {
  const kinds = Object.values(KINDS);
  const wanted = Array.from({ length: OF_EACH_KIND }, () => kinds).flat();
  const held: Held[] = [];
  for (let start = 0; start < wanted.length; start += OPENED_AT_ONCE) {
    held.push(...(await Promise.all(wanted.slice(start, start + OPENED_AT_ONCE).map(open))));
  }
  return held;
}

async function open({ start, drip, neverReads = false }: Kind): Promise<Held> {
  const { hostname, port } = new URL(attacked.service.address);
  const socket = connect(Number(port), hostname);
  // A reset also counts as an end.
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(start);
  if (neverReads) socket.pause();
  else socket.resume();
  const timer = drip === undefined ? undefined : setInterval(() => socket.write(drip), BYTE_EVERY_MS);
  socket.once('close', () => clearInterval(timer));
  return { socket, neverReads, timer };
}
