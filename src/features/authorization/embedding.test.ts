import { beforeAll, describe, expect, test } from 'vitest';
import {
  AUTHORIZATION_ISSUER,
  authorizeUrl,
  CALLBACK,
  PASSWORD,
  responseOf,
  startAuthorizationService,
} from '#test/support/authorization-service.ts';
import type { Browser } from '#test/support/browser.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ClientId } from '#vocabulary/ids.ts';

let client: ClientId;

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startAuthorizationService(testDatabase.database));

beforeAll(async () => {
  client = await service.client({ secret: 's', metadata: { first_party: true } });
  await service.person('alice');
});

type Headers = Readonly<Record<string, string | undefined>>;

const FOREIGN = { origin: undefined, referer: 'https://evil.example/', 'sec-fetch-site': 'cross-site' };
const NAVIGATION = { ...FOREIGN, 'sec-fetch-mode': 'navigate', 'upgrade-insecure-requests': '1' };
const BY_USER = { ...NAVIGATION, 'sec-fetch-user': '?1', 'sec-fetch-dest': 'document' };
const CHROMIUM = { 'sec-ch-ua': '"Chromium";v="142"', 'sec-ch-ua-mobile': '?0', 'sec-ch-ua-platform': '"Linux"' };
const SUBRESOURCE = { ...FOREIGN, 'sec-fetch-mode': 'no-cors' };
const FRAME = { ...NAVIGATION, 'sec-fetch-dest': 'iframe' };

const OPENED: readonly [string, Headers][] = [
  ['a link in Chromium', { ...CHROMIUM, ...BY_USER }],
  ['a link in Firefox', { ...BY_USER, te: 'trailers' }],
  ['a form sent by GET', BY_USER],
  ['a redirect without a click', { ...NAVIGATION, 'sec-fetch-dest': 'document' }],
  ['a typed address', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
  ['a browser that says nothing', {}],
];

const EMBEDDED: readonly [string, Headers][] = [
  ['an image', { ...SUBRESOURCE, 'sec-fetch-dest': 'image' }],
  ['a script', { ...SUBRESOURCE, 'sec-fetch-dest': 'script' }],
  ['a style sheet', { ...SUBRESOURCE, 'sec-fetch-dest': 'style' }],
  ['fetch no-cors', { ...SUBRESOURCE, 'sec-fetch-dest': 'empty' }],
  ['fetch no-cors of a neighbor', { ...SUBRESOURCE, 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-site' }],
  ['fetch cors', { ...FOREIGN, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', origin: 'https://evil.example' }],
  ['an object', { ...NAVIGATION, 'sec-fetch-dest': 'object' }],
  ['an embed', { ...NAVIGATION, 'sec-fetch-dest': 'embed' }],
  ['a frame', { ...NAVIGATION, 'sec-fetch-dest': 'frame' }],
  ['an iframe', FRAME],
  ['a page loaded in advance', { ...NAVIGATION, 'sec-fetch-dest': 'document', 'sec-purpose': 'prefetch' }],
  ['a page drawn in advance', { ...NAVIGATION, 'sec-fetch-dest': 'document', 'sec-purpose': 'prefetch;prerender' }],
];

const TABLES = ['oauth2_authorization_grants', 'rate_limits', 'login_failures', 'user_sessions', 'audit_events'];

/** Everything that these routes could store or count. */
async function stored(): Promise<unknown> {
  const counts = TABLES.map((table) => `(select count(*) from ${table})::integer as ${table}`);
  return await sql(testDatabase.database, `select ${counts.join(', ')}`);
}

function authorizationForm(fields: Record<string, string> = {}): URLSearchParams {
  const request = { client_id: client, response_type: 'code', redirect_uri: CALLBACK, scope: 'openid', state: 'st' };
  return new URLSearchParams({ ...request, ...fields });
}

describe('a cross-site page opening /authorize', () => {
  test.each(OPENED)('by %s: asks the user to sign in', async (_, headers) => {
    const page = await service.browser().get(authorizeUrl(client), headers);
    expect(page).toMatchObject({ status: 303, location: expect.stringContaining('/login?') });
  });

  test('by POSTing a form, as clients may (OpenID Connect Core 3.1.2.1)', async () => {
    const headers = { ...BY_USER, origin: 'https://app.example.org', cookie: undefined };
    const page = await service.browser().post('/authorize', authorizationForm(), headers);
    expect(page).toMatchObject({ status: 303, location: expect.stringContaining('/authorize/') });
  });
});

describe('a cross-site page embedding /authorize or /login', () => {
  test.each(EMBEDDED)('as %s, a hundred times: 403, nothing is stored or counted', async (_, headers) => {
    const browser = service.browser();
    const before = await stored();
    for (let count = 0; count < 50; count += 1) {
      for (const path of [authorizeUrl(client), '/login']) {
        expect(await browser.get(path, headers)).toMatchObject({ status: 403, body: '', location: undefined });
      }
    }
    expect(browser.cookies.size).toBe(0);
    expect(await stored()).toEqual(before);
    expect((await browser.get(authorizeUrl(client), BY_USER)).status).toBe(303);
  });

  test('with forms posted into frames: 403, nothing is stored or counted, even with prompt=none', async () => {
    const browser = service.browser();
    const before = await stored();
    const headers = { ...FRAME, origin: 'https://evil.example', cookie: undefined };
    for (let count = 0; count < 100; count += 1) {
      for (const form of [authorizationForm(), authorizationForm({ prompt: 'none' })]) {
        expect(await browser.post('/authorize', form, headers)).toMatchObject({ status: 403, body: '' });
      }
    }
    expect(await stored()).toEqual(before);
  });

  test('with forms posted to /login: 403, and no attempt is counted', async () => {
    const browser = service.browser();
    const before = await stored();
    const form = new URLSearchParams({ username: 'alice', password: 'wrong' });
    for (const destination of ['document', 'iframe']) {
      const headers = {
        ...BY_USER,
        'sec-fetch-dest': destination,
        origin: 'https://evil.example',
        cookie: undefined,
      };
      for (let count = 0; count < 50; count += 1)
        expect((await browser.post('/login', form, headers)).status).toBe(403);
    }
    expect(await stored()).toEqual(before);
    await browser.get('/login');
    await browser.submit({ username: 'alice', password: PASSWORD });
    expect(browser.page.status).toBe(303);
  });

  test('does not affect data requests of our own pages', async () => {
    const headers = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };
    expect((await service.browser().get('/login', headers)).status).toBe(200);
  });
});

describe('silent renewal in a hidden frame (prompt=none)', () => {
  const silent = (fields: Record<string, string> = {}) => authorizeUrl(client, { prompt: 'none', ...fields });
  const pending = async () =>
    await sql(testDatabase.database, 'select id from oauth2_authorization_grants where fulfilled_at is null');

  test('of a same-site application, where browsers send cookies: issues a code', async () => {
    const browser = await service.signedIn('alice');
    const page = await browser.get(silent(), { ...FRAME, 'sec-fetch-site': 'same-site' });
    expect(responseOf(page)).toMatchObject({ code: expect.any(String), state: 'st', iss: AUTHORIZATION_ISSUER });
  });

  test('of a cross-site application, without cookies: login_required, a hundred times, and nothing is stored', async () => {
    const browser = await service.signedIn('alice');
    const before = await stored();
    for (let count = 0; count < 100; count += 1) {
      const page = await browser.get(silent(), { ...FRAME, cookie: undefined });
      expect(responseOf(page)).toMatchObject({ error: 'login_required' });
    }
    expect(await stored()).toEqual(before);
  });

  test('leaves no pending request, whatever prevents the code', async () => {
    const asking = await service.client();
    const browser: Browser = await service.signedIn('alice');
    const before = await pending();
    await browser.get(authorizeUrl(asking, { prompt: 'none' }), FRAME);
    await browser.get(silent({ max_age: '1' }), FRAME);
    await browser.get(silent({ scope: 'openid urn:latchkey:admin' }), FRAME);
    expect(await pending()).toEqual(before);
  });

  test.each(['login', 'none login', undefined])('rejects prompt=%s in a frame', async (prompt) => {
    const browser = await service.signedIn('alice');
    const page = await browser.get(authorizeUrl(client, { prompt }), FRAME);
    expect(page).toMatchObject({ status: 403, body: '' });
  });
});
