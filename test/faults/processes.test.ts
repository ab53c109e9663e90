import type { ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseExposition, sumOf } from '../support/exposition.ts';
import { freePort } from '../support/free-port.js';
import { Program } from '../support/program.js';
import { servingProcesses } from '../support/serving-processes.ts';

const PROCESSES = 3;
const LONG_MS = 120_000;

let folder: string;
let base: string;
let socket: string;
let settings: Record<string, unknown>;
let service: ChildProcess;
let ended: Promise<number | null>;

/** Starts a service with three worker processes, and a program that records notifications to the service manager. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-processes-'));
  // Lets the database server's account enter the folder when the tests run as root.
  chmodSync(folder, 0o711);
  const port = await freePort();
  base = `http://127.0.0.1:${port}/`;
  socket = join(folder, 'socket');
  settings = {
    data_dir: join(folder, 'data'),
    http: {
      public_base: base,
      workers: PROCESSES,
      listeners: [
        {
          resources: ['human', 'health', 'prometheus'],
          binds: [{ address: `127.0.0.1:${port}` }, { socket, mode: '600' }],
        },
      ],
    },
    branding: { service_name: 'Harbour' },
    telemetry: { metrics: { exporter: 'prometheus' } },
    limits: { drain_delay: '1s' },
    logging: { output: join(folder, 'log') },
  };
  const programs = join(folder, 'programs');
  mkdirSync(programs);
  const notify = `#!/bin/sh\necho "$@" >> ${join(folder, 'told')}\n`;
  writeFileSync(join(programs, 'systemd-notify'), notify, { mode: 0o755 });
  service = await new Program(folder, settings).serve(base, {
    environment: {
      PATH: `${programs}${delimiter}${process.env['PATH']}`,
      NOTIFY_SOCKET: '/nobody/listens',
      WATCHDOG_USEC: '200000',
      UV_THREADPOOL_SIZE: '7',
    },
  });
  ended = new Promise((resolve) => service.once('exit', resolve));
});

afterAll(() => {
  service.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const log = (): string => readFileSync(join(folder, 'log'), 'utf8');

function told(): readonly string[] {
  const file = join(folder, 'told');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

const members = (): readonly number[] => servingProcesses(service.pid);

async function page(): Promise<string> {
  const response = await fetch(`${base}login`, { headers: { connection: 'close' } });
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  return await response.text();
}

/** Returns the number of pages served by all processes, as one of them reports it. */
async function shownPages(): Promise<number> {
  const response = await fetch(`${base}metrics`, { headers: { connection: 'close' } });
  const families = parseExposition(await response.text());
  // From one process: summed over three, it would not be 1.
  expect(sumOf(families, 'latchkey_build_info')).toBe(1);
  const name = 'http_server_duration_seconds';
  return sumOf(families, name, { route: '/login', status: '2xx' }, `${name}_count`);
}

function statusBySocket(): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const requested = request({ socketPath: socket, path: '/health', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    requested.once('error', reject).end();
  });
}

test('several processes serve one address and one Unix socket, with the flags and variables of the first (operations 1.7)', async () => {
  await expect.poll(told).toContain('READY=1');
  expect(members()).toHaveLength(PROCESSES);
  for (const pid of members()) {
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain('--max-semi-space-size=');
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toContain('UV_THREADPOOL_SIZE=7');
  }
  await Promise.all(Array.from({ length: 30 }, page));
  expect(await Promise.all(Array.from({ length: 9 }, statusBySocket))).toEqual(Array.from({ length: 9 }, () => 200));
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  await expect.poll(() => log().match(/ GET-1 - "GET \/(?:login|health)/g)?.length).toBe(PROCESSES);
  for (const line of log().trim().split('\n')) expect(line).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z (?:INFO|WARN|ERROR) /);
});

test('any process returns the metrics of all (operations 7.2)', async () => {
  const shown = log().match(/"GET \/login HTTP\/1.1" 200 /g)?.length;
  const responses = await Promise.all(Array.from({ length: 9 }, shownPages));
  expect(responses).toEqual(Array.from({ length: 9 }, () => shown));
});

test('a killed process is replaced while the others serve', { timeout: LONG_MS }, async () => {
  const before = await shownPages();
  const [victim = 0] = members();
  process.kill(victim, 'SIGKILL');
  await expect.poll(() => log()).toMatch(/ERROR process\.died .*signal=SIGKILL/);
  // Requests accepted by the killed process fail. Later ones do not.
  for (let visits = 0; visits < 20; visits += 1) await page();
  await expect.poll(() => log()).toContain('process.started');
  expect(members()).toHaveLength(PROCESSES);
  expect(members()).not.toContain(victim);
  // Includes the counts that the killed process last reported.
  expect(await shownPages()).toBe(before + 20);
  expect(await Promise.all(Array.from({ length: 9 }, statusBySocket))).toEqual(Array.from({ length: 9 }, () => 200));
});

test('a reload reaches all of them, even after an invalid file, and is logged once', async () => {
  const write = (text: string) => writeFileSync(join(folder, 'latchkey.json'), text, { mode: 0o600 });
  const reloads = () => log().match(/ reload (?:configuration reloaded|reload failed)/g)?.length ?? 0;
  write('{');
  service.kill('SIGHUP');
  await expect.poll(reloads).toBe(1);
  write(JSON.stringify({ ...settings, branding: { service_name: 'Lighthouse' } }));
  service.kill('SIGHUP');
  await expect.poll(reloads).toBe(2);
  const pages = await Promise.all(Array.from({ length: 30 }, page));
  expect(pages.filter((text) => !text.includes('Lighthouse'))).toEqual([]);
  expect(told()).toContainEqual(expect.stringMatching(/^RELOADING=1 MONOTONIC_USEC=\d+$/));
});

test('a port in use ends the start with exit 71 and the reason, as with one process', async () => {
  const listeners = [{ resources: ['human'], binds: [{ address: new URL(base).host }] }];
  const http = { public_base: base, workers: 2, listeners };
  const program = new Program(folder, { ...settings, http }, { name: 'second.json' });
  const second = program.launch(['serve'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  second.stderr?.on('data', (text) => {
    said += String(text);
  });
  expect(await new Promise((resolve) => second.once('close', resolve))).toBe(71);
  expect(said).toMatch(/^latchkey: cannot listen on .* EADDRINUSE/m);
});

test('a signal to all of them at once counts once: requests finish, exit 0, and the manager is notified of each step', async () => {
  await expect.poll(told).toContain('WATCHDOG=1');
  const requests = Array.from({ length: 30 }, page);
  for (const pid of members()) process.kill(pid, 'SIGTERM');
  service.kill('SIGTERM');
  // All requests succeed, because the listeners stay open for `limits.drain_delay`.
  await Promise.all(requests);
  expect(await ended).toBe(0);
  const steps = told().filter((state) => state !== 'WATCHDOG=1');
  expect(steps.map((state) => state.replace(/\d+$/, 'N'))).toEqual([
    'READY=N',
    'RELOADING=1 MONOTONIC_USEC=N',
    'READY=N',
    'RELOADING=1 MONOTONIC_USEC=N',
    'READY=N',
    'STOPPING=N',
  ]);
  expect(existsSync(socket)).toBe(false);
  expect(members()).toEqual([]);
});

test.each([
  [1, 'the first is not listening yet'],
  [2, 'the others are not'],
])(
  'a signal when %i of them or more exist, and %s, still ends all with exit 0',
  { timeout: LONG_MS },
  async (count) => {
    const starting = new Program(folder, settings).launch(['serve'], { stdio: 'ignore' });
    const code = new Promise((resolve) => starting.once('exit', resolve));
    await expect
      .poll(() => servingProcesses(starting.pid).length, { interval: 5, timeout: LONG_MS })
      .toBeGreaterThanOrEqual(count);
    starting.kill('SIGTERM');
    expect(await code).toBe(0);
    expect(servingProcesses(starting.pid)).toEqual([]);
  },
);
