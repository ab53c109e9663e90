import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertTestAccount } from '#test/support/accounts.ts';
import type { Browser } from '#test/support/browser.ts';
import { expectCleanPage } from '#test/support/clean-page.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { type PageService, startPages } from '#test/support/page-service.ts';

const PASSWORD = 'correct horse battery staple';

let testDatabase: TestDatabase;
let service: PageService;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  service = await startPages(testDatabase.database, {
    sessionLimits: { idleSeconds: 3600, lifetimeSeconds: undefined },
  });
  await insertTestAccount(testDatabase.database, { username: 'amira', password: PASSWORD });
});

afterAll(async () => {
  await service.stop();
  await testDatabase.drop();
});

async function signedIn(at: PageService): Promise<Browser> {
  const browser = at.browser();
  await browser.get('/login');
  await browser.submit({ username: 'amira', password: PASSWORD });
  return browser;
}

describe('GET /', () => {
  test('shows a visitor the link to sign in, without a statement', async () => {
    const page = await service.browser().get('/');
    expect(page.status).toBe(200);
    expect(page.body).toContain('href="/login"');
    expect(page.text).toContain('https://auth.example.org/.well-known/openid-configuration');
    expectCleanPage(page.body);
    expect(service.lastRequest().queries).toBe(0);
  });

  test('shows a signed-in person their account and the sign-out button', async () => {
    const browser = await signedIn(service);
    const page = await browser.follow();
    expect(page.url).toBe('https://auth.example.org/');
    expect(page.text).toContain('You are signed in. A amira');
    expect(page.forms[0]?.action).toBe('/logout');
    expect(service.lastRequest().queries).toBe(1);
  });

  test('ignores a session beyond its idle time, whatever the cookie says (S-66)', async () => {
    const browser = await signedIn(service);
    service.clock.advanceSeconds(3601);
    await browser.get('/');
    expect(browser.shown.body).toContain('href="/login"');
    expect(service.lastRequest().requester).toBeUndefined();
    const finished = await sql<{ reason: string }>(
      testDatabase.database,
      'select finish_reason as reason from user_sessions where finished_at is not null',
    );
    expect(finished).toEqual([{ reason: 'expired' }]);
  });

  test.each(['x', 'AAAA', '"><svg>', 'a'.repeat(8000)])(
    'a session cookie of "%.10s" counts as none (S-63)',
    async (value) => {
      const browser = service.browser();
      browser.cookies.set('__Host-latchkey_session', value);
      const page = await browser.get('/');
      expect(page.status).toBe(200);
      expect(page.body).toContain('href="/login"');
      expect(browser.cookies.has('__Host-latchkey_session')).toBe(false);
    },
  );

  test('keeps somebody signed in whose cookies have the names of the first version', async () => {
    const browser = await signedIn(service);
    for (const [name, value] of [...browser.cookies]) {
      browser.cookies.delete(name);
      browser.cookies.set(name.replace('latchkey_', ''), value);
    }
    await browser.get('/');
    expect(service.lastRequest().requester).toMatch(/^user:/);
    expect(browser.cookies.has('__Host-session')).toBe(true);
    expect(browser.cookies.has('__Host-latchkey_session')).toBe(true);
    await browser.submit({}, { action: '/logout' });
    expect(browser.shown.status).toBe(303);
    expect(browser.cookies.has('__Host-session')).toBe(false);
    await browser.get('/');
    expect(service.lastRequest().requester).toBeUndefined();
  });

  test('redirects visitors to the configured address, but not those who are signed in', async () => {
    const redirecting = await startPages(testDatabase.database, {
      indexRedirect: 'https://www.example.org/',
      clock: service.clock,
    });
    try {
      const visitor = await redirecting.browser().get('/');
      expect(visitor).toMatchObject({ status: 303, location: 'https://www.example.org/' });
      const browser = await signedIn(redirecting);
      expect((await browser.get('/')).status).toBe(200);
    } finally {
      await redirecting.stop();
    }
  });

  test('refuses a POST with a page that says so', async () => {
    const browser = service.browser();
    const posted = await browser.post('/', new URLSearchParams());
    expect(posted.status).toBe(405);
    expect(posted.headers.allow).toMatch(/^GET, HEAD/);
    expectCleanPage(posted.body);
  });

  test('has a page for an address that does not exist, in the language of the reader, and JSON for programs', async () => {
    const page = await service.browser({ acceptLanguage: 'de' }).get('/"><svg onload=alert(1)>');
    expect(page.status).toBe(404);
    expect(page.text).toContain('Seite nicht gefunden');
    expect(page.errorCodes).toEqual(['not_found']);
    expectCleanPage(page.body);
    const json = await service.browser().get('/nowhere', { accept: 'application/json' });
    expect(JSON.parse(json.body)).toMatchObject({ error: 'not_found' });
  });
});
