import { beforeEach, describe, expect, test } from 'vitest';
import { type MailName, type MailPartName, type MailTemplates, parseMailTemplate } from '#config/mail-template.ts';
import { parseEmailAddress } from '#domain/accounts/email-address.ts';
import { addEmail } from '#domain/accounts/user-emails.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import { changePassword as askToChangePassword } from '#test/support/account-operations.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import type { Browser } from '#test/support/browser.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { startMails } from '#test/support/mails.ts';
import { type PageService, type PageServiceOptions, startPages } from '#test/support/page-service.ts';
import { openEstimator } from '#test/support/registering.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { BUNDLED_LANGUAGES } from '#vocabulary/languages.ts';

const PASSWORD = 'correct horse battery staple';
const NEW = 'seven purple walruses sing quietly';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';
let users = 0;
let username: string;
let user: UserId;

const testDatabase = await sharedByTests(createTestDatabase());
const estimator = await sharedByTests(openEstimator());
const mails = await sharedByTests(startMails());
const service = await sharedByTests(start());
beforeEach(async () => {
  users += 1;
  username = `amira${users}`;
  user = await account(username, `${username}@mail.example`);
  service.clock.advanceSeconds(3601);
});

function start(options: PageServiceOptions = {}): Promise<PageService> {
  return startPages(testDatabase.database, { registration: { estimator }, email: mails.config, ...options });
}

async function account(name: string, email: string): Promise<UserId> {
  const { clock } = service;
  return await insertTestAccount(
    testDatabase.database,
    { username: name, password: PASSWORD, email },
    { now: clock.now() },
  );
}

async function addAddress(address: string): Promise<void> {
  const email = parseEmailAddress(address);
  if (email === undefined) throw new Error(`no address: ${address}`);
  await addEmail(testDatabase.database, user, email, service.clock.now());
}

async function signIn(browser: Browser, name = username): Promise<Browser> {
  await browser.open('/login');
  await browser.submit({ username: name, password: PASSWORD });
  expect(browser.page.status).toBe(303);
  return browser;
}

function browser(acceptLanguage?: string): Browser {
  return service.browser({ userAgent: FIREFOX, ...(acceptLanguage !== undefined && { acceptLanguage }) });
}

async function changePassword(from: Browser): Promise<void> {
  expect(await askToChangePassword(from, { oldPassword: PASSWORD, newPassword: NEW })).toBe('ALLOWED');
}

function deliver() {
  return mails.deliver(service.core);
}

function waiting() {
  return sql<{ queue: string; payload: Record<string, unknown> }>(
    testDatabase.database,
    `select queue, payload from queue_jobs where queue = 'send-security-notice'`,
  );
}

describe('a password change is notified (browser-flows 11.5, R-33)', () => {
  test('to every confirmed address of the account, in the page language', async () => {
    await addAddress(`second${users}@mail.example`);
    await changePassword(await signIn(browser('de')));
    const received = await deliver();
    expect(received.map(({ to }) => to).toSorted()).toEqual([
      `amira${users}@mail.example`,
      `second${users}@mail.example`,
    ]);
    const [mail] = received;
    expect(mail?.subject).toBe('Ihr Passwort wurde geändert');
    expect(mail?.headers).toMatchObject({
      from: 'Example <noreply@example.org>',
      'auto-submitted': 'auto-generated',
      'x-auto-response-suppress': 'All',
    });
    const readable = mail?.text.replaceAll(/[\u2068\u2069]/g, '');
    expect(readable).toContain(`Das Passwort Ihres Kontos ${username} wurde geändert.`);
    expect(readable).toContain('Browser: Firefox, Linux');
    expect(readable).toMatch(/IP-Adresse: 192\.0\.2\.\d+/);
    expect(readable).toContain('Sie wurden in allen anderen Browsern abgemeldet.');
    expect(readable).not.toContain('bei allen Apps und Geräten abgemeldet');
    expect(mail?.html).toContain('<html lang="de" dir="ltr">');
  });

  test('also to an address that is removed before the email is sent', async () => {
    await changePassword(await signIn(browser()));
    await sql(testDatabase.database, `delete from user_emails where email = '${username}@mail.example'`);
    expect(await deliver()).toMatchObject([{ to: `${username}@mail.example`, subject: 'Your password was changed' }]);
  });

  test('by a job without secrets', async () => {
    await changePassword(await signIn(browser()));
    const [job] = await waiting();
    expect(Object.keys(job?.payload ?? {}).toSorted()).toEqual([
      ...['at', 'detail', 'event_id', 'language', 'notice', 'to', 'user_id'],
    ]);
    expect(JSON.stringify(job)).not.toContain(NEW);
    await deliver();
  });

  test('not when the change was rejected', async () => {
    const page = await signIn(browser());
    expect(await askToChangePassword(page, { oldPassword: 'wrong', newPassword: NEW })).toBe('WRONG_PASSWORD');
    expect(await waiting()).toEqual([]);
  });

  test('at most ten times per hour (S-94)', async () => {
    for (let count = 0; count < 12; count += 1) await signIn(browser());
    expect(await deliver()).toHaveLength(10);
    service.clock.advanceSeconds(3600);
    await signIn(browser());
    expect(await deliver()).toHaveLength(1);
  });
});

describe('a sign-in from a new browser is notified (browser-flows 11.4)', () => {
  test('except for the first session of an account', async () => {
    await signIn(browser());
    expect(await deliver()).toEqual([]);
    await signIn(browser());
    const [mail, ...others] = await deliver();
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ to: `${username}@mail.example`, subject: 'New sign-in to your account' });
    expect(mail?.text).toContain('https://auth.example.org/account/sessions');
    expect(mail?.text).toContain('https://auth.example.org/account/password/change');
    expect(mail?.text).toMatch(/Signed in with: .Password/);
    expect(mail?.html).toContain('href="https://auth.example.org/account/password/change"');
  });

  test('not from a known browser of the account', async () => {
    await signIn(browser());
    const own = browser();
    await signIn(own);
    expect(await deliver()).toHaveLength(1);
    own.cookies.delete('__Host-latchkey_session');
    await signIn(own);
    expect(await deliver()).toEqual([]);
  });

  test('not in the first hour of an account', async () => {
    const young = `young${users}`;
    await account(young, `${young}@mail.example`);
    await signIn(browser(), young);
    await signIn(browser(), young);
    expect(await deliver()).toEqual([]);
  });

  test('also in an account whose earlier sign-ins were deleted', async () => {
    service.clock.advanceSeconds(31 * 86_400);
    await signIn(browser());
    expect(await deliver()).toHaveLength(1);
  });

  test('not when the operator disabled notices', async () => {
    await signIn(browser());
    const other = await start({ email: { ...mails.config, securityNotices: false }, clock: service.clock });
    const page = other.browser();
    await page.open('/login');
    await page.submit({ username, password: PASSWORD });
    expect(page.page.status).toBe(303);
    expect(await waiting()).toEqual([]);
    await other.stop();
  });

  test('in Arabic, right to left, with external text isolated', async () => {
    await signIn(browser());
    await signIn(service.browser({ acceptLanguage: 'ar', userAgent: 'evil.example/1.0 https://evil.example' }));
    const [mail] = await deliver();
    expect(mail?.html).toContain('<html lang="ar" dir="rtl">');
    expect(mail?.subject).toBe('تسجيل دخول جديد إلى حسابك');
    expect(mail?.text).toContain(`\u2068${username}\u2069`);
    expect(mail?.text).not.toContain('evil.example');
    expect(mail?.html).not.toContain('evil.example');
  });
});

describe('notice language (browser-flows 11)', () => {
  const subjects = async () => (await deliver()).map(({ subject }) => subject);

  test("of a sign-in is the owner's last used language, whatever the new browser requests (S-123)", async () => {
    await signIn(browser('de'));
    await service.core.activity.flush();
    await signIn(browser('ar'));
    expect(await subjects()).toEqual(['Neue Anmeldung bei Ihrem Konto']);
    // Stores that the owner has used pages in Arabic.
    await service.core.activity.flush();
    await signIn(browser('fr'));
    expect(await subjects()).toEqual(['تسجيل دخول جديد إلى حسابك']);
  });

  test('of an unsolicited notice is that of the last used page', async () => {
    const own = await signIn(browser('de'));
    await own.open('/link?ui_locales=es');
    await own.open('/');
    await service.core.activity.flush();
    await queueNotice(testDatabase.database, 'failed_logins', { user, now: service.clock.now() });
    expect(await subjects()).toEqual(['Muchos intentos fallidos de inicio de sesión']);
  });
});

describe('many wrong passwords are notified (browser-flows 3.2.5)', () => {
  test('once a day', async () => {
    await addAddress(`second${users}@mail.example`);
    const guess = async (times: number): Promise<void> => {
      const page = browser();
      for (let count = 0; count < times; count += 1) {
        await page.open('/login');
        await page.submit({ username, password: 'wrong' });
      }
    };
    await guess(99);
    expect(await deliver()).toEqual([]);
    await guess(1);
    expect((await deliver()).map(({ subject }) => subject)).toEqual(
      Array.from({ length: 2 }, () => 'Many failed sign-in attempts'),
    );
    await guess(100);
    expect(await deliver()).toEqual([]);
  });
});

test('emails beyond the limit per minute are sent in the next one (operations 1.14)', async () => {
  const paced = { ...service.core, config: { ...service.core.config, email: { ...mails.config, maxPerMinute: 2 } } };
  await signIn(browser());
  for (let count = 0; count < 5; count += 1) await signIn(browser());
  const arrived: number[] = [];
  for (let half = 0; half < 6; half += 1) {
    arrived.push((await mails.deliver(paced)).length);
    service.clock.advanceSeconds(30);
  }
  expect(arrived).toEqual([2, 1, 1, 1, 0, 0]);
});

describe('email HTML', () => {
  test('loads nothing, links only to the service, and is well-formed', async () => {
    await signIn(browser());
    for (const language of BUNDLED_LANGUAGES) {
      // An account gets ten notices an hour.
      service.clock.advanceSeconds(3600 / 10);
      await signIn(browser(language));
      const [mail] = await deliver();
      const html = mail?.html ?? '';
      expect(html).not.toMatch(/<(?:img|script|iframe|link|object|form)|url\(|src=|@import/i);
      const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
      expect(links).toEqual([
        'https://auth.example.org/account/sessions',
        'https://auth.example.org/account/password/change',
      ]);
      expect(html).toContain('prefers-color-scheme:dark');
      expect(html).toContain(`<html lang="${language}"`);
      expect(mail?.text).not.toMatch(/undefined|\{[a-z]+\}/);
    }
  });
});

test('an email has the colors of the pages, those of a theme too, in light and dark programs', async () => {
  await signIn(browser());
  await signIn(browser());
  const { config } = service.core;
  const theme = { light: { accent: '#0b5fa5' }, dark: { accent: '#8db4ff', sunken: '#222222' }, shapes: {} };
  const own = { ...config, branding: { ...config.branding, theme } };
  const html = (await mails.deliver({ ...service.core, config: own })).map((mail) => mail.html).join();
  expect(html).toMatch(/<a class="button" [^>]*background-color:#0b5fa5;color:#ffffff/);
  expect(html).toMatch(/<table class="sunken" [^>]*background-color:#eef1f0;color:#15201d/);
  const [, dark = ''] = html.split('@media (prefers-color-scheme:dark){');
  expect(dark).toContain('.button{background-color:#8db4ff!important}');
  expect(dark).toContain('.sunken{background-color:#222222!important}');
  // Outlook.
  expect(dark).toContain('[data-ogsc] .muted{color:#9fb0ab!important}');
});

describe('a custom email (browser-flows 11)', () => {
  const part = (name: MailName, kind: MailPartName, text: string) => parseMailTemplate(name, kind, text).template;

  test('combines replaced parts with the bundled ones', async () => {
    const templates: MailTemplates = {
      password_changed: {
        subject: part('password_changed', 'subject', 'Careful, {{ username }}\n'),
        html: part(
          'password_changed',
          'html',
          '<h1>{{ heading }}</h1>{{ paragraphs }}{{ details }}<i>{{ imprint }}</i>',
        ),
      },
    };
    const { config } = service.core;
    const branding = { ...config.branding, imprint: 'Club <b> & friends' };
    await changePassword(await signIn(browser()));
    const own = { ...config, branding, templates: { ...config.templates, mails: templates } };
    const [mail] = await mails.deliver({ ...service.core, config: own });
    expect(mail?.subject).toBe(`Careful, ${username}`);
    expect(mail?.html).toMatch(
      /^<h1>Your password was changed<\/h1><p [\s\S]*You were signed out of all other browsers/,
    );
    expect(mail?.html).toMatch(/<table [\s\S]*Firefox, Linux[\s\S]*<i>Club &lt;b&gt; &amp; friends<\/i>$/);
    expect(mail?.text).toContain('Your password was changed');
  });

  test('as text, includes what a user needs to continue', async () => {
    const text =
      '{{ heading }}|{{ link_label }}|{{ link }}|{{ language }}|{{ direction }}|{{ service_name }}|{{ details }}';
    const templates: MailTemplates = { password_changed: { txt: part('password_changed', 'txt', text) } };
    const { config } = service.core;
    await changePassword(await signIn(browser('ar')));
    const account = { ...config.account, passwordRecoveryEnabled: true };
    const own = { ...config, account, templates: { ...config.templates, mails: templates } };
    const [mail] = await mails.deliver({ ...service.core, config: own });
    const [heading, label, link, language, direction, name, details] = mail?.text.split('|') ?? [];
    expect([heading, label, language, direction]).toEqual([
      'تم تغيير كلمة مرورك',
      'إعادة تعيين كلمة المرور',
      'ar',
      'rtl',
    ]);
    expect([link, name]).toEqual(['https://auth.example.org/recover', config.branding.serviceName]);
    expect(details).toContain('Firefox');
    expect(mail?.html).toContain('<html lang="ar" dir="rtl">');
  });
});
