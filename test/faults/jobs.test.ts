/** Background jobs survive the process that queued them (operations 6.1, security O-02, O-05, F-02). */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { freePort } from '../support/free-port.js';
import { killProcess, Program, stopProcess } from '../support/program.js';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';

let folder: string;
let base: string;
let healthPort: number;
let program: Program;
let party: Server;
const received: string[] = [];
const processes: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-jobs-'));
  // Lets the database server's account enter the folder when the tests run as root.
  chmodSync(folder, 0o711);
  party = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      received.push(new URLSearchParams(body).get('logout_token') ?? '');
      response.writeHead(204).end();
    });
  });
  const partyPort = await freePort();
  party.listen(partyPort, '127.0.0.1');
  await once(party, 'listening');
  const port = await freePort();
  healthPort = await freePort();
  base = `http://127.0.0.1:${port}/`;
  program = new Program(folder, {
    data_dir: join(folder, 'data'),
    http: {
      public_base: base,
      listeners: [{ resources: ['discovery', 'human', 'oauth', 'health'], binds: [{ address: `127.0.0.1:${port}` }] }],
    },
    clients: [
      {
        client_id: CLIENT_ID,
        client_auth_method: 'client_secret_basic',
        client_secret: SECRET,
        redirect_uris: [CALLBACK],
        backchannel_logout_uri: `http://127.0.0.1:${partyPort}/logout`,
        first_party: true,
      },
    ],
    jobs: { poll_interval: '100ms' },
    logging: { level: 'error' },
  });
  await launch(['serve', '--no-worker'], base);
  await program.run(['manage', 'register-user', '--yes', '--password-file', '-', 'amira'], PASSWORD);
});

afterAll(async () => {
  for (const child of processes.toReversed()) await stopProcess(child);
  party.closeAllConnections();
  party.close();
  rmSync(folder, { recursive: true, force: true });
});

async function launch(command: readonly string[], address: string, environment = {}): Promise<ChildProcess> {
  const child = await program.serve(address, { command, environment });
  processes.push(child);
  return child;
}

/** @returns the `sid` of the ended session */
async function signInAndOut(): Promise<unknown> {
  const browser = new Browser({ listener: base.slice(0, -1), publicBase: base });
  const query = { client_id: CLIENT_ID, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid' };
  await browser.open(`/authorize?${new URLSearchParams(query)}`);
  await browser.submit({ username: 'amira', password: PASSWORD });
  const page = await browser.follow();
  const code = new URL(page.location ?? '').searchParams.get('code') ?? '';
  const response = await fetch(`${base}oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${CLIENT_ID}:${SECRET}`)}` },
    body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK }),
  });
  const { id_token: idToken } = await response.json();
  await browser.get('/logout');
  await browser.submit();
  expect(browser.page.status).toBe(303);
  return JSON.parse(Buffer.from(String(idToken).split('.')[1] ?? '', 'base64url').toString()).sid;
}

async function kill(child: ChildProcess): Promise<void> {
  await killProcess(child);
  processes.splice(processes.indexOf(child), 1);
}

test('kill -9 between the sign-out and its delivery: the logout token arrives after the restart', async () => {
  const sid = await signInAndOut();
  expect(received).toEqual([]);
  const [service] = processes;
  if (service !== undefined) await kill(service);
  await launch(['serve'], base);
  await expect.poll(() => received.length).toBe(1);
  const keys = createRemoteJWKSet(new URL(`${base}oauth2/keys.json`));
  const { payload } = await jwtVerify(received[0] ?? '', keys, {
    issuer: base,
    audience: CLIENT_ID,
    typ: 'logout+jwt',
    requiredClaims: ['jti', 'iat', 'exp', 'sub', 'sid', 'events'],
  });
  expect(payload['sid']).toBe(sid);
}, 60_000);

test('latchkey worker runs the jobs of a service without workers, reports its state, and stops at SIGTERM', async () => {
  const serving = processes.splice(0);
  for (const child of serving) expect(await stopProcess(child)).toBe(0);
  received.length = 0;
  await launch(['serve', '--no-worker'], base);
  const health = `http://127.0.0.1:${healthPort}/`;
  const worker = await launch(['worker'], health, { LATCHKEY_WORKER_HEALTH: `127.0.0.1:${healthPort}` });
  await signInAndOut();
  await expect.poll(() => received.length).toBe(1);
  expect((await fetch(`${health}login`)).status).toBe(404);
  expect(await stopProcess(worker)).toBe(0);
}, 60_000);
