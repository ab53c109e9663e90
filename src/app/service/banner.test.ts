import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ListenerOptions } from '#platform/http/http-options.ts';
import { freePort } from '#test/support/free-port.js';
import { RecordingLog } from '#test/support/recording-log.ts';
import { logReady } from './banner.ts';

const server = createServer((socket) => socket.destroy());
let port: number;
/** A port without a listener. */
let silentPort: number;
let log: RecordingLog;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
  silentPort = await freePort();
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  log = new RecordingLog();
});

interface Setup {
  readonly publicBase: string;
  readonly issuer?: string;
  readonly listener?: Partial<ListenerOptions>;
  readonly ports?: readonly number[];
}

async function ready({ publicBase, issuer = `${publicBase}/`, listener, ports = [port] }: Setup): Promise<void> {
  const web = { name: 'web', resources: [{ name: 'discovery' as const }], binds: [], prefix: undefined, ...listener };
  const bound = ports.map((one) => ({ listener: 'web', address: `127.0.0.1:${one}`, port: one }));
  await logReady({ publicBase, issuer, listeners: [web] }, bound, log);
}

const lines = () => log.lines.map(({ level, message, fields }) => ({ level, message, fields }));

describe('the ready line', () => {
  test('contains http.public_base on this machine when a connection to it succeeds', async () => {
    await ready({ publicBase: `http://localhost:${port}` });
    expect(lines()).toEqual([{ level: 'info', message: `ready at http://localhost:${port}`, fields: {} }]);
  });

  test('lists the accepting listeners when none listens on http.public_base, after a warning', async () => {
    const publicBase = `http://127.0.0.1:${silentPort}`;
    await ready({ publicBase, ports: [port, silentPort] });
    expect(lines()).toEqual([
      {
        level: 'warn',
        message: expect.stringMatching(/no listener on .*http\.public_base; set http\.listeners or .* PORT$/),
        fields: { public_base: publicBase },
      },
      { level: 'info', message: `ready at 127.0.0.1:${port}`, fields: {} },
    ]);
  });

  test('lists the accepting listeners when http.public_base is another machine, as behind a proxy', async () => {
    await ready({ publicBase: 'https://id.example', ports: [port, silentPort] });
    expect(lines()).toEqual([
      {
        level: 'info',
        message: `ready at https://id.example, on 127.0.0.1:${port}, 127.0.0.1:${silentPort}`,
        fields: { connected: `127.0.0.1:${port}` },
      },
    ]);
  });
});

describe('the issuer of a service below a path', () => {
  const publicBase = 'https://id.example/auth';
  const path = '/auth/.well-known/openid-configuration';
  const warnings = () => lines().filter(({ level }) => level === 'warn');

  test.each([
    ['the listener has no prefix', {}],
    ['the listener has another prefix', { prefix: '/login' }],
    ['the listener has the prefix and not the resource', { prefix: '/auth', resources: [{ name: 'human' as const }] }],
  ])('causes a warning when %s', async (_case, listener) => {
    await ready({ publicBase, listener });
    expect(warnings()).toEqual([
      { level: 'warn', message: expect.stringContaining('set the prefix of a listener'), fields: { path } },
    ]);
  });

  test.each([publicBase, `${publicBase}/`])('%s causes no warning with the prefix', async (issuer) => {
    await ready({ publicBase, issuer, listener: { prefix: '/auth' } });
    expect(warnings()).toEqual([]);
  });
});
