/**
 * Requests every route as a user whose account has exhausted its work limit (`limits.work`, security 4.17). Routes that
 * identify the signed-in user reject the request from any address.
 */
import { expect, test } from 'vitest';
import { acceptableForms, PLACEHOLDERS } from '../hostile-input/hostile-request.ts';
import type { Browser } from '../support/browser.ts';
import { attackedService, C1, P1, SETTINGS } from './attacked-service.ts';
import { textMember } from './raw-http.ts';

const attacked = attackedService(
  {
    ...SETTINGS,
    rate_limiting: { ...SETTINGS.rate_limiting, graphql: { authenticated: { burst: 100_000, per_second: 1000 } } },
    limits: { work: { per_address: { burst: 0 }, per_account: { burst: '2s', per_second: '1ms' } } },
  },
  { arePasswordsChosen: true },
);

/** More requests than are needed to exhaust the bucket. */
const MAX_DEAR = 2000;
/** Signing out is always possible. */
const SIGN_OUT = ['/logout', '/oauth2/logout'];
/** Routes that respond without identifying the user. */
const OPEN = [
  // The same for all users.
  ...[/^GET \/*\.well-known\//, /^GET \/(?:api\/doc|assets|client-logos)\b/],
  ...[
    /^GET \/(?:account|admin|admin\/callback|favicon\.ico|graphql\/playground|health|oauth2\/keys\.json|robots\.txt)$/,
  ],
  'GET /account/password/recovery',
  // For clients, and for tokens that are unknown here.
  /^\w+ \/oauth2\/(?:device|introspect|par|registration|registration\/:client_id|revoke|token)$/,
  /^(?:GET|POST) \/_chat\//,
  // Sign-ins in progress, which are attributed to a user only at the end.
  ...['POST /login', /^(?:GET|POST) \/(?:login|reauth)\//],
  // The requested upstream sign-in and registration do not exist.
  ...[/ \/upstream\//, 'GET /register/steps/:id/finish'],
];

test('an account that has exhausted its work budget is refused on every route that checks who is signed in', {
  timeout: 300_000,
}, async () => {
  const browser = await attacked.signedIn('amira');
  const { accessToken } = await attacked.tokens(browser, C1);
  const targets = await targetsOf(browser);
  await browser.get('/');
  const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? expect.fail('no form');
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  await spendAll(cookie);
  const values = new Map<string, string | undefined>([
    [PLACEHOLDERS.csrf, csrf],
    [PLACEHOLDERS.grantId, targets['/consent/:grant_id']?.split('/').at(-1)],
  ]);
  const routes = attacked.routes().filter(({ path }) => !SIGN_OUT.includes(path));
  const responded = await Promise.all(
    routes.map(async ({ errorFormat, method, path, target }) => {
      const isGraphql = errorFormat === 'graphql-json';
      const isUserinfo = path === '/oauth2/userinfo';
      const forms = isUserinfo ? [] : acceptableForms(path);
      const fields = (method === 'GET' ? forms[0] : forms.at(-1)) ?? [];
      const form = fields.map(([name, value]) => `${name}=${values.get(String(value)) ?? String(value)}`).join('&');
      const headers: [string, string][] = [
        ['X-Forwarded-For', attacked.newAddress()],
        isUserinfo ? ['Authorization', `Bearer ${accessToken}`] : ['Cookie', cookie],
      ];
      const own = targets[path] ?? target;
      const query = isGraphql ? `query=${QUERY}` : form;
      if (method === 'GET') return await attacked.ask({ method, target: `${own}?${query}`, headers });
      headers.push(['Content-Type', isGraphql ? 'application/json' : 'application/x-www-form-urlencoded']);
      return await attacked.ask({ method, target: own, headers, body: isGraphql ? `{"query":"${QUERY}"}` : form });
    }),
  );
  const named = routes.map(({ method, path }) => `${method} ${path}`);
  const isOpen = (name: string): boolean =>
    OPEN.some((open) => (typeof open === 'string' ? open === name : open.test(name)));
  expect(named.filter((_, index) => responded[index]?.status === 429)).toEqual(named.filter((name) => !isOpen(name)));
  // Signing out still works.
  expect((await browser.submit({}, { action: '/logout' })).status).toBe(303);
  expect((await browser.get('/account/')).location).toContain('/login');
});

const QUERY = '{viewer{__typename}}';

async function targetsOf(browser: Browser): Promise<Record<string, string>> {
  const targets: Record<string, string> = {};
  const note = (pattern: string): void => {
    targets[pattern] = new URL(browser.page.location ?? browser.page.url).pathname;
  };
  await browser.get(attacked.authorizeUrl(C1, { prompt: 'consent' }));
  note('/consent/:grant_id');
  targets['/authorize/:grant_id'] = (targets['/consent/:grant_id'] ?? '').replace('consent', 'authorize');
  await browser.get('/_chat/client/v3/login/sso/redirect?redirectUrl=https://app.example/');
  note('/complete-compat-sso/:grant_id');
  const device = await attacked.post('/oauth2/device', { client_id: P1.id, scope: 'openid' });
  await browser.get(`/link?code=${textMember(device, 'user_code')}`);
  note('/device/:device_code_id');
  return targets;
}

async function spendAll(cookie: string): Promise<void> {
  const body = JSON.stringify({ query: `{ ${Array.from({ length: 3000 }, (_, index) => `n${index}`).join(' ')} }` });
  const headers: [string, string][] = [
    ['Cookie', cookie],
    ['Content-Type', 'application/json'],
  ];
  for (let count = 0; count < MAX_DEAR; count += 1) {
    const from = [...headers, ['X-Forwarded-For', attacked.newAddress()] as const];
    if ((await attacked.ask({ method: 'POST', target: '/graphql', headers: from, body })).status === 429) return;
  }
  expect.fail('the account was never refused');
}
