import { beforeAll, describe, expect, test } from 'vitest';

import { issueRegistrationToken } from '#domain/accounts/registrations/issue-registration-token.ts';
import { registrationTokenHmac } from '#domain/accounts/registrations/registration-token.ts';
import { openSecretKeys, type SecretKeys } from '#domain/keys/secret-keys.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import type { Browser } from '#test/support/browser.ts';
import { expectCleanPage } from '#test/support/clean-page.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { type PageService, type PageServiceOptions, startPages, withPages } from '#test/support/page-service.ts';
import { beginRegistration, openEstimator } from '#test/support/registering.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';

const ORIGIN = 'https://auth.example.org';
const DAY = 86_400;
let secretKeys: SecretKeys;
let issued = 0;

const testDatabase = await sharedByTests(createTestDatabase());
const estimator = await sharedByTests(openEstimator());
const service = await sharedByTests(
  startPages(testDatabase.database, { registration: { estimator, isTokenRequired: true } }),
);

beforeAll(async () => {
  secretKeys = await openSecretKeys({ ...service, database: testDatabase.database });
});

/** Another instance, with its own connections to the same database. */
async function withService(
  registration: Partial<NonNullable<PageServiceOptions['registration']>>,
  work: (other: PageService) => Promise<void>,
): Promise<void> {
  const { clock } = service;
  const connection = parseConnectionUri(testDatabase.connectionString);
  const database = await openDatabase({ connection, log: silentLog, clock });
  try {
    await withPages(
      database,
      {
        clock,
        registration: { estimator, isTokenRequired: true, ...registration },
      },
      work,
    );
  } finally {
    await database.close();
  }
}

interface Wanted {
  readonly token?: string;
  readonly usageLimit?: number | undefined;
  readonly expiresInSeconds?: number;
}

async function issue({ token, expiresInSeconds, ...rest }: Wanted = {}): Promise<string> {
  const { clock, keyRing } = service;
  const { database } = testDatabase;
  const usageLimit = 'usageLimit' in rest ? rest.usageLimit : 1;
  const expiresAt = expiresInSeconds === undefined ? undefined : new Date(clock.now() + expiresInSeconds * 1000);
  issued += 1;
  const made = await issueRegistrationToken(
    { database, clock, keyRing, secretKeys },
    { token: token ?? `Token-${issued}`, usageLimit, expiresAt },
  );
  return made?.token ?? expect.fail('there is such a token');
}

async function rows(text: string, ...params: unknown[]): Promise<object[]> {
  return await sql<object>(testDatabase.database, text, params);
}

async function accounts(username: string): Promise<number> {
  return (await rows('select from users where username = $1::text', username)).length;
}

/** How often all tokens together were used. */
async function uses(): Promise<number> {
  const [row] = await sql<{ uses: number }>(
    testDatabase.database,
    'select coalesce(sum(times_used), 0)::integer as uses from user_registration_tokens',
  );
  return row?.uses ?? -1;
}

/** A browser on the token page of its registration. */
async function atToken(username: string, from = service, address?: string): Promise<Browser> {
  const browser = from.browser(address === undefined ? {} : { address });
  await beginRegistration(browser, { username });
  await browser.follow();
  return browser;
}

/** Returns the URL of `finish`, with a valid token and a display name. */
async function upToFinish(
  username: string,
  token: string,
  from = service,
): Promise<{ browser: Browser; finish: string }> {
  const browser = await atToken(username, from);
  await browser.submit({ token });
  await browser.follow();
  const { location } = await browser.submit({ action: 'skip' });
  return { browser, finish: location ?? expect.fail('no way to finish') };
}

describe('the registration token', () => {
  test('is asked for first, and consumed when the account is created (browser-flows 5.9)', async () => {
    const token = await issue();
    const browser = await atToken('invited');
    expect(browser.page.url).toMatch(/\/register\/steps\/\w{26}\/token$/);
    expectCleanPage(browser.page.body);
    const before = await uses();
    const accepted = await browser.submit({ token: ` ${token} ` });
    expect(accepted.status).toBe(303);
    expect(accepted.location).toMatch(/\/register\/steps\/\w{26}\/finish$/);
    await browser.follow();
    expect(browser.page.url).toMatch(/\/display-name$/);
    expect(await uses()).toBe(before);
    await browser.submit({ action: 'skip' });
    service.clock.advanceSeconds(5);
    expect(await browser.get(browser.page.location ?? '')).toMatchObject({ status: 303, location: `${ORIGIN}/` });
    expect(await accounts('invited')).toBe(1);
    expect(
      await rows(
        `select t.usage_limit, t.times_used, extract(epoch from $1::timestamptz - t.last_used_at)::integer as ago
           from user_registration_tokens t join user_registrations r on r.registration_token_id = t.id
          where r.username = 'invited'`,
        new Date(service.clock.now()),
      ),
    ).toEqual([{ usage_limit: 1, times_used: 1, ago: 0 }]);
    expect(service.lines.join('\n')).not.toContain(token);
  });

  test('is not asked for again while it is valid', async () => {
    const browser = await atToken('steady');
    const { url } = browser.page;
    await browser.submit({ token: await issue() });
    expect(await browser.get(url)).toMatchObject({ status: 303, location: url.replace('/token', '/finish') });
  });

  test('is not asked for where none is required', async () => {
    await withService({ isTokenRequired: false }, async (open) => {
      const browser = open.browser();
      await beginRegistration(browser, { username: 'free-for-all' }, '?token=some');
      await browser.follow();
      expect(browser.page.url).toMatch(/\/display-name$/);
      const step = browser.page.url.replace('display-name', 'token');
      expect((await browser.get(step)).location).toBe(step.replace('/token', '/finish'));
    });
  });

  test('may be omitted only in the form that asks for it', async () => {
    const browser = await atToken('empty-handed');
    expect(await browser.submit({ token: '  ' })).toMatchObject({ status: 200, errorCodes: ['required'] });
    const finish = browser.page.url.replace('/token', '/finish');
    expect((await browser.get(finish)).location).toBe(browser.page.url.replace('/finish', '/token'));
    expect(await accounts('empty-handed')).toBe(0);
  });

  test('is kept from the URL of the first form, through the entry page and the form (browser-flows 5.9)', async () => {
    const token = await issue();
    const browser = service.browser();
    await browser.open(`/register?kind=change_password&token=${token}`);
    expect(browser.page.url).toBe(`${ORIGIN}/register/password?kind=change_password&token=${token}`);
    expect(browser.page.body).toContain(
      `href="/register/password?kind=change_password&amp;token=${token}&amp;ui_locales=de"`,
    );
    await browser.submit({ username: 'by-link', password: 'x' });
    const password = 'seven purple lanterns swim';
    await browser.submit({ username: 'by-link', password });
    await browser.follow();
    expect(browser.page.url).toMatch(/\/display-name$/);
  });

  test.each(['wrong', 'x'.repeat(65), '<svg>'])(
    'that is %s in the URL is asked for without an error',
    async (token) => {
      const browser = service.browser();
      const username = `link-${issued}`;
      issued += 1;
      await beginRegistration(browser, { username }, `?token=${encodeURIComponent(token)}`);
      await browser.follow();
      expect(browser.page.url).toMatch(/\/token$/);
      expect(browser.page.errorCodes).toEqual([]);
    },
  );
});

describe('a rejected registration token (S-92)', () => {
  test('gets one error for unknown, misspelled, expired, revoked and used-up ones, and is not attached', async () => {
    const used = await issue();
    const { browser: first, finish } = await upToFinish('uses-it-up', used);
    await first.get(finish);
    const [expired, revoked, right] = [await issue({ expiresInSeconds: DAY }), await issue(), await issue()];
    service.clock.advanceSeconds(DAY);
    await rows(
      'update user_registration_tokens set revoked_at = $1::timestamptz where token_hmac = $2::bytea',
      new Date(service.clock.now()),
      registrationTokenHmac(secretKeys, revoked),
    );
    const browser = await atToken('tries');
    const bodies = new Set<string>();
    const misspelt = [right.toLowerCase(), right.replace('T', 'Т'), `${right}\u200d`, `${right} x`, `${right}'--`];
    for (const token of [used, expired, revoked, 'unknown', 'x'.repeat(300), ...misspelt]) {
      const response = await browser.submit({ token });
      expect(response, token).toMatchObject({ status: 200, errorCodes: ['invalid'] });
      expectCleanPage(response.body);
      bodies.add(response.body.replace(/name="csrf" value="[^"]+"/, '').replace(/(?:GET|POST)-\d+/g, 'N'));
    }
    expect(bodies.size).toBe(1);
    expect((await browser.submit({ token: right })).status).toBe(303);
  });

  test('is rate limited by address, however it is sent; valid ones cost nothing', async () => {
    const limits = { registrationToken: { burst: 4, perSecond: 4 / 3600 } };
    const token = await issue({ usageLimit: undefined });
    await withService({ limits }, async (limited) => {
      const address = '198.51.100.9';
      for (const name of ['cheap-1', 'cheap-2', 'cheap-3', 'cheap-4']) {
        expect((await (await atToken(name, limited, address)).submit({ token })).status, name).toBe(303);
      }
      // The form and its submission each look it up.
      await beginRegistration(limited.browser({ address }), { username: 'guess-1' }, '?token=guess');
      const browser = await atToken('guess-2', limited, address);
      expect((await browser.submit({ token: 'guess' })).errorCodes).toEqual(['invalid']);
      expect((await browser.submit({ token: 'guess' })).errorCodes).toEqual(['invalid']);
      const refused = await browser.submit({ token });
      expect(refused).toMatchObject({ status: 200, errorCodes: ['rate_limit_exceeded'] });
      // A token in the URL is limited too. It causes no error, but is not accepted.
      const other = limited.browser({ address });
      await beginRegistration(other, { username: 'guess-3' }, `?token=${token}`);
      expect((await other.follow()).url).toMatch(/\/token$/);
      expect((await (await atToken('elsewhere', limited)).submit({ token })).status).toBe(303);
    });
  });

  test('that was revoked, expired or used up after being attached leads back to its step (S-124)', async () => {
    const token = await issue({ expiresInSeconds: 60 });
    const { browser, finish } = await upToFinish('too-slow', token);
    service.clock.advanceSeconds(60);
    await browser.open(finish);
    expect(browser.page.url).toBe(finish.replace('/finish', '/token'));
    expect(browser.page).toMatchObject({ status: 200, errorCodes: ['invalid'] });
    expect(await accounts('too-slow')).toBe(0);
    await browser.submit({ token: await issue() });
    expect((await browser.get(finish)).location).toBe(`${ORIGIN}/`);
    expect(await accounts('too-slow')).toBe(1);
  });

  test('requires the form token, and an expired form drops the input after an hour (browser-flows 2.2)', async () => {
    await withService({ ttlSeconds: DAY }, async (patient) => {
      const browser = await atToken('no-csrf', patient);
      const { url } = browser.page;
      const token = await issue();
      const forged = await browser.post(url, new URLSearchParams({ token }));
      expect(forged).toMatchObject({ status: 403, errorCodes: ['csrf_missing'] });
      await browser.get(url);
      service.clock.advanceSeconds(3601);
      const late = await browser.submit({ token });
      expect(late).toMatchObject({ status: 200, errorCodes: ['csrf_expired'] });
      expect(late.body).not.toContain(token);
      expect((await browser.submit({ token })).status).toBe(303);
    });
  });
});

describe('a failed registration does not use up its token (S-92)', () => {
  test('neither when its name was taken before, nor when it is taken concurrently', async () => {
    const token = await issue({ usageLimit: 2 });
    const before = await uses();
    const lost = await upToFinish('snapped-up', token);
    await insertTestAccount(testDatabase.database, { username: 'snapped-up' });
    expect((await lost.browser.get(lost.finish)).location).toMatch(/\/username$/);
    expect(await uses()).toBe(before);
    await withService({}, async (other) => {
      const contenders = [];
      for (let count = 0; count < 10; count += 1) {
        contenders.push(await upToFinish('same-name', token, count % 2 === 0 ? service : other));
      }
      await Promise.all(contenders.map(({ browser, finish }) => browser.get(finish)));
    });
    expect(await accounts('same-name')).toBe(1);
    expect(await uses()).toBe(before + 1);
  });
});

test('acceptance check 14: a token for one account, used by concurrent registrations on two instances (S-100)', async () => {
  const token = await issue();
  const before = await uses();
  await withService({}, async (other) => {
    const contenders = [];
    for (let count = 0; count < 10; count += 1) {
      contenders.push(await upToFinish(`rival-${count}`, token, count % 2 === 0 ? service : other));
    }
    const responses = await Promise.all(contenders.map(({ browser, finish }) => browser.get(finish)));
    expect(responses.filter(({ location }) => location === `${ORIGIN}/`)).toHaveLength(1);
    expect(responses.filter(({ location }) => location?.endsWith('/token') === true)).toHaveLength(9);
  });
  expect(await rows(`select from users where username like 'rival-%'`)).toHaveLength(1);
  expect(await uses()).toBe(before + 1);
});
