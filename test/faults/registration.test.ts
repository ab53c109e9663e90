/** Registrations with an email address while processes are killed (browser-flows 5.3, security O-01, O-02). */
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sql } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.js';
import type { ReceivedMail } from '../support/mails.ts';
import { killProcess, Program, stopProcess } from '../support/program.js';
import { readMail } from '../support/read-mail.ts';
import { beginRegistration, codeSentTo } from '../support/registering.ts';
import { type SmtpPeer, startSmtpPeer } from '../support/smtp-peer.ts';

const KILLS = 4;
const AT_ONCE = 4;
const WAIT = { timeout: 60_000, interval: 20 };

let folder: string;
let base: string;
let db: TestDatabase;
let smtp: SmtpPeer;
let program: Program;
const running: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-registration-'));
  chmodSync(folder, 0o711);
  db = await createTestDatabase();
  smtp = await startSmtpPeer();
  const port = await freePort();
  base = `http://127.0.0.1:${port}/`;
  const plenty = { burst: 1000 };
  program = new Program(folder, {
    data_dir: join(folder, 'data'),
    database: { uri: db.connectionString },
    http: {
      public_base: base,
      listeners: [{ resources: ['human', 'health'], binds: [{ address: `127.0.0.1:${port}` }] }],
    },
    account: { password_registration_enabled: true },
    email: {
      ...{ transport: 'smtp', hostname: '127.0.0.1', port: smtp.port, mode: 'plain' },
      from: 'noreply@example.org',
    },
    jobs: { poll_interval: '100ms' },
    rate_limiting: { registration: plenty, registration_check: plenty, email_authentication: { per_ip: plenty } },
    passwords: {
      minimum_complexity: 0,
      schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 64, iterations: 1 }],
    },
    logging: { level: 'error' },
  });
});

afterEach(async () => {
  for (const child of running.splice(0)) await stopProcess(child);
});

afterAll(async () => {
  await smtp.stop();
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(...options: string[]): Promise<ChildProcess> {
  const child = await program.serve(base, { command: ['serve', ...options] });
  running.push(child);
  return child;
}

/** @returns the browser, if the registration was acknowledged */
async function begin(name: string): Promise<Browser | undefined> {
  const browser = new Browser({ listener: base.slice(0, -1), publicBase: base });
  try {
    const { status } = await beginRegistration(browser, { username: name, email: `${name}@mail.example` });
    return status === 303 ? browser : undefined;
  } catch {
    return undefined;
  }
}

async function registered(): Promise<string[]> {
  const rows = await sql<{ username: string }>(db.database, 'select username from user_registrations order by 1', []);
  return rows.map(({ username }) => username);
}

/** Returns the received emails without duplicate deliveries. */
function arrived(): ReceivedMail[] {
  const mails = smtp.mails.map(({ recipients, source }) => ({ to: recipients.join(), ...readMail(source) }));
  return [...new Map(mails.map((mail) => [mail.headers['message-id'], mail])).values()];
}

function told(): string[] {
  return arrived()
    .map(({ to }) => to.split('@')[0] ?? '')
    .toSorted();
}

async function unfinishedJobs(): Promise<number> {
  const [row] = await sql<{ count: number }>(
    db.database,
    `select count(*)::integer as count from queue_jobs where queue = 'send-email-authentication-code'`,
    [],
  );
  return row?.count ?? -1;
}

test(`${KILLS} kills during registrations: acknowledged users get a code after the restart and can continue, and no other mail is sent`, async () => {
  const acknowledged = new Map<string, Browser>();
  for (let round = 0; round < KILLS; round += 1) {
    // Delivers emails only after the next start, so that none is in delivery when the process ends.
    const service = await start('--no-worker');
    const enough = randomInt(1, AT_ONCE);
    let count = 0;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, index) => {
        const name = `person${round}-${index}`;
        const browser = await begin(name);
        if (browser !== undefined) acknowledged.set(name, browser);
        count += browser === undefined ? 0 : 1;
        // The other requests are still in progress.
        if (count >= enough) service.kill('SIGKILL');
      }),
    );
    await killProcess(service);
    running.splice(0);
  }
  const stored = await registered();
  expect(stored).toEqual(expect.arrayContaining([...acknowledged.keys()]));
  expect(acknowledged.size).toBeGreaterThanOrEqual(KILLS);
  expect(smtp.mails).toEqual([]);

  await start();
  await expect.poll(unfinishedJobs, WAIT).toBe(0);
  expect(told()).toEqual(stored);
  for (const [name, browser] of acknowledged) {
    await browser.follow();
    await browser.submit({ action: 'verify', code: codeSentTo(`${name}@mail.example`, arrived()) });
    await browser.follow();
    await browser.submit({ action: 'skip' });
    expect((await browser.follow()).status).toBe(200);
  }
  const accounts = `select u.username || '=' || e.email as text from users u join user_emails e on e.user_id = u.id`;
  const made = await sql<{ text: string }>(db.database, accounts, []);
  expect(made.map(({ text }) => text).toSorted()).toEqual(
    [...acknowledged.keys()].map((name) => `${name}=${name}@mail.example`).toSorted(),
  );
}, 300_000);
