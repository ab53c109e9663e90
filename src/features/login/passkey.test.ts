import { beforeEach, describe, expect, test } from 'vitest';
import { toUuid } from '#platform/base/ids.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { giveAuthenticatorApp } from '#test/support/authenticator-app.ts';
import type { Browser } from '#test/support/browser.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { type PageService, type PageServiceOptions, startPages, withPages } from '#test/support/page-service.ts';
import type { Deviations, KeyKind, PasskeyAuthenticator } from '#test/support/passkey-authenticator.ts';
import { givePasskey, type PasskeyRequest, passkeyOptions } from '#test/support/passkeys.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { UserId } from '#vocabulary/ids.ts';

const PASSWORD = 'correct horse battery staple';
const ORIGIN = 'https://auth.example.org';
const TARGET = 'kind=change_password';
const LOGIN = `/login/passkey?${TARGET}`;
let users = 0;
let username: string;
let user: UserId;
let key: PasskeyAuthenticator;

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startPages(testDatabase.database));
beforeEach(async () => {
  service.clock.advanceSeconds(3600);
  users += 1;
  username = `person-${users}`;
  user = await insertTestAccount(testDatabase.database, { username, password: PASSWORD });
  key = await givePasskey(service.core, user);
});

async function withService(options: PageServiceOptions, work: (other: PageService) => Promise<void>): Promise<void> {
  await withPages(testDatabase.database, { clock: service.clock, ...options }, work);
}

/** Sends a browser's response to the request in `options`. */
async function responseFor(
  browser: Browser,
  credential: string,
  path = LOGIN,
  more: Record<string, string> = {},
): Promise<void> {
  const csrf = tokens.get(browser) ?? '';
  await browser.post(path, new URLSearchParams({ csrf, credential, ...more }));
}

const tokens = new WeakMap<Browser, string>();

/** Returns what the script of the current page receives. */
async function options(browser: Browser): Promise<PasskeyRequest> {
  const { csrf, asked: requested } = await passkeyOptions(browser);
  tokens.set(browser, csrf);
  expect(browser.page.headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' });
  return requested;
}

/** A browser on the sign-in page, and the request that it got to sign. */
async function begin(from = service, browser = from.browser()): Promise<{ browser: Browser; asked: PasskeyRequest }> {
  await browser.get(`/login?${TARGET}`);
  return { browser, asked: await options(browser) };
}

async function signIn(wrong: Deviations = {}, by = key, from = service): Promise<Browser> {
  const { browser, asked: requested } = await begin(from);
  await responseFor(browser, by.get(requested, wrong));
  return browser;
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

function refusal(): unknown {
  return service.lines.findLast((line) => line.includes(' passkey.'));
}

describe('the sign-in page', () => {
  test('has a button that scripts reveal, and suggests passkeys in the username field', async () => {
    const browser = service.browser();
    await browser.get('/login');
    expect(browser.page.body).toMatch(/<form[^>]*data-passkey-options="\/login\/passkey\/options\?purpose=login"/);
    expect(browser.page.body).toMatch(/<form[^>]*class="form passkey"[^>]*hidden/);
    expect(browser.page.body).toMatch(/<input[^>]*autocomplete="username webauthn"/);
    expect(browser.page.body).toContain('passkey.js');
  });

  test('has none where passkeys are disabled or the origin does not support them', async () => {
    for (const publicBase of ['http://auth.example.org/', 'https://192.0.2.7/']) {
      await withService({ publicBase }, async (other) => {
        const browser = other.browser();
        await browser.get('/login');
        expect(browser.page.body).not.toContain('passkey');
        expect(browser.page.body).toMatch(/<input[^>]*autocomplete="username"/);
        await browser.get('/login/passkey');
        expect(browser.page.status).toBe(404);
      });
    }
  });
});

describe('the passkey options', () => {
  test('are the same for everybody, and do not reveal whether an account exists', async () => {
    const one = await begin();
    const browser = service.browser();
    await browser.get(`/login?login_hint=${username}`);
    const other = await options(browser);
    expect({ ...one.asked, challenge: '' }).toEqual({ ...other, challenge: '' });
    expect(one.asked).toEqual({
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      timeout: 300_000,
      rpId: 'auth.example.org',
      allowCredentials: [],
      userVerification: 'required',
    });
    expect(one.asked.challenge).not.toBe(other.challenge);
    const stored = await sql(testDatabase.database, `select from webauthn_challenges where challenge_hash = $1`, [
      Buffer.from(one.asked.challenge),
    ]);
    expect(stored).toEqual([]);
  });

  test("are returned only to same-site pages with the page's token", async () => {
    const browser = service.browser();
    await browser.get('/login');
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    for (const headers of [
      {},
      { 'x-csrf-token': 'wrong' },
      { 'x-csrf-token': csrf, origin: 'https://evil.example' },
      { 'x-csrf-token': csrf, 'sec-fetch-site': 'cross-site' },
    ]) {
      const { status, body } = await browser.postRaw('/login/passkey/options', '', headers);
      expect(status).toBe(403);
      expect(JSON.parse(body).error).toMatch(/^(csrf|cross_site)/);
    }
  });

  test('are rate limited by IP address', async () => {
    await withService({ passkeyLimit: { burst: 2, perSecond: 0.01 } }, async (other) => {
      const { browser } = await begin(other);
      await browser.get('/login');
      await options(browser);
      await browser.get('/login');
      const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
      const { status, headers, body } = await browser.postRaw('/login/passkey/options', '', { 'x-csrf-token': csrf });
      expect(status).toBe(429);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(JSON.parse(body).error).toBe('rate_limited');
    });
  });
});

describe('a passkey', () => {
  test.each<KeyKind>(['P-256', 'Ed25519', 'RSA'])(
    'with a key of the kind %s signs its owner in, as both factors',
    async (kind) => {
      const browser = await signIn({}, await givePasskey(service.core, user, kind));
      expect(browser.page.status).toBe(303);
      expect(browser.page.location).toBe(`${ORIGIN}/account/password/change`);
      expect(service.lastRequest()).toMatchObject({ requester: `user:${user}(${username})` });
      expect(await sessions()).toEqual([{ acr: 'phr', amr: ['swk', 'user', 'mfa'], kinds: ['passkey'] }]);
      expect(browser.cookies.has('__Host-latchkey_login')).toBe(false);
      expect(browser.cookies.has('__Host-latchkey_known')).toBe(true);
      await browser.get('/');
      expect(browser.page.text).toContain(username);
    },
  );

  test('bound to its device is reported as such in amr', async () => {
    // Passkeys from older versions have no stored value. The first use sets it, and later uses must match.
    await sql(testDatabase.database, 'update user_passkeys set backup_eligible = null');
    await signIn({ isBackupEligible: false, isBackedUp: false });
    expect(await sessions()).toMatchObject([{ amr: ['hwk', 'user', 'mfa'] }]);
    expect((await signIn({})).page.errorCodes).toEqual(['passkey_failed']);
  });

  test('skips the code, even for users with an authenticator app', async () => {
    await giveAuthenticatorApp(service.core, user);
    expect((await signIn()).page.location).toBe(`${ORIGIN}/account/password/change`);
  });

  test('works for its owner after strangers exhausted the password limits (S-88)', async () => {
    await withService(
      { limits: { perIp: { burst: 1, perSecond: 0.001 }, perAccount: { burst: 1, perSecond: 0.001 } } },
      async (other) => {
        const stranger = other.browser();
        for (let count = 0; count < 3; count += 1) {
          await stranger.get('/login');
          await stranger.submit({ username, password: 'wrong' });
        }
        expect(stranger.page.errorCodes).toEqual(['rate_limit_exceeded']);
        expect((await signIn({}, key, other)).page.status).toBe(303);
      },
    );
  });

  test.each<[string, string, Deviations]>([
    ['the handle of another user', 'wrong_user', { userHandle: Buffer.alloc(16, 7) }],
    ['no handle', 'wrong_user', { userHandle: null }],
    ['no user verification', 'user_not_verified', { isUserVerified: false }],
    ['nobody present', 'user_not_present', { isUserPresent: false }],
    ['another origin', 'wrong_origin', { origin: 'https://evil.example' }],
    ['a frame of another site', 'cross_origin', { crossOrigin: true }],
    ['another site', 'wrong_rp_id', { rpId: 'example.org' }],
    ['the response of a registration', 'wrong_type', { type: 'webauthn.create' }],
    ['another challenge', 'unknown_challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    [
      'a key that cannot leave its device any more',
      'other_backup_eligibility',
      { isBackupEligible: false, isBackedUp: false },
    ],
    ['bytes after the data', 'malformed', { trailer: Buffer.from([0xa0]) }],
  ])('with %s is rejected (browser-flows 15.9)', async (_, code, wrong) => {
    const browser = await signIn(wrong);
    expect(browser.page.status).toBe(200);
    expect(browser.page.errorCodes).toEqual(['passkey_failed']);
    expect(browser.page.forms.some(({ action }) => action === `/login?${TARGET}`)).toBe(true);
    expect(service.lastRequest().requester).toBeUndefined();
    expect(refusal()).toContain(` passkey.refused `);
    expect(refusal()).toContain(`code=${code}`);
    expect(await sessions()).toEqual([]);
  });

  test('consumes its challenge, whatever the result', async () => {
    const { browser, asked: requested } = await begin();
    await responseFor(browser, key.get(requested));
    expect(browser.page.status).toBe(303);
    const other = await begin();
    other.browser.cookies.set('__Host-latchkey_login', browser.cookies.get('__Host-latchkey_login') ?? '');
    await responseFor(other.browser, key.get(requested));
    expect(other.browser.page.errorCodes).toEqual(['passkey_failed']);
    const third = await begin();
    await responseFor(third.browser, key.get(third.asked, { isUserVerified: false }));
    await responseFor(third.browser, key.get(third.asked));
    expect(third.browser.page.errorCodes).toEqual(['passkey_failed']);
    expect(await sessions()).toHaveLength(1);
  });

  test('signs in once when its response is sent twenty times concurrently', async () => {
    const { browser, asked: requested } = await begin();
    const csrf = tokens.get(browser) ?? '';
    const credential = key.get(requested);
    const copies = Array.from({ length: 20 }, () => {
      const copy = service.browser();
      for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
      return copy;
    });
    await Promise.all(copies.map((copy) => copy.post(LOGIN, new URLSearchParams({ csrf, credential }))));
    expect(copies.filter(({ page: shown }) => shown.status === 303)).toHaveLength(1);
    expect(await sessions()).toHaveLength(1);
  });

  test('must be used by the same browser within five minutes', async () => {
    const { asked: requested } = await begin();
    const other = await begin();
    await responseFor(other.browser, key.get(requested));
    expect(other.browser.page.errorCodes).toEqual(['passkey_failed']);
    const late = await begin();
    service.clock.advanceSeconds(300);
    await responseFor(late.browser, key.get(late.asked));
    expect(late.browser.page.errorCodes).toEqual(['passkey_failed']);
    expect(await sessions()).toEqual([]);
  });

  test('with a decreased counter is rejected, with a warning', async () => {
    const counting = await givePasskey(service.core, user, 'P-256', 7);
    expect((await signIn({}, counting)).page.status).toBe(303);
    for (const signCount of [8, 7, 0]) {
      expect((await signIn({ signCount }, counting)).page.errorCodes).toEqual(['passkey_failed']);
      expect(refusal()).toMatch(/ WARN passkey\.counter .*passkey=/);
    }
    expect((await signIn({ signCount: 9 }, counting)).page.status).toBe(303);
  });

  test('of two responses with one counter only the first counts', async () => {
    const counting = await givePasskey(service.core, user, 'P-256', 7);
    const both = [await begin(), await begin()];
    await Promise.all(
      both.map(({ browser, asked: requested }) => responseFor(browser, counting.get(requested, { signCount: 8 }))),
    );
    expect(both.map(({ browser }) => browser.page.status).toSorted()).toEqual([200, 303]);
  });

  test('that was removed is unknown', async () => {
    await sql(testDatabase.database, 'delete from user_passkeys where user_id = $1::uuid', [toUuid(user)]);
    expect((await signIn()).page.errorCodes).toEqual(['passkey_failed']);
    expect(refusal()).toContain('code=unknown_credential');
  });

  test.each([
    ['locked', 'locked_at'],
    ['deactivated', 'deactivated_at'],
  ])('of a %s account shows a notice', async (state, column) => {
    await sql(testDatabase.database, `update users set ${column} = now() where id = $1::uuid`, [toUuid(user)]);
    const browser = await signIn();
    expect(browser.page.status).toBe(200);
    expect(browser.page.text).toContain(state);
    expect(service.lastRequest().requester).toBeUndefined();
    expect(await sessions()).toEqual([]);
    await sql(testDatabase.database, `update users set ${column} = null where id = $1::uuid`, [toUuid(user)]);
    expect((await signIn()).page.status).toBe(303);
  });

  test.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['null', 'null'],
    ['nested lists', '['.repeat(15_000)],
    ['32 KiB of text', JSON.stringify('x'.repeat(32_000))],
  ])('is rejected when replaced by %s', async (_, credential) => {
    const { browser } = await begin();
    await responseFor(browser, credential);
    expect(browser.page.errorCodes).toEqual(['passkey_failed']);
  });

  test('with a response above 32 KiB is rejected as malformed', async () => {
    const { browser } = await begin();
    await responseFor(browser, 'x'.repeat(32_769));
    expect(browser.page.status).toBe(400);
  });

  test('with a response without the form token is rejected', async () => {
    const { browser, asked: requested } = await begin();
    await browser.post(LOGIN, new URLSearchParams({ credential: key.get(requested) }));
    expect(browser.page.status).toBe(403);
    expect(await sessions()).toEqual([]);
  });
});

describe('a passkey after a password', () => {
  const REQUIRED = { secondFactor: { secondFactor: 'required' } } as const;

  async function afterPassword(from: PageService): Promise<Browser> {
    const browser = from.browser();
    await browser.get(`/login?${TARGET}`);
    await browser.submit({ username, password: PASSWORD });
    return browser;
  }

  test('is not requested just because the user has one', async () => {
    expect((await afterPassword(service)).page.location).toBe(`${ORIGIN}/account/password/change`);
  });

  test('is requested where a second factor is required, and completes the sign-in', async () => {
    await withService(REQUIRED, async (other) => {
      const browser = await afterPassword(other);
      expect(browser.page.location).toBe(`${ORIGIN}${LOGIN}`);
      expect(await sessions()).toEqual([]);
      await browser.get('/login/passkey?kind=manage_account');
      const requested = await options(browser);
      expect(requested.allowCredentials).toEqual([
        { type: 'public-key', id: key.credentialId.toString('base64url'), transports: ['internal'] },
      ]);
      await responseFor(browser, key.get(requested, { userHandle: null }));
      expect(browser.page.location).toBe(`${ORIGIN}/account/password/change`);
      expect(other.lastRequest().requester).toBe(`user:${user}(${username})`);
      expect(await sessions()).toEqual([
        { acr: 'phr', amr: ['pwd', 'swk', 'user', 'mfa'], kinds: ['password', 'passkey'] },
      ]);
    });
  });

  test('must belong to the user whose password was entered (S-90)', async () => {
    const owner = await insertTestAccount(testDatabase.database, { username: `other-${users}` });
    const foreign = await givePasskey(service.core, owner);
    await withService(REQUIRED, async (other) => {
      const browser = await afterPassword(other);
      await browser.follow();
      const requested = await options(browser);
      await responseFor(browser, foreign.get(requested));
      expect(browser.page.errorCodes).toEqual(['passkey_failed']);
      expect(browser.page.body).toContain('purpose=second_factor');
      expect(
        await sql(testDatabase.database, 'select from user_sessions where user_id = $1::uuid', [toUuid(owner)]),
      ).toEqual([]);
    });
  });

  test('can be used in place of a code', async () => {
    await giveAuthenticatorApp(service.core, user);
    const browser = await afterPassword(service);
    await browser.follow();
    expect(browser.page.body).toContain(`href="${LOGIN}"`);
    await browser.get(LOGIN);
    expect(browser.page.body).toContain(`href="/login/totp?${TARGET}"`);
    await responseFor(browser, key.get(await options(browser)));
    expect(browser.page.status).toBe(303);
    expect(await sessions()).toMatchObject([{ kinds: ['password', 'passkey'] }]);
  });

  test('without a pending sign-in starts over', async () => {
    const browser = service.browser();
    await browser.get(LOGIN);
    expect(browser.page.location).toMatch(new RegExp(`^${ORIGIN}/login\\?${TARGET}&notice=`));
  });
});

describe('reauthentication with a passkey', () => {
  test('renews the session, also of a user without a password', async () => {
    await sql(testDatabase.database, 'delete from user_passwords where user_id = $1::uuid', [toUuid(user)]);
    const browser = await signIn();
    const before = browser.cookies.get('__Host-latchkey_session');
    service.clock.advanceSeconds(3600);
    await browser.get(`/reauth?${TARGET}&max_age=60`);
    expect(browser.page.status).toBe(200);
    const requested = await options(browser);
    expect(service.lastRequest().requester).toBeUndefined();
    expect(requested.allowCredentials).toHaveLength(1);
    await responseFor(browser, key.get(requested), `/reauth?${TARGET}`, { method: 'passkey' });
    expect(browser.page.location).toBe(`${ORIGIN}/account/password/change`);
    expect(browser.cookies.get('__Host-latchkey_session')).not.toBe(before);
    expect(await sessions()).toMatchObject([{ acr: 'phr', kinds: ['passkey', 'passkey'] }]);
    await browser.get(`/reauth?${TARGET}&max_age=60`);
    expect(browser.page.status).toBe(303);
  });

  test('requires a passkey of that user, requested in that session', async () => {
    const foreign = await givePasskey(
      service.core,
      await insertTestAccount(testDatabase.database, { username: `other-${users}` }),
    );
    const browser = await signIn();
    const elsewhere = await begin();
    for (const credential of [
      async (requested: PasskeyRequest) => foreign.get(requested),
      async (requested: PasskeyRequest) => key.get(requested, { isUserVerified: false }),
      async () => key.get(elsewhere.asked),
    ]) {
      await browser.get('/reauth');
      await responseFor(browser, await credential(await options(browser)), '/reauth', { method: 'passkey' });
      expect(browser.page.status).toBe(200);
      expect(browser.page.errorCodes).toEqual(['passkey_failed']);
    }
    expect(await sessions()).toMatchObject([{ kinds: ['passkey'] }]);
  });
});
