import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { startService } from '../support/service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';
const SECRET = 'a-secret-of-at-least-16-characters';
const HOMESERVER_SECRET = 'homeserver-secret-of-the-test';
const SUBJECT = /^[\w-]{43}$/;
const API = 'urn:chat:client:api:*';

/**
 * Two clients in one sector, one in another, one that joins the first sector through its sector identifier, and one
 * with public subjects.
 */
const CLIENTS = {
  shop: { id: '01JD3Q5Z8W2N4K6M7P9R0S1TS1', callback: 'https://shop.example/cb', pairwise: true },
  till: { id: '01JD3Q5Z8W2N4K6M7P9R0S1TS2', callback: 'https://shop.example/till', pairwise: true },
  news: { id: '01JD3Q5Z8W2N4K6M7P9R0S1TS3', callback: 'https://news.example/cb', pairwise: true },
  app: {
    id: '01JD3Q5Z8W2N4K6M7P9R0S1TS4',
    callback: 'com.example.shop:/cb',
    pairwise: true,
    sector: 'https://shop.example/apps.json',
  },
  open: { id: '01JD3Q5Z8W2N4K6M7P9R0S1TS5', callback: 'https://open.example/cb', pairwise: false },
} as const;
type Name = keyof typeof CLIENTS;

const SETTINGS = {
  clients: Object.values(CLIENTS).map((client) => ({
    client_id: client.id,
    client_auth_method: 'client_secret_basic',
    client_secret: SECRET,
    first_party: true,
    redirect_uris: [client.callback],
    post_logout_redirect_uris: [client.callback],
    subject_type: client.pairwise ? 'pairwise' : 'public',
    ...('sector' in client ? { sector_identifier_uri: client.sector } : {}),
  })),
  homeserver: { kind: 'none', homeserver: 'example.org', secret: HOMESERVER_SECRET },
};
let amira: string;
let browser: Browser;

const service = await sharedByTests(startService(SETTINGS));

beforeAll(async () => {
  amira = await service.registerUser('amira', PASSWORD);
  await service.registerUser('bruno', PASSWORD);
  browser = await signedIn('amira');
});

async function signedIn(username: string): Promise<Browser> {
  const fresh = new Browser({ listener: service.address, publicBase: service.publicBase });
  await fresh.get('/login');
  await fresh.submit({ username, password: PASSWORD });
  return fresh;
}

function authorizePath(name: Name, fields: Readonly<Record<string, string>> = {}): string {
  const { id, callback } = CLIENTS[name];
  const request = { client_id: id, redirect_uri: callback, response_type: 'code', scope: 'openid', ...fields };
  return `/authorize?${new URLSearchParams(request)}`;
}

async function post(path: string, name: Name | 'homeserver', form: Readonly<Record<string, string>>, at = service) {
  const authorization =
    name === 'homeserver' ? `Bearer ${HOMESERVER_SECRET}` : `Basic ${btoa(`${CLIENTS[name].id}:${SECRET}`)}`;
  const response = await fetch(`${at.address}${path}`, {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams(form),
  });
  return { status: response.status, body: await response.json() };
}

async function tokens(name: Name, scope = 'openid', by = browser) {
  const page = await by.get(authorizePath(name, { scope }));
  const code = new URL(page.headers.location ?? '').searchParams.get('code') ?? '';
  const form = { grant_type: 'authorization_code', code, redirect_uri: CLIENTS[name].callback };
  const { body } = await post('/oauth2/token', name, form);
  return { idToken: body.id_token, accessToken: body.access_token, refreshToken: body.refresh_token };
}

async function subjectFor(name: Name, by = browser): Promise<string> {
  return decodeJwt((await tokens(name, 'openid', by)).idToken).sub ?? '';
}

async function userinfo(accessToken: string) {
  const headers = { authorization: `Bearer ${accessToken}` };
  return await (await fetch(`${service.address}/oauth2/userinfo`, { headers })).json();
}

function errorOf(location: string | undefined): string | null {
  return new URL(location ?? '').searchParams.get('error');
}

describe('pairwise subjects (OpenID Connect Core 8)', () => {
  test("are equal for all clients of a sector, differ elsewhere, and never equal the account's identifier", async () => {
    const shop = await subjectFor('shop');
    expect(shop).toMatch(SUBJECT);
    expect(await subjectFor('till')).toBe(shop);
    expect(await subjectFor('app')).toBe(shop);
    const news = await subjectFor('news');
    expect(news).toMatch(SUBJECT);
    expect(news).not.toBe(shop);
    expect(await subjectFor('open')).toBe(amira);
    expect(await subjectFor('shop', await signedIn('bruno'))).not.toBe(shop);
  });

  test('are the same in the ID token, after a refresh, at userinfo and at introspection', async () => {
    const { accessToken, refreshToken } = await tokens('shop');
    const sub = await subjectFor('shop');
    expect(await userinfo(accessToken)).toEqual({ sub });
    const introspected = await post('/oauth2/introspect', 'shop', { token: accessToken });
    expect(introspected.body).toMatchObject({ active: true, sub });
    expect(introspected.body).not.toHaveProperty('username');
    const refreshed = await post('/oauth2/token', 'shop', { grant_type: 'refresh_token', refresh_token: refreshToken });
    expect(decodeJwt(refreshed.body.id_token).sub).toBe(sub);
    const own = await post('/oauth2/token', 'shop', { grant_type: 'client_credentials' });
    const ofClient = await post('/oauth2/introspect', 'shop', { token: own.body.access_token });
    expect(ofClient.body).toMatchObject({ active: true, sub: CLIENTS.shop.id });
  });

  test('are the same on every instance', async () => {
    const second = await startService(SETTINGS, { like: service });
    try {
      const { accessToken } = await tokens('shop');
      const responses = [service, second].map((at) => post('/oauth2/introspect', 'shop', { token: accessToken }, at));
      const [here, there] = await Promise.all(responses);
      expect(there?.body.sub).toBe(here?.body.sub);
    } finally {
      await second.stop();
    }
  });

  test('apply to the device grant as well', async () => {
    const begun = await post('/oauth2/device', 'shop', { scope: 'openid' });
    await browser.open(`/link?code=${begun.body.user_code}`);
    await browser.submit();
    const asking = await browser.follow();
    await browser.submit({ action: 'consent', confirm_device: 'on' }, { action: new URL(asking.url).pathname });
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: begun.body.device_code,
    };
    const polled = await post('/oauth2/token', 'shop', form);
    expect(decodeJwt(polled.body.id_token).sub).toBe(await subjectFor('shop'));
  });

  test('come without the username, unless the profile scope was granted', async () => {
    const { accessToken, idToken } = await tokens('shop', 'openid profile');
    expect(decodeJwt(idToken)).toMatchObject({ preferred_username: 'amira' });
    expect(await userinfo(accessToken)).toMatchObject({ username: 'amira', preferred_username: 'amira' });
    const { body } = await post('/oauth2/introspect', 'shop', { token: accessToken });
    expect(body).toMatchObject({ username: 'amira' });
  });

  test('depend on the client that asks, whoever owns the token; the homeserver gets the account', async () => {
    const [ofShop, ofOpen] = [await tokens('shop'), await tokens('open')];
    const sub = await subjectFor('shop');
    for (const { accessToken } of [ofShop, ofOpen]) {
      const seenBy = async (name: Name | 'homeserver') =>
        (await post('/oauth2/introspect', name, { token: accessToken })).body.sub;
      expect(await seenBy('till')).toBe(sub);
      expect(await seenBy('news')).toBe(await subjectFor('news'));
      expect(await seenBy('open')).toBe(amira);
      expect(await seenBy('homeserver')).toBe(amira);
    }
  });
});

describe('a request that expects a certain user', () => {
  const silent = { prompt: 'none' };
  const claimsFor = (sub: string) => ({ claims: JSON.stringify({ id_token: { sub: { value: sub } } }) });

  test('succeeds for the user named by the ID token or the claim', async () => {
    const { idToken } = await tokens('shop');
    for (const fields of [{ id_token_hint: idToken }, claimsFor(await subjectFor('shop'))]) {
      const response = await browser.get(authorizePath('shop', { ...silent, ...fields }));
      expect(errorOf(response.headers.location)).toBeNull();
    }
  });

  test('returns login_required for any other user', async () => {
    const { idToken } = await tokens('shop');
    const bruno = await signedIn('bruno');
    for (const fields of [{ id_token_hint: idToken }, claimsFor(await subjectFor('shop')), claimsFor('x')]) {
      const response = await bruno.get(authorizePath('shop', { ...silent, ...fields }));
      expect(errorOf(response.headers.location)).toBe('login_required');
    }
  });

  test('cannot name the account itself, which would reveal whose subject is whose', async () => {
    const response = await browser.get(authorizePath('shop', { ...silent, ...claimsFor(amira) }));
    expect(errorOf(response.headers.location)).toBe('login_required');
  });

  test('shows another user a page that names no account, and continues after the right sign-in', async () => {
    const { idToken } = await tokens('shop');
    const bruno = await signedIn('bruno');
    const page = await bruno.open(authorizePath('shop', { id_token_hint: idToken }));
    expect(page.text).toContain('requests the account that you used there before');
    expect(page.text).not.toContain('amira');
    await bruno.submit({}, { action: '/logout' });
    await bruno.follow();
    await bruno.follow();
    expect(new URL(bruno.page.url).searchParams.get('login_hint')).toBeNull();
    await bruno.submit({ username: 'amira', password: PASSWORD });
    expect(errorOf((await bruno.follow()).headers.location)).toBeNull();
  });

  test('signs out with its ID token', async () => {
    const here = await signedIn('amira');
    const { idToken } = await tokens('shop', 'openid', here);
    const { callback } = CLIENTS.shop;
    const query = new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: callback });
    expect((await here.get(`/oauth2/logout?${query}`)).location).toBe(callback);
  });
});

describe('scopes of services that identify users by account', () => {
  test.each([API, 'urn:synapse:admin:*', 'urn:latchkey:admin'])('are refused: %s', async (scope) => {
    const page = await browser.get(authorizePath('shop', { scope: `openid ${scope}` }));
    expect(errorOf(page.headers.location)).toBe('invalid_scope');
    const device = await post('/oauth2/device', 'shop', { scope: `openid ${scope}` });
    expect(device).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
  });

  test('and a client in admin_clients has no admin rights', async () => {
    const policy = { data: { admin_clients: [CLIENTS.shop.id, CLIENTS.open.id] } };
    const second = await startService({ ...SETTINGS, policy }, { like: service });
    try {
      const form = { grant_type: 'client_credentials', scope: 'urn:latchkey:admin' };
      expect((await post('/oauth2/token', 'shop', form, second)).body.error).toBe('invalid_scope');
      expect((await post('/oauth2/token', 'open', form, second)).status).toBe(200);
    } finally {
      await second.stop();
    }
  });
});
