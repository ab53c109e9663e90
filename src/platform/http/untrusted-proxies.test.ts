import { expect, test } from 'vitest';
import { parseCidr } from '#platform/base/ip-address.ts';
import { startRouteServer } from '#test/support/route-server.ts';
import { plainText } from './response.ts';
import type { Route } from './route.ts';

const ROUTES: Route[] = [
  {
    ...{ resource: 'human', errorFormat: 'page', method: 'GET', path: '/who' },
    handle: ({ clientAddress }) => plainText(200, `${clientAddress}`),
  } as const,
];

/**
 * Sends two requests with the header. @returns the responses, the log lines about untrusted proxies, and their
 * addresses
 */
async function twoRequests(networks: readonly string[], header = 'X-Forwarded-For: 203.0.113.9\r\n') {
  const trustedProxies = networks.flatMap((text) => parseCidr(text) ?? []);
  const server = await startRouteServer(ROUTES, { http: { trustedProxies } });
  try {
    const request = `GET /who HTTP/1.1\r\nHost: auth.example.test\r\n${header}Connection: close\r\n\r\n`;
    const responses = [await server.exchange(request), await server.exchange(request)];
    const addresses = server.server.untrustedProxies;
    const lines = server.lines.filter((line) => line.includes(' http.proxy.untrusted '));
    return { clients: responses.map((response) => response.split('\r\n').at(-1)), lines, addresses };
  } finally {
    await server.close();
  }
}

test('X-Forwarded-For from an untrusted private address is ignored and logged once with the line to add', async () => {
  const { addresses, clients, lines } = await twoRequests(['10.0.0.7', '::1']);
  expect(clients).toEqual(['127.0.0.1', '127.0.0.1']);
  expect(addresses).toEqual(['127.0.0.1']);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('WARN');
  expect(lines[0]).toContain('client.address=127.0.0.1 header=x-forwarded-for');
  expect(lines[0]).toMatch(/trusted_proxies: \[10\.0\.0\.7\/32, \\?"::1\/128\\?", 127\.0\.0\.1\]/);
});

test('logs nothing for a trusted proxy, a request without the header, or when no proxy is trusted', async () => {
  expect(await twoRequests(['127.0.0.0/8'])).toEqual({
    ...{ clients: ['203.0.113.9', '203.0.113.9'], lines: [], addresses: [] },
  });
  expect(await twoRequests(['10.0.0.7'], '')).toMatchObject({ lines: [], addresses: [] });
  expect(await twoRequests([])).toMatchObject({ lines: [], addresses: [] });
});
