import { beforeEach, describe, expect, test } from 'vitest';
import { insertTestAccount } from '#test/support/accounts.ts';
import { giveAuthenticatorApp } from '#test/support/authenticator-app.ts';
import type { Browser } from '#test/support/browser.ts';
import { expectCleanPage } from '#test/support/clean-page.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { startPages, withPages } from '#test/support/page-service.ts';
import { PasskeyAuthenticator } from '#test/support/passkey-authenticator.ts';
import { givePasskey } from '#test/support/passkeys.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { UserId } from '#vocabulary/ids.ts';

const PASSWORD = 'correct horse battery staple';
const ORIGIN = 'https://auth.example.org';
const OFFER = `${ORIGIN}/login/add-passkey`;
const DAY_SECONDS = 86_400;

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startPages(testDatabase.database));
let users = 0;
let username: string;
let user: UserId;

beforeEach(async () => {
  service.clock.advanceSeconds(3600);
  users += 1;
  username = `visitor-${users}`;
  user = await insertTestAccount(testDatabase.database, { username, password: PASSWORD });
});

/** Signs in on a device that can create passkeys, unless stated otherwise. @returns where the user continues */
async function signIn(browser: Browser, query = '', device = 'on'): Promise<string | undefined> {
  await browser.get(`/login${query}`);
  const page = await browser.submit({ username, password: PASSWORD, passkey_capable: device });
  expect(page.status).toBe(303);
  return page.location;
}

async function offered(): Promise<Browser> {
  const browser = service.browser();
  expect(await signIn(browser)).toBe(OFFER);
  await browser.follow();
  return browser;
}

/** Returns what the script of the page receives. */
async function options(browser: Browser, csrf: string) {
  const headers = { 'content-type': undefined, 'x-csrf-token': csrf, accept: 'application/json' };
  return await browser.postRaw('/login/add-passkey/options', '', headers);
}

function csrfOf(browser: Browser): string {
  return browser.page.forms[0]?.inputs.get('csrf') ?? '';
}

/** Adds a passkey, like the script of the page. */
async function add(browser: Browser, authenticator = new PasskeyAuthenticator(`${ORIGIN}/`, 'P-256')) {
  const csrf = csrfOf(browser);
  const { challenge, publicKey } = JSON.parse((await options(browser, csrf)).body);
  const credential = JSON.stringify(authenticator.create(publicKey));
  return await browser.post('/login/add-passkey', new URLSearchParams({ csrf, action: 'add', challenge, credential }));
}

describe('the offer to add a passkey', () => {
  test('follows a sign-in with a password on a capable device, and keeps the continuation', async () => {
    const browser = service.browser();
    expect(await signIn(browser, '?kind=manage_account')).toBe(`${OFFER}?kind=manage_account`);
    const page = await browser.follow();
    expect(page.status).toBe(200);
    expect(page.body).toContain('/assets/add-passkey.js');
    expect(page.text).toContain('Sign in faster next time');
    expectCleanPage(page.body);
    expect(service.lines.some((line) => line.includes(' passkey.offered '))).toBe(true);
    await browser.submit({ action: 'later' }, { action: '/login/add-passkey?kind=manage_account' });
    expect(browser.page.location).toBe(`${ORIGIN}/account/`);
  });

  test('adds a passkey, with which the user can sign in', async () => {
    const browser = await offered();
    const page = await add(browser);
    expect([page.status, page.location]).toEqual([303, `${ORIGIN}/`]);
    expect((await browser.get('/login/add-passkey')).location).toBe(`${ORIGIN}/`);
    service.clock.advanceSeconds(31 * DAY_SECONDS);
    expect(await signIn(service.browser())).toBe(`${ORIGIN}/`);
  });

  test.each(['', '0'])('is not made without scripts or a capable device (%j)', async (device) => {
    expect(await signIn(service.browser(), '', device)).toBe(`${ORIGIN}/`);
  });

  test('is made at most once in 30 days', async () => {
    await offered();
    service.clock.advanceSeconds(30 * DAY_SECONDS - 1);
    expect(await signIn(service.browser())).toBe(`${ORIGIN}/`);
    service.clock.advanceSeconds(1);
    expect(await signIn(service.browser())).toBe(OFFER);
  });

  test('is made to one of two browsers that sign in at the same time', async () => {
    const answers = await Promise.all([signIn(service.browser()), signIn(service.browser())]);
    expect(answers.toSorted()).toEqual([`${ORIGIN}/`, OFFER]);
  });

  test('is never made again after "Do not ask again"', async () => {
    const browser = await offered();
    await browser.submit({ action: 'never' });
    expect(browser.page.location).toBe(`${ORIGIN}/`);
    expect(service.lines.some((line) => line.includes(' passkey.offer_declined '))).toBe(true);
    service.clock.advanceSeconds(400 * DAY_SECONDS);
    expect(await signIn(service.browser())).toBe(`${ORIGIN}/`);
  });

  test('is not made to a user with a passkey', async () => {
    await givePasskey(service.core, user);
    expect(await signIn(service.browser())).toBe(`${ORIGIN}/`);
  });

  test.each([
    '?kind=change_password',
    '?kind=continue_device_code_grant&id=01JD3Q5Z8W2N4K6M7P9R0S1T2V',
    '?kind=continue_compat_sso_login&id=01JD3Q5Z8W2N4K6M7P9R0S1T2V',
    '?kind=link_upstream&id=01JD3Q5Z8W2N4K6M7P9R0S1T2V',
  ])('does not interrupt %s', async (query) => {
    expect(await signIn(service.browser(), query)).not.toContain('add-passkey');
  });

  test('follows the code of an authenticator app', async () => {
    const app = await giveAuthenticatorApp(service.core, user);
    const browser = service.browser();
    expect(await signIn(browser)).toBe(`${ORIGIN}/login/totp`);
    await browser.follow();
    const page = await browser.submit({ code: app.code(), passkey_capable: 'on' });
    expect(page.location).toBe(OFFER);
  });

  test('is not made if it or passkeys are turned off', async () => {
    for (const secondFactor of [{ passkeyOffer: false }, { passkeysEnabled: false }]) {
      await withPages(testDatabase.database, { clock: service.clock, secondFactor }, async (other) => {
        const browser = other.browser();
        await browser.get('/login');
        expect(browser.page.body).not.toContain('passkey_capable');
        await browser.submit({ username, password: PASSWORD, passkey_capable: 'on' });
        expect(browser.page.location).toBe(`${ORIGIN}/`);
        expect((await browser.get('/login/add-passkey')).status).toBe(404);
      });
    }
  });

  test('costs one statement for a capable device, and none otherwise', async () => {
    const queries = () =>
      Number(/queries=(\d+)/.exec(service.lines.findLast((line) => line.includes('POST /login')) ?? '')?.[1]);
    await signIn(service.browser(), '', '');
    const without = queries();
    await signIn(service.browser());
    expect(queries()).toBe(without + 1);
  });
});

describe('the page of the offer', () => {
  test('continues for users who were not offered a passkey, and for visitors', async () => {
    const browser = service.browser();
    await browser.get('/login');
    await browser.submit({ username, password: PASSWORD });
    expect((await browser.get('/login/add-passkey?kind=manage_account')).location).toBe(`${ORIGIN}/account/`);
    expect((await service.browser().get('/login/add-passkey')).location).toBe(`${ORIGIN}/`);
  });

  test('closes ten minutes after the sign-in, so that an old session cannot add a passkey (S-90)', async () => {
    const browser = await offered();
    const csrf = csrfOf(browser);
    service.clock.advanceSeconds(599);
    expect((await options(browser, csrf)).status).toBe(200);
    service.clock.advanceSeconds(1);
    expect((await options(browser, csrf)).status).toBe(404);
    expect((await browser.get('/login/add-passkey')).status).toBe(303);
  });

  test('adds no passkey without a response to its own challenge (S-90)', async () => {
    const browser = await offered();
    const csrf = csrfOf(browser);
    const key = new PasskeyAuthenticator(`${ORIGIN}/`, 'P-256');
    const { challenge, publicKey } = JSON.parse((await options(browser, csrf)).body);
    const bad = [
      { challenge: '', credential: '' },
      { challenge: 'x', credential: '{' },
      { challenge, credential: '[]' },
      { challenge, credential: JSON.stringify(key.create(publicKey)) },
    ];
    for (const fields of bad) {
      const page = await browser.post('/login/add-passkey', new URLSearchParams({ csrf, action: 'add', ...fields }));
      expect([page.status, page.errorCodes]).toEqual([200, ['passkey_failed']]);
      expectCleanPage(page.body);
    }
    expect((await add(browser)).status).toBe(303);
  });

  test('gives the options only to its own page, and to few requests of an address', async () => {
    const browser = await offered();
    expect((await options(browser, 'wrong')).status).toBe(403);
    await withPages(
      testDatabase.database,
      { clock: service.clock, passkeyLimit: { burst: 1, perSecond: 0.001 } },
      async (other) => {
        const limited = other.browser();
        service.clock.advanceSeconds(31 * DAY_SECONDS);
        await limited.get('/login');
        await limited.submit({ username, password: PASSWORD, passkey_capable: 'on' });
        await limited.follow();
        const csrf = csrfOf(limited);
        expect((await options(limited, csrf)).status).toBe(200);
        expect((await options(limited, csrf)).status).toBe(429);
      },
    );
  });
});
