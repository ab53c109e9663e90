import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createExportWorker } from '#app/jobs.ts';
import {
  changePassword as askToChangePassword,
  recoverPassword as askToRecoverPassword,
} from '../support/account-operations.ts';
import { giveAuthenticatorApp, scannedApp } from '../support/authenticator-app.ts';
import { Browser } from '../support/browser.ts';
import { ChatClient, textOf } from '../support/chat-client.ts';
import { agreeToSso, ssoPath } from '../support/chat-sso.ts';
import { insertClient, sql } from '../support/fixtures.ts';
import { GraphqlClient } from '../support/graphql-client.ts';
import { linkAccount } from '../support/link-account.ts';
import { type Mails, startMails } from '../support/mails.ts';
import { PasskeyAuthenticator } from '../support/passkey-authenticator.ts';
import { givePasskey, passkeyOptions } from '../support/passkeys.ts';
import { beginRegistration, codeSentTo, NEW_PASSWORD } from '../support/registering.ts';
import { startService, type TestService } from '../support/service.ts';
import { startUpstreamPeer, UPSTREAM_SUBJECT, type UpstreamPeer } from '../support/upstream-peer.ts';
import { bundleWorker } from '../support/worker-entry.ts';
import { walkAdminApi } from './admin-walk.ts';
import { readPage } from './pages.ts';
import { codeOf, tableRows } from './tables.ts';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const PROVIDER_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/callback';
const SIGNED_OUT = 'https://app.example/signed-out';
const PASSWORD = 'correct horse battery staple';

/** The table in docs/reference/endpoints.md, by method and path. */
const rows = tableRows('docs/reference/endpoints.md').map(([method, path, resource, errorFormat, statements]) => ({
  method: method ?? '',
  path: codeOf(path),
  resource,
  errorFormat,
  statements: Number(statements),
}));

let service: TestService;
let peer: UpstreamPeer;
let mails: Mails;

beforeAll(async () => {
  const worker = new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url);
  peer = await startUpstreamPeer();
  mails = await startMails();
  service = await startService(
    {
      account: {
        password_registration_enabled: true,
        password_registration_token_required: true,
        password_recovery_enabled: true,
        client_logos: 'proxy',
      },
      branding: { security_contact: 'mailto:security@example.org' },
      email: mails.settings,
      policy: { data: { admin_clients: [CLIENT_ID] } },
      upstream_oauth2: {
        providers: [
          {
            id: PROVIDER_ID,
            issuer: peer.issuer,
            client_id: 'latchkey',
            token_endpoint_auth_method: 'none',
            on_backchannel_logout: 'logout_all',
          },
        ],
      },
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
    { strengthWorker: await bundleWorker(worker), publicHost: 'localhost' },
  );
  const amira = await service.registerUser('amira', PASSWORD);
  await linkAccount(service.database, { providerId: PROVIDER_ID, userId: amira, subject: UPSTREAM_SUBJECT });
});

afterAll(async () => {
  await service.stop();
  await peer.stop();
  await mails.stop();
});

function newBrowser(): Browser {
  return new Browser({ listener: service.address, publicBase: service.publicBase });
}

describe('the endpoint reference', () => {
  test('lists exactly the mounted routes, with their resource and errorFormat', () => {
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

  test('documents its requests on the pages of requests and of the admin API, and no other', () => {
    const pages = ['docs/reference/requests.md', 'docs/reference/admin-api.md'];
    const codes = pages.flatMap((path) => readPage(path).codes);
    const mounted = service.routes.map(({ method, path }) => `${method} ${path}`);
    expect(mounted.filter((name) => !codes.includes(name))).toEqual([]);
    expect(codes.filter((name) => /^[A-Z]+ /.test(name) && !mounted.includes(name))).toEqual([]);
  });

  test('documents statement counts that a walk through the service confirms', async () => {
    await signInAndUseTokens();
    await registerOneself();
    await changePassword();
    await recoverPassword();
    await signInThroughProvider();
    await registerThroughProvider();
    await usePasskey();
    await acceptPasskeyOffer();
    await useSecondFactor();
    await useChatClient();
    await readAccount();
    await administer();
    await visitTheRest();

    const measured = new Map<string, number>();
    for (const { method, path, status, queries } of [...service.requestLines(), ...(await setUpSecondFactor())]) {
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

/**
 * Routes with separate tests. The username steps apply only when a name is taken during its registration, and metrics
 * and operator pages are disabled.
 */
const NOT_WALKED = [
  ...['GET /register/steps/:id/username', 'POST /register/steps/:id/username'],
  ...['GET /metrics', 'GET /connection-info'],
];

function matches(pattern: string, path: string): boolean {
  const expression = pattern.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+').replace(/\*$/, '.+');
  return new RegExp(`^${expression}$`).test(path);
}

async function useChatClient(): Promise<void> {
  const chat = new ChatClient(service);
  await chat.request('/login');
  const { refreshToken } = await chat.login('amira', PASSWORD, { refresh_token: true });
  const refreshed = await chat.post('/refresh', { refresh_token: refreshToken });
  await chat.post('/logout', undefined, { authorization: `Bearer ${textOf(refreshed, 'access_token')}` });
  const { accessToken } = await chat.login('amira', PASSWORD);
  await chat.post('/logout/all', {}, { authorization: `Bearer ${accessToken}` });
  const browser = newBrowser();
  for (const end of ['', `/${PROVIDER_ID}`, '/']) await browser.get(ssoPath('https://app.example/', {}, end));
  await browser.follow();
  await browser.submit({ username: 'amira', password: PASSWORD });
  await browser.follow();
  const { location } = await agreeToSso(browser);
  const token = new URL(location ?? '').searchParams.get('loginToken');
  await chat.post('/login', { type: 'm.login.token', token });
}

async function administer(): Promise<void> {
  const response = await fetch(`${service.address}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${CLIENT_ID}:${SECRET}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'urn:mas:admin' }),
  });
  const { access_token: token } = await response.json();
  const registered = await insertClient(service.database, service.core.keyRing, Date.now(), { isStatic: false });
  await walkAdminApi(service, {
    token,
    username: 'amira',
    clientId: CLIENT_ID,
    providerId: PROVIDER_ID,
    dynamicClientId: registered,
  });
}

async function signInAndUseTokens(): Promise<void> {
  const config = await oidc.discovery(new URL(service.issuer), CLIENT_ID, undefined, oidc.ClientSecretBasic(SECRET), {
    execute: [oidc.allowInsecureRequests],
  });
  const browser = newBrowser();
  await browser.get('/login');
  // Runs twice: the second time, consent is remembered.
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
    const callback = new URL(browser.page.location ?? '');
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

async function signInThroughProvider(): Promise<void> {
  for (const isPosted of [false, true]) {
    const browser = newBrowser();
    await browser.get(`/upstream/authorize/${PROVIDER_ID}`);
    const response = new URL(peer.signIn(browser.page.location ?? ''));
    if (isPosted) await browser.post(response.pathname, response.searchParams);
    else await browser.get(response.href);
    await browser.follow();
    expect((await browser.submit()).status).toBe(303);
  }
  const now = Math.floor(Date.now() / 1000);
  const token = await peer.sign({
    ...{ iss: peer.issuer, aud: 'latchkey', sub: UPSTREAM_SUBJECT, iat: now, exp: now + 120, jti: 'id' },
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  });
  const body = new URLSearchParams({ logout_token: token });
  const told = await fetch(`${service.address}/upstream/backchannel-logout/${PROVIDER_ID}`, { method: 'POST', body });
  expect(told.status).toBe(200);
}

async function registerThroughProvider(): Promise<void> {
  const browser = newBrowser();
  await browser.get(`/upstream/authorize/${PROVIDER_ID}`);
  await browser.get(peer.signIn(browser.page.location ?? '', { claims: { sub: 'somebody new' } }));
  await browser.follow();
  await browser.submit({ username: 'dana' });
  await browser.follow();
  await browser.submit({ action: 'skip' });
  expect(new URL((await browser.follow()).url).pathname).toBe('/');
}

/** Uses a passkey alone, then after a password. */
async function usePasskey(): Promise<void> {
  const id = await service.registerUser('edda', PASSWORD);
  const key = await givePasskey(service.core, id);
  await giveAuthenticatorApp(service.core, id);
  for (const isSecond of [false, true]) {
    const browser = newBrowser();
    await browser.get('/login');
    if (isSecond) {
      await browser.submit({ username: 'edda', password: PASSWORD });
      await browser.get('/login/passkey');
    }
    const { csrf, asked: requested } = await passkeyOptions(browser);
    await browser.post('/login/passkey', new URLSearchParams({ csrf, credential: key.get(requested) }));
    expect(browser.page.status).toBe(303);
  }
}

/** Adds a passkey when it is offered after a password, and declines the offer for good. */
async function acceptPasskeyOffer(): Promise<void> {
  for (const username of ['hilda', 'ilse']) {
    await service.registerUser(username, PASSWORD);
    const browser = newBrowser();
    await browser.get('/login');
    await browser.submit({ username, password: PASSWORD, passkey_capable: 'on' });
    await browser.follow();
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    if (username === 'ilse') {
      await browser.submit({ action: 'never' });
      continue;
    }
    const headers = { 'content-type': undefined, 'x-csrf-token': csrf, accept: 'application/json' };
    const { body } = await browser.postRaw('/login/add-passkey/options', '', headers);
    const { challenge, publicKey } = JSON.parse(body);
    const credential = JSON.stringify(new PasskeyAuthenticator(service.publicBase, 'P-256').create(publicKey));
    const fields = new URLSearchParams({ csrf, action: 'add', challenge, credential });
    await browser.post('/login/add-passkey', fields);
    expect(browser.page.status).toBe(303);
  }
}

/** Uses TOTP codes, then recovery codes: first to sign in, then to reauthenticate in the same session. */
async function useSecondFactor(): Promise<void> {
  const app = await giveAuthenticatorApp(service.core, await service.registerUser('fenna', PASSWORD));
  const [first = '', second = ''] = app.recoveryCodes;
  for (const [step, code, next] of [
    ['totp', app.code(-1), app.code()],
    ['recovery-code', first, second],
  ] as const) {
    const browser = newBrowser();
    await browser.get('/login');
    await browser.submit({ username: 'fenna', password: PASSWORD });
    await browser.get(`/login/${step}`);
    await browser.submit({ code });
    expect(browser.page.status).toBe(303);
    await browser.get('/reauth');
    await browser.submit({ password: PASSWORD }, { action: '/reauth' });
    await browser.get(`/reauth/${step}`);
    await browser.submit({ code: next });
    expect(browser.page.status).toBe(303);
  }
}

/** Sets up a second factor at a service that requires one. @returns its request lines */
async function setUpSecondFactor(): Promise<ReturnType<TestService['requestLines']>> {
  const strict = await startService({ account: { second_factor: 'required' } });
  try {
    await strict.registerUser('gita', PASSWORD);
    const browser = new Browser({ listener: strict.address, publicBase: strict.publicBase });
    await browser.get('/login');
    await browser.submit({ username: 'gita', password: PASSWORD });
    await browser.get('/login/setup');
    await browser.submit({ code: scannedApp(strict.core, browser.page.body).code() });
    await browser.get('/login/setup');
    await browser.submit();
    expect(browser.page.location).toBe(strict.publicBase);
    return strict.requestLines();
  } finally {
    await strict.stop();
  }
}

async function changePassword(): Promise<void> {
  await service.registerUser('bela', PASSWORD);
  const browser = newBrowser();
  await browser.get('/login');
  await browser.submit({ username: 'bela', password: PASSWORD });
  for (const path of ['/account', '/account/', '/account/sessions', '/graphql/playground']) await browser.get(path);
  await browser.open('/.well-known/change-password');
  expect(new URL(browser.page.url).pathname).toBe('/account/password/change');
  const change = { oldPassword: PASSWORD, newPassword: NEW_PASSWORD, endApplicationSessions: true };
  expect(await askToChangePassword(browser, change)).toBe('ALLOWED');
}

async function recoverPassword(): Promise<void> {
  await service.registerUser('carla', PASSWORD);
  const email = 'carla@mail.example';
  const browser = newBrowser();
  await browser.get('/recover');
  await browser.submit({ email });
  await browser.follow();
  await browser.submit({}, { action: new URL(browser.page.url).pathname });
  const ticket = 'T'.repeat(32);
  await sql(
    service.database,
    `with address as (
       insert into user_emails (id, user_id, email, email_key, created_at)
       select gen_random_uuid(), u.id, $1::text, $1::text, u.created_at from users u where u.username = 'carla'
       returning id, user_id
     )
     insert into user_recovery_tickets (ticket_hash, session_id, user_id, user_email_id, password_id, created_at)
     select sha256($2::text::bytea), s.id, address.user_id, address.id, p.id, s.created_at
       from address join user_passwords p on p.user_id = address.user_id, user_recovery_sessions s`,
    [email, ticket],
  );
  await browser.get(`/account/password/recovery?ticket=${ticket}`);
  const recovery = { ticket, newPassword: NEW_PASSWORD, endAllSessions: true };
  expect(await askToRecoverPassword(browser, recovery)).toBe('ALLOWED');
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
  const callback = new URL(browser.page.location ?? '');
  const { id_token = '' } = await oidc.authorizationCodeGrant(config, callback, { pkceCodeVerifier: verifier });
  const parameters = { id_token_hint: id_token, post_logout_redirect_uri: SIGNED_OUT };
  await browser.post('/oauth2/logout', new URLSearchParams(parameters));
  expect((await browser.get(oidc.buildEndSessionUrl(config, parameters).href)).location).toBe(SIGNED_OUT);
}

async function registerOneself(): Promise<void> {
  const browser = newBrowser();
  await browser.get('/register');
  await browser.get('/register/password');
  const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
  await browser.post('/register', new URLSearchParams({ csrf }));
  await service.issueRegistrationToken('class-of-26', undefined);
  await beginRegistration(browser, { username: 'undecided', email: 'undecided@mail.example' });
  await browser.follow();
  expect((await browser.submit({ token: 'class-of-26' })).status).toBe(303);
  await beginRegistration(browser, { username: 'newcomer', email: 'first@mail.example' }, '?token=class-of-26');
  await browser.follow();
  await browser.submit({ action: 'resend' });
  await browser.follow();
  await browser.submit({ action: 'change', email: 'newcomer@mail.example' });
  await browser.follow();
  const code = codeSentTo('newcomer@mail.example', await mails.deliver(service.core));
  await browser.submit({ action: 'verify', code });
  await browser.follow();
  expect(new URL((await browser.submit({ action: 'skip' })).location ?? '').pathname).toMatch(/finish$/);
  expect((await browser.get(browser.page.location ?? '')).status).toBe(303);
}

/**
 * Manages a registration (RFC 7592), with a session and an authorization request that waits for a removed redirect URI.
 */
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

async function readAccount(): Promise<void> {
  const client = await GraphqlClient.signedIn(service, 'amira', PASSWORD);
  const query =
    '{ viewer { ... on User { hasPassword browserSessions(last: 6) { totalCount nodes { id lastAuthentication { id } } } } } }';
  expect((await client.query(query)).errors).toEqual([]);
  expect((await client.get({ query })).errors).toEqual([]);
  await client.query('mutation { startDataExport { status } }');
  const worker = createExportWorker(service.core);
  await worker.poll();
  await worker.idle();
  const { data } = await client.query('{ viewer { ... on User { dataExports { nodes { downloadUrl } } } } }');
  const { downloadUrl } = Object(data).viewer.dataExports.nodes[0];
  expect((await client.browser?.get(downloadUrl))?.status).toBe(200);
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
    '/.well-known/security.txt',
    '/oauth2/keys.json',
    '/health',
    '/health?probe=live',
    '/robots.txt',
    '/favicon.ico',
    '/assets/pages.css',
    '/admin',
    '/admin/',
    '/admin/callback',
    '/admin/users',
    '/logout',
    `/client-logos/${CLIENT_ID}`,
  ]) {
    await fetch(service.address + path);
  }
}
