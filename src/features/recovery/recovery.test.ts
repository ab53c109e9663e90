import { describe, expect, test } from 'vitest';
import { issueRecoveryTicket } from '#domain/account-changes/issue-recovery-ticket.ts';

import { parseId, toUuid } from '#platform/base/ids.ts';
import { recoverPassword } from '#test/support/account-operations.ts';
import { insertTestAccount, type TestAccount } from '#test/support/accounts.ts';
import { giveAuthenticatorApp } from '#test/support/authenticator-app.ts';
import type { Browser } from '#test/support/browser.ts';
import { expectCleanPage } from '#test/support/clean-page.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { type PageService, type PageServiceOptions, startPages, withPages } from '#test/support/page-service.ts';
import { NEW_PASSWORD, openEstimator } from '#test/support/registering.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const ORIGIN = 'https://auth.example.org';
const OLD = 'correct horse battery staple';
let users = 0;

const testDatabase = await sharedByTests(createTestDatabase());
const estimator = await sharedByTests(openEstimator());
const service = await sharedByTests(startPages(testDatabase.database, { registration: { estimator }, recovery: {} }));

async function withService(options: PageServiceOptions, work: (other: PageService) => Promise<void>): Promise<void> {
  const own = { clock: service.clock, registration: { estimator }, recovery: {}, ...options };
  await withPages(testDatabase.database, own, work);
}

/** Creates an account with the old password and an email address. */
async function newUser(account: Partial<TestAccount> = {}) {
  users += 1;
  const username = `person${users}`;
  const email = `${username}@mail.example`;
  const made = { username, password: OLD, email, ...account };
  const user = await insertTestAccount(testDatabase.database, made, { now: service.clock.now() });
  return { username, email, user };
}

/** Sends the first form. @returns the recovery's ID */
async function begin(browser: Browser, email: string): Promise<string> {
  await browser.get('/recover');
  const { location, status } = await browser.submit({ email }, { action: '/recover' });
  expect(status).toBe(303);
  return location?.slice(`${ORIGIN}/recover/progress/`.length) ?? expect.fail('no progress');
}

/** Issues the ticket of a recovery, as the email job does. */
async function mailFor(id: string, settings: { readonly setsFirstPassword?: boolean } = {}) {
  const { database } = testDatabase;
  const { clock } = service;
  const deps = { database, clock, sessionTtlSeconds: 3600, setsFirstPassword: false, ...settings };
  return await issueRecoveryTicket(deps, { session_id: toUuid(parseId(id) ?? expect.fail('no id')) });
}

async function signIn(username: string, password: string, browser = service.browser()): Promise<Browser> {
  await browser.get('/login');
  await browser.submit({ username, password });
  return browser;
}

async function events(username: string): Promise<string[]> {
  const rows = await sql<{ kind: string }>(
    testDatabase.database,
    `select e.kind from audit_events e join users u on u.id = e.user_id where u.username = $1::text order by e.id`,
    [username],
  );
  return rows.map(({ kind }) => kind);
}

async function jobs(): Promise<{ queue: string; payload: unknown }[]> {
  return await sql(testDatabase.database, 'select queue, payload from queue_jobs order by created_at');
}

describe('GET /recover', () => {
  test('asks for the email address without a statement, and is linked on the sign-in page (browser-flows 7.1)', async () => {
    const browser = service.browser();
    await browser.get('/login');
    expect(browser.page.body).toContain('href="/recover"');
    const { body, status } = await browser.get('/recover');
    expect(status).toBe(200);
    expect(service.lastRequest().queries).toBe(0);
    expect(body).toMatch(/name="email"[^>]*autocomplete="email"/);
    expectCleanPage(body);
  });

  test('uses the language requested by the footer or the query', async () => {
    const browser = service.browser();
    expect((await browser.get('/recover?ui_locales=de')).text).toContain('Passwort vergessen?');
    expect((await browser.get('/recover')).body).toContain('lang="de"');
  });

  test.each<[string, PageServiceOptions]>([
    ['passwords are switched off', { arePasswordsEnabled: false }],
    ['recovery is switched off', { recovery: { account: { passwordRecoveryEnabled: false } } }],
  ])('while %s says so on every page, is not linked, and accepts no form', async (_, options) => {
    const { email } = await newUser();
    const count = (await jobs()).length;
    await withService(options, async (closed) => {
      const browser = closed.browser();
      expect((await browser.get('/login')).body).not.toContain('/recover');
      for (const path of ['/recover', `/recover/progress/01JD3Q5Z8W2N4K6M7P9R0S1T00`]) {
        const { body, status, text } = await browser.get(path);
        expect([path, status, text]).toEqual([path, 200, expect.stringContaining('cannot be reset here')]);
        expect(body).toContain('href="/login"');
        const posted = await browser.post(path, new URLSearchParams({ email }));
        expect([path, posted.status, posted.text]).toEqual([path, 200, expect.stringContaining('cannot be reset')]);
      }
    });
    expect(await jobs()).toHaveLength(count);
  });

  test('redirects signed-in users to the start page, but not those with a dead session', async () => {
    const { username } = await newUser();
    const browser = await signIn(username, OLD);
    for (const path of ['/recover', '/recover/progress/01JD3Q5Z8W2N4K6M7P9R0S1T00']) {
      expect((await browser.get(path)).location).toBe(`${ORIGIN}/`);
    }
    await sql(testDatabase.database, 'update user_sessions set finished_at = created_at');
    expect((await browser.get('/recover')).status).toBe(200);
  });
});

describe('POST /recover', () => {
  test('stores the request with one job without the email address, and redirects to the progress page', async () => {
    const { email } = await newUser();
    await sql(testDatabase.database, 'delete from queue_jobs');
    const id = await begin(service.browser({ address: '203.0.113.7' }), ` ${email.toUpperCase()} `);
    // One for the limits, and one for everything else.
    expect(service.lastRequest().queries).toBe(2);
    const [row] = await sql<Record<string, unknown>>(
      testDatabase.database,
      `select id::text, email_key, locale, host(ip) as ip, user_agent, consumed_at from user_recovery_sessions
        where id = $1::uuid`,
      [toUuid(parseId(id) ?? expect.fail('no id'))],
    );
    expect(row).toEqual({
      id: row?.['id'],
      email_key: email,
      locale: 'en',
      ip: '203.0.113.7',
      user_agent: 'Mozilla/5.0 (test browser)',
      consumed_at: null,
    });
    expect(await jobs()).toEqual([{ queue: 'send-account-recovery-emails', payload: { session_id: row?.['id'] } }]);
  });

  test('works without a User-Agent', async () => {
    const browser = service.browser();
    await browser.get('/recover');
    const headers = { 'user-agent': undefined };
    expect((await browser.submit({ email: 'nobody@mail.example' }, { headers })).status).toBe(303);
  });

  test.each(['', 'nobody', 'a@', '@b.example', 'a b@c.example', 'a@b.example, c@d.example', 'a@[127.0.0.1]'])(
    'rejects the invalid address %j, and keeps the input',
    async (email) => {
      const browser = service.browser();
      await browser.get('/recover');
      const before = (await jobs()).length;
      const { body, errorCodes, status } = await browser.submit({ email });
      expect([status, errorCodes]).toEqual([200, ['invalid']]);
      if (email !== '') expect(body).toContain(`value="${email}"`);
      expect(await jobs()).toHaveLength(before);
    },
  );

  test('shows a form older than an hour again with the address', async () => {
    const browser = service.browser();
    await browser.get('/recover');
    service.clock.advanceSeconds(3601);
    const { body, errorCodes } = await browser.submit({ email: 'someone@mail.example' });
    expect(errorCodes).toEqual(['csrf_expired']);
    expect(body).toContain('value="someone@mail.example"');
  });

  test('closes the first of six open recoveries of one address', async () => {
    const { email } = await newUser();
    const browsers = Array.from({ length: 6 }, () => service.browser());
    const ids: string[] = [];
    for (const browser of browsers) {
      ids.push(await begin(browser, email));
      service.clock.advanceSeconds(1);
    }
    const titles = [];
    for (const [index, browser] of browsers.entries()) {
      titles.push((await browser.get(`/recover/progress/${ids[index] ?? ''}`)).text.includes('Already used'));
    }
    expect(titles).toEqual([true, false, false, false, false, false]);
    expect(await mailFor(ids[0] ?? '')).toBeUndefined();
  });
});

describe("the job's result (browser-flows 15.17)", () => {
  test('for an active account with a password: a ticket, sent to the stored address, stored as a digest', async () => {
    const { email, username } = await newUser();
    const id = await begin(service.browser(), email.toUpperCase());
    const mail = await mailFor(id);
    const ticket = mail?.kind === 'ticket' ? mail.ticket : '';
    expect(mail).toMatchObject({ kind: 'ticket', to: email, username, locale: 'en' });
    expect(ticket).toMatch(/^[0-9A-Za-z]{32}$/);
    const [row] = await sql<{ isDigest: boolean }>(
      testDatabase.database,
      `select t.ticket_hash = sha256($1::text::bytea) as "isDigest" from user_recovery_tickets t
        where t.session_id = $2::uuid`,
      [ticket, toUuid(parseId(id) ?? expect.fail('no id'))],
    );
    expect(row?.isDigest).toBe(true);
    expect(await events(username)).toEqual(['recovery_started']);
  });

  test('for an account that never had a password: no ticket, unless configured', async () => {
    const { email } = await newUser();
    await sql(
      testDatabase.database,
      'delete from user_passwords where user_id = (select user_id from user_emails where email = $1::text)',
      [email],
    );
    const id = await begin(service.browser(), email);
    expect(await mailFor(id)).toMatchObject({ kind: 'no-password', to: email });
    expect(await mailFor(id, { setsFirstPassword: true })).toMatchObject({ kind: 'ticket', to: email });
  });

  test.each([['isLocked'], ['isDeactivated']])('for one with %s: nothing', async (state) => {
    const { email, username } = await newUser({ [state]: true });
    expect(await mailFor(await begin(service.browser(), email))).toBeUndefined();
    expect(await events(username)).toEqual([]);
  });

  test('for an unknown address: the result `unknown` with that address', async () => {
    const id = await begin(service.browser(), 'Stranger@Mail.example');
    expect(await mailFor(id)).toMatchObject({ kind: 'unknown', to: 'Stranger@mail.example' });
  });

  test('a new password ends sign-ins pending on a second factor after the old one', async () => {
    const { username, email, user } = await newUser();
    const app = await giveAuthenticatorApp(service.core, user);
    const stranger = await signIn(username, OLD);
    expect(stranger.page.location).toMatch(/\/login\/totp$/);
    await stranger.follow();
    const browser = service.browser();
    const mail = await mailFor(await begin(browser, email));
    const ticket = mail?.kind === 'ticket' ? mail.ticket : expect.fail('no ticket');
    expect(await recoverPassword(browser, { ticket, newPassword: NEW_PASSWORD })).toBe('ALLOWED');
    await stranger.submit({ code: app.code() });
    expect(stranger.page.location).toMatch(/\/login\?notice=/);
    expect(stranger.cookies.has('__Host-latchkey_session')).toBe(false);
    await signIn(username, NEW_PASSWORD, browser);
    expect(browser.page.location).toMatch(/\/login\/totp$/);
    await browser.follow();
    expect((await browser.submit({ code: app.code() })).status).toBe(303);
    expect(browser.cookies.has('__Host-latchkey_session')).toBe(true);
  });

  test('for a recovery that is an hour old, or finished: nothing', async () => {
    const { email } = await newUser();
    const id = await begin(service.browser(), email);
    service.clock.advanceSeconds(3600);
    expect(await mailFor(id)).toBeUndefined();
    const browser = service.browser();
    const used = await begin(browser, email);
    const mail = await mailFor(used);
    const ticket = mail?.kind === 'ticket' ? mail.ticket : expect.fail('no ticket');
    expect(await recoverPassword(browser, { ticket, newPassword: NEW_PASSWORD })).toBe('ALLOWED');
    expect(await mailFor(used)).toBeUndefined();
  });
});

describe('/recover/progress/{session_id}', () => {
  test('shows the recipient, and resends with the same response for every address', async () => {
    const { email } = await newUser();
    for (const address of [email, 'absent@mail.example']) {
      const browser = service.browser();
      const id = await begin(browser, address);
      const { body, text } = await browser.follow();
      expect(text).toContain(`If an account uses ${address} , we sent a link to it.`);
      expect(text).toContain('10 minutes');
      expectCleanPage(body);
      expect(service.lastRequest().queries).toBe(1);
      await sql(testDatabase.database, 'delete from queue_jobs');
      const path = `/recover/progress/${id}`;
      await browser.submit({}, { action: path });
      expect([browser.page.status, browser.page.location]).toEqual([
        303,
        expect.stringContaining(`${ORIGIN}${path}?notice=`),
      ]);
      expect(service.lastRequest().queries).toBe(3);
      expect(await jobs()).toHaveLength(1);
      const { location = '' } = browser.page;
      expect((await browser.get(location)).text).toContain('Email sent.');
      service.clock.advanceSeconds(61);
      expect((await browser.get(location)).text).not.toContain('Email sent.');
      expect((await browser.get(`${path}?notice=email_sent`)).text).not.toContain('Email sent');
    }
  });

  test('is limited to the requesting browser, which remembers the last four (browser-flows 2.1)', async () => {
    const browser = service.browser();
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.push(await begin(browser, `many${index}@mail.example`));
    const kept = [];
    for (const id of ids) kept.push((await browser.get(`/recover/progress/${id}`)).status === 200);
    expect(kept).toEqual([false, true, true, true, true]);
    const others = [ids[4] ?? '', '01JD3Q5Z8W2N4K6M7P9R0S1T00', 'nonsense', 'a'.repeat(26)];
    for (const id of others) {
      const stranger = service.browser();
      await stranger.get('/recover');
      const csrf = stranger.page.forms[0]?.inputs.get('csrf') ?? '';
      expect((await stranger.get(`/recover/progress/${id}`)).location).toBe(`${ORIGIN}/recover`);
      const posted = await stranger.post(`/recover/progress/${id}`, new URLSearchParams({ csrf }));
      expect([posted.status, posted.location]).toEqual([303, `${ORIGIN}/recover`]);
    }
  });

  test('redirects to the start after an hour', async () => {
    const browser = service.browser();
    const path = `/recover/progress/${await begin(browser, 'late@mail.example')}`;
    await browser.get(path);
    service.clock.advanceSeconds(3599);
    expect((await browser.get(path)).forms).toHaveLength(1);
    service.clock.advanceSeconds(1);
    const { body, text } = await browser.get(path);
    expect(text).toContain('Request expired');
    expect(body).toContain('href="/recover"');
  });

  test('shows an expired form again, without sending anything', async () => {
    await withService({ recovery: { account: { recoverySessionTtlSeconds: 86_400 } } }, async (patient) => {
      const browser = patient.browser();
      const path = `/recover/progress/${await begin(browser, 'patient@mail.example')}`;
      await browser.get(path);
      await sql(testDatabase.database, 'delete from queue_jobs');
      service.clock.advanceSeconds(3601);
      await browser.submit({}, { action: path });
      expect([browser.page.status, browser.page.errorCodes]).toEqual([200, ['csrf_expired']]);
      expect(await jobs()).toEqual([]);
    });
  });
});

describe('rate limits (browser-flows 14)', () => {
  const HOURLY = { burst: 3, perSecond: 3 / 3600 };

  test('allow three mails an hour from one address, including resends, across instances', async () => {
    const limits = { perIp: HOURLY };
    await withService({ recovery: { limits } }, async (one) => {
      const browser = one.browser({ address: '203.0.113.50' });
      const path = `/recover/progress/${await begin(browser, 'ip0@mail.example')}`;
      await browser.get(path);
      expect((await browser.submit({}, { action: path })).status).toBe(303);
      await begin(browser, 'ip1@mail.example');
      await browser.get(path);
      await browser.submit({}, { action: path });
      expect([browser.page.status, browser.page.errorCodes]).toEqual([200, ['rate_limit_exceeded']]);
      expect(browser.page.text).toContain('20 minutes');
      await withService({ recovery: { limits } }, async (other) => {
        const same = other.browser({ address: '203.0.113.50' });
        await same.get('/recover');
        expect((await same.submit({ email: 'ip2@mail.example' })).errorCodes).toEqual(['rate_limit_exceeded']);
        const elsewhere = other.browser({ address: '203.0.113.51' });
        await begin(elsewhere, 'ip2@mail.example');
      });
    });
  });

  describe('while mails are delayed by more than ten minutes', () => {
    /** Inserts a job that is eleven minutes late. */
    const wait = async (queue: string) =>
      await sql(
        testDatabase.database,
        `insert into queue_jobs (id, queue, payload, created_at, due_at)
         values (gen_random_uuid(), $1::text, '{}', $2::timestamptz, $2::timestamptz)`,
        [queue, new Date(service.clock.now() - 660_000)],
      );

    test('return 503 with its own message and queue nothing, while sign-in still works', async () => {
      const browser = service.browser();
      const path = `/recover/progress/${await begin(browser, 'late0@mail.example')}`;
      await wait('send-security-notice');
      const before = await jobs();
      service.core.instance.areMailsLate = true;
      try {
        await browser.get(path);
        await browser.submit({}, { action: path });
        expect([browser.page.status, browser.page.headers['retry-after']]).toEqual([503, '60']);
        expect(browser.page.text).toContain('Email is delayed');
        await browser.get('/recover');
        const page = await browser.submit({ email: 'late1@mail.example' }, { action: '/recover' });
        expect(page.status).toBe(503);
        expect(page.text).not.toContain('Too many attempts');
        expect((await browser.get('/login')).status).toBe(200);
        expect(await jobs()).toEqual(before);
      } finally {
        await sql(testDatabase.database, `delete from queue_jobs where queue = 'send-security-notice'`);
      }
    });

    test('ignore other queued jobs, and refresh an outdated measurement', async () => {
      await sql(testDatabase.database, 'delete from queue_jobs');
      await wait('cleanup-rate-limits');
      service.core.instance.areMailsLate = true;
      await begin(service.browser(), 'late2@mail.example');
      expect(service.core.instance.areMailsLate).toBe(false);
      await sql(testDatabase.database, `delete from queue_jobs where queue = 'cleanup-rate-limits'`);
    });
  });

  test('allow three mails to one email address, in any case and from anywhere; refused ones are not counted', async () => {
    const limits = { perIp: HOURLY, perAddress: { burst: 3, perSecond: 1 / 3600 } };
    await withService({ recovery: { limits } }, async (limited) => {
      for (const email of ['cannon@mail.example', 'CANNON@mail.example', 'cannon@MAIL.example']) {
        await begin(limited.browser(), email);
      }
      const browser = limited.browser();
      for (let tries = 0; tries < 5; tries += 1) {
        await browser.get('/recover');
        const page = await browser.submit({ email: 'Cannon@mail.example' });
        expect([page.status, page.errorCodes]).toEqual([200, ['rate_limit_exceeded']]);
      }
      await begin(browser, 'other@mail.example');
      service.clock.advanceSeconds(3600);
      await begin(limited.browser(), 'cannon@mail.example');
    });
    const keys = await sql<{ key: string }>(testDatabase.database, 'select key from rate_limits');
    expect(keys.filter(({ key }) => key.includes('@'))).toEqual([]);
  });
});
