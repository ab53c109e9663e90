import type { ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.js';
import { Program } from '../support/program.js';

/** Loaded before the program. The signal causes an uncaught error that ends the process immediately. */
const CRASH = `
process.on('SIGUSR2', () => {
  process.emit('uncaughtException', new Error('the last thing that happened'));
  process.exit(3);
});`;

let folder: string;
let logFile: string;
let program: Program;
let service: ChildProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-crash-'));
  // Lets the database server's account enter the folder when the tests run as root.
  chmodSync(folder, 0o711);
  logFile = join(folder, 'latchkey.log');
  const preload = join(folder, 'crash.mjs');
  writeFileSync(preload, CRASH);
  const address = `127.0.0.1:${await freePort()}`;
  program = new Program(folder, {
    data_dir: join(folder, 'data'),
    http: { public_base: `http://${address}/`, listeners: [{ resources: ['health'], binds: [{ address }] }] },
    logging: { output: logFile },
  });
  service = await program.serve(`http://${address}/`, {
    environment: { NODE_OPTIONS: `--import=${preload}` },
  });
});

afterAll(async () => {
  // Stops the database that was left running: the last process that uses it does so on exit.
  await program.run(['database', 'status']);
  rmSync(folder, { recursive: true, force: true });
});

test('a process that exits immediately has written all pending log lines (operations 5.9)', async () => {
  service.kill('SIGUSR2');
  const code = await new Promise((resolve) => service.once('close', resolve));
  expect(code).toBe(3);
  expect(readFileSync(logFile, 'utf8')).toMatch(/ ERROR error the last thing that happened stack=/);
});
