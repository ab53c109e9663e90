/**
 * Mail servers that fail, and processes that are killed while they deliver email (security F-02, F-16, operations 6.1).
 * The tests expire the lease of a killed process by updating its row instead of waiting.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openDatabase } from '#platform/postgres/open-database.ts';
import { Browser } from '../support/browser.ts';
import { parseConnectionUri } from '../support/connection-uri.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sql } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.js';
import { killProcess, Program, stopProcess } from '../support/program.js';
import { readMail } from '../support/read-mail.ts';
import { type ScriptedSmtp, startScriptedSmtp } from '../support/scripted-smtp.ts';
import { silentLog } from '../support/silent-log.ts';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const QUEUE = 'send-account-recovery-emails';
const WAIT = { timeout: 60_000, interval: 20 };

let folder: string;
let db: TestDatabase;
let smtp: ScriptedSmtp;
let party: Server;
let notified = 0;
const programs: Program[] = [];
const bases: string[] = [];
const running = new Set<ChildProcess>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-mail-server-'));
  chmodSync(folder, 0o711);
  db = await createTestDatabase();
  smtp = await startScriptedSmtp();
  party = createServer((request, response) => {
    notified += 1;
    request.resume();
    response.writeHead(204).end();
  });
  party.listen(0, '127.0.0.1');
  await once(party, 'listening');
  const bound = party.address();
  const partyPort = bound === null || typeof bound === 'string' ? 0 : bound.port;
  for (const index of [0, 1]) {
    const port = await freePort();
    bases.push(`http://127.0.0.1:${port}/`);
    const settings = {
      data_dir: join(folder, 'data'),
      database: { uri: db.connectionString },
      http: {
        public_base: bases[0],
        listeners: [{ resources: ['human', 'oauth', 'health'], binds: [{ address: `127.0.0.1:${port}` }] }],
      },
      clients: [
        {
          client_id: CLIENT_ID,
          client_auth_method: 'client_secret_basic',
          client_secret: 'a-secret-of-at-least-16-characters',
          redirect_uris: [CALLBACK],
          backchannel_logout_uri: `http://127.0.0.1:${partyPort}/logout`,
          first_party: true,
        },
      ],
      account: { password_recovery_enabled: true },
      email: {
        ...{ transport: 'smtp', hostname: '127.0.0.1', port: smtp.port, mode: 'plain', timeout: '10m' },
        ...{ from: 'noreply@example.org', security_notices: false },
      },
      jobs: { poll_interval: '100ms' },
      limits: { shutdown_timeout: '1s' },
      rate_limiting: { account_recovery: { per_ip: { burst: 1000 }, per_address: { burst: 1000 } } },
      passwords: { schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 64, iterations: 1 }] },
      logging: { level: 'error' },
    };
    programs.push(new Program(folder, settings, { name: `latchkey-${index}.json` }));
  }
  const args = ['manage', 'register-user', '--yes', '--email', 'amira@mail.example', '--password-file', '-', 'amira'];
  await programs[0]?.run(args, PASSWORD);
});

afterAll(async () => {
  await smtp.stop();
  party.closeAllConnections();
  party.close();
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  smtp.reactions = {};
  await sql(db.database, 'delete from queue_jobs where queue = $1::text', [QUEUE]);
});

afterEach(async () => {
  for (const child of running) await stopProcess(child);
  running.clear();
});

/** Starts one of the service's two processes. */
async function start(index: 0 | 1, ...options: string[]): Promise<ChildProcess> {
  const child = await programs[index]?.serve(bases[index] ?? '', { command: ['serve', ...options] });
  if (child === undefined) throw new Error('no program');
  running.add(child);
  return child;
}

function browser(index: 0 | 1 = 0): Browser {
  return new Browser({ listener: (bases[index] ?? '').slice(0, -1), publicBase: bases[0] ?? '' });
}

/** Requests an email and expects the acknowledgment. */
async function requestMail(index: 0 | 1 = 0): Promise<void> {
  const page = browser(index);
  await page.open('/recover');
  await page.submit({ email: 'amira@mail.example' });
  expect(page.page.status).toBe(303);
}

function jobs() {
  return sql<{ attempt: number; is_taken: boolean; is_dead: boolean; failed_reason: string | null }>(
    db.database,
    `select attempt, worker is not null as is_taken, failed_at is not null as is_dead, failed_reason
       from queue_jobs where queue = $1::text order by created_at`,
    [QUEUE],
  );
}

/** Expires the one-minute leases of killed processes. */
async function endLeases(): Promise<void> {
  await sql(db.database, `update queue_jobs set due_at = due_at - interval '61 s' where worker is not null`);
}

/** Makes pending retries due. */
async function retryNow(): Promise<void> {
  await sql(db.database, 'update queue_jobs set due_at = now() where worker is null and queue = $1::text', [QUEUE]);
}

test('an unresponsive mail server delays neither pages nor other jobs nor shutdown (F-16)', async () => {
  const service = await start(0);
  const before = smtp.mails.length;
  smtp.reactions = { EHLO: 'silent' };
  for (let count = 0; count < 5; count += 1) await requestMail();
  // The value of `email.max_connections`.
  const takenJobs = async () => (await jobs()).filter(({ is_taken: isTaken }) => isTaken).length;
  await expect.poll(takenJobs, WAIT).toBe(2);

  const page = browser();
  const query = { client_id: CLIENT_ID, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid' };
  await page.open(`/authorize?${new URLSearchParams(query)}`);
  await page.submit({ username: 'amira', password: PASSWORD });
  const { location = '' } = await page.follow();
  const form = { grant_type: 'authorization_code', redirect_uri: CALLBACK };
  const response = await fetch(`${bases[0]}oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${CLIENT_ID}:a-secret-of-at-least-16-characters`)}` },
    body: new URLSearchParams({ ...form, code: new URL(location).searchParams.get('code') ?? '' }),
  });
  expect(response.status).toBe(200);
  await page.get('/logout');
  await page.submit();
  expect(page.page.status).toBe(303);
  await expect.poll(() => notified, WAIT).toBe(1);
  expect(await takenJobs()).toBe(2);

  expect(await stopProcess(service)).toBe(0);
  running.delete(service);
  const waiting = Array.from({ length: 5 }, () => ({ attempt: 0, is_taken: false, is_dead: false }));
  expect(await jobs()).toMatchObject(waiting);
  smtp.reactions = {};
  await start(0);
  await expect.poll(() => smtp.mails.length - before, WAIT).toBe(5);
  await expect.poll(jobs, WAIT).toEqual([]);
}, 180_000);

test('a temporary rejection is retried; a permanent rejection of the recipient is not (operations 6.2)', async () => {
  await start(0);
  const before = smtp.mails.length;
  for (const [attempt, reactions] of [
    [1, { greeting: 421 }],
    [2, { 'MAIL FROM': 550 }],
    [3, { 'RCPT TO': 450 }],
    [4, { content: 451 }],
    [5, { content: 'close' }],
  ] as const) {
    smtp.reactions = reactions;
    if (attempt === 1) await requestMail();
    else await retryNow();
    await expect.poll(jobs, WAIT).toMatchObject([{ attempt, is_taken: false, is_dead: false }]);
  }
  smtp.reactions = { 'RCPT TO': 550 };
  await retryNow();
  const reason = 'the SMTP server responded 550 to RCPT TO';
  await expect.poll(jobs, WAIT).toMatchObject([{ attempt: 6, is_dead: true, failed_reason: reason }]);
  smtp.reactions = {};
  await retryNow();
  await requestMail();
  // The dead job stays dead.
  await expect.poll(() => smtp.mails.length - before, WAIT).toBe(1);
  await expect.poll(jobs, WAIT).toMatchObject([{ is_dead: true }]);
}, 180_000);

test('kill -9 while a mail is handed over: another process takes the job after a minute, not before (O-05)', async () => {
  const first = await start(0);
  const before = smtp.mails.length;
  smtp.reactions = { DATA: 'silent' };
  await requestMail();
  await expect.poll(() => smtp.steps.at(-1), WAIT).toBe('DATA');
  await start(1);
  await killProcess(first);
  running.delete(first);
  smtp.reactions = {};
  // The running process delivers other emails and leaves the killed process's job alone.
  await requestMail(1);
  await expect.poll(() => smtp.mails.length - before, WAIT).toBe(1);
  await expect.poll(jobs, WAIT).toMatchObject([{ attempt: 1, is_taken: true }]);
  await endLeases();
  await expect.poll(() => smtp.mails.length - before, WAIT).toBe(2);
  await expect.poll(jobs, WAIT).toEqual([]);
}, 180_000);

test("kill -9 between a mail's acceptance and our commit: it arrives at most twice, with one Message-ID (F-02)", async () => {
  const first = await start(0);
  const before = smtp.mails.length;
  let accept = (): void => {};
  smtp.reactions = {
    content: new Promise((resolve) => {
      accept = resolve;
    }),
  };
  await requestMail();
  await expect.poll(() => smtp.steps.at(-1), WAIT).toBe('content');
  const holder = await openDatabase({
    connection: parseConnectionUri(db.connectionString),
    log: silentLog,
    clock: { now: () => Date.now() },
  });
  // The statement that deletes the job waits for this transaction.
  await holder.transaction(async (transaction) => {
    await sql(transaction, 'select id from queue_jobs where queue = $1::text for update', [QUEUE]);
    accept();
    await expect.poll(waitsForLock, WAIT).toBe(true);
    await killProcess(first);
    running.delete(first);
    // Otherwise, the server would still execute the received statement.
    await sql(db.database, `select pg_terminate_backend(pid) ${WAITING}`);
  });
  await holder.close();
  expect(smtp.mails.length - before).toBe(1);
  smtp.reactions = {};
  await start(1);
  await endLeases();
  await expect.poll(() => smtp.mails.length - before, WAIT).toBe(2);
  await expect.poll(jobs, WAIT).toEqual([]);
  const ids = smtp.mails.slice(before).map((source) => readMail(source).headers['message-id']);
  expect(ids[0]).toMatch(/^<[\w-]+@example\.org>$/);
  expect(ids[1]).toBe(ids[0]);
}, 180_000);

/** Connections that wait to delete a job. */
const WAITING = `from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and query like '%delete from queue_jobs%'`;

async function waitsForLock(): Promise<boolean> {
  return (await sql(db.database, `select pid ${WAITING}`)).length > 0;
}
