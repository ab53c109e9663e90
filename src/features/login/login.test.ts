import { beforeAll, describe, expect, test } from 'vitest';
import { LatchkeyError } from '#platform/base/errors.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { PasswordHasher } from '#platform/password-hash/password-hasher.ts';
import { CHEAP_SCHEME, insertTestAccount } from '#test/support/accounts.ts';
import type { Page } from '#test/support/browser.ts';
import { expectCleanPage, HOSTILE_TEXTS } from '#test/support/clean-page.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { insertClient, sql } from '#test/support/fixtures.ts';
import { type PageService, type PageServiceOptions, startPages, withPages } from '#test/support/page-service.ts';
import { until } from '#test/support/route-server.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { WaitingHasher } from '#test/support/waiting-hasher.ts';
import type { ClientId, UserId } from '#vocabulary/ids.ts';
import { BUNDLED_LANGUAGES } from '#vocabulary/languages.ts';

const PASSWORD = 'correct horse battery staple';
const ORIGIN = 'https://auth.example.org';
let amira: UserId;

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startPages(testDatabase.database));

beforeAll(async () => {
  const add = (username: string, account: Parameters<typeof insertTestAccount>[1] | object = {}) => {
    return insertTestAccount(testDatabase.database, { username, password: PASSWORD, ...account });
  };
  amira = await add('amira', { email: 'amira@mail.example' });
  await insertTestAccount(testDatabase.database, { username: 'passwordless' });
  await add('locked', { isLocked: true });
  await add('gone', { isDeactivated: true });
});

async function withService(options: PageServiceOptions, work: (other: PageService) => Promise<void>): Promise<void> {
  await withPages(testDatabase.database, { clock: service.clock, ...options }, work);
}

async function signIn(
  fields: { username?: string; password?: string } = {},
  options: { at?: string; from?: PageService } = {},
): Promise<Page> {
  const browser = (options.from ?? service).browser();
  await browser.get(options.at ?? '/login');
  return await browser.submit({ username: 'amira', password: PASSWORD, ...fields });
}

async function liveSessions(user: UserId): Promise<number> {
  const [row] = await sql<{ live: number }>(
    testDatabase.database,
    'select count(*)::integer as live from user_sessions where user_id = $1::uuid and finished_at is null',
    [toUuid(user)],
  );
  return row?.live ?? 0;
}

async function pendingGrant(clientId: ClientId, options: { redirectUri?: string; locale?: string } = {}) {
  const id = newId<'authorization-grant'>(service.clock.now());
  await sql(
    testDatabase.database,
    `insert into oauth2_authorization_grants
       (id, client_id, redirect_uri, redirect_uri_sent, scope, response_mode, locale, created_at, expires_at)
     values ($1::uuid, $2::uuid, $3::text, true, '{openid}', 'query', $4::text, $5::timestamptz, $6::timestamptz)`,
    [
      toUuid(id),
      toUuid(clientId),
      options.redirectUri ?? 'https://app.harbour.example/callback',
      options.locale ?? null,
      new Date(service.clock.now()),
      new Date(service.clock.now() + 3_600_000),
    ],
  );
  return id;
}

describe('POST /login with the right password', () => {
  test('creates a session, redirects to / and is attributed to the user (browser-flows 15.1)', async () => {
    const before = await liveSessions(amira);
    const response = await signIn();
    expect(response.status).toBe(303);
    expect(response.location).toBe(`${ORIGIN}/`);
    expect(response.headers['cache-control']).toBe('no-store');
    expect(service.lastRequest()).toMatchObject({ status: 303, requester: `user:${amira}(amira)` });
    expect(await liveSessions(amira)).toBe(before + 1);
  });

  test('sets sealed cookies that are HttpOnly and bound to the host (R-30)', async () => {
    const { headers } = await signIn();
    for (const name of ['session', 'csrf', 'known']) {
      const cookie = headers['set-cookie']?.find((line) => line.startsWith(`__Host-latchkey_${name}=`));
      expect(cookie, name).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Secure/);
      expect(cookie).not.toMatch(/domain/i);
    }
  });

  test.each([
    ['another letter case', { username: 'AMIRA' }],
    ['the full chat identifier', { username: '@amira:example.org' }],
    ['a confirmed address', { username: 'Amira@Mail.example' }],
    ['white space around the name', { username: '  amira ' }],
  ])('finds the account by %s (browser-flows 3.2.3)', async (_, fields) => {
    expect((await signIn(fields)).status).toBe(303);
  });

  test('does not truncate the password', async () => {
    expect((await signIn({ password: ` ${PASSWORD}` })).errorCodes).toEqual(['invalid_credentials']);
  });

  test('takes at most 3 statements besides hashing', async () => {
    await signIn();
    expect(service.lastRequest().queries).toBeLessThanOrEqual(3);
  });

  test.each([
    ['kind=continue_authorization_grant&id=01JD3Q5Z8W2N4K6M7P9R0S1T2V', '/authorize/01JD3Q5Z8W2N4K6M7P9R0S1T2V'],
    ['kind=continue_device_code_grant&id=01jd3q5z8w2n4k6m7p9r0s1t2v', '/device/01JD3Q5Z8W2N4K6M7P9R0S1T2V'],
    ['kind=continue_compat_sso_login&id=01JD3Q5Z8W2N4K6M7P9R0S1T2V', '/complete-compat-sso/01JD3Q5Z8W2N4K6M7P9R0S1T2V'],
    ['kind=change_password', '/account/password/change'],
    ['kind=link_upstream&id=01JD3Q5Z8W2N4K6M7P9R0S1T2V', '/upstream/link/01JD3Q5Z8W2N4K6M7P9R0S1T2V'],
    ['kind=manage_account', '/account/'],
    ['kind=manage_account&action=org.chat.profile', '/account/?action=org.chat.profile'],
    ['kind=manage_account&action=session_end&device_id=A%2FB', '/account/?action=session_end&device_id=A%2FB'],
    ['kind=manage_account&action=//evil.example', '/account/'],
  ])('continues ?%s at %s (interface, S-69)', async (query, target) => {
    const response = await signIn({}, { at: `/login?${query}` });
    expect(response.location).toBe(ORIGIN + target);
  });

  test.each([
    'kind=continue_authorization_grant&id=https://evil.example',
    'kind=continue_authorization_grant&id=..%2f..%2fx',
    'kind=continue_authorization_grant',
    'kind=change_password&kind=change_password',
    'kind=javascript:alert(1)',
    'next=https://evil.example&redirect=//evil.example',
  ])('drops the continuation ?%s and redirects to / (S-69)', async (query) => {
    expect((await signIn({}, { at: `/login?${query}` })).location).toBe(`${ORIGIN}/`);
  });

  test('rotates the session and the form token, which defeats fixation (S-61)', async () => {
    const browser = service.browser();
    await browser.get('/login');
    const planted = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    await browser.submit({ username: 'amira', password: PASSWORD });
    const first = browser.cookies.get('__Host-latchkey_session');
    const late = await browser.post(
      '/login',
      new URLSearchParams({ csrf: planted, username: 'amira', password: PASSWORD }),
    );
    expect(late).toMatchObject({ status: 303, location: `${ORIGIN}/` });
    expect(browser.cookies.get('__Host-latchkey_session')).toBe(first);
  });
});

describe('a form opened before a sign-in in another tab', () => {
  async function stale(username: string, headers: Readonly<Record<string, string>> = {}) {
    const browser = service.browser();
    await browser.get('/login?kind=change_password');
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    await browser.submit({ username: 'amira', password: PASSWORD });
    const session = browser.cookies.get('__Host-latchkey_session');
    const form = new URLSearchParams({ csrf, username, password: PASSWORD });
    const page = await browser.post('/login?kind=change_password', form, headers);
    expect(browser.cookies.get('__Host-latchkey_session')).toBe(session);
    return { browser, shown: page };
  }

  test.each(['amira', ' AMIRA'])('continues as %s, who is signed in', async (username) => {
    const { shown: page } = await stale(username);
    expect(page).toMatchObject({ status: 303, location: `${ORIGIN}/account/password/change` });
    expect(service.lastRequest().requester).toBeUndefined();
  });

  test('naming another account offers to continue as the signed-in user or to sign out', async () => {
    const { browser, shown: page } = await stale('somebody-else');
    expectCleanPage(page.body);
    expect(page).toMatchObject({ status: 200, errorCodes: [] });
    expect(page.text).toContain('Continue as amira');
    expect(page.body).toMatch(/href="[^"]*\/account\/password\/change"/);
    await browser.submit({}, { action: '/logout' });
    expect(browser.page.location).toBe(`${ORIGIN}/account/password/change`);
    expect((await browser.get('/')).text).not.toContain('You are signed in');
  });

  test('sent by another site is rejected, whoever is signed in', async () => {
    const { shown: page } = await stale('amira', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' });
    expect(page).toMatchObject({ status: 403, errorCodes: ['cross_site_request'] });
  });
});

describe('POST /login with invalid input', () => {
  test('answers a wrong password, an unknown name and an account without a password alike (S-79, browser-flows 15.2)', async () => {
    const responses = [];
    for (const username of ['amira', 'nobody', 'passwordless', 'locked', 'gone']) {
      const response = await signIn({ username, password: 'wrong' });
      expect(service.lastRequest()).toMatchObject({ status: 200, requester: undefined });
      const headers = { ...response.headers, date: '', 'set-cookie': '' };
      const csrf = response.forms[0]?.inputs.get('csrf') ?? '';
      const body = response.body.replace(csrf, 'CSRF').replace(`value="${username}"`, 'NAME');
      responses.push({ status: response.status, headers: { ...headers, 'content-length': '' }, body });
    }
    for (const response of responses) expect(response).toEqual(responses[0]);
    expect(responses[0]?.body).toContain('data-error-code="invalid_credentials"');
  });

  test('sends as many statements for an unknown name as for a wrong password', async () => {
    await signIn({ password: 'wrong' });
    const { queries } = service.lastRequest();
    await signIn({ username: 'nobody', password: 'wrong' });
    expect(service.lastRequest().queries).toBe(queries);
  });

  test('logs the reason, without the input', async () => {
    const before = service.lines.length;
    await signIn({ password: 'Hunter-2-typed' });
    await signIn({ username: 'nobody-typed', password: 'wrong' });
    const lines = service.lines.slice(before).join('\n');
    expect(service.refusals().slice(-2)).toEqual(['bad_password', 'unknown_user']);
    expect(lines).not.toMatch(/Hunter-2-typed|nobody-typed/);
  });

  test('keeps the input except the password, and says "Error" in the title', async () => {
    const response = await signIn({ username: 'Amira ', password: 'wrong' });
    expect(response.forms[0]?.inputs.get('username')).toBe('Amira ');
    expect(response.forms[0]?.inputs.get('password')).toBe('');
    expect(response.body).not.toContain('wrong');
    expect(response.body).toContain('<title>Error: Sign in – example.org</title>');
  });

  test('marks empty fields', async () => {
    const response = await signIn({ username: ' ', password: '' });
    expect(response.status).toBe(200);
    expect(response.errorCodes).toEqual(['required', 'required']);
    expect(response.body).toContain('id="username-error"');
    expect(response.body).toContain('id="password-error"');
  });

  test('rejects names and passwords above their limits without an internal error', async () => {
    expect((await signIn({ username: 'x'.repeat(256) })).errorCodes).toEqual(['too_long']);
    expect((await signIn({ password: 'x'.repeat(1025) })).errorCodes).toEqual(['invalid_credentials']);
  });

  test.each(HOSTILE_TEXTS.filter((text) => text.length < 256 && !text.includes('\0')))(
    'shows the name %.30j as text (S-74)',
    async (username) => {
      const response = await signIn({ username, password: 'wrong' });
      expect(response.status).toBe(200);
      expectCleanPage(response.body);
    },
  );

  test('reveals a lock or deactivation only after the right password, without a session (S-80, browser-flows 15.3)', async () => {
    for (const [username, title] of [
      ['locked', 'Account locked'],
      ['gone', 'Account deactivated'],
    ] as const) {
      const wrong = await signIn({ username, password: 'wrong' });
      expect(wrong.errorCodes).toEqual(['invalid_credentials']);
      const right = await signIn({ username }, { at: '/login?kind=change_password' });
      expect(right.status).toBe(200);
      expect(right.text).toContain(title);
      expect(right.forms[0]?.action).toBe('/logout');
      expect(right.forms[0]?.inputs.get('kind')).toBe('change_password');
      expect(right.headers['set-cookie']?.some((line) => line.startsWith('__Host-latchkey_session='))).toBe(false);
      expect(service.lastRequest()).toMatchObject({ status: 200, requester: undefined });
      expect(service.refusals().at(-1)).toBe(username === 'gone' ? 'deactivated' : username);
    }
  });
});

describe('rate limits of POST /login', () => {
  test('refuse the fourth wrong attempt of an address within a second, for any name on any instance (browser-flows 15.5)', async () => {
    const limits = { perIp: { burst: 3, perSecond: 3 / 60 } };
    await withService({ limits }, async (one) => {
      await withService({ limits }, async (other) => {
        const browser = one.browser({ address: '198.51.100.1' });
        await browser.get('/login');
        for (let count = 0; count < 3; count += 1) {
          await browser.submit({ username: 'amira', password: 'wrong' });
          expect(browser.page.errorCodes).toEqual(['invalid_credentials']);
        }
        await browser.submit({ username: 'someone-else', password: PASSWORD });
        expect(browser.page.status).toBe(200);
        expect(browser.page.errorCodes).toEqual(['rate_limit_exceeded']);
        expect(browser.page.text).toContain('wait a minute');
        expect(one.refusals().at(-1)).toBe('rate_limited');

        const elsewhere = other.browser({ address: '198.51.100.1' });
        await elsewhere.get('/login');
        await elsewhere.submit({ username: 'amira', password: PASSWORD });
        expect(elsewhere.page.errorCodes).toEqual(['rate_limit_exceeded']);
      });
    });
  });

  test("do not lock out a known browser when a stranger exhausts the account's limit (S-88, browser-flows 15.6)", async () => {
    const limits = { perAccount: { burst: 5, perSecond: 5 / 3600 } };
    await insertTestAccount(testDatabase.database, { username: 'victim', password: PASSWORD });
    await withService({ limits }, async (limited) => {
      const own = limited.browser();
      await own.get('/login');
      expect((await own.submit({ username: 'victim', password: PASSWORD })).status).toBe(303);
      await own.get('/');
      await own.submit();
      for (let count = 0; count < 5; count += 1)
        await signIn({ username: 'victim', password: 'guess' }, { from: limited });
      const stranger = await signIn({ username: 'victim' }, { from: limited });
      expect(stranger.errorCodes).toEqual(['rate_limit_exceeded']);
      await own.get('/login');
      expect((await own.submit({ username: 'victim', password: PASSWORD })).status).toBe(303);
    });
  });

  test('return a 503 page that keeps the name while the password queue is full', async () => {
    class FullHasher extends PasswordHasher {
      override verify(): never {
        throw new LatchkeyError('overloaded', { retryAfterSeconds: 5 });
      }
    }
    const hasher = new FullHasher({ schemes: [CHEAP_SCHEME], concurrency: 1, queueLength: 1, log: silentLog });
    await withService({ hasher }, async (full) => {
      const response = await signIn({}, { from: full });
      expect(response.status).toBe(503);
      expect(response.headers['retry-after']).toBe('5');
      expect(response.errorCodes).toEqual(['overloaded']);
      expect(response.forms[0]?.inputs.get('username')).toBe('amira');
    });
  });
});

test('a queued password hash is canceled when its client disconnects, and counts nothing (operations 9.2)', async () => {
  const hasher = new WaitingHasher();
  await withService({ hasher, limits: { perIp: { burst: 1, perSecond: 1 / 3600 } } }, async (waiting) => {
    const browser = waiting.browser();
    await browser.get('/login');
    for (let count = 1; count <= 3; count += 1) {
      const client = new AbortController();
      const submitting = browser.submit({ username: 'amira', password: PASSWORD }, { signal: client.signal });
      await until(() => hasher.count === 1);
      client.abort();
      await expect(submitting).rejects.toThrow();
      await until(() => waiting.refusals().length === count);
      expect(hasher.count).toBe(0);
    }
    expect(waiting.refusals()).toEqual(['overloaded', 'overloaded', 'overloaded']);
    expect(waiting.lines.join()).toContain('client disconnected');
  });
});

describe('forms from elsewhere (browser-flows 2.2)', () => {
  const fields = { username: 'amira', password: PASSWORD };
  const refusedForms = () =>
    service.lines.flatMap((line) => / auth\.refused .* - form submission refused (.*)$/.exec(line)?.[1] ?? []);

  test.each([
    ['Origin', { origin: 'https://evil.example' }],
    ['Origin', { origin: 'null' }],
    ['Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site' }],
    ['Sec-Fetch-Site', { 'sec-fetch-site': 'same-site' }],
    ['Referer', { origin: undefined, 'sec-fetch-site': undefined, referer: 'https://evil.example/login' }],
  ])('a foreign %s in %o: 403 with a link that opens the form again (browser-flows 15.7)', async (header, headers) => {
    const browser = service.browser();
    await browser.get('/login?kind=change_password');
    const response = await browser.submit(fields, { headers });
    expect(response.status).toBe(403);
    expect(response.errorCodes).toEqual(['cross_site_request']);
    // The page may have been opened on another host, where the form would be rejected a second time.
    expect(response.body).toContain(`href="${ORIGIN}/login?kind=change_password"`);
    expect(response.text).toContain(`The address of this service is ${ORIGIN}`);
    expectCleanPage(response.body);
    const logged = refusedForms().at(-1);
    expect(logged).toContain(`code=cross_site_request header=${header} expected=${ORIGIN} received=`);
    expect(logged).toContain(' host=');
  });

  test('a browser that sends none of these headers can sign in', async () => {
    const browser = service.browser();
    await browser.get('/login');
    const bare = { origin: undefined, 'sec-fetch-site': undefined, 'sec-fetch-dest': undefined };
    expect((await browser.submit(fields, { headers: bare })).status).toBe(303);
  });

  test('without a token, or with an empty or foreign one, no password is checked (S-57, browser-flows 15.7)', async () => {
    const browser = service.browser();
    await browser.get('/login');
    const other = service.browser();
    const foreign = (await other.get('/login')).forms[0]?.inputs.get('csrf') ?? '';
    const before = service.refusals().length;
    const responses = [
      await browser.post('/login', new URLSearchParams(fields)),
      await browser.post('/login', new URLSearchParams({ ...fields, csrf: '' })),
      await browser.post('/login', new URLSearchParams({ ...fields, csrf: foreign })),
      await browser.post(`/login?csrf=${foreign}`, new URLSearchParams(fields)),
    ];
    expect(responses.map((response) => response.status)).toEqual([403, 403, 403, 403]);
    expect(responses.flatMap((response) => response.errorCodes)).toEqual([
      'csrf_missing',
      'csrf_missing',
      'csrf_mismatch',
      'csrf_missing',
    ]);
    // Nothing else was checked: a wrong password would have its own log line.
    expect(service.refusals().slice(before)).toEqual(responses.flatMap((response) => response.errorCodes));
    expect(refusedForms().slice(-4)).toEqual([
      'code=csrf_missing missing=field',
      'code=csrf_missing missing=field',
      'code=csrf_mismatch differs=token',
      'code=csrf_missing missing=field',
    ]);
  });

  test('the log distinguishes a form without a cookie from a foreign form', async () => {
    const csrf = (await service.browser().get('/login')).forms[0]?.inputs.get('csrf') ?? '';
    await service.browser().post('/login', new URLSearchParams({ ...fields, csrf }));
    expect(refusedForms().at(-1)).toBe('code=csrf_missing missing=cookie');
  });

  test('a form older than an hour is shown again with the name kept, and then works (browser-flows 15.7)', async () => {
    const browser = service.browser();
    await browser.get('/login?kind=change_password');
    service.clock.advanceSeconds(3601);
    await browser.submit(fields);
    expect(browser.page.status).toBe(200);
    expect(browser.page.errorCodes).toEqual(['csrf_expired']);
    expect(browser.page.forms[0]?.inputs.get('username')).toBe('amira');
    expect(browser.page.body).not.toContain(PASSWORD);
    await browser.submit({ password: PASSWORD });
    expect(browser.page.location).toBe(`${ORIGIN}/account/password/change`);
  });

  test.each([
    ['a field twice', 400, 'username=a&username=b', 'application/x-www-form-urlencoded'],
    ['invalid UTF-8', 400, 'username=%ff', 'application/x-www-form-urlencoded'],
    ['a NUL', 400, 'username=%00', 'application/x-www-form-urlencoded'],
    ['text/plain', 415, 'username=a', 'text/plain'],
    ['multipart', 415, 'username=a', 'multipart/form-data; boundary=x'],
  ])('%s returns %i', async (_, status, body, contentType) => {
    const browser = service.browser();
    await browser.get('/login');
    const token = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    const response = await browser.postRaw('/login', `csrf=${token}&${body}`, { 'content-type': contentType });
    expect(response.status).toBe(status);
  });
});

describe('GET /login', () => {
  test('takes no statement without a session cookie, and one with a continuation', async () => {
    const clientId = await insertClient(testDatabase.database, service.keyRing, service.clock.now());
    const grant = await pendingGrant(clientId);
    const at = `/login?kind=continue_authorization_grant&id=${grant}`;
    await service.browser().get('/login');
    expect(service.lastRequest()).toMatchObject({ status: 200, queries: 0, requester: undefined });
    await service.browser().get(at);
    await service.browser().get(at);
    expect(service.lastRequest().queries).toBe(1);
  });

  test('has the page headers (browser-flows 2.3, 15.27)', async () => {
    const { headers } = await service.browser().get('/login');
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-language': 'en',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'strict-transport-security': 'max-age=31536000',
    });
    expect(headers['content-security-policy']).toContain("form-action 'self';");
  });

  test('offers nothing that is unavailable', async () => {
    const { body } = await service.browser().get('/login');
    const links = [...body.matchAll(/<a [^>]*href="([^"]*)"/g)].map((match) => match[1]);
    expect(links).toEqual(['/', ...BUNDLED_LANGUAGES.map((tag) => `/login?ui_locales=${tag}`)]);
  });

  test('redirects signed-in users to the target', async () => {
    const browser = service.browser();
    await browser.get('/login');
    await browser.submit({ username: 'amira', password: PASSWORD });
    await browser.get('/login?kind=change_password');
    expect(browser.page).toMatchObject({ status: 303, location: `${ORIGIN}/account/password/change` });
    expect(service.lastRequest().requester).toBe(`user:${amira}(amira)`);
  });

  test('shows a notice for a session ended elsewhere, and continues after the button (browser-flows 2.5)', async () => {
    const browser = service.browser();
    await browser.get('/login');
    await browser.submit({ username: 'amira', password: PASSWORD });
    await sql(testDatabase.database, `update user_sessions set finished_at = $1::timestamptz`, [
      new Date(service.clock.now()),
    ]);
    const page = await browser.get('/login?kind=change_password');
    expect(page.status).toBe(200);
    expect(page.text).toContain('You were signed out');
    expectCleanPage(page.body);
    expect(service.lastRequest().requester).toBeUndefined();
    await browser.submit();
    expect(browser.page).toMatchObject({ status: 303, location: `${ORIGIN}/account/password/change` });
    await browser.get('/login');
    expect(browser.page.forms[0]?.action).toBe('/login');
  });

  test.each([
    ['amira', 'amira'],
    ['mxid:@amira:example.org', 'amira'],
    ['amira@mail.example', 'amira@mail.example'],
    ['mxid:@amira:evil.example', ''],
    ['x'.repeat(300), ''],
  ])('login_hint %.30s suggests "%s"', async (hint, username) => {
    const page = await service.browser().get(`/login?login_hint=${encodeURIComponent(hint)}`);
    expect(page.forms[0]?.inputs.get('username')).toBe(username);
  });

  test('shows the name of a configured client, and allows the redirect back to it', async () => {
    const metadata = { client_name: { '': 'Harbour Chat', de: 'Hafen-Chat' } };
    const clientId = await insertClient(testDatabase.database, service.keyRing, service.clock.now(), {
      isStatic: true,
      metadata,
    });
    const grant = await pendingGrant(clientId);
    const at = `/login?kind=continue_authorization_grant&id=${grant}`;
    const page = await service.browser().get(at);
    expect(page.text).toContain('to continue to Harbour Chat');
    expect(page.headers['content-security-policy']).toContain("form-action 'self' https:;");
    const german = await service.browser({ acceptLanguage: 'de-AT' }).get(at);
    expect(german.text).toContain('um mit Hafen-Chat fortzufahren');
  });

  test('shows the redirect host of any other client, whatever its name', async () => {
    const clientId = await insertClient(testDatabase.database, service.keyRing, service.clock.now(), {
      isStatic: false,
      metadata: { client_name: { '': 'Your Bank' } },
    });
    const page = async (redirectUri: string) => {
      const grant = await pendingGrant(clientId, { redirectUri });
      return await service.browser().get(`/login?kind=continue_authorization_grant&id=${grant}`);
    };
    const web = await page('https://app.example:8443/callback');
    expect(web.text).toContain('to continue to app.example:8443');
    expect(web.text).not.toContain('Your Bank');
    const native = await page('com.example.app:/callback');
    expect(native.text).toContain('to continue to com.example.app');
    expect(native.headers['content-security-policy']).toContain("form-action 'self' com.example.app:;");
  });

  test('keeps a continuation that is no longer pending, without naming a client', async () => {
    const at = '/login?kind=continue_authorization_grant&id=01JD3Q5Z8W2N4K6M7P9R0S1T2V';
    const page = await service.browser().get(at);
    expect(page.text).not.toContain('continue to');
    expect(page.forms[0]?.action).toBe(at);
  });

  test("uses the request's language, and remembers a chosen one (browser-flows 12.3, 15.28)", async () => {
    const browser = service.browser({ acceptLanguage: 'de-DE,de;q=0.9,en;q=0.1' });
    await browser.get('/login');
    expect(browser.page.headers['content-language']).toBe('de');
    expect(browser.page.body).toContain('<html lang="de" dir="ltr">');
    await browser.get('/login?ui_locales=en');
    expect(browser.page.text).toContain('Sign in');
    await browser.get('/login');
    expect(browser.page.headers['content-language']).toBe('en');
  });

  test('uses the language requested by the client', async () => {
    const clientId = await insertClient(testDatabase.database, service.keyRing, service.clock.now());
    const grant = await pendingGrant(clientId, { locale: 'tlh de' });
    const page = await service.browser().get(`/login?kind=continue_authorization_grant&id=${grant}`);
    expect(page.headers['content-language']).toBe('de');
    expect(page.body).not.toContain('ui_locales=');
  });

  test('says that passwords are disabled, and then accepts none', async () => {
    await withService(
      { arePasswordsEnabled: false, secondFactor: { passkeysEnabled: false }, loginMessage: 'Back on <Monday>.' },
      async (closed) => {
        const page = await closed.browser().get('/login');
        expect(page.forms).toEqual([]);
        expect(page.text).toContain('Sign-in is turned off');
        expect(page.text).toContain('Back on <Monday>.');
        const refused = await closed.browser().post('/login', new URLSearchParams({ username: 'amira' }));
        expect(refused.status).toBe(405);
        expect(refused.headers.allow).toMatch(/^GET, HEAD/);
      },
    );
  });

  test('works below a path prefix', async () => {
    await withService({ publicBase: 'https://example.org/auth/' }, async (prefixed) => {
      const browser = prefixed.browser();
      await browser.get('login?kind=change_password');
      expect(browser.page.forms[0]?.action).toBe('/auth/login?kind=change_password');
      expect(browser.page.body).toContain('href="/auth/assets/pages.css"');
      await browser.submit({ username: 'amira', password: PASSWORD });
      expect(browser.page).toMatchObject({
        status: 303,
        location: 'https://example.org/auth/account/password/change',
      });
      expect([...browser.cookies.keys()].sort()).toEqual([
        '__Secure-latchkey_csrf',
        '__Secure-latchkey_known',
        '__Secure-latchkey_session',
      ]);
    });
  });

  test('cannot be framed or embedded (S-60, S-68, browser-flows 15.27)', async () => {
    const response = await service.browser().get('/login', { 'sec-fetch-dest': 'iframe' });
    expect(response).toMatchObject({ status: 403, body: '' });
  });
});
