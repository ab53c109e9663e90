/** The operator's policy module replaces the built-in rules, wherever they apply to users and applications. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { DEVICE_CODE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import { attackedService, basic, C1, CLIENT_SETTINGS, PASSWORD, SETTINGS } from '../attacks/attacked-service.ts';
import { jsonOf, type RawResponse, textMember } from '../attacks/raw-http.ts';
import { GraphqlClient } from '../support/graphql-client.ts';

const MODULE = `
export function register({ registration_method, username, email, requester }, data) {
  if (username === 'thrower') throw new Error('register is out of order');
  if (!username.startsWith('guest')) return [];
  const seen = [registration_method, email, requester.user_agent, data.registration.banned_usernames.literals.includes('root')];
  return [{ code: 'no-guests', msg: 'No <guests>: ' + JSON.stringify(seen), field: 'username' }];
}
export const email = async ({ email }) =>
  email.includes('+') ? [{ code: 'no-plus', msg: 'No <plus> in addresses', field: 'email' }] : [];
export const password = ({ password, username }) =>
  password.includes(username) ? [{ code: 'own-name', msg: 'Not your <own> name' }, { code: 'again', msg: 'Really.' }] : [];
export const clientRegistration = ({ client_metadata, requester }) => [
  ...(client_metadata.client_name?.[''] === 'Evil' ? [{ code: 'evil', msg: 'not this name', field: 'client_name' }] : []),
  ...client_metadata.redirect_uris.filter((uri) => uri.includes('evil'))
    .map((redirect) => ({ code: 'evil-uri', msg: 'not there', redirect })),
  ...(requester.ip_address === '203.0.113.9' ? [{ code: 'not-from-there', msg: 'not from there' }] : []),
];
export const authorizationGrant = ({ user, client, scope, grant_type, session_count, requester }) =>
  requester.user_agent?.includes('NightBot')
    ? [{ code: 'night', msg: [user?.username, client.id.slice(-2), scope.join(), grant_type, session_count].join('|') + '<i>' }]
    : [];
export const compatLogin = ({ user, login_type, requester }) =>
  requester.user_agent?.includes('NightBot') ? [{ code: 'night', msg: user.username + ' by ' + login_type + '<i>' }] : [];
`;

const folder = mkdtempSync(join(tmpdir(), 'latchkey-policy-'));
writeFileSync(join(folder, 'rules.mjs'), MODULE);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NIGHT = { 'user-agent': 'NightBot/1' };
const FAR = '198.51.100.1';
const GRANT_TYPES = ['authorization_code', 'client_credentials', DEVICE_CODE_GRANT_TYPE];
const attacked = attackedService(
  {
    clients: CLIENT_SETTINGS.map((client) =>
      client.client_id === C1.id ? { ...client, grant_types: GRANT_TYPES } : client,
    ),
    account: { ...SETTINGS.account, password_registration_email_required: true },
    oauth: { dynamic_registration: { enabled: true } },
    policy: {
      module: join(folder, 'rules.mjs'),
      data: { ...SETTINGS.policy.data, requester: { banned_ips: [`${FAR}/32`] }, banned_domains: ['banned.example'] },
    },
  },
  { expectedErrors: ['policy.failed'] },
);

async function settingsOf(work: () => Promise<unknown>): Promise<string[]> {
  const before = attacked.service.logLines().length;
  await work();
  return attacked.service
    .logLines()
    .slice(before)
    .flatMap((line) => / auth\.refused .*setting=(\S+)/.exec(line)?.[1] ?? []);
}

async function post(
  target: string,
  body: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawResponse> {
  const isJson = target !== '/oauth2/token' && target !== '/oauth2/device';
  const all = {
    'x-forwarded-for': attacked.newAddress(),
    'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded',
    ...(isJson ? {} : { authorization: basic(C1) ?? '' }),
    ...headers,
  };
  const text = isJson
    ? JSON.stringify(body)
    : new URLSearchParams(Object.entries(body).map(([k, v]) => [k, String(v)])).toString();
  return await attacked.ask({ method: 'POST', target, headers: Object.entries(all), body: text });
}

async function register(fields: Readonly<Record<string, string>>, address?: string) {
  const browser = attacked.browser(address === undefined ? {} : { address });
  await browser.get('/register/password');
  const typed = { username: 'someone', email: 'some.one@example.org', password: PASSWORD };
  await browser.submit({ ...typed, ...fields }, { headers: { 'user-agent': 'browser/1' } });
  return browser;
}

describe('a registration', () => {
  test('is refused by the rules for names, addresses and passwords, whose own text is escaped', async () => {
    const settings = await settingsOf(async () => {
      const { page: shown } = await register({
        username: 'guest-me',
        email: 'a+b@example.org',
        password: 'guest-me',
      });
      expect(shown.status).toBe(200);
      expect([...shown.errorCodes].sort()).toEqual(['no-guests', 'no-plus', 'own-name']);
      expect(shown.body).toContain('No &lt;guests>');
      expect(shown.text).toContain('["password",null,"browser/1",true]');
      expect(shown.text).toContain('Not your <own> name Really.');
    });
    expect(settings).toEqual(['module:no-guests']);
  });

  test('uses these rules in place of the built-in ones; reserved and malformed names stay refused', async () => {
    // The name, the domain and the address are banned, and the password is weak.
    const { page: shown } = await register({ username: 'root', email: 'a@banned.example', password: 'a' }, FAR);
    expect([shown.status, shown.errorCodes]).toEqual([303, []]);
    for (const [username, code] of [
      ['ADELE', 'username-reserved'],
      ['ä', 'username-invalid-chars'],
    ] as const) {
      expect((await register({ username })).page.errorCodes).toContain(code);
    }
  });

  test('is refused while a rule throws, with a built-in text and one ERROR line', async () => {
    const before = attacked.service.logLines().length;
    const { page: shown } = await register({ username: 'thrower' });
    expect(shown.errorCodes).toEqual(['policy_error']);
    expect(shown.text).toContain('could not be checked');
    const errors = attacked.service
      .logLines()
      .slice(before)
      .filter((line) => line.includes(' ERROR '));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/policy\.failed .*rule=register reason="Error: register is out of order"/);
  });

  test('that was accepted is checked again when the account is created', async () => {
    const browser = await register({ username: 'later' });
    const finish = browser.page.location ?? '';
    await attacked.change("update user_registrations set username = 'guest-later' where username = 'later'");
    await browser.get(finish);
    expect([browser.page.status, browser.page.errorCodes]).toEqual([410, ['registration_outdated']]);
    expect(await attacked.count("users where username = 'guest-later'")).toBe(0);
  });
});

test('an address of an account is refused with the text of the rule', async () => {
  const client = await GraphqlClient.signedIn(attacked.service, 'bruno', PASSWORD);
  const response = await client.query(
    'mutation Start($e: String!, $p: String!) { startEmailAuthentication(input: { email: $e, password: $p, language: "en" }) { status violations } }',
    { e: 'b+c@example.org', p: PASSWORD },
  );
  expect(response.data).toEqual({
    startEmailAuthentication: { status: 'DENIED', violations: ['No <plus> in addresses'] },
  });
});

test('a new password of an account is refused with the text of the rule', async () => {
  const client = await GraphqlClient.signedIn(attacked.service, 'amira', PASSWORD);
  const viewer = await client.query('{ viewer { ... on User { id } } }');
  const response = await client.query(
    'mutation Set($id: ID!, $c: String!, $n: String!) { setPassword(input: { userId: $id, currentPassword: $c, newPassword: $n }) { status score suggestions } }',
    { id: Object(viewer.data).viewer.id, c: PASSWORD, n: 'amira' },
  );
  expect(Object(response.data).setPassword).toEqual({
    ...{ status: 'INVALID_NEW_PASSWORD', score: null },
    suggestions: ['Not your <own> name Really.'],
  });
});

test('a dynamic client registration is decided by the rule alone', async () => {
  const base = { redirect_uris: ['https://new.example/cb'], client_name: 'New' };
  // Without `client_uri`, and from a banned address.
  const registered = await post('/oauth2/registration', base, { 'x-forwarded-for': FAR });
  expect(registered.status).toBe(201);
  attacked.secrets
    .add(textMember(registered, 'registration_access_token'))
    .add(textMember(registered, 'client_secret'));
  const refused = async (body: object, address = attacked.newAddress()) =>
    jsonOf(await post('/oauth2/registration', { ...base, ...body }, { 'x-forwarded-for': address }));
  const settings = await settingsOf(async () => {
    expect(await refused({ client_name: 'Evil' })).toMatchObject({
      ...{ error: 'invalid_client_metadata', error_description: 'client_name: not this name' },
    });
    expect(await refused({ redirect_uris: ['https://evil.example/cb'] })).toMatchObject({
      ...{ error: 'invalid_redirect_uri', error_description: 'https://evil.example/cb: not there' },
    });
    expect(await refused({}, '203.0.113.9')).toMatchObject({ error: 'invalid_client_metadata' });
    // Checks outside the policy still apply, such as for executable URLs.
    expect(await refused({ redirect_uris: ['javascript:alert(1)'] })).toMatchObject({ error: 'invalid_redirect_uri' });
  });
  expect(settings).toEqual(['module:evil', 'module:evil-uri', 'module:not-from-there']);
});

describe('an authorization', () => {
  test('is refused on a page with the text of the rule, and admin scopes stay limited to those entitled', async () => {
    const browser = await attacked.signedIn('amira');
    const settings = await settingsOf(async () => {
      await browser.get(attacked.authorizeUrl(C1), NIGHT);
      await browser.get(browser.page.location ?? '', NIGHT);
    });
    expect([browser.page.status, browser.page.errorCodes]).toEqual([403, ['night']]);
    expect(browser.page.body).toContain('amira|C1|openid|authorization_code|&lt;i>');
    expect(settings).toEqual(['module:night']);
    await browser.get(attacked.authorizeUrl(C1, { scope: 'openid urn:latchkey:admin' }));
    await browser.get(browser.page.location ?? '');
    expect([browser.page.status, browser.page.errorCodes]).toEqual([403, ['admin-scope']]);
    // Banned by the policy data, which the rule does not consult.
    await browser.get(attacked.authorizeUrl(C1, { prompt: 'none' }), { 'x-forwarded-for': FAR });
    expect(new URL(browser.page.location ?? '').searchParams.get('error')).toBe('consent_required');
  });

  test('is refused when the code, a device code or a client requests tokens, without the text', async () => {
    const code = await attacked.code(await attacked.signedIn('amira'), C1);
    const exchange = { grant_type: 'authorization_code', code, redirect_uri: C1.callback };
    const codes = await post('/oauth2/device', { scope: 'openid' });
    const deviceCode = textMember(codes, 'device_code');
    attacked.secrets.add(deviceCode);
    const browser = await attacked.signedIn('bruno');
    await browser.get('/link');
    await browser.submit({ code: textMember(codes, 'user_code') });
    await browser.follow();
    const action = new URL(browser.page.url).pathname;
    await browser.get(action, NIGHT);
    expect([browser.page.status, browser.page.errorCodes]).toEqual([403, ['night']]);
    expect(browser.page.text).toContain(`bruno|C1|openid|${DEVICE_CODE_GRANT_TYPE}|`);
    await browser.get(action);
    await browser.submit({ action: 'consent', confirm_device: 'on' }, { action });
    const poll = { grant_type: DEVICE_CODE_GRANT_TYPE, device_code: deviceCode };
    const own = { grant_type: 'client_credentials' };
    const settings = await settingsOf(async () => {
      for (const [form, error] of [
        [exchange, 'invalid_grant'],
        [poll, 'access_denied'],
        [own, 'invalid_scope'],
      ] as const) {
        const response = await post('/oauth2/token', form, NIGHT);
        expect([response.status, jsonOf(response)['error']]).toEqual([400, error]);
        expect(response.body).not.toContain('amira');
      }
    });
    expect(settings).toEqual(['module:night', 'module:night', 'module:night']);
    for (const form of [exchange, poll, own]) {
      const response = await post('/oauth2/token', form);
      expect(response.status).toBe(200);
      attacked.secrets.add(textMember(response, 'access_token'));
    }
  });
});

test('a chat client is refused after its credentials are verified, not before', async () => {
  const login = async (password: string, headers: Readonly<Record<string, string>>) =>
    await post(
      '/_chat/client/v3/login',
      { type: 'm.login.password', identifier: { type: 'm.id.user', user: 'amira' }, password },
      headers,
    );
  const wrong = await login('wrong', NIGHT);
  expect([wrong.status, wrong.body]).not.toContain('m.login.password');
  const refused = await login(PASSWORD, NIGHT);
  expect([refused.status, jsonOf(refused)]).toEqual([
    403,
    { errcode: 'M_FORBIDDEN', error: 'amira by m.login.password<i>' },
  ]);
  const accepted = await login(PASSWORD, { 'x-forwarded-for': FAR });
  expect(accepted.status).toBe(200);
  attacked.secrets.add(textMember(accepted, 'access_token'));
});
