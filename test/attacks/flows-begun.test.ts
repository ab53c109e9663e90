/** Security 4.10, S-95: flows begun by the thousand, which nobody means to finish, from one address. */
import { describe, expect, test } from 'vitest';
import type { Shown } from '../support/browser.ts';
import { cleanUpAll } from '../support/clean-up.ts';
import { NEW_PASSWORD } from '../support/registering.ts';
import { attackedService, C1 } from './attacked-service.ts';

const STARTS = 1000;
const HOUR = 3600;
const TIMEOUT_MS = 120_000;

/** A service with the default limits, where `attackedService` has generous ones. */
const attacked = attackedService({ rate_limiting: {} }, { arePasswordsChosen: true });

function counted(answers: readonly Shown[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe('1,000 authorization requests from one address (S-95)', () => {
  const address = '203.0.113.9';

  test('by GET and by POST: 100 are stored, the others hear 429', { timeout: TIMEOUT_MS }, async () => {
    const before = await attacked.count('oauth2_authorization_grants');
    const answers = [];
    for (let count = 0; count < STARTS; count += 1) {
      const url = attacked.authorizeUrl(C1, { state: `start-${count}` });
      const browser = attacked.browser({ address });
      const form = new URLSearchParams(url.split('?')[1]);
      answers.push(count % 2 === 0 ? await browser.get(url) : await browser.post('/authorize', form));
    }
    expect(counted(answers)).toEqual({ 303: 100, 429: STARTS - 100 });
    expect(await attacked.count('oauth2_authorization_grants')).toBe(before + 100);
  });

  test('others are served, and the address again after an hour', async () => {
    expect((await attacked.browser().get(attacked.authorizeUrl(C1))).status).toBe(303);
    expect((await attacked.browser({ address }).get(attacked.authorizeUrl(C1))).status).toBe(429);
    attacked.clock.advanceSeconds(HOUR + 1);
    expect((await attacked.browser({ address }).get(attacked.authorizeUrl(C1))).status).toBe(303);
  });

  test('what expired is deleted', async () => {
    expect(await attacked.count('oauth2_authorization_grants')).toBeGreaterThan(100);
    attacked.clock.advanceSeconds(8 * 86_400);
    await cleanUpAll({ database: attacked.service.database, clock: attacked.clock });
    expect(await attacked.count('oauth2_authorization_grants')).toBe(0);
  });
});

describe('1,000 registrations from one address (S-95)', () => {
  const address = '203.0.113.10';

  test('begun: three are stored, the others are told to wait; opening the page stores nothing', {
    timeout: TIMEOUT_MS,
  }, async () => {
    await attacked.changingNothing(async () => {
      for (let count = 0; count < STARTS; count += 1) {
        const path = count % 2 === 0 ? '/register' : '/register/password';
        await attacked.ask({ target: path, headers: [['X-Forwarded-For', address]] });
      }
    });
    const browser = attacked.browser({ address });
    await browser.get('/register/password');
    const csrf = browser.shown.forms[0]?.inputs.get('csrf') ?? expect.fail('no form');
    const answers = [];
    for (let count = 0; count < STARTS; count += 1) {
      const fields = { csrf, username: `someone-${count}`, password: NEW_PASSWORD, password_confirm: NEW_PASSWORD };
      answers.push(await browser.post('/register/password', new URLSearchParams(fields)));
    }
    expect(counted(answers)).toEqual({ 200: STARTS - 3, 303: 3 });
    for (const { status, errorCodes } of answers.slice(3)) {
      expect([status, errorCodes]).toEqual([200, ['rate_limit_exceeded']]);
    }
    expect(await attacked.count('user_registrations')).toBe(3);
    // A bucket for each limiter of the address.
    expect(await attacked.count("rate_limits where key like '%203.0.113.10%'")).toBeLessThanOrEqual(2);
  });

  test('others may register, and those that were never completed are deleted', async () => {
    const browser = attacked.browser();
    await browser.get('/register/password');
    const fields = { username: 'newcomer', password: NEW_PASSWORD, password_confirm: NEW_PASSWORD };
    expect((await browser.submit(fields)).status).toBe(303);
    attacked.clock.advanceSeconds(25 * HOUR);
    await cleanUpAll({ database: attacked.service.database, clock: attacked.clock });
    expect(await attacked.count('user_registrations')).toBe(0);
    expect(await attacked.count('rate_limits')).toBe(0);
  });
});
