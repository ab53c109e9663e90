/** Recovery emails, as the recipient's server receives them (browser-flows 7.1, 11.2, 11.3). */

import { describe, expect, test } from 'vitest';
import { loadYaml } from '#config/fixture.test-support.ts';

import { UpstreamProviders } from '#domain/upstream/upstream-providers.ts';
import { parseId, toUuid } from '#platform/base/ids.ts';
import { queryTicket, recoverPassword } from '#test/support/account-operations.ts';
import { insertTestAccount, type TestAccount } from '#test/support/accounts.ts';
import type { Browser } from '#test/support/browser.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { type Mails, startMails } from '#test/support/mails.ts';
import { type PageService, type RecoveryOptions, startPages } from '#test/support/page-service.ts';
import { NEW_PASSWORD, openEstimator } from '#test/support/registering.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';
let users = 0;

const testDatabase = await sharedByTests(createTestDatabase());
const estimator = await sharedByTests(openEstimator());
const mails = await sharedByTests(startMails());
const service = await sharedByTests(start({}));

async function start(recovery: RecoveryOptions, email: Partial<Mails['config']> = {}): Promise<PageService> {
  return await startPages(testDatabase.database, {
    registration: { estimator },
    recovery,
    email: { ...mails.config, ...email },
    ...(users > 0 && { clock: service.clock }),
  });
}

async function newUser(account: Partial<TestAccount> = {}): Promise<string> {
  users += 1;
  const username = `person${users}`;
  const email = `${username}@mail.example`;
  const made = { username, password: PASSWORD, email, ...account };
  await insertTestAccount(testDatabase.database, made, { now: service.clock.now() });
  return email;
}

async function ask(email: string, browser: Browser = service.browser()): Promise<Browser> {
  await browser.get('/recover');
  await browser.submit({ email }, { action: '/recover' });
  expect(browser.page.status).toBe(303);
  return browser;
}

/** Returns the link of an email. It appears twice, as a button and as text. */
function linkIn(mail: { readonly html: string; readonly text: string }): string {
  const [, link] = /(https:\/\/auth\.example\.org\S+)\n/.exec(mail.text) ?? expect.fail('no link');
  expect(mail.html.split(link ?? '')).toHaveLength(3);
  return link ?? '';
}

describe('browser-flows 15.17: the mail for', () => {
  test('an active account: one link, its lifetime, and the requester', async () => {
    const email = await newUser();
    await ask(email.toUpperCase(), service.browser({ address: '203.0.113.9' }));
    const [mail, ...more] = await mails.deliver(service.core);
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ to: email, subject: 'Reset your password' });
    const { html, text } = mail ?? expect.fail('no mail');
    expect(text).toContain('10 minutes');
    expect(text).toContain('203.0.113.9');
    expect(text).toContain(`person${users}`);
    const link = linkIn({ html, text });
    expect(link).toMatch(/^https:\/\/auth\.example\.org\/account\/password\/recovery\?ticket=[0-9A-Za-z]{32}$/);
    const browser = service.browser();
    await browser.get(link);
    const ticket = link.slice(-32);
    expect(await recoverPassword(browser, { ticket, newPassword: NEW_PASSWORD })).toBe('ALLOWED');
    const [notice] = await mails.deliver(service.core);
    expect(notice).toMatchObject({ to: email, subject: expect.stringContaining('password') });
    expect(notice?.text).toContain('https://auth.example.org/recover');
    // Neither the job's row nor the log contains the ticket.
    expect(service.lines.join('\n')).not.toContain(ticket);
    expect(
      await sql(testDatabase.database, `select id from queue_jobs where payload::text like '%' || $1::text || '%'`, [
        ticket,
      ]),
    ).toEqual([]);
  });

  test.each([
    ['de', 'Passwort zurücksetzen'],
    ['fr', 'Réinitialisez votre mot de passe'],
    ['es', 'Restablezca su contraseña'],
    ['ar', 'إعادة تعيين كلمة المرور'],
  ])('an active account, in the language of the page: %s', async (acceptLanguage, subject) => {
    const email = await newUser();
    await ask(email, service.browser({ acceptLanguage }));
    const [mail] = await mails.deliver(service.core);
    expect(mail?.subject).toBe(subject);
    expect(mail?.html).toContain(`<html lang="${acceptLanguage}"`);
  });

  test('an account without a password: how to sign in, and no link to set a password', async () => {
    const email = await newUser();
    await sql(
      testDatabase.database,
      'delete from user_passwords where user_id = (select user_id from user_emails where email = $1::text)',
      [email],
    );
    await ask(email);
    const [mail] = await mails.deliver(service.core);
    expect(mail).toMatchObject({ to: email, subject: 'Your account has no password' });
    expect(linkIn(mail ?? expect.fail('no mail'))).toBe('https://auth.example.org/login');
  });

  test('an account that signs in only upstream: the provider names, except disabled ones', async () => {
    const ids = ['01JD3Q5Z8W2N4K6M7P9R0S1T2V', '01JD3Q5Z8W2N4K6M7P9R0S1T3W', '01JD3Q5Z8W2N4K6M7P9R0S1T4X'];
    const names = ['Acme', 'Old Club', 'Forge'];
    const providers = ids.map((id, index) => ({
      ...{ id, human_name: names[index], enabled: index !== 1, client_id: 'us' },
      ...{ issuer: `https://${index}.example`, token_endpoint_auth_method: 'none' },
    }));
    const { upstreamOauth2 } = loadYaml(JSON.stringify({ upstream_oauth2: { providers } }));
    const email = await newUser();
    await sql(
      testDatabase.database,
      `with owner as (select user_id from user_emails where email = $1::text), removed as (
         delete from user_passwords p using owner where p.user_id = owner.user_id
       ), provider as (
         insert into upstream_providers (id, client_id, ui_order, created_at)
         select id, 'us', 0, now() from unnest($2::uuid[]) as id returning id
       )
       insert into upstream_links (id, provider_id, subject, user_id, created_at)
       select gen_random_uuid(), provider.id, 'her', owner.user_id, now() from provider, owner`,
      [email, ids.map((id) => toUuid(parseId(id) ?? expect.fail('no id')))],
    );
    await ask(email);
    const [mail] = await mails.deliver({
      ...service.core,
      upstream: { ...service.core.upstream, providers: new UpstreamProviders(upstreamOauth2) },
    });
    const readable = mail?.text.replaceAll(/[\u2068\u2069]/g, '');
    expect(readable).toContain('Sign in the way you did before, with Acme or Forge.');
    expect(readable).not.toContain('Old Club');
  });

  test.each([['isLocked'], ['isDeactivated']])('an account with %s: nothing (S-127)', async (state) => {
    await ask(await newUser({ [state]: true }));
    expect(await mails.deliver(service.core)).toEqual([]);
  });

  test('an unknown address: nothing, unless configured', async () => {
    await ask('stranger@mail.example');
    expect(await mails.deliver(service.core)).toEqual([]);
    const talkative = await start({}, { notifyUnknownRecovery: true });
    try {
      await ask('Stranger@mail.example', talkative.browser());
      const [mail] = await mails.deliver(talkative.core);
      expect(mail).toMatchObject({ to: 'Stranger@mail.example', subject: 'No account with this address' });
      expect(mail?.text).not.toContain('ticket');
    } finally {
      await talkative.stop();
    }
  });
});

test('every requested mail has its own link, and all links work until one is used', async () => {
  const email = await newUser();
  const browser = await ask(email);
  await browser.follow();
  const [first] = await mails.deliver(service.core);
  await browser.submit({}, { action: new URL(browser.page.url).pathname });
  const [second] = await mails.deliver(service.core);
  const links = [first, second].map((mail) => linkIn(mail ?? expect.fail('no mail')));
  expect(new Set(links).size).toBe(2);
  for (const link of links) {
    const { body } = await queryTicket(service.browser(), link.slice(-32));
    expect(JSON.parse(body).data.userRecoveryTicket.status).toBe('VALID');
  }
});

test('a second request before the first mail is sent sends one mail', async () => {
  const browser = await ask(await newUser());
  await browser.follow();
  await browser.submit({}, { action: new URL(browser.page.url).pathname });
  expect(await mails.deliver(service.core)).toHaveLength(1);
});

test('a mail that could not be sent within the hour is dropped', async () => {
  await ask(await newUser());
  service.clock.advanceSeconds(3601);
  expect(await mails.deliver(service.core)).toEqual([]);
});

describe('an address requested by many clients (S-94)', () => {
  const limits = { perIp: { burst: 3, perSecond: 3 / 3600 }, perAddress: { burst: 3, perSecond: 1 / 3600 } };
  const CLIENTS = 1000;
  const AT_ONCE = 40;

  test(`${CLIENTS} clients on two instances: three mails in the first hour, one in the next`, async () => {
    // The instances adopt the first service's clock once an account exists.
    const email = await newUser();
    const instances = [await start({ limits }), await start({ limits })] as const;
    try {
      const spellings = [email, email.toUpperCase(), ` ${email} `];
      const askAs = async (index: number): Promise<number> => {
        const browser = instances[index % 2 === 0 ? 0 : 1].browser({ address: `2001:db8:${index.toString(16)}::1` });
        await browser.get('/recover');
        const { errorCodes, status } = await browser.submit({ email: spellings[index % 3] ?? email });
        expect([303, 200]).toContain(status);
        expect(errorCodes).toEqual(status === 303 ? [] : ['rate_limit_exceeded']);
        if (status !== 303) return 0;
        // Resending from the progress page counts against the same limits.
        await browser.follow();
        await browser.submit({}, { action: new URL(browser.page.url).pathname });
        return 1;
      };
      const askTogether = async (clients: number): Promise<number> => {
        let accepted = 0;
        for (let first = 0; first < clients; first += AT_ONCE) {
          const statuses = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => askAs(first + index)));
          accepted += statuses.reduce((sum, count) => sum + count, 0);
          await mails.deliver(service.core).then((sent) => received.push(...sent));
        }
        return accepted;
      };
      const received: { readonly to: string }[] = [];
      expect(await askTogether(CLIENTS)).toBeGreaterThan(0);
      const first = received.length;
      expect(first).toBeGreaterThan(0);
      expect(first).toBeLessThanOrEqual(3);
      service.clock.advanceSeconds(3600);
      await askTogether(CLIENTS / 10);
      expect(received.length - first).toBe(1);
      expect(new Set(received.map(({ to }) => to))).toEqual(new Set([email]));
    } finally {
      for (const instance of instances) await instance.stop();
    }
  }, 300_000);
});

describe('an internationalized address (RFC 6531)', () => {
  test('gets its mail in any of its spellings', async () => {
    await newUser({ email: 'renée@mail.example' });
    await ask('RENE\u0301E@mail.example');
    expect(await mails.deliver(service.core)).toMatchObject([{ to: 'renée@mail.example' }]);
  });

  test('is rejected for all users once the mail server is known not to support it', async () => {
    const old = await startMails({ hideSMTPUTF8: true });
    const local = await startPages(testDatabase.database, {
      registration: { estimator },
      recovery: {},
      email: old.config,
      clock: service.clock,
    });
    const ascii = await newUser();
    await ask(ascii, local.browser());
    expect(await old.deliver(local.core)).toMatchObject([{ to: ascii }]);
    for (const email of ['renée@mail.example', 'nobodý@mail.example']) {
      const browser = local.browser();
      await browser.get('/recover');
      const page = await browser.submit({ email }, { action: '/recover' });
      expect(page).toMatchObject({ status: 200, errorCodes: ['email-unreachable'] });
      expect(page.body).toContain(`value="${email}"`);
    }
    await local.stop();
    await old.stop();
  });
});
