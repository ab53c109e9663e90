/** Security 4.1: redirect URIs and the authorization endpoint. What a reader of the response or a hostile link gains. */

import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import type { Shown } from '../support/browser.ts';
import {
  type AttackedClient,
  attackedService,
  C1,
  C3,
  CQ,
  ISSUER,
  PASSWORD,
  PN,
  SECOND_CALLBACK,
  UNKNOWN_ID,
} from './attacked-service.ts';
import { headerOf, textMember } from './raw-http.ts';

const attacked = attackedService();

/** What an attacker wants, and must not get: to be sent on, or to see what was sent in come out again. */
function expectPageError(shown: Shown): void {
  expect(shown).toMatchObject({ status: 400, location: undefined });
  expect(shown.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(shown.body).not.toContain('evil.example');
}

describe('a redirect URI that is not the registered https://app.example/cb (4.1)', () => {
  test.each([
    'https://app.example/cb/',
    'https://app.example/cb/../evil',
    'https://app.example/cb%2f..',
    'https://app.example/cb#f',
    'https://app.example/CB',
    'https://app.example.evil.example/cb',
    'https://evil.example\\@app.example/cb',
    'https://app.example%00.evil.example/cb',
    'https://app.example/cb%0d%0aX:1',
    '//app.example/cb',
    ' https://app.example/cb',
    'https://app.example/cb ',
    'https://ａpp.example/cb',
    'https://xn--pp-hza.example/cb',
    'HTTPS://app.example/cb',
  ])('%j: a page, no redirect, no grant (S-01)', async (redirect_uri) => {
    await attacked.changingNothing(async () => {
      expectPageError(await attacked.browser().get(attacked.authorizeUrl(C1, { redirect_uri })));
    });
  });

  test.each([
    'JAVASCRIPT:alert(1)',
    '\u0001javascript:alert(1)',
    'java\tscript:alert(1)',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://app.example/1',
    'about:blank',
  ])('%j: a page (S-05)', async (redirect_uri) => {
    expectPageError(await attacked.browser().get(attacked.authorizeUrl(C1, { redirect_uri })));
  });

  test.each([
    ['absent', (url: string) => url.replace(/&redirect_uri=[^&]*/, '')],
    ['empty', (url: string) => url.replace(/&redirect_uri=[^&]*/, '&redirect_uri=')],
    ['in array form', (url: string) => url.replace('&redirect_uri=', '&redirect_uri%5B%5D=')],
    ['given twice', (url: string) => `${url}&redirect_uri=${encodeURIComponent(SECOND_CALLBACK)}`],
  ])('%s, where two are registered: a page (S-02)', async (_, change) => {
    await attacked.changingNothing(async () => {
      expectPageError(await attacked.browser().get(change(attacked.authorizeUrl(C3))));
    });
  });
});

describe('the port of a native application (RFC 8252 7.3)', () => {
  test.each(['http://127.0.0.1:1/cb', 'http://127.0.0.1:8080/cb', 'http://127.0.0.1:65535/cb'])(
    '%s is the one exception from exact comparison (S-03)',
    async (redirect_uri) => {
      const shown = await attacked.browser().get(attacked.authorizeUrl(PN, { redirect_uri }));
      expect(new URL(shown.location ?? '').pathname).toBe('/login');
    },
  );

  test.each([
    'http://127.0.0.1:0/cb',
    'http://127.0.0.1:65536/cb',
    'http://localhost/cb',
    'http://[::1]/cb',
    'http://127.1/cb',
    'http://2130706433/cb',
    'https://127.0.0.1/cb',
    'http://127.0.0.1/other',
    'http://127.0.0.1:8080@evil.example/cb',
  ])('%s is a page (S-03)', async (redirect_uri) => {
    expectPageError(await attacked.browser().get(attacked.authorizeUrl(PN, { redirect_uri })));
  });
});

test('an unknown client is never redirected to the address that came along (S-06)', async () => {
  const stranger: AttackedClient = { ...C1, id: UNKNOWN_ID, callback: 'https://evil.example/cb' };
  for (const asking of [stranger, { ...C1, id: UNKNOWN_ID }, { ...C1, id: `${C1.id}\0` }]) {
    expectPageError(await attacked.browser().get(attacked.authorizeUrl(asking)));
  }
});

describe('the response', () => {
  test.each(['"><script>alert(1)</script>', 'a\r\nLocation: https://evil.example', '&code=x&iss=y', '#', '%23', ' +'])(
    'carries the state %j back byte for byte, with one code and one iss, the query of the address kept (S-07, S-08)',
    async (state) => {
      const browser = await attacked.signedIn('amira');
      for (const response_mode of ['query', 'fragment']) {
        const callback = await attacked.callbackOf(browser, CQ, { state, response_mode });
        const { searchParams } = callback;
        expect(searchParams.getAll('keep')).toEqual(['1']);
        const fields = response_mode === 'query' ? searchParams : new URLSearchParams(callback.hash.slice(1));
        for (const [name, values] of [
          ['state', [state]],
          ['iss', [ISSUER]],
          ['code', [expect.stringMatching(/^[\w-]{43}$/)]],
        ] as const) {
          expect(fields.getAll(name), `${response_mode} ${name}`).toEqual(values);
        }
      }
    },
  );

  test('to a state of 100 KiB is invalid_request, and the state is dropped (S-07)', async () => {
    const form = new URLSearchParams(attacked.authorizeUrl(C1, { state: 'x'.repeat(60_000) }).split('?')[1]);
    const shown = await attacked.browser().post('/authorize', form, { cookie: undefined });
    const { searchParams } = new URL(shown.location ?? '');
    expect(searchParams.get('error')).toBe('invalid_request');
    expect(searchParams.has('state')).toBe(false);
    form.set('state', 'x'.repeat(100 * 1024));
    expect((await attacked.browser().post('/authorize', form, { cookie: undefined })).status).toBe(413);
  });

  test('to a POST that carried a password or a consent is 303, so that no browser posts it on (S-09)', async () => {
    const browser = attacked.browser();
    await browser.open(attacked.authorizeUrl(C3));
    await browser.submit({ username: 'bruno', password: PASSWORD });
    expect(browser.shown.status).toBe(303);
    await browser.follow();
    await browser.submit({ action: 'consent' }, { action: '/authorize' });
    expect(browser.shown.status).toBe(303);
    expect(browser.shown.location).toContain('code=');
  });
});

describe('max_age (OpenID Connect Core 3.1.2.1)', () => {
  test.each(['-1', 'abc', '1e3', '99999999999999999999', '0x10', '1.5', ' 1', '1 ', '+1', '٣', '2147483648'])(
    '%j is invalid_request (S-11, S-160)',
    async (max_age) => {
      const shown = await attacked.browser().get(attacked.authorizeUrl(C1, { max_age }));
      expect(new URL(shown.location ?? '').searchParams.get('error')).toBe('invalid_request');
    },
  );

  test('1, two hours after signing in: the password is asked, and auth_time is when it was given (S-11)', async () => {
    const browser = await attacked.signedIn('amira');
    await attacked.code(browser, C1);
    attacked.clock.advanceSeconds(7200);
    await browser.get(attacked.authorizeUrl(C1, { max_age: '1' }));
    const reauth = browser.shown.location ?? '';
    expect(new URL(reauth).pathname).toBe('/reauth');
    const grant = new URL(reauth).searchParams.get('id') ?? '';
    for (const step of [`/authorize/${grant}`, `/consent/${grant}`]) {
      expect((await browser.get(step)).location, `${step} cannot be used to skip it`).toBe(reauth);
    }
    attacked.clock.advanceSeconds(60);
    await browser.get(reauth);
    await browser.submit({ password: PASSWORD }, { action: reauth.slice(ISSUER.length - 1) });
    await browser.follow();
    const code = new URL(browser.shown.location ?? '').searchParams.get('code') ?? '';
    const claims = decodeJwt(textMember(await attacked.exchange(C1, code), 'id_token'));
    expect(claims['auth_time']).toBe(attacked.clock.now() / 1000);
  });
});

test('request_uri and request fetch nothing and never replace the other parameters (S-12, S-13)', async () => {
  for (const fields of [
    { request_uri: 'https://evil.example/x' },
    { request_uri: 'urn:ietf:params:oauth:request_uri:guess' },
    { request: 'eyJhbGciOiJub25lIn0.eyJzY29wZSI6ImFkbWluIn0.' },
  ]) {
    await attacked.changingNothing(async () => {
      const { location } = await attacked.browser().get(attacked.authorizeUrl(C1, fields));
      const { origin, searchParams } = new URL(location ?? '');
      expect(origin).toBe('https://app.example');
      expect(searchParams.get('error')).toMatch(/^request_uri_not_supported$|^invalid_request_(uri|object)$/);
    });
  }
});

test('iss is the issuer of the metadata, byte for byte, on success and on errors, in every response mode (S-23)', async () => {
  const metadata = await attacked.ask({ target: '/.well-known/openid-configuration' });
  const issuer = textMember(metadata, 'issuer');
  expect(headerOf(metadata, 'content-type')).toBe('application/json');
  const browser = await attacked.signedIn('amira');
  for (const fields of [{}, { scope: '"' }, { response_type: 'token' }]) {
    for (const response_mode of ['query', 'fragment']) {
      const callback = await attacked.callbackOf(browser, C1, { ...fields, response_mode });
      const parameters =
        response_mode === 'query' ? callback.searchParams : new URLSearchParams(callback.hash.slice(1));
      expect(parameters.getAll('iss')).toEqual([issuer]);
    }
    await browser.open(attacked.authorizeUrl(C1, { ...fields, response_mode: 'form_post' }));
    expect(browser.shown.forms[0]?.inputs.get('iss')).toBe(issuer);
  }
});
