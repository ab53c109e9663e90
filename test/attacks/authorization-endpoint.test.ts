/**
 * Security 4.1: redirect URIs and the authorization endpoint. If one of these fails, response readers or hostile links
 * gain access.
 */

import { createServer } from 'node:net';
import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { SINGLE_PARAMETERS } from '#protocol/oauth/request-parameters.ts';
import type { Browser, Page } from '../support/browser.ts';
import {
  type AttackedClient,
  attackedService,
  C1,
  C3,
  CQ,
  ISSUER,
  P1,
  PASSWORD,
  PN,
  SECOND_CALLBACK,
  UNKNOWN_ID,
} from './attacked-service.ts';
import { headerOf, jsonOf, textMember } from './raw-http.ts';

const attacked = attackedService();

/** Expects an error page that neither redirects nor reflects the input. */
function expectPageError(page: Page): void {
  expect(page).toMatchObject({ status: 400, location: undefined });
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.body).not.toContain('evil.example');
}

describe('a redirect URI other than the registered https://app.example/cb (security 4.1)', () => {
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
  ])('%j: an error page, no redirect, no grant (S-01)', async (redirect_uri) => {
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
  ])('%j: an error page (S-05)', async (redirect_uri) => {
    expectPageError(await attacked.browser().get(attacked.authorizeUrl(C1, { redirect_uri })));
  });

  test.each([
    ['absent', (url: string) => url.replace(/&redirect_uri=[^&]*/, '')],
    ['empty', (url: string) => url.replace(/&redirect_uri=[^&]*/, '&redirect_uri=')],
    ['in array form', (url: string) => url.replace('&redirect_uri=', '&redirect_uri%5B%5D=')],
    ['given twice', (url: string) => `${url}&redirect_uri=${encodeURIComponent(SECOND_CALLBACK)}`],
  ])('%s, with two registered: an error page (S-02)', async (_, change) => {
    await attacked.changingNothing(async () => {
      expectPageError(await attacked.browser().get(change(attacked.authorizeUrl(C3))));
    });
  });
});

describe('a duplicate parameter (RFC 6749 3.1)', () => {
  const PAGE = ['client_id', 'redirect_uri', 'response_mode', 'state', 'response_type', 'request', 'request_uri'];

  test.each(SINGLE_PARAMETERS)(
    '%s is invalid_request, also with equal values, in the query and in a form (S-02)',
    async (name) => {
      const url = new URL(attacked.authorizeUrl(P1), ISSUER);
      const value = url.searchParams.get(name) ?? '1';
      if (!url.searchParams.has(name)) url.searchParams.append(name, value);
      url.searchParams.append(name, value);
      await attacked.changingNothing(async () => {
        for (const page of [
          await attacked.browser().get(url.href),
          await attacked.browser().post('/authorize', url.searchParams, { cookie: undefined }),
        ]) {
          if (PAGE.includes(name)) {
            expect(page).toMatchObject({ status: 400, location: undefined, errorCodes: ['invalid_request'] });
          } else {
            const { origin, searchParams } = new URL(page.location ?? '');
            expect(origin).toBe('https://spa.example');
            expect(Object.fromEntries(searchParams)).toMatchObject({
              error: 'invalid_request',
              state: 'st',
              iss: ISSUER,
            });
          }
        }
      });
    },
  );
});

describe('the port of a native app (RFC 8252 7.3)', () => {
  test.each(['http://127.0.0.1/cb', 'http://127.0.0.1:1/cb', 'http://127.0.0.1:8080/cb', 'http://127.0.0.1:65535/cb'])(
    '%s is accepted as the exception to exact comparison, and receives the redirect (S-03)',
    async (callback) => {
      const browser = await attacked.signedIn('amira');
      const asking = { ...PN, callback };
      const sent = await attacked.callbackOf(browser, asking);
      expect(sent.href.startsWith(`${callback}?`)).toBe(true);
      const code = sent.searchParams.get('code') ?? '';
      // A process on another port did not make the request.
      const elsewhere = await attacked.exchange({ ...PN, callback: 'http://127.0.0.1:8081/cb' }, code);
      expect(jsonOf(elsewhere)['error']).toBe('invalid_grant');
      expect((await attacked.exchange(asking, code)).status).toBe(200);
    },
  );

  test.each([
    'http://127.0.0.1:0/cb',
    'http://127.0.0.1:/cb',
    'http://127.0.0.1:65536/cb',
    'http://127.0.0.1:08080/cb',
    'http://127.0.0.1:+80/cb',
    'HTTP://127.0.0.1/cb',
    'http://localhost/cb',
    'http://[::1]/cb',
    'http://127.1/cb',
    'http://2130706433/cb',
    'http://[::ffff:127.0.0.1]/cb',
    'https://127.0.0.1/cb',
    'http://127.0.0.1/other',
    'http://127.0.0.1:8080/cb/',
    'http://127.0.0.1:8080/cb?x=1',
    'http://127.0.0.1:8080/cb#x',
    'http://127.0.0.1:8080@evil.example/cb',
    'http://127.0.0.1.evil.example:8080/cb',
  ])('%s is a page (S-03)', async (redirect_uri) => {
    await attacked.changingNothing(async () => {
      expectPageError(await attacked.browser().get(attacked.authorizeUrl(PN, { redirect_uri })));
    });
  });
});

test('an unknown client never causes a redirect to the given URI (S-06)', async () => {
  const stranger: AttackedClient = { ...C1, id: UNKNOWN_ID, callback: 'https://evil.example/cb' };
  for (const asking of [stranger, { ...C1, id: UNKNOWN_ID }, { ...C1, id: `${C1.id}\0` }]) {
    expectPageError(await attacked.browser().get(attacked.authorizeUrl(asking)));
  }
});

describe('the response', () => {
  test.each([
    '"><script>alert(1)</script>',
    'a\r\nLocation: https://evil.example',
    '&code=x&iss=y',
    'x&state=y&error=access_denied&code=z',
    '#',
    '#code=x&iss=y',
    '%23',
    '%26code%3Dx',
    ' +',
    '\u00e9\u2028\u{1F600}',
  ])(
    'returns the state %j back byte for byte, with one code and one iss, and keeps the URI’s query (S-07, S-08)',
    async (state) => {
      const browser = await attacked.signedIn('amira');
      for (const response_mode of ['query', 'fragment']) {
        const callback = await attacked.callbackOf(browser, CQ, { state, response_mode });
        const [query = '', fragment, ...more] = (browser.page.headers.location ?? '').split('#');
        // Browsers keep the requesting page's fragment unless the redirect has one, even an empty one.
        expect([query.startsWith(CQ.callback), more]).toEqual([true, []]);
        expect(response_mode === 'query' ? fragment : query).toBe(response_mode === 'query' ? '' : CQ.callback);
        const { searchParams } = callback;
        expect(searchParams.getAll('keep')).toEqual(['1']);
        const fields = response_mode === 'query' ? searchParams : new URLSearchParams(fragment);
        for (const [name, values] of [
          ['state', [state]],
          ['iss', [ISSUER]],
          ['code', [expect.stringMatching(/^[\w-]{43}$/)]],
        ] as const) {
          expect(fields.getAll(name), `${response_mode} ${name}`).toEqual(values);
        }
        expect(fields.has('error')).toBe(false);
      }
      await browser.open(attacked.authorizeUrl(CQ, { state, response_mode: 'form_post' }));
      const [form, ...others] = browser.page.forms;
      expect([form?.action, others]).toEqual([CQ.callback, []]);
      expect(form?.inputs.get('state')).toBe(state);
      for (const name of ['code', 'iss', 'state']) {
        expect(browser.page.body.split(`name="${name}"`), name).toHaveLength(2);
      }
      attacked.secrets.add(form?.inputs.get('code') ?? '');
    },
  );

  test('to a state of 100 KiB is invalid_request without the state (S-07)', async () => {
    const form = new URLSearchParams(attacked.authorizeUrl(C1, { state: 'x'.repeat(60_000) }).split('?')[1]);
    const page = await attacked.browser().post('/authorize', form, { cookie: undefined });
    const { searchParams } = new URL(page.location ?? '');
    expect(searchParams.get('error')).toBe('invalid_request');
    expect(searchParams.has('state')).toBe(false);
    form.set('state', 'x'.repeat(100 * 1024));
    expect((await attacked.browser().post('/authorize', form, { cookie: undefined })).status).toBe(413);
  });

  test('to a POST with a password or a consent is 303, so that browsers do not repost it (S-09)', async () => {
    const browser = attacked.browser();
    await browser.open(attacked.authorizeUrl(C3));
    await browser.submit({ username: 'bruno', password: PASSWORD });
    expect(browser.page.status).toBe(303);
    await browser.follow();
    await browser.submit({ action: 'consent' }, { action: '/authorize' });
    expect(browser.page.status).toBe(303);
    expect(browser.page.location).toContain('code=');
  });
});

test('to every other POST with a decision or a credential is 303 as well (S-09)', async () => {
  const consentPath = async (browser: Browser, fields: Readonly<Record<string, string>>): Promise<void> => {
    await browser.open(attacked.authorizeUrl(C3, { prompt: 'consent', ...fields }));
    expect(new URL(browser.page.url).pathname).toMatch(/^\/consent\//);
  };
  const decide = { action: '/authorize' };
  const browser = await attacked.signedIn('amira');
  const seen: [string, number][] = [];
  const note = (what: string, { status }: Page): void => void seen.push([what, status]);

  await consentPath(browser, {});
  note('cancel', await browser.submit({ action: 'cancel' }, decide));
  for (const action of ['consent', 'cancel']) {
    await consentPath(browser, { response_mode: 'form_post' });
    note(`${action}, to be posted`, await browser.submit({ action }, decide));
  }
  await browser.open(attacked.authorizeUrl(C3, { prompt: 'login' }));
  note('password again', await browser.submit({ password: PASSWORD }, { action: reauthPath(browser.page) }));
  await browser.get('/');
  note('sign-out', await browser.submit({}, { action: '/logout' }));
  const [, query] = attacked.authorizeUrl(C3).split('?');
  note('posted request', await browser.post('/authorize', new URLSearchParams(query), { cookie: undefined }));
  expect(seen.map(([what]) => what)).toHaveLength(6);
  expect(seen).toEqual(seen.map(([what]) => [what, 303]));
});

describe('max_age (OpenID Connect Core 3.1.2.1)', () => {
  test.each(['-1', 'abc', '1e3', '99999999999999999999', '0x10', '1.5', ' 1', '1 ', '+1', '٣', '2147483648'])(
    '%j is invalid_request (S-11, S-160)',
    async (max_age) => {
      const page = await attacked.browser().get(attacked.authorizeUrl(C1, { max_age }));
      expect(new URL(page.location ?? '').searchParams.get('error')).toBe('invalid_request');
    },
  );

  test.each<[Record<string, string>, number]>([
    [{ max_age: '0' }, 7200],
    [{ max_age: '1' }, 7200],
    [{ max_age: '7199' }, 7200],
    [{ prompt: 'login' }, 7200],
    // A sign-in at the same time as the request does not satisfy it.
    [{ prompt: 'login' }, 0],
    [{ prompt: 'login', max_age: '9999' }, 7200],
  ])(
    '%j, %i s after sign-in: asks for the password, no step skips it, and auth_time is its time (S-11)',
    async (fields, age) => {
      const browser = await attacked.signedIn('amira');
      await attacked.code(browser, C1);
      attacked.clock.advanceSeconds(age);
      await browser.get(attacked.authorizeUrl(C1, fields));
      const reauth = browser.page.location ?? '';
      expect(new URL(reauth).pathname).toBe('/reauth');
      const grant = new URL(reauth).searchParams.get('id') ?? '';
      await browser.get('/');
      const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? expect.fail('no form');
      const forced = new URLSearchParams({ csrf, grant_id: grant, action: 'consent' });
      await attacked.changingNothing(async () => {
        for (const step of [`/authorize/${grant}`, `/consent/${grant}`, `/authorize/${grant}`]) {
          expect((await browser.get(step)).location, `${step} cannot be used to skip it`).toBe(reauth);
        }
        expect((await browser.post('/authorize', forced)).location, 'nor a consent without a page').toBe(reauth);
      });
      // A sign-in in another browser does not satisfy it either.
      await attacked.signedIn('amira');
      attacked.clock.advanceSeconds(60);
      expect((await browser.get(`/authorize/${grant}`)).location).toBe(reauth);
      await browser.get(reauth);
      await browser.submit({ password: 'wrong' }, { action: reauthPath(browser.page) });
      expect((await browser.get(`/authorize/${grant}`)).location).toBe(reauth);
      await browser.get(reauth);
      await browser.submit({ password: PASSWORD }, { action: reauthPath(browser.page) });
      const verifiedAt = attacked.clock.now() / 1000;
      attacked.clock.advanceSeconds(5);
      // One reauthentication is enough.
      await browser.follow();
      const code = new URL(browser.page.location ?? '').searchParams.get('code') ?? '';
      attacked.secrets.add(code);
      const claims = decodeJwt(textMember(await attacked.exchange(C1, code), 'id_token'));
      expect(claims['auth_time']).toBe(verifiedAt);
      // The next request requires reauthentication unless the last one is recent enough.
      await browser.get(attacked.authorizeUrl(C1, fields));
      const isYoung = fields['prompt'] === undefined && Number(fields['max_age']) >= 5;
      expect(browser.page.location?.includes('/reauth')).toBe(!isYoung);
    },
  );

  test('returns login_required for an old sign-in with prompt=none (S-10, S-11)', async () => {
    const browser = await attacked.signedIn('amira');
    await attacked.code(browser, C1);
    attacked.clock.advanceSeconds(7200);
    await attacked.changingNothing(async () => {
      const { location } = await browser.get(attacked.authorizeUrl(C1, { prompt: 'none', max_age: '7199' }));
      expect(new URL(location ?? '').searchParams.get('error')).toBe('login_required');
    });
  });
});

function reauthPath(page: Page): string {
  const { pathname, search } = new URL(page.url);
  expect(pathname).toBe('/reauth');
  return pathname + search;
}

test('request_uri and request never cause a fetch and never override other parameters (S-12, S-13)', async () => {
  let connections = 0;
  const listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const bound = listener.address();
  const port = bound !== null && typeof bound === 'object' ? bound.port : 0;
  for (const fields of [
    { request_uri: 'https://evil.example/x' },
    { request_uri: `http://127.0.0.1:${port}/request` },
    { request_uri: `https://localhost:${port}/request#x` },
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
  await new Promise((resolve) => listener.close(resolve));
  expect(connections).toBe(0);
});

test('iss equals the metadata issuer byte for byte, on success and error, in every response mode (S-23)', async () => {
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
    expect(browser.page.forms[0]?.inputs.get('iss')).toBe(issuer);
  }
  // The user denies the request, or lets it expire.
  await browser.open(attacked.authorizeUrl(C3, { prompt: 'consent' }));
  await browser.submit({ action: 'cancel' }, { action: '/authorize' });
  const cancelled = new URL(browser.page.location ?? '').searchParams;
  expect([cancelled.get('error'), cancelled.getAll('iss')]).toEqual(['access_denied', [issuer]]);
  await browser.open(attacked.authorizeUrl(C3, { prompt: 'consent' }));
  attacked.clock.advanceSeconds(3601);
  const late = await browser.get(new URL(browser.page.url).pathname);
  expect(late.status).toBe(410);
  const back = /href="(https:\/\/app\.example\/cb[^"]*)"/.exec(late.body)?.[1]?.replaceAll('&amp;', '&') ?? '';
  expect(new URL(back).searchParams.getAll('iss')).toEqual([issuer]);
});
