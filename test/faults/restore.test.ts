/** The drill of operations 3.11 and security O-14, F-26: back up under load, lose everything, restore, continue. */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.js';
import { killProcess, Program, stopProcess } from '../support/program.js';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const SECRET = 'a-secret-of-at-least-16-characters';
let folder: string;
let base: string;
let program: Program;
let service: ChildProcess | undefined;

const inFolder = (...names: string[]): string => join(folder, ...names);
const here = (name: string): boolean => existsSync(inFolder('data', name));

async function post(path: string, fields: Record<string, string>): Promise<Readonly<Record<string, unknown>>> {
  const authorization = `Basic ${Buffer.from(`${CLIENT_ID}:${SECRET}`).toString('base64')}`;
  const body = new URLSearchParams(fields);
  const response = await fetch(base + path, { method: 'POST', headers: { authorization }, body });
  expect(response.status).toBe(200);
  return JSON.parse(await response.text());
}

const issue = async (): Promise<string> =>
  String((await post('oauth2/token', { grant_type: 'client_credentials' }))['access_token']);

async function stop(): Promise<void> {
  if (service !== undefined) await stopProcess(service);
  service = undefined;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-drill-'));
  // Lets the database server's account enter the folder when the tests run as root.
  chmodSync(folder, 0o711);
  const port = await freePort();
  base = `http://127.0.0.1:${port}/`;
  program = new Program(folder, {
    data_dir: inFolder('data'),
    http: {
      public_base: base,
      listeners: [{ name: 'web', resources: ['oauth', 'health'], binds: [{ address: `127.0.0.1:${port}` }] }],
    },
    clients: [{ client_id: CLIENT_ID, client_auth_method: 'client_secret_basic', client_secret: SECRET }],
    logging: { level: 'error' },
  });
  service = await program.serve(base);
}, 120_000);
afterAll(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

test('changes acknowledged before a backup under load work after a full loss and restore (O-14, F-26)', async () => {
  const before = await issue();
  let isUnderLoad = true;
  const load = (async () => {
    while (isUnderLoad) await issue();
  })();
  await program.run(['backup', '-o', 'backup.tar.gz', '--include-secrets']);
  isUnderLoad = false;
  await load;
  await stop();
  rmSync(inFolder('data'), { recursive: true, force: true });
  await program.run(['restore', 'backup.tar.gz']);
  service = await program.serve(base);
  expect(await post('oauth2/introspect', { token: before })).toMatchObject({ active: true, client_id: CLIENT_ID });
  await stop();
}, 120_000);

test('a restore that is killed leaves the former database and nothing else (O-08)', async () => {
  service = await program.serve(base);
  const newest = await issue();
  await stop();
  const restoring = program.launch(['restore', 'backup.tar.gz', '--force'], { stdio: 'ignore' });
  const staging = (): string | undefined =>
    readdirSync(inFolder('data')).find((name) => name.startsWith('db.restore-'));
  const deadline = performance.now() + 30_000;
  // At this point, its server is running and may contain data.
  while (staging() === undefined || !here(`${staging()}/db/postmaster.pid`)) {
    if (performance.now() > deadline) throw new Error('no restore began');
    await pause(5);
  }
  await killProcess(restoring);
  expect(staging()).toBeDefined();
  service = await program.serve(base);
  expect(await post('oauth2/introspect', { token: newest })).toMatchObject({ active: true });
  await stop();
  expect(readdirSync(inFolder('data')).filter((name) => name.startsWith('db'))).toEqual(['db']);
  const left = execFileSync('ps', ['-e', '-o', 'args'], { encoding: 'utf8' });
  expect(left.split('\n').filter((line) => line.includes(folder))).toEqual([]);
}, 120_000);
