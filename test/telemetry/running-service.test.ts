/** Telemetry of a running service: metrics on stdout, and its crash in Sentry. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '#test/support/free-port.js';
import { killProcess, Program, stopProcess } from '#test/support/program.js';
import { type SentryPeer, startSentryPeer } from '#test/support/sentry-peer.ts';

/** Loaded into the program: one defect per signal, because no request can cause them. */
const DEFECTS = `
process.on('SIGUSR2', () => { throw new TypeError('nothing holds s3cret-of-nobody@mail.example'); });
process.on('SIGWINCH', () => { void Promise.reject(new RangeError('nobody waits for this')); });
`;

let folder: string;
let program: Program;
let base: string;
let peer: SentryPeer;
let service: ChildProcess | undefined;
let printed: string;
let log: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-telling-'));
  writeFileSync(join(folder, 'defects.mjs'), DEFECTS);
  const address = `127.0.0.1:${await freePort()}`;
  base = `http://${address}/`;
  program = new Program(folder, {
    data_dir: join(folder, 'data'),
    http: { public_base: base, listeners: [{ resources: ['human', 'health'], binds: [{ address }] }] },
    telemetry: { metrics: { exporter: 'stdout' } },
  });
});
beforeEach(async () => {
  peer = await startSentryPeer();
  printed = '';
  log = '';
  const environment = { SENTRY_DSN: peer.dsn, OTEL_METRIC_EXPORT_INTERVAL: '60000' };
  const flags = ['--import', join(folder, 'defects.mjs')];
  service = await program.serve(base, { environment, flags });
  service.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  service.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
});
afterEach(async () => {
  if (service !== undefined) await killProcess(service);
  await peer.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('metrics go to standard output as one document per line, the last ones at the end', async () => {
  for (let count = 0; count < 3; count += 1) await fetch(`${base}login`);
  const running = service ?? expect.fail('no service');
  const closed = once(running, 'close');
  expect(await stopProcess(running)).toBe(0);
  await closed;
  const documents = printed
    .split('\\n')
    .filter((line) => line.includes('resourceMetrics'))
    .map((line) => JSON.parse(line));
  expect(documents.length).toBeGreaterThan(0);
  const last = documents.at(-1);
  const metrics: { readonly name: string }[] = last.resourceMetrics[0].scopeMetrics.flatMap(
    (scope: { readonly metrics: readonly object[] }) => scope.metrics,
  );
  const requests = JSON.stringify(metrics.find(({ name }) => name === 'http.server.request.duration'));
  expect(requests).toContain('"/login"');
  expect(requests).toMatch(/"count":"?3"?/);
  expect(peer.requests).toEqual([]);
});

describe('an uncaught defect', () => {
  test.each([
    ['an uncaught exception', 'SIGUSR2', 'TypeError'],
    ['an unhandled rejection', 'SIGWINCH', 'RangeError'],
  ] as const)('%s reaches Sentry before the process ends with exit code 1', async (_what, signal, type) => {
    const running = service ?? expect.fail('no service');
    const closed = once(running, 'close');
    running.kill(signal);
    const [code] = await closed;
    expect(code).toBe(1);
    const [event, ...others] = peer.reports();
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      type: 'event',
      level: 'fatal',
      transaction: 'process',
      exception: { values: [{ type, mechanism: { handled: false } }] },
    });
    expect(log).toMatch(/ ERROR error nothing holds| ERROR error nobody waits/);
    expect(JSON.stringify(peer.requests)).not.toMatch(/s3cret|latchkey-telling-/);
  });

  test('in the first of several processes behaves the same', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const listeners = [{ resources: ['human', 'health'], binds: [{ address }] }];
    const several = new Program(
      folder,
      { data_dir: join(folder, 'data'), http: { public_base: `http://${address}/`, workers: 2, listeners } },
      { name: 'several.json' },
    );
    const first = await several.serve(`http://${address}/`, {
      environment: { SENTRY_DSN: peer.dsn },
      flags: ['--import', join(folder, 'defects.mjs')],
    });
    try {
      const closed = once(first, 'close');
      first.kill('SIGUSR2');
      expect((await closed)[0]).toBe(1);
      expect(peer.reports()).toMatchObject([{ level: 'fatal', exception: { values: [{ type: 'TypeError' }] } }]);
    } finally {
      await killProcess(first);
    }
  });
});
