import { beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '#platform/postgres/open-database.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { Browser } from '#test/support/browser.ts';
import { expectCleanPage } from '#test/support/clean-page.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { type PageService, startPages } from '#test/support/page-service.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';

const PASSWORD = 'correct horse battery staple';

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(
  startPages(testDatabase.database, {
    unusedBrowserSessionsSeconds: 3600,
  }),
);

beforeAll(async () => {
  await insertTestAccount(testDatabase.database, { username: 'amira', password: PASSWORD });
});

async function signedIn(at: PageService): Promise<Browser> {
  const browser = at.browser();
  await browser.get('/login');
  await browser.submit({ username: 'amira', password: PASSWORD });
  return browser;
}

describe('GET /', () => {
  test('shows a visitor the sign-in link, without a statement', async () => {
    const page = await service.browser().get('/');
    expect(page.status).toBe(200);
    expect(page.body).toContain('href="/login"');
    expect(page.text).toContain('https://auth.example.org/.well-known/openid-configuration');
    expectCleanPage(page.body);
    expect(service.lastRequest().queries).toBe(0);
  });

  test('shows a signed-in user their account and the sign-out button', async () => {
    const browser = await signedIn(service);
    const page = await browser.follow();
    expect(page.url).toBe('https://auth.example.org/');
    expect(page.text).toContain('You are signed in. A amira Your account');
    expect(page.forms[0]?.action).toBe('/logout');
    expect(service.lastRequest().queries).toBe(1);
  });

  test('ignores a session past its idle timeout, whatever the cookie says (S-66)', async () => {
    const browser = await signedIn(service);
    service.clock.advanceSeconds(3600 + 121);
    await browser.get('/');
    expect(browser.page.body).toContain('href="/login"');
    expect(service.lastRequest().requester).toBeUndefined();
    const finished = await sql<{ reason: string }>(
      testDatabase.database,
      'select finish_reason as reason from user_sessions where finished_at is not null',
    );
    expect(finished).toEqual([{ reason: 'expired' }]);
  });

  test.each(['x', 'AAAA', '"><svg>', 'a'.repeat(8000)])(
    'ignores the invalid session cookie "%.10s" (S-63)',
    async (value) => {
      const browser = service.browser();
      browser.cookies.set('__Host-latchkey_session', value);
      const page = await browser.get('/');
      expect(page.status).toBe(200);
      expect(page.body).toContain('href="/login"');
      expect(browser.cookies.has('__Host-latchkey_session')).toBe(false);
    },
  );

  test('keeps users signed in whose cookies have the names of the first version', async () => {
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
    expect(browser.page.status).toBe(303);
    expect(browser.cookies.has('__Host-session')).toBe(false);
    await browser.get('/');
    expect(service.lastRequest().requester).toBeUndefined();
  });

  test('links the discovery document only where configured', async () => {
    const quiet = await startService({ branding: { show_technical_info: false } });
    try {
      const browser = new Browser({ listener: quiet.address, publicBase: quiet.publicBase });
      const { status, body } = await browser.get('/');
      expect([status, body.includes('href="/login"'), body.includes('.well-known')]).toEqual([200, true, false]);
    } finally {
      await quiet.stop();
    }
  });

  test('uses the default language for readers without a supported one (browser-flows 12.3)', async () => {
    const german = await startService({ i18n: { default_language: 'de' } });
    try {
      const { address: listener, publicBase } = german;
      for (const [acceptLanguage, language] of [
        ['tlh, *;q=0.1', 'de'],
        ['garbage;;q', 'de'],
        ['tlh, fr;q=0.5', 'fr'],
      ] as const) {
        const { headers, body } = await new Browser({ listener, publicBase, acceptLanguage }).get('/');
        expect([headers['content-language'], body.includes(`<html lang="${language}"`)]).toEqual([language, true]);
      }
    } finally {
      await german.stop();
    }
  });

  test('redirects visitors to the configured URL, but not signed-in users', async () => {
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

  test('rejects a POST with an error page (browser-flows 15.29)', async () => {
    const browser = service.browser();
    const posted = await browser.post('/', new URLSearchParams());
    expect(posted.status).toBe(405);
    expect(posted.headers.allow).toMatch(/^GET, HEAD/);
    expectCleanPage(posted.body);
  });

  test("returns 404 as a page in the reader's language, and as JSON for programs (browser-flows 15.29)", async () => {
    const page = await service.browser({ acceptLanguage: 'de' }).get('/"><svg onload=alert(1)>');
    expect(page.status).toBe(404);
    expect(page.text).toContain('Seite nicht gefunden');
    expect(page.errorCodes).toEqual(['not_found']);
    expectCleanPage(page.body);
    const json = await service.browser().get('/nowhere', { accept: 'application/json' });
    expect(JSON.parse(json.body)).toMatchObject({ error: 'not_found' });
  });

  test('is a 503 page with the request ID for users with a session when the database is down (browser-flows 15.30)', async () => {
    const database = await openDatabase({
      connection: parseConnectionUri(testDatabase.connectionString),
      log: silentLog,
      clock: { now: () => Date.now() },
    });
    const cut = await startPages(database, { clock: service.clock });
    try {
      const browser = await signedIn(cut);
      expect(browser.page.status).toBe(303);
      await database.close();
      // Concurrently: each request waits for a connection.
      await Promise.all(
        ['/', '/login', '/reauth', '/account/password/change', '/register'].map(async (path) => {
          const tab = cut.browser();
          for (const [name, value] of browser.cookies) tab.cookies.set(name, value);
          const { body, errorCodes, headers, status, text } = await tab.get(path);
          const response = [path, status, headers['retry-after'], errorCodes];
          expect(response).toEqual([path, 503, '5', ['temporarily_unavailable']]);
          expect(text).toMatch(/GET-\d+/);
          expect(body).not.toMatch(/find-viewer|relation|\.ts:|Error:/);
          expectCleanPage(body);
        }),
      );
    } finally {
      await cut.stop();
    }
  });
});
