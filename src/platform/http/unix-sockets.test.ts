import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type RouteServer, startRouteServer } from '#test/support/route-server.ts';
import type { Route } from './route.ts';

const route: Route = {
  method: 'GET',
  path: '/where',
  resource: 'health',
  errorFormat: 'plain-json',
  handle: ({ clientAddress }) => ({ status: 200, headers: {}, body: clientAddress ?? 'none' }),
};

let folder: string;
let path: string;
const servers: RouteServer[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-socket-'));
  path = join(folder, 'http.sock');
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(mode?: number): Promise<RouteServer> {
  const listener = {
    name: 'local',
    resources: [{ name: 'health' as const }],
    binds: [{ socket: path, mode }],
    prefix: undefined,
  };
  const server = await startRouteServer([route], { http: { listeners: [listener] } });
  servers.push(server);
  return server;
}

function ask(headers: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const requested = request(
      { socketPath: path, path: '/where', headers: { host: 'x', ...headers } },
      (response: IncomingMessage) => {
        let body = '';
        response.on('data', (chunk: Buffer) => {
          body += chunk.toString();
        });
        response.on('end', () => resolve(body));
      },
    );
    requested.on('error', reject);
    requested.end();
  });
}

test('a Unix socket responds; its peer has no address unless a proxy names one (operations 5.6)', async () => {
  const server = await start();
  expect(await ask()).toBe('none');
  expect(await ask({ 'x-forwarded-for': '198.51.100.7' })).toBe('198.51.100.7');
  const lines = await server.requestLines(2);
  expect(lines[0]).not.toContain('client.address');
  expect(lines[1]).toContain(' client.address=198.51.100.7');
});

test('has the configured permissions from the start and is removed at the end', async () => {
  const server = await start(0o600);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await server.close();
  servers.length = 0;
  await expect.poll(() => existsSync(path)).toBe(false);
});

test('replaces the socket of a running process, which then leaves the new one alone', async () => {
  const former = await start();
  await start();
  await former.close();
  servers.shift();
  expect(await ask()).toBe('none');
});

test('never replaces a file that is not a socket: exit 71', async () => {
  writeFileSync(path, 'mine');
  await expect(start()).rejects.toMatchObject({ exitCode: 71, message: expect.stringContaining(path) });
});
