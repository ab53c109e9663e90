import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { Browser, type Page } from '#test/support/browser.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import type { RequestLine } from '#test/support/log-expression.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const TV = '01JD3Q5Z8W2N4K6M7P9R0S1TTV';
const TOOL = '01JD3Q5Z8W2N4K6M7P9R0S1TCN';
const WEB = '01JD3Q5Z8W2N4K6M7P9R0S1TWB';
const SECRET = 'a-secret-of-at-least-16-characters';
const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const TV_AGENT = 'Mozilla/5.0 (SMART-TV; LINUX; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) Safari/537.36';

const SETTINGS = {
  homeserver: { kind: 'none', homeserver: 'example.org' },
  clients: [
    {
      client_id: TV,
      client_auth_method: 'none',
      client_name: 'Living Room TV',
      client_uri: 'https://tv.example/',
      logo_uri: 'https://tv.example/logo',
    },
    { client_id: TOOL, client_auth_method: 'client_secret_basic', client_secret: SECRET, scope: 'openid profile' },
    {
      client_id: WEB,
      client_auth_method: 'client_secret_basic',
      client_secret: SECRET,
      redirect_uris: ['https://app.example/cb'],
      grant_types: ['authorization_code'],
    },
  ],
  account: { client_logos: 'proxy' },
  policy: { data: { admin_users: ['adele'] } },
  rate_limiting: {
    login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
    device_code: { per_ip: HIGH_LIMIT },
    device_authorization: { per_client: HIGH_LIMIT },
  },
};

const clock = new FakeClock();
let browsers = 0;

const BEHIND_PROXY = { trusted_proxies: ['127.0.0.1'], client_ip_header: 'x-forwarded-for' };
const service = await sharedByTests(startService({ ...SETTINGS, http: BEHIND_PROXY }, { clock }));

beforeAll(async () => {
  for (const username of ['amira', 'bruno', 'adele']) await service.registerUser(username, PASSWORD);
});

interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

async function post(
  path: string,
  form: Readonly<Record<string, string>>,
  more: HeadersInit = {},
): Promise<TestResponse> {
  const response = await fetch(service.address + path, {
    method: 'POST',
    headers: { 'user-agent': TV_AGENT, 'x-forwarded-for': '203.0.113.5', ...more },
    body: new URLSearchParams(form),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

interface Requested {
  readonly deviceCode: string;
  readonly userCode: string;
}

async function ask(form: Readonly<Record<string, string>> = {}): Promise<Requested> {
  const { body, status } = await post('/oauth2/device', { client_id: TV, scope: 'openid profile', ...form });
  expect(status, JSON.stringify(body)).toBe(200);
  return { deviceCode: String(body['device_code']), userCode: String(body['user_code']) };
}

async function poll(deviceCode: string, clientId = TV): Promise<TestResponse> {
  return await post('/oauth2/token', { grant_type: DEVICE_GRANT, device_code: deviceCode, client_id: clientId });
}

async function errorOf(response: Promise<TestResponse>): Promise<unknown> {
  const { status, body } = await response;
  expect(status).toBe(400);
  return body['error'];
}

function newBrowser(): Browser {
  browsers += 1;
  return new Browser({
    listener: service.address,
    publicBase: service.publicBase,
    headers: { 'x-forwarded-for': `198.51.100.${browsers}` },
  });
}

async function signedIn(username: string, browser: Browser = newBrowser()): Promise<Browser> {
  await browser.get('/login');
  await browser.submit({ username, password: PASSWORD });
  expect(browser.page.status).toBe(303);
  clock.advanceSeconds(1);
  return browser;
}

/** Enters a code and continues to the page that asks for the decision. */
async function enter(browser: Browser, userCode: string): Promise<Page> {
  await browser.get('/link');
  await browser.submit({ code: userCode });
  return await browser.follow();
}

async function decide(browser: Browser, action: 'consent' | 'reject'): Promise<Page> {
  const confirmed = action === 'consent' ? { confirm_device: 'on' } : {};
  await browser.submit({ action, ...confirmed }, { action: new URL(browser.page.url).pathname });
  expect(browser.page.status).toBe(303);
  return await browser.follow();
}

function lastLine(method: string, path: RegExp | string): RequestLine {
  const found = service
    .requestLines()
    .findLast(
      (line) => line.method === method && (typeof path === 'string' ? line.path === path : path.test(line.path)),
    );
  if (found === undefined) throw new Error(`no line for ${method} ${path}`);
  return found;
}

describe('a device authorization request (RFC 8628 3.1)', () => {
  test('gets a device code, a user code and the verification URLs, in one statement', async () => {
    await ask();
    const { body, headers, status } = await post('/oauth2/device', { client_id: TV, scope: 'openid' });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      device_code: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${service.publicBase.replace(/\/?$/, '/')}link`,
      verification_uri_complete: `${service.publicBase.replace(/\/?$/, '/')}link?code=${body['user_code']}`,
      expires_in: 1200,
      interval: 5,
    });
    const line = lastLine('POST', '/oauth2/device');
    expect(line.requester).toBe(`oauth2-client:${TV}`);
    expect(line.queries).toBe(1);
  });

  test('stores its codes only as a digest, a keyed digest and sealed (R-02)', async () => {
    const { deviceCode, userCode } = await ask();
    const rows = await sql<{ text: string }>(
      service.database,
      'select row_to_json(g)::text as text from oauth2_device_code_grants g',
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { text } of rows) {
      for (const secret of [deviceCode, userCode, userCode.replace('-', '')]) {
        expect(text).not.toContain(secret);
        expect(text).not.toContain(Buffer.from(secret).toString('hex'));
      }
    }
  });

  test.each<[string, Record<string, string>, string]>([
    ['an unknown client', { client_id: '01JD3Q5Z8W2N4K6M7P9R0S1T00' }, 'invalid_client'],
    ['a client without the grant', { client_id: WEB, client_secret: SECRET }, 'unauthorized_client'],
    ['a malformed scope', { scope: 'openid "' }, 'invalid_scope'],
    ['an unknown scope', { scope: 'everything' }, 'invalid_scope'],
    [
      'two devices',
      { scope: 'urn:chat:client:api:* urn:chat:client:device:AAAAAAAAAA urn:chat:client:device:BBBBBBBBBB' },
      'invalid_scope',
    ],
    ['a device without the API', { scope: 'urn:chat:client:device:AAAAAAAAAA' }, 'invalid_scope'],
    ['a resource', { resource: 'https://api.example/' }, 'invalid_target'],
  ])('from %s is rejected, and nothing is stored (S-118)', async (_what, form, error) => {
    const count = async () =>
      (await sql<{ n: number }>(service.database, 'select count(*)::integer as n from oauth2_device_code_grants'))[0]
        ?.n;
    const before = await count();
    const { status, body } = await post('/oauth2/device', { client_id: TV, ...form });
    expect([status, body['error']]).toEqual([error === 'invalid_client' ? 401 : 400, error]);
    expect(await count()).toBe(before);
  });

  test('may omit the scope, and drops scopes that are unknown or not registered', async () => {
    const without = await post('/oauth2/device', { client_id: TV });
    const user = await signedIn('amira');
    await enter(user, String(without.body['user_code']));
    await decide(user, 'consent');
    const device_code = String(without.body['device_code']);
    const tokens = await post('/oauth2/token', { grant_type: DEVICE_GRANT, device_code, client_id: TV });
    expect(tokens.status).toBe(200);
    const refresh_token = String(tokens.body['refresh_token']);
    const refreshed = await post('/oauth2/token', { grant_type: 'refresh_token', refresh_token, client_id: TV });
    expect(refreshed.status).toBe(200);

    const basic = { authorization: `Basic ${Buffer.from(`${TOOL}:${SECRET}`).toString('base64')}` };
    const requested = await post('/oauth2/device', { scope: 'openid email unheard' }, basic);
    const browser = await signedIn('amira');
    await enter(browser, String(requested.body['user_code']));
    await decide(browser, 'consent');
    const form = { grant_type: DEVICE_GRANT, device_code: String(requested.body['device_code']) };
    expect((await post('/oauth2/token', form, basic)).body).toMatchObject({ scope: 'openid' });
  });

  test('without a scope gets the registered one', async () => {
    const basic = { authorization: `Basic ${Buffer.from(`${TOOL}:${SECRET}`).toString('base64')}` };
    const requested = await post('/oauth2/device', {}, basic);
    const browser = await signedIn('amira');
    await enter(browser, String(requested.body['user_code']));
    await decide(browser, 'consent');
    const form = { grant_type: DEVICE_GRANT, device_code: String(requested.body['device_code']) };
    expect((await post('/oauth2/token', form, basic)).body).toMatchObject({ scope: 'openid profile' });
  });

  test('with a repeated scope or a body other than a form is invalid_request', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const repeated = await fetch(`${service.address}/oauth2/device`, {
      method: 'POST',
      headers,
      body: `client_id=${TV}&scope=openid&scope=email`,
    });
    expect(await repeated.json()).toMatchObject({ error: 'invalid_request' });
    const json = await fetch(`${service.address}/oauth2/device`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(await json.json()).toMatchObject({ error: 'invalid_request' });
  });
});

describe('signing in on a device', () => {
  test('code, sign-in, page, consent: issues tokens to the device and confirms it to the user (browser-flows 15.26)', async () => {
    const { deviceCode, userCode } = await ask({ scope: 'openid profile offline_access' });
    expect(await errorOf(poll(deviceCode))).toBe('authorization_pending');
    expect(lastLine('POST', '/oauth2/token').queries).toBe(1);

    clock.advanceSeconds(180);
    const browser = newBrowser();
    const login = await enter(browser, userCode.toLowerCase().replace('-', ' '));
    expect(new URL(login.url).pathname).toBe('/login');
    expect(new URL(login.url).searchParams.get('kind')).toBe('continue_device_code_grant');
    await browser.submit({ username: 'amira', password: PASSWORD });
    const asking = await browser.follow();
    expect(new URL(asking.url).pathname).toMatch(/^\/device\/[0-9A-Z]{26}$/);
    expect(asking.status).toBe(200);
    expect(browser.page.body).toContain(`<img class="client-logo" src="/client-logos/${TV}"`);
    for (const shown of ['Living Room TV', 'tv.example', userCode, 'Tizen', '203.0.113.5', '3 minutes ago', '12:0']) {
      expect(asking.text).toContain(shown);
    }
    expect(asking.text).toContain('Continue only if you have it in your hands');
    expect(asking.text).toContain('@amira:example.org');
    expect(asking.headers['cache-control']).toBe('no-store');
    await browser.get(asking.url);
    expect(lastLine('GET', /^\/device\//)).toMatchObject({ queries: 1, requester: expect.stringContaining('(amira)') });

    const granted = await decide(browser, 'consent');
    expect(granted.status).toBe(200);
    expect(granted.text).toContain('Your device is signed in');
    expect(granted.forms.filter((form) => form.action.startsWith('/device'))).toEqual([]);
    expect(lastLine('POST', /^\/device\//)).toMatchObject({
      status: 303,
      queries: 2,
      requester: expect.stringContaining('(amira)'),
    });

    const tokens = await poll(deviceCode);
    expect(tokens.status).toBe(200);
    expect(tokens.body).toMatchObject({ token_type: 'Bearer', scope: 'openid profile offline_access' });
    expect(lastLine('POST', '/oauth2/token').queries).toBe(2);
    const keys: JSONWebKeySet = await (await fetch(`${service.address}/oauth2/keys.json`)).json();
    const { payload } = await jwtVerify(String(tokens.body['id_token']), createLocalJWKSet(keys), {
      issuer: service.issuer,
      audience: TV,
      currentDate: new Date(clock.now()),
    });
    expect(payload).toMatchObject({ preferred_username: 'amira', auth_time: expect.any(Number), amr: ['pwd'] });
    expect(payload).not.toHaveProperty('nonce');
    const refreshed = await post('/oauth2/token', {
      grant_type: 'refresh_token',
      refresh_token: String(tokens.body['refresh_token']),
      client_id: TV,
    });
    expect(refreshed.status).toBe(200);
    const events = await sql<{ kind: string }>(
      service.database,
      "select kind from audit_events where kind in ('consent_given', 'session_started') order by created_at, kind",
    );
    expect(events.map(({ kind }) => kind).slice(-2)).toEqual(['consent_given', 'session_started']);

    expect(await errorOf(poll(deviceCode)), 'a second exchange').toBe('invalid_grant');
    const again = await browser.get(granted.url);
    expect(again.text).toContain('Your device is signed in');
  });

  test('the URL prefills the code, and nothing happens before the button is pressed (S-116)', async () => {
    const { userCode } = await ask();
    const browser = await signedIn('amira');
    const response = await browser.get(`/link?code=${userCode}`);
    expect(response.status).toBe(200);
    expect(response.forms[0]?.inputs.get('code')).toBe(userCode);
    expect(lastLine('GET', '/link').queries).toBe(1);
    await browser.submit();
    expect(browser.page.status).toBe(303);
    const asking = await browser.follow();
    expect(asking.text).toContain(userCode);
    expect(asking.body).toMatch(/<input type="checkbox"(?![^>]*\schecked)[^>]*name="confirm_device"/);
  });

  test('without the checkbox nothing is granted; another action is an error on the page (browser-flows 15.26)', async () => {
    const { deviceCode, userCode } = await ask();
    const browser = await signedIn('amira');
    const { pathname } = new URL((await enter(browser, userCode)).url);
    await browser.post(pathname, withCsrf(browser, { action: 'consent' }));
    expect([browser.page.status, browser.page.errorCodes]).toEqual([200, ['required']]);
    await browser.post(pathname, withCsrf(browser, { action: 'frob', confirm_device: 'on' }));
    expect([browser.page.status, browser.page.errorCodes]).toEqual([200, ['invalid_action']]);
    await browser.post(pathname, withCsrf(browser, { confirm_device: 'on' }));
    expect([browser.page.status, browser.page.errorCodes]).toEqual([200, ['invalid_action']]);
    expect(await errorOf(poll(deviceCode))).toBe('authorization_pending');
  });

  test('a denial is final, for the device and on the page', async () => {
    const { deviceCode, userCode } = await ask();
    const browser = await signedIn('amira');
    await enter(browser, userCode);
    const page = await decide(browser, 'reject');
    expect(page.text).toContain('did not get access');
    expect(await errorOf(poll(deviceCode))).toBe('access_denied');
    await browser.get('/link');
    await browser.post(new URL(page.url).pathname, withCsrf(browser, { action: 'consent', confirm_device: 'on' }));
    expect(browser.page.status).toBe(303);
    expect((await browser.follow()).text).toContain('did not get access');
    expect(await errorOf(poll(deviceCode))).toBe('access_denied');
  });

  test('a form that was open for too long is shown again', async () => {
    const { userCode } = await ask();
    const browser = await signedIn('amira');
    await browser.get('/link');
    clock.advanceSeconds(3601);
    await browser.submit({ code: userCode });
    expect([browser.page.status, browser.page.errorCodes]).toEqual([200, ['csrf_expired']]);
    expect(browser.page.forms[0]?.inputs.get('code')).toBe(userCode);
  });
});

function withCsrf(browser: Browser, fields: Readonly<Record<string, string>>): URLSearchParams {
  const csrf = browser.page.forms.map((form) => form.inputs.get('csrf')).find((value) => value !== undefined);
  return new URLSearchParams({ ...(csrf !== undefined && { csrf }), ...fields });
}

describe('the device page (oauth 10.3)', () => {
  test('returns 404 in a browser in which the code was not entered, even for the same user (S-117, browser-flows 15.26)', async () => {
    const { userCode } = await ask();
    const browser = await signedIn('amira');
    const { url } = await enter(browser, userCode);
    for (const other of [await signedIn('amira'), await signedIn('bruno'), newBrowser()]) {
      const page = await other.get(url);
      expect([page.status, page.errorCodes]).toEqual([404, ['device_code_not_found']]);
      expect(page.body).toContain('href="/link"');
    }
  });

  test.each(['01JD3Q5Z8W2N4K6M7P9R0S1T00', 'x', '01JD3Q5Z8W2N4K6M7P9R0S1TUU', '%00'])(
    'treats an invalid ID (%s) as an unknown one (S-83)',
    async (id) => {
      const browser = await signedIn('amira');
      const page = await browser.get(`/device/${id}`);
      expect(page.status === 404 || id === '%00').toBe(true);
      expect(page.status).toBeLessThan(500);
    },
  );

  test('says after the decision that the code was used, to a later sign-in in the same browser: 410 (browser-flows 15.26)', async () => {
    const { userCode } = await ask();
    const browser = await signedIn('amira');
    await enter(browser, userCode);
    const { url } = await decide(browser, 'consent');
    await browser.get('/');
    await browser.submit({}, { action: '/logout' });
    await signedIn('bruno', browser);
    const page = await browser.get(url);
    expect([page.status, page.errorCodes]).toEqual([410, ['device_code_used']]);
  });

  test('allows switching to another account and back', async () => {
    const { deviceCode, userCode } = await ask();
    const browser = await signedIn('amira');
    const { url } = await enter(browser, userCode);
    await browser.submit({}, { action: '/logout' });
    await browser.follow();
    expect(new URL(browser.page.url).pathname).toBe('/login');
    await browser.submit({ username: 'bruno', password: PASSWORD });
    const asking = await browser.follow();
    expect(asking.url).toBe(url);
    expect(asking.text).toContain('@bruno:example.org');
    await decide(browser, 'consent');
    const tokens = await poll(deviceCode);
    const userinfo = await fetch(`${service.address}/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${tokens.body['access_token']}` },
    });
    expect(await userinfo.json()).toMatchObject({ preferred_username: 'bruno' });
  });

  test('shows a notice for a session ended elsewhere, and for a locked account', async () => {
    const { userCode } = await ask();
    const browser = await signedIn('bruno');
    const { url } = await enter(browser, userCode);
    await sql(service.database, "update users set locked_at = created_at where username = 'bruno'");
    expect((await browser.get(url)).text).toContain('locked');
    await sql(service.database, "update users set locked_at = null where username = 'bruno'");
    await sql(
      service.database,
      `update user_sessions set finished_at = created_at
        where user_id = (select id from users where username = 'bruno') and finished_at is null`,
    );
    expect((await browser.get(url)).text).toContain('signed out');
  });

  test('returns 410 for an expired code, which is unknown at /link', async () => {
    const { deviceCode, userCode } = await ask();
    const browser = await signedIn('amira');
    const { url } = await enter(browser, userCode);
    clock.advanceSeconds(1200);
    const page = await browser.get(url);
    expect([page.status, page.errorCodes]).toEqual([410, ['expired_token']]);
    expect(await errorOf(poll(deviceCode))).toBe('expired_token');
    await browser.get('/link');
    await browser.submit({ code: userCode });
    expect([browser.page.status, browser.page.errorCodes]).toEqual([200, ['invalid_code']]);
  });

  test('requires the admin right (403) and a recent sign-in for an admin scope (S-27, S-118, R-32)', async () => {
    const { deviceCode, userCode } = await ask({ scope: 'openid urn:latchkey:admin' });
    const browser = await signedIn('amira');
    const refused = await enter(browser, userCode);
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('Administer this service');
    const { pathname } = new URL(refused.url);
    await browser.post(pathname, withCsrf(browser, { action: 'consent', confirm_device: 'on' }));
    expect(browser.page.status).toBe(403);
    expect(await errorOf(poll(deviceCode))).toBe('authorization_pending');

    const admin = await signedIn('adele');
    clock.advanceSeconds(700);
    const reauth = await enter(admin, userCode);
    expect(lastLine('GET', '/reauth')).toMatchObject({ queries: 2 });
    expect(new URL(reauth.url).pathname).toBe('/reauth');
    await admin.submit(
      { password: PASSWORD },
      { action: `${new URL(reauth.url).pathname}${new URL(reauth.url).search}` },
    );
    const asking = await admin.follow();
    expect(asking.text).toContain('Administer this service');
    await decide(admin, 'consent');
    clock.advanceSeconds(5);
    expect((await poll(deviceCode)).body).toMatchObject({ scope: 'openid urn:latchkey:admin' });
  });
});

describe('before the device page', () => {
  test('the sign-in page names its client, in one statement', async () => {
    const { userCode } = await ask();
    const browser = newBrowser();
    const login = await enter(browser, userCode);
    const page = login.status === 303 ? await browser.follow() : login;
    expect(new URL(page.url).pathname).toBe('/login');
    expect(page.text).toContain('to continue to Living Room TV');
    expect(page.headers['content-security-policy']).toContain("form-action 'self';");
    expect(lastLine('GET', '/login')).toMatchObject({ queries: 1 });
    clock.advanceSeconds(1200);
    expect((await browser.get(page.url)).text).not.toContain('to continue to');
  });

  test('users who must reauthenticate can deny the device instead', async () => {
    const { deviceCode, userCode } = await ask({ scope: 'openid urn:latchkey:admin' });
    const admin = await signedIn('adele');
    clock.advanceSeconds(700);
    const { url } = await enter(admin, userCode);
    expect(new URL(url).pathname).toBe('/reauth');
    const form = admin.page.forms.find(({ action }) => action.startsWith('/device/')) ?? expect.fail('no way back');
    await admin.submit({ action: 'reject' }, { action: form.action });
    expect((await admin.follow()).text).toContain('Request denied');
    expect(await errorOf(poll(deviceCode))).toBe('access_denied');
    expect((await admin.get(url)).forms.map(({ action }) => action)).not.toContain(form.action);
  });
});

describe('polling (RFC 8628 3.5)', () => {
  test('too fast: slow_down, and the interval grows by 5 seconds up to 60 (S-115)', async () => {
    const { deviceCode } = await ask();
    expect(await errorOf(poll(deviceCode))).toBe('authorization_pending');
    clock.advanceSeconds(4);
    expect(await errorOf(poll(deviceCode)), 'one second of tolerance').toBe('authorization_pending');
    clock.advanceSeconds(3);
    expect(await errorOf(poll(deviceCode))).toBe('slow_down');
    clock.advanceSeconds(8);
    expect(await errorOf(poll(deviceCode)), 'the interval is 10 now').toBe('slow_down');
    clock.advanceSeconds(14);
    expect(await errorOf(poll(deviceCode)), 'and now 15').toBe('authorization_pending');
    for (let count = 0; count < 20; count += 1) expect(await errorOf(poll(deviceCode))).toBe('slow_down');
    const [row] = await sql<{ interval_seconds: number }>(
      service.database,
      'select interval_seconds from oauth2_device_code_grants order by created_at desc, id desc limit 1',
    );
    expect(row?.interval_seconds).toBe(60);
    clock.advanceSeconds(59);
    expect(await errorOf(poll(deviceCode))).toBe('authorization_pending');
  });

  test('with an unknown, malformed or foreign code: invalid_grant, and nothing changes (S-115)', async () => {
    const { deviceCode } = await ask();
    expect(await errorOf(poll('x'))).toBe('invalid_grant');
    expect(lastLine('POST', '/oauth2/token').queries).toBe(0);
    expect(await errorOf(poll('A'.repeat(43)))).toBe('invalid_grant');
    const foreign = {
      grant_type: DEVICE_GRANT,
      device_code: deviceCode,
      client_id: TOOL,
      client_secret: SECRET,
    };
    expect(await errorOf(post('/oauth2/token', foreign))).toBe('invalid_grant');
    const [row] = await sql<{ is_polled: boolean }>(
      service.database,
      'select polled_at is not null as is_polled from oauth2_device_code_grants order by created_at desc, id desc limit 1',
    );
    expect(row?.is_polled).toBe(false);
    expect(await errorOf(post('/oauth2/token', { grant_type: DEVICE_GRANT, client_id: TV }))).toBe('invalid_request');
  });

  test('by a client without the grant: unauthorized_client (S-118)', async () => {
    const form = { grant_type: DEVICE_GRANT, device_code: 'A'.repeat(43), client_id: WEB, client_secret: SECRET };
    expect(await errorOf(post('/oauth2/token', form))).toBe('unauthorized_client');
  });

  test('after the user signed out: access_denied', async () => {
    const { deviceCode, userCode } = await ask();
    const browser = await signedIn('amira');
    await enter(browser, userCode);
    await decide(browser, 'consent');
    await browser.get('/');
    await browser.submit({}, { action: '/logout' });
    expect(await errorOf(poll(deviceCode))).toBe('access_denied');
  });

  test('with a confirmed code fails after it expires', async () => {
    const { deviceCode, userCode } = await ask();
    const browser = await signedIn('amira');
    await enter(browser, userCode);
    const { url } = await decide(browser, 'consent');
    clock.advanceSeconds(1200);
    expect(await errorOf(poll(deviceCode))).toBe('expired_token');
    expect((await browser.get(url)).status).toBe(410);
  });
});

describe('settings', () => {
  test('disabled: no pages, no endpoint in discovery, invalid_request and unsupported_grant_type (S-118)', async () => {
    const off = await startService({ ...SETTINGS, oauth: { device_code_grant_enabled: false } }, { clock });
    try {
      const body = new URLSearchParams({ client_id: TV });
      const device = await fetch(`${off.address}/oauth2/device`, { method: 'POST', body });
      expect([device.status, await device.json()]).toMatchObject([400, { error: 'invalid_request' }]);
      body.set('grant_type', DEVICE_GRANT);
      body.set('device_code', 'A'.repeat(43));
      const token = await fetch(`${off.address}/oauth2/token`, { method: 'POST', body });
      expect([token.status, await token.json()]).toMatchObject([400, { error: 'unsupported_grant_type' }]);
      for (const path of ['/link', '/device/01JD3Q5Z8W2N4K6M7P9R0S1T00']) {
        const headers = { accept: 'text/html' };
        expect((await fetch(off.address + path, { headers })).status).toBe(404);
        expect((await fetch(off.address + path, { method: 'POST', headers, body })).status).toBe(404);
      }
      const metadata = await (await fetch(`${off.address}/.well-known/openid-configuration`)).json();
      expect(metadata).not.toHaveProperty('device_authorization_endpoint');
      expect(metadata.grant_types_supported).not.toContain(DEVICE_GRANT);
    } finally {
      await off.stop();
    }
  });

  test('without prefill: no complete URL, and /link?code= stays empty', async () => {
    const plain = await startService(
      { ...SETTINGS, oauth: { device_code_user_code_auto_fill_enabled: false, device_code_ttl: '60s' } },
      { clock },
    );
    try {
      const body = new URLSearchParams({ client_id: TV });
      const requested = await (await fetch(`${plain.address}/oauth2/device`, { method: 'POST', body })).json();
      expect(requested).not.toHaveProperty('verification_uri_complete');
      expect(requested).toMatchObject({ expires_in: 60 });
      const browser = new Browser({ listener: plain.address, publicBase: plain.publicBase });
      await browser.get(`/link?code=${requested.user_code}`);
      expect(browser.page.forms[0]?.inputs.get('code')).toBe('');
    } finally {
      await plain.stop();
    }
  });

  test('discovery lists the endpoint and the grant type', async () => {
    const metadata = await (await fetch(`${service.address}/.well-known/openid-configuration`)).json();
    expect(metadata).toMatchObject({
      device_authorization_endpoint: `${service.publicBase.replace(/\/?$/, '/')}oauth2/device`,
      grant_types_supported: expect.arrayContaining([DEVICE_GRANT]),
    });
  });
});
