/** Security 4.7: URLs of the service that redirect users elsewhere. */
import { describe, expect, test } from 'vitest';
import { startService } from '../support/service.ts';
import { attackedService, ISSUER, PASSWORD, SETTINGS } from './attacked-service.ts';
import { headerOf, sendRequest } from './raw-http.ts';

const attacked = attackedService();
/** Allowed targets of a continuation, all below the public base (interface.md). */
const TARGET = new RegExp(
  `^${ISSUER}(authorize/[0-9A-Z]{26}|device/[0-9A-Z]{26}|complete-compat-sso/[0-9A-Z]{26}|upstream/link/[0-9A-Z]{26}` +
    `|account/password/change|account/(\\?action=[a-z._]+(&device_id=[\\w%.~-]+)?)?)?$`,
);

describe('the redirect after signing in or reauthenticating (S-69)', () => {
  const QUERIES = [
    'kind=manage_account&action=//evil.example',
    'kind=manage_account&action=session_end&device_id=%0d%0aLocation:%20https://evil.example',
    'kind=manage_account&action=session_end&device_id=%E2%80%AE//evil.example',
    'kind=continue_authorization_grant&id=01H..%2f..%2f',
    'kind=continue_authorization_grant&id=%2f%2fevil.example%2faaaaaaaaaaaaa',
    'kind=link_upstream&id=https://evil.example',
    'kind=https://evil.example&id=x',
    'kind=__proto__',
    'kind=change_password&kind=manage_account',
    'kind[]=change_password',
    'next=//evil.example&redirect=//evil.example&return_to=//evil.example&url=https://evil.example',
    'continue=https://evil.example#kind=change_password',
  ];

  test.each(QUERIES)('?%s never leaves the site', async (query) => {
    const browser = await attacked.signedIn('amira');
    await browser.get(`/login?${query}`);
    expect([browser.page.status, browser.page.location]).toEqual([303, expect.stringMatching(TARGET)]);
    await browser.get(`/reauth?${query}`);
    expect(browser.page.status).toBe(200);
    await browser.submit({ password: PASSWORD }, { action: formPath(browser.page.forms) });
    expect([browser.page.status, browser.page.location]).toEqual([303, expect.stringMatching(TARGET)]);
    await browser.get('/');
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    const signedOut = await browser.post('/logout', new URLSearchParams(`csrf=${csrf}&${decodeURI(query)}`));
    if (signedOut.location !== undefined) expect(signedOut.location.startsWith(ISSUER)).toBe(true);
  });
});

describe('paths that resemble another host, below a path prefix (S-73)', () => {
  test.each([
    '//evil.example/..',
    '/\\evil.example',
    '/%2f%2fevil.example',
    '//evil.example/auth/login',
    '/auth//evil.example',
  ])('%s never redirects', async (target) => {
    const publicBase = 'https://example.test/auth/';
    const listener = {
      name: 'web',
      resources: ['discovery', 'human', 'oauth', 'assets', 'health'],
      binds: [{ address: '127.0.0.1:0' }],
      prefix: '/auth',
    };
    const http = { public_base: publicBase, listeners: [listener] };
    const prefixed = await startService({ ...SETTINGS, http });
    try {
      for (const suffix of ['', '/', '/account', '/login?kind=change_password', '/../login']) {
        const response = await sendRequest(prefixed.address, { target: target + suffix });
        expect(response.status).toBe(404);
        expect(headerOf(response, 'location')).toBeUndefined();
      }
      const moved = await sendRequest(prefixed.address, { target: '/auth/reauth' });
      expect(headerOf(moved, 'location')).toBe(`${new URL(publicBase).pathname}login`);
    } finally {
      await prefixed.stop();
    }
  });

  test.each(['//evil.example/..', '/\\evil.example', '/%2f%2fevil.example', 'http://evil.example/'])(
    '%s does not redirect at the root either',
    async (target) => {
      const response = await attacked.ask({ target });
      expect(headerOf(response, 'location')).toBeUndefined();
      expect(response.body).not.toContain('evil.example');
    },
  );

  test.each([
    '/account//evil.example',
    '/account/%2f%2fevil.example',
    '/account/sessions?next=//evil.example',
    '/account/?kind=//evil.example&action=//evil.example&device_id=//evil.example',
    '/account/devices/A?org.chat.msc4198.login_hint=',
  ])('%s redirects to the own sign-in page', async (target) => {
    const location = headerOf(await attacked.ask({ target }), 'location') ?? '';
    expect(location).toMatch(/^\/login\?kind=manage_account/);
    expect(location).not.toContain('evil.example');
  });

  test('the URL without its trailing slash keeps the query and redirects nowhere else', async () => {
    const response = await attacked.ask({ target: '/account?//evil.example/..&action=profile' });
    expect(headerOf(response, 'location')).toBe('/account/?//evil.example/..&action=profile');
  });
});

function formPath(forms: readonly { readonly action: string }[]): string {
  return forms.find(({ action }) => action.startsWith('/reauth'))?.action ?? expect.fail('no form');
}
