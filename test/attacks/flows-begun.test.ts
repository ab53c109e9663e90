/** Security 4.10, S-95: thousands of flows that one address starts and never finishes. */
import { describe, expect, test } from 'vitest';
import type { Page } from '../support/browser.ts';
import { cleanUpAll } from '../support/clean-up.ts';
import { NEW_PASSWORD } from '../support/registering.ts';
import { type AttackedClient, attackedService, C1, CHALLENGE, CP, P1, PN } from './attacked-service.ts';
import { headerOf, jsonOf, type RawResponse, textMember } from './raw-http.ts';

const STARTS = 1000;
const HOUR = 3600;
const TIMEOUT_MS = 120_000;

/** Uses the default limits. The limits of `attackedService` are generous. */
const attacked = attackedService({ rate_limiting: {} }, { arePasswordsChosen: true });

function counted(responses: readonly Page[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe('1,000 authorization requests from one address (S-95)', () => {
  const address = '203.0.113.9';

  test('by GET and by POST: 100 are stored, the others get 429', { timeout: TIMEOUT_MS }, async () => {
    const before = await attacked.count('oauth2_authorization_grants');
    const responses = [];
    for (let count = 0; count < STARTS; count += 1) {
      const url = attacked.authorizeUrl(C1, { state: `start-${count}` });
      const browser = attacked.browser({ address });
      const form = new URLSearchParams(url.split('?')[1]);
      responses.push(count % 2 === 0 ? await browser.get(url) : await browser.post('/authorize', form));
    }
    expect(counted(responses)).toEqual({ 303: 100, 429: STARTS - 100 });
    expect(await attacked.count('oauth2_authorization_grants')).toBe(before + 100);
  });

  test('other addresses are served, and the same address after an hour', async () => {
    expect((await attacked.browser().get(attacked.authorizeUrl(C1))).status).toBe(303);
    expect((await attacked.browser({ address }).get(attacked.authorizeUrl(C1))).status).toBe(429);
    attacked.clock.advanceSeconds(HOUR + 1);
    expect((await attacked.browser({ address }).get(attacked.authorizeUrl(C1))).status).toBe(303);
  });

  test('expired requests are deleted', async () => {
    expect(await attacked.count('oauth2_authorization_grants')).toBeGreaterThan(100);
    attacked.clock.advanceSeconds(8 * 86_400);
    await cleanUpAll({ database: attacked.service.database, clock: attacked.clock });
    expect(await attacked.count('oauth2_authorization_grants')).toBe(0);
  });
});

describe('unused pushed requests from one address (S-95)', () => {
  const address = '203.0.113.11';
  const parameters = { response_type: 'code', code_challenge: CHALLENGE, code_challenge_method: 'S256' };

  async function push(asking: AttackedClient, from: string = address): Promise<RawResponse> {
    // Long enough for the rate limit of one client to refill by one.
    attacked.clock.advanceSeconds(0.1);
    const credentials = asking.secret === undefined ? {} : { client_secret: asking.secret };
    const form = { ...parameters, client_id: asking.id, redirect_uri: asking.callback, ...credentials };
    const headers: [string, string][] = [
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ['X-Forwarded-For', from],
    ];
    const body = new URLSearchParams({ ...form, scope: 'openid' }).toString();
    return await attacked.ask({ method: 'POST', target: '/oauth2/par', headers, body });
  }

  async function statuses(asking: AttackedClient, count: number): Promise<Record<number, number>> {
    const counts: Record<number, number> = {};
    for (let pushed = 0; pushed < count; pushed += 1) {
      const { status } = await push(asking);
      counts[status] = (counts[status] ?? 0) + 1;
    }
    return counts;
  }

  test('by clients without a secret: 100 are stored, the others get 429 with Retry-After', {
    timeout: TIMEOUT_MS,
  }, async () => {
    expect(await statuses(P1, 60)).toEqual({ 201: 60 });
    expect(await statuses(PN, STARTS)).toEqual({ 201: 40, 429: STARTS - 40 });
    expect(await attacked.count('oauth2_pushed_requests')).toBe(100);
    const refused = await push(P1);
    expect(jsonOf(refused)).toMatchObject({ error: 'temporarily_unavailable' });
    const seconds = Number(headerOf(refused, 'retry-after'));
    expect((await push(P1, '203.0.113.12')).status).toBe(201);
    attacked.clock.advanceSeconds(seconds);
    expect((await push(P1)).status).toBe(201);
  });

  test('a used request does not count', async () => {
    const from = '203.0.113.13';
    for (let count = 0; count < 110; count += 1) {
      const request_uri = textMember(await push(P1, from), 'request_uri');
      attacked.secrets.add(request_uri.slice(-43));
      const used = await attacked.browser().get(`/authorize?${new URLSearchParams({ client_id: P1.id, request_uri })}`);
      expect(used.status).toBe(303);
    }
  });

  test('by a dynamically registered client with a secret: 1,000 are stored', { timeout: TIMEOUT_MS }, async () => {
    const registration = await attacked.ask({
      method: 'POST',
      target: '/oauth2/registration',
      headers: [['Content-Type', 'application/json']],
      body: JSON.stringify({
        client_uri: 'https://app.example/',
        redirect_uris: [C1.callback],
        token_endpoint_auth_method: 'client_secret_post',
      }),
    });
    const [id, secret] = [textMember(registration, 'client_id'), textMember(registration, 'client_secret')];
    attacked.secrets.add(secret).add(textMember(registration, 'registration_access_token'));
    attacked.clock.advanceSeconds(2 * HOUR);
    expect(await statuses({ id, secret, callback: C1.callback }, 1010)).toEqual({ 201: 1000, 429: 10 });
  });

  test('by a configured client that authenticates: only its own limit applies', { timeout: TIMEOUT_MS }, async () => {
    expect(await statuses(CP, 1010)).toEqual({ 201: 1010 });
  });

  test('expired pushed requests are deleted', async () => {
    attacked.clock.advanceSeconds(HOUR);
    await cleanUpAll({ database: attacked.service.database, clock: attacked.clock });
    expect(await attacked.count('oauth2_pushed_requests')).toBe(0);
  });
});

describe('1,000 registrations from one address (S-95)', () => {
  const address = '203.0.113.10';

  test('three are stored, the others must wait; opening the page stores nothing', {
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
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? expect.fail('no form');
    const responses = [];
    for (let count = 0; count < STARTS; count += 1) {
      const fields = { csrf, username: `someone-${count}`, password: NEW_PASSWORD };
      responses.push(await browser.post('/register/password', new URLSearchParams(fields)));
    }
    expect(counted(responses)).toEqual({ 200: STARTS - 3, 303: 3 });
    for (const { status, errorCodes } of responses.slice(3)) {
      expect([status, errorCodes]).toEqual([200, ['rate_limit_exceeded']]);
    }
    expect(await attacked.count('user_registrations')).toBe(3);
    // At most one bucket for each rate limiter of the address.
    expect(await attacked.count("rate_limits where key like '%203.0.113.10%'")).toBeLessThanOrEqual(2);
  });

  test('other addresses may register, and incomplete registrations are deleted', async () => {
    const browser = attacked.browser();
    await browser.get('/register/password');
    const fields = { username: 'newcomer', password: NEW_PASSWORD };
    expect((await browser.submit(fields)).status).toBe(303);
    attacked.clock.advanceSeconds(25 * HOUR);
    await cleanUpAll({ database: attacked.service.database, clock: attacked.clock });
    expect(await attacked.count('user_registrations')).toBe(0);
    expect(await attacked.count('rate_limits')).toBe(0);
  });
});
