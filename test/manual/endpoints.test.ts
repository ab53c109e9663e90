import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { registerWholly } from '../support/registering.ts';
import { startService, type TestService } from '../support/service.ts';
import { bundleWorker } from '../support/worker-entry.ts';
import { codeOf, tableRows } from './tables.ts';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/callback';
const SIGNED_OUT = 'https://app.example/signed-out';
const PASSWORD = 'correct horse battery staple';

/** The table of docs/reference/endpoints.md, by method and path. */
const rows = tableRows('docs/reference/endpoints.md').map(([method, path, resource, errorFormat, statements]) => ({
  method: method ?? '',
  path: codeOf(path),
  resource,
  errorFormat,
  statements: Number(statements),
}));

let service: TestService;

beforeAll(async () => {
  const worker = new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url);
  service = await startService(
    {
      account: { password_registration_enabled: true, client_logos: 'proxy' },
      clients: [
        {
          client_id: CLIENT_ID,
          client_auth_method: 'client_secret_basic',
          client_secret: SECRET,
          client_name: 'Harbour',
          logo_uri: 'http://127.0.0.1:1/nobody-listens',
          redirect_uris: [CALLBACK],
          post_logout_redirect_uris: [SIGNED_OUT],
        },
      ],
    },
    { strengthWorker: await bundleWorker(worker) },
  );
  await service.registerUser('amira', PASSWORD);
});

afterAll(async () => {
  await service.stop();
});

function newBrowser(): Browser {
  return new Browser({ listener: service.address, publicBase: service.publicBase });
}

describe('the manual’s page of endpoints', () => {
  test('names every route that is mounted, with its resource and its errorFormat, and no other', () => {
    const mounted = service.routes.map(({ method, path, resource, errorFormat }) => ({
      method,
      path,
      resource,
      errorFormat,
    }));
    const told = rows.map(({ method, path, resource, errorFormat }) => ({ method, path, resource, errorFormat }));
    const byText = (one: object, other: object): number => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
    expect(told.toSorted(byText)).toEqual(mounted.toSorted(byText));
  });

  test('promises numbers of statements that a walk through the service keeps', async () => {
    await signInAndUseTokens();
    await registerOneself();
    await visitTheRest();

    const measured = new Map<string, number>();
    for (const { method, path, status, queries } of service.requestLines()) {
      const row = rows.find((candidate) => candidate.method === method && matches(candidate.path, path));
      const isRefused = status >= 400 && status < 404;
      if (row === undefined || isRefused) continue;
      const key = `${row.method} ${row.path}`;
      measured.set(key, Math.max(measured.get(key) ?? 0, queries));
    }
    const promised = new Map(rows.map((row) => [`${row.method} ${row.path}`, row.statements]));
    const broken = [...measured].filter(([key, queries]) => !(queries <= (promised.get(key) ?? -1)));
    expect(broken).toEqual([]);
    expect([...promised.keys()].filter((key) => !measured.has(key))).toEqual(NOT_WALKED);
  });
});

/** Needs somebody to take the name while it is being registered; the feature's own tests go there. */
const NOT_WALKED = ['GET /register/steps/:id/username', 'POST /register/steps/:id/username'];

function matches(pattern: string, path: string): boolean {
  const expression = pattern.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+').replace(/\*$/, '.+');
  return new RegExp(`^${expression}$`).test(path);
}

async function signInAndUseTokens(): Promise<void> {
  const config = await oidc.discovery(new URL(service.issuer), CLIENT_ID, undefined, oidc.ClientSecretBasic(SECRET), {
    execute: [oidc.allowInsecureRequests],
  });
  const browser = newBrowser();
  await browser.get('/login');
  // Twice: the second time consent is remembered.
  for (const round of [1, 2]) {
    const verifier = oidc.randomPKCECodeVerifier();
    const request = {
      redirect_uri: CALLBACK,
      scope: 'openid profile email',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    const isPushed = round === 2;
    const address = isPushed
      ? await oidc.buildAuthorizationUrlWithPAR(config, request)
      : oidc.buildAuthorizationUrl(config, request);
    await browser.open(address.href);
    if (round === 1) {
      await browser.submit({ username: 'amira', password: PASSWORD });
      await browser.follow();
      await browser.submit({ action: 'consent' }, { action: '/authorize' });
    }
    const callback = new URL(browser.shown.location ?? '');
    const first = await oidc.authorizationCodeGrant(config, callback, { pkceCodeVerifier: verifier });
    await oidc.fetchUserInfo(config, first.access_token, oidc.skipSubjectCheck);
    await fetch(`${service.address}/oauth2/userinfo`, {
      method: 'POST',
      body: new URLSearchParams({ access_token: first.access_token }),
    });
    const refreshed = await oidc.refreshTokenGrant(config, first.refresh_token ?? '');
    await oidc.tokenIntrospection(config, refreshed.access_token);
    await oidc.clientCredentialsGrant(config);
    await oidc.tokenRevocation(config, refreshed.access_token);
  }
  const device = await oidc.initiateDeviceAuthorization(config, { scope: 'openid' });
  await browser.open(device.verification_uri_complete ?? '');
  await browser.submit();
  const { url } = await browser.follow();
  await browser.submit({ action: 'consent', confirm_device: 'on' }, { action: new URL(url).pathname });
  await browser.follow();
  await oidc.pollDeviceAuthorizationGrant(config, { ...device, interval: 0 });
  await browser.get('/');
  await browser.open('/reauth?max_age=0');
  await browser.submit({ password: PASSWORD }, { action: '/reauth' });
  await browser.get('/');
  await browser.submit({}, { action: '/logout' });
  await signOutByClient(config, browser);
}

async function signOutByClient(config: oidc.Configuration, browser: Browser): Promise<void> {
  await browser.get('/login');
  await browser.submit({ username: 'amira', password: PASSWORD });
  const verifier = oidc.randomPKCECodeVerifier();
  const address = oidc.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'openid profile email',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  await browser.open(address.href);
  const callback = new URL(browser.shown.location ?? '');
  const { id_token = '' } = await oidc.authorizationCodeGrant(config, callback, { pkceCodeVerifier: verifier });
  const parameters = { id_token_hint: id_token, post_logout_redirect_uri: SIGNED_OUT };
  await browser.post('/oauth2/logout', new URLSearchParams(parameters));
  expect((await browser.get(oidc.buildEndSessionUrl(config, parameters).href)).location).toBe(SIGNED_OUT);
}

async function registerOneself(): Promise<void> {
  const browser = newBrowser();
  await browser.get('/register');
  await browser.get('/register/password');
  const csrf = browser.shown.forms[0]?.inputs.get('csrf') ?? '';
  await browser.post('/register', new URLSearchParams({ csrf }));
  expect((await registerWholly(browser, 'newcomer')).status).toBe(303);
}

/** RFC 7592, with an authorization request that waits for an address that is given up, and a session. */
async function manageRegistration(registered: oidc.ClientMetadata, application: object): Promise<void> {
  const { client_id, client_secret = '', registration_client_uri, registration_access_token } = registered;
  const headers = { authorization: `Bearer ${String(registration_access_token)}`, 'content-type': 'application/json' };
  const change = async (method: string, members?: object): Promise<number> => {
    const body = members === undefined ? null : JSON.stringify({ ...application, ...members, client_id });
    return (await fetch(String(registration_client_uri), { method, headers, body })).status;
  };
  await newBrowser().get(`/authorize?${new URLSearchParams({ client_id, response_type: 'code', scope: 'openid' })}`);
  const grant_types = ['authorization_code', 'client_credentials'];
  const moved = { client_name: 'Another', redirect_uris: ['https://app.example/moved'], grant_types };
  expect(await change('PUT', moved)).toBe(200);
  const token = await fetch(`${service.address}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'openid', client_id, client_secret }),
  });
  expect(token.status).toBe(200);
  expect(await change('GET')).toBe(200);
  expect(await change('DELETE')).toBe(204);
}

async function visitTheRest(): Promise<void> {
  const application = { client_uri: 'https://app.example/', redirect_uris: ['https://app.example/cb'] };
  const registered = await oidc.dynamicClientRegistration(new URL(service.issuer), application, undefined, {
    execute: [oidc.allowInsecureRequests],
  });
  expect(registered.clientMetadata()).toMatchObject({ client_secret: expect.any(String) });
  await manageRegistration(registered.clientMetadata(), application);
  for (const path of [
    '/.well-known/oauth-authorization-server',
    '//.well-known/openid-configuration',
    '//.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/',
    `/.well-known/webfinger?resource=${encodeURIComponent(service.issuer)}&rel=http%3A%2F%2Fopenid.net%2Fspecs%2Fconnect%2F1.0%2Fissuer`,
    '/oauth2/keys.json',
    '/health',
    '/health?probe=live',
    '/robots.txt',
    '/favicon.ico',
    '/assets/pages.css',
    '/logout',
    `/client-logos/${CLIENT_ID}`,
  ]) {
    await fetch(service.address + path);
  }
}
