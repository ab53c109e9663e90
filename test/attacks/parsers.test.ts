/** Security 4.20: input that two readers interpret differently, or that no reader expects. */
import { describe, expect, test } from 'vitest';
import { parseId, toUuid } from '#platform/base/ids.ts';
import { attackedService, basic, C1, C3, isConsent, UNKNOWN_ID } from './attacked-service.ts';
import { headerOf, jsonOf } from './raw-http.ts';

const attacked = attackedService();
const FORM: [string, string] = ['Content-Type', 'application/x-www-form-urlencoded'];

/**
 * Returns the routes that parse a form without authentication. Excludes the sign-out routes of chat clients and the
 * passkey options route, which read no body or authenticate first. Excludes upstream provider routes, which look up the
 * provider first, and GraphQL, which accepts only JSON.
 */
function forms() {
  const posts = attacked.routes({ method: 'POST' }).filter(({ errorFormat }) => errorFormat !== 'graphql-json');
  return posts.filter(
    ({ path }) =>
      !/\/client\/:version\/logout|^\/upstream\/(?:callback|backchannel-logout)\/|^\/login\/(?:add-)?passkey\/options$/.test(
        path,
      ),
  );
}

describe('object property names (S-157)', () => {
  const NAMES = [
    ...['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf', 'then', 'toJSON'],
    ...[
      '__proto__[polluted]',
      'constructor[prototype][polluted]',
      '__proto__.polluted',
      'constructor.prototype.polluted',
    ],
  ];

  test('are ordinary fields in forms, queries, cookies and headers', async () => {
    const fields = NAMES.map((name) => `${encodeURIComponent(name)}=polluted`).join('&');
    const cookie = NAMES.map((name) => `${name}=polluted`).join('; ');
    await attacked.changingNothing(async () => {
      for (const { target: path } of forms()) {
        const response = await attacked.ask({ method: 'POST', target: path, headers: [FORM], body: fields });
        // This endpoint ignores unknown fields, and redirects a request without known ones to GET.
        const [least, below] = path === '/oauth2/logout' ? [303, 304] : [400, 500];
        expect([path, response.status]).toEqual([
          path,
          expect.toSatisfy((status: number) => status >= least && status < below),
        ]);
      }
      for (const { path } of attacked.routes({ method: 'GET' })) {
        const target = `${path.replaceAll(/:\w+/g, '__proto__').replace('*', '__proto__')}?${fields}`;
        const headers = NAMES.slice(0, 8).map((name): [string, string] => [name, 'polluted']);
        expect((await attacked.ask({ target, headers: [...headers, ['Cookie', cookie]] })).status).toBeLessThan(500);
      }
      const grants = ['grant_type', 'token_type_hint', 'scope'];
      for (const name of grants) {
        for (const value of NAMES) await attacked.post('/oauth2/token', { [name]: value }, basic(C1));
      }
    });
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });
});

describe('path identifiers (S-158)', () => {
  const MALFORMED = [
    '01JD3Q5Z8W2N4K6M7P9R0S1T0',
    '01JD3Q5Z8W2N4K6M7P9R0S1T000',
    '01JD3Q5Z8W2N4K6M7P9R0S1TIL',
    '01JD3Q5Z8W2N4K6M7P9R0S1TOU',
    '80000000000000000000000000',
    'ZZZZZZZZZZZZZZZZZZZZZZZZZZ',
    '00000000000000000000000000',
    '0193f1d6-0000-7000-8000-000000000000',
    '01JD3Q5Z-8W2N-4K6M-7P9R-0S1T00',
    '%00',
    `${UNKNOWN_ID}%00`,
    '%2e%2e',
    '%2e%2e%2f',
    '%f0%9f%92%a9',
    '%ef%bc%90'.repeat(26),
    '%ff%fe',
    '%zz',
    "'%20or%201=1%20--",
    '*',
    '{id}',
    ':grant_id',
    'null',
    '%20',
    'x'.repeat(2047),
    'x'.repeat(8100),
  ];

  test.each(MALFORMED)('%.60s is refused everywhere, without reaching a query', async (id) => {
    await attacked.changingNothing(async () => {
      // All versions of the chat client routes behave alike.
      const routes = attacked.routes().filter(({ path }) => path.includes(':') && !path.includes(':version'));
      for (const { method, path } of routes) {
        const target = path.replaceAll(/:\w+/g, id);
        const form = method === 'POST' ? { headers: [FORM], body: 'csrf=x' } : {};
        const response = await attacked.ask({ method, target, ...form });
        // Recoveries of other browsers redirect to the first page, so that their existence is not revealed.
        const isLedBack = path.startsWith('/recover/progress/') && headerOf(response, 'location') === '/recover';
        expect([target.slice(0, 80), response.status]).toEqual([
          target.slice(0, 80),
          isLedBack ? 303 : expect.toBeOneOf([400, 401, 403, 404, 414]),
        ]);
        expect(response.body).not.toMatch(/syntax|uuid|postgres|stack/i);
      }
    });
  });

  test('an empty one is another path', async () => {
    for (const { path } of attacked.routes().filter((route) => route.path.includes(':'))) {
      expect((await attacked.ask({ target: path.replaceAll(/:\w+/g, '') })).status).toBe(404);
    }
  });

  test('a valid one matches in either case as one record', async () => {
    const browser = await attacked.signedIn('amira');
    await browser.open(attacked.authorizeUrl(C3, { prompt: 'consent' }));
    const id = new URL(browser.page.url).pathname.split('/').at(-1) ?? '';
    await browser.get(`/consent/${id.toLowerCase()}`);
    expect(isConsent(browser.page)).toBe(true);
    expect(browser.page.forms.find(({ action }) => action === '/authorize')?.inputs.get('grant_id')).toBe(id);
    expect(toUuid(parseId(id.toLowerCase()) ?? expect.fail('no id'))).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('bytes that are not valid text (S-159)', () => {
  const ENCODED: [string, string][] = [
    ['a NUL', '%00'],
    ['a NUL inside', 'a%00b'],
    ['a raw NUL', '\0'],
    ['invalid UTF-8', '%ff%fe'],
    ['raw invalid UTF-8', '\xff\xfe'],
    ['an over-long encoding', '%c0%af'],
    ['a truncated encoding', '%e2%82'],
    ['a lone surrogate', '%ed%a0%80'],
    ['a pair of encoded surrogates', '%ed%a0%bd%ed%b2%a9'],
    ['beyond Unicode', '%f4%90%80%80'],
    ['an incomplete percent encoding', '%f'],
    ['a lone percent sign', '%'],
  ];
  const FIELDS = [
    'username',
    'password',
    'csrf',
    'scope',
    'state',
    'nonce',
    'code',
    'token',
    'client_id',
    'action',
    'x',
  ];

  test.each(ENCODED)('%s, in any field of any form: 400, and nothing is stored', async (_, text) => {
    await attacked.changingNothing(async () => {
      for (const { target: path } of forms()) {
        for (const name of FIELDS) {
          for (const body of [`${name}=${text}`, `${text}=${name}`]) {
            const headers: [string, string][] = [FORM, ['Authorization', basic(C1) ?? '']];
            const payload = Buffer.from(body, 'latin1');
            const response = await attacked.ask({ method: 'POST', target: path, headers, body: payload });
            expect([path, body, response.status]).toEqual([path, body, 400]);
          }
        }
      }
    });
  });

  test.each(ENCODED.filter(([, text]) => !/[\0\xff]/.test(text)))('%s in a query: 400', async (_, text) => {
    for (const path of ['/login', '/reauth', '/authorize', '/logout', '/.well-known/webfinger']) {
      const response = await attacked.ask({ target: `${path}?kind=${text}&resource=${text}&client_id=${text}` });
      // Without a session, the reauthentication page leads to the sign-in page.
      expect([path, response.status]).toEqual([path, 400]);
    }
  });

  test.each(['\u{FEFF}state', '\uFFFE\uFFFF', '\u{10FFFF}', 'e\u0301', '\u00e9', '\u200d\u202e'])(
    '%j is unusual text, and is returned unchanged',
    async (state) => {
      const browser = await attacked.signedIn('amira');
      const callback = await attacked.callbackOf(browser, C1, { state });
      expect(callback.searchParams.get('state')).toBe(state);
    },
  );
});

/** Returns fields that a form may contain once. */
function namesOf(path: string, errorFormat: string): string[] {
  if (path === '/oauth2/logout') return ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state'];
  if (path === '/oauth2/device') return ['client_id', 'scope'];
  if (path.startsWith('/upstream/backchannel-logout/')) return ['logout_token'];
  return errorFormat === 'page' ? ['username', 'csrf', 'kind', 'x'] : ['client_id', 'token', 'grant_type'];
}

describe('ambiguous forms (S-161)', () => {
  test('a duplicate field is refused by every form, whatever its values', async () => {
    await attacked.changingNothing(async () => {
      for (const { target: path, errorFormat } of forms()) {
        const names = namesOf(path, errorFormat);
        for (const name of names) {
          if (path === '/oauth2/userinfo' || (name === 'grant_type' && path !== '/oauth2/token')) continue;
          for (const pair of [`${name}=a&${name}=b`, `${name}=a&${name}=a`, `${name}=&${name}=a`]) {
            const body = `token=x&${pair}`.replace(/^token=x&token/, 'token');
            const response = await attacked.ask({
              method: 'POST',
              target: path,
              headers: [FORM, ['Authorization', basic(C1) ?? '']],
              body,
            });
            expect([path, pair, response.status]).toEqual([path, pair, 400]);
          }
        }
      }
    });
  });

  test('brackets and dots are part of a field name, not structure', async () => {
    for (const name of ['grant_type[]', 'grant_type[0]', 'grant_type.x', '[grant_type]', 'grant_type ', 'Grant_Type']) {
      const response = await attacked.post('/oauth2/token', { [name]: 'client_credentials' }, basic(C1));
      expect([name, response.status, jsonOf(response)['error']]).toEqual([name, 400, 'invalid_request']);
    }
  });

  test.each([
    'application/json',
    'application/x-www-form-urlencoded; charset=utf-7',
    'application/x-www-form-urlencoded; charset=utf-16',
    'application/x-www-form-urlencoded; charset=iso-8859-1',
    'application/x-www-form-urlencoded, text/plain',
    'application/x-www-form-urlencodedx',
    'multipart/form-data; boundary=x',
    'text/plain',
    '',
  ])('content type %j is refused by every form', async (type) => {
    const bodies = ['grant_type=client_credentials', '{"grant_type":"client_credentials"}', '--x\r\n\r\n--x--'];
    await attacked.changingNothing(async () => {
      for (const { target: path, errorFormat } of forms()) {
        for (const body of bodies) {
          const headers: [string, string][] = [
            ['Content-Type', type],
            ['Authorization', basic(C1) ?? ''],
          ];
          const response = await attacked.ask({ method: 'POST', target: path, headers, body });
          expect([path, response.status]).toEqual([path, errorFormat === 'page' ? 415 : 400]);
        }
      }
    });
  });

  test('a form with more than 100 fields is refused, not truncated', async () => {
    const fields = Array.from({ length: 101 }, (_, index) => `f${index}=x`).join('&');
    for (const { target: path } of forms()) {
      const response = await attacked.ask({ method: 'POST', target: path, headers: [FORM], body: fields });
      expect([path, response.status]).toEqual([path, 400]);
    }
  });
});

test('SQL in a field is treated as text (S-162)', async () => {
  const browser = attacked.browser();
  for (const text of [
    "' or '1'='1",
    "amira'--",
    "'; drop table users; --",
    'amira%',
    '_mira',
    'ami\\ra',
    '$1',
    '{amira}',
  ]) {
    await browser.get('/login');
    await attacked.changingNothing(async () => {
      await browser.submit({ username: text, password: text });
      expect([text, browser.page.errorCodes]).toEqual([text, ['invalid_credentials']]);
      const form = { grant_type: 'refresh_token', refresh_token: text, scope: text, resource: text };
      expect((await attacked.post('/oauth2/token', form, basic(C1))).status).toBe(400);
      expect(await attacked.introspect(text)).toEqual({ active: false });
    });
  }
  expect(await attacked.count('users')).toBe(5);
});

describe('the page language (S-163)', () => {
  test.each([
    '../../etc/passwd',
    '__proto__',
    'constructor',
    'toString',
    'xx',
    'en/../../x',
    '*',
    'de;q=2',
    '%2e%2e',
    'en\\..',
  ])('%s only ever selects a bundled language', async (language) => {
    for (const target of ['/login', `/login?ui_locales=${encodeURIComponent(language)}`, '/nowhere']) {
      const response = await attacked.ask({ target, headers: [['Accept-Language', language]] });
      expect(headerOf(response, 'content-language')).toBe('en');
      expect(response.body).toMatch(/^<!doctype html>\n<html lang="en" dir="ltr">/);
    }
  });
});
