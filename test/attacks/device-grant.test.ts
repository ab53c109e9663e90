/** Security 4.13, and what the other parts say about the device authorization grant (RFC 8628). */
import { describe, expect, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import { sha256 } from '#platform/base/secret.ts';
import { DEVICE_CODE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import type { Browser, Shown } from '../support/browser.ts';
import { cleanUpAll } from '../support/clean-up.ts';
import type { TestService } from '../support/service.ts';
import { type AttackedClient, attackedService, basic, C1, C2, P1, PN } from './attacked-service.ts';
import { HeldChange } from './held-change.ts';
import { jsonOf, type RawAnswer, textMember } from './raw-http.ts';

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
  scope = 'openid',
): Promise<RawAnswer> {
  const headers: [string, string][] = [FORM, ['X-Forwarded-For', address]];
  const authorization = basic(asking);
  if (authorization !== undefined) headers.push(['Authorization', authorization]);
  const fields = { scope, ...(asking.secret === undefined && { client_id: asking.id }) };
  const body = new URLSearchParams(fields).toString();
  return await attacked.ask({ method: 'POST', target: '/oauth2/device', headers, body });
}

async function codes(asking: AttackedClient = C1): Promise<Codes> {
  const answer = await requestCodes(asking);
  const deviceCode = textMember(answer, 'device_code');
  attacked.secrets.add(deviceCode);
  return { deviceCode, userCode: textMember(answer, 'user_code') };
}

async function poll(asking: AttackedClient, deviceCode: string, at?: TestService): Promise<RawAnswer> {
  const own = asking.secret === undefined ? { client_id: asking.id } : {};
  const form = { grant_type: DEVICE_CODE_GRANT_TYPE, device_code: deviceCode, ...own };
  return await attacked.post('/oauth2/token', form, basic(asking), at);
}

async function enter(browser: Browser, userCode: string): Promise<Shown> {
  await browser.get('/link');
  await browser.submit({ code: userCode });
  return browser.shown;
}

/** As far as the page that asks. @returns its path and form token */
async function openDevice(browser: Browser, userCode: string): Promise<{ path: string; csrf: string }> {
  await enter(browser, userCode);
  await browser.follow();
  expect(browser.shown.status).toBe(200);
  const csrf = browser.shown.forms[0]?.inputs.get('csrf') ?? expect.fail('no form');
  return { path: new URL(browser.shown.url).pathname, csrf };
}

async function confirm(browser: Browser, userCode: string): Promise<void> {
  const { path } = await openDevice(browser, userCode);
  await browser.submit({ action: 'consent', confirm_device: 'on' }, { action: path });
  expect(browser.shown.status).toBe(303);
}

function errorsOf(answers: readonly RawAnswer[]): unknown[] {
  return answers.map((answer) => jsonOf(answer)['error'] ?? answer.status);
}

describe('user codes (S-114)', () => {
  test('guessed from one address: ten tries, then the right code is refused as well, and a line at WARN (S-114)', async () => {
    const { userCode } = await codes();
    const guesser = attacked.browser();
    await guesser.get('/link');
    for (let count = 0; count < 10; count += 1) {
      await guesser.submit({ code: 'BBBB-BBBB' });
      expect(guesser.shown.errorCodes).toEqual(['invalid_code']);
    }
    await guesser.submit({ code: userCode });
    expect([guesser.shown.status, guesser.shown.errorCodes]).toEqual([200, ['rate_limit_exceeded']]);
    expect(attacked.service.logLines().some((line) => / WARN +device\.user_code /.test(line))).toBe(true);
    expect((await enter(attacked.browser(), userCode)).status, 'another address').toBe(303);
    attacked.clock.advanceSeconds(6);
    expect((await enter(guesser, userCode)).status, 'after a while').toBe(303);
  });

  test('guessed in one burst over two instances: no more tries than one by one (S-89, S-114)', async () => {
    const browser = attacked.browser();
    await browser.get('/link');
    const csrf = browser.shown.forms[0]?.inputs.get('csrf') ?? expect.fail('no form');
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers: [string, string][] = [FORM, ['Cookie', cookie], ['X-Forwarded-For', '203.0.113.99']];
    await attacked.withSecondInstance(async (second) => {
      const answers = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const body = new URLSearchParams({ csrf, code: 'CCCC-CCCC' }).toString();
          const at = index % 2 === 0 ? attacked.service : second;
          return await attacked.ask({ method: 'POST', target: '/link', headers, body }, at);
        }),
      );
      const tried = answers.filter((answer) => answer.body.toString().includes('data-error-code="invalid_code"'));
      expect(tried).toHaveLength(10);
    });
  });

  test('that are unknown, expired or used read the same (S-114)', async () => {
    const [expired, used] = [await codes(), await codes()];
    await confirm(await attacked.signedIn('amira'), used.userCode);
    attacked.clock.advanceSeconds(1201);
    const texts = new Set<string>();
    for (const code of ['BBBB-BBBB', expired.userCode, used.userCode]) {
      const shown = await enter(attacked.browser(), code);
      expect([shown.status, shown.errorCodes]).toEqual([200, ['invalid_code']]);
      texts.add(shown.text);
    }
    expect(texts.size).toBe(1);
  });
});

describe('polls (S-115)', () => {
  test('one that another instance is just recording counts for the interval (S-115)', async () => {
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
      const answers = await Promise.all(
        Array.from(
          { length: 50 },
          async (_, index) => await poll(C1, deviceCode, index % 2 === 0 ? undefined : second),
        ),
      );
      for (const answer of answers.filter(({ status }) => status === 200)) attacked.held('', answer);
      expect(errorsOf(answers).toSorted()).toEqual([200, ...new Array(49).fill('invalid_grant')]);
    });
    expect(await attacked.count('oauth2_device_code_grants where oauth2_session_id is not null')).toBeGreaterThan(0);
  });

  test('twenty at once while nobody has decided: one is in time, the others shall slow down (S-115)', async () => {
    const { deviceCode } = await codes();
    const answers = await Promise.all(Array.from({ length: 20 }, async () => await poll(C1, deviceCode)));
    expect(errorsOf(answers).toSorted()).toEqual(['authorization_pending', ...new Array(19).fill('slow_down')]);
  });

  test('by another client leave the code to its own (S-115)', async () => {
    const { deviceCode, userCode } = await codes();
    await confirm(await attacked.signedIn('amira'), userCode);
    expect(errorsOf([await poll(C2, deviceCode), await poll(P1, deviceCode)])).toEqual([
      'invalid_grant',
      'invalid_grant',
    ]);
    expect(attacked.held('', await poll(C1, deviceCode)).accessToken).not.toBe('');
  });

  test('of a person who was locked after the consent: no tokens, and none after an end of the sign-in (S-102, S-127)', async () => {
    const { deviceCode, userCode } = await codes();
    await confirm(await attacked.signedIn('bruno'), userCode);
    await attacked.change("update users set locked_at = created_at where username = 'bruno'");
    expect(errorsOf([await poll(C1, deviceCode)])).toEqual(['access_denied']);
    await attacked.change("update users set locked_at = null where username = 'bruno'");
  });
});

describe('decisions (S-100, S-116, S-117)', () => {
  test('consent and refusal fifty times at once on two instances: the first one counts (S-100)', async () => {
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
    const answered = 'oauth2_device_code_grants where (fulfilled_at is null) <> (rejected_at is null)';
    expect(
      await attacked.count(`${answered} and expires_at > '${new Date(attacked.clock.now()).toISOString()}'`),
    ).toBeGreaterThan(0);
    expect(
      await attacked.count('oauth2_device_code_grants where fulfilled_at is not null and rejected_at is not null'),
    ).toBe(0);
    const [outcome] = errorsOf([await poll(C1, deviceCode)]);
    expect([200, 'access_denied']).toContain(outcome);
  });

  test('a client that was consented to before is asked about again, and nothing happens by opening links (S-116)', async () => {
    const browser = await attacked.signedIn('amira');
    await attacked.code(browser, C1);
    const { deviceCode, userCode } = await codes();
    await attacked.changingNothing(async () => {
      await browser.get(`/link?code=${userCode}`);
    });
    const { path } = await openDevice(browser, userCode);
    for (const shown of [userCode, 'Client C1', 'just now', '198.18.', 'Go on only if it is in your own hands']) {
      expect(browser.shown.text).toContain(shown);
    }
    await attacked.changingNothing(async () => {
      await browser.get(`${path}?action=consent&confirm_device=on`);
    });
    expect(errorsOf([await poll(C1, deviceCode)])).toEqual(['authorization_pending']);
  });

  test('in another browser there is nothing to decide, whoever is signed in there (S-117)', async () => {
    const { deviceCode, userCode } = await codes();
    const { path } = await openDevice(await attacked.signedIn('amira'), userCode);
    for (const username of ['amira', 'bruno']) {
      const other = await attacked.signedIn(username);
      await other.get('/link');
      const csrf = other.shown.forms[0]?.inputs.get('csrf') ?? expect.fail('no form');
      for (const action of ['consent', 'reject']) {
        await attacked.changingNothing(async () => {
          await other.post(path, new URLSearchParams({ csrf, action, confirm_device: 'on' }));
        });
        expect(other.shown.status).toBe(404);
      }
    }
    expect(errorsOf([await poll(C1, deviceCode)])).toEqual(['authorization_pending']);
  });
});

describe('devices by the thousand (S-95, S-179)', () => {
  test('twenty of each client from one address, a hundred in all; the others hear 429', {
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
    expect([refused.status, refused.headers.get('retry-after')?.[0]]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect((await requestCodes(P1)).status, 'others are served').toBe(200);
  });

  test('what is over is deleted after a week (oauth 19)', async () => {
    const { retention } = loadConfig({ files: [], environment: {}, flags: {}, workingDirectory: '/nowhere' }).config;
    attacked.clock.advanceSeconds(retention.pendingFlowsSeconds + 1);
    await cleanUpAll({ database: attacked.service.database, clock: attacked.clock });
    expect(await attacked.count('oauth2_device_code_grants')).toBe(0);
  });
});
