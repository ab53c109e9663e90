import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { AssetFiles } from '#browser/asset-files.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import type { Browser, Page } from '#test/support/browser.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { type PageService, type PageServiceOptions, startPages, withPages } from '#test/support/page-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { BUNDLED_LANGUAGES } from '#vocabulary/languages.ts';
import es from '../../../locales/es.json' with { type: 'json' };

const PASSWORD = 'correct horse battery staple';
const LOGIN = 'https://auth.example.org/login';
const CONTENTS: Readonly<Record<string, string>> = {
  'account-0a1b2c3d.js': 'import "./chunk-ABCD2345.js"',
  'account.imports.json': '["chunk-ABCD2345.js"]',
  'account-0a1b2c3d.css': 'main {}',
  'account-de-0a1b2c3d.json': '{}',
  'account-en-0a1b2c3d.json': '{}',
  'chunk-ABCD2345.js': 'export {}',
};
const assets = new AssetFiles(
  {
    'account.js': 'account-0a1b2c3d.js',
    'account.css': 'account-0a1b2c3d.css',
    'account-de.json': 'account-de-0a1b2c3d.json',
    'account-en.json': 'account-en-0a1b2c3d.json',
    'chunk-ABCD2345.js': 'chunk-ABCD2345.js',
  },
  (name) => (CONTENTS[name] === undefined ? undefined : Buffer.from(CONTENTS[name])),
);
let users = 0;

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startPages(testDatabase.database, { assets }));

async function withService(options: PageServiceOptions, work: (other: PageService) => Promise<void>): Promise<void> {
  await withPages(testDatabase.database, { clock: service.clock, assets, ...options }, work);
}

async function signedIn(from = service, acceptLanguage = 'en'): Promise<{ browser: Browser; username: string }> {
  users += 1;
  const username = `person${users}`;
  await insertTestAccount(testDatabase.database, { username, password: PASSWORD }, { now: from.clock.now() });
  const browser = from.browser({ acceptLanguage });
  await browser.get('login');
  expect((await browser.submit({ username, password: PASSWORD })).status).toBe(303);
  return { browser, username };
}

const opener = ({ headers }: Page) => headers['cross-origin-opener-policy'];

describe('the account page', () => {
  test.each([
    '/account/',
    '/account/sessions',
    '/account/sessions/browsers',
    '/account/devices/A%2FB',
    '/account/not/known',
    '/account//',
    '/account/?action=org.chat.profile',
    '/account/?action=unknown&action=twice',
  ])('%s is the same for all signed-in users, with one statement', async (path) => {
    const { browser, username } = await signedIn();
    const reference = await browser.get('/account/');
    const response = await browser.get(path);
    expect([response.status, response.body]).toEqual([200, reference.body]);
    expect(service.lastRequest()).toMatchObject({ status: 200, queries: 1 });
    expect(service.lastRequest().requester).toContain(username);
    // All data about the user comes from /graphql.
    expect(response.body).not.toContain(username);
    expect(response.body).not.toContain(response.forms[0]?.inputs.get('csrf') ?? 'csrf');
  });

  test('answers HEAD like GET without a body', async () => {
    const { browser } = await signedIn();
    const page = await browser.get('/account/sessions');
    const head = await browser.head('/account/sessions');
    expect([head.status, head.body]).toEqual([200, '']);
    expect(head.headers['content-length']).toBe(page.headers['content-length']);
    expect(head.headers['content-type']).toBe('text/html; charset=utf-8');
  });

  test('has the page headers, and isolates its window', async () => {
    const { browser } = await signedIn();
    const { headers } = await browser.get('/account/');
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      vary: 'Accept-Language, Cookie',
      'content-language': 'en',
      'referrer-policy': 'same-origin',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'",
    });
  });

  test('references the hashed build files and the modules that the script imports', async () => {
    const { browser } = await signedIn();
    const { body } = await browser.get('/account/');
    const integrity = (name: string) =>
      `integrity="sha384-${createHash('sha384')
        .update(CONTENTS[name] ?? '')
        .digest('base64')}"`;
    for (const [start, name] of [
      ['<link rel="stylesheet" href=', 'account-0a1b2c3d.css'],
      ['<script type="module" src=', 'account-0a1b2c3d.js'],
      ['<link rel="modulepreload" href=', 'chunk-ABCD2345.js'],
    ] as const) {
      expect(body).toContain(`${start}"/assets/${name}" ${integrity(name)}`);
    }
    expect(body).toMatch(/<link rel="preload" as="fetch" [^>]*href="\/assets\/account-en-0a1b2c3d\.json"/);
    expect(body).toContain('<meta name="color-scheme" content="light dark"');
  });

  test('passes its settings as attributes, without inline scripts or styles (security 3.5)', async () => {
    const looks = { publicBase: 'https://example.org/auth/', protocolName: 'matrix' };
    await withService({ ...looks, recovery: { account: { clientLogos: 'proxy' } } }, async (other) => {
      const { browser } = await signedIn(other);
      const { body } = await browser.get('account/');
      const root = /<div id="root"([^>]*)>/.exec(body)?.[1] ?? '';
      expect(Object.fromEntries([...root.matchAll(/ ([a-z-]+)="([^"]*)"/g)].map((found) => found.slice(1)))).toEqual({
        'data-root': '/auth/account/',
        'data-graphql-endpoint': '/auth/graphql',
        'data-protocol': 'matrix',
        'data-version': '0.0.0',
        'data-cross-signing': 'false',
        'data-strength-estimator': '/auth/assets/strength-estimator.js',
        'data-minimum-password-length': '8',
        'data-code-minutes': '5',
        'data-client-logos': '/auth/client-logos/',
        'data-recovery-ends-applications': 'false',
      });
      expect(body).toContain('src="/auth/assets/account-0a1b2c3d.js"');
      expect(body).not.toMatch(/<script[^>]*>[^<]|<style| style=| on[a-z]+=/);
    });
  });

  test.each([
    ['https://plans.example/manage?of=us', 'https://plans.example'],
    ['http://plans.example:8443', 'http://plans.example:8443'],
  ])('allows frames of the origin of %s only', async (planManagementIframeUri, origin) => {
    await withService({ planManagementIframeUri }, async (other) => {
      const { browser } = await signedIn(other);
      for (const path of ['/account/', '/account/plan']) {
        const { body, headers } = await browser.get(path);
        expect(body).toContain(' data-plan-management="true"');
        expect(String(headers['content-security-policy'])).toMatch(new RegExp(`; frame-src ${origin}$`));
        expect(headers['x-frame-options']).toBe('DENY');
      }
      const { headers } = await browser.get('/logout');
      expect(headers['content-security-policy']).not.toContain('frame-src');
    });
  });

  test("uses the reader's language", async () => {
    const { browser } = await signedIn(service, 'de');
    const german = await browser.get('/account/');
    expect(german.headers['content-language']).toBe('de');
    expect(german.body).toMatch(/<html lang="de" dir="ltr">.*<title>Ihr Konto – example\.org<\/title>/s);
    expect(german.body).toContain('/assets/account-de-0a1b2c3d.json');
    const arabic = await signedIn(service, 'ar');
    expect((await arabic.browser.get('/account/')).body).toContain('<html lang="ar" dir="rtl">');
  });

  test('has a menu of languages, relative to the page that is shown, and remembers the choice', async () => {
    const { browser } = await signedIn();
    const { body } = await browser.get('/account/sessions');
    const menu = /<nav class="languages".*<\/nav>/s.exec(body)?.[0] ?? '';
    const links = [...menu.matchAll(/href="([^"]*)"/g)].map((found) => found[1]);
    expect(links).toEqual(BUNDLED_LANGUAGES.map((tag) => `?ui_locales=${tag}`));
    expect((await browser.get('/account/sessions?ui_locales=fr')).headers['content-language']).toBe('fr');
    expect((await browser.get('/account/')).headers['content-language']).toBe('fr');
  });

  test('keeps the bundled texts of languages that the operator does not change', async () => {
    const contents = new Map([
      ['account-en.json', '{"account.sessions.all": "Show all"}'],
      ['account-de.json', '{"account.sessions.all": "Aus dem Build"}'],
    ]);
    const built = new AssetFiles(Object.fromEntries([...contents.keys()].map((name) => [name, name])), (name) =>
      Buffer.from(contents.get(name) ?? ''),
    );
    await withService(
      { assets: built, translations: { fr: { 'account.sessions.all': 'Voir tout' } } },
      async (other) => {
        const publishedIn = async (language: string) => {
          const { browser } = await signedIn(other, language);
          return /href="\/assets\/(account-[^"]*\.json)"/.exec((await browser.get('/account/')).body)?.[1];
        };
        const published = (language: string, texts: Readonly<Record<string, string>>) =>
          `account-${language}-${createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 8)}.json`;
        expect(await publishedIn('de')).toBe('account-de.json');
        expect(await publishedIn('fr')).toBe(published('fr', { 'account.sessions.all': 'Voir tout' }));
        // A build of the operator may be older than a language.
        const { 'account.sessions.all': all } = es;
        expect(await publishedIn('es')).toBe(published('es', { 'account.sessions.all': all }));
      },
    );
  });

  test('explains without JavaScript what is missing, and how to sign out', async () => {
    const { browser } = await signedIn();
    const noscript = /<noscript>(.*)<\/noscript>/s.exec((await browser.get('/account/')).body)?.[1] ?? '';
    expect(noscript).toContain('JavaScript');
    expect([...noscript.matchAll(/href="([^"]*)"/g)].map((found) => found[1])).toEqual(['/logout', '/login']);
  });

  test.each(['POST', 'PUT', 'DELETE'])('%s returns 405', async (method) => {
    const { browser } = await signedIn();
    const headers = { 'x-http-method-override': method };
    const response = await browser.post('/account/sessions', new URLSearchParams(), headers);
    expect([response.status, response.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test.each(['iframe', 'script', 'image'])('cannot be loaded as %s by another page (S-68)', async (destination) => {
    const { browser } = await signedIn();
    const requested = await browser.get('/account/', { 'sec-fetch-dest': destination, 'sec-fetch-site': 'cross-site' });
    expect([requested.status, requested.body]).toEqual([403, '']);
    const visitor = await service
      .browser()
      .get('/account/', { 'sec-fetch-dest': destination, 'sec-fetch-site': 'cross-site' });
    expect([visitor.status, visitor.body]).toEqual([403, '']);
  });
});

test.each([
  ['', 'https://auth.example.org/account/'],
  ['?action=profile&x=%2F%2Fevil.example', 'https://auth.example.org/account/?action=profile&x=%2F%2Fevil.example'],
])('/account%s redirects to the account page, with its query', async (query, location) => {
  const page = await service.browser().get(`/account${query}`);
  expect([page.status, page.location]).toEqual([303, location]);
  expect(service.lastRequest().queries).toBe(0);
});

describe('GET /account/password/recovery', () => {
  const PATH = '/account/password/recovery';
  const TICKET = 'T'.repeat(32);

  test('is the same page for every ticket, without a database query (browser-flows 7.3)', async () => {
    const { browser } = await signedIn();
    const { body } = await browser.get('/account/');
    // Links to other languages would lose the ticket.
    const reference = body.replace(/<nav class="languages".*<\/nav>/s, '');
    for (const one of [browser, service.browser()]) {
      for (const query of [`?ticket=${TICKET}`, '?ticket=x', '?ticket=%F0%9F%94%91%27%22%3Csvg%3E']) {
        const page = await one.get(PATH + query);
        expect([page.status, page.body]).toEqual([200, reference]);
        expect(service.lastRequest()).toMatchObject({ status: 200, queries: 0 });
        expect(service.lastRequest().requester).toBeUndefined();
      }
    }
    expect((await service.browser().head(`${PATH}?ticket=${TICKET}`)).status).toBe(200);
  });

  test('keeps the ticket in its URL, out of subrequests and the log (S-120)', async () => {
    const ticket = 'Never1Written2Anywhere3ButHere45';
    const { body, headers } = await service.browser().get(`${PATH}?ticket=${ticket}`);
    expect(headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
    });
    // With this policy, browsers submit forms with `Origin: null`, which is rejected.
    expect(body).not.toContain('<form');
    expect(body).not.toContain(ticket);
    expect(service.lines.join('\n')).not.toContain(ticket);
  });

  test.each(['', '?ticket=', '?ticket'])('%j redirects to the start of the recovery', async (query) => {
    const { headers, location, status } = await service.browser().get(PATH + query);
    expect([status, location, headers['referrer-policy']]).toEqual([
      303,
      'https://auth.example.org/recover',
      'no-referrer',
    ]);
  });

  test.each(['/', '/x', '/../change'])('with %s appended is an ordinary page', async (end) => {
    const { status, location } = await service.browser().get(`${PATH}${end}?ticket=${TICKET}`);
    expect([status, location?.includes('ticket')]).toEqual([303, false]);
  });

  test('rejects POST', async () => {
    const { headers, status } = await service.browser().post(PATH, new URLSearchParams({ ticket: TICKET }));
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});

describe('GET /.well-known/change-password', () => {
  const PATH = '/.well-known/change-password';

  test("redirects to the page's absolute URL, cached for an hour, without a session (oauth 2.3)", async () => {
    const { status, headers } = await service.browser().get(PATH);
    expect([status, headers.location]).toEqual([303, 'https://auth.example.org/account/password/change']);
    expect(headers['cache-control']).toBe('public, max-age=3600');
    expect(service.lastRequest().queries).toBe(0);
  });

  test('also responds at the origin when the public base has a path', async () => {
    await withService({ publicBase: 'https://example.org/auth/' }, async (below) => {
      for (const path of [PATH, `/auth${PATH}`]) {
        const { headers } = await below.browser().get(`https://example.org${path}`);
        expect(headers.location).toBe('https://example.org/auth/account/password/change');
      }
    });
  });
});

describe('a signed-out visitor', () => {
  const MANAGE = '?kind=manage_account';
  const LONG = 'D'.repeat(256);

  test.each([
    ['/account/', MANAGE],
    ...['org.chat.profile', 'profile', 'org.chat.sessions_list', 'sessions_list', 'org.chat.devices_list'].map(
      (action) => [`/account/?action=${action}`, `${MANAGE}&action=${action}`],
    ),
    ...['session_view', 'session_end', 'org.chat.session_view', 'org.chat.session_end', 'org.chat.device_view'].map(
      (action) => [`/account/?action=${action}&device_id=A%2Fb`, `${MANAGE}&action=${action}&device_id=A%2Fb`],
    ),
    ['/account/?action=org.chat.cross_signing_reset', `${MANAGE}&action=org.chat.cross_signing_reset`],
    ['/account/?action=cross_signing_reset', MANAGE],
    ['/account/?action=org.chat.account_deactivate', `${MANAGE}&action=org.chat.account_deactivate`],
    ['/account/?action=account_deactivate', MANAGE],
    ['/account/?action=ORG.CHAT.PROFILE', MANAGE],
    ['/account/?action=org.matrix.profile', MANAGE],
    ['/account/?action=session_view', MANAGE],
    ['/account/?action=session_view&device_id=', MANAGE],
    [`/account/?action=session_view&device_id=${LONG}`, MANAGE],
    ['/account/?action=session_view&device_id=a%0d%0aSet-Cookie:x', MANAGE],
    ['/account/?action=//evil.example', MANAGE],
    ['/account/?action=profile&device_id=D&next=//evil.example', `${MANAGE}&action=profile`],
    ['/account/?action=sessions_list&action=profile', `${MANAGE}&action=sessions_list`],
    ['/account/?action=nothing&action=profile', MANAGE],
    ['/account/?kind=link_upstream&id=01HZX7T3Q8V3M5N6P7R8S9T0AB', MANAGE],
    ['/account/sessions', `${MANAGE}&action=sessions_list`],
    ['/account/sessions/browsers', `${MANAGE}&action=sessions_list`],
    ['/account/sessionsx', MANAGE],
    ['/account/devices/A%20b', `${MANAGE}&action=session_view&device_id=A%20b`],
    ['/account/devices/A%2Fb%252F', `${MANAGE}&action=session_view&device_id=A%2Fb%252F`],
    ['/account/devices/A/b', `${MANAGE}&action=session_view&device_id=A%2Fb`],
    ['/account/devices/', MANAGE],
    [`/account/devices/${LONG}`, MANAGE],
    ['/account/reset-cross-signing?deepLink=true', `${MANAGE}&action=org.chat.cross_signing_reset`],
    ['/account/reset-cross-signing/success', `${MANAGE}&action=org.chat.cross_signing_reset`],
    ['/account/password/change', '?kind=change_password'],
    ['/account/password/change/', '?kind=change_password'],
    ['/account/emails/x/verify', MANAGE],
    ['/account//evil.example', MANAGE],
    ['/account/?org.chat.msc4198.login_hint=mxid%3A%40a%3Ab', `${MANAGE}&login_hint=mxid%3A%40a%3Ab`],
    ['/account/sessions?org.chat.msc4198.login_hint=a', `${MANAGE}&action=sessions_list&login_hint=a`],
    [`/account/?org.chat.msc4198.login_hint=${LONG}`, `${MANAGE}&login_hint=${LONG}`],
    [`/account/?org.chat.msc4198.login_hint=${LONG}x`, MANAGE],
    ['/account/?login_hint=a', MANAGE],
  ])('is redirected from %s to the sign-in page, without a statement', async (path, query) => {
    const page = await service.browser().get(path);
    expect([page.status, page.location]).toEqual([303, `${LOGIN}${query}`]);
    expect(page.headers['cache-control']).toBe('no-store');
    expect(service.lastRequest().queries).toBe(0);
  });

  test('returns to the page with its action after signing in', async () => {
    const { username } = await signedIn();
    const browser = service.browser();
    await browser.open('/account/devices/A%2Fb');
    const done = await browser.submit({ username, password: PASSWORD });
    expect(done.location).toBe('https://auth.example.org/account/?action=session_view&device_id=A%2Fb');
    expect((await browser.follow()).body).toContain('<div id="root"');
  });

  test('returns to the change-password page', async () => {
    const { username } = await signedIn();
    const browser = service.browser();
    await browser.open('/account/password/change');
    const done = await browser.submit({ username, password: PASSWORD });
    expect(done.location).toBe('https://auth.example.org/account/password/change');
    expect((await browser.follow()).body).toContain('<div id="root"');
  });

  test('is redirected with the action names of another protocol', async () => {
    await withService({ protocolName: 'matrix' }, async (other) => {
      const browser = other.browser();
      expect((await browser.get('/account/?action=org.matrix.device_view&device_id=A')).location).toBe(
        `${LOGIN}${MANAGE}&action=org.matrix.device_view&device_id=A`,
      );
      expect((await browser.get('/account/reset-cross-signing')).location).toBe(
        `${LOGIN}${MANAGE}&action=org.matrix.cross_signing_reset`,
      );
      expect((await browser.get('/account/?action=org.chat.profile')).location).toBe(`${LOGIN}${MANAGE}`);
    });
  });
});

describe('the opener window keeps no handle on the page, except for a cross-signing reset (S-68)', () => {
  test.each([
    ['/account/reset-cross-signing', undefined],
    ['/account/reset-cross-signing/success', undefined],
    ['/account/?action=org.chat.cross_signing_reset', undefined],
    ['/account/?action=cross_signing_reset', 'same-origin'],
    ['/account/sessions?action=org.chat.cross_signing_reset', 'same-origin'],
    ['/account/reset-cross-signing-not', 'same-origin'],
    ['/account/sessions', 'same-origin'],
  ])('at %s', async (path, policy) => {
    const { browser } = await signedIn();
    expect(opener(await browser.get(path))).toBe(policy);
    expect(opener(await service.browser().get(path))).toBe(policy);
  });
});

describe.each([
  [
    'signed out',
    "update user_sessions s set finished_at = s.created_at from users u where u.id = s.user_id and u.username = '",
  ],
  ['locked', "update users set locked_at = created_at where username = '"],
  ['deactivated', "update users set deactivated_at = created_at where username = '"],
])('a user who was %s elsewhere', (word, statement) => {
  test.each([
    ['/account/', '/account/'],
    ['/account/sessions', '/account/?action=sessions_list'],
    ['/account/devices/A', '/account/?action=session_view&device_id=A'],
    ['/account/password/change', '/account/password/change'],
  ])('sees a notice at %s, and continues with the button', async (path, next) => {
    const { browser, username } = await signedIn();
    await sql(testDatabase.database, `${statement}${username}'`);
    const page = await browser.get(path);
    expect([page.status, page.forms.map(({ action }) => action)]).toEqual([200, ['/logout']]);
    expect(page.text).toContain(word);
    expect(opener(page)).toBe('same-origin');
    expect(service.lastRequest().requester).toBeUndefined();
    const out = await browser.submit();
    expect([out.status, new URL(out.location ?? '').pathname + new URL(out.location ?? '').search]).toEqual([
      303,
      next,
    ]);
  });
});
