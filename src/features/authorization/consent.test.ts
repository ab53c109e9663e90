import { beforeAll, describe, expect, test } from 'vitest';
import { newId, toUuid } from '#platform/base/ids.ts';
import {
  AUTHORIZATION_ISSUER,
  authorizeUrl,
  CALLBACK,
  grantIdOf,
  PASSWORD,
  responseOf,
  startAuthorizationService,
} from '#test/support/authorization-service.ts';
import type { Browser } from '#test/support/browser.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { AuthorizationGrantId, ClientId } from '#vocabulary/ids.ts';

let client: ClientId;

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startAuthorizationService(testDatabase.database));

beforeAll(async () => {
  client = await service.client();
  for (const name of ['alice', 'bob', 'admin']) await service.person(name);
  await sql(testDatabase.database, `update users set can_request_admin = true where username = 'admin' returning id`);
});

const CONSENT = { action: 'consent' };
const FORM = { action: '/authorize' };

/** Opens the consent page of a new request, after deleting earlier consents. */
async function requested(
  fields: Record<string, string> = {},
  username = 'alice',
): Promise<[Browser, AuthorizationGrantId]> {
  await sql(testDatabase.database, 'delete from oauth2_consents returning user_id');
  const browser = await service.signedIn(username);
  await browser.open(authorizeUrl(client, fields));
  if (!new URL(browser.page.url).pathname.startsWith('/consent/')) throw new Error(`shown: ${browser.page.url}`);
  return [browser, grantIdOf(browser.page)];
}

async function stateOf(id: AuthorizationGrantId) {
  const [row] = await sql<{ state: string; username: string | null; cancel_reason: string | null }>(
    testDatabase.database,
    `select case when g.cancelled_at is not null then 'cancelled' when g.fulfilled_at is not null then 'fulfilled'
            else 'pending' end as state, u.username, g.cancel_reason
       from oauth2_authorization_grants g
       left join user_sessions s on s.id = g.user_session_id left join users u on u.id = s.user_id
      where g.id = $1::uuid`,
    [toUuid(id)],
  );
  return row;
}

describe('the consent page', () => {
  test('shows the client, the redirect host, the scopes and the account (R-20)', async () => {
    const metadata = { client_name: { '': 'Example App\u202e' }, client_uri: { '': 'https://www.example.org/about' } };
    const other = await service.client({ secret: 's', isStatic: false, metadata });
    const browser = await service.signedIn('alice');
    await browser.open(authorizeUrl(other, { scope: 'openid email urn:chat:client:api:*' }));
    const { text, body, headers } = browser.page;
    expect(text).toContain('Continue to Example App ?');
    expect(text).toContain('www.example.org');
    expect(text).toContain('app.example.org');
    expect(text).toContain('registered itself');
    expect(text).toContain('See your email address');
    expect(text).toContain('@alice:example.test');
    expect(text).not.toContain('urn:chat');
    expect(body).not.toContain('\u202e');
    expect(headers['content-security-policy']).toContain("form-action 'self' https:;");
    expect(headers['cache-control']).toBe('no-store');
  });

  test("links the client's privacy policy and terms", async () => {
    const policy_uri = { '': 'https://app.example.org/privacy' };
    const tos_uri = { '': 'https://app.example.org/terms' };
    const other = await service.client({ secret: 's', metadata: { policy_uri, tos_uri } });
    const browser = await service.signedIn('alice');
    await browser.open(authorizeUrl(other));
    for (const uri of [policy_uri[''], tos_uri['']]) {
      expect(browser.page.body).toContain(`<a href="${uri}" target="_blank" rel="noopener noreferrer">`);
    }
  });

  test('says that a configured client was set up by the operator', async () => {
    const [browser] = await requested();
    expect(browser.page.text).toContain('This app was set up by the administrator');
  });

  test('takes one statement to show, and two to consent (performance 1)', async () => {
    const [browser, id] = await requested();
    await browser.get(`/consent/${id}`);
    expect(service.lastRequest().queries).toBe(1);
    await browser.submit(CONSENT, FORM);
    expect(browser.page.status).toBe(303);
    expect(service.lastRequest().queries).toBe(2);
  });

  test('returns 405 for POST to its own URL', async () => {
    const [browser, id] = await requested();
    expect((await browser.post(`/consent/${id}`, new URLSearchParams())).status).toBe(405);
  });

  test.each(['consent', 'authorize'])('at /%s/{id} returns 404 for unknown and malformed IDs (S-83)', async (path) => {
    const browser = await service.signedIn('alice');
    for (const id of [newId(1), 'x', '01H..%2f..%2f', `${newId(1)}0`]) {
      const page = await browser.get(`/${path}/${id}`);
      expect(page).toMatchObject({ status: 404, location: undefined });
    }
  });

  test('says that a request has expired, with a link back to the client carrying access_denied', async () => {
    const [browser, id] = await requested({ state: 'x y' });
    service.clock.advanceSeconds(3600);
    for (const address of [`/consent/${id}`, `/authorize/${id}`]) {
      const page = await browser.get(address);
      expect(page).toMatchObject({ status: 410, errorCodes: ['expired'] });
      const href = /class="button button-primary" href="([^"]*)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&') ?? '';
      const back = new URL(href);
      expect(back.origin + back.pathname).toBe(CALLBACK);
      expect(Object.fromEntries(back.searchParams)).toMatchObject({
        error: 'access_denied',
        state: 'x y',
        iss: AUTHORIZATION_ISSUER,
      });
    }
    expect((await browser.post('/authorize', new URLSearchParams({ grant_id: id }))).status).toBe(403);
  });

  test('sends signed-out users to sign in', async () => {
    const [, id] = await requested();
    const page = await service.browser().get(`/consent/${id}`);
    expect(page.location).toBe(`${AUTHORIZATION_ISSUER}login?kind=continue_authorization_grant&id=${id}`);
  });

  test('does not continue once the client removed its redirect URI: nothing is sent there (R-11)', async () => {
    const other = await service.client();
    const browser = await service.signedIn('alice');
    await browser.open(authorizeUrl(other));
    const id = grantIdOf(browser.page);
    await sql(
      testDatabase.database,
      `update oauth2_clients set version = version + 1,
          metadata = jsonb_set(metadata, '{redirect_uris}', '["https://app.example.org/other"]')
        where id = $1::uuid returning id`,
      [toUuid(other)],
    );
    service.clients.forget(other);
    await browser.submit(CONSENT, FORM);
    expect(browser.page).toMatchObject({ status: 400, location: undefined });
    expect(await stateOf(id)).toMatchObject({ state: 'cancelled', cancel_reason: 'redirect-uri-removed' });
  });
});

describe('the decision', () => {
  test('consent: redirects (303) with a code, and the same scopes are not asked for again (S-09)', async () => {
    const [browser, id] = await requested({ scope: 'openid email' });
    await browser.submit(CONSENT, FORM);
    expect(browser.page.status).toBe(303);
    expect(browser.page.headers.location).toMatch(/^https:\/\/app\.example\.org\/callback\?code=.*#$/);
    expect(responseOf(browser.page)).toMatchObject({ state: 'st', iss: AUTHORIZATION_ISSUER });
    expect(browser.page.headers['referrer-policy']).toBe('no-referrer');
    expect(await stateOf(id)).toMatchObject({ state: 'fulfilled', username: 'alice' });
    const again = await browser.get(authorizeUrl(client, { scope: 'email' }));
    expect(responseOf(again)).toMatchObject({ code: expect.any(String) });
    const more = await browser.get(authorizeUrl(client, { scope: 'openid profile' }));
    expect(more.location).toContain('/consent/');
  });

  test('cancel: redirects (303) with access_denied, and ends the request', async () => {
    const [browser, id] = await requested();
    await browser.submit({ action: 'cancel' }, FORM);
    expect(browser.page.status).toBe(303);
    expect(responseOf(browser.page)).toMatchObject({ error: 'access_denied', state: 'st', iss: AUTHORIZATION_ISSUER });
    expect(await stateOf(id)).toMatchObject({ state: 'cancelled', cancel_reason: 'user' });
    expect((await browser.get(`/authorize/${id}`)).status).toBe(409);
  });

  test.each([{}, { action: 'else' }])('%j: shows the page again with invalid_action', async (fields) => {
    const [browser, id] = await requested();
    await browser.submit(fields as Record<string, string>, FORM);
    expect(browser.page).toMatchObject({ status: 200, errorCodes: ['invalid_action'] });
    expect(await stateOf(id)).toMatchObject({ state: 'pending' });
  });

  test('twice within ten seconds: the second sees that the application is being opened, without the code', async () => {
    const [browser, id] = await requested();
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    const fields = new URLSearchParams({ csrf, grant_id: id, ...CONSENT });
    const code = responseOf(await browser.post('/authorize', fields))['code'] ?? '';
    const second = await browser.post('/authorize', fields);
    expect(second).toMatchObject({ status: 409, location: undefined, errorCodes: ['already_used'] });
    expect(second.text).toContain('the app is opening');
    expect(second.body).not.toContain(code);
    service.clock.advanceSeconds(10);
    const late = await browser.post('/authorize', fields);
    expect(late.status).toBe(409);
    expect(late.text).not.toContain('the app is opening');
  });

  test('fifty times in parallel: issues exactly one code (S-100)', async () => {
    const [browser, id] = await requested();
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    const fields = new URLSearchParams({ csrf, grant_id: id, ...CONSENT });
    const responses = await Promise.all(Array.from({ length: 50 }, () => browser.post('/authorize', fields)));
    const codes = responses.filter((response) => response.headers.location?.includes('code='));
    expect(codes).toHaveLength(1);
    // The losers of the race are redirected to the request's own URL, which reports that it was used.
    for (const response of responses) expect([303, 409]).toContain(response.status);
  });

  test('applies to the stored request only, whatever else is posted (S-26)', async () => {
    const other = await service.client();
    const [browser, id] = await requested();
    const tampered = {
      ...CONSENT,
      scope: 'openid urn:latchkey:admin',
      redirect_uri: 'https://evil.example/',
      state: 'x',
    };
    await browser.submit(tampered, FORM);
    expect(browser.page.headers.location).toMatch(/^https:\/\/app\.example\.org\/callback\?/);
    expect(responseOf(browser.page)['state']).toBe('st');
    const [row] = await sql(
      testDatabase.database,
      'select scope from oauth2_authorization_grants where id = $1::uuid',
      [toUuid(id)],
    );
    expect(row).toEqual({ scope: ['openid'] });
    const [second, secondId] = await requested();
    await second.submit({ ...CONSENT, client_id: other }, FORM);
    expect(second.page).toMatchObject({ status: 400, location: undefined });
    expect(await stateOf(secondId)).toMatchObject({ state: 'pending' });
  });

  test('with a repeated field is malformed', async () => {
    const [browser, id] = await requested();
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    const fields = new URLSearchParams([
      ['csrf', csrf],
      ['grant_id', id],
      ['action', 'cancel'],
      ['action', 'consent'],
    ]);
    expect((await browser.post('/authorize', fields)).status).toBe(400);
    expect(await stateOf(id)).toMatchObject({ state: 'pending' });
  });

  test.each([
    ['no token', { csrf: '' }, {}],
    ['another token', { csrf: 'A'.repeat(43) }, {}],
    ['a foreign origin', {}, { origin: 'https://evil.example' }],
    ['a null origin', {}, { origin: 'null' }],
    ['a cross-site request', {}, { 'sec-fetch-site': 'cross-site' }],
    ['a same-site request', {}, { 'sec-fetch-site': 'same-site' }],
  ])('with %s is not processed, and the response links to the consent page (S-57)', async (_, fields, headers) => {
    const [browser, id] = await requested();
    await browser.submit({ ...CONSENT, ...fields }, { ...FORM, headers });
    expect(browser.page).toMatchObject({ status: 403, location: undefined });
    expect(browser.page.body).toContain(`href="/consent/${id}"`);
    expect(await stateOf(id)).toMatchObject({ state: 'pending' });
  });

  test('on a page that was open for too long shows the form again, which then works', async () => {
    const [browser, id] = await requested();
    service.clock.advanceSeconds(1800);
    await browser.get(`/consent/${id}`);
    const { inputs } = browser.page.forms[0] ?? { inputs: new Map() };
    await sql(
      testDatabase.database,
      `update oauth2_authorization_grants set expires_at = expires_at + interval '2 hours' where id = $1::uuid returning id`,
      [toUuid(id)],
    );
    service.clock.advanceSeconds(3600);
    await browser.post('/authorize', new URLSearchParams([...inputs, ['grant_id', id], ['action', 'consent']]));
    expect(browser.page).toMatchObject({ status: 200, errorCodes: ['csrf_expired'] });
    expect(await stateOf(id)).toMatchObject({ state: 'pending' });
    await browser.submit(CONSENT, FORM);
    expect(responseOf(browser.page)).toMatchObject({ code: expect.any(String) });
  });
});

describe('a request pending in one browser', () => {
  test('asks for consent in another browser, despite earlier consent (S-24)', async () => {
    const [alice] = await requested();
    await alice.submit(CONSENT, FORM);
    const foreign = await service.browser().get(authorizeUrl(client));
    const id = grantIdOf(foreign);
    const page = await alice.get(`/authorize/${id}`);
    expect(page.location).toBe(`${AUTHORIZATION_ISSUER}consent/${id}`);
    expect(await stateOf(id)).toMatchObject({ state: 'pending' });
  });

  test('rejects a decision whose form was rendered for another user (S-24)', async () => {
    const [browser, id] = await requested();
    const csrf = browser.page.forms.find((form) => form.action === '/authorize')?.inputs.get('csrf') ?? '';
    await browser.submit({}, { action: '/logout' });
    await browser.follow();
    await browser.submit({ username: 'bob', password: PASSWORD });
    const fields = new URLSearchParams({ csrf, grant_id: id, ...CONSENT });
    expect(await browser.post('/authorize', fields)).toMatchObject({ status: 403, location: undefined });
    expect(await stateOf(id)).toMatchObject({ state: 'pending' });
    await browser.get(`/consent/${id}`);
    expect(browser.page.text).toContain('@bob:example.test');
    await browser.submit(CONSENT, FORM);
    expect(await stateOf(id)).toMatchObject({ state: 'fulfilled', username: 'bob' });
    const rows = await sql(
      testDatabase.database,
      'select u.username from oauth2_consents c join users u on u.id = c.user_id where c.client_id = $1::uuid',
      [toUuid(client)],
    );
    expect(rows).toEqual([{ username: 'bob' }]);
  });

  test('never shows its code again once it is finished (S-25)', async () => {
    const [browser, id] = await requested();
    await browser.submit(CONSENT, FORM);
    const code = responseOf(browser.page)['code'] ?? 'none';
    const stranger = await service.signedIn('bob');
    for (const visitor of [browser, stranger, service.browser()]) {
      for (const address of [`/authorize/${id}`, `/consent/${id}`, `/authorize/${id}?bind=x`]) {
        const page = await visitor.get(address);
        expect(page).toMatchObject({ status: 409, location: undefined });
        expect(page.body).not.toContain(code);
      }
    }
  });

  test('issues no code once the account is locked (S-102)', async () => {
    await service.person('carol');
    const [browser, id] = await requested({}, 'carol');
    await sql(testDatabase.database, `update users set locked_at = now() where username = 'carol' returning id`);
    await browser.submit(CONSENT, FORM);
    expect(browser.page).toMatchObject({ status: 200, location: undefined });
    expect(browser.page.text).toContain('Account locked');
    expect(await stateOf(id)).toMatchObject({ state: 'pending' });
    expect(service.lastRequest().requester).toBeUndefined();
  });
});

describe('the decision for a form_post request', () => {
  test('is completed by the GET that follows, so that no POST responds with a form that posts', async () => {
    const [browser, id] = await requested({ response_mode: 'form_post' });
    await browser.submit(CONSENT, FORM);
    expect(browser.page).toMatchObject({ status: 303, location: `${AUTHORIZATION_ISSUER}authorize/${id}` });
    expect(await stateOf(id)).toMatchObject({ state: 'pending', username: 'alice' });
    const stranger = await service.signedIn('bob');
    expect((await stranger.get(`/authorize/${id}`)).location).toContain('/consent/');
    await browser.follow();
    expect(browser.page.forms[0]).toMatchObject({ method: 'POST', action: CALLBACK });
    expect(browser.page.forms[0]?.inputs.get('code')).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(await stateOf(id)).toMatchObject({ state: 'fulfilled', username: 'alice' });
    expect((await browser.get(authorizeUrl(client, { prompt: 'none' }))).headers.location).toContain('code=');
  });

  test('to cancel is completed there as well', async () => {
    const [browser, id] = await requested({ response_mode: 'form_post' });
    await browser.submit({ action: 'cancel' }, FORM);
    await browser.follow();
    expect(browser.page.forms[0]?.inputs.get('error')).toBe('access_denied');
    expect(await stateOf(id)).toMatchObject({ state: 'cancelled', cancel_reason: 'user' });
  });
});

describe('an admin scope', () => {
  const scope = 'openid urn:mas:admin';

  test('from a user without the right is refused by a page that names it, with ways to continue (S-27)', async () => {
    const browser = await service.signedIn('alice');
    await browser.open(authorizeUrl(client, { scope }));
    const id = grantIdOf(browser.page);
    expect(browser.page.status).toBe(403);
    expect(browser.page.text).toContain('Administer this service');
    expect((await browser.get(`/consent/${id}`)).status).toBe(403);
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    const forced = await browser.post('/authorize', new URLSearchParams({ csrf, grant_id: id, ...CONSENT }));
    expect(forced).toMatchObject({ status: 403, location: undefined });
    expect(await stateOf(id)).toMatchObject({ state: 'pending' });
    await browser.submit({ action: 'cancel' }, FORM);
    expect(responseOf(browser.page)).toMatchObject({ error: 'access_denied' });
  });

  test('with prompt=none redirects to the client with an error', async () => {
    const browser = await service.signedIn('alice');
    const page = await browser.get(authorizeUrl(client, { scope, prompt: 'none' }));
    expect(responseOf(page)).toMatchObject({ error: 'access_denied' });
  });

  test('from a user with the right asks for the password after an old sign-in, and for consent each time (R-32)', async () => {
    const browser = await service.signedIn('admin');
    await browser.open(authorizeUrl(client, { scope }));
    expect(browser.page.text).toContain('Administer this service');
    await browser.submit(CONSENT, FORM);
    expect(responseOf(browser.page)).toMatchObject({ code: expect.any(String) });
    expect((await browser.get(authorizeUrl(client, { scope }))).location).toContain('/consent/');
    service.clock.advanceSeconds(600);
    expect((await browser.get(authorizeUrl(client, { scope }))).location).toContain('/reauth?');
  });
});

describe('with remembered consent disabled', () => {
  test('asks for all scopes again', async () => {
    const forgetful = await startAuthorizationService(testDatabase.database, {
      rememberConsent: false,
      clock: service.clock,
    });
    try {
      const browser = await forgetful.signedIn('alice');
      await browser.open(authorizeUrl(client));
      await browser.submit(CONSENT, FORM);
      expect(responseOf(browser.page)).toMatchObject({ code: expect.any(String) });
      expect((await browser.get(authorizeUrl(client))).location).toContain('/consent/');
    } finally {
      await forgetful.close();
    }
  });
});
