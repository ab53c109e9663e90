import { beforeAll, describe, expect, test } from 'vitest';
import { toUuid } from '#platform/base/ids.ts';
import {
  AUTHORIZATION_ISSUER,
  authorizeUrl,
  grantIdOf,
  PASSWORD,
  responseOf,
  startAuthorizationService,
} from '#test/support/authorization-service.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { until } from '#test/support/route-server.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { WaitingHasher } from '#test/support/waiting-hasher.ts';

const REAUTH = { action: '/reauth' };

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startAuthorizationService(testDatabase.database));

beforeAll(async () => {
  await service.person('alice');
});

async function authentications(username: string): Promise<number> {
  const [row] = await sql<{ count: number }>(
    testDatabase.database,
    `select count(*)::integer as count from user_session_authentications a
       join user_sessions s on s.id = a.user_session_id join users u on u.id = s.user_id where u.username = $1::text`,
    [username],
  );
  return row?.count ?? -1;
}

describe('reauthentication', () => {
  test('leaves the hash queue when its client disconnects (operations 9.2)', async () => {
    const hasher = new WaitingHasher();
    const waiting = await startAuthorizationService(testDatabase.database, { clock: service.clock, hasher });
    try {
      const browser = waiting.browser();
      for (const [name, value] of (await service.signedIn('alice')).cookies) browser.cookies.set(name, value);
      await browser.get('/reauth');
      const client = new AbortController();
      const submitting = browser.submit({ password: PASSWORD }, { ...REAUTH, signal: client.signal });
      await until(() => hasher.count === 1);
      client.abort();
      await expect(submitting).rejects.toThrow();
      await until(() => waiting.log.lines.some((line) => line.fields['code'] === 'overloaded'));
      expect(hasher.count).toBe(0);
    } finally {
      await waiting.close();
    }
  });

  test('without a session redirects to the sign-in page and keeps the continuation', async () => {
    const browser = service.browser();
    const response = await browser.get('/reauth?kind=change_password');
    expect(response.location).toBe(`${AUTHORIZATION_ISSUER}login?kind=change_password`);
    expect((await browser.get('/reauth?kind=//evil')).location).toBe(`${AUTHORIZATION_ISSUER}login`);
  });

  test('shows the account, and accepts its password: 303 to the target, a new authentication, a new key', async () => {
    const browser = await service.signedIn('alice');
    const before = await authentications('alice');
    await browser.get('/reauth?kind=change_password');
    expect(browser.page.status).toBe(200);
    expect(browser.page.text).toContain('alice');
    const oldCookie = browser.cookies.get('__Host-latchkey_session');
    const oldToken = browser.page.forms.at(-1)?.inputs.get('csrf');
    await browser.submit({ password: PASSWORD }, { action: '/reauth?kind=change_password' });
    expect(browser.page.location).toBe(`${AUTHORIZATION_ISSUER}account/password/change`);
    expect(service.lastRequest().requester).toMatch(/\(alice\)$/);
    expect(await authentications('alice')).toBe(before + 1);
    expect(browser.cookies.get('__Host-latchkey_session')).not.toBe(oldCookie);
    await browser.get('/reauth');
    expect(browser.page.status).toBe(200);
    expect(browser.page.forms.at(-1)?.inputs.get('csrf')).not.toBe(oldToken);
  });

  test('invalidates the previous key after half a minute (S-61)', async () => {
    const browser = await service.signedIn('alice');
    const planted = new Map(browser.cookies);
    await browser.get('/reauth');
    await browser.submit({ password: PASSWORD }, REAUTH);
    service.clock.advanceSeconds(30);
    const attacker = service.browser();
    for (const [name, value] of planted) attacker.cookies.set(name, value);
    expect((await attacker.get('/reauth')).location).toBe(`${AUTHORIZATION_ISSUER}login`);
    expect((await browser.get('/reauth')).status).toBe(200);
  });

  test('treats a password above the byte limit as wrong, and counts it', async () => {
    const page = async (password: string): Promise<string> => {
      const browser = await service.signedIn('alice');
      await browser.get('/reauth');
      await browser.submit({ password }, REAUTH);
      expect(browser.page.status).toBe(200);
      return browser.page.body.replace(/name="csrf" value="[^"]*"/g, '');
    };
    expect(await page('x'.repeat(1025))).toBe(await page('wrong'));
    const browser = await service.signedIn('alice');
    await browser.get('/reauth');
    for (let count = 0; count < 5; count += 1) await browser.submit({ password: 'x'.repeat(1025) }, REAUTH);
    expect(browser.page.text).toContain('You were signed out');
  });

  test('with a wrong password shows the error at its field, and the user stays the requester', async () => {
    const browser = await service.signedIn('alice');
    const before = await authentications('alice');
    await browser.get('/reauth');
    await browser.submit({ password: 'wrong' }, REAUTH);
    expect(browser.page).toMatchObject({ status: 200, errorCodes: ['invalid_credentials'] });
    expect(browser.page.body).toContain('id="password-error"');
    expect(browser.page.body).not.toContain('value="wrong"');
    expect(service.lastRequest().requester).toMatch(/\(alice\)$/);
    await browser.submit({}, REAUTH);
    expect(browser.page).toMatchObject({ status: 200, errorCodes: ['required'] });
    expect(await authentications('alice')).toBe(before);
  });

  test('ends the session after five consecutive wrong passwords, while a right one resets the count', async () => {
    const browser = await service.signedIn('alice');
    await browser.get('/reauth');
    for (let count = 0; count < 4; count += 1) await browser.submit({ password: 'wrong' }, REAUTH);
    await browser.submit({ password: PASSWORD }, REAUTH);
    expect(browser.page.status).toBe(303);
    await browser.get('/reauth');
    for (let count = 0; count < 4; count += 1) {
      await browser.submit({ password: 'wrong' }, REAUTH);
      expect(browser.page.errorCodes).toEqual(['invalid_credentials']);
    }
    await browser.submit({ password: 'wrong' }, REAUTH);
    expect(browser.page.status).toBe(200);
    expect(browser.page.text).toContain('You were signed out');
    await browser.get('/reauth');
    expect(browser.page.text).toContain('You were signed out');
  });

  test('max_age continues at once while the last authentication is recent enough', async () => {
    const browser = await service.signedIn('alice');
    const target = `${AUTHORIZATION_ISSUER}account/password/change`;
    expect((await browser.get('/reauth?kind=change_password&max_age=61')).location).toBe(target);
    for (const maxAge of ['60', '0', '-1', 'x', '']) {
      const response = await browser.get(`/reauth?kind=change_password&max_age=${maxAge}`);
      expect(response).toMatchObject({ status: 200, location: undefined });
    }
  });

  test('with a method that the account does not have is refused, without being counted', async () => {
    const browser = await service.signedIn('alice');
    await browser.get('/reauth');
    await browser.submit({ method: 'passkey', password: PASSWORD }, REAUTH);
    expect(browser.page).toMatchObject({ status: 200, errorCodes: ['invalid_action'] });
  });

  test.each([
    ['no token', { csrf: '' }, {}],
    ['a foreign origin', {}, { origin: 'https://evil.example' }],
  ])('with %s is not processed (S-57)', async (_, fields, headers) => {
    const browser = await service.signedIn('alice');
    const before = await authentications('alice');
    await browser.get('/reauth');
    await browser.submit({ password: PASSWORD, ...fields }, { ...REAUTH, headers });
    expect(browser.page.status).toBe(403);
    expect(await authentications('alice')).toBe(before);
  });

  test('on a page that was open for too long asks again', async () => {
    const browser = await service.signedIn('alice');
    await browser.get('/reauth');
    service.clock.advanceSeconds(3600);
    await browser.submit({ password: PASSWORD }, REAUTH);
    expect(browser.page).toMatchObject({ status: 200, errorCodes: ['csrf_expired'] });
    await browser.submit({ password: PASSWORD }, REAUTH);
    expect(browser.page.status).toBe(303);
  });

  test('offers accounts without a password to sign out, without an unusable form', async () => {
    await service.person('bare');
    const browser = await service.signedIn('bare');
    await sql(
      testDatabase.database,
      `delete from user_passwords p using users u where u.id = p.user_id and u.username = 'bare' returning p.user_id`,
    );
    await browser.get('/reauth?kind=change_password');
    expect(browser.page.status).toBe(200);
    expect(browser.page.forms.map((form) => form.action)).toEqual(['/logout']);
    await browser.submit({}, { action: '/logout' });
    await browser.follow();
    expect(browser.page.url).toBe(`${AUTHORIZATION_ISSUER}login?kind=change_password`);
  });
});

describe('reauthentication for an authorization request', () => {
  test('can be canceled, which is reported to the client', async () => {
    const client = await service.client();
    const browser = await service.signedIn('alice');
    await browser.open(authorizeUrl(client, { prompt: 'login' }));
    const id = grantIdOf(browser.page);
    expect(browser.page.headers['content-security-policy']).toContain("form-action 'self' https:;");
    await browser.submit({ action: 'cancel' }, { action: '/authorize' });
    expect(responseOf(browser.page)).toMatchObject({ error: 'access_denied', state: 'st' });
    const rows = await sql(
      testDatabase.database,
      'select cancel_reason from oauth2_authorization_grants where id = $1::uuid',
      [toUuid(id)],
    );
    expect(rows).toEqual([{ cancel_reason: 'user' }]);
  });

  test("of a session ended in the meantime is answered in the request's language (browser-flows 12.3)", async () => {
    const client = await service.client();
    const browser = await service.signedIn('alice');
    await browser.open(authorizeUrl(client, { prompt: 'login', ui_locales: 'de' }));
    expect(new URL(browser.page.url).pathname).toBe('/reauth');
    await sql(
      testDatabase.database,
      'update user_sessions set finished_at = $1::timestamptz where finished_at is null',
      [new Date(service.clock.now())],
    );
    await browser.get(browser.page.url);
    expect(browser.page).toMatchObject({ status: 200, headers: { 'content-language': 'de' } });
    expect(browser.page.text).toContain('Sie wurden abgemeldet');
  });

  test('continues with the same session, and satisfies the request (oauth 20 fact 8)', async () => {
    const client = await service.client({ secret: 's', metadata: { first_party: true } });
    const browser = await service.signedIn('alice');
    for (const fields of [{ prompt: 'login' }, { max_age: '0' }]) {
      service.clock.advanceSeconds(1);
      await browser.open(authorizeUrl(client, fields));
      expect(new URL(browser.page.url).pathname).toBe('/reauth');
      const { pathname, search } = new URL(browser.page.url);
      service.clock.advanceSeconds(1);
      await browser.submit({ password: PASSWORD }, { action: pathname + search });
      await browser.follow();
      expect(responseOf(browser.page)).toMatchObject({ code: expect.any(String) });
    }
  });
});
