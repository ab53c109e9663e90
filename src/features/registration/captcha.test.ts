import { beforeEach, describe, expect, test } from 'vitest';
import type { CaptchaConfig } from '#config/sections/captcha.ts';

import { Secret } from '#platform/base/secret.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import type { Browser } from '#test/support/browser.ts';
import { startCaptchaPeer } from '#test/support/captcha.ts';
import { expectCleanPage } from '#test/support/clean-page.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { type PageService, startPages } from '#test/support/page-service.ts';
import { NEW_PASSWORD, openEstimator } from '#test/support/registering.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const HOST = 'auth.example.org';
const KEYS = { siteKey: 'site-key', secretKey: new Secret('secret-key') };
const TURNSTILE: CaptchaConfig = { service: 'cloudflare_turnstile', ...KEYS, forms: ['register'] };
const FIELDS = { password: NEW_PASSWORD };
const SOLVED = 'cf-turnstile-response';
let users = 0;

const testDatabase = await sharedByTests(createTestDatabase());
const estimator = await sharedByTests(openEstimator());
const peer = await sharedByTests(startCaptchaPeer());

beforeEach(() => {
  peer.asked.length = 0;
  says({ success: true, hostname: HOST });
});

function says(body: unknown, status = 200): void {
  peer.answer = (_form, response) => void response.writeHead(status).end(JSON.stringify(body));
}

async function withCaptcha(captcha: CaptchaConfig, work: (service: PageService) => Promise<void>): Promise<void> {
  const { outbound } = peer;
  const service = await startPages(testDatabase.database, {
    ...{ captcha, outbound, registration: { estimator }, recovery: {} },
  });
  try {
    await work(service);
  } finally {
    await service.stop();
  }
}

async function register(browser: Browser, fields: Readonly<Record<string, string>>) {
  users += 1;
  await browser.get('/register/password');
  return await browser.submit({ username: `person${users}`, ...FIELDS, ...fields });
}

async function registrations(): Promise<number> {
  const rows = await sql<{ count: number }>(
    testDatabase.database,
    'select count(*)::integer as count from user_registrations',
  );
  return rows[0]?.count ?? -1;
}

describe('registration with a CAPTCHA (browser-flows 5.4)', () => {
  test.each<[CaptchaConfig['service'], string, string, RegExp, string]>([
    [
      'recaptcha_v2',
      'g-recaptcha-response',
      'https://www.recaptcha.net/recaptcha/api/siteverify',
      /script-src 'self' https:\/\/www\.recaptcha\.net https:\/\/www\.gstatic\.com; style-src 'self';.*; frame-src https:\/\/www\.recaptcha\.net$/,
      'https://www.recaptcha.net/recaptcha/api.js?hl=en',
    ],
    [
      'cloudflare_turnstile',
      SOLVED,
      'https://challenges.cloudflare.com/turnstile/v0/siteverify',
      /script-src 'self' https:\/\/challenges\.cloudflare\.com; style-src 'self';.*; frame-src https:\/\/challenges\.cloudflare\.com$/,
      'https://challenges.cloudflare.com/turnstile/v0/api.js',
    ],
    [
      'hcaptcha',
      'h-captcha-response',
      'https://api.hcaptcha.com/siteverify',
      /script-src 'self' (https:\/\/hcaptcha\.com https:\/\/\*\.hcaptcha\.com); style-src 'self' \1; .*connect-src 'self' \1; .*; frame-src \1$/,
      'https://js.hcaptcha.com/1/api.js?recaptchacompat=off&amp;hl=en',
    ],
  ])('%s: the page loads only its script, and its response is verified once', async (...row) => {
    const [service, field, verifyUrl, policy, script] = row;
    await withCaptcha({ ...TURNSTILE, service }, async (pages) => {
      const browser = pages.browser({ address: '192.0.2.77' });
      const page = await browser.get('/register/password');
      expectCleanPage(page.body);
      expect(page.body).toContain(`<script src="${script}"`);
      expect(page.body).toContain('data-sitekey="site-key"');
      expect(page.body).toMatch(/<noscript>.*JavaScript/s);
      expect(page.headers['content-security-policy']).toMatch(policy);
      expect((await register(browser, { [field]: 'answer' })).status).toBe(303);
      expect(peer.asked).toMatchObject([
        { url: verifyUrl, form: { secret: 'secret-key', response: 'answer', remoteip: '192.0.2.77' } },
      ]);
      const elsewhere = await pages.browser().get('/login');
      expect(elsewhere.headers['content-security-policy']).not.toContain('frame-src');
      expect(elsewhere.body).not.toContain('captcha');
    });
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ['nothing', {}],
    ["another service's field", { 'h-captcha-response': 'answer' }],
    ['two fields', { [SOLVED]: 'answer', 'g-recaptcha-response': 'answer' }],
  ])('S-125: %s is rejected without a request to the service, and nothing is written', async (_what, fields) => {
    await withCaptcha(TURNSTILE, async (service) => {
      const before = await registrations();
      const page = await register(service.browser(), fields);
      expect(page.status).toBe(200);
      expect(page.body).toContain('data-error-code="captcha"');
      expect(page.body).toContain(`value="person${users}"`);
      expect(peer.asked).toEqual([]);
      expect(await registrations()).toBe(before);
      expect(service.refusals()).toEqual(['captcha']);
    });
  });

  test.each<[string, unknown]>([
    ['rejects a repeated solution', { success: false, 'error-codes': ['timeout-or-duplicate'] }],
    ['names another host', { success: true, hostname: 'evil.example' }],
    ['names no host', { success: true }],
  ])('S-125: nobody passes when the service %s', async (_what, verdict) => {
    await withCaptcha(TURNSTILE, async (service) => {
      says(verdict);
      const before = await registrations();
      const page = await register(service.browser(), { [SOLVED]: 'answer' });
      expect([page.status, /data-error-code="captcha">Please solve/.test(page.body)]).toEqual([200, true]);
      expect(await registrations()).toBe(before);
      expect(service.lines.join('\n')).not.toContain('answer=');
    });
  });

  test.each<[string, () => void]>([
    [
      'breaks off',
      () => {
        peer.answer = (_form, response) => void response.destroy();
      },
    ],
    ['answers 503', () => says({ success: true, hostname: HOST }, 503)],
    [
      'answers with a page',
      () => {
        peer.answer = (_form, response) => void response.end('<html>');
      },
    ],
    ['does not know our key', () => says({ success: false, 'error-codes': ['invalid-input-secret'] })],
  ])('S-125: nobody passes when the service %s, and the page says why', async (_what, fail) => {
    await withCaptcha(TURNSTILE, async (service) => {
      fail();
      const before = await registrations();
      const page = await register(service.browser(), { [SOLVED]: 'answer' });
      expect(page.status).toBe(200);
      expect(page.body).toMatch(/data-error-code="captcha">[^<]*is not responding/);
      expect(await registrations()).toBe(before);
      expect(service.lines.filter((line) => line.includes(' captcha.failed '))).toHaveLength(1);
    });
  });

  test('a service that failed five times in a row is not called for ten seconds (operations 9.3)', async () => {
    await withCaptcha(TURNSTILE, async (service) => {
      says({}, 500);
      for (let failures = 0; failures < 6; failures += 1) await register(service.browser(), { [SOLVED]: 'answer' });
      expect(peer.asked).toHaveLength(5);
      says({ success: true, hostname: HOST });
      service.clock.advanceSeconds(11);
      expect((await register(service.browser(), { [SOLVED]: 'answer' })).status).toBe(303);
    });
  });

  test('an invalid form does not consume a CAPTCHA response', async () => {
    await withCaptcha(TURNSTILE, async (service) => {
      const page = await register(service.browser(), { [SOLVED]: 'answer', password: 'short' });
      expect(page.status).toBe(200);
      expect(peer.asked).toEqual([]);
    });
  });

  test("accepts that hCaptcha's script also fills the field of reCAPTCHA", async () => {
    await withCaptcha({ ...TURNSTILE, service: 'hcaptcha' }, async (service) => {
      const both = { 'h-captcha-response': 'answer', 'g-recaptcha-response': 'answer' };
      expect((await register(service.browser(), both)).status).toBe(303);
      const unlike = { 'h-captcha-response': 'answer', 'g-recaptcha-response': 'other' };
      expect((await register(service.browser(), unlike)).status).toBe(200);
    });
  });

  test('allows one address a burst of 30 verifications', async () => {
    await withCaptcha(TURNSTILE, async (service) => {
      says({ success: false });
      const browser = service.browser({ address: '198.51.100.9' });
      for (let tries = 0; tries < 30; tries += 1) await register(browser, { [SOLVED]: 'answer' });
      expect((await register(browser, { [SOLVED]: 'answer' })).body).toContain('rate_limit_exceeded');
      expect(peer.asked).toHaveLength(30);
    });
  });
});

test('password recovery has a CAPTCHA if captcha.on includes it, and sends no mail without one', async () => {
  await withCaptcha({ ...TURNSTILE, forms: ['recover'] }, async (service) => {
    const browser = service.browser();
    expect((await browser.get('/register/password')).body).not.toContain('captcha');
    expect((await browser.get('/recover')).body).toContain('data-sitekey="site-key"');
    const refused = await browser.submit({ email: 'x@mail.example' });
    expect([refused.status, refused.body.includes('data-error-code="captcha"')]).toEqual([200, true]);
    expect((await browser.submit({ email: 'x@mail.example', [SOLVED]: 'answer' })).status).toBe(303);
  });
});

test('sign-in has a CAPTCHA after three wrong passwords from an address, for all its users', async () => {
  await withCaptcha({ ...TURNSTILE, forms: ['login'] }, async (service) => {
    await insertTestAccount(testDatabase.database, { username: 'amira', password: 'right' });
    const address = '203.0.113.5';
    const browser = service.browser({ address });
    for (let wrong = 0; wrong < 3; wrong += 1) {
      expect((await browser.get('/login')).body).not.toContain('data-sitekey');
      await browser.submit({ username: 'amira', password: 'wrong' });
    }
    const other = service.browser({ address });
    expect((await other.get('/login')).body).toContain('data-sitekey="site-key"');
    const refused = await other.submit({ username: 'amira', password: 'right' });
    expect([refused.status, refused.body.includes('data-error-code="captcha"')]).toEqual([200, true]);
    expect((await other.submit({ username: 'amira', password: 'right', [SOLVED]: 'answer' })).status).toBe(303);
    const area = await other.get('/account/');
    expect(area.headers['content-security-policy']).toMatch(
      /script-src 'self';.*; frame-src https:\/\/challenges\.cloudflare\.com$/,
    );
    expect((await service.browser().get('/login')).body).not.toContain('data-sitekey');
    service.clock.advanceSeconds(3600);
    expect((await service.browser({ address }).get('/login')).body).not.toContain('data-sitekey');
  });
});
