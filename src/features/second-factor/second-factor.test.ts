import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { removePasskey } from '#domain/passkeys/remove-passkey.ts';
import { regenerateRecoveryCodes } from '#domain/second-factors/regenerate-recovery-codes.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { type AuthenticatorApp, giveAuthenticatorApp, scannedApp } from '#test/support/authenticator-app.ts';
import type { Browser } from '#test/support/browser.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { type PageService, type PageServiceOptions, startPages, withPages } from '#test/support/page-service.ts';
import { givePasskey } from '#test/support/passkeys.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { PasskeyId, UserId } from '#vocabulary/ids.ts';

const PASSWORD = 'correct horse battery staple';
const ORIGIN = 'https://auth.example.org';
const TARGET = 'kind=change_password';
let users = 0;
let username: string;
let user: UserId;
let app: AuthenticatorApp;

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startPages(testDatabase.database));
beforeEach(async () => {
  service.clock.advanceSeconds(3600);
  users += 1;
  username = `person-${users}`;
  user = await insertTestAccount(testDatabase.database, { username, password: PASSWORD });
  app = await giveAuthenticatorApp(service.core, user);
});

async function withService(options: PageServiceOptions, work: (other: PageService) => Promise<void>): Promise<void> {
  await withPages(testDatabase.database, { clock: service.clock, ...options }, work);
}

async function addPasskey(): Promise<PasskeyId> {
  await givePasskey(service.core, user);
  const [row] = await sql<{ id: string }>(
    testDatabase.database,
    'select id from user_passkeys where user_id = $1::uuid',
    [toUuid(user)],
  );
  return fromUuid<'passkey'>(row?.id ?? expect.fail('no passkey'));
}

/** A browser after the password was entered. */
async function afterPassword(from = service, browser = from.browser()): Promise<Browser> {
  await browser.get(`/login?${TARGET}`);
  await browser.submit({ username, password: PASSWORD });
  return browser;
}

async function atCode(from = service, browser?: Browser): Promise<Browser> {
  const opened = await afterPassword(from, browser);
  await opened.get(opened.page.location ?? '');
  return opened;
}

async function sessions() {
  return await sql<{ acr: string; amr: string[]; kinds: string[] }>(
    testDatabase.database,
    `select s.acr, s.amr,
            array(select a.kind from user_session_authentications a where a.user_session_id = s.id order by a.id) as kinds
       from user_sessions s where s.user_id = $1::uuid order by s.id`,
    [toUuid(user)],
  );
}

async function events(): Promise<string[]> {
  const rows = await sql<{ kind: string }>(
    testDatabase.database,
    'select kind from audit_events where user_id = $1::uuid',
    [toUuid(user)],
  );
  return rows.map(({ kind }) => kind).toSorted();
}

describe('the right password of a user with one-time codes (browser-flows 15.8)', () => {
  test('leads to the code: no session, no event, no requester, no known browser', async () => {
    const { page: shown, cookies } = await afterPassword();
    expect(shown.status).toBe(303);
    expect(shown.location).toBe(`${ORIGIN}/login/totp?${TARGET}`);
    expect(service.lastRequest()).toMatchObject({ status: 303, requester: undefined });
    expect(service.lastRequest().queries).toBeLessThanOrEqual(3);
    expect([...cookies.keys()].sort()).toEqual(['__Host-latchkey_csrf', '__Host-latchkey_login']);
    const cookie = shown.headers['set-cookie']?.find((line) => line.startsWith('__Host-latchkey_login='));
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/);
    expect(await sessions()).toEqual([]);
    expect(await events()).toEqual(['totp_added']);
  });

  test('then a code signs in, once', async () => {
    const browser = await atCode();
    expect(browser.page.status).toBe(200);
    expect(browser.page.body).toMatch(/<input[^>]*autocomplete="one-time-code"/);
    expect(browser.page.body).toMatch(/<input[^>]*inputmode="numeric"/i);
    expect(service.lastRequest().requester).toBeUndefined();
    const code = app.code();
    await browser.submit({ code: `${code.slice(0, 3)} ${code.slice(3)}` });
    expect(browser.page.status).toBe(303);
    expect(browser.page.location).toBe(`${ORIGIN}/account/password/change`);
    expect(service.lastRequest().requester).toBe(`user:${user}(${username})`);
    expect(browser.cookies.has('__Host-latchkey_login')).toBe(false);
    expect(browser.cookies.has('__Host-latchkey_known')).toBe(true);
    expect(await sessions()).toEqual([
      { acr: 'urn:latchkey:acr:2', amr: ['pwd', 'otp', 'mfa'], kinds: ['password', 'totp'] },
    ]);
    expect(await events()).toEqual(['login', 'totp_added']);

    const other = await atCode();
    await other.submit({ code });
    expect(other.page.errorCodes).toEqual(['invalid_code']);
    expect(await sessions()).toHaveLength(1);
  });

  test('then the code rotates the form token (S-61)', async () => {
    const browser = await atCode();
    const before = browser.cookies.get('__Host-latchkey_csrf');
    await browser.submit({ code: app.code() });
    expect(browser.page.status).toBe(303);
    expect(before).toBeDefined();
    expect(browser.cookies.get('__Host-latchkey_csrf')).not.toBe(before);
  });

  test('then a recovery code signs in, once', async () => {
    const browser = await atCode();
    await browser.get(`/login/recovery-code?${TARGET}`);
    const [code = ''] = app.recoveryCodes;
    await browser.submit({ code });
    expect(browser.page.location).toBe(`${ORIGIN}/account/password/change`);
    expect(await sessions()).toMatchObject([{ amr: ['pwd', 'otp', 'mfa'], kinds: ['password', 'recovery_code'] }]);
    expect(await events()).toEqual(['login', 'recovery_code_used', 'totp_added']);
    const other = await atCode();
    await other.get(`/login/recovery-code?${TARGET}`);
    await other.submit({ code });
    expect(other.page.errorCodes).toEqual(['invalid_code']);
  });

  test('takes no further statement for users without one-time codes', async () => {
    username = `plain-${users}`;
    await insertTestAccount(testDatabase.database, { username, password: PASSWORD });
    const { page: shown } = await afterPassword();
    expect(shown.location).toBe(`${ORIGIN}/account/password/change`);
    expect(service.lastRequest().queries).toBeLessThanOrEqual(2);
  });

  test('is sufficient where second factors are disabled', async () => {
    await withService({ secondFactor: { secondFactor: 'off' } }, async (other) => {
      expect((await afterPassword(other)).page.location).toBe(`${ORIGIN}/account/password/change`);
    });
    expect(await sessions()).toMatchObject([{ acr: 'urn:latchkey:acr:1', kinds: ['password'] }]);
  });
});

describe('a pending sign-in', () => {
  test.each(['/login/totp', '/login/recovery-code'])(
    'that is missing makes %s start over with a notice',
    async (path) => {
      const browser = service.browser();
      await browser.get(`${path}?${TARGET}`);
      expect(browser.page.status).toBe(303);
      expect(browser.page.location).toMatch(new RegExp(`^${ORIGIN}/login\\?${TARGET}&notice=`));
      await browser.follow();
      expect(browser.page.body).toContain('data-notice="login_expired"');
      await browser.get('/login');
      const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
      await browser.post(path, new URLSearchParams({ csrf, code: app.code() }));
      expect(browser.page.location).toMatch(/\/login\?notice=/);
    },
  );

  test('expires after 10 minutes', async () => {
    const browser = await atCode();
    service.clock.advanceSeconds(599);
    await browser.get(`/login/totp?${TARGET}`);
    expect(browser.page.status).toBe(200);
    service.clock.advanceSeconds(1);
    await browser.submit({ code: app.code() });
    expect(browser.page.location).toMatch(/\/login\?/);
    expect(await sessions()).toEqual([]);
  });

  test('keeps its original continuation, whatever a link says', async () => {
    const browser = await afterPassword();
    await browser.get('/login/totp?kind=manage_account');
    await browser.submit({ code: app.code() });
    expect(browser.page.location).toBe(`${ORIGIN}/account/password/change`);
  });

  test('shows the page of a locked or deactivated account, and does not sign the user in', async () => {
    const browser = await atCode();
    await sql(testDatabase.database, 'update users set locked_at = now() where id = $1::uuid', [toUuid(user)]);
    await browser.submit({ code: app.code() });
    expect(browser.page.status).toBe(200);
    expect(browser.page.text).toContain('locked');
    expect(service.lastRequest().requester).toBeUndefined();
    expect(await sessions()).toEqual([]);
  });

  test('redirects a user who has meanwhile signed in here', async () => {
    const browser = await atCode();
    const other = browser.cookies.get('__Host-latchkey_login') ?? '';
    await atCode(service, browser);
    await browser.submit({ code: app.code() });
    browser.cookies.set('__Host-latchkey_login', other);
    await browser.get(`/login/totp?${TARGET}`);
    expect(browser.page.location).toBe(`${ORIGIN}/account/password/change`);
  });
});

describe('code limits (browser-flows 4.2)', () => {
  test('end the sign-in after the fifth wrong code, despite a later right one', async () => {
    await withService({ limits: { perIp: { burst: 100, perSecond: 1 } } }, async (other) => {
      const browser = await atCode(other);
      for (let wrong = 1; wrong < 5; wrong += 1) {
        await browser.submit({ code: '000000' });
        expect(browser.page.errorCodes).toEqual(['invalid_code']);
      }
      await browser.submit({ code: '12' });
      expect(browser.page.status).toBe(200);
      expect(browser.page.errorCodes).toEqual(['too_many_attempts']);
      expect(browser.page.forms).toHaveLength(0);
      await browser.get(`/login/totp?${TARGET}`);
      expect(browser.page.location).toMatch(/\/login\?/);
      expect(await events()).toEqual(['login_failed', 'totp_added']);
    });
  });

  test('allow the last of five to be right, and ignore an empty one', async () => {
    await withService({ limits: { perIp: { burst: 100, perSecond: 1 } } }, async (other) => {
      const browser = await atCode(other);
      await browser.submit({ code: ' ' });
      expect(browser.page.errorCodes).toEqual(['required']);
      for (let wrong = 1; wrong < 5; wrong += 1) await browser.submit({ code: '000000' });
      await browser.submit({ code: app.code() });
      expect(browser.page.status).toBe(303);
    });
  });

  test('refuse ten wrong codes for an account in an hour, across sign-ins; a known browser has its own limit', async () => {
    await withService({ limits: { perIp: { burst: 1000, perSecond: 100 } } }, async (other) => {
      const known = await atCode(other);
      await known.submit({ code: app.code() });
      await known.get('/');
      await known.submit({}, { action: '/logout' });
      service.clock.advanceSeconds(30);
      for (let login = 0; login < 2; login += 1) {
        const browser = await atCode(other);
        for (let wrong = 0; wrong < 5; wrong += 1) await browser.submit({ code: '000000' });
      }
      const stranger = await atCode(other);
      await stranger.submit({ code: app.code() });
      expect(stranger.page.status).toBe(200);
      expect(stranger.page.errorCodes).toEqual(['rate_limit_exceeded']);
      expect(stranger.page.text).toMatch(/wait (a minute|\d+ minutes)/);
      await atCode(other, known);
      await known.submit({ code: app.code() });
      expect(known.page.status).toBe(303);
    });
  });
});

describe('a trusted browser', () => {
  const TRUSTING = { secondFactor: { secondFactorTrustDays: 30 } } as const;

  async function signOut(browser: Browser): Promise<void> {
    await browser.get('/');
    await browser.submit({}, { action: '/logout' });
    service.clock.advanceSeconds(60);
  }

  test('is offered only where configured', async () => {
    expect((await atCode()).page.body).not.toContain('trust_browser');
  });

  test('skips the code until it expires, and no other browser does', async () => {
    await withService(TRUSTING, async (other) => {
      const browser = await atCode(other);
      await browser.submit({ code: app.code(), trust_browser: 'on' });
      await signOut(browser);
      expect((await afterPassword(other, browser)).page.location).toBe(`${ORIGIN}/account/password/change`);
      expect((await sessions()).at(-1)).toMatchObject({ acr: 'urn:latchkey:acr:1' });
      await signOut(browser);
      expect((await afterPassword(other)).page.location).toMatch(/\/login\/totp/);
      service.clock.advanceSeconds(30 * 86_400);
      expect((await afterPassword(other, browser)).page.location).toMatch(/\/login\/totp/);
    });
  });

  test.each([
    ['another password', 'update user_passwords set id = gen_random_uuid() where user_id = $1::uuid'],
    ['another app', `update user_totp_secrets set created_at = created_at + interval '1 day' where user_id = $1::uuid`],
  ])('loses its trust after %s', async (_, change) => {
    await withService(TRUSTING, async (other) => {
      const browser = await atCode(other);
      await browser.submit({ code: app.code(), trust_browser: 'on' });
      await signOut(browser);
      await sql(testDatabase.database, change, [toUuid(user)]);
      expect((await afterPassword(other, browser)).page.location).toMatch(/\/login\/totp/);
    });
  });

  test.each([
    [
      'other recovery codes',
      async (from: PageService) => {
        const change = { user, address: undefined, userAgent: undefined, language: 'en' };
        expect(await regenerateRecoveryCodes(from.core, change)).toHaveLength(10);
      },
    ],
    [
      'the removal of a passkey',
      async (from: PageService) => {
        const passkeyId = await addPasskey();
        const removal = { userId: user, passkeyId, address: undefined, userAgent: undefined, language: 'en' };
        expect(await removePasskey(from.core, removal)).toBe('removed');
      },
    ],
  ])('loses its trust after %s, and other users keep theirs', async (_, change) => {
    await withService(TRUSTING, async (other) => {
      const trusted = async (): Promise<Browser> => {
        const browser = await atCode(other);
        await browser.submit({ code: app.code(), trust_browser: 'on' });
        await signOut(browser);
        return browser;
      };
      const own = { username, app, user, browser: await trusted() };
      username = `other-${users}`;
      user = await insertTestAccount(testDatabase.database, { username, password: PASSWORD });
      app = await giveAuthenticatorApp(service.core, user);
      const foreign = await trusted();
      user = own.user;
      await change(other);
      expect((await afterPassword(other, foreign)).page.location).toBe(`${ORIGIN}/account/password/change`);
      ({ username, app } = own);
      expect((await afterPassword(other, own.browser)).page.location).toMatch(/\/login\/totp/);
    });
  });

  test('keeps its trust after a passkey was added', async () => {
    await withService(TRUSTING, async (other) => {
      const browser = await atCode(other);
      await browser.submit({ code: app.code(), trust_browser: 'on' });
      await signOut(browser);
      await addPasskey();
      expect((await afterPassword(other, browser)).page.location).toBe(`${ORIGIN}/account/password/change`);
    });
  });

  test('keeps its checkbox checked after a wrong code', async () => {
    await withService(TRUSTING, async (other) => {
      const browser = await atCode(other);
      await browser.submit({ code: '000000', trust_browser: 'on' });
      expect(browser.page.body).toMatch(/<input[^>]*trust_browser[^>]*>/);
      expect(browser.page.body).toMatch(/<input[^>]*checked[^>]*>/);
    });
  });
});

describe('reauthentication', () => {
  async function signedIn(from = service): Promise<Browser> {
    const browser = await atCode(from);
    await browser.submit({ code: app.code() });
    service.clock.advanceSeconds(120);
    return browser;
  }

  async function authentications(): Promise<string[]> {
    return (await sessions())[0]?.kinds ?? [];
  }

  test('requires a code after the password: the password alone does not renew the session', async () => {
    const browser = await signedIn();
    const before = browser.cookies.get('__Host-latchkey_session');
    await browser.get(`/reauth?${TARGET}`);
    await browser.submit({ password: PASSWORD }, { action: `/reauth?${TARGET}` });
    expect(browser.page.location).toBe(`${ORIGIN}/reauth/totp?${TARGET}`);
    expect(await authentications()).toEqual(['password', 'totp']);
    await browser.get('/reauth?max_age=60');
    expect(browser.page.status).toBe(200);
    await browser.get(`/reauth/totp?${TARGET}`);
    await browser.submit({ code: app.code() });
    expect(browser.page.location).toBe(`${ORIGIN}/account/password/change`);
    expect(service.lastRequest().requester).toBe(`user:${user}(${username})`);
    expect(browser.cookies.get('__Host-latchkey_session')).not.toBe(before);
    expect(await authentications()).toEqual(['password', 'totp', 'password', 'totp']);
    expect(await events()).toContain('reauthenticated');
    expect(await sessions()).toHaveLength(1);
    await browser.get('/reauth?max_age=60');
    expect(browser.page.status).toBe(303);
  });

  test('also accepts a recovery code', async () => {
    const browser = await signedIn();
    await browser.get('/reauth');
    await browser.submit({ password: PASSWORD }, { action: '/reauth' });
    await browser.get('/reauth/recovery-code');
    await browser.submit({ code: app.recoveryCodes[3] ?? '' });
    expect(browser.page.location).toBe(`${ORIGIN}/`);
    expect((await authentications()).at(-1)).toBe('recovery_code');
  });

  test('accepts the password alone where configured', async () => {
    await withService({ secondFactor: { secondFactorOnReauth: false } }, async (other) => {
      const browser = await signedIn(other);
      await browser.get('/reauth');
      await browser.submit({ password: PASSWORD }, { action: '/reauth' });
      expect(browser.page.location).toBe(`${ORIGIN}/`);
    });
  });

  test('is bound to one session: neither another session nor a sign-in accepts the code', async () => {
    const first = await signedIn();
    await first.get('/reauth');
    await first.submit({ password: PASSWORD }, { action: '/reauth' });
    const second = await signedIn();
    second.cookies.set('__Host-latchkey_login', first.cookies.get('__Host-latchkey_login') ?? '');
    await second.get('/reauth/totp');
    expect(second.page.location).toBe(`${ORIGIN}/reauth`);
    const anonymous = service.browser();
    anonymous.cookies.set('__Host-latchkey_login', first.cookies.get('__Host-latchkey_login') ?? '');
    await anonymous.get('/login/totp');
    expect(anonymous.page.location).toMatch(/\/login\?notice=/);
  });
});

describe('the second step cannot be skipped (security S-90)', () => {
  test('by opening later pages with the cookies of the pending sign-in', async () => {
    const browser = await afterPassword();
    for (const path of ['/account/password/change', '/account/', '/reauth', '/reauth/totp']) {
      await browser.get(path);
      expect(browser.page.location, path).toMatch(/\/(login|reauth)(\?|$)/);
      expect(service.lastRequest().requester).toBeUndefined();
    }
    await browser.get('/');
    expect(browser.page.text).not.toContain(username);
    const requested = await browser.postRaw('/graphql', JSON.stringify({ query: '{ viewer { __typename } }' }), {
      'content-type': 'application/json',
    });
    expect(requested.body).toContain('Anonymous');
  });

  test('from another browser, or with the factor of another user', async () => {
    const browser = await afterPassword();
    const stranger = service.browser();
    await stranger.get('/login');
    const csrf = stranger.page.forms[0]?.inputs.get('csrf') ?? '';
    await stranger.post('/login/totp', new URLSearchParams({ csrf, code: app.code() }));
    expect(stranger.page.location).toMatch(/\/login\?notice=/);
    const other = await insertTestAccount(testDatabase.database, { username: `other-${users}`, password: PASSWORD });
    const foreign = await giveAuthenticatorApp(service.core, other);
    await browser.get('/login/totp');
    await browser.submit({ code: foreign.code() });
    expect(browser.page.errorCodes).toEqual(['invalid_code']);
    await browser.get('/login/recovery-code');
    await browser.submit({ code: foreign.recoveryCodes[0] ?? '' });
    expect(browser.page.errorCodes).toEqual(['invalid_code']);
    expect(await sessions()).toEqual([]);
  });

  test('by planting cookies in the browser: after the code they are worthless elsewhere', async () => {
    const planted = await afterPassword();
    const attacker = service.browser();
    for (const [name, value] of planted.cookies) attacker.cookies.set(name, value);
    planted.cookies.set('__Host-latchkey_session', 'planted');
    await planted.get('/login/totp');
    const code = app.code();
    await planted.submit({ code });
    expect(planted.page.status).toBe(303);
    expect(planted.cookies.get('__Host-latchkey_session')).not.toBe('planted');
    expect(planted.cookies.has('__Host-latchkey_login')).toBe(false);
    expect(planted.cookies.get('__Host-latchkey_csrf')).not.toBe(attacker.cookies.get('__Host-latchkey_csrf'));

    service.clock.advanceSeconds(60);
    await attacker.get('/login/totp');
    expect(attacker.page.location).toMatch(/\/login\?notice=/);
    await attacker.get('/login');
    const csrf = attacker.page.forms[0]?.inputs.get('csrf') ?? '';
    for (const again of [code, app.code()]) {
      await attacker.post('/login/totp', new URLSearchParams({ csrf, code: again }));
      expect(attacker.page.location).toMatch(/\/login\?notice=/);
    }
    expect(attacker.cookies.has('__Host-latchkey_session')).toBe(false);
    expect(await sessions()).toHaveLength(1);
  });

  test('with the pending sign-in of another account in the same browser', async () => {
    const browser = await afterPassword();
    const first = browser.cookies.get('__Host-latchkey_login');
    const own = { username, app, user };
    username = `other-${users}`;
    user = await insertTestAccount(testDatabase.database, { username, password: PASSWORD });
    app = await giveAuthenticatorApp(service.core, user);
    await afterPassword(service, browser);
    expect(browser.cookies.get('__Host-latchkey_login')).not.toBe(first);
    await browser.get('/login/totp');
    await browser.submit({ code: own.app.code() });
    expect(browser.page.errorCodes).toEqual(['invalid_code']);
    await browser.submit({ code: app.code() });
    expect(service.lastRequest().requester).toBe(`user:${user}(${username})`);
    user = own.user;
    expect(await sessions()).toEqual([]);
  });

  test('by sending one code in concurrent requests: one session is created', async () => {
    await withService({ limits: { perIp: { burst: 100, perSecond: 1 } } }, async (other) => {
      const browser = await atCode(other);
      const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
      const fields = new URLSearchParams({ csrf, code: app.code() });
      await Promise.all(Array.from({ length: 5 }, () => browser.post('/login/totp', fields)));
      expect(await sessions()).toHaveLength(1);
    });
  });

  test('after the password was changed, although the code is right', async () => {
    const browser = await atCode();
    await sql(
      testDatabase.database,
      'update user_passwords set id = gen_random_uuid() where user_id = $1::uuid returning id',
      [toUuid(user)],
    );
    await browser.submit({ code: app.code() });
    expect(browser.page.location).toMatch(/\/login\?/);
    expect(await sessions()).toEqual([]);
  });
});

describe('where a second factor is required (browser-flows 4.5)', () => {
  const REQUIRED = {
    secondFactor: { secondFactor: 'required' },
    limits: { perIp: { burst: 100, perSecond: 1 } },
  } as const;
  const SETUP = `/login/setup?${TARGET}`;
  let required: PageService;

  beforeAll(async () => {
    required = await startPages(testDatabase.database, { clock: service.clock, ...REQUIRED });
  });
  afterAll(() => required.stop());
  beforeEach(async () => {
    username = `bare-${users}`;
    user = await insertTestAccount(testDatabase.database, { username, password: PASSWORD });
  });

  const scanned = ({ page: shown }: Browser): AuthenticatorApp => scannedApp(required.core, shown.body);

  async function codesShown({ page: shown }: Browser): Promise<string[]> {
    return [...shown.body.matchAll(/<code[^>]*>([a-z2-9]{5}-[a-z2-9]{5})<\/code>/g)].map(([, code = '']) => code);
  }

  test('a right password leads to app setup and recovery codes; only then is the user signed in', async () => {
    const browser = await afterPassword(required);
    expect(browser.page.location).toBe(ORIGIN + SETUP);
    await browser.get(SETUP);
    expect(browser.page.body).toContain('<svg');
    expect(browser.page.body).toMatch(/<code[^>]*>([A-Z2-7]{4} ){7}[A-Z2-7]{4}<\/code>/);
    const { body } = browser.page;
    const own = scanned(browser);
    await browser.submit({ code: '000000' });
    expect(browser.page.errorCodes).toEqual(['invalid_code']);
    await browser.get('/');
    await browser.get(SETUP);
    expect(scanned(browser).code()).toBe(own.code());
    expect(body).not.toContain(own.code());

    await browser.submit({ step: 'done' });
    expect(browser.page.errorCodes).toEqual(['required']);
    await browser.submit({ code: own.code() });
    expect(browser.page.location).toBe(ORIGIN + SETUP);
    expect(required.lastRequest().requester).toBeUndefined();
    expect(await sessions()).toEqual([]);
    await browser.get(SETUP);
    const codes = await codesShown(browser);
    expect(codes).toHaveLength(10);
    await browser.get(SETUP);
    expect(await codesShown(browser)).toEqual(codes);
    await browser.submit({});
    expect(browser.page.location).toBe(`${ORIGIN}/account/password/change`);
    expect(required.lastRequest().requester).toBe(`user:${user}(${username})`);
    expect(await sessions()).toMatchObject([{ acr: 'urn:latchkey:acr:2', kinds: ['password', 'totp'] }]);
    expect(await events()).toEqual(['login', 'totp_added']);
    const [row] = await sql(
      testDatabase.database,
      'select setup_sealed from user_pending_logins where user_id = $1::uuid',
      [toUuid(user)],
    );
    expect(row).toEqual({ setup_sealed: null });

    service.clock.advanceSeconds(60);
    const other = await afterPassword(required);
    expect(other.page.location).toBe(`${ORIGIN}/login/totp?${TARGET}`);
    await other.get(SETUP);
    expect(other.page.location).toBe(`${ORIGIN}/login/totp?${TARGET}`);
    await other.get('/login/recovery-code');
    await other.submit({ code: codes[0] ?? '' });
    expect(other.page.status).toBe(303);
  });

  test('an app set up elsewhere in the meantime is not replaced', async () => {
    const browser = await afterPassword(required);
    await browser.get(SETUP);
    const own = scanned(browser);
    const elsewhere = await giveAuthenticatorApp(required.core, user);
    await browser.submit({ code: own.code() });
    expect(browser.page.location).toBe(`${ORIGIN}/login/totp?${TARGET}`);
    await browser.get(browser.page.location ?? '');
    await browser.submit({ code: own.code() });
    expect(browser.page.errorCodes).toEqual(['invalid_code']);
    await browser.submit({ code: elsewhere.code() });
    expect(browser.page.status).toBe(303);
  });

  test('five wrong codes end the setup, and nothing is stored', async () => {
    const browser = await afterPassword(required);
    await browser.get(SETUP);
    const own = scanned(browser);
    for (let wrong = 0; wrong < 5; wrong += 1) await browser.submit({ code: '000000' });
    expect(browser.page.errorCodes).toEqual(['too_many_attempts']);
    expect(browser.page.body).not.toContain('<svg');
    const again = await afterPassword(required);
    await again.get(SETUP);
    expect(scanned(again).code()).not.toBe(own.code());
    expect(await events()).toEqual(['login_failed']);
  });

  test('the code page redirects users without an app to the setup', async () => {
    const browser = await afterPassword(required);
    await browser.get('/login/totp');
    expect(browser.page.location).toBe(ORIGIN + SETUP);
  });
});
