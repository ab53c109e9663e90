/** Registration with an email address, which is verified with a code (browser-flows 5.3, 5.6, 5.9, 6). */
import { describe, expect, test } from 'vitest';

import { insertTestAccount } from '#test/support/accounts.ts';
import type { Browser } from '#test/support/browser.ts';
import { expectCleanPage, HOSTILE_TEXTS } from '#test/support/clean-page.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { type ReceivedMail, startMails } from '#test/support/mails.ts';
import {
  type PageService,
  type PageServiceOptions,
  type RegistrationOptions,
  startPages,
} from '#test/support/page-service.ts';
import { beginRegistration, codeSentTo, NEW_PASSWORD, openEstimator } from '#test/support/registering.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const ORIGIN = 'https://auth.example.org';

const NO_TEXTS = { literals: [], prefixes: [], suffixes: [], substrings: [], regexes: [] };
let users = 0;

const testDatabase = await sharedByTests(createTestDatabase());
const estimator = await sharedByTests(openEstimator());
const mails = await sharedByTests(startMails());
const service = await sharedByTests(start({ tosUri: 'https://example.org/terms' }));

async function start(
  registration: Partial<RegistrationOptions> = {},
  options: PageServiceOptions = {},
): Promise<PageService> {
  return await startPages(testDatabase.database, {
    registration: { estimator, isEmailRequired: true, ...registration },
    email: mails.config,
    ...(users > 0 && { clock: service.clock }),
    ...options,
  });
}

/** Another instance on the same database. */
async function withService(
  registration: Partial<RegistrationOptions>,
  work: (other: PageService) => Promise<void>,
  options: PageServiceOptions = {},
): Promise<void> {
  const other = await start(registration, { clock: service.clock, ...options });
  try {
    await work(other);
  } finally {
    await other.stop();
  }
}

async function rows<Row extends object>(text: string, ...params: unknown[]): Promise<Row[]> {
  return await sql<Row>(testDatabase.database, text, params);
}

async function count(table: string, condition = 'true'): Promise<number> {
  const [row] = await rows<{ count: number }>(`select count(*)::integer as count from ${table} where ${condition}`);
  return row?.count ?? -1;
}

interface TestUser {
  readonly username: string;
  readonly email: string;
  readonly browser: Browser;
}

function newUser(of: PageService = service, acceptLanguage = 'en'): TestUser {
  users += 1;
  const username = `person${users}`;
  return { username, email: `${username}@mail.example`, browser: of.browser({ acceptLanguage }) };
}

/** A user on the page for the code. The email has not been sent yet. */
async function atCode(of: PageService = service): Promise<TestUser> {
  const someone = newUser(of);
  const { browser, username, email } = someone;
  await beginRegistration(browser, { username, email, accept_terms: 'on' });
  await browser.follow();
  expect(new URL(browser.page.url).pathname).toMatch(/^\/register\/steps\/\w{26}\/verify-email$/);
  return someone;
}

/** The same user with the code. */
async function withCode(of: PageService = service): Promise<TestUser & { readonly code: string }> {
  const someone = await atCode(of);
  return { ...someone, code: codeSentTo(someone.email, await mails.deliver(of.core)) };
}

async function enter(browser: Browser, code: string): Promise<readonly string[]> {
  return (await browser.submit({ action: 'verify', code })).errorCodes;
}

function wrong(code: string): string {
  return String((Number(code) + 1) % 1_000_000).padStart(6, '0');
}

/** Submits fields to the verification step of the browser's registration, whatever the browser shows. */
async function send({ browser }: TestUser, fields: Readonly<Record<string, string>>) {
  return await browser.submit(fields);
}

function isVerified({ browser }: Pick<TestUser, 'browser'>): boolean {
  return browser.page.status === 303 && (browser.page.location ?? '').endsWith('/finish');
}

async function finishRegistration({ browser }: TestUser): Promise<void> {
  await browser.follow();
  await browser.submit({ action: 'skip' });
  await browser.get(browser.page.location ?? '');
}

describe('check 11: a registration with an email address', () => {
  test('continues from the form to the code, the display name and the account, which has the address', async () => {
    const browser = service.browser();
    await beginRegistration(browser, { username: 'amira', email: ' Amira@MAIL.example ', accept_terms: 'on' });
    expect(browser.page.status).toBe(303);
    await browser.follow();
    expect(browser.page.url).toMatch(/\/register\/steps\/\w{26}\/verify-email$/);
    expect(browser.page.text).toContain('Amira@mail.example');
    expectCleanPage(browser.page.body);
    const sent = await mails.deliver(service.core);
    expect(sent).toHaveLength(1);
    await enter(browser, codeSentTo('Amira@mail.example', sent));
    expect(browser.page.status).toBe(303);
    await browser.follow();
    expect(browser.page.url).toMatch(/\/display-name$/);
    await browser.submit({ action: 'skip' });
    await browser.get(browser.page.location ?? '');
    expect(browser.page).toMatchObject({ status: 303, location: `${ORIGIN}/` });
    expect(service.lastRequest().requester).toMatch(/^user:\w{26}\(amira\)$/);
    expect(
      await rows(
        `select e.email, e.email_key, t.terms_uri,
           (select count(*)::integer from user_sessions s where s.user_id = u.id) as sessions,
           (select count(*)::integer from user_passwords p where p.user_id = u.id) as passwords
         from user_emails e join users u on u.id = e.user_id join user_terms t on t.user_id = u.id
         where u.username = 'amira'`,
      ),
    ).toEqual([
      {
        email: 'Amira@mail.example',
        email_key: 'amira@mail.example',
        terms_uri: 'https://example.org/terms',
        sessions: 1,
        passwords: 1,
      },
    ]);
  });
});

describe('the email field of the first form', () => {
  test('exists only where an address is required; otherwise input is ignored', async () => {
    const { browser } = newUser();
    await browser.get('/register/password');
    expect(browser.page.body).toMatch(
      /<input type="text"[^>]*inputmode="email"[^>]*id="email"[^>]*autocomplete="email"/,
    );
    await withService({ isEmailRequired: false }, async (lax) => {
      const someone = newUser(lax);
      await someone.browser.get('/register/password');
      expect(someone.browser.page.body).not.toContain('name="email"');
      const before = await count('user_email_authentications');
      await beginRegistration(someone.browser, { username: someone.username, email: 'not an address' });
      await someone.browser.follow();
      expect(someone.browser.page.url).toMatch(/\/display-name$/);
      expect(await count('user_email_authentications')).toBe(before);
    });
  });

  test.each([
    ['', 'required'],
    ['   ', 'required'],
    ['amira', 'invalid'],
    ['amira@localhost', 'invalid'],
    ['amira@mail.example\r\nBcc: b@y.example', 'invalid'],
    ['a@x.example,b@y.example', 'invalid'],
    ['<a@x.example>', 'invalid'],
    ['"a b"@x.example', 'invalid'],
    ['a@[127.0.0.1]', 'invalid'],
    ['a(comment)@x.example', 'invalid'],
    [`${'a'.repeat(65)}@x.example`, 'invalid'],
    [`a@${'x.'.repeat(126)}example`, 'invalid'],
    ['a\u202e@x.example', 'invalid'],
    ['a@x.example%0aSubject:', 'invalid'],
  ])('rejects %j as %s, with all other errors (S-76)', async (email, code) => {
    const { browser } = newUser();
    await browser.get('/register/password');
    await browser.submit({ username: '', email, password: '', accept_terms: 'on' });
    expect(browser.page.status).toBe(200);
    expect(browser.page.errorCodes).toEqual(['required', code, 'required']);
    // The entered value is kept.
    const typed = browser.page.forms[0]?.inputs.get('email');
    expect(typed?.replaceAll('\n', '').replaceAll('\r', '')).toBe(email.replaceAll('\n', '').replaceAll('\r', ''));
    expectCleanPage(browser.page.body);
  });

  test.each([
    ['amira@club.example', []],
    ['amira@mail.club.example', []],
    ['amira@a.mail.club.example', ['email-domain-not-allowed']],
    ['amira@CLUB.example.net', ['email-domain-not-allowed']],
    ['amira@old.club.example', ['email-domain-banned']],
    ['spam+1@club.example', ['email-banned']],
    ['SPAM+1@old.club.example', ['email-domain-banned', 'email-banned']],
    ['guest@club.example', ['email-not-allowed']],
  ])('checks %s against the policy: %j', async (email, codes) => {
    const emailPolicy = {
      allowedDomains: ['club.example', '*.club.example'],
      bannedDomains: ['o*.club.example'],
      allowedAddresses: { ...NO_TEXTS, prefixes: ['amira', 'spam'] },
      bannedAddresses: { ...NO_TEXTS, regexes: ['^spam[+]'] },
    };
    await withService({ emailPolicy }, async (strict) => {
      const { browser, username } = newUser(strict);
      await beginRegistration(browser, { username, email });
      expect(browser.page.errorCodes).toEqual(codes);
      expect(browser.page.status).toBe(codes.length === 0 ? 303 : 200);
    });
  });

  test('accepts a domain without a dot that is configured, and one in any script', async () => {
    await withService(
      {},
      async (local) => {
        for (const email of ['amira@localhost', 'amira@bücher.example']) {
          const { browser, username } = newUser(local);
          expect((await beginRegistration(browser, { username, email })).status).toBe(303);
        }
        await mails.deliver(local.core);
        for (const email of ['amira@localhost', 'amira@xn--bcher-kva.example']) {
          expect(await count('user_email_authentications', `email = '${email}' and code_of_mail = 1`)).toBe(1);
        }
      },
      { email: { ...mails.config, allowSingleLabelDomains: ['localhost'] } },
    );
  });

  test('accepts letters of any script, and recognizes the address in another form (RFC 6531)', async () => {
    const { browser, username } = newUser();
    await beginRegistration(browser, { username, email: 'Jürgen@bücher.example', accept_terms: 'on' });
    await browser.follow();
    expect(browser.page.text).toContain('Jürgen@xn--bcher-kva.example');
    await enter(browser, codeSentTo('Jürgen@bücher.example', await mails.deliver(service.core)));
    await browser.follow();
    await browser.submit({ action: 'skip' });
    await browser.follow();
    const stored = await rows(
      'select e.email, e.email_key from user_emails e join users u on u.id = e.user_id where u.username = $1',
      username,
    );
    expect(stored).toEqual([{ email: 'Jürgen@xn--bcher-kva.example', email_key: 'jürgen@xn--bcher-kva.example' }]);
    const other = newUser();
    const decomposed = 'JU\u0308RGEN@XN--BCHER-KVA.example';
    await beginRegistration(other.browser, { username: other.username, email: decomposed, accept_terms: 'on' });
    await other.browser.follow();
    expect(await mails.deliver(service.core)).toMatchObject([
      { to: 'Jürgen@bücher.example', subject: expect.not.stringMatching(/\d{6}/) },
    ]);
  });

  test.each(['jürgen\u200b@mail.example', 'jürgen\u202e@mail.example', 'ｊürgen@mail.example'])(
    'rejects %j, which has confusable characters',
    async (email) => {
      const { browser, username } = newUser();
      await beginRegistration(browser, { username, email, accept_terms: 'on' });
      expect(browser.page).toMatchObject({ status: 200, errorCodes: ['invalid'] });
    },
  );

  test('says that the mail server does not support the characters, once that is known', async () => {
    const old = await startMails({ hideSMTPUTF8: true });
    await withService(
      {},
      async (local) => {
        const first = newUser(local);
        await beginRegistration(first.browser, { username: first.username, email: 'björn@mail.example' });
        expect(first.browser.page.status).toBe(303);
        expect(await old.deliver(local.core)).toEqual([]);
        const second = newUser(local);
        await beginRegistration(second.browser, { username: second.username, email: 'björn@mail.example' });
        expect(second.browser.page).toMatchObject({ status: 200, errorCodes: ['email-unreachable'] });
        expect(second.browser.page.forms[0]?.inputs.get('email')).toBe('björn@mail.example');
        expect(second.browser.page.text).toContain('cannot send email to addresses with letters such as “ü”');
        // An address without such letters is still passed to the mail server.
        await second.browser.submit({
          email: 'bjorn@mail.example',
          password: NEW_PASSWORD,
        });
        expect(second.browser.page.status).toBe(303);
        expect(await old.deliver(local.core)).toMatchObject([{ to: 'bjorn@mail.example' }]);
        const failed = local.lines.filter((line) => line.includes('mail.failed'));
        expect(failed).toEqual([expect.stringContaining('the SMTP server does not support SMTPUTF8')]);
        expect(failed.join()).not.toContain('björn');
      },
      { email: old.config },
    );
    await old.stop();
  });

  test('makes words of the address weak in a password', async () => {
    const { browser, username } = newUser();
    const email = 'marzipan.velociraptor@mail.example';
    const password = 'marzipan.velociraptor1';
    await beginRegistration(browser, { username, email, password, accept_terms: 'on' });
    expect(browser.page.errorCodes).toEqual(['password_too_weak']);
  });
});

describe('mail limits (browser-flows 6, S-91, S-94)', () => {
  test('allow an address three mails an hour, across all requesters', async () => {
    const email = 'popular@mail.example';
    const outcomes: (readonly string[])[] = [];
    for (let round = 0; round < 4; round += 1) {
      const { browser, username } = newUser();
      await beginRegistration(browser, {
        username,
        email: round % 2 === 0 ? email : email.toUpperCase(),
        accept_terms: 'on',
      });
      outcomes.push(browser.page.errorCodes);
    }
    expect(outcomes).toEqual([[], [], [], ['rate_limit_exceeded']]);
    const sent = await mails.deliver(service.core);
    expect(sent).toHaveLength(3);
    service.clock.advanceSeconds(3601);
    const { browser, username } = newUser();
    await beginRegistration(browser, { username, email, accept_terms: 'on' });
    expect(browser.page.status).toBe(303);
    await mails.deliver(service.core);
  });

  test('allow a requester five at once, not counting rejected forms', async () => {
    await withService({ limits: { registration: { burst: 100, perSecond: 1 } } }, async (wide) => {
      const address = '198.51.100.7';
      const browsers = Array.from({ length: 6 }, () => wide.browser({ address }));
      const [first] = browsers;
      await beginRegistration(first ?? expect.fail('none'), { username: 'UPPER', email: 'a@mail.example' });
      expect(first?.page.errorCodes).toEqual(['username-invalid-chars']);
      const outcomes: (readonly string[])[] = [];
      for (const browser of browsers) {
        const { username, email } = newUser(wide);
        outcomes.push((await beginRegistration(browser, { username, email })).errorCodes);
      }
      expect(outcomes).toEqual([[], [], [], [], [], ['rate_limit_exceeded']]);
    });
  });

  test('allow a registration another mail at once, and then one every five minutes', async () => {
    const someone = await atCode();
    const { browser } = someone;
    await send(someone, { action: 'resend' });
    expect(browser.page.status).toBe(303);
    await browser.follow();
    expect(browser.page.body).toContain('data-notice="code_sent"');
    await send(someone, { action: 'resend' });
    expect(browser.page).toMatchObject({ status: 200, errorCodes: ['rate_limit_exceeded'] });
    service.clock.advanceSeconds(301);
    expect((await send(someone, { action: 'resend' })).status).toBe(303);
  });
});

describe('check 16: a code', () => {
  test('works for five minutes after it was mailed, not a second longer', async () => {
    const [late, early] = [await withCode(), await withCode()];
    service.clock.advanceSeconds(299);
    await enter(early.browser, early.code);
    expect(isVerified(early)).toBe(true);
    service.clock.advanceSeconds(2);
    expect(await enter(late.browser, late.code)).toEqual(['invalid_code']);
  });

  test('expires relative to its mail, however long the mail was queued', async () => {
    const someone = await atCode();
    service.clock.advanceSeconds(1800);
    const code = codeSentTo(someone.email, await mails.deliver(service.core));
    service.clock.advanceSeconds(299);
    await enter(someone.browser, code);
    expect(isVerified(someone)).toBe(true);
  });

  test('allows ten attempts in a row, then one a minute, including the right one (S-91)', async () => {
    const someone = await withCode();
    const { browser, code } = someone;
    for (let round = 0; round < 10; round += 1) expect(await enter(browser, wrong(code))).toEqual(['invalid_code']);
    expect(await enter(browser, code)).toEqual(['rate_limit_exceeded']);
    expect(browser.page.status).toBe(200);
    service.clock.advanceSeconds(60);
    await enter(browser, code);
    expect(isVerified(someone)).toBe(true);
  });

  test('is void once another was requested, even before that one was mailed', async () => {
    const someone = await withCode();
    const { browser, code, email } = someone;
    await send(someone, { action: 'resend' });
    await browser.follow();
    expect(await enter(browser, code)).toEqual(['invalid_code']);
    const second = codeSentTo(email, await mails.deliver(service.core));
    expect(second).not.toBe(code);
    expect(await enter(browser, code)).toEqual(['invalid_code']);
    await enter(browser, second);
    expect(isVerified(someone)).toBe(true);
  });

  test('of another registration is wrong (S-91)', async () => {
    const [one, other] = [await withCode(), await withCode()];
    expect(await enter(one.browser, other.code)).toEqual(['invalid_code']);
    await enter(one.browser, one.code);
    expect(isVerified(one)).toBe(true);
  });

  test.each([
    ['blanks and hyphens', (code: string) => ` ${code.slice(0, 3)} - ${code.slice(3)}\n`],
    ['wide digits', (code: string) => code.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)))],
    ['Arabic digits', (code: string) => code.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit)))],
    ['Persian digits', (code: string) => code.replace(/\d/g, (digit) => String.fromCharCode(0x6f0 + Number(digit)))],
    ['direction marks', (code: string) => `\u200f${code}\u200e`],
  ])('may be entered with %s', async (_, write) => {
    const someone = await withCode();
    await enter(someone.browser, write(someone.code));
    expect(isVerified(someone)).toBe(true);
  });

  test.each(['', '12345', '1234567', 'abcdef', '12345x', '1e5000', '+12345', '12345.', ...HOSTILE_TEXTS.slice(0, 3)])(
    'that is not six digits (%j) is reported as such, and counts as an attempt',
    async (text) => {
      const someone = await withCode();
      expect(await enter(someone.browser, text)).toEqual(['invalid']);
      expectCleanPage(someone.browser.page.body);
      const path = new URL(someone.browser.page.url).pathname.split('/')[3] ?? '';
      expect(path).toHaveLength(26);
      expect(
        await count('user_email_authentications', `email = '${someone.email}' and tries = 1 and completed_at is null`),
      ).toBe(1);
    },
  );

  test('stops working after 30 attempts, with none left until another code is requested (S-91)', async () => {
    const limits = {
      emailAuthentication: { ...service.core.config.rateLimiting.emailAuthentication, attemptPerSession: WIDE },
    };
    await withService({ limits }, async (wide) => {
      const someone = await withCode(wide);
      const { browser, code, email } = someone;
      for (let round = 0; round < 29; round += 1) await enter(browser, wrong(code));
      expect(browser.page.body).toContain('name="code"');
      expect(await enter(browser, wrong(code))).toEqual(['invalid_code']);
      expect(browser.page.body).not.toContain('name="code"');
      expect(browser.page.body).toContain('data-state="over"');
      const { pathname } = new URL(browser.page.url);
      await browser.post(pathname, new URLSearchParams({ csrf: csrfOf(browser), action: 'verify', code }));
      expect(browser.page).toMatchObject({ status: 303, location: `${ORIGIN}${pathname}` });
      await browser.get(pathname);
      expect(browser.page.body).toContain('data-state="over"');
      expect((await send(someone, { action: 'resend' })).status).toBe(303);
      await browser.follow();
      expect(browser.page.body).toContain('name="code"');
      expect(await enter(browser, code)).toEqual(['invalid_code']);
      await enter(browser, codeSentTo(email, await mails.deliver(wide.core)));
      expect(isVerified(someone)).toBe(true);
    });
  });

  test('limits parallel guesses like sequential ones (S-91)', async () => {
    const someone = await withCode();
    const { browser, code } = someone;
    const { pathname } = new URL(browser.page.url);
    const csrf = csrfOf(browser);
    const guesses = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const tab = service.browser();
        for (const [name, value] of browser.cookies) tab.cookies.set(name, value);
        return (await tab.post(pathname, new URLSearchParams({ csrf, code: wrong(code) }))).errorCodes[0];
      }),
    );
    expect(guesses.filter((outcome) => outcome === 'invalid_code')).toHaveLength(10);
    expect(guesses.filter((outcome) => outcome === 'rate_limit_exceeded')).toHaveLength(30);
  });

  test('stops working an hour after the start; the same address may then be verified anew', async () => {
    await withService({ ttlSeconds: 86_400 }, async (patient) => {
      const someone = await withCode(patient);
      const { browser, email } = someone;
      patient.clock.advanceSeconds(3600);
      await browser.get(browser.page.url);
      expect(browser.page.body).toContain('data-state="over"');
      await send(someone, { action: 'resend' });
      await browser.follow();
      await enter(browser, codeSentTo(email, await mails.deliver(patient.core)));
      expect(isVerified(someone)).toBe(true);
      expect(await count('user_email_authentications', `email = '${email}'`)).toBe(2);
    });
  });
});

const WIDE = { burst: 1000, perSecond: 1000 };

function csrfOf(browser: Browser): string {
  return browser.page.forms[0]?.inputs.get('csrf') ?? '';
}

describe('another email address', () => {
  test('gets its own code, and the code of the first stops working', async () => {
    const someone = await withCode();
    const { browser, code } = someone;
    const email = `other-${someone.email}`;
    await send(someone, { action: 'change', email: ` ${email} ` });
    expect(browser.page.status).toBe(303);
    await browser.follow();
    expect(browser.page.text).toContain(email);
    expect(await enter(browser, code)).toEqual(['invalid_code']);
    await enter(browser, codeSentTo(email, await mails.deliver(service.core)));
    await finishRegistration(someone);
    expect(await rows('select email from user_emails where email like $1::text', `%${someone.email}`)).toEqual([
      { email },
    ]);
  });

  test.each([
    ['', 'required'],
    ['nowhere', 'invalid'],
  ])('that is %j is rejected as %s, and stays editable', async (email, code) => {
    const someone = await withCode();
    const { browser } = someone;
    await send(someone, { action: 'change', email });
    expect(browser.page).toMatchObject({ status: 200, errorCodes: [code] });
    expect(browser.page.body).toMatch(/<details class="disclosure" open/);
    expect(browser.page.forms.at(-1)?.inputs.get('email')).toBe(email);
    await enter(browser, someone.code);
    expect(isVerified(someone)).toBe(true);
  });

  test('is not accepted once one is verified (S-124)', async () => {
    const someone = await withCode();
    const { browser, code, email } = someone;
    const { pathname } = new URL(browser.page.url);
    const csrf = csrfOf(browser);
    await enter(browser, code);
    await browser.post(pathname, new URLSearchParams({ csrf, action: 'change', email: 'late@mail.example' }));
    expect(isVerified(someone)).toBe(true);
    expect(await count('user_email_authentications', `email = 'late@mail.example'`)).toBe(0);
    await finishRegistration(someone);
    expect(await count('user_emails', `email = '${email}'`)).toBe(1);
  });
});

describe('the email step', () => {
  test('redirects to the next step when nothing needs verification', async () => {
    await withService({ isEmailRequired: false }, async (lax) => {
      const someone = newUser(lax);
      const { browser } = someone;
      await beginRegistration(browser, { username: someone.username });
      await browser.follow();
      const csrf = csrfOf(browser);
      const path = new URL(browser.page.url).pathname.replace('display-name', 'verify-email');
      for (const ask of [
        () => browser.get(path),
        () => browser.post(path, new URLSearchParams({ csrf, code: '123456' })),
      ]) {
        await ask();
        expect(isVerified(someone)).toBe(true);
      }
    });
  });

  test('cannot be skipped (S-124)', async () => {
    const someone = await withCode();
    const { browser, username } = someone;
    const { href } = new URL(browser.page.url.replace('verify-email', 'display-name'));
    await browser.get(href);
    await browser.submit({ action: 'skip' });
    await browser.get(browser.page.location ?? '');
    expect(browser.page).toMatchObject({ status: 303, location: href.replace('display-name', 'verify-email') });
    expect(await count('users', `username = '${username}'`)).toBe(0);
  });

  test.each([
    ['unproven', 'of the domain', { bannedDomains: ['mail.example'] }],
    ['proven', 'of the address', { bannedAddresses: { ...NO_TEXTS, prefixes: ['person'] } }],
  ])('rejects an address that policy bans later: %s, because %s (browser-flows 5.10)', async (is, _, emailPolicy) => {
    const someone = await withCode();
    const { browser, code, username } = someone;
    const finish = new URL(browser.page.url).pathname.replace('verify-email', 'finish');
    if (is === 'proven') {
      await enter(browser, code);
      await browser.follow();
      await browser.submit({ action: 'skip' });
    }
    await withService({ emailPolicy }, async (strict) => {
      const moved = strict.browser();
      for (const [name, value] of browser.cookies) moved.cookies.set(name, value);
      expect(await moved.get(finish)).toMatchObject({ status: 410, errorCodes: ['registration_outdated'] });
      expectCleanPage(moved.page.body);
      expect(moved.page.body).toContain('href="/register"');
    });
    expect(await count('users', `username = '${username}'`)).toBe(0);
  });

  test('reports an unknown button, and shows an expired form again', async () => {
    await withService({ ttlSeconds: 86_400 }, async (patient) => {
      const someone = await withCode(patient);
      const { browser } = someone;
      expect((await send(someone, { action: 'else' })).errorCodes).toEqual(['invalid_action']);
      patient.clock.advanceSeconds(3601);
      await send(someone, { action: 'change', email: 'kept@mail.example' });
      expect(browser.page).toMatchObject({ status: 200, errorCodes: ['csrf_expired'] });
      expect(browser.page.forms.at(-1)?.inputs.get('email')).toBe('kept@mail.example');
      expect(await count('user_email_authentications', `email = 'kept@mail.example'`)).toBe(0);
    });
  });

  test('takes four statements at most', async () => {
    const someone = await withCode();
    const { browser, code } = someone;
    await enter(browser, wrong(code));
    expect(service.lastRequest().queries).toBe(3);
    await send(someone, { action: 'resend' });
    expect(service.lastRequest().queries).toBe(4);
    await browser.follow();
    expect(service.lastRequest().queries).toBe(2);
    await enter(browser, codeSentTo(someone.email, await mails.deliver(service.core)));
    expect(service.lastRequest().queries).toBe(4);
  });
});

describe('check 15: an address of another account', () => {
  test('gets the same page as a free one; its owner gets a mail, and no code works (S-82)', async () => {
    const owner = newUser();
    await insertTestAccount(testDatabase.database, { username: owner.username, email: 'Owner@mail.example' });
    const pages: string[] = [];
    const taken = newUser(service, 'de');
    for (const [someone, email] of [
      [taken, 'owner@MAIL.example'],
      [newUser(service, 'de'), 'nobody@mail.example'],
    ] as const) {
      const { browser, username } = someone;
      await beginRegistration(browser, { username, email, accept_terms: 'on' });
      expect(browser.page.status).toBe(303);
      await browser.follow();
      pages.push(anonymous(browser.page.body, email));
    }
    expect(pages[0]).toBe(pages[1]);
    const sent = await mails.deliver(service.core);
    const mail = sent.find(({ to }) => to === 'Owner@mail.example') ?? expect.fail('no mail');
    expect(mail.subject).toBe('Sie haben schon ein Konto');
    expect(mail.text).toContain(owner.username);
    expect(mail.text).not.toContain(taken.username);
    expect(mail.text).toContain(`${ORIGIN}/login`);
    expect(`${mail.subject}${mail.text}${mail.html.replace(/#[0-9a-f]{6}/g, '')}`).not.toMatch(/\b\d{6}\b/);
    expect(await count('user_email_authentications', `email_key = 'owner@mail.example' and code_of_mail is null`)).toBe(
      1,
    );
    expect(await enter(taken.browser, '000000')).toEqual(['invalid_code']);
  });

  test('is reported only after the right code, if it was taken in the meantime', async () => {
    const someone = await withCode();
    const { browser, code, email, username } = someone;
    await enter(browser, code);
    const owner = newUser();
    await insertTestAccount(testDatabase.database, { username: owner.username, email });
    await browser.follow();
    expect(browser.page).toMatchObject({ status: 200 });
    expect(browser.page.url).toMatch(/\/finish$/);
    expect(browser.page.body).toContain('data-state="email_in_use"');
    expect(browser.page.body).toContain('href="/login"');
    expectCleanPage(browser.page.body);
    expect(service.lastRequest().requester).toBeUndefined();
    expect(await count('users', `username = '${username}'`)).toBe(0);
    expect(await count('user_registrations', `username = '${username}' and completed_at is null`)).toBe(1);
    await rows('delete from user_emails where email = $1::text', email);
    await browser.get(browser.page.url);
    expect(browser.page.location).toMatch(/\/display-name$/);
  });
});

/** The page without its request-specific parts. */
function anonymous(page: string, email: string): string {
  return page
    .replaceAll(new RegExp(email, 'gi'), 'ADDRESS')
    .replaceAll(/value="[^"]{20,}"/g, 'value')
    .replaceAll(/\/register\/steps\/\w{26}/g, 'STEP');
}

describe('an account that requires an email address', () => {
  test('is not created from a registration started without one', async () => {
    await withService({ isEmailRequired: false }, async (lax) => {
      const { browser, username } = newUser(lax);
      await beginRegistration(browser, { username });
      await browser.follow();
      const { location } = await browser.submit({ action: 'skip' });
      const moved = service.browser();
      for (const [name, value] of browser.cookies) moved.cookies.set(name, value);
      await moved.get(location ?? '');
      expect(moved.page).toMatchObject({ status: 410 });
      expect(moved.page.text).toContain('registration_outdated');
      expect(moved.page.body).toContain('href="/register"');
    });
  });

  test('keeps its address when none is required any more at the end', async () => {
    const someone = await withCode();
    await enter(someone.browser, someone.code);
    await withService({ isEmailRequired: false }, async (lax) => {
      const moved = lax.browser();
      for (const [name, value] of someone.browser.cookies) moved.cookies.set(name, value);
      await moved.open(someone.browser.page.location ?? '');
      await moved.submit({ action: 'skip' });
      await moved.follow();
      expect(await count('user_emails', `email = '${someone.email}'`)).toBe(1);
    });
  });
});

describe('the verification mail', () => {
  async function only(of: PageService = service): Promise<ReceivedMail> {
    const [mail, ...more] = await mails.deliver(of.core);
    expect(more).toEqual([]);
    return mail ?? expect.fail('no mail');
  }

  test('has the code in its subject and text, its lifetime, and a name that mail clients do not link (S-76)', async () => {
    await mails.deliver(service.core);
    const { browser } = newUser();
    const email = 'linked@mail.example';
    const username = 'free-money.example/now';
    await beginRegistration(browser, { username, email, accept_terms: 'on' });
    const mail = await only();
    const code = codeSentTo(email, [mail]);
    expect(mail.subject).toBe(`${code} is your code`);
    expect(mail.text).toContain(`    ${code}\n`);
    expect(mail.html).toContain(`>${code}<`);
    expect(mail.text).toContain('5 minutes');
    expect(mail.text).toContain('someone entered this address');
    expect(mail.text).not.toContain('free-money.example');
    expect(mail.text).toContain('free-money.\u200bexample/\u200bnow');
    expect(mail.text.match(/https?:\/\/\S+/g)).toEqual([`${ORIGIN}/`]);
    expect(mail.headers).toMatchObject({ 'auto-submitted': 'auto-generated' });
  });

  test.each([
    ['de', 'ist Ihr Code'],
    ['fr', 'est votre code'],
    ['es', 'es su código'],
    ['ar', 'هو رمزك'],
  ])('uses the language of the page: %s', async (language, words) => {
    const { browser, username, email } = newUser(service, language);
    await beginRegistration(browser, { username, email, accept_terms: 'on' });
    expect((await only()).subject).toContain(words);
  });

  test('links password recovery only when it is available', async () => {
    const owner = newUser();
    await insertTestAccount(testDatabase.database, { username: owner.username, email: owner.email });
    await withService(
      {},
      async (open) => {
        const { browser, username } = newUser(open);
        await beginRegistration(browser, { username, email: owner.email });
        expect((await only(open)).text).toContain(`${ORIGIN}/recover`);
      },
      { recovery: {} },
    );
    const { browser, username } = newUser();
    await beginRegistration(browser, { username, email: owner.email, accept_terms: 'on' });
    expect((await only()).text).not.toContain('/recover');
  });

  test.each([
    ['another code was requested', async (someone: TestUser) => void (await send(someone, { action: 'resend' })), 1],
    [
      'another address was entered',
      async (someone: TestUser) => void (await send(someone, { action: 'change', email: `x${someone.email}` })),
      1,
    ],
    ['the registration is too old', async () => service.clock.advanceSeconds(3600), 0],
    [
      'the address was proven',
      async ({ email }: TestUser) =>
        void (await rows('update user_email_authentications set completed_at = now() where email = $1::text', email)),
      0,
    ],
    [
      'too many codes were tried',
      async ({ email }: TestUser) =>
        void (await rows('update user_email_authentications set tries = 30 where email = $1::text', email)),
      0,
    ],
    [
      'the registration was deleted',
      async ({ username }: TestUser) =>
        void (await rows('delete from user_registrations where username = $1::text', username)),
      0,
    ],
  ])('is not sent when it is obsolete: %s (operations 6.2)', async (_, change, left) => {
    const someone = await atCode();
    await change(someone);
    expect(await mails.deliver(service.core)).toHaveLength(left);
    expect(await count('queue_jobs', 'failed_at is null')).toBe(0);
  });

  test('has one code however often its job runs', async () => {
    const someone = await atCode();
    const [job] = await rows<{ payload: object }>(`select payload from queue_jobs order by created_at desc limit 1`);
    const first = codeSentTo(someone.email, await mails.deliver(service.core));
    await rows(
      `insert into queue_jobs (id, queue, payload, created_at, due_at)
       values (gen_random_uuid(), 'send-email-authentication-code', $1::jsonb, $2::timestamptz, $2::timestamptz)`,
      JSON.stringify(job?.payload),
      new Date(service.clock.now()),
    );
    expect(codeSentTo(someone.email, await mails.deliver(service.core))).toBe(first);
  });

  test('leaves no code in the database, in the log or in a job payload (R-02)', async () => {
    const { code, email } = await withCode();
    const [dump] = await rows<{ text: string }>(
      `select (select string_agg(a::text, ' ') from user_email_authentications a where a.email = $1::text)
         || (select coalesce(string_agg(j::text, ' '), '') from queue_jobs j) as text`,
      email,
    );
    expect(dump?.text).toContain(email);
    expect(dump?.text).not.toMatch(new RegExp(`\\b${code}\\b`));
    expect(service.lines.join('\n')).not.toMatch(new RegExp(`\\b${code}\\b`));
    expect(service.lines.join('\n')).not.toContain(email);
  });

  test('is not sent for a rejected form', async () => {
    await mails.deliver(service.core);
    const { browser } = newUser();
    await beginRegistration(browser, { username: 'UPPER', email: 'x@mail.example', accept_terms: 'on' });
    await beginRegistration(browser, { username: 'lower', email: 'x@mail.example', password: NEW_PASSWORD });
    expect(browser.page.errorCodes).toEqual(['required']);
    expect(await mails.deliver(service.core)).toEqual([]);
  });
});

test('while mails are delayed no code is promised, nor another one (operations 9.4)', async () => {
  const { browser } = await atCode();
  await sql(
    service.core.database,
    `insert into queue_jobs (id, queue, payload, created_at, due_at)
     values (gen_random_uuid(), 'send-security-notice', '{}', $1::timestamptz, $1::timestamptz)`,
    [new Date(service.clock.now() - 660_000)],
  );
  const waiting = await count('queue_jobs');
  service.core.instance.areMailsLate = true;
  try {
    const other = newUser();
    const { username, email } = other;
    const page = await beginRegistration(other.browser, { username, email, accept_terms: 'on' });
    expect(page).toMatchObject({ status: 503 });
    expect(await count('user_registrations', `username = '${username}'`)).toBe(0);
    await browser.submit({ action: 'resend' });
    expect(browser.page).toMatchObject({ status: 503 });
    expect(await count('queue_jobs')).toBe(waiting);
  } finally {
    service.core.instance.areMailsLate = false;
    await sql(service.core.database, `delete from queue_jobs where queue = 'send-security-notice'`);
  }
});
