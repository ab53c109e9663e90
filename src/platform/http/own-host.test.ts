import { expect, test } from 'vitest';
import { freePort } from '#test/support/free-port.js';
import { startRouteServer } from '#test/support/route-server.ts';
import { plainText } from './response.ts';
import type { Route } from './route.ts';

const ROUTES: Route[] = [
  {
    ...{ resource: 'human', errorFormat: 'page', method: 'GET', path: '/login' },
    handle: () => plainText(200, 'page'),
  } as const,
  {
    ...{ resource: 'oauth', errorFormat: 'plain-json', method: 'GET', path: '/data' },
    handle: () => plainText(200, 'data'),
  } as const,
];

/** Returns the responses of a server whose public base has this host, with the server's port or a different one. */
async function responses(baseHost: string, requests: readonly string[], isOwnPort = true): Promise<string[]> {
  const port = await freePort();
  const server = await startRouteServer(ROUTES, {
    publicBase: `http://${baseHost}:${isOwnPort ? port : port + 1}/`,
    http: {
      listeners: [
        {
          name: 'test',
          resources: [{ name: 'human' }, { name: 'oauth' }],
          binds: [{ host: '127.0.0.1', port }],
          prefix: undefined,
        },
      ],
    },
  });
  try {
    const found: string[] = [];
    for (const request of requests) {
      const response = await server.exchange(`${request.replaceAll('PORT', String(port))}Connection: close\r\n\r\n`);
      const location = /^location: (.*)$/im.exec(response)?.[1] ?? '';
      found.push(`${response.slice(9, 12)} ${location.replaceAll(String(port), 'PORT')}`.trim());
    }
    return found;
  } finally {
    await server.close();
  }
}

const ELSEWHERE = 'GET /login?x=1 HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n';

test('redirects a page of a local service requested under another host to its own host', async () => {
  expect(
    await responses('localhost', [
      ELSEWHERE,
      'GET /login HTTP/1.1\r\nHost: localhost:PORT\r\n',
      'GET /login HTTP/1.1\r\nHost: LOCALHOST:PORT\r\n',
      'GET /data HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n',
    ]),
  ).toEqual(['303 http://localhost:PORT/login?x=1', '200', '200', '200']);
});

test('does not redirect behind a proxy, which may rewrite the host and cause a redirect loop', async () => {
  expect(await responses('localhost', [ELSEWHERE], false)).toEqual(['200']);
  expect(await responses('auth.example.test', [ELSEWHERE])).toEqual(['200']);
});

test('redirects a listener prefix without its trailing slash below the prefix', async () => {
  const binds = [{ host: '127.0.0.1', port: 0 }];
  const listener = { name: 'test', resources: [{ name: 'human' as const }], binds, prefix: '/auth' };
  const server = await startRouteServer(ROUTES, { http: { listeners: [listener] } });
  try {
    const get = (path: string) => server.exchange(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(await get('/auth?x=1')).toMatch(/^HTTP\/1\.1 303 [\s\S]*^location: \/auth\/\?x=1\r$/im);
    expect(await get('/auth/login')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await get('/aut')).toMatch(/^HTTP\/1\.1 404 /);
  } finally {
    await server.close();
  }
});
