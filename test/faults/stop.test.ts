import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.js';
import { Program, stopProcess } from '../support/program.js';

let folder: string;
let base: string;
let program: Program;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-stop-'));
  // Lets the database server's account enter the folder when the tests run as root.
  chmodSync(folder, 0o711);
  const port = await freePort();
  base = `http://127.0.0.1:${port}/`;
  program = new Program(folder, {
    data_dir: join(folder, 'data'),
    http: {
      public_base: base,
      listeners: [{ resources: ['human', 'health'], binds: [{ address: `127.0.0.1:${port}` }] }],
    },
    logging: { level: 'error' },
  });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isDatabaseRunning = (): boolean => existsSync(join(folder, 'data', 'db', 'postmaster.pid'));

test('a SIGTERM at any moment of the start leaves nothing running, even while the database is being created', async () => {
  for (const milliseconds of [100, 250, 400, 550, 700, 1000]) {
    const service = program.launch(['serve']);
    service.stdin?.end();
    await pause(milliseconds);
    await stopProcess(service);
    expect(isDatabaseRunning(), `stopped after ${milliseconds} ms`).toBe(false);
  }
});

test('a SIGTERM under load: every started response is complete, then exit 0 and no database left (O-07)', async () => {
  const service = await program.serve(base);
  let responded = 0;
  const broken: unknown[] = [];
  let isStopping = false;
  const visitors = Array.from({ length: 8 }, async () => {
    for (;;) {
      try {
        const response = await fetch(`${base}login`);
        await response.text();
        if (response.status !== 200) broken.push(response.status);
        responded += 1;
      } catch (error) {
        // New connections are refused once the listener is closed. Nothing else may fail.
        if (!isStopping) broken.push(error);
        return;
      }
    }
  });
  await expect.poll(() => responded).toBeGreaterThan(10);
  isStopping = true;
  expect(await stopProcess(service)).toBe(0);
  await Promise.all(visitors);
  expect(broken).toEqual([]);
  expect(isDatabaseRunning()).toBe(false);
});

test('a second service on the same port exits with 71 and the reason, and disturbs nothing', async () => {
  const service = await program.serve(base);
  await expect(program.run(['serve'])).rejects.toThrow(/ended with 71: .*127\.0\.0\.1/s);
  expect((await fetch(`${base}health`)).status).toBe(200);
  expect(await stopProcess(service)).toBe(0);
});

test('commands see the same data whether or not the service runs, and stop the database they started', async () => {
  await program.run(
    ['manage', 'register-user', '--yes', '--password-file', '-', 'first'],
    'correct horse battery staple',
  );
  expect(isDatabaseRunning()).toBe(false);
  const service = await program.serve(base);
  await expect(
    program.run(['manage', 'register-user', '--yes', '--password-file', '-', 'FIRST'], 'correct horse battery staple'),
  ).rejects.toThrow(/ended with 1/);
  expect(JSON.parse(await program.run(['--json', 'database', 'status']))).toMatchObject({
    ...{ kind: 'embedded', pending: [], due_jobs: 0 },
    processes: [{ version: expect.any(String), does_background_work: true, last_seen_at: expect.any(String) }],
  });
  expect(await stopProcess(service)).toBe(0);
});

test('a lost encryption key is never replaced when data was sealed with it: exit 78', async () => {
  rmSync(join(folder, 'data', 'encryption.key'));
  await expect(program.run(['serve'])).rejects.toThrow(/ended with 78: .*encryption key of this database is missing/s);
  expect(existsSync(join(folder, 'data', 'encryption.key'))).toBe(false);
  expect(isDatabaseRunning()).toBe(false);
});
