/** Security 4.8: external text that would execute, or impersonate something else, where it is output. */
import { describe, expect, test } from 'vitest';
import { expectCleanPage, HOSTILE_TEXTS } from '../support/clean-page.ts';
import { attackedService, basic, C1, CLIENT_SETTINGS, PASSWORD, UNKNOWN_ID } from './attacked-service.ts';
import { headerOf, jsonOf } from './raw-http.ts';

const HOSTILE_NAME = '"><svg onload=alert(1)>{{7*7}}</script>\u202E';
const HOSTILE = {
  id: '01JD3Q5Z8W2N4K6M7P9R0S1THX',
  secret: 'the-secret-of-the-hostile-client',
  callback: 'https://hostile.example/cb',
};

const attacked = attackedService({
  clients: [
    ...CLIENT_SETTINGS,
    {
      client_id: HOSTILE.id,
      client_auth_method: 'client_secret_basic',
      client_secret: HOSTILE.secret,
      client_name: HOSTILE_NAME,
      redirect_uris: [HOSTILE.callback],
    },
  ],
});
const SENDABLE = HOSTILE_TEXTS.filter((text) => text.length < 1000 && !text.includes('\0'));

describe('hostile text is escaped on pages (S-74)', () => {
  test.each(SENDABLE)('%.40j in the query of the sign-in page', async (text) => {
    const query = new URLSearchParams({ login_hint: text, ui_locales: text, kind: text, error: text, message: text });
    const page = await attacked.browser().get(`/login?${query}`, { 'user-agent': 'x', accept: 'text/html' });
    expect(page.status).toBe(200);
    expectCleanPage(page.body);
  });

  test.each(SENDABLE)('%.40j in every parameter of an authorization request', async (text) => {
    const browser = await attacked.signedIn('amira');
    const names = ['state', 'nonce', 'login_hint', 'ui_locales', 'scope', 'prompt', 'display', text];
    const fields = Object.fromEntries(names.map((name) => [name, text]));
    for (const more of [
      {},
      { scope: 'openid' },
      { scope: 'openid', response_mode: 'form_post' },
      { client_id: text },
    ]) {
      await browser.open(attacked.authorizeUrl(C1, { ...fields, prompt: 'consent', ...more }));
      if (browser.page.location === undefined) expectCleanPage(browser.page.body);
      else expect(browser.page.location.startsWith(C1.callback)).toBe(true);
    }
  });

  test.each(SENDABLE)('%.40j in a path, in Accept-Language and in Accept of the 404 page', async (text) => {
    const path = `/${encodeURIComponent(text)}?${encodeURIComponent(text)}`;
    const headers: [string, string][] = [
      ['Accept', `text/html;x="${encodeURIComponent(text)}"`],
      ['Accept-Language', encodeURIComponent(text)],
      ['Cookie', `__Host-latchkey_lang=${encodeURIComponent(text)}`],
    ];
    const response = await attacked.ask({ target: path, headers });
    expect(response.status).toBe(404);
    expectCleanPage(response.body);
    expect(response.body).not.toMatch(/svg onload|alert\(1\)/);
  });

  test('names of clients and users on the consent page, isolated and without control characters', async () => {
    await attacked.change("update users set display_name = $1::text where username = 'amira'", [HOSTILE_NAME]);
    try {
      const browser = await attacked.signedIn('amira');
      const asking = { ...HOSTILE, callback: HOSTILE.callback };
      const scope = 'openid urn:chat:client:api:* urn:chat:client:device:AAAAAAAAAA<svg>';
      for (const fields of [{}, { scope: 'openid email profile' }, { scope }]) {
        await browser.open(attacked.authorizeUrl(asking, { prompt: 'consent', ...fields }));
        if (browser.page.location !== undefined) continue;
        expectCleanPage(browser.page.body);
        expect(browser.page.body).not.toContain('\u202E');
        expect(browser.page.text).toContain('<svg onload=alert(1)>');
        expect(browser.page.text, 'the host is shown next to the name').toContain('hostile.example');
      }
      await browser.get('/reauth');
      expectCleanPage(browser.page.body);
      await browser.get('/');
      expectCleanPage(browser.page.body);
    } finally {
      await attacked.change("update users set display_name = null where username = 'amira'");
    }
  });
});

describe('text that would forge log lines (S-75)', () => {
  test('in request id, trace and forwarding headers is discarded; a username stays one field', async () => {
    const forged = 'GET-1 - "POST /login HTTP/1.1" 303 See Other "-"';
    const headers: [string, string][] = [
      ['X-Request-Id', forged],
      ['traceparent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01" requester=user:x`],
      ['tracestate', forged],
      ['X-Forwarded-For', `127.0.0.1" requester=user:${UNKNOWN_ID}(root)`],
      ['User-Agent', `x" [polls: 1, cpu: 0.0ms] requester=user:${UNKNOWN_ID}(root) client.address=1.2.3.4 \\`],
      ['Referer', forged],
    ];
    const before = attacked.service.requestLines().length;
    await attacked.ask({ target: `/x"requester=homeserver\\`, headers });
    const lines = attacked.service.requestLines().slice(before);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ requester: undefined, address: '127.0.0.1', status: 404 });
    expect(lines[0]?.id).not.toBe('GET-1');
  });

  test('the log never contains a password, code or token, even if sent in the wrong place', async () => {
    const { accessToken } = await attacked.tokens(await attacked.signedIn('amira'), C1);
    const attempts = ['/login', '/authorize', '/oauth2/userinfo', `/authorize/${UNKNOWN_ID}`, '/nowhere'];
    for (const path of attempts)
      await attacked.ask({ target: `${path}?password=${accessToken}&code=${PASSWORD.replaceAll(' ', '+')}` });
    for (const path of ['/oauth2/token', '/oauth2/introspect', '/login']) {
      await attacked.post(path, {
        grant_type: accessToken,
        username: accessToken,
        scope: accessToken,
        token: accessToken,
      });
    }
    const log = attacked.service.logLines().join('\n');
    expect(log).not.toContain(accessToken);
    expect(log).not.toContain(PASSWORD.replaceAll(' ', '+'));
  });
});

describe('machine-readable responses (S-77)', () => {
  test.each([...SENDABLE, 'x'.repeat(5000), 'é\u{1F4A9}\uFFFF'])(
    '%.40j is never repeated as non-ASCII or as markup',
    async (text) => {
      const forms: [string, Record<string, string>][] = [
        ['/oauth2/token', { grant_type: text }],
        ['/oauth2/token', { grant_type: 'client_credentials', scope: text }],
        ['/oauth2/token', { grant_type: 'authorization_code', code: text, redirect_uri: text, code_verifier: text }],
        ['/oauth2/token', { grant_type: 'refresh_token', refresh_token: text, [text]: text }],
        ['/oauth2/introspect', { token: text, token_type_hint: text }],
        ['/oauth2/revoke', { token: 'x', token_type_hint: text }],
      ];
      for (const [path, form] of forms) {
        const response = await attacked.post(path, form, basic(C1));
        expect(headerOf(response, 'x-content-type-options')).toBe('nosniff');
        if (response.body === '') continue;
        expect(headerOf(response, 'content-type')).toBe('application/json');
        const description = jsonOf(response)['error_description'] ?? '';
        expect(description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/);
        expect(response.body).not.toContain(text);
      }
      const headers: [string, string][] = [['Authorization', `Bearer ${encodeURIComponent(text)}`]];
      const refused = await attacked.ask({ target: '/oauth2/userinfo', headers });
      expect([400, 401]).toContain(refused.status);
      expect(headerOf(refused, 'www-authenticate')).not.toContain('alert');
    },
  );
});

describe('paths outside the asset directory (S-78)', () => {
  test.each([
    '/assets/../package.json',
    '/assets/..%2fpackage.json',
    '/assets/%2e%2e/package.json',
    '/assets/..\\package.json',
    '/assets/..%5cpackage.json',
    '/assets/%252e%252e/package.json',
    '/assets/....//package.json',
    '/assets//etc/passwd',
    '/assets/%2fetc%2fpasswd',
    '/assets/C:%5cboot.ini',
    '/assets/pages.js%00.css',
    '/assets/%',
    '/assets/%zz',
    '/assets/.',
    '/assets/.htaccess',
    '/assets/pages.js.map',
    '/assets/__proto__',
    '/assets/constructor',
    '/account/%2e%2e/assets/pages.css',
    `/assets/${'x'.repeat(10_240)}`,
  ])('%.60s is refused', async (target) => {
    const response = await attacked.ask({ target });
    expect([400, 404, 414]).toContain(response.status);
    expect(response.body).not.toMatch(/root:|"dependencies"|Index of/);
  });
});
