import { describe, expect, test } from 'vitest';

import { newId } from '#platform/base/ids.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import type { Browser } from '#test/support/browser.ts';
import { expectCleanPage, HOSTILE_TEXTS } from '#test/support/clean-page.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { type PageService, type PageServiceOptions, startPages, withPages } from '#test/support/page-service.ts';
import {
  beginRegistration,
  NEW_PASSWORD,
  openEstimator,
  registerCompletely,
  registerUpToFinish,
} from '#test/support/registering.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';

const ORIGIN = 'https://auth.example.org';
const UNKNOWN = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';

const testDatabase = await sharedByTests(createTestDatabase());
const estimator = await sharedByTests(openEstimator());
const service = await sharedByTests(startPages(testDatabase.database, { registration: { estimator } }));

type Registration = NonNullable<PageServiceOptions['registration']>;

/** Another instance, with its own connections to the same database. */
async function withService(
  registration: Partial<Registration>,
  work: (other: PageService) => Promise<void>,
): Promise<void> {
  const { clock } = service;
  const connection = parseConnectionUri(testDatabase.connectionString);
  const database = await openDatabase({ connection, log: silentLog, clock });
  try {
    await withPages(database, { clock, registration: { estimator, ...registration } }, work);
  } finally {
    await database.close();
  }
}

async function rows<Row extends object>(text: string, ...params: unknown[]): Promise<Row[]> {
  return await sql<Row>(testDatabase.database, text, params);
}

async function accounts(username: string): Promise<number> {
  const [row] = await rows<{ count: number }>(
    'select count(*)::integer as count from users where username = $1::text',
    username,
  );
  return row?.count ?? -1;
}

async function takeName(username: string): Promise<void> {
  await insertTestAccount(testDatabase.database, { username });
}

/** A browser on the display name page of its registration. */
async function atDisplayName(username: string, query = ''): Promise<Browser> {
  const browser = service.browser();
  await beginRegistration(browser, { username }, query);
  await browser.follow();
  return browser;
}

/** Moves a browser to another instance. */
function movedTo(other: PageService, browser: Browser): Browser {
  const moved = other.browser();
  for (const [name, value] of browser.cookies) moved.cookies.set(name, value);
  return moved;
}

describe('a complete registration', () => {
  test('creates one account with all its data, and signs the user in', async () => {
    await withService({ tosUri: 'https://example.org/terms' }, async (strict) => {
      const browser = strict.browser({ acceptLanguage: 'de', address: '203.0.113.9' });
      await beginRegistration(browser, { username: 'dana', accept_terms: 'on' });
      await browser.follow();
      expect(browser.page.url).toMatch(/\/register\/steps\/\w{26}\/display-name$/);
      await browser.submit({ display_name: '  Dana Öz ', action: 'set' });
      expect(browser.page.location).toMatch(/\/register\/steps\/\w{26}\/finish$/);
      service.clock.advanceSeconds(10);
      await browser.get(browser.page.location ?? '');
      expect(browser.page).toMatchObject({ status: 303, location: `${ORIGIN}/` });
      expect(browser.page.headers['cache-control']).toBe('no-store');

      const [user] = await rows<{ id: string }>(
        `select id::text as id, username, username_key, display_name, locale, can_request_admin
           from users where username = 'dana'`,
      );
      expect(user).toMatchObject({ username_key: 'dana', display_name: 'Dana Öz', locale: 'de' });
      expect(user).toMatchObject({ can_request_admin: false });
      const of = user?.id ?? '';
      expect(strict.lastRequest().requester).toMatch(/^user:\w{26}\(dana\)$/);
      expect(
        await rows(
          `select s.user_agent, host(s.last_active_ip) as ip, s.acr, s.amr, a.kind
             from user_sessions s join user_session_authentications a on a.user_session_id = s.id
            where s.user_id = $1::uuid and s.finished_at is null`,
          of,
        ),
      ).toEqual([
        {
          user_agent: 'Mozilla/5.0 (test browser)',
          ip: '203.0.113.9',
          acr: 'urn:latchkey:acr:1',
          amr: ['pwd'],
          kind: 'password',
        },
      ]);
      expect(await rows('select hash, scheme_version from user_passwords where user_id = $1::uuid', of)).toHaveLength(
        1,
      );
      expect(
        await rows(
          `select terms_uri, extract(epoch from $2::timestamptz - accepted_at)::integer as ago
             from user_terms where user_id = $1::uuid`,
          of,
          new Date(service.clock.now()),
        ),
      ).toEqual([{ terms_uri: 'https://example.org/terms', ago: 10 }]);
      expect(
        await rows(
          `select kind, host(ip) as ip, user_agent, session_id is not null as has_session
             from audit_events where user_id = $1::uuid and kind = 'registered'`,
          of,
        ),
      ).toEqual([
        { kind: 'registered', ip: '203.0.113.9', user_agent: 'Mozilla/5.0 (test browser)', has_session: true },
      ]);
      expect(
        await rows(
          `select completed_at is not null as is_completed, password_hash, password_scheme_version
             from user_registrations where username = 'dana'`,
        ),
      ).toEqual([{ is_completed: true, password_hash: null, password_scheme_version: null }]);

      await browser.follow();
      expect(browser.page.text).toContain('Dana Öz');
      expect(strict.lastRequest().requester).toMatch(/\(dana\)$/);
    });
  });

  test('allows signing in with that password afterwards, from any browser', async () => {
    await registerCompletely(service.browser(), 'later');
    const browser = service.browser();
    await browser.get('/login');
    expect((await browser.submit({ username: 'later', password: NEW_PASSWORD })).status).toBe(303);
  });

  test.each([
    ['', '/'],
    ['?kind=continue_authorization_grant&id=01JD3Q5Z8W2N4K6M7P9R0S1T2V', '/authorize/01JD3Q5Z8W2N4K6M7P9R0S1T2V'],
    ['?kind=continue_device_code_grant&id=01jd3q5z8w2n4k6m7p9r0s1t2v', '/device/01JD3Q5Z8W2N4K6M7P9R0S1T2V'],
    [
      '?kind=continue_compat_sso_login&id=01JD3Q5Z8W2N4K6M7P9R0S1T2V',
      '/complete-compat-sso/01JD3Q5Z8W2N4K6M7P9R0S1T2V',
    ],
    ['?kind=change_password', '/account/password/change'],
    ['?kind=link_upstream&id=01JD3Q5Z8W2N4K6M7P9R0S1T2V', '/upstream/link/01JD3Q5Z8W2N4K6M7P9R0S1T2V'],
    ['?kind=manage_account', '/account/'],
    ['?kind=manage_account&action=org.chat.profile', '/account/?action=org.chat.profile'],
    ['?kind=manage_account&action=session_end&device_id=A%2FB%26', '/account/?action=session_end&device_id=A%2FB%26'],
    ['?kind=manage_account&action=//evil.example', '/account/'],
    ['?kind=continue_authorization_grant&id=https://evil.example', '/'],
    ['?kind=change_password&kind=change_password', '/'],
    ['?next=https://evil.example&redirect=//evil.example', '/'],
  ])('carries %s through all steps to %s (interface, S-69)', async (query, target) => {
    const username = `pa-${newId(service.clock.now()).toLowerCase()}`;
    const response = await registerCompletely(service.browser(), username, query);
    expect(response).toMatchObject({ status: 303, location: ORIGIN + target });
  });

  test('works below a path prefix', async () => {
    const prefixed = await startPages(testDatabase.database, {
      publicBase: 'https://example.org/auth/',
      registration: { estimator },
    });
    try {
      const browser = prefixed.browser();
      await browser.open('register?kind=change_password');
      await browser.submit({ username: 'prefixed', password: NEW_PASSWORD });
      await browser.follow();
      await browser.submit({ action: 'skip' });
      await browser.get(browser.page.location ?? '');
      expect(browser.page).toMatchObject({
        status: 303,
        location: 'https://example.org/auth/account/password/change',
      });
    } finally {
      await prefixed.stop();
    }
  });
});

describe('the session created by a registration (S-61)', () => {
  test("shares nothing with the browser's previous session", async () => {
    const browser = service.browser();
    await browser.get('/login');
    const planted = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    await insertTestAccount(testDatabase.database, { username: 'first', password: NEW_PASSWORD });
    const finish = await registerUpToFinish(browser, 'fresh');
    await browser.get('/login');
    await browser.submit({ username: 'first', password: NEW_PASSWORD });
    const before = new Map(browser.cookies);
    const response = await browser.get(finish);
    expect(response.status).toBe(303);
    expect(service.lastRequest().requester).toMatch(/\(fresh\)$/);
    for (const name of ['__Host-latchkey_session', '__Host-latchkey_csrf', '__Host-latchkey_known']) {
      expect(browser.cookies.get(name), name).not.toBe(before.get(name));
    }
    const forged = await browser.post('/logout', new URLSearchParams({ csrf: planted }));
    expect(forged).toMatchObject({ status: 403, errorCodes: ['csrf_mismatch'] });
    await browser.get('/');
    expect(browser.page.text).toContain('fresh');
  });

  test('makes the browser known to the new account', async () => {
    const response = await registerCompletely(service.browser(), 'known-one');
    expect(response.headers['set-cookie']?.some((line) => line.startsWith('__Host-latchkey_known='))).toBe(true);
  });
});

describe('GET finish', () => {
  test('first asks for the display name, without a requester', async () => {
    const browser = service.browser();
    const { location } = await beginRegistration(browser, { username: 'asks' });
    const response = await browser.get(location ?? '');
    expect(response.location).toBe(location?.replace('/finish', '/display-name'));
    expect(service.lastRequest()).toMatchObject({ status: 303, requester: undefined });
    expect(await accounts('asks')).toBe(0);
  });

  test('redirects to the target when repeated, without a second account or sign-in', async () => {
    const browser = service.browser();
    const finish = await registerUpToFinish(browser, 'twice', '?kind=change_password');
    await browser.get(finish);
    const session = browser.cookies.get('__Host-latchkey_session');
    const again = await browser.get(finish);
    expect(again).toMatchObject({ status: 303, location: `${ORIGIN}/account/password/change` });
    expect(again.headers['set-cookie']).toBeUndefined();
    expect(service.lastRequest().requester).toBeUndefined();
    expect(browser.cookies.get('__Host-latchkey_session')).toBe(session);
    expect(await accounts('twice')).toBe(1);
    for (const step of ['display-name', 'username']) {
      const response = await browser.get(finish.replace('finish', step));
      expect(response, step).toMatchObject({ status: 303, location: `${ORIGIN}/account/password/change` });
    }
  });

  test('does nothing for HEAD', async () => {
    const browser = service.browser();
    const finish = await registerUpToFinish(browser, 'head');
    const response = await browser.head(finish);
    expect(response.status).toBe(405);
    expect(response.headers.allow).toBe('GET, OPTIONS');
    expect(await accounts('head')).toBe(0);
  });

  test('is refused if registration was closed in the meantime (S-124)', async () => {
    const browser = service.browser();
    const finish = await registerUpToFinish(browser, 'shut-out');
    await withService({ isOpen: false }, async (closed) => {
      const response = await movedTo(closed, browser).get(finish);
      expect(response).toMatchObject({ status: 410, errorCodes: ['registration_closed'] });
      expectCleanPage(response.body);
    });
    expect(await accounts('shut-out')).toBe(0);
  });

  test('redirects back to the name if policy bans it in the meantime', async () => {
    const browser = service.browser();
    const finish = await registerUpToFinish(browser, 'was-fine');
    const bannedUsernames = { literals: ['was-fine'], prefixes: [], suffixes: [], substrings: [], regexes: [] };
    await withService({ namePolicy: { bannedUsernames } }, async (strict) => {
      const moved = movedTo(strict, browser);
      const response = await moved.open(finish);
      expect(response.url).toBe(finish.replace('finish', 'username'));
      expect(response.errorCodes).toEqual(['username-banned']);
    });
  });
});

describe('a user who was already signed in', () => {
  const sessionsOf = (username: string) =>
    rows<{ finish_reason: string | null; events: string[] }>(
      `select s.finish_reason, array(
         select e.kind from audit_events e where e.session_id = s.id order by e.kind
       ) as events
       from user_sessions s join users u on u.id = s.user_id where u.username = $1::text order by s.finished_at nulls first`,
      username,
    );

  async function signIn(username: string, browser = service.browser()): Promise<Browser> {
    await browser.open('/login');
    expect((await browser.submit({ username, password: NEW_PASSWORD })).status).toBe(303);
    return browser;
  }

  test('is signed out only in this browser by the end of the registration (browser-flows 5.8, S-61)', async () => {
    await insertTestAccount(testDatabase.database, { username: 'earlier', password: NEW_PASSWORD });
    const elsewhere = await signIn('earlier');
    const browser = service.browser();
    const finish = await registerUpToFinish(browser, 'newcomer');
    await signIn('earlier', browser);
    const copy = movedTo(service, browser);
    expect(await browser.get(finish)).toMatchObject({ status: 303, location: `${ORIGIN}/` });
    expect(service.lastRequest().requester).toMatch(/^user:\w{26}\(newcomer\)$/);
    expect(await sessionsOf('earlier')).toEqual([
      { finish_reason: null, events: ['login'] },
      { finish_reason: 'logout', events: ['login', 'logout'] },
    ]);
    expect((await copy.open('/')).text).toContain('signed out');
    expect((await elsewhere.open('/')).text).toContain('earlier');
    expect((await browser.open('/')).text).toContain('newcomer');
  });

  test('stays signed in while a step is missing', async () => {
    await insertTestAccount(testDatabase.database, { username: 'steady', password: NEW_PASSWORD });
    const browser = service.browser();
    await beginRegistration(browser, { username: 'half-way' });
    const finish = browser.page.location ?? '';
    await signIn('steady', browser);
    expect(await browser.get(finish)).toMatchObject({
      status: 303,
      location: finish.replace('finish', 'display-name'),
    });
    expect(service.lastRequest().requester).toBeUndefined();
    expect((await browser.open('/')).text).toContain('steady');
    expect(await sessionsOf('steady')).toEqual([{ finish_reason: null, events: ['login'] }]);
  });
});

describe('steps of another browser, of nobody or of the past (S-59, S-83)', () => {
  const STEPS = ['display-name', 'username', 'finish'];

  test('return 404 with the same response for all', async () => {
    const finish = await registerUpToFinish(service.browser(), 'attacker');
    const victim = service.browser();
    await registerCompletely(victim, 'victim');
    const cookies = new Map(victim.cookies);
    for (const step of STEPS) {
      const bodies = [];
      for (const path of [
        finish.replace('finish', step),
        `/register/steps/${UNKNOWN}/${step}`,
        `/register/steps/${UNKNOWN.toLowerCase()}/${step}`,
        `/register/steps/not-an-id/${step}`,
        `/register/steps/%22%3E%3Csvg%3E/${step}`,
      ]) {
        const response = await victim.get(path);
        expect(response).toMatchObject({ status: 404, errorCodes: ['registration_not_found'] });
        expect(response.body).toContain('href="/register"');
        expectCleanPage(response.body);
        bodies.push(response.body.replace(/GET-\d+/, 'GET-N'));
      }
      expect(new Set(bodies).size).toBe(1);
    }
    expect(victim.cookies.get('__Host-latchkey_session')).toBe(cookies.get('__Host-latchkey_session'));
    expect(await accounts('attacker')).toBe(0);
  });

  test('return JSON to a program', async () => {
    const response = await service.browser().get(`/register/steps/${UNKNOWN}/finish`, { accept: 'application/json' });
    expect(response.status).toBe(404);
    expect(JSON.parse(response.body)).toMatchObject({ error: 'registration_not_found' });
  });

  test('return 404 when their row was deleted', async () => {
    const browser = service.browser();
    const finish = await registerUpToFinish(browser, 'deleted');
    await rows(`delete from user_registrations where username = 'deleted'`);
    for (const step of STEPS) {
      expect((await browser.get(finish.replace('finish', step))).errorCodes).toEqual(['registration_not_found']);
    }
  });

  test('return 410 when the registration has expired, with a link to start again', async () => {
    const browser = await atDisplayName('slow', '?kind=change_password');
    const finish = browser.page.url.replace('display-name', 'finish');
    service.clock.advanceSeconds(3599);
    expect((await browser.get(finish)).status).toBe(303);
    service.clock.advanceSeconds(1);
    for (const step of STEPS) {
      const response = await browser.get(finish.replace('finish', step));
      expect(response, step).toMatchObject({ status: 410, errorCodes: ['registration_expired'] });
      expect(response.body).toContain('href="/register?kind=change_password"');
      expectCleanPage(response.body);
    }
    await browser.get('/register/password');
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    for (const step of ['display-name', 'username']) {
      const posted = await browser.post(
        finish.replace('finish', step),
        new URLSearchParams({ csrf, display_name: 'Slow', username: 'slower' }),
      );
      expect(posted, step).toMatchObject({ status: 410, errorCodes: ['registration_expired'] });
    }
    expect(await accounts('slow')).toBe(0);
  });

  test('expire as configured', async () => {
    await withService({ ttlSeconds: 86_400 }, async (patient) => {
      const browser = patient.browser();
      const finish = await registerUpToFinish(browser, 'patient');
      service.clock.advanceSeconds(86_000);
      expect((await browser.get(finish)).location).toBe(`${ORIGIN}/`);
    });
  });

  test('keep eight registrations per browser, and drop the oldest', async () => {
    const browser = service.browser();
    const finishes = [];
    for (let count = 0; count < 9; count += 1) {
      finishes.push((await beginRegistration(browser, { username: `many-${count}` })).location ?? '');
    }
    const responses = [];
    for (const finish of finishes) responses.push((await browser.get(finish)).status);
    expect(responses).toEqual([404, 303, 303, 303, 303, 303, 303, 303, 303]);
  });
});

describe('the display name', () => {
  test.each([
    ['Dana Öz', 'Dana Öz'],
    ['  Dana  ', 'Dana'],
    ['<b>Dana</b>', '<b>Dana</b>'],
    ['x'.repeat(255), 'x'.repeat(255)],
    ['أميرة', 'أميرة'],
  ])('accepts %s', async (typed, stored) => {
    const username = `dn-${newId(service.clock.now()).toLowerCase()}`;
    const browser = await atDisplayName(username);
    const response = await browser.submit({ display_name: typed });
    expect(response.status).toBe(303);
    const found = await rows('select display_name from user_registrations where username = $1::text', username);
    expect(found).toEqual([{ display_name: stored }]);
    await browser.follow();
    await browser.follow();
    expect(browser.page.status).toBe(200);
    expectCleanPage(browser.page.body);
  });

  test.each(['', '   ', 'x'.repeat(256), 'a\u0007', 'a\u0085b', '\u202eabc', 'a\u2066b'])(
    'rejects %j',
    async (typed) => {
      const browser = await atDisplayName(`bad-${newId(service.clock.now()).toLowerCase()}`);
      const response = await browser.submit({ display_name: typed, action: 'set' });
      expect(response).toMatchObject({ status: 200, errorCodes: ['invalid'] });
      expect(response.body).toContain('<title>Error: ');
      expectCleanPage(response.body);
      expect(response.forms[0]?.inputs.get('display_name')).toBe(typed);
      if (typed.trim() === '') expect(response.text).toContain('Enter a name, or choose “Use my username”.');
    },
  );

  test.each(HOSTILE_TEXTS.filter((text) => !text.includes('\0') && text.length < 8192))(
    'shows hostile text %# as text (S-74)',
    async (typed) => {
      const browser = await atDisplayName(`xss-${newId(service.clock.now()).toLowerCase()}`);
      const response = await browser.submit({ display_name: `${typed}\u202e` });
      expect(response.errorCodes).toEqual(['invalid']);
      expectCleanPage(response.body);
    },
  );

  test('may be skipped, which uses the username', async () => {
    await registerCompletely(service.browser(), 'plain');
    expect(await rows(`select display_name from users where username = 'plain'`)).toEqual([{ display_name: 'plain' }]);
  });

  test('accepts two actions only', async () => {
    const browser = await atDisplayName('odd-button');
    const response = await browser.submit({ display_name: 'Odd', action: 'drop' });
    expect(response).toMatchObject({ status: 200, errorCodes: ['invalid_action'] });
    expect(response.forms[0]?.inputs.get('display_name')).toBe('Odd');
  });

  test('shows an expired form again after an hour with the input, and rejects forms from elsewhere (browser-flows 2.2)', async () => {
    await withService({ ttlSeconds: 86_400 }, async (patient) => {
      const browser = patient.browser();
      await beginRegistration(browser, { username: 'long-thought' });
      await browser.follow();
      const forged = await browser.submit({ display_name: 'X' }, { headers: { origin: 'https://evil.example' } });
      expect(forged).toMatchObject({ status: 403, errorCodes: ['cross_site_request'] });
      await browser.get(forged.url);
      service.clock.advanceSeconds(3601);
      const late = await browser.submit({ display_name: 'Thinker' });
      expect(late).toMatchObject({ status: 200, errorCodes: ['csrf_expired'] });
      expect(late.forms[0]?.inputs.get('display_name')).toBe('Thinker');
      expect((await browser.submit()).status).toBe(303);
      const without = await browser.post(forged.url, new URLSearchParams({ display_name: 'Y' }));
      expect(without.errorCodes).toEqual(['csrf_missing']);
    });
  });

  test('uses the chosen language, and offers the others', async () => {
    const browser = await atDisplayName('polyglot');
    expect(browser.page.body).toContain(`href="${new URL(browser.page.url).pathname}?ui_locales=de"`);
    await browser.get(`${browser.page.url}?ui_locales=de`);
    expect(browser.page.text).toContain('Anzeigenamen wählen');
  });

  test('is also asked of a user signed in to another account, and is attributed to that user', async () => {
    const browser = await atDisplayName('second-account');
    await insertTestAccount(testDatabase.database, { username: 'owner', password: NEW_PASSWORD });
    const { url } = browser.page;
    await browser.get('/login');
    await browser.submit({ username: 'owner', password: NEW_PASSWORD });
    const page = await browser.get(url);
    expect(page.status).toBe(200);
    expect(service.lastRequest().requester).toMatch(/\(owner\)$/);
    await browser.submit({ action: 'skip' });
    await browser.follow();
    expect(browser.page.text).toContain('second-account');
  });
});

describe('a name that another user registered first', () => {
  test('redirects back to the name step, and keeps everything else', async () => {
    const browser = await atDisplayName('contested', '?kind=change_password');
    const { location: finish = '' } = await browser.submit({ display_name: 'Con Tested' });
    await takeName('contested');
    const lost = await browser.get(finish);
    expect(lost).toMatchObject({ status: 303, location: finish.replace('finish', 'username') });
    expect(service.lastRequest().requester).toBeUndefined();
    await browser.follow();
    expect(browser.page.status).toBe(200);
    expect(browser.page.errorCodes).toEqual(['exists']);
    expect(browser.page.text).toContain('contested is no longer available');
    expect(browser.page.forms[0]?.inputs.get('username')).toBe('contested');
    expectCleanPage(browser.page.body);
    await browser.submit({ username: 'uncontested' });
    expect(browser.page).toMatchObject({ status: 303, location: finish });
    await browser.get(finish);
    expect(browser.page.location).toBe(`${ORIGIN}/account/password/change`);
    expect(service.lastRequest().requester).toMatch(/\(uncontested\)$/);
    expect(await rows(`select display_name from users where username = 'uncontested'`)).toEqual([
      { display_name: 'Con Tested' },
    ]);
  });

  test('also resets a display name that was just the username', async () => {
    const browser = service.browser();
    const finish = await registerUpToFinish(browser, 'plain-lost');
    await takeName('plain-lost');
    await browser.open(finish);
    await browser.submit({ username: 'plain-found' });
    await browser.follow();
    expect(await rows(`select display_name from users where username = 'plain-found'`)).toEqual([
      { display_name: 'plain-found' },
    ]);
  });

  test.each([
    ['', ['required'], ''],
    ['contested-2', ['exists'], 'contested-2'],
    ['Contested-3', ['username-invalid-chars'], 'contested-3'],
    ['_x', ['username-reserved'], '_x'],
    ['"<svg onload=alert(1)', ['username-invalid-chars'], '"<svg onload=alert(1)'],
  ])('rejects the new name %j like the first form', async (username, codes, shown) => {
    const browser = service.browser();
    const first = `lost-${newId(service.clock.now()).toLowerCase()}`;
    const finish = await registerUpToFinish(browser, first);
    await takeName(first);
    if ((await accounts('contested-2')) === 0) await takeName('contested-2');
    await browser.open(finish);
    const response = await browser.submit({ username });
    expect(response).toMatchObject({ status: 200, errorCodes: codes });
    expect(response.forms[0]?.inputs.get('username')).toBe(shown);
    expectCleanPage(response.body);
  });

  test('cannot be used to probe names for free (S-82)', async () => {
    await withService({ limits: { registrationCheck: { burst: 2, perSecond: 2 / 3600 } } }, async (limited) => {
      const browser = limited.browser({ address: '198.51.100.77' });
      const finish = await registerUpToFinish(browser, 'curious');
      await takeName('curious');
      await browser.open(finish);
      expect((await browser.submit({ username: 'curious' })).errorCodes).toEqual(['exists']);
      const refused = await browser.submit({ username: 'curiouser' });
      expect(refused).toMatchObject({ status: 200, errorCodes: ['rate_limit_exceeded'] });
      expect(refused.forms[0]?.inputs.get('username')).toBe('curiouser');
    });
  });

  test('is not asked for while the name is available', async () => {
    const browser = await atDisplayName('still-free');
    const finish = browser.page.url.replace('display-name', 'finish');
    expect(await browser.get(finish.replace('finish', 'username'))).toMatchObject({ status: 303, location: finish });
  });

  test('shows an expired form again after an hour with the input, and requires a token (browser-flows 2.2)', async () => {
    await withService({ ttlSeconds: 86_400 }, async (patient) => {
      const browser = patient.browser();
      const finish = await registerUpToFinish(browser, 'late-lost');
      await takeName('late-lost');
      await browser.open(finish);
      const { url } = browser.page;
      const forged = await browser.post(url, new URLSearchParams({ username: 'forged' }));
      expect(forged).toMatchObject({ status: 403, errorCodes: ['csrf_missing'] });
      await browser.get(url);
      service.clock.advanceSeconds(3601);
      const late = await browser.submit({ username: 'late-found' });
      expect(late).toMatchObject({ status: 200, errorCodes: ['csrf_expired'] });
      expect(late.forms[0]?.inputs.get('username')).toBe('late-found');
      expect((await browser.submit()).status).toBe(303);
    });
  });
});

describe('registrations that finish concurrently, on two instances', () => {
  test('with one name create one account, and the others choose another name (browser-flows 15.13, S-96)', async () => {
    await withService({}, async (other) => {
      const contenders = [];
      for (let count = 0; count < 20; count += 1) {
        const browser = (count % 2 === 0 ? service : other).browser();
        contenders.push({ browser, finish: await registerUpToFinish(browser, 'race') });
      }
      const responses = await Promise.all(contenders.map(({ browser, finish }) => browser.get(finish)));
      const winners = responses.filter((response) => response.location === `${ORIGIN}/`);
      expect(winners).toHaveLength(1);
      const losers = responses.filter((response) => response.location?.endsWith('/username') === true);
      expect(losers).toHaveLength(19);
      for (const loser of losers) {
        expect(loser.headers['set-cookie']?.some((line) => line.startsWith('__Host-latchkey_session='))).not.toBe(true);
      }
      expect(await accounts('race')).toBe(1);
      const [left] = await rows(
        `select count(*)::integer as registrations, count(r.completed_at)::integer as completed
           from user_registrations r where username = 'race'`,
      );
      expect(left).toEqual({ registrations: 20, completed: 1 });
      const sessions = await rows(
        `select count(*)::integer as sessions from user_sessions s join users u on u.id = s.user_id
          where u.username = 'race'`,
      );
      expect(sessions).toEqual([{ sessions: 1 }]);
    });
  });

  test('of one registration create one account and one session (S-100)', async () => {
    await withService({}, async (other) => {
      const browser = service.browser();
      const finish = await registerUpToFinish(browser, 'parallel', '?kind=change_password');
      const tabs = Array.from({ length: 20 }, (_, count) => movedTo(count % 2 === 0 ? service : other, browser));
      const responses = await Promise.all(tabs.map((tab) => tab.get(finish)));
      expect(new Set(responses.map((response) => response.location))).toEqual(
        new Set([`${ORIGIN}/account/password/change`]),
      );
      const signedIn = responses.filter((response) =>
        response.headers['set-cookie']?.some((line) => line.startsWith('__Host-latchkey_session=')),
      );
      expect(signedIn).toHaveLength(1);
      expect(await accounts('parallel')).toBe(1);
      expect(
        await rows(
          `select count(*)::integer as sessions
             from user_sessions s join users u on u.id = s.user_id where u.username = 'parallel'`,
        ),
      ).toEqual([{ sessions: 1 }]);
    });
  });
});

describe('a registration that fails because of a server error', () => {
  test('leaves no partial data', async () => {
    const browser = service.browser();
    const finish = await registerUpToFinish(browser, 'half');
    await rows(`update user_registrations set password_hash = null where username = 'half'`);
    const [before] = await rows('select count(*)::integer as events from audit_events');
    expect((await browser.get(finish)).status).toBe(500);
    expect(await accounts('half')).toBe(0);
    expect(await rows('select count(*)::integer as events from audit_events')).toEqual([before]);
    expect(browser.cookies.has('__Host-latchkey_session')).toBe(false);
  });
});

test('where a second factor is required, the new account gets no session before it has one', async () => {
  const { clock } = service;
  const options = { clock, registration: { estimator }, secondFactor: { secondFactor: 'required' } } as const;
  const strict = await startPages(testDatabase.database, options);
  try {
    const browser = strict.browser();
    await registerUpToFinish(browser, 'enrolling', '?kind=change_password');
    await browser.get(browser.page.location ?? '');
    expect(browser.page).toMatchObject({ status: 303, location: `${ORIGIN}/login/setup?kind=change_password` });
    expect(strict.lastRequest().requester).toBeUndefined();
    const sessions = `select s.id from user_sessions s join users u on u.id = s.user_id where u.username = 'enrolling'`;
    expect(await rows(sessions)).toEqual([]);
    await browser.get(browser.page.location ?? '');
    expect(browser.page.status).toBe(200);
    expect(browser.page.body).toContain('<svg');
    await browser.get('/account/');
    expect(browser.page.location).toMatch(/\/login\?/);
  } finally {
    await strict.stop();
  }
});
