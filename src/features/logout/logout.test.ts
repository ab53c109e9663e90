import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { toUuid } from '#platform/base/ids.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import type { Browser } from '#test/support/browser.ts';
import { expectCleanPage } from '#test/support/clean-page.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { startPages } from '#test/support/page-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { UserId } from '#vocabulary/ids.ts';

const PASSWORD = 'correct horse battery staple';
const ORIGIN = 'https://auth.example.org';
let amira: UserId;

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startPages(testDatabase.database));

beforeAll(async () => {
  amira = await insertTestAccount(testDatabase.database, { username: 'amira', password: PASSWORD });
});

afterEach(async () => {
  await sql(testDatabase.database, 'delete from user_sessions');
  await sql(testDatabase.database, 'update users set locked_at = null');
});

async function signedIn(): Promise<Browser> {
  // Gives the rows a defined order.
  service.clock.advanceSeconds(1);
  const browser = service.browser();
  await browser.get('/login');
  await browser.submit({ username: 'amira', password: PASSWORD });
  await browser.get('/');
  expect(browser.page.text).toContain('You are signed in');
  return browser;
}

async function sessions(): Promise<{ isLive: boolean; reason: string | null }[]> {
  const rows = await sql<{ is_live: boolean; finish_reason: string | null }>(
    testDatabase.database,
    'select finished_at is null as is_live, finish_reason from user_sessions where user_id = $1::uuid order by id',
    [toUuid(amira)],
  );
  return rows.map((row) => ({ isLive: row.is_live, reason: row.finish_reason }));
}

describe('POST /logout', () => {
  test('ends the session of this browser, is attributed to its user and redirects to the sign-in page', async () => {
    const browser = await signedIn();
    const stolen = new Map(browser.cookies);
    await signedIn();
    const response = await browser.submit();
    expect(response).toMatchObject({ status: 303, location: `${ORIGIN}/login` });
    expect(response.headers['cache-control']).toBe('no-store');
    expect(service.lastRequest()).toMatchObject({ status: 303, requester: `user:${amira}(amira)` });
    expect(await sessions()).toEqual([
      { isLive: false, reason: 'logout' },
      { isLive: true, reason: null },
    ]);

    await browser.get('/');
    expect(browser.page.text).not.toContain('You are signed in');
    const attacker = service.browser();
    for (const [name, value] of stolen) attacker.cookies.set(name, value);
    expect((await attacker.get('/')).text).toContain('You were signed out');
  });

  test('follows a continuation, read from the form by the usual rules (browser-flows 3.3, 15.10)', async () => {
    const browser = await signedIn();
    const id = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
    await browser.submit({ kind: 'continue_authorization_grant', id });
    expect(browser.page).toMatchObject({ status: 303, location: `${ORIGIN}/authorize/${id}` });
  });

  test.each([{ kind: 'continue_authorization_grant', id: '//evil.example' }, { next: 'https://evil.example' }])(
    'does not redirect to another site: %o leads to the sign-in page',
    async (fields) => {
      const browser = await signedIn();
      expect((await browser.submit(fields)).location).toBe(`${ORIGIN}/login`);
    },
  );

  test('everywhere: ends all browser sessions of the user', async () => {
    await signedIn();
    const browser = await signedIn();
    await browser.submit({ scope: 'everywhere' });
    expect((await sessions()).map((session) => session.isLive)).toEqual([false, false]);
  });

  test('any other scope ends only this one', async () => {
    await signedIn();
    const browser = await signedIn();
    await browser.submit({ scope: 'session' });
    expect((await sessions()).map((session) => session.isLive)).toEqual([true, false]);
  });

  test('ends the session of a user locked in the meantime, and is attributed to that user', async () => {
    const browser = await signedIn();
    await sql(testDatabase.database, 'update users set locked_at = $1::timestamptz', [new Date(service.clock.now())]);
    await browser.get('/');
    expect(browser.page.text).toContain('Account locked');
    expect(service.lastRequest().requester).toBeUndefined();
    await browser.submit();
    expect(browser.page).toMatchObject({ status: 303, location: `${ORIGIN}/login` });
    expect(service.lastRequest().requester).toBe(`user:${amira}(amira)`);
    expect((await sessions()).map((session) => session.isLive)).toEqual([false]);
  });

  test('without a session still redirects to the sign-in page, attributed to nobody (browser-flows 15.10)', async () => {
    const browser = service.browser();
    await browser.get('/logout');
    await browser.submit();
    expect(browser.page).toMatchObject({ status: 303, location: `${ORIGIN}/login` });
    expect(service.lastRequest()).toMatchObject({ requester: undefined, queries: 0 });
  });

  test('with a session ended elsewhere clears the cookie and changes no row', async () => {
    const browser = await signedIn();
    await sql(
      testDatabase.database,
      `update user_sessions set finished_at = $1::timestamptz, finish_reason = 'elsewhere'`,
      [new Date(service.clock.now())],
    );
    await browser.submit();
    expect(browser.page.status).toBe(303);
    expect(service.lastRequest().requester).toBeUndefined();
    expect(await sessions()).toEqual([{ isLive: false, reason: 'elsewhere' }]);
    expect(browser.cookies.has('__Host-latchkey_session')).toBe(false);
  });

  test('invalidates the form of another tab (S-65)', async () => {
    const browser = await signedIn();
    const token = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    await browser.submit();
    const response = await browser.post('/logout', new URLSearchParams({ csrf: token }));
    expect(response.status).toBe(403);
    expect(response.errorCodes).toEqual(['csrf_mismatch']);
  });

  test('does nothing for a cross-site request or without the token (S-57, S-67)', async () => {
    const browser = await signedIn();
    const foreign = await browser.submit({}, { headers: { origin: 'https://evil.example' } });
    expect(foreign.status).toBe(403);
    expect((await browser.post('/logout', new URLSearchParams())).status).toBe(403);
    expect((await sessions()).map((session) => session.isLive)).toEqual([true]);
  });

  test("with a form older than an hour asks again, and then keeps that form's options", async () => {
    const browser = await signedIn();
    service.clock.advanceSeconds(3601);
    await browser.submit({ scope: 'everywhere', kind: 'change_password' });
    expect(browser.page.status).toBe(200);
    expect(browser.page.errorCodes).toEqual(['csrf_expired']);
    expect((await sessions()).map((session) => session.isLive)).toEqual([true]);
    await browser.submit();
    expect(browser.page.location).toBe(`${ORIGIN}/account/password/change`);
    expect((await sessions()).map((session) => session.isLive)).toEqual([false]);
  });
});

describe('GET /logout', () => {
  test('signs nobody out, and shows a sign-out button', async () => {
    const browser = await signedIn();
    const page = await browser.get('/logout');
    expect(page.status).toBe(405);
    expect(page.headers.allow).toBe('POST, OPTIONS');
    expectCleanPage(page.body);
    expect((await sessions()).map((session) => session.isLive)).toEqual([true]);
    expect((await browser.submit()).status).toBe(303);
    expect((await sessions()).map((session) => session.isLive)).toEqual([false]);
  });
});
