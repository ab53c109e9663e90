import { beforeAll, describe, expect, test } from 'vitest';
import { parseId, toUuid } from '#platform/base/ids.ts';
import { Browser, type Page } from '#test/support/browser.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { agreeToSso, loginTokenOf, ssoPath } from '#test/support/chat-sso.ts';
import { cleanUpAll } from '#test/support/clean-up.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const PROVIDER = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const SWITCHED_OFF = '01HZX7T3Q8V3M5N6P7R8S9T0AC';
const CLIENT = 'https://app.example/signed-in?a=%2F+x#/room';
const UNKNOWN = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const OLD_ACTION = 'org.chat.msc3824.action';
const MINUTE = 60;

const provider = (id: string, more: object = {}) => ({
  id,
  issuer: 'https://idp.example/',
  client_id: 'latchkey',
  token_endpoint_auth_method: 'none',
  ...more,
});

const SETTINGS = {
  http: { trusted_proxies: ['127.0.0.1'], client_ip_header: 'x-forwarded-for' },
  homeserver: { kind: 'none', homeserver: 'chat.example:8008' },
  account: { password_registration_enabled: true, password_registration_email_required: false },
  upstream_oauth2: {
    providers: [provider(PROVIDER, { synapse_idp_id: 'oidc-harbour' }), provider(SWITCHED_OFF, { enabled: false })],
  },
  policy: { data: { requester: { banned_user_agents: { literals: ['Banned'] } } } },
  rate_limiting: {
    login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
    sso_redirect: { per_ip: HIGH_LIMIT },
  },
};

const clock = new FakeClock();
let amira: string;
let browsers = 0;

const service = await sharedByTests(startService(SETTINGS, { clock }));

beforeAll(async () => {
  amira = await service.registerUser('amira', PASSWORD);
  await service.registerUser('lena', PASSWORD);
});

function newBrowser(of: TestService = service, more: { userAgent?: string } = {}): Browser {
  browsers += 1;
  return new Browser({
    listener: of.address,
    publicBase: of.publicBase,
    headers: { 'x-forwarded-for': `198.51.100.${browsers}` },
    ...more,
  });
}

async function signedIn(username: string, browser: Browser = newBrowser()): Promise<Browser> {
  await browser.get('/login');
  await browser.submit({ username, password: PASSWORD });
  expect(browser.page.status).toBe(303);
  return browser;
}

/** Starts a single sign-on. @returns the path where it continues, with its query */
async function begin(browser: Browser, redirectUrl = CLIENT, more: Readonly<Record<string, string>> = {}, end = '') {
  const { status, location } = await browser.get(ssoPath(redirectUrl, more, end));
  expect(status).toBe(303);
  const { pathname, search } = new URL(location ?? '');
  return pathname + search;
}

async function countRows(): Promise<number> {
  const [row] = await sql<{ n: number }>(service.database, 'select count(*)::integer as n from compat_sso_logins');
  return row?.n ?? expect.fail('no row');
}

function tokenOf({ location }: Page): string {
  return new URL(location ?? '').searchParams.get('loginToken') ?? expect.fail(`no token in ${location}`);
}

function lastLine() {
  return service.requestLines().at(-1) ?? expect.fail('no request line');
}

describe('GET login/sso/redirect (chat-compat 8)', () => {
  test.each([
    ['', {}, ''],
    ['/', {}, ''],
    [`/${PROVIDER}`, {}, ''],
    ['/oidc-google', {}, ''],
    ['', { action: 'register' }, '?action=register&org.chat.msc3824.action=register'],
    ['', { action: 'login' }, '?action=login&org.chat.msc3824.action=login'],
    ['/', { [OLD_ACTION]: 'register' }, '?action=register&org.chat.msc3824.action=register'],
    ['', { action: 'login', [OLD_ACTION]: 'register' }, '?action=login&org.chat.msc3824.action=login'],
    ['', { action: 'dance', [OLD_ACTION]: 'register' }, '?action=register&org.chat.msc3824.action=register'],
    ['', { action: 'dance' }, ''],
    ['', { 'org.matrix.msc3824.action': 'register' }, ''],
  ])('%s with %j redirects to the SSO page', async (end, query, expected) => {
    const browser = newBrowser();
    const { status, location, headers } = await browser.get(ssoPath(CLIENT, query, end));
    expect(status).toBe(303);
    expect(location).toMatch(new RegExp(`^${service.publicBase}complete-compat-sso/[0-9A-HJKMNP-TV-Z]{26}(?:\\?|$)`));
    expect(new URL(location ?? '').search).toBe(expected);
    expect(headers).toMatchObject({ 'cache-control': 'no-store' });
    expect(headers['set-cookie']).toBeUndefined();
    expect(headers['access-control-allow-origin']).toBeUndefined();
    const [row] = await sql<{ redirect_uri: string; upstream_provider_id: string | null }>(
      service.database,
      'select redirect_uri, upstream_provider_id from compat_sso_logins where id = $1::uuid',
      [
        toUuid(
          parseId(location?.slice(-26 - expected.length, -expected.length || undefined) ?? '') ?? expect.fail('no id'),
        ),
      ],
    );
    expect(row?.redirect_uri).toBe(CLIENT);
    expect(row?.upstream_provider_id !== null).toBe(end === `/${PROVIDER}`);
    expect(lastLine()).toMatchObject({ status: 303, queries: 1, requester: undefined });
  });

  test.each(['r0', 'v1', 'unstable', 'v99'])('works below %s', async (version) => {
    const path = ssoPath(CLIENT).replace('v3', version);
    expect((await newBrowser().get(path)).status).toBe(303);
  });

  test.each<[string, string]>([
    ['missing', ssoPath(undefined)],
    ['empty', ssoPath('')],
    ['given twice', `${ssoPath(CLIENT)}&redirectUrl=https://app.example/`],
    ['given twice, once empty', `${ssoPath(CLIENT)}&redirectUrl=`],
    ['relative', ssoPath('/signed-in')],
    ['of a browser’s own scheme', ssoPath('javascript:alert(1)')],
    ['with a name in front of the host', ssoPath('https://amira@evil.example/')],
    ['with a line break', ssoPath('https://app.example/\r\nX: y')],
    ['of 100 KiB', ssoPath(`https://app.example/${'x'.repeat(7000)}`)],
  ])('rejects a redirect URL that is %s, with a page without a link to it (S-70)', async (_what, path) => {
    const before = await countRows();
    const page = await newBrowser().get(path);
    expect(page.status).toBe(400);
    expect(page.errorCodes).toEqual(['invalid_redirect_uri']);
    expect(page.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
    expect(page.body).not.toMatch(/evil\.example|alert\(1\)|app\.example/);
    expect(await countRows()).toBe(before);
  });

  test('logs which client was rejected, without its query values', async () => {
    await newBrowser().get(ssoPath('https://amira@evil.example/path?secret=1'));
    const line = service.logLines().findLast((text) => text.includes('auth.refused'));
    expect(line).toContain('description="redirectUrl must not contain a username or password"');
    expect(line).toContain('redirect_uri=https://...@evil.example/path?...');
  });

  test('shows a page for an undecodable query', async () => {
    const page = await newBrowser().get('/_chat/client/v3/login/sso/redirect?redirectUrl=%ff');
    expect([page.status, page.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
  });

  test('rejects HEAD and POST with a 405 page, storing nothing', async () => {
    const before = await countRows();
    const browser = newBrowser();
    expect(await browser.head(ssoPath(CLIENT))).toMatchObject({ status: 405, headers: { allow: 'GET, OPTIONS' } });
    const posted = await browser.post(ssoPath(CLIENT), new URLSearchParams());
    expect([posted.status, posted.errorCodes]).toEqual([405, ['method_not_allowed']]);
    expect(await countRows()).toBe(before);
  });

  test('returns a 404 page for paths below it', async () => {
    const page = await newBrowser().get('/_chat/client/v3/login/sso/redirect/a/b');
    expect([page.status, page.errorCodes]).toEqual([404, ['not_found']]);
  });

  test('allows one address 30 at once, then one a second (rate_limiting.sso_redirect)', async () => {
    const own = await startService({ ...SETTINGS, rate_limiting: {} }, { clock, like: service });
    const browser = newBrowser(own);
    for (let count = 0; count < 30; count += 1) {
      expect((await browser.get(ssoPath(CLIENT))).status).toBe(303);
    }
    const page = await browser.get(ssoPath(CLIENT));
    expect([page.status, page.errorCodes, page.headers['retry-after']]).toEqual([429, ['rate_limited'], '1']);
    expect((await newBrowser(own).get(ssoPath(CLIENT))).status).toBe(303);
    clock.advanceSeconds(1);
    expect((await browser.get(ssoPath(CLIENT))).status).toBe(303);
    expect((await browser.get(ssoPath(CLIENT))).status).toBe(429);
    await own.stop();
  });

  test('allows one address a hundred unapproved ones at most', async () => {
    const browser = newBrowser();
    for (let count = 0; count < 100; count += 1) await begin(browser);
    const page = await browser.get(ssoPath(CLIENT));
    expect([page.status, page.headers['retry-after']]).toEqual([429, '1800']);
    expect((await newBrowser().get(ssoPath(CLIENT))).status).toBe(303);
    clock.advanceSeconds(30 * MINUTE);
    expect((await browser.get(ssoPath(CLIENT))).status).toBe(303);
  });

  test('accepts only targets that the operator allows (compat.sso_allowed_redirects)', async () => {
    const compat = { sso_allowed_redirects: ['https://app.example/signed-in', 'element://vector/'] };
    const own = await startService({ ...SETTINGS, compat }, { clock, like: service });
    const browser = newBrowser(own);
    expect((await browser.get(ssoPath(CLIENT))).status).toBe(303);
    expect((await browser.get(ssoPath('element://vector/webapp/'))).status).toBe(303);
    const page = await browser.get(ssoPath('https://app.example/'));
    expect([page.status, page.errorCodes]).toEqual([400, ['invalid_redirect_uri']]);
    expect(page.text).toContain('redirectUrl is not allowed by the configuration');
    await own.stop();
  });

  test('returns a 404 page when disabled (compat.enabled)', async () => {
    const own = await startService({ ...SETTINGS, compat: { enabled: false } }, { clock, like: service });
    for (const path of [ssoPath(CLIENT), ssoPath(CLIENT, {}, '/'), `/complete-compat-sso/${UNKNOWN}`]) {
      const page = await newBrowser(own).get(path);
      expect([page.status, page.errorCodes]).toEqual([404, ['not_found']]);
    }
    await own.stop();
  });
});

describe('GET /complete-compat-sso/{grant_id} (chat-compat 9.1)', () => {
  test.each<[string, string | undefined, Record<string, string>, string, string]>([
    ['signs in', undefined, {}, '', '/login?kind=continue_compat_sso_login&id='],
    ['registers', undefined, { action: 'register' }, '', '/register?kind=continue_compat_sso_login&id='],
    [
      'signs in if the client proposes it',
      undefined,
      { action: 'login' },
      '',
      '/login?kind=continue_compat_sso_login&id=',
    ],
    [
      'signs in through the provider that the client proposes (I-14)',
      undefined,
      {},
      `/${PROVIDER}`,
      `/upstream/authorize/${PROVIDER}?kind=continue_compat_sso_login&id=`,
    ],
    [
      'signs in through the provider with this name in Synapse',
      undefined,
      {},
      '/oidc-harbour',
      `/upstream/authorize/${PROVIDER}?kind=continue_compat_sso_login&id=`,
    ],
    ['signs in here if the provider is disabled', undefined, {}, `/${SWITCHED_OFF}`, '/login?kind='],
    ['signs in here if the provider is unknown (I-14)', undefined, {}, '/oidc-google', '/login?kind='],
    ['signs in, with a slash at the end (I-14)', undefined, {}, '/', '/login?kind='],
    ['registers with any provider', undefined, { action: 'register' }, `/${PROVIDER}`, '/register?kind='],
  ])('a signed-out user %s', async (_what, _user, query, end, expected) => {
    const browser = newBrowser();
    const path = await begin(browser, CLIENT, query, end);
    const { status, location } = await browser.get(path);
    expect(status).toBe(303);
    const { pathname, search } = new URL(location ?? '');
    expect((pathname + search).slice(0, expected.length)).toBe(expected);
    expect(new URLSearchParams(search).get('id')).toBe(path.split(/[/?]/)[2]);
    expect(lastLine()).toMatchObject({ queries: 1, requester: undefined });
  });

  test('with registration closed, action "register" leads to sign-in', async () => {
    const own = await startService({ ...SETTINGS, account: {}, upstream_oauth2: {} }, { clock, like: service });
    const browser = newBrowser(own);
    const path = await begin(browser, CLIENT, { action: 'register' });
    expect(new URL((await browser.get(path)).location ?? '').pathname).toBe('/login');
    await own.stop();
  });

  test('asks a signed-in user, with all details for the decision', async () => {
    const browser = await signedIn('amira');
    await sql(service.database, `update users set display_name = 'Amira Haddad' where username = 'amira'`);
    const page = await browser.get(await begin(browser));
    expect(page.status).toBe(200);
    expect(page.text).toContain('Sign in to app.example ?');
    expect(page.text).toContain('Amira Haddad');
    expect(page.text).toContain('@amira:chat.example:8008');
    expect(page.text).toContain('adds a new session');
    expect(page.text).toContain('Use another account');
    expect(page.text).not.toContain('not encrypted');
    expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' });
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("form-action 'self' https:;");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(page.body).not.toContain('signed-in?a=');
    expect(lastLine()).toMatchObject({ queries: 1, requester: `user:${amira}(amira)` });
  });

  test.each([
    ['https://bücher.example:8443/x', 'xn--bcher-kva.example:8443', "'self' https:", false],
    ['http://app.example/x', 'http://app.example', "'self' http:", true],
    ['http://localhost:8765/x', 'http://localhost:8765', "'self' http:", false],
    [
      'io.element.desktop:/vector/webapp/?x=1',
      'io.element.desktop:/vector/webapp/',
      "'self' io.element.desktop:",
      false,
    ],
  ])(
    'shows the target %s unchanged, and allows forms to redirect only there',
    async (address, name, formAction, isWarned) => {
      const browser = await signedIn('amira');
      const page = await browser.get(await begin(browser, address));
      expect(page.text).toContain(`Sign in to ${name} ?`);
      expect(page.text.includes('not encrypted')).toBe(isWarned);
      expect(page.headers['content-security-policy']).toContain(`form-action ${formAction};`);
    },
  );

  test('lets "use another account" redirect to the provider proposed by the client', async () => {
    const browser = await signedIn('amira');
    const page = await browser.get(await begin(browser, 'element://vector/', {}, `/${PROVIDER}`));
    expect(page.headers['content-security-policy']).toContain("form-action 'self' element: https:;");
    await browser.submit({}, { action: '/logout' });
    expect(browser.page.status).toBe(303);
    await browser.get(browser.page.location ?? '');
    expect(new URL(browser.page.location ?? '').pathname).toBe(`/upstream/authorize/${PROVIDER}`);
  });

  test.each([
    ['malformed', 'not-an-id'],
    ['unknown', UNKNOWN],
  ])('does not find an id that is %s, for any user (S-83)', async (_what, id) => {
    for (const browser of [newBrowser(), await signedIn('amira')]) {
      const page = await browser.get(`/complete-compat-sso/${id}`);
      expect([page.status, page.errorCodes]).toEqual([404, ['sso_login_not_found']]);
    }
  });

  test('expires after half an hour (compat.sso_login_ttl)', async () => {
    const browser = newBrowser();
    const path = await begin(browser);
    clock.advanceSeconds(30 * MINUTE - 1);
    expect((await browser.get(path)).status).toBe(303);
    clock.advanceSeconds(1);
    for (const visitor of [browser, await signedIn('amira')]) {
      const page = await visitor.get(path);
      expect([page.status, page.errorCodes]).toEqual([410, ['sso_login_expired']]);
      expect(page.text).toContain('start over');
    }
  });

  test('shows a notice for a session ended elsewhere, with a link back', async () => {
    const browser = await signedIn('lena');
    const path = await begin(browser);
    await sql(
      service.database,
      `update user_sessions set finished_at = now() where user_id = (select id from users where username = 'lena')`,
    );
    const page = await browser.get(path);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('You were signed out')]);
    await browser.submit({}, { action: '/logout' });
    expect(new URL(browser.page.location ?? '').pathname).toBe(path);
  });

  test.each([
    ['locked', 'Account locked'],
    ['deactivated', 'Account deactivated'],
  ])('tells a user who is %s', async (state, text) => {
    const browser = await signedIn('lena');
    const path = await begin(browser);
    await sql(service.database, `update users set ${state}_at = now() where username = 'lena'`);
    const page = await browser.get(path);
    await sql(service.database, `update users set ${state}_at = null where username = 'lena'`);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining(text)]);
    expect(lastLine().requester).toBeUndefined();
  });

  test('rejects a browser banned by policy', async () => {
    const browser = newBrowser(service, { userAgent: 'Banned' });
    const path = await begin(browser);
    await signedIn('amira', browser);
    const page = await browser.get(path);
    expect([page.status, page.errorCodes]).toEqual([403, ['requester-banned']]);
    expect(page.text).toContain('You cannot connect app.example from this network or browser');
    expect(page.text).toContain('Use another account');
    expect(page.forms.map(({ action }) => action)).toEqual(['/logout']);
  });
});

describe('POST /complete-compat-sso/{grant_id} (chat-compat 9.2)', () => {
  test('sends a token to the client, only in its query', async () => {
    const browser = await signedIn('amira');
    const path = await begin(browser);
    await browser.get(path);
    const page = await agreeToSso(browser);
    expect(page.status).toBe(303);
    expect(page.location).toMatch(/^https:\/\/app\.example\/signed-in\?a=%2F\+x&loginToken=[A-Za-z0-9]{32}#\/room$/);
    expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    expect(page.body).toBe('');
    expect(lastLine()).toMatchObject({ queries: 2, requester: `user:${amira}(amira)` });
    const token = tokenOf(page);
    const [row] = await sql<{ dump: string }>(
      service.database,
      `select l::text as dump from compat_sso_logins l where fulfilled_at is not null order by fulfilled_at desc limit 1`,
    );
    expect(row?.dump).not.toContain(token);
    expect(service.logLines().join('\n')).not.toContain(token);
  });

  test.each([
    ['element://vector/webapp/', /^element:\/\/vector\/webapp\/\?loginToken=\w{32}$/],
    ['http://localhost:8765/cb', /^http:\/\/localhost:8765\/cb\?loginToken=\w{32}$/],
    ['https://app.example/?x=1&loginToken=planted#f', /^https:\/\/app\.example\/\?x=1&loginToken=\w{32}#f$/],
    ['https://app.example/ä?b c', /^https:\/\/app\.example\/%C3%A4\?b%20c&loginToken=\w{32}$/],
  ])('to %s preserves the URL (I-13)', async (address, expected) => {
    const browser = await signedIn('amira');
    await browser.get(await begin(browser, address));
    const page = await agreeToSso(browser);
    expect(String(page.headers.location)).toMatch(expected);
  });

  test('works once: a resubmitted form or reopened page says that it is finished, for any user (S-72)', async () => {
    const browser = await signedIn('amira');
    const path = await begin(browser);
    const form = await browser.get(path);
    await agreeToSso(browser);
    const again = new URLSearchParams([...(form.forms.find(({ action }) => action === path)?.inputs ?? [])]);
    for (const page of [
      await browser.post(path, again),
      await browser.get(path),
      await (await signedIn('lena')).get(path),
      await newBrowser().get(path),
    ]) {
      expect([page.status, page.errorCodes]).toEqual([410, ['sso_login_used']]);
      expect(page.location).toBeUndefined();
      expect(page.text).not.toContain('amira');
    }
  });

  test('twice concurrently: creates one token', async () => {
    const browser = await signedIn('amira');
    const path = await begin(browser);
    const form = await browser.get(path);
    const fields = new URLSearchParams([...(form.forms.find(({ action }) => action === path)?.inputs ?? [])]);
    const responses = await Promise.all(Array.from({ length: 8 }, () => browser.post(path, fields)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([303, ...Array.from({ length: 7 }, () => 410)]);
  });

  test('shows the page again after ten minutes, and then works (S-72)', async () => {
    const browser = await signedIn('amira');
    await browser.get(await begin(browser));
    clock.advanceSeconds(10 * MINUTE + 1);
    const page = await agreeToSso(browser);
    expect([page.status, page.errorCodes]).toEqual([200, ['csrf_expired']]);
    expect(page.text).toContain('Sign in to app.example ?');
    expect((await agreeToSso(browser)).status).toBe(303);
  });

  test.each([
    ['without the time of the page', ''],
    ['with a forged time of the page', Buffer.from('1'.repeat(60)).toString('base64url')],
  ])('%s shows the page again', async (_what, rendered) => {
    const browser = await signedIn('amira');
    await browser.get(await begin(browser));
    expect([(await agreeToSso(browser, { rendered })).status, browser.page.errorCodes]).toEqual([
      200,
      ['csrf_expired'],
    ]);
  });

  test('ignores the page time of another sign-on', async () => {
    const browser = await signedIn('amira');
    const other = await browser.get(await begin(browser, 'https://other.example/'));
    const rendered = other.forms.at(-1)?.inputs.get('rendered') ?? expect.fail('no time');
    clock.advanceSeconds(1);
    await browser.get(await begin(browser));
    expect((await agreeToSso(browser, { rendered })).status).toBe(200);
  });

  test('rejects forms without proof, of another browser, and of another site (S-57)', async () => {
    const browser = await signedIn('amira');
    const path = await begin(browser);
    const form = await browser.get(path);
    const fields = new URLSearchParams([...(form.forms.find(({ action }) => action === path)?.inputs ?? [])]);
    const attacker = await signedIn('lena');
    await attacker.get(path);
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    for (const page of [
      await browser.post(path, new URLSearchParams()),
      await attacker.post(path, fields),
      await browser.post(path, fields, foreign),
    ]) {
      expect(page.status).toBe(403);
    }
    expect((await browser.post(path, fields)).status).toBe(303);
  });

  test('asks a user signed out in another tab to sign in, and creates nothing', async () => {
    const browser = newBrowser();
    const path = await begin(browser);
    await browser.get('/login');
    const { inputs } = browser.page.forms[0] ?? expect.fail('no form');
    const page = await browser.post(path, new URLSearchParams([...inputs]));
    expect([page.status, new URL(page.location ?? '').pathname]).toEqual([303, '/login']);
  });

  test.each([
    ['ended', `update user_sessions set finished_at = now() where finished_at is null`],
    ['locked', `update users set locked_at = now() where username = 'amira'`],
  ])('issues no token to a user whose session or account is meanwhile %s (S-102)', async (_what, change) => {
    const browser = await signedIn('amira');
    await browser.get(await begin(browser));
    await sql(service.database, change);
    const page = await agreeToSso(browser);
    await sql(service.database, `update users set locked_at = null where username = 'amira'`);
    expect([page.status, page.location]).toEqual([200, undefined]);
  });

  test('rejects expired, unknown and banned requests like the page', async () => {
    const browser = await signedIn('amira');
    await browser.get(await begin(browser));
    clock.advanceSeconds(31 * MINUTE);
    expect([(await agreeToSso(browser)).status, browser.page.errorCodes]).toEqual([410, ['sso_login_expired']]);
    await browser.get('/');
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    expect((await browser.post(`/complete-compat-sso/${UNKNOWN}`, new URLSearchParams({ csrf }))).status).toBe(404);
    const banned = newBrowser(service, { userAgent: 'Banned' });
    const path = await begin(banned);
    await signedIn('amira', banned);
    await banned.get(path);
    const proof = banned.page.forms[0]?.inputs.get('csrf') ?? '';
    expect((await banned.post(path, new URLSearchParams({ csrf: proof }))).status).toBe(403);
  });
});

describe('the complete flow of a user', () => {
  test('signing in with a password on the way', async () => {
    const browser = newBrowser();
    await browser.open(ssoPath(CLIENT));
    expect(browser.page.text).toContain('to continue to app.example');
    expect(browser.page.headers['content-security-policy']).toContain("form-action 'self';");
    await browser.submit({ username: 'amira', password: PASSWORD });
    const page = await browser.follow();
    expect(page.text).toContain('Sign in to app.example ?');
    expect(tokenOf(await agreeToSso(browser))).toHaveLength(32);
  });

  test('switching to another account', async () => {
    const browser = await signedIn('amira');
    await browser.get(await begin(browser));
    await browser.submit({}, { action: '/logout' });
    await browser.follow();
    await browser.submit({ username: 'lena', password: PASSWORD });
    const page = await browser.follow();
    expect(page.text).toContain('@lena:chat.example:8008');
    expect((await agreeToSso(browser)).status).toBe(303);
  });

  test('above the soft session limit: shows how many sessions must end (chat-compat 10.5)', async () => {
    const own = await startService(
      { ...SETTINGS, experimental: { session_limit: { soft_limit: 1, hard_limit: 3 } } },
      { clock, like: service },
    );
    await own.registerUser('dora', PASSWORD);
    await sql(
      service.database,
      `insert into compat_sessions (id, user_id, device_id, created_at)
       select gen_random_uuid(), id, 'D' || n, now() from users, generate_series(1, 2) n where username = 'dora'`,
    );
    const browser = await signedIn('dora', newBrowser(own));
    const path = await begin(browser);
    const page = await browser.get(path);
    expect([page.status, page.errorCodes]).toEqual([403, ['too-many-sessions']]);
    expect(page.text).toContain('Sign out of 2 apps or devices');
    await sql(service.database, `update compat_sessions set finished_at = now() where finished_at is null`);
    expect((await browser.get(path)).status).toBe(200);
    await own.stop();
  });
});

test('deletes logins without a session after a day (chat-compat 15)', async () => {
  const browser = await signedIn('amira');
  const path = await begin(browser);
  await browser.get(path);
  await agreeToSso(browser);
  clock.advanceSeconds(86_400);
  const fresh = await begin(browser);
  await cleanUpAll({ database: service.database, clock });
  expect((await newBrowser().get(path)).status).toBe(410);
  clock.advanceSeconds(1);
  await cleanUpAll({ database: service.database, clock });
  expect(await countRows()).toBe(1);
  expect((await newBrowser().get(path)).status).toBe(404);
  expect((await newBrowser().get(fresh)).status).toBe(303);
});

test('keeps the browser session behind a client session as long as the latter (operations 6.4)', async () => {
  const browser = await signedIn('amira');
  const token = await loginTokenOf(browser);
  const { status } = await new ChatClient(service).post('/login', { type: 'm.login.token', token });
  expect(status).toBe(200);
  await browser.get('/');
  await browser.submit({}, { action: '/logout' });
  const count = async (from: string) => (await sql(service.database, `select from ${from}`)).length;
  clock.advanceSeconds(31 * 86_400);
  await cleanUpAll({ database: service.database, clock });
  const referred = 'user_sessions where id in (select user_session_id from compat_sessions)';
  expect([await count('compat_sso_logins'), await count(referred)]).toEqual([1, 1]);
  await sql(service.database, 'update compat_sessions set finished_at = created_at');
  await cleanUpAll({ database: service.database, clock });
  expect([await count('compat_sso_logins'), await count(referred)]).toEqual([0, 0]);
});
