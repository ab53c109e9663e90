import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SigningKeys, signingKey } from '#domain/keys/signing-keys.ts';
import { newId } from '#platform/base/ids.ts';
import {
  AUTHORIZATION_ISSUER,
  authorizeUrl,
  responseOf,
  startAuthorizationService,
  TEST_SIGNING_KEYS,
} from '#test/support/authorization-service.ts';
import type { Browser, Page } from '#test/support/browser.ts';
import { expectCleanPage } from '#test/support/clean-page.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ClientId } from '#vocabulary/ids.ts';

const BACK = 'https://app.example.org/signed-out';
const BACK_WITH_QUERY = 'https://app.example.org/bye?from=latchkey';
const SIGNED_OUT_PAGE = `${AUTHORIZATION_ISSUER}oauth2/logout`;
const SECRET = 'the secret of the client';
let client: ClientId;
let otherClient: ClientId;
let nativeClient: ClientId;

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startAuthorizationService(testDatabase.database));

beforeAll(async () => {
  const metadata = { client_name: { '': 'Harbour' }, post_logout_redirect_uris: [BACK, BACK_WITH_QUERY] };
  client = await service.client({ secret: SECRET, metadata });
  service.clock.advanceSeconds(1);
  otherClient = await service.client({ secret: SECRET });
  service.clock.advanceSeconds(1);
  nativeClient = await service.client({ metadata: { post_logout_redirect_uris: ['http://127.0.0.1/bye'] } });
  await service.person('alice');
  await service.person('bob');
});

beforeEach(async () => {
  await sql(testDatabase.database, 'update users set locked_at = null');
  await sql(testDatabase.database, 'delete from audit_events');
});

interface SignedIn {
  readonly browser: Browser;
  readonly hint: string;
  readonly accessToken: string;
}

/** A user who has signed in to the service, and through it to a client. */
async function signedInAt(id: ClientId, username = 'alice', browser?: Browser): Promise<SignedIn> {
  const user = browser ?? (await service.signedIn(username));
  await user.open(authorizeUrl(id));
  if (user.page.status === 200) await user.submit({ action: 'consent' }, { action: '/authorize' });
  const { code = '' } = responseOf(user.page);
  const response = await fetch(`${service.origin}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${id}:${encodeURIComponent(SECRET)}`)}` },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: 'https://app.example.org/callback',
    }),
  });
  const tokens = await response.json();
  expect(response.status, JSON.stringify(tokens)).toBe(200);
  return { browser: user, hint: tokens.id_token, accessToken: tokens.access_token };
}

function logoutUrl(fields: Readonly<Record<string, string>> = {}): string {
  return `/oauth2/logout?${new URLSearchParams(fields)}`;
}

async function isSignedIn(browser: Browser): Promise<boolean> {
  return (await browser.get('/')).text.includes('You are signed in');
}

async function isAccepted(accessToken: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${accessToken}` };
  return (await fetch(`${service.origin}/oauth2/userinfo`, { headers })).status === 200;
}

async function auditEvents(): Promise<string[]> {
  const rows = await sql<{ event: string }>(
    testDatabase.database,
    `select kind || ' ' || (detail ->> 'reason') as event from audit_events
      where kind in ('logout', 'session_ended') order by kind`,
  );
  return rows.map((row) => row.event);
}

function expectQuestion(page: Page): void {
  expect(page.status).toBe(200);
  expectCleanPage(page.body);
  expect(page.forms).toMatchObject([{ method: 'POST', action: '/logout' }]);
}

/** Creates an ID token as the token endpoint would issue it. */
async function idToken(changes: Record<string, unknown> = {}, keys = TEST_SIGNING_KEYS, typ = 'JWT'): Promise<string> {
  const claims = {
    iss: AUTHORIZATION_ISSUER,
    aud: client,
    sub: newId(1),
    sid: newId(1),
    iat: 1,
    exp: 2,
    ...changes,
  };
  return await keys.signJwt(claims, { alg: 'RS256', typ });
}

function foreignKeys(): SigningKeys {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { kid } = TEST_SIGNING_KEYS.publicJwks().keys[0] ?? {};
  return new SigningKeys([signingKey(privateKey, publicKey, { kid, isActive: true })]);
}

describe('with the ID token of the current session', () => {
  test("ends the browser session and the client's session at once, and redirects with state", async () => {
    const { browser, hint, accessToken } = await signedInAt(client);
    const fields = { id_token_hint: hint, post_logout_redirect_uri: BACK, state: 'a b&c=ü#' };
    const loaded = await browser.get(logoutUrl(fields));
    expect(loaded).toMatchObject({ status: 303, location: `${BACK}?state=a%20b%26c%3D%C3%BC%23` });
    expect(loaded.headers['cache-control']).toBe('no-store');
    expect(service.lastRequest().requester).toMatch(/^user:\w+\(alice\)$/);
    expect(await isSignedIn(browser)).toBe(false);
    expect(await isAccepted(accessToken)).toBe(false);
    expect(await auditEvents()).toEqual(['logout logout', 'session_ended logout']);
  });

  test('redirects to the registered URI without state', async () => {
    const { browser, hint } = await signedInAt(client);
    const loaded = await browser.get(logoutUrl({ id_token_hint: hint, post_logout_redirect_uri: BACK_WITH_QUERY }));
    expect(loaded.location).toBe(BACK_WITH_QUERY);
  });

  test('keeps the query of the URI', async () => {
    const { browser, hint } = await signedInAt(client);
    const fields = { id_token_hint: hint, post_logout_redirect_uri: BACK_WITH_QUERY, state: 'st' };
    expect((await browser.get(logoutUrl(fields))).location).toBe(`${BACK_WITH_QUERY}&state=st`);
  });

  test('without a URI redirects to the signed-out page', async () => {
    const { browser, hint } = await signedInAt(client);
    expect((await browser.get(logoutUrl({ id_token_hint: hint }))).location).toBe(SIGNED_OUT_PAGE);
    const page = await browser.follow();
    expectCleanPage(page.body);
    expect(page).toMatchObject({ status: 200, forms: [] });
    expect(page.text).toContain('You are signed out');
  });

  test('accepts an expired one, since users sign out late', async () => {
    const { browser, hint } = await signedInAt(client);
    service.clock.advanceSeconds(30 * 86_400);
    const loaded = await browser.get(logoutUrl({ id_token_hint: hint, client_id: client, logout_hint: 'x' }));
    expect(loaded.status).toBe(303);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('keeps sessions of other clients and other browsers', async () => {
    const { browser, hint } = await signedInAt(client);
    const other = await signedInAt(otherClient, 'alice', browser);
    const elsewhere = await signedInAt(client);
    await browser.get(logoutUrl({ id_token_hint: hint }));
    expect(await isAccepted(other.accessToken)).toBe(true);
    expect(await isAccepted(elsewhere.accessToken)).toBe(true);
    expect(await isSignedIn(elsewhere.browser)).toBe(true);
  });

  test('signs out a user whose account was locked in the meantime', async () => {
    const { browser, hint } = await signedInAt(client);
    await sql(testDatabase.database, 'update users set locked_at = $1::timestamptz', [new Date(service.clock.now())]);
    const loaded = await browser.get(logoutUrl({ id_token_hint: hint, post_logout_redirect_uri: BACK }));
    expect(loaded.location).toBe(BACK);
    expect(await auditEvents()).toEqual(['logout logout', 'session_ended logout']);
  });

  test('twenty times concurrently ends the sessions once, and redirects every time', async () => {
    const { browser, hint } = await signedInAt(client);
    const second = await startAuthorizationService(testDatabase.database, { clock: service.clock });
    const [, cookie] = [...browser.cookies].find(([name]) => name === '__Host-latchkey_session') ?? [];
    const responses = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const tab = (index % 2 === 0 ? service : second).browser();
        tab.cookies.set('__Host-latchkey_session', cookie ?? '');
        return await tab.get(logoutUrl({ id_token_hint: hint, post_logout_redirect_uri: BACK }));
      }),
    );
    await second.close();
    expect(responses.map((response) => response.location)).toEqual(responses.map(() => BACK));
    expect(await auditEvents()).toEqual(['logout logout', 'session_ended logout']);
  });

  test('accepts a token issued on refresh', async () => {
    const { browser, hint } = await signedInAt(client);
    const { sid } = JSON.parse(atob(hint.split('.')[1] ?? ''));
    const loaded = await browser.get(logoutUrl({ id_token_hint: await idToken({ sid }) }));
    expect(loaded.status).toBe(303);
  });
});

describe('asks the user in all other cases (S-67)', () => {
  test.each([
    ['nothing', async () => ({})],
    ['no hint', async () => ({ client_id: client, post_logout_redirect_uri: BACK, state: 'st' })],
    ['the hint of another user', async () => ({ id_token_hint: (await signedInAt(client, 'bob')).hint })],
    ['the hint of another browser', async () => ({ id_token_hint: (await signedInAt(client)).hint })],
    ['a hint whose session never existed', async () => ({ id_token_hint: await idToken() })],
    ['a hint whose session is not an id', async () => ({ id_token_hint: await idToken({ sid: 'x' }) })],
    ['a hint without session', async () => ({ id_token_hint: await idToken({ sid: undefined }) })],
  ])('with %s', async (_, fieldsOf) => {
    const browser = await service.signedIn('alice');
    expectQuestion(await browser.get(logoutUrl(await fieldsOf())));
    expect(await isSignedIn(browser)).toBe(true);
  });

  test("with one client's session in another client's token", async () => {
    const { browser, hint } = await signedInAt(client);
    const { sid } = JSON.parse(atob(hint.split('.')[1] ?? ''));
    expectQuestion(await browser.get(logoutUrl({ id_token_hint: await idToken({ sid, aud: otherClient }) })));
  });

  test('with the hint of a session that the client revoked', async () => {
    const { browser, hint, accessToken } = await signedInAt(client);
    await fetch(`${service.origin}/oauth2/revoke`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${client}:${encodeURIComponent(SECRET)}`)}` },
      body: new URLSearchParams({ token: accessToken }),
    });
    expectQuestion(await browser.get(logoutUrl({ id_token_hint: hint })));
  });

  test('naming client, service and user, with a possible redirect to the client', async () => {
    const browser = await service.signedIn('alice');
    const page = await browser.get(logoutUrl({ client_id: client, post_logout_redirect_uri: BACK }));
    expect(page.text).toContain('Harbour wants to sign you out of example.test');
    expect(page.text).toContain('alice');
    // Decision 0005: the scheme, because the client may redirect to another origin.
    expect(page.headers['content-security-policy']).toContain("form-action 'self' https:;");
    const german = await browser.get(logoutUrl({ client_id: client, ui_locales: 'de' }));
    expect(german.text).toContain('Abmelden?');
  });

  test('confirming ends the browser session and redirects with state', async () => {
    const { browser, accessToken } = await signedInAt(client);
    await browser.get(logoutUrl({ client_id: client, post_logout_redirect_uri: BACK, state: 'st' }));
    const response = await browser.submit();
    expect(response).toMatchObject({ status: 303, location: `${BACK}?state=st` });
    expect(service.lastRequest().requester).toMatch(/^user:\w+\(alice\)$/);
    expect(await isSignedIn(browser)).toBe(false);
    expect(await isAccepted(accessToken)).toBe(true);
  });

  test('confirming without a URI redirects to the signed-out page', async () => {
    const browser = await service.signedIn('alice');
    await browser.get('/oauth2/logout');
    expect((await browser.submit()).location).toBe(SIGNED_OUT_PAGE);
    expect((await browser.follow()).text).toContain('You are signed out');
  });

  test('declining changes nothing', async () => {
    const browser = await service.signedIn('alice');
    const page = await browser.get(logoutUrl({ client_id: client, post_logout_redirect_uri: BACK }));
    expect(page.body).toMatch(/<a [^>]*href="\/">Stay signed in<\/a>/);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('a form older than an hour is shown again and then redirects to the client', async () => {
    const browser = await service.signedIn('alice');
    await browser.get(logoutUrl({ client_id: client, post_logout_redirect_uri: BACK, state: 'st' }));
    service.clock.advanceSeconds(3601);
    await browser.submit();
    expect(browser.page).toMatchObject({ status: 200, errorCodes: ['csrf_expired'] });
    expect(browser.page.headers['content-security-policy']).toContain("form-action 'self' https:;");
    expect((await browser.submit()).location).toBe(`${BACK}?state=st`);
  });

  test('does not redirect to a URI that the client has since removed', async () => {
    service.clock.advanceSeconds(1);
    const losing = await service.client({ secret: SECRET, metadata: { post_logout_redirect_uris: [BACK] } });
    const browser = await service.signedIn('alice');
    await browser.get(logoutUrl({ client_id: losing, post_logout_redirect_uri: BACK }));
    await sql(
      testDatabase.database,
      `update oauth2_clients set disabled_at = now(), version = version + 1 where id::text = $1`,
      [(await sql<{ id: string }>(testDatabase.database, 'select max(id::text) as id from oauth2_clients'))[0]?.id],
    );
    service.clients.forget(losing);
    expect((await browser.submit()).location).toBe(SIGNED_OUT_PAGE);
  });

  test('ignores a continuation that was not sealed for the form', async () => {
    const posted = await service
      .browser()
      .post('/oauth2/logout', new URLSearchParams({ client_id: client, post_logout_redirect_uri: BACK }));
    const sealed = new URL(posted.location ?? '').searchParams.get('request') ?? '';
    for (const logout_request of [sealed, 'x', BACK, '%00']) {
      const browser = await service.signedIn('alice');
      await browser.get('/');
      expect((await browser.submit({ logout_request })).location).toBe(`${AUTHORIZATION_ISSUER}login`);
    }
  });
});

describe('without a session', () => {
  test('redirects at once with an ID token of a configured client', async () => {
    const fields = { id_token_hint: await idToken(), post_logout_redirect_uri: BACK, state: 'st' };
    await service.clients.find(client);
    expect((await service.browser().get(logoutUrl(fields))).location).toBe(`${BACK}?state=st`);
    expect(service.lastRequest()).toMatchObject({ requester: undefined, queries: 0 });
  });

  test.each([
    ['without an ID token', true, false],
    ['for a client that registered itself', false, false],
    ['for one that registered itself, with its ID token', false, true],
  ])('%s shows a page that names the host: no automatic redirect to an untrusted URI', async (_, isStatic, hasHint) => {
    service.clock.advanceSeconds(1);
    const metadata = { post_logout_redirect_uris: ['https://evil.example/'] };
    const id = await service.client({ secret: SECRET, isStatic, metadata });
    const hint = hasHint ? { id_token_hint: await idToken({ aud: id }) } : {};
    const fields = { client_id: id, post_logout_redirect_uri: 'https://evil.example/', state: 'st', ...hint };
    for (const browser of [service.browser(), service.browser()]) {
      const response = await browser.get(logoutUrl(fields));
      expectCleanPage(response.body);
      expect([response.status, response.location]).toEqual([200, undefined]);
      expect(response.text).toContain('Continue to evil.example');
      expect(response.body).toContain('href="https://evil.example/?state=st"');
    }
  });

  test('a session of a dynamically registered client still redirects to it', async () => {
    service.clock.advanceSeconds(1);
    const metadata = { post_logout_redirect_uris: [BACK] };
    const id = await service.client({ secret: SECRET, isStatic: false, metadata });
    const { browser, hint } = await signedInAt(id);
    const response = await browser.get(logoutUrl({ id_token_hint: hint, post_logout_redirect_uri: BACK }));
    expect(response.location).toBe(BACK);
  });

  test('shows that nobody is signed in', async () => {
    const page = await service.browser().get('/oauth2/logout');
    expectCleanPage(page.body);
    expect(page.text).toContain('You are signed out');
  });

  test('a session ended elsewhere does not count', async () => {
    const { browser, hint } = await signedInAt(client);
    await sql(
      testDatabase.database,
      'update user_sessions set finished_at = $1::timestamptz where finished_at is null',
      [new Date(service.clock.now())],
    );
    const response = await browser.get(logoutUrl({ id_token_hint: hint, post_logout_redirect_uri: BACK }));
    expect(response.location).toBe(BACK);
    expect(browser.cookies.has('__Host-latchkey_session')).toBe(false);
    expect(await auditEvents()).toEqual([]);
  });

  test('redirects a native client to its own loopback port', async () => {
    const id_token_hint = await idToken({ aud: nativeClient });
    const fields = { id_token_hint, post_logout_redirect_uri: 'http://127.0.0.1:49152/bye' };
    expect((await service.browser().get(logoutUrl(fields))).location).toBe('http://127.0.0.1:49152/bye');
  });
});

describe('rejects, with a page and without a redirect,', () => {
  const refused: [string, () => Promise<Record<string, string>>][] = [
    ['a hint that is not a token', async () => ({ id_token_hint: 'no-token-at-all' })],
    ['a hint whose claims were changed', async () => ({ id_token_hint: tampered(await idToken()) })],
    ['a hint without signature', async () => ({ id_token_hint: unsigned(await idToken()) })],
    ['a hint that others signed', async () => ({ id_token_hint: await idToken({}, foreignKeys()) })],
    ['a hint of another issuer', async () => ({ id_token_hint: await idToken({ iss: 'https://evil.example' }) })],
    ['a hint for several audiences', async () => ({ id_token_hint: await idToken({ aud: [client, 'x'] }) })],
    ['another kind of token', async () => ({ id_token_hint: await idToken({}, TEST_SIGNING_KEYS, 'logout+jwt') })],
    ['claims of userinfo, signed', async () => ({ id_token_hint: await idToken({ iat: undefined, exp: undefined }) })],
    ['a hint for another client', async () => ({ id_token_hint: await idToken(), client_id: otherClient })],
    ['a hint for a client that is gone', async () => ({ id_token_hint: await idToken({ aud: newId(2) }) })],
    ['an unknown client', async () => ({ client_id: newId(2) })],
    ['a client id that is none', async () => ({ client_id: 'x' })],
    ['an address without a client', async () => ({ post_logout_redirect_uri: BACK })],
    ['an address of a client that has none', async () => ({ client_id: otherClient, post_logout_redirect_uri: BACK })],
    [
      'a redirect URI',
      async () => ({ client_id: client, post_logout_redirect_uri: 'https://app.example.org/callback' }),
    ],
    ['a longer path', async () => ({ client_id: client, post_logout_redirect_uri: `${BACK}/more` })],
    ['an added query', async () => ({ client_id: client, post_logout_redirect_uri: `${BACK}?foo=bar` })],
    ['an added fragment', async () => ({ client_id: client, post_logout_redirect_uri: `${BACK}#f` })],
    ['another site', async () => ({ client_id: client, post_logout_redirect_uri: 'https://evil.example/' })],
    ['no address at all', async () => ({ client_id: client, post_logout_redirect_uri: 'javascript:alert(1)' })],
    ['a relative address', async () => ({ client_id: client, post_logout_redirect_uri: '//evil.example' })],
    [
      'another loopback path',
      async () => ({ client_id: nativeClient, post_logout_redirect_uri: 'http://127.0.0.1:1/x' }),
    ],
    [
      'a state over 2,048 bytes',
      async () => ({ client_id: client, post_logout_redirect_uri: BACK, state: 'ü'.repeat(1025) }),
    ],
  ];

  test.each(refused)('%s', async (_, fieldsOf) => {
    const { browser, hint } = await signedInAt(client);
    const fields = { id_token_hint: hint, ...(await fieldsOf()) };
    // In tests of a missing client, the hint would identify the client.
    if (!('client_id' in fields) && fields.id_token_hint === hint) Reflect.deleteProperty(fields, 'id_token_hint');
    const responses = [
      await browser.get(logoutUrl(fields)),
      await browser.post('/oauth2/logout', new URLSearchParams(fields), { 'sec-fetch-site': 'cross-site' }),
    ];
    for (const response of responses) {
      expect(response).toMatchObject({ status: 400, location: undefined, errorCodes: ['invalid_request'] });
      expectCleanPage(response.body);
    }
    const line = service.lines.findLast((text) => text.includes(' auth.refused ')) ?? '';
    expect(line).toContain('sign-out request refused');
    expect(line).not.toContain(fields.id_token_hint ?? hint);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test.each(['client_id', 'id_token_hint', 'post_logout_redirect_uri', 'state'])('a repeated %s', async (name) => {
    const page = await service.browser().get(`/oauth2/logout?${name}=a&${name}=b`);
    expect(page).toMatchObject({ status: 400, errorCodes: ['invalid_request'] });
  });

  test('a query that cannot be decoded', async () => {
    expect((await service.browser().get('/oauth2/logout?state=%ff')).status).toBe(400);
  });

  test('HEAD, PUT and bodies other than a form', async () => {
    const head = await service.browser().head('/oauth2/logout');
    expect(head.status).toBe(405);
    expect(head.headers.allow).toBe('GET, POST, OPTIONS');
    expect(
      (await service.browser().postRaw('/oauth2/logout', '{}', { 'content-type': 'application/json' })).status,
    ).toBe(415);
  });
});

describe('a cross-site POST', () => {
  const CROSS_SITE = { 'sec-fetch-site': 'cross-site', origin: 'https://app.example.org' };

  test('continues where cookies are present, without the token in the URL', async () => {
    const { browser, hint } = await signedInAt(client);
    const form = new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: BACK, state: 'st' });
    const withoutCookies = service.browser();
    const posted = await withoutCookies.post('/oauth2/logout', form, CROSS_SITE);
    expect(posted.status).toBe(303);
    expect(posted.location).toMatch(/^https:\/\/auth\.example\.test\/oauth2\/logout\?request=[\w-]+$/);
    expect(posted.location).not.toContain(hint);
    expect(posted.headers['set-cookie']).toBeUndefined();
    expect(await isSignedIn(browser)).toBe(true);
    expect((await browser.get(posted.location ?? '')).location).toBe(`${BACK}?state=st`);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('asks the user without a hint, in the requested language', async () => {
    const browser = await service.signedIn('alice');
    const form = new URLSearchParams({ client_id: client, post_logout_redirect_uri: BACK, ui_locales: 'tlh de' });
    await browser.post('/oauth2/logout', form, CROSS_SITE);
    expectQuestion(await browser.follow());
    expect(browser.page.text).toContain('Angemeldet bleiben');
    expect((await browser.submit()).location).toBe(BACK);
  });

  test('has a redirect that fits the longest allowed state and URI', async () => {
    const long = `https://app.example.org/${'a'.repeat(2024)}`;
    service.clock.advanceSeconds(1);
    const id = await service.client({ secret: SECRET, metadata: { post_logout_redirect_uris: [long] } });
    const state = '"'.repeat(2048);
    const id_token_hint = await idToken({ aud: id });
    const form = new URLSearchParams({ id_token_hint, post_logout_redirect_uri: long, state });
    const browser = service.browser();
    await browser.post('/oauth2/logout', form, CROSS_SITE);
    const response = await browser.get(browser.page.location ?? '');
    expect(response.location).toBe(`${long}?state=${encodeURIComponent(state)}`);
  });

  test.each([
    ['an hour later', 3600, (sealed: string) => sealed, 410],
    ['changed', 0, (sealed: string) => `${sealed.slice(0, -4)}AAAA`, 400],
    ['that was none', 0, () => 'x', 400],
  ])('rejects a continuation URL of it %s', async (_, seconds, change, status) => {
    const browser = await service.signedIn('alice');
    const form = new URLSearchParams({ client_id: client, post_logout_redirect_uri: BACK });
    const { location = '' } = await browser.post('/oauth2/logout', form, CROSS_SITE);
    const sealed = new URL(location).searchParams.get('request') ?? '';
    service.clock.advanceSeconds(seconds);
    const response = await browser.get(logoutUrl({ request: change(sealed) }));
    expect(response).toMatchObject({ status, location: undefined });
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('ignores the confirmation field in a posted request', async () => {
    const browser = await service.signedIn('alice');
    const page = await browser.get(logoutUrl({ client_id: client }));
    const sealed = page.forms[0]?.inputs.get('logout_request') ?? '';
    expect((await browser.get(logoutUrl({ request: sealed }))).status).toBe(400);
  });
});

test('the page is refused in frames and prefetches (S-67)', async () => {
  const { browser, hint } = await signedInAt(client);
  const address = logoutUrl({ id_token_hint: hint });
  for (const headers of [
    { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-dest': 'image', 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-dest': 'document', 'sec-purpose': 'prefetch' },
  ]) {
    expect((await browser.get(address, headers)).status).toBe(403);
  }
  expect(await isSignedIn(browser)).toBe(true);
});

function tampered(token: string): string {
  const [head, body = '', signature] = token.split('.');
  const claims = JSON.parse(atob(body.replaceAll('-', '+').replaceAll('_', '/')));
  const changed = Buffer.from(JSON.stringify({ ...claims, sid: newId(3) })).toString('base64url');
  return `${head}.${changed}.${signature}`;
}

function unsigned(token: string): string {
  const head = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  return `${head}.${token.split('.')[1]}.`;
}
