/**
 * Account recovery with processes that are killed, and with concurrent requests (browser-flows 7, security O-01, O-02,
 * S-100).
 */
import type { ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { recoverPassword } from '../support/account-operations.ts';
import { Browser } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sql } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.js';
import { killProcess, Program, stopProcess } from '../support/program.js';
import { readMail } from '../support/read-mail.ts';
import { type SmtpPeer, startSmtpPeer } from '../support/smtp-peer.ts';

const KILLS = 4;
/** Little concurrency but many rounds, to hit different interleavings. */
const ROUNDS = 200;
const FORMS = 4;
const USERS = ['amira', 'bela', 'chen', 'dora'];
const FIRST = 'correct horse battery staple';
const WAIT = { timeout: 60_000, interval: 20 };

let folder: string;
let db: TestDatabase;
let smtp: SmtpPeer;
const programs: Program[] = [];
const bases: string[] = [];
const running: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-recovery-'));
  chmodSync(folder, 0o711);
  db = await createTestDatabase();
  smtp = await startSmtpPeer();
  for (const index of [0, 1]) {
    const port = await freePort();
    bases.push(`http://127.0.0.1:${port}/`);
    const settings = {
      data_dir: join(folder, 'data'),
      database: { uri: db.connectionString },
      http: {
        public_base: bases[0],
        listeners: [{ resources: ['human', 'graphql', 'health'], binds: [{ address: `127.0.0.1:${port}` }] }],
      },
      account: { password_recovery_enabled: true },
      email: {
        ...{ transport: 'smtp', hostname: '127.0.0.1', port: smtp.port, mode: 'plain' },
        from: 'noreply@example.org',
      },
      jobs: { poll_interval: '100ms' },
      limits: { shutdown_timeout: '1s' },
      rate_limiting: {
        graphql: { anonymous: { burst: 100_000, per_second: 1000 } },
        account_recovery: { per_ip: { burst: 1000 }, per_address: { burst: 1000 } },
        login: { per_ip: { burst: 1000 }, per_account: { burst: 1000 } },
      },
      passwords: {
        minimum_complexity: 0,
        schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 64, iterations: 1 }],
      },
      logging: { level: 'error' },
    };
    programs.push(new Program(folder, settings, { name: `latchkey-${index}.json` }));
  }
  for (const name of USERS) {
    const args = ['manage', 'register-user', '--yes', '--email', `${name}@mail.example`, '--password-file', '-', name];
    await programs[0]?.run(args, FIRST);
  }
});

afterAll(async () => {
  await smtp.stop();
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

afterEach(async () => {
  for (const child of running.splice(0)) await stopProcess(child);
});

async function start(index: 0 | 1, ...options: string[]): Promise<ChildProcess> {
  const child = await programs[index]?.serve(bases[index] ?? '', { command: ['serve', ...options] });
  if (child === undefined) throw new Error('no program');
  running.push(child);
  return child;
}

function browser(index = 0): Browser {
  return new Browser({ listener: (bases[index] ?? '').slice(0, -1), publicBase: bases[0] ?? '' });
}

/** Returns undefined when the process ended before the response. */
async function submit(page: Browser, path: string, fields: Record<string, string>): Promise<number | undefined> {
  try {
    await page.get(path);
    return (await page.submit(fields)).status;
  } catch {
    return undefined;
  }
}

async function signIn(name: string, password: string): Promise<Browser | undefined> {
  const page = browser();
  return (await submit(page, '/login', { username: name, password })) === 303 ? page : undefined;
}

/** Returns undefined when the process ended before the response. */
async function recover(ticket: string, newPassword: string, index = 0): Promise<string | undefined> {
  try {
    return await recoverPassword(browser(index), { ticket, newPassword });
  } catch {
    return undefined;
  }
}

/** Returns the emails with this subject since a given count, by account. Duplicate deliveries count once. */
function arrived(subject: string, since: number): Map<string, string> {
  const found = smtp.mails.slice(since).flatMap(({ recipients, source }) => {
    const mail = readMail(source);
    const name = recipients[0]?.split('@')[0] ?? '';
    return mail.subject === subject ? [[`${name} ${mail.headers['message-id']}`, mail.text] as const] : [];
  });
  return new Map([...new Map(found)].map(([key, text]) => [key.split(' ')[0] ?? '', text]));
}

function ticketIn(text: string | undefined): string {
  return /ticket=([0-9A-Za-z]{32})/.exec(text ?? '')?.[1] ?? expect.fail('no ticket');
}

/** Expires the one-minute leases of killed processes. */
async function endLeases(): Promise<void> {
  await sql(db.database, `update queue_jobs set due_at = now() where worker is not null`);
}

test(`${KILLS} kills during recoveries: acknowledged ones hold, with their mails, and nothing else happened (O-01, O-02)`, async () => {
  const passwords = new Map(USERS.map((name) => [name, FIRST]));
  let recovered = 0;
  for (let round = 1; round <= KILLS; round += 1) {
    const beforeRequests = smtp.mails.length;
    const asking = await start(0, '--no-worker');
    const requested = await killAfter(asking, round, async (name) => {
      const status = await submit(browser(), '/recover', { email: `${name}@mail.example` });
      return status === 303 ? 'ALLOWED' : status?.toString();
    });
    expect(smtp.mails.length).toBe(beforeRequests);

    const changing = await start(0);
    await expect
      .poll(() => [...arrived('Reset your password', beforeRequests).keys()], WAIT)
      .toEqual(expect.arrayContaining(requested));
    const tickets = arrived('Reset your password', beforeRequests);
    const sessions = new Map<string, Browser | undefined>();
    for (const name of USERS) sessions.set(name, await signIn(name, passwords.get(name) ?? ''));
    const beforeChanges = smtp.mails.length;
    const password = `seven purple walruses ${round}`;
    const acknowledged = await killAfter(changing, round, async (name) => {
      if (!tickets.has(name)) return undefined;
      return await recover(ticketIn(tickets.get(name)), password);
    });

    await endLeases();
    await start(0);
    const changed: string[] = [];
    for (const name of USERS) {
      const isChanged = (await signIn(name, password)) !== undefined;
      if (isChanged) changed.push(name);
      // All effects of the change, or none.
      expect([name, (await signIn(name, passwords.get(name) ?? '')) !== undefined]).toEqual([name, !isChanged]);
      const page = await sessions.get(name)?.get('/');
      expect([name, page?.text.includes('You were signed out')]).toEqual([name, isChanged]);
      if (isChanged) passwords.set(name, password);
    }
    expect(changed).toEqual(expect.arrayContaining(acknowledged));
    recovered += acknowledged.length;
    await expect
      .poll(() => [...arrived('Your password was changed', beforeChanges).keys()].toSorted(), WAIT)
      .toEqual(changed.toSorted());
    for (const child of running.splice(0)) await stopProcess(child);
  }
  expect(recovered).toBeGreaterThan(0);
}, 300_000);

/**
 * Runs `act` for all users concurrently and kills the process after enough responses. @returns users whose request
 * succeeded
 */
async function killAfter(
  child: ChildProcess,
  enough: number,
  act: (name: string) => Promise<string | undefined>,
): Promise<string[]> {
  let responded = 0;
  const outcomes = await Promise.all(
    USERS.map(async (name) => {
      const outcome = await act(name);
      if (outcome !== undefined) responded += 1;
      if (responded >= Math.min(enough, USERS.length - 1)) child.kill('SIGKILL');
      return outcome === 'ALLOWED' ? [name] : [];
    }),
  );
  await killProcess(child);
  return outcomes.flat();
}

test(`${ROUNDS} tickets, each in ${FORMS} concurrent forms on two processes: one password each time (S-100, S-119)`, async () => {
  await Promise.all([start(0), start(1)]);
  let last = '';
  for (let round = 0; round < ROUNDS; round += 1) {
    const ticket = await issueTicket(round);
    const outcomes = await Promise.all(
      Array.from({ length: FORMS }, async (_, index) => {
        // Short, because the estimate of a long password takes several times as long as all the rest.
        const password = `seven ${round} ${index}`;
        const outcome = await recover(ticket, password, index % 2);
        return outcome === 'ALLOWED' ? password : outcome === 'RECOVERY_TICKET_ALREADY_USED' ? 'used' : `${outcome}`;
      }),
    );
    const winners = outcomes.filter((outcome) => outcome.startsWith('seven'));
    expect([round, winners.length, outcomes.filter((outcome) => outcome === 'used').length, outcomes]).toEqual([
      round,
      1,
      FORMS - 1,
      outcomes,
    ]);
    last = winners[0] ?? '';
  }
  expect(await signIn('amira', last)).toBeDefined();
}, 600_000);

/** Stores a ticket as the email job does. */
async function issueTicket(round: number): Promise<string> {
  const ticket = `T${String(round).padStart(31, '0')}`;
  await sql(
    db.database,
    `with owner as (
       select u.id, e.id as email_id, e.email, p.id as password_id
         from users u join user_emails e on e.user_id = u.id join user_passwords p on p.user_id = u.id
        where u.username = 'amira'
     ), session as (
       insert into user_recovery_sessions (id, email, email_key, locale, created_at)
       select gen_random_uuid(), owner.email, owner.email, 'en', now() from owner returning id
     )
     insert into user_recovery_tickets (ticket_hash, session_id, user_id, user_email_id, password_id, created_at)
     select sha256($1::text::bytea), session.id, owner.id, owner.email_id, owner.password_id, now() from owner, session`,
    [ticket],
  );
  await sql(db.database, 'delete from rate_limits');
  return ticket;
}
