import { beforeAll, describe, expect, test } from 'vitest';
import { newId, toUuid } from '#platform/base/ids.ts';
import {
  AUTHORIZATION_ISSUER,
  authorizeUrl,
  CALLBACK,
  grantIdOf,
  responseOf,
  startAuthorizationService,
} from '#test/support/authorization-service.ts';
import type { Page } from '#test/support/browser.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { refusingWrites } from '#test/support/refusing-writes.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

let client: string;

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startAuthorizationService(testDatabase.database));

beforeAll(async () => {
  client = await service.client();
  await service.person('alice');
});

async function grantCount(): Promise<number> {
  const [row] = await sql<{ count: number }>(
    testDatabase.database,
    'select count(*)::integer as count from oauth2_authorization_grants',
  );
  return row?.count ?? -1;
}

describe('an authorization request that cannot be returned to the client', () => {
  test.each([
    'https://app.example.org/callback/',
    'https://app.example.org/callback/../evil',
    'https://app.example.org/callback?x=1',
    'https://APP.example.org/callback',
    'https://app.example.org:443/callback',
    'http://app.example.org/callback',
    'https://app.example.org@evil.example/callback',
    'https://evil.example/',
    '//app.example.org/callback',
    'javascript:alert(1)',
    'data:text/html,x',
  ])('with redirect_uri %s shows a page: no redirect, no grant row (S-01, S-05, R-11)', async (redirect_uri) => {
    const before = await grantCount();
    const page = await service.browser().get(authorizeUrl(client, { redirect_uri }));
    expect(page).toMatchObject({ status: 400, location: undefined, errorCodes: ['invalid_redirect_uri'] });
    expect(page.body).not.toContain('evil.example');
    expect(await grantCount()).toBe(before);
  });

  test('with another loopback port for a confidential client shows a page (S-186, R-10)', async () => {
    const metadata = { redirect_uris: ['http://127.0.0.1:3000/cb'] };
    const confidential = await service.client({ secret: 's', metadata });
    const publicClient = await service.client({ metadata });
    const redirect_uri = 'http://127.0.0.1:4000/cb';
    const refused = await service.browser().get(authorizeUrl(confidential, { redirect_uri }));
    expect(refused).toMatchObject({ status: 400, location: undefined, errorCodes: ['invalid_redirect_uri'] });
    const code_challenge = 'a'.repeat(43);
    const pkce = { code_challenge, code_challenge_method: 'S256' };
    const accepted = await service.browser().get(authorizeUrl(publicClient, { redirect_uri, ...pkce }));
    expect(accepted.location).toContain('/login?');
  });

  test('shows the same page for unknown, disabled and malformed client IDs (S-06)', async () => {
    const disabled = await service.client();
    service.clients.forget(disabled);
    await sql(
      testDatabase.database,
      'update oauth2_clients set disabled_at = created_at where id = $1::uuid returning id',
      [toUuid(disabled)],
    );
    const responses = [];
    for (const id of [newId(1), disabled, 'no-ulid', 'a\0b', '']) {
      const page = await service.browser().get(authorizeUrl(id));
      expect(page.location).toBeUndefined();
      const { date: _date, ...headers } = page.headers;
      responses.push({ status: page.status, headers, body: page.body.replaceAll(/GET-\d+/g, '') });
    }
    expect(responses[0]).toMatchObject({ status: 400 });
    for (const response of responses) expect(response).toEqual(responses[0]);
  });

  test.each(['client_id', 'redirect_uri', 'response_mode', 'state', 'response_type', 'request', 'request_uri'])(
    'with a repeated %s shows a page (S-02)',
    async (name) => {
      const page = await service.browser().get(`${authorizeUrl(client)}&${name}=a&${name}=a`);
      expect(page).toMatchObject({ status: 400, location: undefined, errorCodes: ['invalid_request'] });
    },
  );

  test('with an unknown response_mode shows a page (S-07)', async () => {
    const page = await service.browser().get(authorizeUrl(client, { response_mode: 'web_message' }));
    expect(page).toMatchObject({ status: 400, location: undefined });
  });

  test('rejects HEAD, since the GET changes state', async () => {
    const before = await grantCount();
    const response = await fetch(`${service.origin}${authorizeUrl(client)}`, { method: 'HEAD', redirect: 'manual' });
    expect(response.status).toBe(405);
    expect(await grantCount()).toBe(before);
  });
});

describe('a rejected authorization request', () => {
  test.each([
    ['response_type', { response_type: 'code id_token', response_mode: 'query' }, 'unsupported_response_type'],
    ['scope', { scope: '"' }, 'invalid_scope'],
    ['max_age', { max_age: '-1' }, 'invalid_request'],
    ['prompt', { prompt: 'none login' }, 'invalid_request'],
    ['request', { request: 'x' }, 'invalid_request_object'],
    ['request_uri', { request_uri: 'https://evil.example/x' }, 'request_uri_not_supported'],
    ['claims', { claims: '[]' }, 'invalid_request'],
  ])('with a bad %s redirects with error, state and iss, ending in # (S-11, S-13, S-23)', async (_, fields, error) => {
    const before = await grantCount();
    const page = await service.browser().get(authorizeUrl(client, { state: 'a b&c#', ...fields }));
    expect(page.status).toBe(303);
    expect(page.headers.location).toMatch(/^https:\/\/app\.example\.org\/callback\?.*#$/);
    expect(responseOf(page)).toMatchObject({ error, state: 'a b&c#', iss: AUTHORIZATION_ISSUER });
    expect(page.headers['referrer-policy']).toBe('no-referrer');
    expect(page.headers['cache-control']).toBe('no-store');
    expect(await grantCount()).toBe(before);
  });

  test.each(['token', 'id_token', 'code token'])(
    'with response_type=%s responds in the fragment (S-07)',
    async (response_type) => {
      const page = await service.browser().get(authorizeUrl(client, { response_type }));
      expect(new URL(page.headers.location ?? '').search).toBe('');
      expect(responseOf(page)).toMatchObject({
        error: 'unsupported_response_type',
        state: 'st',
        iss: AUTHORIZATION_ISSUER,
      });
    },
  );

  test('with form_post gets the page at once, with every field escaped, posting to the client only (S-07)', async () => {
    const state = '"><script>alert(1)</script>\n\'';
    const fields = { response_mode: 'form_post', scope: '"', state };
    const page = await service.browser().get(authorizeUrl(client, fields));
    expect(page.status).toBe(200);
    expect(page.body).not.toContain('<script>alert');
    expect(page.headers['content-security-policy']).toContain("script-src 'self';");
    expect(page.headers['content-security-policy']).toContain("form-action 'self' https://app.example.org;");
    expect(page.headers['referrer-policy']).toBe('strict-origin');
    expect(page.headers['cache-control']).toBe('no-store');
    const [form] = page.forms;
    expect(form).toMatchObject({ method: 'POST', action: CALLBACK });
    expect(form?.inputs.get('error')).toBe('invalid_scope');
    expect(form?.inputs.get('iss')).toBe(AUTHORIZATION_ISSUER);
    expect(page.body).toContain(`name="state" value="&quot;>&lt;script>alert(1)&lt;/script>\n'"`);
  });

  test('from a public client without PKCE is refused: a stolen code could be redeemed (S-20)', async () => {
    const publicClient = await service.client({});
    const page = await service.browser().get(authorizeUrl(publicClient));
    expect(responseOf(page)).toMatchObject({ error: 'invalid_request' });
  });
});

describe('a server error after the redirect URI is validated', () => {
  test('is reported to the client without its cause, which is logged (RFC 6749 4.1.2.1)', async () => {
    const broken = await startAuthorizationService(refusingWrites(testDatabase.database));
    try {
      const page = await broken.browser().get(authorizeUrl(client));
      expect(responseOf(page)).toMatchObject({ error: 'server_error', state: 'st', iss: AUTHORIZATION_ISSUER });
      expect(page.headers.location).not.toContain('refused');
      expect(broken.log.lines.find((line) => line.level === 'error')?.fields['message']).toBe('write refused');
    } finally {
      await broken.close();
    }
  });
});

describe('a signed-out user', () => {
  test('is sent to sign in with the login hint, and returns through the grant to the consent page', async () => {
    const browser = service.browser();
    const page = await browser.get(authorizeUrl(client, { login_hint: 'alice' }));
    const id = grantIdOf(page);
    expect(page.status).toBe(303);
    expect(new URL(page.location ?? '').pathname + new URL(page.location ?? '').search).toBe(
      `/login?kind=continue_authorization_grant&id=${id}&login_hint=alice`,
    );
    expect(service.lastRequest()).toMatchObject({ status: 303, queries: 1, requester: undefined });
    await service.signedIn('alice', browser);
    await browser.open(`/authorize/${id}`);
    expect(new URL(browser.page.url).pathname).toBe(`/consent/${id}`);
    expect(browser.page.status).toBe(200);
  });

  test('with prompt=none gets login_required, and no grant is stored (S-10)', async () => {
    const before = await grantCount();
    const page = await service.browser().get(authorizeUrl(client, { prompt: 'none' }));
    expect(responseOf(page)).toMatchObject({ error: 'login_required', state: 'st', iss: AUTHORIZATION_ISSUER });
    expect(await grantCount()).toBe(before);
  });

  test('sees the pages in the language requested by the client, which is not remembered', async () => {
    const browser = service.browser();
    await browser.get(authorizeUrl(client, { ui_locales: 'xx de-AT' }));
    expect([...browser.cookies.keys()].some((name) => name.includes('lang'))).toBe(false);
    await browser.follow();
    expect(browser.page.headers['content-language']).toBe('de');
    const id = grantIdOf(browser.page);
    await service.signedIn('alice', browser);
    await browser.get(`/consent/${id}`);
    expect(browser.page.headers['content-language']).toBe('de');
  });
});

describe('a signed-in user', () => {
  test('without consent sees the consent page; prompt=none: consent_required, and no grant is kept (S-10)', async () => {
    const other = await service.client();
    const browser = await service.signedIn('alice');
    const before = await grantCount();
    const silent = await browser.get(authorizeUrl(other, { prompt: 'none' }));
    expect(responseOf(silent)).toMatchObject({ error: 'consent_required' });
    expect(await grantCount()).toBe(before);
    const requested = await browser.get(authorizeUrl(other));
    expect(requested.location).toBe(`${AUTHORIZATION_ISSUER}consent/${grantIdOf(requested)}`);
    expect(service.lastRequest().requester).toMatch(/^user:[0-9A-Z]{26}\(alice\)$/);
  });

  test('with consent gets a code at once, in three statements, also with prompt=none (performance 1)', async () => {
    const browser = await consented('alice');
    for (const prompt of [undefined, 'none']) {
      const page = await browser.get(authorizeUrl(client, { prompt }));
      expect(responseOf(page)).toEqual({
        code: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
        state: 'st',
        iss: AUTHORIZATION_ISSUER,
      });
      expect(page.headers.location).toMatch(/#$/);
      expect(service.lastRequest().queries).toBeLessThanOrEqual(3);
      expect(service.lastRequest().requester).toMatch(/\(alice\)$/);
    }
  });

  test('gets the code in the fragment when requested, after the query of the redirect URI', async () => {
    const redirect_uri = 'https://app.example.org/callback?keep=1';
    const other = await service.client({ secret: 's', metadata: { redirect_uris: [redirect_uri], first_party: true } });
    const browser = await service.signedIn('alice');
    const page = await browser.get(authorizeUrl(other, { redirect_uri, response_mode: 'fragment' }));
    expect(page.headers.location).toMatch(/^https:\/\/app\.example\.org\/callback\?keep=1#code=/);
    expect(responseOf(page)).toMatchObject({ state: 'st', iss: AUTHORIZATION_ISSUER });
  });

  test('with form_post is redirected to the page that posts the code, which is shown once', async () => {
    const browser = await consented('alice');
    const redirected = await browser.get(authorizeUrl(client, { response_mode: 'form_post' }));
    const address = `${AUTHORIZATION_ISSUER}authorize/${grantIdOf(redirected)}`;
    expect(redirected.location).toBe(address);
    const page = await browser.get(address);
    expect(page.status).toBe(200);
    expect(page.headers['content-security-policy']).toContain("form-action 'self' https://app.example.org;");
    expect(page.forms[0]).toMatchObject({ method: 'POST', action: CALLBACK });
    expect(Object.fromEntries(page.forms[0]?.inputs ?? [])).toEqual({
      code: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      state: 'st',
      iss: AUTHORIZATION_ISSUER,
    });
    expect(page.body).toContain('<button');
    const again = await browser.get(address);
    expect(again).toMatchObject({ status: 409 });
    expect(again.body).not.toContain(page.forms[0]?.inputs.get('code'));
  });

  test('whose session was ended elsewhere sees a notice; prompt=none: login_required', async () => {
    const browser = await service.signedIn('alice');
    await sql(
      testDatabase.database,
      'update user_sessions set finished_at = now() where finished_at is null returning id',
    );
    expect(responseOf(await browser.get(authorizeUrl(client, { prompt: 'none' })))).toMatchObject({
      error: 'login_required',
    });
    await browser.open(authorizeUrl(client));
    expect(new URL(browser.page.url).pathname).toMatch(/^\/authorize\/[0-9A-Z]{26}$/);
    expect(browser.page).toMatchObject({ status: 200 });
    expect(browser.page.text).toContain('You were signed out');
    expect(service.lastRequest().requester).toBeUndefined();
    await browser.submit();
    await browser.follow();
    expect(new URL(browser.page.url).pathname).toBe('/login');
  });
});

describe('an authorization request by POST (OpenID Connect Core 3.1.2.1)', () => {
  function form(fields: Record<string, string> = {}): URLSearchParams {
    return new URLSearchParams({
      client_id: client,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid',
      state: 'st',
      ...fields,
    });
  }
  const CROSS_SITE = { 'sec-fetch-site': 'cross-site', origin: 'https://app.example.org', cookie: undefined };

  test('from another site, without cookies, is bound to this browser by a one-minute ticket (oauth 7.2)', async () => {
    const browser = await consented('alice');
    const posted = await browser.post('/authorize', form(), CROSS_SITE);
    expect(posted.status).toBe(303);
    expect(service.lastRequest().requester).toBeUndefined();
    const ticket = new URL(posted.location ?? '');
    expect(ticket.pathname).toMatch(/^\/authorize\/[0-9A-Z]{26}$/);
    await browser.get(ticket.href);
    expect(responseOf(browser.page)).toMatchObject({
      code: expect.any(String),
      state: 'st',
      iss: AUTHORIZATION_ISSUER,
    });
  });

  test('with an expired, foreign or missing ticket is not bound, and asks for consent (S-24)', async () => {
    const browser = await consented('alice');
    const first = new URL((await browser.post('/authorize', form(), CROSS_SITE)).location ?? '');
    const second = new URL((await browser.post('/authorize', form(), CROSS_SITE)).location ?? '');
    const swapped = `${first.pathname}${second.search}`;
    for (const address of [first.pathname, swapped, `${first.pathname}?bind=x`]) {
      expect((await browser.get(address)).location).toBe(`${AUTHORIZATION_ISSUER}consent${first.pathname.slice(10)}`);
    }
    service.clock.advanceSeconds(60);
    expect((await browser.get(second.href)).location).toContain('/consent/');
  });

  test('with prompt=none and no ticket gets interaction_required, and ends (R-31)', async () => {
    const browser = await consented('alice');
    const posted = await browser.post('/authorize', form({ prompt: 'none' }), CROSS_SITE);
    const { pathname } = new URL(posted.location ?? '');
    expect(responseOf(await browser.get(pathname))).toMatchObject({ error: 'interaction_required', state: 'st' });
    expect((await browser.get(pathname)).status).toBe(409);
  });

  test('ignores the query', async () => {
    const page = await service
      .browser()
      .post(authorizeUrl(client), new URLSearchParams({ client_id: client }), CROSS_SITE);
    expect(page).toMatchObject({ status: 303 });
    expect(responseOf(page)).toMatchObject({ error: 'invalid_request' });
  });

  test('in a format other than a form gets 415', async () => {
    const headers = { ...CROSS_SITE, 'content-type': 'application/json' };
    expect((await service.browser().post('/authorize', form(), headers)).status).toBe(415);
  });

  test('that also names a grant gets a page', async () => {
    const page = await service.browser().post('/authorize', form({ grant_id: newId(1) }));
    expect(page).toMatchObject({ status: 400, location: undefined });
  });
});

describe('reauthentication (oauth 7.4)', () => {
  test('max_age=0 asks for the password once, cannot be bypassed by URL, and does not loop (S-11)', async () => {
    const browser = await consented('alice');
    const page = await browser.get(authorizeUrl(client, { max_age: '0' }));
    const id = grantIdOf(page);
    const reauth = `${AUTHORIZATION_ISSUER}reauth?kind=continue_authorization_grant&id=${id}`;
    expect(page.location).toBe(reauth);
    for (const address of [`/authorize/${id}`, `/consent/${id}`])
      expect((await browser.get(address)).location).toBe(reauth);
    service.clock.advanceSeconds(5);
    await browser.get(reauth);
    await browser.submit(
      { password: 'correct horse battery staple' },
      { action: new URL(reauth).pathname + new URL(reauth).search },
    );
    expect(browser.page.location).toBe(`${AUTHORIZATION_ISSUER}authorize/${id}`);
    await browser.follow();
    expect(responseOf(browser.page)).toMatchObject({ code: expect.any(String) });
    const [grant] = await sql<{ age: number }>(
      testDatabase.database,
      `select extract(epoch from fulfilled_at - auth_time)::float8 as age
         from oauth2_authorization_grants where id = $1::uuid`,
      [toUuid(id)],
    );
    expect(grant?.age).toBe(0);
  });

  test('prompt=login requires the password even a minute after sign-in, and again after a reload', async () => {
    const browser = await consented('alice');
    const id = grantIdOf(await browser.get(authorizeUrl(client, { prompt: 'login' })));
    for (let reload = 0; reload < 3; reload += 1) {
      expect((await browser.get(`/authorize/${id}`)).location).toContain('/reauth?');
    }
  });

  test('a session younger than max_age is sufficient', async () => {
    const browser = await consented('alice');
    const page = await browser.get(authorizeUrl(client, { max_age: '86400' }));
    expect(responseOf(page)).toMatchObject({ code: expect.any(String) });
  });
});

describe('many requests from one address (S-95)', () => {
  test('are refused with a page beyond 100 pending ones, without a redirect', async () => {
    const browser = service.browser('203.0.113.77');
    for (let count = 0; count < 100; count += 1) await browser.get(authorizeUrl(client));
    const before = await grantCount();
    expect(await browser.get(authorizeUrl(client))).toMatchObject({ status: 429, location: undefined });
    expect(await grantCount()).toBe(before);
    expect((await service.browser('203.0.113.78').get(authorizeUrl(client))).status).toBe(303);
  });

  test('are also counted when they end in an error, so canceling does not bypass the limit (S-179)', async () => {
    const address = '203.0.113.90';
    const request = {
      client_id: client,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid',
      prompt: 'none',
    };
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://app.example.org', cookie: undefined };
    let refused = 0;
    for (let count = 0; count < 110; count += 1) {
      const browser = service.browser(address);
      const page = await browser.post('/authorize', new URLSearchParams(request), headers);
      if (page.status === 429) refused += 1;
      else expect(responseOf(await browser.get(new URL(page.location ?? '').pathname))).toHaveProperty('error');
    }
    expect(refused).toBe(10);
    expect((await service.browser().get(authorizeUrl(client))).status).toBe(303);
  });

  test('by one signed-in user are limited across all addresses (S-179)', async () => {
    await service.person('scripted');
    const browser = await service.signedIn('scripted');
    const trusted = await service.client({ secret: 's', metadata: { first_party: true } });
    let codes = 0;
    for (let count = 0; count < 110; count += 1) {
      const headers = { 'x-forwarded-for': `203.0.114.${count}` };
      if ('code' in responseOfAny(await browser.get(authorizeUrl(trusted), headers))) codes += 1;
    }
    expect(codes).toBe(100);
    expect((await service.browser().get(authorizeUrl(trusted))).status).toBe(303);
  });

  test('with unknown client IDs store nothing, however many there are (S-179)', async () => {
    const stored = async () => {
      const tables = ['oauth2_authorization_grants', 'oauth2_clients', 'rate_limits', 'audit_events'];
      const counts = tables.map((table) => `(select count(*) from ${table})::integer as ${table}`);
      return await sql(testDatabase.database, `select ${counts.join(', ')}`);
    };
    const browser = service.browser();
    const before = await stored();
    for (let count = 0; count < 1000; count += 1) {
      const id = count % 2 === 0 ? newId<'client'>(count) : `app-${count}`;
      expect((await browser.get(authorizeUrl(id))).status).toBe(400);
    }
    expect(await stored()).toEqual(before);
    expect((await browser.get(authorizeUrl(client))).status).toBe(303);
  });
});

/** Returns an empty object if the response is a page. */
function responseOfAny(page: Page): Readonly<Record<string, string>> {
  return page.headers.location === undefined ? {} : responseOf(page);
}

/** A browser whose user has granted the client its scopes. */
async function consented(username: string) {
  const browser = await service.signedIn(username);
  await browser.open(authorizeUrl(client));
  if (new URL(browser.page.url).pathname.startsWith('/consent/')) {
    await browser.submit({ action: 'consent' }, { action: '/authorize' });
  }
  return browser;
}
