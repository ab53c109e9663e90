import { describe, expect, test } from 'vitest';
import { LatchkeyError } from '#platform/base/errors.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { Cookies } from '#platform/http/cookies.ts';
import { FormParameters } from '#platform/http/form-parameters.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { Csrf, type CsrfRequest } from './csrf.ts';
import { Urls } from './urls.ts';
import { SESSION_COOKIE } from './viewer.ts';

const urls = new Urls('https://auth.example.org/');
const cookies = new Cookies({
  keys: new KeyRing(Buffer.alloc(32, 1)),
  address: urls,
  log: silentLog,
  prefix: 'latchkey_',
});
const clock = { time: 1_000_000_000_000, now: () => clock.time };
const csrf = new Csrf({ urls, clock, log: silentLog });

/** A browser that stores the cookies of responses and sends them with the next request. */
class Browser {
  readonly #jar = new Map<string, string>();

  request(headers: Record<string, string> = {}): CsrfRequest {
    const header = [...this.#jar].map(([name, value]) => `${name}=${value}`).join('; ');
    return { headers, cookies: cookies.jar(header) };
  }

  receive({ cookies }: CsrfRequest): void {
    for (const change of cookies.changes()) {
      const [name = '', value = ''] = change.split(';')[0]?.split('=') ?? [];
      this.#jar.set(name, value);
    }
  }

  /** Renders a form and returns its CSRF token. */
  render(): string {
    const request = this.request();
    const token = csrf.field(request);
    this.receive(request);
    return token;
  }

  signIn(session: string): void {
    const request = this.request();
    request.cookies.set(SESSION_COOKIE, { current: session, key: 'k' });
    csrf.rotate(request);
    this.receive(request);
  }

  submit(fields: string, headers: Record<string, string> = {}): string {
    const form = FormParameters.parse(fields);
    if (form === undefined) throw new Error('the test sends a malformed form');
    try {
      return csrf.check(this.request(headers), form);
    } catch (error) {
      if (error instanceof LatchkeyError) return error.code;
      throw error;
    }
  }
}

const SAME_ORIGIN = { origin: 'https://auth.example.org', 'sec-fetch-site': 'same-origin' };

describe('CSRF (browser-flows 2.2, security S-57)', () => {
  test('accepts its own form, submitted by the browser that it was rendered for', () => {
    const browser = new Browser();
    const token = browser.render();
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(browser.submit(`csrf=${token}`, SAME_ORIGIN)).toBe('valid');
    expect(browser.submit(`csrf=${token}`)).toBe('valid');
  });

  test.each<[string, Record<string, string>]>([
    ['Sec-Fetch-Site: cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['Sec-Fetch-Site: same-site', { 'sec-fetch-site': 'same-site' }],
    ['Sec-Fetch-Site: same-site with our origin', { ...SAME_ORIGIN, 'sec-fetch-site': 'same-site' }],
    ['a foreign Origin', { origin: 'https://evil.example' }],
    ['the Origin of a sibling host', { origin: 'https://sub.auth.example.org' }],
    ['our host by http', { origin: 'http://auth.example.org' }],
    ['Origin: null', { origin: 'null' }],
    ['a foreign Origin with a same-origin Sec-Fetch-Site', { ...SAME_ORIGIN, origin: 'https://evil.example' }],
    ['a foreign Referer when both are absent', { referer: 'https://evil.example/https://auth.example.org/' }],
    ['a Referer that is not an address', { referer: 'auth.example.org' }],
  ])('%s is rejected, even with the correct token', (_case, headers) => {
    const browser = new Browser();
    expect(browser.submit(`csrf=${browser.render()}`, headers)).toBe('cross_site_request');
  });

  test.each<[string, Record<string, string>]>([
    ['Sec-Fetch-Site: none', { 'sec-fetch-site': 'none' }],
    ['our Origin alone', { origin: 'https://auth.example.org' }],
    ['our Referer alone', { referer: 'https://auth.example.org/login?x=y' }],
    ['a foreign Referer with our Origin', { ...SAME_ORIGIN, referer: 'https://evil.example/' }],
  ])('%s is accepted', (_case, headers) => {
    const browser = new Browser();
    expect(browser.submit(`csrf=${browser.render()}`, headers)).toBe('valid');
  });

  test('no token, an empty one, or no cookie: csrf_missing', () => {
    const browser = new Browser();
    const token = browser.render();
    expect(browser.submit('username=x')).toBe('csrf_missing');
    expect(browser.submit('csrf=')).toBe('csrf_missing');
    expect(new Browser().submit(`csrf=${token}`)).toBe('csrf_missing');
  });

  test('another browser’s token or a wrong one: csrf_mismatch; a repeated one is malformed', () => {
    const browser = new Browser();
    const token = browser.render();
    expect(browser.submit(`csrf=${new Browser().render()}`)).toBe('csrf_mismatch');
    expect(browser.submit(`csrf=${token}x`)).toBe('csrf_mismatch');
    expect(browser.submit(`csrf=${token}&csrf=${token}`)).toBe('malformed_request');
  });

  test('a form in another tab is invalidated by sign-in, account switch and sign-out', () => {
    const browser = new Browser();
    const anonymous = browser.render();
    browser.signIn('01HZX7T3Q8V3M5N6P7R8S9T0AB');
    expect(browser.submit(`csrf=${anonymous}`)).toBe('csrf_mismatch');
    const signedIn = browser.render();
    expect(browser.submit(`csrf=${signedIn}`)).toBe('valid');
    const switching = browser.request();
    switching.cookies.set(SESSION_COOKIE, { current: '01HZX7T3Q8V3M5N6P7R8S9T0AC', key: 'k' });
    browser.receive(switching);
    expect(browser.submit(`csrf=${signedIn}`)).toBe('csrf_mismatch');
    expect(browser.render()).not.toBe(signedIn);
  });

  test('rotation invalidates the former token', () => {
    const browser = new Browser();
    browser.signIn('01HZX7T3Q8V3M5N6P7R8S9T0AB');
    const before = browser.render();
    browser.signIn('01HZX7T3Q8V3M5N6P7R8S9T0AB');
    expect(browser.submit(`csrf=${before}`)).toBe('csrf_mismatch');
  });

  test('a form expires after an hour and is rendered with a fresh token; rendering earlier restarts the hour', () => {
    const browser = new Browser();
    const token = browser.render();
    clock.time += 3_000_000;
    expect(browser.render()).toBe(token);
    clock.time += 3_599_000;
    expect(browser.submit(`csrf=${token}`)).toBe('valid');
    clock.time += 1000;
    expect(browser.submit(`csrf=${token}`)).toBe('expired');
    const fresh = browser.render();
    expect(fresh).not.toBe(token);
    expect(browser.submit(`csrf=${fresh}`)).toBe('valid');
  });

  test('checks run in order: origin before token, token before expiry', () => {
    const browser = new Browser();
    const token = browser.render();
    clock.time += 4_000_000;
    expect(browser.submit('', { origin: 'https://evil.example' })).toBe('cross_site_request');
    expect(browser.submit('csrf=wrong')).toBe('csrf_mismatch');
    expect(browser.submit(`csrf=${token}`)).toBe('expired');
  });
});
