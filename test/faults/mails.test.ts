/**
 * Emails are sent for committed changes and nothing else, however the process ends (operations 6.1, O-02, O-05, F-02).
 */
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changePassword as askToChangePassword } from '../support/account-operations.ts';
import { Browser } from '../support/browser.ts';
import { freePort } from '../support/free-port.js';
import { killProcess, Program, stopProcess } from '../support/program.js';
import { readMail } from '../support/read-mail.ts';
import { type SmtpPeer, startSmtpPeer } from '../support/smtp-peer.ts';

const ROUNDS = 3;
const USERS = ['amira', 'bela', 'chen', 'dora'];
const words = (round: number) => `correct horse battery staple ${round}`;

let folder: string;
let base: string;
let program: Program;
let peer: SmtpPeer;
let service: ChildProcess | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-mails-'));
  // Lets the database server's account enter the folder when the tests run as root.
  chmodSync(folder, 0o711);
  peer = await startSmtpPeer();
  const port = await freePort();
  base = `http://127.0.0.1:${port}/`;
  program = new Program(folder, {
    data_dir: join(folder, 'data'),
    http: {
      public_base: base,
      listeners: [{ resources: ['human', 'graphql', 'health'], binds: [{ address: `127.0.0.1:${port}` }] }],
    },
    email: {
      ...{ transport: 'smtp', hostname: '127.0.0.1', port: peer.port, mode: 'plain' },
      from: 'noreply@example.org',
    },
    jobs: { poll_interval: '100ms' },
    rate_limiting: { login: { per_ip: { burst: 1000, per_second: 1000 } } },
    passwords: { schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 64, iterations: 1 }] },
    logging: { level: 'error' },
  });
  // Delivers emails only after the next start: an email in delivery when the process ends would wait a minute for its
  // lease.
  await start('--no-worker');
  for (const name of USERS) {
    const args = ['manage', 'register-user', '--yes', '--email', `${name}@mail.example`, '--password-file', '-', name];
    await program.run(args, words(0));
  }
});

afterAll(async () => {
  if (service !== undefined) await stopProcess(service);
  await peer.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(...options: string[]): Promise<void> {
  service = await program.serve(base, { command: ['serve', ...options] });
}

async function kill(): Promise<void> {
  if (service !== undefined) await killProcess(service);
}

function browser(): Browser {
  return new Browser({ listener: base.slice(0, -1), publicBase: base });
}

/** @returns undefined when the process ended before the response */
async function signIn(name: string, password: string): Promise<Browser | undefined> {
  const page = browser();
  await page.open('/login');
  await page.submit({ username: name, password });
  return page.page.status === 303 ? page : undefined;
}

/** @returns whether the change was acknowledged */
async function changePassword(page: Browser | undefined, from: string, to: string): Promise<boolean> {
  try {
    return (
      page !== undefined && (await askToChangePassword(page, { oldPassword: from, newPassword: to })) === 'ALLOWED'
    );
  } catch {
    return false;
  }
}

/** Returns who was notified of a change since this email, with duplicate deliveries counted once. */
function toldSince(count: number): string[] {
  const mails = peer.mails
    .slice(count)
    .map(({ recipients, source }) => ({ to: recipients.join(), ...readMail(source) }));
  const changes = mails.filter(({ subject }) => subject === 'Your password was changed');
  const distinct = new Map(changes.map(({ headers, to }) => [headers['message-id'] ?? '', to]));
  return [...distinct.values()].map((to) => to.split('@')[0] ?? '').toSorted();
}

test(`${ROUNDS} kills during password changes: every stored change is announced once, and no other`, async () => {
  const passwords = new Map(USERS.map((name) => [name, words(0)]));
  let acknowledgedInAll = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const before = peer.mails.length;
    const pages = await Promise.all(USERS.map((name) => signIn(name, passwords.get(name) ?? '')));
    let count = 0;
    const enough = randomInt(1, USERS.length);
    const changing = USERS.map(async (name, index) => {
      const isAcknowledged = await changePassword(pages[index], passwords.get(name) ?? '', words(round));
      if (isAcknowledged) count += 1;
      // The other requests are still in progress.
      if (count >= enough) service?.kill('SIGKILL');
      return isAcknowledged;
    });
    const results = await Promise.all(changing);
    await kill();
    const acknowledged = USERS.filter((_, index) => results[index]);
    await start();
    const changed: string[] = [];
    for (const name of USERS) {
      if ((await signIn(name, words(round))) === undefined) continue;
      passwords.set(name, words(round));
      changed.push(name);
    }
    expect(changed).toEqual(expect.arrayContaining(acknowledged));
    acknowledgedInAll += acknowledged.length;
    await expect.poll(() => toldSince(before), { timeout: 30_000, interval: 100 }).toEqual(changed.toSorted());
    await pause(300);
    expect(toldSince(before)).toEqual(changed.toSorted());
    await kill();
    await start('--no-worker');
  }
  expect(acknowledgedInAll).toBeGreaterThan(0);
}, 300_000);
