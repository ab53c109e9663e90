import { expect, test } from 'vitest';
import { startRouteServer, TEST_LIMITS } from '#test/support/route-server.ts';
import { json } from './response.ts';
import type { Route } from './route.ts';

const common = {
  method: 'POST',
  resource: 'health',
  handle: async (context) => {
    await context.readOptionalJson();
    return json(200, {});
  },
} as const satisfies Partial<Route>;

test('admin API bodies have their own limit, limits.max_body.admin (operations 9.1)', async () => {
  const server = await startRouteServer(
    [
      { ...common, path: '/admin', errorFormat: 'admin-json' },
      { ...common, path: '/other', errorFormat: 'plain-json' },
    ],
    { limits: { maxBody: { ...TEST_LIMITS.maxBody, jsonBytes: 1024, adminBytes: 4096 } } },
  );
  const status = async (path: string, bytes: number): Promise<number> => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch(server.origin + path, { method: 'POST', headers, body: `"${'a'.repeat(bytes - 2)}"` })).status;
  };
  expect(await status('/admin', 4096)).toBe(200);
  expect(await status('/admin', 4097)).toBe(413);
  expect(await status('/other', 1025)).toBe(413);
  await server.close();
});
