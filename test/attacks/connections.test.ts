/** Security S-176 and S-180: connections that exhaust the capacity for others. */
import { connect, Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { TrustedProxies } from '#platform/http/client-address.ts';
import { Connections } from '#platform/http/connections.ts';
import { until } from '../support/route-server.ts';
import { type AttackedService, attackedService, basic, C1, PASSWORD, SETTINGS } from './attacked-service.ts';
import { jsonOf } from './raw-http.ts';

const PATHS = ['/oauth2/token', '/login', '/oauth2/introspect', '/register/password'];
const LIMITS = { request_timeout: '1s', headers_timeout: '1s' };
/** A busy machine takes a while to close hundreds of connections. */
const MAX_WAIT_MS = 60_000;

/** The attackers are behind a proxy that forwards requests unchanged and unbuffered. */
const proxied = attackedService({ limits: LIMITS });
/** The attackers reach the listener directly. Each address may hold 200 connections. */
const direct = attackedService({ http: { ...SETTINGS.http, trusted_proxies: ['10.0.0.1/32'] }, limits: LIMITS });

/** Connections that send the head of a POST but never its body. Each reconnects after a 408. */
class UnfinishedBodies {
  /** Number of 408 responses so far. */
  late = 0;
  /** Other responses. */
  readonly others = new Set<string>();
  #isOver = false;
  readonly #sockets = new Set<Socket>();
  readonly #port: number;
  readonly #addresses: number;

  constructor(attacked: AttackedService, addresses: number) {
    this.#port = Number(new URL(attacked.service.address).port);
    this.#addresses = addresses;
  }

  get open(): number {
    return this.#sockets.size;
  }

  openOne(index: number): void {
    const number = index % this.#addresses;
    const socket = connect({ port: this.#port, host: '127.0.0.1', localAddress: `127.0.2.${number + 1}` });
    this.#sockets.add(socket);
    let response = '';
    socket.setEncoding('latin1');
    socket.on('error', () => {});
    socket.on('data', (text: string) => {
      response += text;
    });
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (this.#isOver || response === '') return;
      const status = response.slice('HTTP/1.1 '.length, 'HTTP/1.1 408'.length);
      if (status === '408') this.late += 1;
      else this.others.add(status);
      this.openOne(index);
    });
    const head = `POST ${PATHS[index % PATHS.length]} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.${number}\r\n`;
    socket.write(`${head}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n`);
  }

  stop(): void {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}

describe('request bodies that never arrive (S-176)', () => {
  test.each([
    ['direct', 1040, 1, 200],
    ['direct', 1040, 6, 1040],
    ['direct', 1040, 50, 1040],
    ['direct', 2000, 6, 1200],
    ['direct', 2000, 50, 2000],
    ['proxied', 1040, 1, 1040],
    ['proxied', 2000, 1, 2000],
    ['proxied', 2000, 6, 2000],
    ['proxied', 2000, 50, 2000],
  ])(
    '%s: %i connections from %i addresses do not affect other clients',
    async (way, count, addresses, open) => {
      const attacked = way === 'direct' ? direct : proxied;
      const { accessToken } = await attacked.tokens(await attacked.signedIn('amira'), C1);
      const attack = new UnfinishedBodies(attacked, addresses);
      try {
        for (let index = 0; index < count; index += 1) attack.openOne(index);
        // The server closes connections above the limit per address immediately.
        await until(() => attack.open <= open, MAX_WAIT_MS);
        const failed: string[] = [];
        while (attack.late < open) {
          for (const target of [
            '/health',
            '/health?probe=live',
            '/.well-known/openid-configuration',
            '/oauth2/keys.json',
          ]) {
            const { status } = await attacked.ask({ target });
            if (status !== 200) failed.push(`${target} ${status}`);
          }
          const token = await attacked.post('/oauth2/introspect', { token: accessToken }, basic(C1));
          if (token.status !== 200 || jsonOf(token)['active'] !== true) failed.push(`introspection ${token.status}`);
          const browser = attacked.browser();
          await browser.get('/login');
          await browser.submit({ username: 'bruno', password: PASSWORD });
          if (browser.page.status !== 303) failed.push(`login ${browser.page.status}`);
        }
        expect(failed).toEqual([]);
        expect([...attack.others]).toEqual([]);
      } finally {
        // Stop even after a failure, or the attack would break later tests.
        attack.stop();
        await until(() => attack.open === 0, MAX_WAIT_MS);
      }
    },
    4 * MAX_WAIT_MS,
  );
});

describe('connections from one IPv6 network (S-180)', () => {
  function connectionFrom(address: string): Socket {
    return Object.defineProperty(new Socket(), 'remoteAddress', { value: address });
  }

  test('10,000 addresses of a /64 share the limit of one address; others and IPv4 are served', () => {
    const limits = { maxConnections: 20_000, maxConnectionsPerAddress: 200 };
    const connections = new Connections(limits, new TrustedProxies([]), () => {});
    const accept = (address: string): boolean => connections.accept(connectionFrom(address), false) !== undefined;
    const accepted = Array.from({ length: 10_000 }, (_, index) => accept(`2001:db8:0:7::${index.toString(16)}`));
    expect(accepted.filter(Boolean)).toHaveLength(200);
    expect(accept('2001:db8:0:7:ffff:ffff:ffff:ffff')).toBe(false);
    expect(accept('2001:db8:0:8::1')).toBe(true);
    // IPv4-mapped IPv6 addresses count as individual IPv4 addresses.
    expect(accept('::ffff:198.51.100.7')).toBe(true);
    expect(accept('198.51.100.8')).toBe(true);
  });
});
