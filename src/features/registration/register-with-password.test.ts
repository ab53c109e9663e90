import { beforeAll, describe, expect, test } from 'vitest';

import { LatchkeyError } from '#platform/base/errors.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { PasswordHasher } from '#platform/password-hash/password-hasher.ts';
import { CHEAP_SCHEME, insertTestAccount } from '#test/support/accounts.ts';
import { expectCleanPage, HOSTILE_TEXTS } from '#test/support/clean-page.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { insertClient, sql } from '#test/support/fixtures.ts';
import { type PageService, type PageServiceOptions, startPages, withPages } from '#test/support/page-service.ts';
import {
  beginRegistration,
  NEW_PASSWORD,
  openEstimator,
  registerCompletely,
  registerUpToFinish,
} from '#test/support/registering.ts';
import { until } from '#test/support/route-server.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { WaitingHasher } from '#test/support/waiting-hasher.ts';

const ORIGIN = 'https://auth.example.org';
const NOT_BANNED = { literals: [], prefixes: [], suffixes: [], substrings: [], regexes: [] };
const namePolicy = { bannedUsernames: { ...NOT_BANNED, literals: ['admin'], prefixes: ['mod-'] } };

const testDatabase = await sharedByTests(createTestDatabase());
const estimator = await sharedByTests(openEstimator());
const service = await sharedByTests(startPages(testDatabase.database, { registration: { estimator, namePolicy } }));

beforeAll(async () => {
  await insertTestAccount(testDatabase.database, { username: 'alice', password: 'correct horse battery staple' });
  await insertTestAccount(testDatabase.database, { username: 'gone', isDeactivated: true });
  await insertTestAccount(testDatabase.database, { username: 'Mixed' });
});

type Registration = NonNullable<PageServiceOptions['registration']>;

async function withService(
  registration: Partial<Registration>,
  work: (other: PageService) => Promise<void>,
  options: PageServiceOptions = {},
): Promise<void> {
  const own = { clock: service.clock, ...options, registration: { estimator, ...registration } };
  await withPages(testDatabase.database, own, work);
}

async function begin(fields: Readonly<Record<string, string>>, from = service) {
  return await beginRegistration(from.browser(), fields);
}

async function registrations(): Promise<number> {
  const rows = await sql<{ count: number }>(
    testDatabase.database,
    'select count(*)::integer as count from user_registrations',
  );
  return rows[0]?.count ?? -1;
}

async function accounts(username: string): Promise<number> {
  const rows = await sql(testDatabase.database, 'select id from users where username = $1::text', [username]);
  return rows.length;
}

describe('GET /register', () => {
  test('redirects to the only registration method, with the continuation', async () => {
    const page = await service.browser().get('/register?kind=change_password');
    expect(page).toMatchObject({ status: 303, location: `${ORIGIN}/register/password?kind=change_password` });
  });

  test.each([
    ['mxid:@new.name:example.org', '?username=new.name'],
    ['new.name', '?username=new.name'],
    ['someone@mail.example', ''],
    ['<script>', ''],
  ])('login_hint %s suggests a username', async (hint, query) => {
    const page = await service.browser().get(`/register?login_hint=${encodeURIComponent(hint)}`);
    expect(page.location).toBe(`${ORIGIN}/register/password${query}`);
  });

  test('remembers the requested language', async () => {
    const browser = service.browser();
    const page = await browser.open('/register?ui_locales=de');
    expect(page.headers['content-language']).toBe('de');
  });

  test('says that registration is closed, with a link to sign in', async () => {
    await withService({ isOpen: false }, async (closed) => {
      const page = await closed.browser().get('/register?kind=change_password');
      expect(page.status).toBe(200);
      expect(page.text).toContain('Registration is closed');
      expect(page.body).toContain('href="/login?kind=change_password"');
      expectCleanPage(page.body);
    });
  });
});

describe('POST /register', () => {
  async function post(fields: Readonly<Record<string, string>>, from = service) {
    const browser = from.browser();
    await browser.get('/login');
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    return await browser.post('/register?kind=change_password', new URLSearchParams({ csrf, ...fields }));
  }

  test.each([
    [{ username: 'new-name' }, '&username=new-name'],
    [{ username: '<b>' }, '&username=%3Cb%3E'],
    [{ username: '' }, ''],
    [{ username: 'x'.repeat(256) }, ''],
    [{}, ''],
  ])('%j redirects to the password form', async (fields, more) => {
    const response = await post(fields);
    expect(response.status).toBe(303);
    expect(response.location).toBe(`${ORIGIN}/register/password?kind=change_password${more}`);
  });

  test.each(['01JD3Q5Z8W2N4K6M7P9R0S1T2V', 'google', '"><svg>'])(
    'rejects the unknown provider %s, and keeps the name (browser-flows 5.2)',
    async (provider) => {
      const response = await post({ provider, username: 'dana' });
      expect(response).toMatchObject({ status: 200, errorCodes: ['unknown_provider'], location: undefined });
      expect(response.forms[0]?.inputs.get('username')).toBe('dana');
      expectCleanPage(response.body);
      expect((await post({ provider: '' })).status).toBe(303);
    },
  );

  test('redirects to sign-in when registration is closed', async () => {
    await withService({ isOpen: false }, async (closed) => {
      expect((await post({}, closed)).location).toBe(`${ORIGIN}/login?kind=change_password`);
    });
  });

  test('requires the form token (S-57)', async () => {
    const response = await service.browser().post('/register', new URLSearchParams({ username: 'x' }));
    expect(response).toMatchObject({ status: 403, errorCodes: ['csrf_missing'] });
  });
});

describe('links to registration', () => {
  test('are on / and /login while it is open', async () => {
    expect((await service.browser().get('/')).body).toContain('href="/register"');
    const login = await service.browser().get('/login?kind=change_password');
    expect(login.body).toContain('href="/register?kind=change_password"');
  });

  test('are not shown while linking an existing account', async () => {
    const login = await service.browser().get('/login?kind=link_upstream&id=01JD3Q5Z8W2N4K6M7P9R0S1T2V');
    expect(login.body).not.toContain('/register');
  });

  test('are not shown while it is closed', async () => {
    await withService({ isOpen: false }, async (closed) => {
      for (const path of ['/', '/login']) expect((await closed.browser().get(path)).body).not.toContain('/register');
    });
  });
});

describe('GET /register/password', () => {
  test('shows the form, keeps the continuation, and prefills the name from the query', async () => {
    const page = await service.browser().get('/register/password?username=%20new%20&kind=change_password');
    expect(page.status).toBe(200);
    expect(page.forms).toHaveLength(1);
    expect(page.forms[0]?.action).toBe('/register/password?kind=change_password');
    expect(Object.fromEntries(page.forms[0]?.inputs ?? [])).toEqual({
      csrf: expect.any(String),
      username: 'new',
      password: '',
    });
    expect(page.body).toContain('href="/login?kind=change_password"');
    expect(page.body).toMatch(/id="password"[^>]*autocomplete="new-password"/);
    expect(page.body).toMatch(/<div class="strength" hidden[^>]* data-minimum-score="3" data-minimum-length="8"/);
    expect(page.body).toContain('<script src="/assets/strength.js"');
    expectCleanPage(page.body);
  });

  test('takes no statement without a session cookie', async () => {
    await service.browser().get('/register/password');
    expect(service.lastRequest()).toMatchObject({ status: 200, queries: 0, requester: undefined });
  });

  test('ignores a name that is too long', async () => {
    const page = await service.browser().get(`/register/password?username=${'x'.repeat(256)}`);
    expect(page.forms[0]?.inputs.get('username')).toBe('');
  });

  test('redirects to sign-in when registration is closed, and POST returns 404', async () => {
    await withService({ isOpen: false }, async (closed) => {
      const page = await closed.browser().get('/register/password?kind=change_password');
      expect(page).toMatchObject({ status: 303, location: `${ORIGIN}/login?kind=change_password` });
      const posted = await closed.browser().post('/register/password', new URLSearchParams());
      expect(posted.status).toBe(405);
    });
  });

  test('redirects signed-in users to the target, for POST as well', async () => {
    const browser = service.browser();
    await browser.get('/register/password?kind=change_password');
    const open = browser.page;
    await browser.get('/login');
    await browser.submit({ username: 'alice', password: 'correct horse battery staple' });
    for (const path of ['/register', '/register/password']) {
      await browser.get(`${path}?kind=change_password`);
      expect(browser.page).toMatchObject({ status: 303, location: `${ORIGIN}/account/password/change` });
      expect(service.lastRequest().requester).toMatch(/^user:\w+\(alice\)$/);
    }
    const before = await registrations();
    // The old form's token belongs to a browser without a session, so a current page provides a new one.
    await browser.get('/');
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    const fields = { csrf, username: 'other', password: NEW_PASSWORD };
    await browser.post(open.forms[0]?.action ?? '', new URLSearchParams(fields));
    expect(browser.page).toMatchObject({ status: 303, location: `${ORIGIN}/account/password/change` });
    expect(await registrations()).toBe(before);
  });

  test('treats a session ended elsewhere as none (browser-flows 2.5)', async () => {
    const browser = service.browser();
    await registerCompletely(browser, 'ended');
    await sql(testDatabase.database, `update user_sessions set finished_at = $1::timestamptz`, [
      new Date(service.clock.now()),
    ]);
    expect((await browser.get('/register/password')).forms[0]?.action).toBe('/register/password');
    expect((await beginRegistration(browser, { username: 'ended-2' })).status).toBe(303);
  });

  test('names the client that the user continues to, and allows the redirect back to it', async () => {
    const clientId = await insertClient(testDatabase.database, service.keyRing, service.clock.now(), {
      metadata: { client_name: { '': 'Harbour Chat' } },
    });
    const grant = newId<'authorization-grant'>(service.clock.now());
    await sql(
      testDatabase.database,
      `insert into oauth2_authorization_grants
         (id, client_id, redirect_uri, redirect_uri_sent, scope, response_mode, locale, created_at, expires_at)
       values ($1::uuid, $2::uuid, 'https://app.example/cb', true, '{openid}', 'query', 'de', $3::timestamptz,
         $4::timestamptz)`,
      [toUuid(grant), toUuid(clientId), new Date(service.clock.now()), new Date(service.clock.now() + 60_000)],
    );
    const query = `?kind=continue_authorization_grant&id=${grant}`;
    const page = await service.browser().get(`/register/password${query}`);
    expect(page.text).toContain('um mit Harbour Chat fortzufahren');
    expect(page.headers['content-security-policy']).toContain("form-action 'self' https:;");
    expect(page.body).not.toContain('ui_locales');
    const browser = service.browser();
    await beginRegistration(browser, { username: 'on-the-way' }, query);
    await browser.follow();
    expect(browser.page.headers['content-language']).toBe('de');
    expect(browser.page.headers['content-security-policy']).toContain("form-action 'self' https:;");
  });

  test('cannot be framed or embedded (S-60, S-68)', async () => {
    const response = await service.browser().get('/register/password', { 'sec-fetch-dest': 'iframe' });
    expect(response).toMatchObject({ status: 403, body: '' });
  });
});

describe('POST /register/password', () => {
  test('starts a registration without the plaintext password, and references it in a sealed cookie', async () => {
    const browser = service.browser();
    const response = await beginRegistration(browser, { username: 'begun' }, '?kind=change_password');
    expect(response.status).toBe(303);
    const id = /^https:\/\/auth\.example\.org\/register\/steps\/([0-9A-Z]{26})\/finish$/.exec(
      response.location ?? '',
    )?.[1];
    expect(id).toBeDefined();
    expect(service.lastRequest()).toMatchObject({ requester: undefined, status: 303 });
    const cookie = response.headers['set-cookie']?.find((line) => line.startsWith('__Host-latchkey_registrations='));
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
    const rows = await sql<{ username: string; row: string; action: unknown }>(
      testDatabase.database,
      `select username, post_auth_action as action, r::text as row from user_registrations r where username = 'begun'`,
    );
    expect(rows).toMatchObject([{ username: 'begun', action: { kind: 'change_password' } }]);
    expect(rows[0]?.row).toContain('$argon2id$');
    expect(rows[0]?.row).not.toContain(NEW_PASSWORD);
    expect(rows[0]?.row).toContain('Mozilla/5.0 (test browser)');
  });

  test.each([
    ['nothing', { username: '', password: '' }, ['required', 'required']],
    ['a taken name', { username: 'alice' }, ['exists']],
    ['the name of a deactivated account', { username: 'gone' }, ['exists']],
    ['a name that differs in case only from an imported one', { username: 'mixed' }, ['exists']],
    [
      'every field invalid',
      { username: '_Öl', password: 'password' },
      ['username-invalid-chars', 'username-reserved', 'password_compromised'],
    ],
    [
      'a taken name and a weak password, together',
      { username: 'alice', password: 'alicealicealice' },
      ['exists', 'password_too_weak'],
    ],
    ['one of the most common passwords, with a separate code', { password: 'qwertyuiop' }, ['password_compromised']],
  ])('rejects %s', async (_, fields, codes) => {
    const before = await registrations();
    const response = await begin({ username: 'free-name', ...fields });
    expect(response.status).toBe(200);
    expect(response.errorCodes).toEqual(codes);
    expect(response.body).toContain('<title>Error: Create an account – example.org</title>');
    expect(response.headers['set-cookie']?.some((line) => line.includes('registrations'))).toBe(false);
    expectCleanPage(response.body);
    expect(await registrations()).toBe(before);
  });

  test.each([
    ['Alice', ['username-invalid-chars', 'exists']],
    ['ALICE', ['username-invalid-chars', 'exists']],
    ['ａｌｉｃｅ', ['username-invalid-chars']],
    ['аlice', ['username-invalid-chars']],
    ['alice\u200d', ['username-invalid-chars']],
    [' alice', ['username-invalid-chars', 'exists']],
    ['alıce', ['username-invalid-chars']],
    ['@alice:server', ['username-invalid-chars']],
    ['alice%00', ['username-invalid-chars']],
    ['.', ['username-reserved']],
    ['..', ['username-reserved']],
    ['12345', ['username-all-numeric']],
    ['admin', ['username-banned']],
    ['Admin', ['username-invalid-chars', 'username-banned']],
    ['mod-eve', ['username-banned']],
    ['x'.repeat(256), ['username-too-long']],
    ['x'.repeat(243), ['username-too-long']],
    ['__proto__', ['username-reserved']],
  ])('rejects the name %j (S-97)', async (username, codes) => {
    const response = await begin({ username });
    expect(response.status).toBe(200);
    expect(response.errorCodes).toEqual(codes);
  });

  test.each(['alice.', 'constructor', 'tostring', 'x'.repeat(242), 'a=b/c+d-e_f', '1a'])(
    'accepts the name %s (S-97)',
    async (username) => {
      expect((await begin({ username })).status).toBe(303);
    },
  );

  test('returns 400 for a NUL in a name', async () => {
    const browser = service.browser();
    await browser.get('/register/password');
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    const response = await browser.postRaw('/register/password', `csrf=${csrf}&username=alice%00`);
    expect(response.status).toBe(400);
  });

  test.each([
    ['NewName', 'newname'],
    [' newname ', 'newname'],
    ['New Name', 'New Name'],
    ['Ümit', 'Ümit'],
    ['Admin', 'Admin'],
  ])('suggests for %j in the field: %j', async (username, shown) => {
    const response = await begin({ username });
    expect(response.forms[0]?.inputs.get('username')).toBe(shown);
    expect(response.text.includes('How about newname?')).toBe(shown === 'newname');
  });

  test.each([
    ['among the most common', 'password1', 'password_compromised'],
    ['common in capitals', 'SUNSHINE', 'password_compromised'],
    ['of 7 characters', 'xK7#qp2'],
    ['of spaces only', ' '.repeat(20)],
    ['the username', 'kalamitsiya'],
    ['the username twice', 'kalamitsiyakalamitsiya'],
    ['the name of the service', 'example.org'],
    ['of 1,025 bytes', 'ö'.repeat(513), 'password_too_long'],
  ])('rejects a password %s (S-93)', async (_, password, code = 'password_too_weak') => {
    const response = await begin({ username: 'kalamitsiya', password });
    expect(response.status).toBe(200);
    expect(response.errorCodes).toEqual([code]);
    expect(response.forms[0]?.inputs.get('password')).toBe('');
  });

  test.each([
    ['64 characters', 'vK3 zebra!'.repeat(7).slice(0, 64)],
    ['1,024 bytes', 'zqX9 lantern'.repeat(100).slice(0, 1024)],
    ['a name like a property', '  constructor __proto__ seven  '],
  ])('accepts a password of %s unchanged (S-93)', async (_, password) => {
    const browser = service.browser();
    const username = `exact-${newId(service.clock.now()).toLowerCase()}`;
    await beginRegistration(browser, { username, password });
    await browser.follow();
    await browser.submit({ action: 'skip' });
    await browser.follow();
    const signIn = async (typed: string) => {
      const other = service.browser();
      await other.get('/login');
      return await other.submit({ username, password: typed });
    };
    expect((await signIn(`${password} `)).status).toBe(200);
    expect((await signIn(password.slice(0, -1))).status).toBe(200);
    expect((await signIn(password)).status).toBe(303);
  });

  test('keeps the input except the passwords', async () => {
    const response = await begin({ username: 'alice', email: 'a@b.example' });
    expect(response.forms[0]?.inputs.get('username')).toBe('alice');
    expect(response.body).not.toContain(NEW_PASSWORD);
  });

  test('asks for the password once, and compares a second one from a page of an earlier version', async () => {
    const browser = service.browser();
    await browser.get('/register/password');
    expect(browser.page.body.match(/type="password"/g)).toHaveLength(1);
    const other = { username: 'twice', password: NEW_PASSWORD, password_confirm: `${NEW_PASSWORD} ` };
    expect((await browser.submit(other)).errorCodes).toEqual(['password_mismatch']);
    expect(browser.page.body).toContain('id="password-error"');
    expect((await browser.submit({ ...other, password_confirm: NEW_PASSWORD })).status).toBe(303);
  });

  test('suggests free names in place of a taken one, which keep what was entered', async () => {
    await withService({ tosUri: 'https://example.org/terms' }, async (other) => {
      const browser = other.browser();
      const rejected = await beginRegistration(browser, { username: 'alice', accept_terms: 'on' });
      expect(rejected.errorCodes).toEqual(['exists']);
      const [, suggestions] = rejected.forms;
      const names = [...rejected.body.matchAll(/name="suggestion" value="(alice\d+)"/g)].map(([, name]) => name ?? '');
      expect(names).toHaveLength(3);
      expectCleanPage(rejected.body);
      const fields = new URLSearchParams([...(suggestions?.inputs ?? []), ['suggestion', names[0] ?? '']]);
      const page = await browser.post(suggestions?.action ?? '', fields);
      expect(page.errorCodes).toEqual([]);
      expect(page.forms[0]?.inputs.get('username')).toBe(names[0]);
      expect(page.forms[0]?.inputs.get('accept_terms')).toBe('on');
      expect(page.body).not.toContain('name="suggestion"');
      expect((await browser.submit({ password: NEW_PASSWORD })).status).toBe(303);
    });
  });

  test('suggests no names for one that is only invalid', async () => {
    expect((await begin({ username: '_alice' })).body).not.toContain('name="suggestion"');
  });

  test('ignores an email address, since none is required', async () => {
    expect((await begin({ username: 'no-mail', email: 'not an address' })).status).toBe(303);
  });

  test.each(HOSTILE_TEXTS.filter((text) => !text.includes('\0') && text.length < 8192))(
    'echoes hostile name %# as text (S-74)',
    async (username) => {
      const response = await begin({ username });
      expect(response.status).toBe(200);
      expectCleanPage(response.body);
      const opened = await service.browser().get(`/register/password?username=${encodeURIComponent(username)}`);
      expectCleanPage(opened.body);
    },
  );

  test('requires the terms to be accepted if there are any, and keeps the checkbox state', async () => {
    await withService({ tosUri: 'https://example.org/terms?a=1&b=2' }, async (strict) => {
      const refused = await begin({ username: 'terms' }, strict);
      expect(refused.errorCodes).toEqual(['required']);
      expect(refused.body).toContain('id="accept_terms-error"');
      expect(refused.body).toContain('href="https://example.org/terms?a=1&amp;b=2"');
      expectCleanPage(refused.body);
      expect((await begin({ username: 'terms', accept_terms: 'yes' }, strict)).errorCodes).toEqual(['required']);
      const kept = await begin({ username: 'alice', accept_terms: 'on' }, strict);
      expect(kept.errorCodes).toEqual(['exists']);
      expect(kept.forms[0]?.inputs.get('accept_terms')).toBe('on');
      expect((await begin({ username: 'terms', accept_terms: 'on' }, strict)).status).toBe(303);
    });
  });

  test('accepts only allowed names, where configured', async () => {
    const allowedUsernames = {
      literals: ['eve'],
      prefixes: ['team-'],
      suffixes: ['.guest'],
      substrings: ['-and-'],
      regexes: [],
    };
    await withService({ namePolicy: { allowedUsernames } }, async (strict) => {
      expect((await begin({ username: 'someone' }, strict)).errorCodes).toEqual(['username-not-allowed']);
      for (const username of ['eve', 'team-eve', 'eve.guest', 'eve-and-bob']) {
        expect((await begin({ username }, strict)).status, username).toBe(303);
      }
    });
  });

  test('rejects requesters banned by address or user agent, and logs by which setting (browser-flows 5.5)', async () => {
    const requester = {
      bannedIps: [
        { address: '198.51.100.0', prefixLength: 24, family: 'ipv4' },
        { address: '2001:db8::', prefixLength: 32, family: 'ipv6' },
      ],
      bannedUserAgents: { ...NOT_BANNED, substrings: ['BadBot'], regexes: ['^curl/[0-9]'] },
    } as const;
    await withService({ requester }, async (strict) => {
      const fields = { username: 'by-ban', password: NEW_PASSWORD };
      const send = async (address: string, userAgent?: string) => {
        const browser = strict.browser({ address });
        await browser.get('/register/password');
        return await browser.submit(fields, userAgent === undefined ? {} : { headers: { 'user-agent': userAgent } });
      };
      const before = await registrations();
      for (const [address, agent] of [
        ['198.51.100.77', undefined],
        ['2001:db8:1::5', undefined],
        ['203.0.113.5', 'some badbot/2'],
        ['203.0.113.6', 'curl/8.1'],
      ] as const) {
        const response = await send(address, agent);
        expect(response, address).toMatchObject({ status: 200, errorCodes: ['requester-banned'] });
        expectCleanPage(response.body);
      }
      expect(await registrations()).toBe(before);
      const settings = strict.lines.flatMap((line) => /code=requester_banned setting=(\w+)/.exec(line)?.[1] ?? []);
      expect(settings).toEqual(['banned_ips', 'banned_ips', 'banned_user_agents', 'banned_user_agents']);
      expect((await send('203.0.113.7', 'libcurl/8.1')).status).toBe(303);
    });
  });

  test('creates no account for a banned requester, even if an allowed one sent the form (browser-flows 5.10)', async () => {
    const requester = { bannedIps: [], bannedUserAgents: { ...NOT_BANNED, substrings: ['BadBot'] } };
    await withService({ requester }, async (strict) => {
      const browser = strict.browser();
      const finish = await registerUpToFinish(browser, 'from-elsewhere');
      const refused = await browser.get(finish, { 'user-agent': 'some badbot/2' });
      expect(refused).toMatchObject({ status: 403, errorCodes: ['requester-banned'] });
      expectCleanPage(refused.body);
      expect(strict.lastRequest().requester).toBeUndefined();
      expect(await accounts('from-elsewhere')).toBe(0);
      expect(
        strict.lines.filter((line) => line.includes('code=requester_banned setting=banned_user_agents')),
      ).toHaveLength(1);
      // The registration is not lost: without the banned user agent it continues. A completed one redirects every
      // client.
      expect((await browser.get(finish)).status).toBe(303);
      expect(await accounts('from-elsewhere')).toBe(1);
      expect((await browser.get(finish, { 'user-agent': 'some badbot/2' })).status).toBe(303);
    });
  });

  test('leaves the hash queue when its client disconnects (operations 9.2)', async () => {
    const hasher = new WaitingHasher();
    await withService(
      {},
      async (waiting) => {
        const browser = waiting.browser();
        await browser.get('/register/password');
        const client = new AbortController();
        const fields = { username: 'leaving', password: NEW_PASSWORD };
        const submitting = browser.submit(fields, { signal: client.signal });
        await until(() => hasher.count === 1);
        client.abort();
        await expect(submitting).rejects.toThrow();
        await until(() => waiting.refusals().length === 1);
        expect(waiting.refusals()).toEqual(['overloaded']);
        expect(hasher.count).toBe(0);
      },
      { hasher },
    );
  });

  test('returns a 503 page that keeps the name while the password queue is full, and counts nothing', async () => {
    class FullHasher extends PasswordHasher {
      override hash(): never {
        throw new LatchkeyError('overloaded', { retryAfterSeconds: 5 });
      }
    }
    const hasher = new FullHasher({ schemes: [CHEAP_SCHEME], concurrency: 1, queueLength: 1, log: silentLog });
    const limits = { registration: { burst: 1, perSecond: 1 / 3600 } };
    await withService(
      { limits },
      async (full) => {
        const browser = full.browser({ address: '198.51.100.200' });
        for (let count = 0; count < 3; count += 1) {
          const response = await beginRegistration(browser, { username: 'patient' });
          expect(response.status).toBe(503);
          expect(response.headers['retry-after']).toBe('5');
          expect(response.errorCodes).toEqual(['overloaded']);
          expect(response.forms[0]?.inputs.get('username')).toBe('patient');
        }
      },
      { hasher },
    );
  });
});

describe('registration limits', () => {
  test('count every form of an address, so that names cannot be probed for free, across instances (S-82)', async () => {
    const limits = { registrationCheck: { burst: 3, perSecond: 3 / 3600 } };
    await withService({ limits }, async (one) => {
      await withService({ limits }, async (other) => {
        const browser = one.browser({ address: '198.51.100.1' });
        for (const username of ['alice', 'Alice', '']) {
          expect((await beginRegistration(browser, { username })).errorCodes).not.toContain('rate_limit_exceeded');
        }
        const refused = await beginRegistration(browser, { username: 'alice' });
        expect(refused.status).toBe(200);
        expect(refused.errorCodes).toEqual(['rate_limit_exceeded']);
        expect(refused.text).toContain('wait 20 minutes');
        const elsewhere = other.browser({ address: '198.51.100.1' });
        expect((await beginRegistration(elsewhere, { username: 'alice' })).errorCodes).toEqual(['rate_limit_exceeded']);
        expect((await beginRegistration(one.browser(), { username: 'alice' })).errorCodes).toEqual(['exists']);
      });
    });
  });

  test('restrict how many registrations an address starts; rejected forms do not count (S-95)', async () => {
    const limits = { registration: { burst: 2, perSecond: 2 / 3600 } };
    await withService({ limits }, async (limited) => {
      const browser = limited.browser({ address: '198.51.100.2' });
      for (let count = 0; count < 4; count += 1) await beginRegistration(browser, { username: 'alice' });
      const before = await registrations();
      for (const username of ['one', 'two']) {
        expect((await beginRegistration(browser, { username })).status).toBe(303);
      }
      const refused = await beginRegistration(browser, { username: 'three' });
      expect(refused).toMatchObject({ status: 200, errorCodes: ['rate_limit_exceeded'] });
      expect(refused.forms[0]?.inputs.get('username')).toBe('three');
      expect(await registrations()).toBe(before + 2);
      const neighbour = limited.browser({ address: '198.51.100.3' });
      expect((await beginRegistration(neighbour, { username: 'three' })).status).toBe(303);
    });
  });

  test('count a /64 of IPv6 as one address (R-40)', async () => {
    const limits = { registration: { burst: 1, perSecond: 1 / 3600 } };
    await withService({ limits }, async (limited) => {
      const from = (address: string) => beginRegistration(limited.browser({ address }), { username: 'six' });
      expect((await from('2001:db8:0:1::1')).status).toBe(303);
      expect((await from('2001:db8:0:1:ffff::2')).errorCodes).toEqual(['rate_limit_exceeded']);
      expect((await from('2001:db8:0:2::1')).status).toBe(303);
    });
  });
});

describe('registration forms from elsewhere (browser-flows 2.2)', () => {
  const fields = { username: 'forged', password: NEW_PASSWORD };

  test.each([
    [{ origin: 'https://evil.example' }],
    [{ origin: 'https://evil.auth.example.org' }],
    [{ origin: 'null' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
  ])('%o: 403 with a link that opens the form again', async (headers) => {
    const browser = service.browser();
    await browser.get('/register/password?kind=change_password');
    const before = await registrations();
    const response = await browser.submit(fields, { headers });
    expect(response).toMatchObject({ status: 403, errorCodes: ['cross_site_request'] });
    expect(response.body).toContain('href="https://auth.example.org/register/password?kind=change_password"');
    expect(await registrations()).toBe(before);
  });

  test('no token, an empty one, one of another browser or one in the query is rejected (S-57)', async () => {
    const browser = service.browser();
    await browser.get('/register/password');
    const other = await service.browser().get('/register/password');
    const foreign = other.forms[0]?.inputs.get('csrf') ?? '';
    const before = await registrations();
    const responses = [
      await browser.post('/register/password', new URLSearchParams(fields)),
      await browser.post('/register/password', new URLSearchParams({ ...fields, csrf: '' })),
      await browser.post('/register/password', new URLSearchParams({ ...fields, csrf: foreign })),
      await browser.post(`/register/password?csrf=${foreign}`, new URLSearchParams(fields)),
    ];
    expect(responses.map((response) => response.status)).toEqual([403, 403, 403, 403]);
    expect(await registrations()).toBe(before);
  });

  test('a form older than an hour is shown again with the name, is not counted, and then works', async () => {
    const limits = { registrationCheck: { burst: 1, perSecond: 1 / 3600 } };
    await withService({ limits, tosUri: 'https://example.org/terms' }, async (limited) => {
      const browser = limited.browser();
      await browser.get('/register/password?kind=change_password');
      service.clock.advanceSeconds(3601);
      await browser.submit({ ...fields, username: 'slow', accept_terms: 'on' });
      expect(browser.page).toMatchObject({ status: 200, errorCodes: ['csrf_expired'] });
      expect(browser.page.forms[0]?.inputs.get('username')).toBe('slow');
      expect(browser.page.forms[0]?.inputs.get('accept_terms')).toBe('on');
      expect(browser.page.body).not.toContain(NEW_PASSWORD);
      await browser.submit({ password: NEW_PASSWORD });
      expect(browser.page.status).toBe(303);
    });
  });

  test.each([
    ['a field twice', 400, 'username=a&username=b', 'application/x-www-form-urlencoded'],
    ['invalid UTF-8', 400, 'username=%ff', 'application/x-www-form-urlencoded'],
    ['text/plain', 415, 'username=a', 'text/plain'],
    ['multipart', 415, 'username=a', 'multipart/form-data; boundary=x'],
  ])('%s returns %i', async (_, status, body, contentType) => {
    const browser = service.browser();
    await browser.get('/register/password');
    const token = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    const response = await browser.postRaw('/register/password', `csrf=${token}&${body}`, {
      'content-type': contentType,
    });
    expect(response.status).toBe(status);
  });
});
