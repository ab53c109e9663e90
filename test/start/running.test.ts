import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.js';
import { Program, stopProcess } from '../support/program.js';

let folder: string;
let logFile: string;
let base: string;
let service: ChildProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-running-'));
  logFile = join(folder, 'latchkey.log');
  const address = `127.0.0.1:${await freePort()}`;
  base = `http://${address}/`;
  const program = new Program(folder, {
    data_dir: join(folder, 'data'),
    http: {
      public_base: base.slice(0, -1),
      listeners: [{ resources: ['human', 'health', 'graphql', 'adminapi', 'adminarea'], binds: [{ address }] }],
    },
    logging: { output: logFile, level: 'debug' },
    policy: { data: { admin_users: ['alice'] } },
  });
  service = await program.serve(base);
});

afterAll(async () => {
  const code = await stopProcess(service);
  rmSync(folder, { recursive: true, force: true });
  expect(code).toBe(0);
});

test('the start-up lines show a command that creates the first admin from any directory', async () => {
  const [, command = ''] = /create the first one with: (.*)$/m.exec(await logWith('create the first one')) ?? [];
  const pasted = spawn('sh', ['-c', `${command} --yes --password-file - alice`], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  pasted.stdin.end('correct horse battery staple');
  let printed = '';
  pasted.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  await new Promise((resolve) => pasted.once('close', resolve));
  expect(printed).toMatch(/^[0-9A-Z]{26}\talice\n$/);
});

test('the start-up lines show the issuer as configured, for use in applications', async () => {
  const [, issuer] = /issuer to configure in clients, exactly as written: (.*)$/m.exec(await logWith('ready at')) ?? [];
  expect(issuer).toBe(base.slice(0, -1));
});

test('the start-up lines contain the URL of the admin area', async () => {
  expect(await logWith('ready at')).toContain(` admin area: ${base}admin/`);
});

test('the start-up lines name missing accounts of policy.data.admin_users (S-177)', async () => {
  expect(await logWith('policy.data.admin_users')).toMatch(
    /WARN .*startup .*manage register-user NAME.* missing=alice/,
  );
});

test('a start-up line says which address identifies a client, and which proxies are trusted (operations 5.6)', async () => {
  expect(await logWith('auth.addresses')).toMatch(
    / INFO auth\.addresses client addresses come from .* http\.trusted_proxies \(127\.0\.0\.0\/8, ::1\/128\) from its header x-forwarded-for/,
  );
});

test('slow modules are loaded after the start, before a request needs them', async () => {
  const log = await logWith('http.preloaded');
  expect(log.indexOf('http.preloaded')).toBeGreaterThan(log.indexOf('ready at'));
  expect(log).not.toContain(' /graphql ');
});

test('SIGHUP without a terminal reopens a rotated log file, and the service continues', async () => {
  renameSync(logFile, `${logFile}.1`);
  service.kill('SIGHUP');
  await logWith(' reload ');
  await fetch(`${base}health`);
  expect(await logWith('GET /health')).not.toContain('startup');
  expect(service.exitCode).toBeNull();
});

/** Returns the log file once it contains a text. */
async function logWith(text: string): Promise<string> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const log = existsSync(logFile) ? readFileSync(logFile, 'utf8') : '';
    if (log.includes(text)) return log;
    if (performance.now() > deadline) throw new Error(`the log does not say ${text}: ${log}`);
    await pause(20);
  }
}
