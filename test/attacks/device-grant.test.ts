/** Security 4.13 and other parts about the device authorization grant (RFC 8628). */
import { describe, expect, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import { sha256 } from '#platform/base/secret.ts';
import { DEVICE_CODE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import type { Browser, Page } from '../support/browser.ts';
import { cleanUpAll } from '../support/clean-up.ts';
import type { TestService } from '../support/service.ts';
import { type AttackedClient, attackedService, basic, C1, C2, P1, PN } from './attacked-service.ts';
import { HeldChange } from './held-change.ts';
import { jsonOf, type RawResponse, textMember } from './raw-http.ts';

const TIMEOUT_MS = 120_000;
const FORM: [string, string] = ['Content-Type', 'application/x-www-form-urlencoded'];
const attacked = attackedService();

interface Codes {
  readonly deviceCode: string;
  readonly userCode: string;
}

async function requestCodes(
  asking: AttackedClient,
  address = attacked.newAddress(),
  userAgent?: string,
): Promise<RawResponse> {
  const headers: [string, string][] = [FORM, ['X-Forwarded-For', address]];
  if (userAgent !== undefined) headers.push(['User-Agent', userAgent]);
  const authorization = basic(asking);
  if (authorization !== undefined) headers.push(['Authorization', authorization]);
  const fields = { scope: 'openid', ...(asking.secret === undefined && { client_id: asking.id }) };
  const body = new URLSearchParams(fields).toString();
  return await attacked.ask({ method: 'POST', target: '/oauth2/device', headers, body });
}

async function codes(userAgent?: string): Promise<Codes> {
  const response = await requestCodes(C1, attacked.newAddress(), userAgent);
  const deviceCode = textMember(response, 'device_code');
  attacked.secrets.add(deviceCode);
  return { deviceCode, userCode: textMember(response, 'user_code') };
}

async function poll(asking: AttackedClient, deviceCode: string, at?: TestService): Promise<RawResponse> {
  const own = asking.secret === undefined ? { client_id: asking.id } : {};
  const form = { grant_type: DEVICE_CODE_GRANT_TYPE, device_code: deviceCode, ...own };
  return await attacked.post('/oauth2/token', form, basic(asking), at);
}

async function enter(browser: Browser, userCode: string): Promise<Page> {
  await browser.get('/link');
  await browser.submit({ code: userCode });
  return browser.page;
}

/** Opens the confirmation page. @returns its path and CSRF token */
async function openDevice(browser: Browser, userCode: string): Promise<{ path: string; csrf: string }> {
  await enter(browser, userCode);
  await browser.follow();
  expect(browser.page.status).toBe(200);
  const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? expect.fail('no form');
  return { path: new URL(browser.page.url).pathname, csrf };
}

async function confirm(browser: Browser, userCode: string): Promise<void> {
  const { path } = await openDevice(browser, userCode);
  await browser.submit({ action: 'consent', confirm_device: 'on' }, { action: path });
  expect(browser.page.status).toBe(303);
}

async function refuse(browser: Browser, userCode: string): Promise<void> {
  const { path } = await openDevice(browser, userCode);
  await browser.submit({ action: 'reject' }, { action: path });
  expect(browser.page.status).toBe(303);
}

function errorsOf(responses: readonly RawResponse[]): unknown[] {
  return responses.map((response) => jsonOf(response)['error'] ?? response.status);
}

describe('user codes (S-114)', () => {
  test('guessed from one address: after ten attempts the right code is refused too, with a WARN line (S-114)', async () => {
    const { userCode } = await codes();
    const attacker = attacked.browser();
    await attacker.get('/link');
    for (let count = 0; count < 10; count += 1) {
      await attacker.submit({ code: 'BBBB-BBBB' });
      expect(attacker.page.errorCodes).toEqual(['invalid_code']);
    }
    await attacker.submit({ code: userCode });
    expect([attacker.page.status, attacker.page.errorCodes]).toEqual([200, ['rate_limit_exceeded']]);
    expect(attacked.service.logLines().some((line) => / WARN +device\.user_code /.test(line))).toBe(true);
    expect((await enter(attacked.browser(), userCode)).status, 'another address').toBe(303);
    attacked.clock.advanceSeconds(6);
    expect((await enter(attacker, userCode)).status, 'after a while').toBe(303);
  });

  test('guessed by a signed-in user, in a new browser each time: the address counts (S-114)', async () => {
    const { userCode } = await codes();
    const address = attacked.newAddress();
    const guessers: Browser[] = [];
    for (let count = 0; count < 11; count += 1) {
      guessers.push(await attacked.signedIn('bruno', attacked.browser({ address })));
    }
    for (const attacker of guessers.slice(1)) {
      expect((await enter(attacker, 'DDDD-DDDD')).errorCodes).toEqual(['invalid_code']);
    }
    expect((await enter(guessers[0] ?? expect.fail(), userCode)).errorCodes).toEqual(['rate_limit_exceeded']);
    expect((await enter(await attacked.signedIn('bruno'), userCode)).status, 'another address').toBe(303);
  });

  test('guessed in one burst over two instances: no more attempts than in sequence (S-89, S-114)', async () => {
    const browser = attacked.browser();
    await browser.get('/link');
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? expect.fail('no form');
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers: [string, string][] = [FORM, ['Cookie', cookie], ['X-Forwarded-For', '203.0.113.99']];
    await attacked.withSecondInstance(async (second) => {
      const responses = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const body = new URLSearchParams({ csrf, code: 'CCCC-CCCC' }).toString();
          const at = index % 2 === 0 ? attacked.service : second;
          return await attacked.ask({ method: 'POST', target: '/link', headers, body }, at);
        }),
      );
      const tried = responses.filter((response) => response.body.toString().includes('data-error-code="invalid_code"'));
      expect(tried).toHaveLength(10);
    });
  });

  test('that are unknown, expired or used get the same answer (S-114)', async () => {
    const [expired, used] = [await codes(), await codes()];
    await confirm(await attacked.signedIn('amira'), used.userCode);
    attacked.clock.advanceSeconds(1201);
    const texts = new Set<string>();
    for (const code of ['BBBB-BBBB', expired.userCode, used.userCode]) {
      const page = await enter(attacked.browser(), code);
      expect([page.status, page.errorCodes]).toEqual([200, ['invalid_code']]);
      texts.add(page.text);
    }
    expect(texts.size).toBe(1);
  });
});

describe('polls (S-115)', () => {
  test('count toward the interval while another instance is recording them (S-115)', async () => {
    const { deviceCode } = await codes();
    const recorded = await HeldChange.make(
      attacked.service.connectionString,
      'update oauth2_device_code_grants set polled_at = $1 where device_code_hash = $2',
      [new Date(attacked.clock.now()), sha256(deviceCode)],
    );
    expect(errorsOf([await recorded.commitDuring(poll(C1, deviceCode))])).toEqual(['slow_down']);
  });

  test('fifty at once after the consent, on two instances: one token response (S-115)', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { deviceCode, userCode } = await codes();
    await confirm(await attacked.signedIn('amira'), userCode);
    await attacked.withSecondInstance(async (second) => {
      const responses = await Promise.all(
        Array.from(
          { length: 50 },
          async (_, index) => await poll(C1, deviceCode, index % 2 === 0 ? undefined : second),
        ),
      );
      for (const response of responses.filter(({ status }) => status === 200)) attacked.held('', response);
      expect(errorsOf(responses).toSorted()).toEqual([200, ...new Array(49).fill('invalid_grant')]);
    });
    expect(await attacked.count('oauth2_device_code_grants where oauth2_session_id is not null')).toBeGreaterThan(0);
  });

  test('twenty at once before a decision: one is accepted, the others get slow_down (S-115)', async () => {
    const { deviceCode } = await codes();
    const responses = await Promise.all(Array.from({ length: 20 }, async () => await poll(C1, deviceCode)));
    expect(errorsOf(responses).toSorted()).toEqual(['authorization_pending', ...new Array(19).fill('slow_down')]);
  });

  test('by another client do not affect the code (S-115)', async () => {
    const { deviceCode, userCode } = await codes();
    await confirm(await attacked.signedIn('amira'), userCode);
    expect(errorsOf([await poll(C2, deviceCode), await poll(P1, deviceCode)])).toEqual([
      'invalid_grant',
      'invalid_grant',
    ]);
    expect(attacked.held('', await poll(C1, deviceCode)).accessToken).not.toBe('');
  });

  test('without credentials, or with a wrong secret, do not affect the code (S-115)', async () => {
    const { deviceCode, userCode } = await codes();
    await confirm(await attacked.signedIn('amira'), userCode);
    const form = { grant_type: DEVICE_CODE_GRANT_TYPE, device_code: deviceCode };
    await attacked.changingNothing(async () => {
      for (const [fields, authorization] of [
        [form, undefined],
        [{ ...form, client_id: C1.id }, undefined],
        [form, basic({ ...C1, secret: C2.secret })],
      ] as const) {
        const response = await attacked.post('/oauth2/token', fields, authorization);
        expect([response.status, jsonOf(response)['error']]).toEqual([401, 'invalid_client']);
      }
    });
    expect(attacked.held('', await poll(C1, deviceCode)).accessToken).not.toBe('');
  });

  test.each([
    ['refused', 'access_denied', async (userCode: string) => await refuse(await attacked.signedIn('amira'), userCode)],
    ['expired', 'expired_token', async () => attacked.clock.advanceSeconds(1201)],
    [
      'expired after the consent',
      'expired_token',
      async (userCode: string) => {
        await confirm(await attacked.signedIn('amira'), userCode);
        attacked.clock.advanceSeconds(1201);
      },
    ],
  ])('of a code that is %s: %s each time (S-115)', async (_, error, end) => {
    const { deviceCode, userCode } = await codes();
    await end(userCode);
    for (let count = 0; count < 3; count += 1) expect(errorsOf([await poll(C1, deviceCode)])).toEqual([error]);
  });

  test('of a user locked after the consent: no tokens, also after the sign-in has ended (S-102, S-127)', async () => {
    const { deviceCode, userCode } = await codes();
    await confirm(await attacked.signedIn('bruno'), userCode);
    await attacked.change("update users set locked_at = created_at where username = 'bruno'");
    expect(errorsOf([await poll(C1, deviceCode)])).toEqual(['access_denied']);
    await attacked.change("update users set locked_at = null where username = 'bruno'");
  });
});

test.each([
  ['is locked', "update users set locked_at = created_at where username = 'bruno'"],
  [
    'signs out',
    `update user_sessions set finished_at = created_at, finish_reason = 'logged_out'
      where id = (select id from user_sessions order by created_at desc, id desc limit 1)`,
  ],
])('a user who %s during the redemption: no tokens, and the device gets access_denied (S-102)', async (_, change) => {
  const { deviceCode, userCode } = await codes();
  await confirm(await attacked.signedIn('bruno'), userCode);
  const held = await HeldChange.make(attacked.service.connectionString, change, []);
  expect(errorsOf([await held.commitDuring(poll(C1, deviceCode))])).toEqual(['access_denied']);
  await attacked.change("update users set locked_at = null where username = 'bruno'");
});

describe('decisions (S-100, S-116, S-117)', () => {
  test('consent and denial fifty times at once on two instances: the first one counts (S-100)', async () => {
    const { deviceCode, userCode } = await codes();
    const browser = await attacked.signedIn('amira');
    const { path, csrf } = await openDevice(browser, userCode);
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    await attacked.withSecondInstance(async (second) => {
      await Promise.all(
        Array.from({ length: 50 }, async (_, index) => {
          const action = index % 2 === 0 ? 'consent' : 'reject';
          const body = new URLSearchParams({ csrf, action, confirm_device: 'on' }).toString();
          const headers: [string, string][] = [FORM, ['Cookie', cookie]];
          const at = index % 4 < 2 ? attacked.service : second;
          expect((await attacked.ask({ method: 'POST', target: path, headers, body }, at)).status).toBe(303);
        }),
      );
    });
    const responded = 'oauth2_device_code_grants where (fulfilled_at is null) <> (rejected_at is null)';
    expect(
      await attacked.count(`${responded} and expires_at > '${new Date(attacked.clock.now()).toISOString()}'`),
    ).toBeGreaterThan(0);
    expect(
      await attacked.count('oauth2_device_code_grants where fulfilled_at is not null and rejected_at is not null'),
    ).toBe(0);
    const [outcome] = errorsOf([await poll(C1, deviceCode)]);
    expect([200, 'access_denied']).toContain(outcome);
  });

  test('a client with an earlier consent asks again, and opening links decides nothing (S-116)', async () => {
    const browser = await attacked.signedIn('amira');
    await attacked.code(browser, C1);
    const { deviceCode, userCode } = await codes();
    await attacked.changingNothing(async () => {
      await browser.get(`/link?code=${userCode}`);
    });
    const { path } = await openDevice(browser, userCode);
    const warning = 'Continue only if you have it in your hands';
    for (const shown of [userCode, 'Client C1', 'Website app.example', 'just now', '198.18.', warning]) {
      expect(browser.page.text).toContain(shown);
    }
    await attacked.changingNothing(async () => {
      await browser.get(`${path}?action=consent&confirm_device=on`);
    });
    expect(errorsOf([await poll(C1, deviceCode)])).toEqual(['authorization_pending']);
  });

  test('without a home page a client is shown with its redirect host, or as unknown (S-116)', async () => {
    for (const [asking, shown] of [
      [P1, 'Website spa.example'],
      [PN, 'Website Not provided'],
    ] as const) {
      const browser = await attacked.signedIn('amira');
      await openDevice(browser, textMember(await requestCodes(asking), 'user_code'));
      expect(browser.page.text).toContain(shown);
    }
  });

  test('the page shows device and time, and only the form of a signed-in user can approve (S-116)', async () => {
    const { deviceCode, userCode } = await codes(
      'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    );
    const victim = await attacked.signedIn('amira');
    attacked.clock.advanceSeconds(180);
    const { path, csrf } = await openDevice(victim, userCode);
    for (const shown of ['Firefox', 'Linux', '3 minutes ago']) expect(victim.page.text).toContain(shown);
    const response = { action: 'consent', confirm_device: 'on' };
    const stranger = attacked.browser();
    await enter(stranger, userCode);
    await attacked.changingNothing(async () => {
      for (const wrong of ['', 'x', csrf.slice(1)]) {
        await victim.post(path, new URLSearchParams({ ...response, csrf: wrong }));
        expect(victim.page).toMatchObject({ status: 403, location: undefined });
      }
      // The code was entered in this browser too, but it has no session.
      await stranger.get(path);
      expect(new URL(stranger.page.location ?? '').pathname).toBe('/login');
      await stranger.post(path, new URLSearchParams({ ...response, csrf }));
      expect(stranger.page.status === 403 || stranger.page.location?.includes('/login')).toBe(true);
    });
    expect(errorsOf([await poll(C1, deviceCode)])).toEqual(['authorization_pending']);
  });

  test('another browser has nothing to decide, whoever is signed in there (S-117)', async () => {
    const { deviceCode, userCode } = await codes();
    const { path } = await openDevice(await attacked.signedIn('amira'), userCode);
    for (const username of ['amira', 'bruno']) {
      const other = await attacked.signedIn(username);
      await other.get('/link');
      const csrf = other.page.forms[0]?.inputs.get('csrf') ?? expect.fail('no form');
      for (const action of ['consent', 'reject']) {
        await attacked.changingNothing(async () => {
          await other.post(path, new URLSearchParams({ csrf, action, confirm_device: 'on' }));
        });
        expect(other.page.status).toBe(404);
      }
    }
    expect(errorsOf([await poll(C1, deviceCode)])).toEqual(['authorization_pending']);
  });
});

describe('thousands of device requests (S-95, S-179)', () => {
  test('twenty per client from one address, a hundred in total; more get 429', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const address = '203.0.113.66';
    const before = await attacked.count('oauth2_device_code_grants');
    const statuses: number[] = [];
    for (let count = 0; count < 300; count += 1) {
      statuses.push((await requestCodes([P1, PN][count % 2] ?? P1, address)).status);
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(40);
    expect(statuses.filter((status) => status === 429)).toHaveLength(260);
    for (let minute = 0; minute < 4; minute += 1) {
      attacked.clock.advanceSeconds(60);
      for (let count = 0; count < 40; count += 1) await requestCodes([P1, PN][count % 2] ?? P1, address);
    }
    expect(await attacked.count('oauth2_device_code_grants')).toBe(before + 100);
    const refused = await requestCodes(P1, address);
    // The first forty codes expire after twenty minutes. Four minutes have passed.
    expect([refused.status, refused.headers.get('retry-after')?.[0]]).toEqual([429, '960']);
    expect((await requestCodes(P1)).status, 'others are served').toBe(200);
  });

  test('finished requests are deleted after a week (oauth 19)', async () => {
    const { retention } = loadConfig({ files: [], environment: {}, flags: {}, workingDirectory: '/nowhere' }).config;
    attacked.clock.advanceSeconds(retention.pendingFlowsSeconds + 1);
    await cleanUpAll({ database: attacked.service.database, clock: attacked.clock });
    expect(await attacked.count('oauth2_device_code_grants')).toBe(0);
  });
});
