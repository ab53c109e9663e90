/**
 * Processes and homeservers that are killed during sign-ins and sign-outs. Afterwards, the homeserver has exactly the
 * devices of the active sessions (chat-compat 11.6 to 11.8, security O-02, O-05, F-17).
 */
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { ChatClient, textOf } from '../support/chat-client.ts';
import { ChatOAuthClient, chatClientSettings } from '../support/chat-oauth-client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sql } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.js';
import { killProcess, Program, stopProcess } from '../support/program.js';
import { type StandInHomeserver, startStandInHomeserver } from '../support/stand-in-homeserver/stand-in-homeserver.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1TWB';
const SECRET = 'shared-secret-of-the-test';
const PASSWORD = 'correct horse battery staple';
const ROUNDS = 3;
const DEVICES = ['DEVICEAAAA', 'DEVICEBBBB', 'DEVICECCCC', 'DEVICEDDDD'];
const API = 'urn:chat:client:api:*';
const WAIT = { timeout: 60_000, interval: 50 };

/** The last working token that each device's client received. A client with a pending request has no entry. */
const held = new Map<string, string>();

let folder: string;
let base: string;
let db: TestDatabase;
let homeserver: StandInHomeserver;
let program: Program;
let service: ChildProcess | undefined;
let isUnderLoad = false;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-devices-'));
  chmodSync(folder, 0o711);
  db = await createTestDatabase();
  homeserver = await startStandInHomeserver(SECRET);
  const port = await freePort();
  base = `http://127.0.0.1:${port}/`;
  const ample = { burst: 100_000, per_second: 1000 };
  program = new Program(folder, {
    data_dir: join(folder, 'data'),
    database: { uri: db.connectionString },
    http: {
      public_base: base,
      listeners: [{ resources: ['human', 'oauth', 'compat', 'health'], binds: [{ address: `127.0.0.1:${port}` }] }],
    },
    homeserver: {
      ...{ kind: 'synapse', homeserver: homeserver.serverName, endpoint: homeserver.endpoint, secret: SECRET },
    },
    clients: [chatClientSettings(CLIENT, { first_party: true })],
    jobs: { poll_interval: '100ms' },
    passwords: { schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 64, iterations: 1 }] },
    rate_limiting: { login: { per_ip: ample, per_account: ample, per_known_browser: ample } },
    logging: { level: 'error' },
  });
  service = await program.serve(base);
  await program.run(['manage', 'register-user', '--yes', '--password-file', '-', 'amira'], PASSWORD);
});

afterAll(async () => {
  if (service !== undefined) await stopProcess(service);
  await homeserver.stop();
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

const origin = () => ({ address: base.slice(0, -1) });

async function signInByPassword(device: string): Promise<string> {
  return textOf(await new ChatClient(origin()).tryLogin('amira', PASSWORD, { device_id: device }), 'access_token');
}

async function signInByCode(browser: Browser, device: string): Promise<string> {
  const client = new ChatOAuthClient(origin(), CLIENT);
  return (await client.signIn(browser, `${API} urn:chat:client:device:${device}`)).accessToken;
}

async function signOut(token: string): Promise<void> {
  // Chat clients may also call it with an OAuth access token.
  const response = await new ChatClient(origin()).post('/logout', undefined, { authorization: `Bearer ${token}` });
  if (response.status !== 200) throw new Error(`no logout: ${response.status}`);
}

/** Signs in and out on one device, alternating between both protocols, until the service stops responding. */
async function useUntilKilled(device: string): Promise<void> {
  const browser = new Browser({ listener: origin().address, publicBase: base });
  try {
    await browser.open('/login');
    await browser.submit({ username: 'amira', password: PASSWORD });
    while (isUnderLoad) {
      held.delete(device);
      const isByCode = randomInt(2) === 0;
      const token = await (isByCode ? signInByCode(browser, device) : signInByPassword(device)).catch(() => undefined);
      if (token === undefined) continue;
      held.set(device, token);
      if (randomInt(3) === 0) continue;
      held.delete(device);
      await signOut(token);
    }
  } catch {
    // The service was killed.
  }
}

/** Interrupts the homeserver briefly, including requests in progress. */
async function killHomeserver(): Promise<void> {
  await homeserver.setFault({ kind: 'refuse' });
  await pause(randomInt(50));
  await homeserver.setFault(undefined);
}

async function activeDevices(): Promise<string[]> {
  const rows = await sql<{ device_id: string }>(
    db.database,
    `select device_id from oauth2_sessions where finished_at is null and device_id is not null
     union all select device_id from compat_sessions where finished_at is null order by 1`,
    [],
  );
  return rows.map(({ device_id }) => device_id);
}

/** Expires leases of killed processes and makes pending retries due, instead of waiting for minutes. */
async function passTime(): Promise<void> {
  await sql(db.database, "update homeserver_leases set expires_at = now() - interval '1 second'");
  await sql(db.database, "update queue_jobs set due_at = now() where queue = 'sync-devices' and failed_at is null");
}

async function isActive(token: string): Promise<boolean> {
  const client = new ChatOAuthClient(origin(), CLIENT);
  const { body } = await client.post('/oauth2/introspect', { token }, { authorization: `Bearer ${SECRET}` });
  return body['active'] === true;
}

test(`${ROUNDS} kills of the service and its homeserver: devices and sessions agree afterwards`, async () => {
  await expect.poll(() => homeserver.user('amira'), WAIT).toBeDefined();
  for (let round = 0; round < ROUNDS; round += 1) {
    isUnderLoad = true;
    const load = DEVICES.map(useUntilKilled);
    await pause(randomInt(200, 600));
    await killHomeserver();
    await pause(randomInt(20, 200));
    if (service !== undefined) await killProcess(service);
    isUnderLoad = false;
    await Promise.all(load);
    service = await program.serve(base);
    await passTime();
    // It finds the lease of a killed process, and must queue the sync that this process did not queue.
    await signInByPassword('DEVICEREST');
    await expect
      .poll(
        async () => await sql(db.database, "select from queue_jobs where queue = 'sync-devices' and failed_at is null"),
        WAIT,
      )
      .toEqual([]);
    const active = await activeDevices();
    expect(new Set(active).size, `round ${round}: one session for each device`).toBe(active.length);
    const there = [...(homeserver.user('amira')?.devices.keys() ?? [])];
    expect(there.toSorted(), `round ${round}`).toEqual(active);
    for (const [device, token] of held) {
      expect(await isActive(token), `round ${round}: the token on ${device} that was answered works`).toBe(true);
    }
  }
}, 180_000);
