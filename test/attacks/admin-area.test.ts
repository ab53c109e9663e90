/** Attacks on the admin area (security 4.17): its page, its client, and the tokens of its client. */
import { describe, expect, test } from 'vitest';
import { parseId, toUuid } from '#platform/base/ids.ts';
import { ADMIN_AREA_CLIENT_ID } from '#protocol/oauth/builtin-clients.ts';
import { AdminAreaBrowser, OWN_PAGE } from '#test/support/admin-area.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';
const AMPLE = { burst: 100_000, per_second: 1000 };
const EXCHANGER = '01JD3Q5Z8W2N4K6M7P9R0S1T4X';
let users = 0;

const service = await sharedByTests(
  startService({
    rate_limiting: {
      admin_token: { per_ip: AMPLE },
      login: { per_ip: AMPLE, per_account: AMPLE, per_known_browser: AMPLE },
    },
    graphql: { oauth2_access: true },
    experimental: { access_token_ttl: '1h' },
    clients: [
      {
        client_id: EXCHANGER,
        client_auth_method: 'client_secret_post',
        client_secret: 'secret-of-the-exchanger',
        token_exchange: { subjects: ['*'], scopes: ['openid'], audiences: [] },
      },
    ],
  }),
);

async function administrator(): Promise<{ readonly uuid: string; readonly area: AdminAreaBrowser }> {
  users += 1;
  const username = `admin${users}`;
  const id = parseId(await service.registerUser(username, PASSWORD, { canRequestAdmin: true })) ?? expect.fail('no ID');
  return { uuid: toUuid(id), area: await new AdminAreaBrowser(service).signIn(username, PASSWORD) };
}

async function callApi(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${service.address}/api/admin/v1/users`, { headers })).status;
}

test.each(['iframe', 'embed', 'object', 'script', 'image', 'empty'])(
  'the page cannot be loaded as %s by another site, nor be framed (S-190)',
  async (destination) => {
    const { area } = await administrator();
    const embedded = { 'sec-fetch-dest': destination, 'sec-fetch-site': 'cross-site' };
    const page = await area.browser.get('admin/', embedded);
    expect([page.status, page.body]).toEqual([403, '']);
    const { headers } = await area.browser.get('admin/');
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'cross-origin-opener-policy': 'same-origin' });
  },
);

describe('a request for the client of the area that is not from its own page gets no code (S-191)', () => {
  test.each([
    ['a link on another site', {}, { ...OWN_PAGE, 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' }],
    ['a page of a sibling domain', {}, { ...OWN_PAGE, 'sec-fetch-site': 'same-site', 'sec-fetch-dest': 'document' }],
    ['a link in an email', {}, { ...OWN_PAGE, 'sec-fetch-site': 'none', 'sec-fetch-dest': 'document' }],
    ['a frame', {}, { ...OWN_PAGE, 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' }],
    ['a request with pages', { prompt: undefined }, OWN_PAGE],
    ['a request for consent', { prompt: 'consent' }, OWN_PAGE],
    ['a response in a form', { response_mode: 'form_post' }, OWN_PAGE],
    ['a response in the fragment', { response_mode: 'fragment' }, OWN_PAGE],
    ['the scope of the account API', { scope: 'urn:mas:graphql:*' }, OWN_PAGE],
    ['another redirect URI', { redirect_uri: 'https://evil.example/callback' }, OWN_PAGE],
    ['an implied redirect URI', { redirect_uri: undefined }, OWN_PAGE],
    ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }, OWN_PAGE],
    ['plain PKCE', { code_challenge_method: 'plain' }, OWN_PAGE],
  ])('%s', async (_, changed, headers) => {
    const { area } = await administrator();
    const page = await area.authorize(changed, headers);
    expect([400, 403, 303]).toContain(page.status);
    expect(page.location ?? '').not.toMatch(/[?&#]code=/);
    expect(page.body).not.toMatch(/name="code"/);
    const rows = await sql(
      service.database,
      'select 1 from oauth2_authorization_grants where fulfilled_at is not null and client_id = $1::uuid and redirect_uri <> $2::text',
      [toUuid(ADMIN_AREA_CLIENT_ID), area.redirectUri],
    );
    expect(rows).toEqual([]);
  });

  test('a posted form', async () => {
    const { area } = await administrator();
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    const page = await area.browser.post('authorize', area.parameters(), headers);
    expect([page.status, page.location]).toEqual([400, undefined]);
  });

  test('a pushed request', async () => {
    const { area } = await administrator();
    const pushed = await fetch(`${service.address}/oauth2/par`, { method: 'POST', body: area.parameters() });
    const { request_uri = '' }: { readonly request_uri?: string } = await pushed.json();
    const query = new URLSearchParams({ client_id: ADMIN_AREA_CLIENT_ID, request_uri });
    const page = await area.browser.get(`authorize?${query}`, OWN_PAGE);
    expect([page.status, page.location]).toEqual([400, undefined]);
  });

  test.each(['urn:mas:admin openid', 'urn:mas:admin offline_access', 'urn:mas:admin urn:mas:graphql:*'])(
    'further scopes are not granted: %s',
    async (scope) => {
      const { area } = await administrator();
      const { location = '' } = await area.authorize({ scope });
      const response = await area.redeem(new URL(location).searchParams.get('code') ?? '');
      expect(await response.json()).toMatchObject({ scope: 'urn:mas:admin' });
    },
  );

  test('the API itself ignores the cookie', async () => {
    const { area } = await administrator();
    const page = await area.browser.get('api/admin/v1/users', OWN_PAGE);
    expect(page.status).toBe(401);
  });
});

describe('a token of the area is worthless at once (S-192)', () => {
  test('when the user loses the right', async () => {
    const { area, uuid } = await administrator();
    const token = await area.token();
    expect(await callApi(token)).toBe(200);
    await sql(service.database, 'update users set can_request_admin = false where id = $1::uuid returning id', [uuid]);
    expect(await callApi(token)).toBe(403);
    expect((await area.answer()).get('error')).toBe('access_denied');
  });

  test('when the browser is signed out', async () => {
    const { area } = await administrator();
    const token = await area.token();
    await area.browser.open('');
    await area.browser.submit({}, { action: '/logout' });
    expect(await callApi(token)).toBe(401);
    expect((await area.answer()).get('error')).toBe('login_required');
  });

  test('when the browser session is deleted', async () => {
    const { area, uuid } = await administrator();
    const token = await area.token();
    await sql(service.database, 'delete from user_sessions where user_id = $1::uuid returning id', [uuid]);
    expect(await callApi(token)).toBe(401);
  });

  test('when the account is locked', async () => {
    const { area, uuid } = await administrator();
    const token = await area.token();
    await sql(service.database, 'update users set locked_at = now() where id = $1::uuid returning id', [uuid]);
    expect(await callApi(token)).toBe(401);
  });
});

describe('a token of the area opens nothing but the admin API (S-193)', () => {
  test('and expires after five minutes, whatever the lifetime of others', async () => {
    const { area } = await administrator();
    const response = await area.redeem((await area.answer()).get('code') ?? '');
    expect(await response.json()).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 300,
      scope: 'urn:mas:admin',
    });
  });

  test('not the account API, which could open permanent sessions', async () => {
    const { area } = await administrator();
    // With the scope of the account API, which the client never gets.
    const token = await area.token();
    await sql(
      service.database,
      `update oauth2_access_tokens set scope = array['urn:mas:admin', 'urn:mas:graphql:*'] returning id`,
    );
    await sql(
      service.database,
      `update oauth2_clients set metadata = metadata || '{"scope": "urn:mas:admin urn:mas:graphql:*"}'
        where id = $1::uuid returning id`,
      [toUuid(ADMIN_AREA_CLIENT_ID)],
    );
    const requested = await fetch(`${service.address}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ viewer { __typename } }' }),
    });
    expect(requested.status).toBe(401);
  });

  test('not the userinfo endpoint', async () => {
    const { area } = await administrator();
    const headers = { authorization: `Bearer ${await area.token()}` };
    expect((await fetch(`${service.address}/oauth2/userinfo`, { headers })).status).toBe(403);
  });

  test('no other token', async () => {
    const { area } = await administrator();
    const exchanged = await fetch(`${service.address}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        client_id: EXCHANGER,
        client_secret: 'secret-of-the-exchanger',
        subject_token: await area.token(),
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        scope: 'openid',
      }),
    });
    expect([exchanged.status, (await exchanged.json()).error]).toEqual([400, 'invalid_scope']);
  });
});
