import { beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { basic } from '#test/support/oauth-service.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const WEB = '01JD3Q5Z8W2N4K6M7P9R0S1TWB';
const TV = '01JD3Q5Z8W2N4K6M7P9R0S1TTV';
const WORKER = '01JD3Q5Z8W2N4K6M7P9R0S1TWK';
const SECRET = 'a-secret-of-at-least-16-characters';
const HOMESERVER_SECRET = 'homeserver-secret-of-the-test';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const CALENDAR = 'https://calendar.example/api';
const FILES = 'https://files.example';
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const API = 'urn:chat:client:api:*';

const clock = new FakeClock();
let browser: Browser;

const service = await sharedByTests(
  startService(
    {
      homeserver: { kind: 'none', secret: HOMESERVER_SECRET },
      oauth: {
        resources: [
          { identifier: CALENDAR, scopes: ['events.read', 'events.write'], access_token_ttl: '20m' },
          { identifier: FILES, scopes: ['files.read'], access_token_ttl: '2m', token_format: 'opaque' },
        ],
      },
      clients: [
        {
          client_id: WEB,
          client_auth_method: 'client_secret_basic',
          client_secret: SECRET,
          client_name: 'Harbour',
          redirect_uris: [CALLBACK],
        },
        { client_id: TV, client_auth_method: 'none', client_name: 'Living Room TV' },
        {
          client_id: WORKER,
          client_auth_method: 'client_secret_basic',
          client_secret: SECRET,
          scope: 'openid events.read files.read',
        },
      ],
    },
    { clock },
  ),
);

beforeAll(async () => {
  await service.registerUser('amira', PASSWORD);
  browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.open('/login');
  await browser.submit({ username: 'amira', password: PASSWORD });
});

interface TestResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function post(
  path: string,
  form: Readonly<Record<string, string | readonly string[]>>,
  authorization?: string,
): Promise<TestResponse> {
  const body = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) for (const each of [value].flat()) body.append(name, each);
  const headers = authorization === undefined ? {} : { authorization };
  const response = await fetch(new URL(path, service.address), { method: 'POST', headers, body });
  return { status: response.status, body: await response.json() };
}

async function introspect(token: unknown): Promise<Readonly<Record<string, unknown>>> {
  return (await post('/oauth2/introspect', { token: String(token) }, `Bearer ${HOMESERVER_SECRET}`)).body;
}

async function token(form: Readonly<Record<string, string | readonly string[]>>, client = WEB): Promise<TestResponse> {
  return await post('/oauth2/token', form, basic(client, SECRET));
}

function authorizePath(scope: string, resources: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const query = new URLSearchParams({ response_type: 'code', client_id: WEB, redirect_uri: CALLBACK, scope, ...more });
  for (const resource of resources) query.append('resource', resource);
  return `/authorize?${query}`;
}

function responseOf(): Readonly<Record<string, string>> {
  return Object.fromEntries(new URL(browser.page.headers.location ?? '').searchParams);
}

/** Returns a code after the user has consented to the request. */
async function code(scope: string, resources: readonly string[]): Promise<string> {
  await browser.open(authorizePath(scope, resources));
  if (browser.page.status === 200) await browser.submit({ action: 'consent' }, { action: '/authorize' });
  return responseOf()['code'] ?? '';
}

async function exchange(
  scope: string,
  resources: readonly string[],
  requested: readonly string[] = [],
): Promise<TestResponse> {
  return await token({
    grant_type: 'authorization_code',
    code: await code(scope, resources),
    redirect_uri: CALLBACK,
    resource: requested,
  });
}

describe('resource indicators (RFC 8707)', () => {
  test('are listed in discovery with their scopes', async () => {
    const response = await fetch(new URL('/.well-known/openid-configuration', service.address));
    const metadata: { readonly scopes_supported: readonly string[] } = await response.json();
    expect(metadata.scopes_supported.slice(-3)).toEqual(['events.read', 'events.write', 'files.read']);
  });

  test('a code is exchanged for a token with the granted audience', async () => {
    const { body } = await exchange('openid events.read files.read', [CALENDAR, `${FILES}/`]);
    expect(body).toMatchObject({ scope: 'openid events.read files.read', expires_in: 120 });
    expect(await introspect(body['access_token'])).toMatchObject({ aud: [CALENDAR, FILES], exp: expect.any(Number) });
  });

  test('a subset at exchange and at refresh limits that token only, with the scopes that apply there', async () => {
    const granted = [CALENDAR, FILES];
    const { body } = await exchange(`openid ${API} events.read files.read`, granted, [FILES]);
    expect(body).toMatchObject({ scope: 'openid files.read', expires_in: 120 });
    expect(await introspect(body['access_token'])).toMatchObject({ aud: [FILES], scope: 'openid files.read' });
    expect(await introspect(body['refresh_token'])).not.toHaveProperty('aud');

    const refresh = async (refreshToken: unknown, more: Record<string, string | readonly string[]>) =>
      await token({ grant_type: 'refresh_token', refresh_token: String(refreshToken), ...more });
    const calendar = await refresh(body['refresh_token'], { resource: `${CALENDAR}/` });
    expect(calendar.body).toMatchObject({ scope: 'openid events.read', expires_in: 1200 });
    expect(await introspect(calendar.body['access_token'])).toMatchObject({ aud: [CALENDAR] });

    for (const resource of ['https://other.example', service.issuer, [CALENDAR, 'https://other.example']]) {
      const refused = await refresh(calendar.body['refresh_token'], { resource });
      expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
    }
    const nothing = await refresh(calendar.body['refresh_token'], { resource: FILES, scope: 'events.read' });
    expect(nothing).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
    const all = await refresh(calendar.body['refresh_token'], {});
    expect(all.body).toMatchObject({ scope: 'openid events.read files.read' });
    expect(await introspect(all.body['access_token'])).toMatchObject({ aud: granted });
  });

  test('a resource that was not granted is invalid_target at refresh, even if no scope would be left', async () => {
    for (const scope of ['events.read', 'openid events.read files.read']) {
      const { body } = await exchange(scope, [CALENDAR]);
      const form = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']), resource: FILES };
      expect(await token(form)).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
    }
  });

  test('one without any applicable scope is invalid_target, and keeps the code and the session', async () => {
    const granted = await code('events.read', [CALENDAR, FILES]);
    const form = { grant_type: 'authorization_code', code: granted, redirect_uri: CALLBACK };
    const refused = { status: 400, body: { error: 'invalid_target' } };
    expect(await token({ ...form, resource: FILES })).toMatchObject(refused);
    const { body } = await token(form);
    expect(body).toMatchObject({ scope: 'events.read' });
    const refresh = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']) };
    expect(await token({ ...refresh, resource: FILES })).toMatchObject(refused);
    expect((await token(refresh)).body).toMatchObject({ scope: 'events.read' });
    // Otherwise, the session could never be refreshed.
    expect(await exchange('events.read', [FILES])).toMatchObject(refused);
  });

  test('what was not granted at /authorize is invalid_target at exchange, and keeps the code', async () => {
    const granted = await code('openid', [FILES]);
    const form = { grant_type: 'authorization_code', code: granted, redirect_uri: CALLBACK };
    for (const resource of [CALENDAR, 'x', [FILES, CALENDAR]]) {
      expect(await token({ ...form, resource })).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
    }
    expect(await token(form)).toMatchObject({ status: 200 });
  });

  test('without the parameter a token has the client as its audience, with every granted scope', async () => {
    const { body } = await exchange('openid events.read', []);
    expect(body).toMatchObject({ scope: 'openid events.read', expires_in: 300 });
    expect(await introspect(body['access_token'])).toMatchObject({ aud: [WEB] });
  });

  test('a token for this service keeps its scopes here, one for another server loses them', async () => {
    const here = await exchange(`openid ${API}`, [service.issuer]);
    expect(here.body).toMatchObject({ scope: `openid ${API}` });
    expect(await introspect(here.body['access_token'])).toMatchObject({ aud: [service.issuer] });
    const there = await exchange(`openid ${API}`, [FILES]);
    expect(there.body).toMatchObject({ scope: 'openid' });
  });

  test.each([
    ['unknown', ['https://other.example']],
    ['unknown besides a known one', [FILES, 'https://other.example']],
    ['not a URI', ['files']],
    ['with a fragment', [`${FILES}#a`]],
  ])('one that is %s is invalid_target at /authorize', async (_, resources) => {
    await browser.open(authorizePath('openid', resources));
    expect(responseOf()).toMatchObject({ error: 'invalid_target' });
  });
});

describe('consent', () => {
  test('names the resource server and its scopes, and is remembered for each of them', async () => {
    const other = new Browser({ listener: service.address, publicBase: service.publicBase });
    await service.registerUser('bruno', PASSWORD);
    await other.open('/login');
    await other.submit({ username: 'bruno', password: PASSWORD });
    const silently = async (resources: readonly string[]) => {
      await other.open(authorizePath('openid files.read', resources, { prompt: 'none' }));
      const { searchParams } = new URL(other.page.headers.location ?? '');
      return searchParams.get('error') ?? 'granted';
    };
    await other.open(authorizePath('openid files.read', []));
    await other.submit({ action: 'consent' }, { action: '/authorize' });
    expect(await silently([])).toBe('granted');
    expect(await silently([service.issuer])).toBe('granted');
    expect(await silently([FILES])).toBe('consent_required');

    await other.open(authorizePath('openid files.read', [FILES, service.issuer]));
    expect(other.page.text).toContain(`Use ${FILES} on your behalf`);
    expect(other.page.text).not.toContain(`Use ${service.issuer}`);
    expect(other.page.text).toContain('files.read');
    await other.submit({ action: 'consent' }, { action: '/authorize' });
    expect(await silently([FILES])).toBe('granted');
    expect(await silently([FILES, CALENDAR])).toBe('consent_required');
  });
});

describe('other grants', () => {
  test('a device requests resources, its page names them, and its tokens are for them', async () => {
    const form = { client_id: TV, scope: 'openid files.read' };
    expect(await post('/oauth2/device', { ...form, resource: 'https://other.example' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    });
    const { body } = await post('/oauth2/device', { ...form, resource: [FILES, CALENDAR] });
    await browser.open(`/link?code=${body['user_code']}`);
    await browser.submit({}, { action: '/link' });
    await browser.open(browser.page.location ?? '');
    expect(browser.page.text).toContain(`Use ${CALENDAR} on your behalf`);
    await browser.submit({ action: 'consent', confirm_device: 'on' }, { action: new URL(browser.page.url).pathname });
    const poll = { grant_type: DEVICE_GRANT, client_id: TV, device_code: String(body['device_code']) };
    const beyond = await post('/oauth2/token', { ...poll, resource: service.issuer });
    expect(beyond).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
    const response = await post('/oauth2/token', { ...poll, resource: CALENDAR });
    expect(response.body).toMatchObject({ scope: 'openid', expires_in: 1200 });
    expect(await introspect(response.body['access_token'])).toMatchObject({ aud: [CALENDAR] });
  });

  test("client credentials: the scopes must be in the client's own configuration", async () => {
    const form = { grant_type: 'client_credentials', scope: 'events.read files.read', resource: FILES };
    const response = await token(form, WORKER);
    expect(response.body).toMatchObject({ scope: 'files.read', expires_in: 120 });
    expect(await introspect(response.body['access_token'])).toMatchObject({ aud: [FILES], sub: WORKER });
    const unlimited = await token({ grant_type: 'client_credentials', resource: [FILES, CALENDAR] });
    expect(await introspect(unlimited.body['access_token'])).toMatchObject({ aud: [FILES, CALENDAR] });

    const refused = { status: 400, body: { error: 'invalid_scope' } };
    expect(await token({ ...form, scope: 'events.write' }, WORKER)).toMatchObject(refused);
    // Its configuration has no scope, so it is not allowed to obtain this one without a user.
    expect(await token({ ...form, scope: 'files.read' }, WEB)).toMatchObject(refused);
    const elsewhere = await token({ ...form, resource: 'https://other.example' }, WORKER);
    expect(elsewhere).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
    // A response without `scope` would mean that everything requested was granted (RFC 6749 5.1).
    const nothing = await token({ ...form, scope: 'events.read' }, WORKER);
    expect(nothing).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
  });

  test('a dynamic client gets no token for a resource server without a user', async () => {
    const response = await fetch(new URL('/oauth2/registration', service.address), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_uri: 'https://app.example/',
        grant_types: ['client_credentials'],
        scope: 'files.read',
      }),
    });
    const registered: Readonly<Record<string, string>> = await response.json();
    const ask = async (form: Readonly<Record<string, string | readonly string[]>>) =>
      await post(
        '/oauth2/token',
        { grant_type: 'client_credentials', ...form },
        basic(registered['client_id'] ?? '', registered['client_secret'] ?? ''),
      );
    expect(await ask({ scope: 'files.read' })).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
    for (const resource of [FILES, [service.issuer, FILES]]) {
      expect(await ask({ resource })).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
      const line = service.logLines().findLast((text) => text.includes(' auth.refused '));
      expect(line).toContain(`resource refused code=invalid_target client=${registered['client_id']} received=`);
      expect(line).toContain(FILES);
    }
    expect(await ask({ resource: service.issuer })).toMatchObject({ status: 200 });
  });
});

describe('a refused resource is logged as sent (RFC 8707 2)', () => {
  const OTHER = 'https://other.example/path';

  const refusals = () => service.logLines().filter((line) => line.includes(' auth.refused '));

  /** Returns the log line that the request adds. */
  async function refusalOf(ask: () => Promise<TestResponse>): Promise<string> {
    const before = refusals().length;
    expect(await ask()).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
    const added = refusals().slice(before);
    expect(added).toHaveLength(1);
    return added[0] ?? '';
  }

  test('at the device endpoint, next to the configured ones', async () => {
    const line = await refusalOf(() => post('/oauth2/device', { client_id: TV, resource: [FILES, OTHER] }));
    expect(line).toContain(`resource refused code=invalid_target client=${TV} `);
    expect(line).toContain(`received="${FILES} ${OTHER}"`);
    expect(line).toMatch(new RegExp(`expected="[^"]*${CALENDAR} ${FILES}`));
  });

  test('at the token endpoint: for client credentials', async () => {
    const ask = (form: Readonly<Record<string, string>>) =>
      token({ grant_type: 'client_credentials', ...form }, WORKER);
    expect(await refusalOf(() => ask({ resource: OTHER }))).toMatch(/resource refused .*received=https:\/\/other/);
    const nothing = await refusalOf(() => ask({ resource: FILES, scope: 'events.read' }));
    expect(nothing).toContain(`resource refused code=invalid_target client=${WORKER} received=${FILES}`);
  });

  test('at the token endpoint: for a code, a refresh token and a device code', async () => {
    const form = { grant_type: 'authorization_code', code: await code('openid', [FILES]), redirect_uri: CALLBACK };
    const ofCode = await refusalOf(() => token({ ...form, resource: OTHER }));
    expect(ofCode).toMatch(
      /authorization code refused code=resource client=\S+ received=https:\/\/other\.example\/path/,
    );
    const { body } = await token(form);
    const refresh = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']) };
    const ofRefresh = await refusalOf(() => token({ ...refresh, resource: [CALENDAR, OTHER] }));
    expect(ofRefresh).toMatch(
      /refresh token refused code=resource client=\S+ received="https:\/\/calendar.* https:\/\/other/,
    );
    const device = await post('/oauth2/device', { client_id: TV, scope: 'openid', resource: FILES });
    await browser.open(`/link?code=${device.body['user_code']}`);
    await browser.submit({}, { action: '/link' });
    await browser.open(browser.page.location ?? '');
    await browser.submit({ action: 'consent', confirm_device: 'on' }, { action: new URL(browser.page.url).pathname });
    const poll = { grant_type: DEVICE_GRANT, client_id: TV, device_code: String(device.body['device_code']) };
    const ofDevice = await refusalOf(() => post('/oauth2/token', { ...poll, resource: OTHER }));
    expect(ofDevice).toMatch(/device code refused code=resource client=\S+ received=https:\/\/other\.example\/path/);
  });

  test('escaped and truncated', async () => {
    const resource = `https://other.example/${'a'.repeat(300)}`;
    const line = await refusalOf(() => post('/oauth2/device', { client_id: TV, resource: ['x\ny', resource] }));
    expect(line).toContain(`received="x\\ny ${resource.slice(0, 200)}..."`);
  });
});
