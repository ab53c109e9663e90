import { afterEach, expect, test } from 'vitest';
import { newId } from '#platform/base/ids.ts';
import { outside } from '#platform/base/tasks.ts';
import { type RouteServer, startRouteServer, TEST_LIMITS } from '#test/support/route-server.ts';
import type { Route } from './route.ts';
import type { WorkLimits } from './work-budget.ts';

const LOOPBACK = { address: '127.0.0.1', prefixLength: 32, family: 'ipv4' } as const;
const NONE = { burstMs: 0, perSecondMs: 1 };
/** Refills almost nothing during a test. */
const SMALL = { burstMs: 100, perSecondMs: 1 };
const USER = { kind: 'user', id: newId<'user'>(0) } as const;
const CLIENT = { kind: 'oauth2-client', id: newId<'client'>(0) } as const;

let running: RouteServer | undefined;
let handled = 0;
/** Functions that release waiting requests. */
let held: (() => void)[] = [];
let begunAt: number[] = [];

afterEach(async () => await running?.close());

function spin(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

function route(path: string, more: Partial<Route> = {}): Route {
  return {
    method: 'GET',
    path,
    resource: 'human',
    errorFormat: 'page',
    handle: () => {
      handled += 1;
      return { status: 200, headers: {} };
    },
    ...more,
  };
}

const expensive = (asker?: Parameters<Parameters<Route['handle']>[0]['setRequester']>, ms = 40): Route['handle'] => {
  return (context) => {
    if (asker !== undefined) context.setRequester(...asker);
    context.requireWork();
    handled += 1;
    spin(ms);
    return { status: 200, headers: {} };
  };
};

const ROUTES = [
  route('/cheap'),
  route('/held', {
    handle: async () => {
      begunAt.push(performance.now());
      await outside(new Promise<void>((resolve) => held.push(resolve)));
      return { status: 200, headers: {} };
    },
  }),
  route('/dear', { handle: expensive() }),
  route('/dearest', { handle: expensive(undefined, 150) }),
  route('/large', { handle: () => ({ status: 200, headers: {}, body: 'x'.repeat(4 * 1024 * 1024) }) }),
  route('/account', { handle: expensive([USER]) }),
  route('/client', { handle: expensive([CLIENT]) }),
  route('/claimed', { handle: expensive([CLIENT, { isClaimed: true }]) }),
  route('/client-by-header', { handle: expensive([CLIENT]) }),
  route('/homeserver', { handle: expensive([{ kind: 'homeserver' }]) }),
  route('/oauth2/token', { resource: 'oauth', errorFormat: 'oauth-json', method: 'POST' }),
  route('/oauth2/userinfo', { resource: 'oauth', errorFormat: 'oauth-json' }),
  route('/chat', { resource: 'compat', errorFormat: 'chat-json' }),
  route('/graphql', { errorFormat: 'graphql-json' }),
  route('/admin', { errorFormat: 'admin-json' }),
  route('/health', { resource: 'health', errorFormat: 'plain-json', capacity: 'essential' }),
];

async function start(work: Partial<WorkLimits>): Promise<void> {
  handled = 0;
  [held, begunAt] = [[], []];
  running = await startRouteServer(ROUTES, {
    limits: { ...TEST_LIMITS, work: { perAddress: NONE, perAccount: NONE, perClient: NONE, ...work } },
    http: { trustedProxies: [LOOPBACK] },
  });
}

async function ask(path: string, address: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...init.headers, 'x-forwarded-for': address };
  return await fetch(`${running?.origin}${path}`, { ...init, headers });
}

/**
 * Sends requests until one is rejected. @returns how many were served. On a busy machine, a request is charged less
 * than it takes
 */
async function servedUntilRefused(path: string, address: string, init?: RequestInit): Promise<number> {
  for (let served = 0; served < 1000; served += 1) {
    const { status } = await ask(path, address, init);
    if (status === 429) return served;
    expect(status).toBe(200);
  }
  return Number.POSITIVE_INFINITY;
}

async function expectServed(path: string, address: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) expect((await ask(path, address)).status).toBe(200);
}

test('rejects an address that exhausted its budget on every route, in its error format, and serves others', async () => {
  await start({ perAddress: SMALL });
  const served = await servedUntilRefused('/dear', '192.0.2.1');
  expect(served).toBeGreaterThan(0);
  const before = handled;
  const shapes = [];
  for (const path of ['/cheap', '/oauth2/userinfo', '/chat', '/graphql', '/admin', '/nowhere']) {
    const response = await ask(path, '192.0.2.1');
    expect([path, response.status]).toEqual([path, 429]);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(10);
    const text = await response.text();
    shapes.push(text.startsWith('{') ? text : response.headers.get('content-type'));
  }
  expect(handled).toBe(before);
  expect(shapes).toEqual([
    'text/html; charset=utf-8',
    expect.stringContaining('"error":"temporarily_unavailable"'),
    expect.stringContaining('"errcode":"M_LIMIT_EXCEEDED"'),
    expect.stringContaining('"code":"RATE_LIMITED"'),
    expect.stringContaining('"errors"'),
    'text/html; charset=utf-8',
  ]);
  expect((await ask('/health', '192.0.2.1')).status).toBe(200);
  await expectServed('/dear', '192.0.2.2', 1);
  const warnings = running?.lines.filter((line) => line.includes(' WARN http.work.exceeded ')) ?? [];
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('work limit exceeded (limits.work) client.address=192.0.2.1 retry_after=');
});

test('addresses of one /64 share a budget, and request bytes count', async () => {
  await start({ perAddress: SMALL });
  // 4 MiB each, charged as 40 ms.
  const served = await servedUntilRefused('/large', '2001:db8:1:2::1');
  expect(served).toBeGreaterThan(0);
  expect(served).toBeLessThanOrEqual(3);
  expect((await ask('/cheap', '2001:db8:1:2:ffff::9')).status).toBe(429);
  expect((await ask('/cheap', '2001:db8:1:3::1')).status).toBe(200);
});

test.each([
  ['a header Authorization', '/cheap', { headers: { authorization: 'Bearer x' } }],
  ['a cookie', '/cheap', { headers: { cookie: 'session=x' } }],
  ['a form for a machine, which may hold them', '/oauth2/token', { method: 'POST' }],
])('serves requests with %s up to a reserve, in case they share the address with a flood', async (_, path, init) => {
  // The reserve is 100 ms. The last request before the refusal exceeds the budget by less.
  await start({ perAddress: { burstMs: 400, perSecondMs: 1 } });
  await servedUntilRefused('/dear', '192.0.2.1');
  expect((await ask(path, '192.0.2.1', init)).status).toBe(200);
  await servedUntilRefused('/dear', '192.0.2.1', { headers: { cookie: 'a=b' } });
  expect((await ask(path, '192.0.2.1', init)).status).toBe(429);
});

test('serves requests authenticated by a header whatever a flood does', async () => {
  await start({ perAddress: SMALL });
  const known = { headers: { authorization: 'Bearer known' } };
  expect((await ask('/client-by-header', '192.0.2.1', known)).status).toBe(200);
  await servedUntilRefused('/dear', '192.0.2.1', { headers: { authorization: 'Bearer unknown' } });
  for (let index = 0; index < 10; index += 1) {
    expect((await ask('/client-by-header', '192.0.2.1', known)).status).toBe(200);
  }
});

test('soon forgets credentials that are no longer valid', async () => {
  await start({ perAddress: SMALL });
  const known = { headers: { authorization: 'Bearer known' } };
  await ask('/client-by-header', '192.0.2.1', known);
  await servedUntilRefused('/dear', '192.0.2.1', { headers: { authorization: 'Bearer unknown' } });
  expect(await servedUntilRefused('/cheap', '192.0.2.1', known)).toBeLessThan(100);
});

test('requests of one address beyond three at once start one after another', async () => {
  await start({ perAddress: { burstMs: 10_000, perSecondMs: 1 } });
  const requested = Array.from({ length: 24 }, async () => (await ask('/held', '192.0.2.1')).status);
  await expect.poll(() => begunAt.length).toBe(24);
  expect((begunAt[23] ?? 0) - (begunAt[2] ?? 0)).toBeGreaterThan(300);
  for (const letGo of held) letGo();
  expect(await Promise.all(requested)).toEqual(Array.from({ length: 24 }, () => 200));
});

test('yields the event loop after each expensive request of an address that used much', async () => {
  await start({ perAddress: { burstMs: 5000, perSecondMs: 1 } });
  while (handled < 3) await ask('/dearest', '192.0.2.1');
  const endedAt = await Promise.all(
    [1, 2].map(async () => {
      expect((await ask('/dearest', '192.0.2.1')).status).toBe(200);
      return performance.now();
    }),
  );
  expect(Math.abs((endedAt[1] ?? 0) - (endedAt[0] ?? 0))).toBeGreaterThan(800);
});

test('delays further rejections of a client that continues after the first one', async () => {
  await start({ perAddress: SMALL });
  await servedUntilRefused('/dear', '192.0.2.1');
  const from = performance.now();
  expect((await ask('/cheap', '192.0.2.1')).status).toBe(429);
  expect(performance.now() - from).toBeGreaterThan(900);
});

test('an account has its own budget across addresses; clients and homeservers are not limited', async () => {
  await start({ perAddress: SMALL, perAccount: SMALL });
  expect(await servedUntilRefused('/account', '192.0.2.1')).toBeGreaterThan(0);
  expect((await ask('/account', '192.0.2.2')).status).toBe(429);
  for (const path of ['/client', '/homeserver']) {
    await expectServed(path, '192.0.2.1', 10);
  }
  expect((await ask('/cheap', '192.0.2.1')).status).toBe(200);
});

test('a client has a limit where one is set, and an unauthenticated one is charged to its address', async () => {
  await start({ perAddress: SMALL, perClient: SMALL });
  expect(await servedUntilRefused('/client', '192.0.2.1')).toBeGreaterThan(0);
  expect((await ask('/client', '192.0.2.2')).status).toBe(429);
  expect(await servedUntilRefused('/claimed', '192.0.2.3')).toBeGreaterThan(0);
  expect((await ask('/cheap', '192.0.2.3')).status).toBe(429);
});

test('budget is refunded, and nothing is counted without a limit', async () => {
  await start({ perAddress: { burstMs: 20, perSecondMs: 100 } });
  expect(await servedUntilRefused('/dear', '192.0.2.1')).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect((await ask('/cheap', '192.0.2.1')).status).toBe(200);
  await running?.close();
  await start({});
  await expectServed('/dear', '192.0.2.1', 10);
});
