import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { beforeEach, expect, test } from 'vitest';
import { changePassword, recoverPassword } from '#test/support/account-operations.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import type { Browser } from '#test/support/browser.ts';
import { startCaptchaPeer } from '#test/support/captcha.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { textOf } from '#test/support/html-forms.ts';
import { startMails } from '#test/support/mails.ts';
import { type PageService, startPages } from '#test/support/page-service.ts';
import { beginRegistration, NEW_PASSWORD, openEstimator } from '#test/support/registering.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const FORMER = 'correct horse battery staple';
const DIGEST = createHash('sha1').update(NEW_PASSWORD).digest('hex').toUpperCase();
const RANGE = `https://api.pwnedpasswords.com/range/${DIGEST.slice(0, 5)}`;
const OTHER = `${'0'.repeat(35)}:17`;
let service: PageService;
let users = 0;

const testDatabase = await sharedByTests(createTestDatabase());
const estimator = await sharedByTests(openEstimator());
const mails = await sharedByTests(startMails());
const peer = await sharedByTests(startCaptchaPeer());
beforeEach(() => {
  users += 1;
  peer.asked.length = 0;
  knows(`${DIGEST.slice(5)}:3`);
});

function knows(...lines: readonly string[]): void {
  peer.answer = (_form, response) => void response.end([OTHER, ...lines].join('\r\n'));
}

async function withService(work: (service: PageService) => Promise<void>, hasBreachCheck = true): Promise<void> {
  const { outbound } = peer;
  const email = mails.config;
  service = await startPages(testDatabase.database, {
    ...{ hasBreachCheck, outbound, email, registration: { estimator }, recovery: {} },
  });
  try {
    await work(service);
  } finally {
    await service.stop();
  }
}

async function register(): Promise<{ readonly status: number; readonly text: string }> {
  users += 1;
  const page = await beginRegistration(service.browser(), { username: `person${users}` });
  return { status: page.status, text: textOf(page.body) };
}

async function signedIn(): Promise<Browser> {
  const username = `person${users}`;
  const account = { username, password: FORMER, email: `${username}@mail.example` };
  await insertTestAccount(testDatabase.database, account, { now: service.clock.now() });
  const browser = service.browser();
  await browser.open('/login');
  await browser.submit({ username, password: FORMER });
  return browser;
}

test('rejects a leaked password at registration, sending only five digits of its hash (S-93)', async () => {
  await withService(async () => {
    const { status, text } = await register();
    expect(status).toBe(200);
    expect(text).toContain('This password appeared in a data leak at another service');
    expect(peer.asked.map(({ url }) => url)).toEqual([RANGE]);
    expect(peer.asked[0]?.headers['add-padding']).toBe('true');
    const sent = JSON.stringify(peer.asked).toUpperCase();
    expect(sent).not.toContain(DIGEST.slice(0, 6));
    expect(service.lines.join('\n').toUpperCase()).not.toContain(DIGEST.slice(0, 5));
  });
});

test('rejects it on password change and reset', async () => {
  await withService(async () => {
    const browser = await signedIn();
    const change = { oldPassword: FORMER, newPassword: NEW_PASSWORD };
    expect(await changePassword(browser, change)).toBe('INVALID_NEW_PASSWORD');
    const visitor = service.browser();
    await visitor.open('/recover');
    await visitor.submit({ email: `person${users}@mail.example` });
    const [mail] = await mails.deliver(service.core);
    const ticket = /ticket=([^\s&]+)/.exec(mail?.text ?? '')?.[1] ?? '';
    expect(await recoverPassword(visitor, { ticket, newPassword: NEW_PASSWORD })).toBe('INVALID_NEW_PASSWORD');
    knows();
    expect(await recoverPassword(visitor, { ticket, newPassword: NEW_PASSWORD })).toBe('ALLOWED');
  });
});

test('queries the service outside of any transaction', async () => {
  const open: unknown[] = [];
  const look = async (response: ServerResponse) => {
    const query = `select state from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`;
    open.push(await sql(testDatabase.database, query));
    response.end(OTHER);
  };
  peer.answer = (_form, response) => void look(response);
  await withService(async () => {
    expect((await register()).status).toBe(303);
    expect(await changePassword(await signedIn(), { oldPassword: FORMER, newPassword: NEW_PASSWORD })).toBe('ALLOWED');
  });
  expect(open).toEqual([[], []]);
});

test.each([
  ['the range holds others only', []],
  ['its line is padding', [`${DIGEST.slice(5)}:0`]],
])('accepts a password when %s', async (_what, lines) => {
  knows(...lines);
  await withService(async () => expect((await register()).status).toBe(303));
});

test('accepts all passwords while the service fails, logs one line a minute, and pauses after five failures', async () => {
  peer.answer = (_form, response) => void response.writeHead(503).end();
  await withService(async () => {
    const told = () => service.lines.filter((line) => line.includes(' breach_check.failed '));
    for (let count = 0; count < 7; count += 1) {
      service.clock.advanceSeconds(1);
      expect(await service.core.passwordRules.leakedPasswords.has(NEW_PASSWORD)).toBe(false);
    }
    expect(peer.asked).toHaveLength(5);
    expect(told()).toEqual([expect.stringMatching(/ WARN breach_check\.failed .*detail="status 503"/)]);
    expect((await register()).status).toBe(303);
    service.clock.advanceSeconds(60);
    expect((await register()).status).toBe(303);
    expect(told()).toHaveLength(2);
  });
});

test('queries no service unless passwords.breach_check is set', async () => {
  await withService(async () => expect((await register()).status).toBe(303), false);
  expect(peer.asked).toEqual([]);
});
