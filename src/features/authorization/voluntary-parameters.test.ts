import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { SigningKeys, signingKey } from '#domain/keys/signing-keys.ts';
import { fromUuid, newId } from '#platform/base/ids.ts';
import { giveAuthenticatorApp } from '#test/support/authenticator-app.ts';
import {
  AUTHORIZATION_ISSUER,
  authorizeUrl,
  grantIdOf,
  PASSWORD,
  responseOf,
  startAuthorizationService,
  TEST_SIGNING_KEYS,
} from '#test/support/authorization-service.ts';
import type { Browser } from '#test/support/browser.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ClientId, UserId } from '#vocabulary/ids.ts';

let client: ClientId;
let alice: UserId;
let bob: UserId;

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startAuthorizationService(testDatabase.database));

beforeAll(async () => {
  client = await service.client({ secret: 's', metadata: { first_party: true } });
  alice = await newUser('alice');
  bob = await newUser('bob');
  await newUser('carol');
});

async function newUser(username: string): Promise<UserId> {
  await service.person(username);
  const [row] = await sql<{ id: string }>(testDatabase.database, 'select id from users where username = $1::text', [
    username,
  ]);
  return fromUuid(row?.id ?? '');
}

async function grantCount(): Promise<number> {
  const [row] = await sql<{ count: number }>(
    testDatabase.database,
    'select count(*)::integer as count from oauth2_authorization_grants',
  );
  return row?.count ?? -1;
}

interface StoredGrant {
  readonly claims: unknown;
  readonly acr: string | null;
  readonly acr_values: readonly string[];
  readonly acr_essential: boolean;
}

async function lastGrant(): Promise<StoredGrant | undefined> {
  const [row] = await sql<StoredGrant>(
    testDatabase.database,
    'select claims, acr, acr_values, acr_essential from oauth2_authorization_grants order by created_at desc, id desc limit 1',
  );
  return row;
}

async function forgetAcr(): Promise<void> {
  await sql(testDatabase.database, 'update user_sessions set acr = null where true returning id');
}

const CODE = { code: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/), state: 'st' };
const ISSUED = 'urn:latchkey:acr:1';

describe('voluntary and unknown parameters (OpenID Connect Core 3.1.2.1, 15.1, RFC 6749 3.1)', () => {
  test.each<[string, Record<string, string>]>([
    ['acr_values that are not issued here', { acr_values: '1 2' }],
    ['acr_values that are', { acr_values: `1 ${ISSUED}` }],
    ['display', { display: 'popup' }],
    ['claims_locales', { claims_locales: 'de fr' }],
    ['an essential claim', { claims: '{"userinfo": {"name": {"essential": true}}}' }],
    ['claims for null and for unknown names', { claims: '{"id_token": null, "userinfo": {"x": null}, "y": 1}' }],
    ['an essential acr without values', { claims: '{"id_token": {"acr": {"essential": true}}}' }],
    ['a voluntary acr of another service', { claims: '{"id_token": {"acr": {"value": "2"}}}' }],
    ['unknown names', { audience: 'https://api.example.org', access_type: 'offline', extra: 'foobar' }],
    ['names that other objects have', { constructor: 'x', __proto__: 'y', toString: 'z' }],
  ])('%s: issues the code', async (_, fields) => {
    const browser = await service.signedIn('alice');
    expect(responseOf(await browser.get(authorizeUrl(client, fields)))).toMatchObject(CODE);
  });

  test('ignores a repeated unknown parameter, and rejects a repeated known one', async () => {
    const browser = await service.signedIn('alice');
    expect(responseOf(await browser.get(`${authorizeUrl(client)}&extra=1&extra=2`))).toMatchObject(CODE);
    for (const name of ['scope', 'claims', 'acr_values', 'display', 'max_age', 'dpop_jkt']) {
      const page = await browser.get(`${authorizeUrl(client)}&${name}=1&${name}=2`);
      expect(responseOf(page)).toMatchObject({
        error: 'invalid_request',
        error_description: expect.stringContaining(name),
      });
    }
  });

  test.each<[Record<string, string>, string]>([
    [{ request_uri: 'https://app.example.org/r' }, 'request_uri_not_supported'],
    [{ request: 'x' }, 'invalid_request_object'],
    [{ registration: '{}' }, 'registration_not_supported'],
    [{ authorization_details: '[]' }, 'invalid_request'],
    [{ dpop_jkt: 'x' }, 'invalid_request'],
    [{ resource: 'https://api.example.org' }, 'invalid_target'],
  ])('rejects %j, since the client would rely on its effect', async (fields, error) => {
    const browser = await service.signedIn('alice');
    expect(responseOf(await browser.get(authorizeUrl(client, fields)))).toMatchObject({ error });
  });
});

describe('acr_values and an essential acr (OpenID Connect Core 5.5.1.1, oauth 15.3)', () => {
  const essential = (value: string) => JSON.stringify({ id_token: { acr: { essential: true, values: [value, '2'] } } });

  test('asks a user signed in without the class for the password once, and the grant then has the class', async () => {
    for (const fields of [{ acr_values: ISSUED }, { claims: essential(ISSUED) }]) {
      const browser = await service.signedIn('alice');
      await forgetAcr();
      const page = await browser.get(authorizeUrl(client, fields));
      expect(page.location).toContain('/reauth?');
      service.clock.advanceSeconds(5);
      await browser.open(page.location ?? '');
      const { pathname, search } = new URL(browser.page.url);
      await browser.submit({ password: PASSWORD }, { action: pathname + search });
      await browser.follow();
      expect(responseOf(browser.page)).toMatchObject(CODE);
      expect(await lastGrant()).toMatchObject({ acr: ISSUED });
    }
  });

  test("uses the client's default_acr_values without acr_values in the request (OpenID Connect Registration 2)", async () => {
    const default_acr_values = ['2', ISSUED];
    const strict = await service.client({ secret: 's', metadata: { first_party: true, default_acr_values } });
    const browser = await service.signedIn('alice');
    await forgetAcr();
    expect((await browser.get(authorizeUrl(strict))).location).toContain('/reauth?');
    expect(responseOf(await browser.get(authorizeUrl(strict, { acr_values: '2' })))).toMatchObject(CODE);
    expect(responseOf(await browser.get(authorizeUrl(strict, { prompt: 'none' })))).toMatchObject(CODE);
  });

  test('prompt=none ignores a voluntary class, and returns login_required for an essential one', async () => {
    const browser = await service.signedIn('alice');
    await forgetAcr();
    const silent = { prompt: 'none' };
    expect(responseOf(await browser.get(authorizeUrl(client, { ...silent, acr_values: ISSUED })))).toMatchObject(CODE);
    expect(responseOf(await browser.get(authorizeUrl(client, { ...silent, claims: essential(ISSUED) })))).toMatchObject(
      {
        error: 'login_required',
      },
    );
  });

  test('rejects an essential class that is not supported before any sign-in', async () => {
    const before = await grantCount();
    const page = await service.browser().get(authorizeUrl(client, { claims: essential('urn:unknown') }));
    expect(responseOf(page)).toMatchObject({ error: 'unmet_authentication_requirements', state: 'st' });
    expect(await grantCount()).toBe(before);
  });
});

describe('an acr class that requires a second factor (oauth 7.3 step 11, 15.3)', () => {
  const TWO = 'urn:latchkey:acr:2';
  const essential = { claims: JSON.stringify({ id_token: { acr: { essential: true, value: TWO } } }) };

  test('asks users who have one for it, even where reauthentication does not', async () => {
    const options = { clock: service.clock, secondFactor: { secondFactorOnReauth: false } };
    const lenient = await startAuthorizationService(testDatabase.database, options);
    try {
      const username = await lenient.person('stepping-up');
      const browser = await lenient.signedIn(username);
      const [user] = await sql<{ id: string }>(
        testDatabase.database,
        `select id::text as id from users where username = 'stepping-up'`,
      );
      const app = await giveAuthenticatorApp(lenient.core, fromUuid(user?.id ?? ''));
      for (const fields of [essential, { acr_values: `phr ${TWO}` }]) {
        await sql(testDatabase.database, `update user_sessions set acr = 'urn:latchkey:acr:1' where true returning id`);
        const page = await browser.get(authorizeUrl(client, fields));
        expect(page.location).toContain('/reauth?');
        lenient.clock.advanceSeconds(60);
        await browser.open(page.location ?? '');
        const { pathname, search } = new URL(browser.page.url);
        await browser.submit({ password: PASSWORD }, { action: pathname + search });
        expect(browser.page.location).toContain('/reauth/totp?');
        await browser.open(browser.page.location ?? '');
        await browser.submit({ code: app.code() });
        await browser.follow();
        expect(responseOf(browser.page)).toMatchObject(CODE);
        expect(await lastGrant()).toMatchObject({ acr: TWO });
      }
    } finally {
      await lenient.close();
    }
  });

  test('is unreachable without one: an essential class is refused, a voluntary one is skipped', async () => {
    const browser = await service.signedIn('alice');
    expect(responseOf(await browser.get(authorizeUrl(client, essential)))).toMatchObject({
      error: 'unmet_authentication_requirements',
    });
    service.clock.advanceSeconds(1);
    expect(responseOf(await browser.get(authorizeUrl(client, { acr_values: `phr ${TWO}` })))).toMatchObject(CODE);
  });
});

describe('voluntary and essential claims, in one place or both (OpenID Connect Core 5.5.1)', () => {
  const voluntary = (request: object) => ({ claims: JSON.stringify({ id_token: { acr: request } }) });

  test.each([{ value: ISSUED }, { values: ['2', ISSUED] }, { essential: false, value: ISSUED }])(
    'acr %j works like acr_values: asks a user without the class once, prompt=none continues',
    async (request) => {
      const browser = await service.signedIn('alice');
      await forgetAcr();
      expect((await browser.get(authorizeUrl(client, voluntary(request)))).location).toContain('/reauth?');
      const silent = { prompt: 'none', ...voluntary(request) };
      service.clock.advanceSeconds(1);
      expect(responseOf(await browser.get(authorizeUrl(client, silent)))).toMatchObject(CODE);
      expect(await lastGrant()).toMatchObject({ acr_values: [ISSUED], acr_essential: false });
    },
  );

  test('acr in claims overrides acr_values', async () => {
    const browser = await service.signedIn('alice');
    service.clock.advanceSeconds(1);
    await browser.get(authorizeUrl(client, { ...voluntary({ value: '2' }), acr_values: ISSUED }));
    expect(await lastGrant()).toMatchObject({ acr_values: [] });
  });

  test.each(['null', '{"essential": true}', '{"essential": false}', '{"essential": true, "value": 1}'])(
    'auth_time %s: issues the code, since every ID token has it',
    async (request) => {
      const browser = await service.signedIn('alice');
      const claims = `{"id_token": {"auth_time": ${request}}}`;
      expect(responseOf(await browser.get(authorizeUrl(client, { claims })))).toMatchObject(CODE);
    },
  );

  test.each<[string, () => object]>([
    ['a voluntary value', () => ({ id_token: { sub: { value: alice } } })],
    ['an essential value', () => ({ id_token: { sub: { essential: true, value: alice } } })],
    ['values', () => ({ id_token: { sub: { values: [newId<'user'>(7), alice] } } })],
    [
      'values at userinfo',
      () => ({ userinfo: { sub: { values: [alice, bob] } }, id_token: { sub: { value: alice } } }),
    ],
  ])('sub by %s: only alice may continue', async (_, claims) => {
    const silent = { prompt: 'none', claims: JSON.stringify(claims()) };
    const browser = await service.signedIn('alice');
    expect(responseOf(await browser.get(authorizeUrl(client, silent)))).toMatchObject(CODE);
    const carol = await service.signedIn('carol');
    expect(responseOf(await carol.get(authorizeUrl(client, silent)))).toMatchObject({ error: 'login_required' });
  });

  test('sub by several values: any of them may continue after signing in, and no username is suggested', async () => {
    const claims = JSON.stringify({ id_token: { sub: { values: [alice, bob] } } });
    const browser = service.browser();
    await browser.open(authorizeUrl(client, { claims }));
    expect(new URL(browser.page.url).searchParams.has('login_hint')).toBe(false);
    await signInHere(browser, 'bob');
    await browser.follow();
    expect(responseOf(browser.page)).toMatchObject(CODE);
    const carol = await service.signedIn('carol');
    await carol.open(authorizeUrl(client, { claims }));
    expect(carol.page.text).toContain('Use another account');
  });

  test.each([
    ['null', CODE],
    ['{"essential": true}', CODE],
    ['{"value": ["x"]}', { error: 'invalid_request' }],
    ['{"value": 1}', { error: 'invalid_request' }],
    ['{"values": []}', { error: 'invalid_request' }],
    ['{"values": "x"}', { error: 'invalid_request' }],
    ['{"value": null}', { error: 'invalid_request' }],
    ['{"value": "nobody"}', { error: 'login_required' }],
  ])('sub %s', async (request, expected) => {
    const browser = await service.signedIn('alice');
    const page = await browser.get(authorizeUrl(client, { claims: `{"id_token": {"sub": ${request}}}` }));
    expect(responseOf(page)).toMatchObject(expected);
  });

  test('conflicting sub values in two places: login_required', async () => {
    const claims = JSON.stringify({ id_token: { sub: { value: alice } }, userinfo: { sub: { value: bob } } });
    const browser = await service.signedIn('alice');
    expect(responseOf(await browser.get(authorizeUrl(client, { claims })))).toMatchObject({ error: 'login_required' });
  });
});

/** Creates an ID token as the token endpoint would issue it. */
async function idToken(changes: Record<string, unknown> = {}, keys: SigningKeys = TEST_SIGNING_KEYS, typ = 'JWT') {
  const claims = { iss: AUTHORIZATION_ISSUER, aud: client, sub: alice, iat: 1, exp: 2, ...changes };
  return await keys.signJwt(claims, { alg: 'RS256', typ });
}

function foreignKeys(): SigningKeys {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { kid } = TEST_SIGNING_KEYS.publicJwks().keys[0] ?? {};
  return new SigningKeys([signingKey(privateKey, publicKey, { kid, isActive: true })]);
}

async function rebuilt(header: object, signature?: string): Promise<string> {
  const [, body, original] = (await idToken()).split('.');
  const { kid } = TEST_SIGNING_KEYS.publicJwks().keys[0] ?? {};
  const head = Buffer.from(JSON.stringify({ kid, typ: 'JWT', ...header })).toString('base64url');
  return `${head}.${body}.${signature ?? original}`;
}

describe('id_token_hint (OpenID Connect Core 3.1.2.1, oauth 6.2, 7.3 step 9)', () => {
  test('of the signed-in user, long expired: prompt=none issues the code', async () => {
    const browser = await service.signedIn('alice');
    const fields = { prompt: 'none', id_token_hint: await idToken() };
    expect(responseOf(await browser.get(authorizeUrl(client, fields)))).toMatchObject(CODE);
  });

  test.each<[string, () => Promise<Record<string, string>>]>([
    ['id_token_hint', async () => ({ id_token_hint: await idToken() })],
    ['claims', async () => ({ claims: JSON.stringify({ id_token: { sub: { value: alice } } }) })],
  ])('%s of another user: prompt=none is login_required and leaves no grant', async (_, fields) => {
    const browser = await service.signedIn('bob');
    const before = await grantCount();
    const response = await browser.get(authorizeUrl(client, { prompt: 'none', ...(await fields()) }));
    expect(responseOf(response)).toMatchObject({ error: 'login_required', state: 'st' });
    expect(await grantCount()).toBe(before);
  });

  test('of another user: a page names the account and offers to sign in with it, without consent', async () => {
    const browser = await service.signedIn('bob');
    await browser.open(authorizeUrl(client, { id_token_hint: await idToken() }));
    const { page: shown } = browser;
    expect(new URL(shown.url).pathname).toMatch(/^\/consent\//);
    expect(shown.text).toContain('Use another account');
    expect(shown.text).toContain('@alice:example.test');
    expect(shown.body).not.toContain('value="consent"');

    await browser.submit({}, { action: '/logout' });
    await browser.follow();
    await browser.follow();
    expect(new URL(browser.page.url).searchParams.get('login_hint')).toBe('alice');
    await signInHere(browser, 'alice');
    await browser.follow();
    expect(responseOf(browser.page)).toMatchObject(CODE);
  });

  test('of another user: a posted form can cancel, but not consent', async () => {
    const browser = await service.signedIn('bob');
    await browser.open(authorizeUrl(client, { id_token_hint: await idToken() }));
    const id = grantIdOf(browser.page);
    await browser.submit({ action: 'consent' }, { action: '/authorize' });
    expect(browser.page.location).toBe(`${AUTHORIZATION_ISSUER}consent/${id}`);
    await browser.open(`/consent/${id}`);
    await browser.submit({ action: 'cancel' }, { action: '/authorize' });
    expect(responseOf(browser.page)).toMatchObject({ error: 'access_denied' });
  });

  test('of a deleted account: the page says so', async () => {
    const browser = await service.signedIn('bob');
    await browser.open(authorizeUrl(client, { id_token_hint: await idToken({ sub: newId<'user'>(7) }) }));
    expect(browser.page.text).toContain('an account that no longer exists');
  });

  test('suggests the account on the sign-in page, unless the client sends a login_hint', async () => {
    const id_token_hint = await idToken({ sub: bob });
    const response = await service.browser().get(authorizeUrl(client, { id_token_hint }));
    expect(new URL(response.location ?? '').searchParams.get('login_hint')).toBe('bob');
    const named = await service.browser().get(authorizeUrl(client, { id_token_hint, login_hint: 'carol' }));
    expect(new URL(named.location ?? '').searchParams.get('login_hint')).toBe('carol');
  });

  test('naming a different account than claims is rejected', async () => {
    const claims = JSON.stringify({ id_token: { sub: { value: bob } } });
    const browser = await service.signedIn('alice');
    const response = await browser.get(authorizeUrl(client, { id_token_hint: await idToken(), claims }));
    expect(responseOf(response)).toMatchObject({ error: 'login_required' });
  });

  test.each<[string, () => Promise<string>]>([
    ['no JWT', async () => 'x'],
    ['of another issuer', async () => await idToken({ iss: 'https://elsewhere.example/' })],
    ['of another client', async () => await idToken({ aud: newId<'client'>(1) })],
    ['without a subject', async () => await idToken({ sub: undefined })],
    ['signed with another key', async () => await idToken({}, foreignKeys())],
    ['another kind of JWT', async () => await idToken({}, TEST_SIGNING_KEYS, 'token-introspection+jwt')],
    ['not signed', async () => await rebuilt({ alg: 'none' }, '')],
    ['with an algorithm of another key', async () => await rebuilt({ alg: 'HS256' })],
    ['with a tampered signature', async () => await rebuilt({ alg: 'RS256' }, 'AAAA')],
    ['too long', async () => 'x'.repeat(4097)],
  ])('%s: invalid_request, and nothing is stored', async (_, hint) => {
    const browser = await service.signedIn('alice');
    const before = await grantCount();
    const response = await browser.get(authorizeUrl(client, { id_token_hint: await hint() }));
    expect(responseOf(response)).toMatchObject({
      error: 'invalid_request',
      error_description: expect.stringContaining('id_token_hint'),
    });
    expect(await grantCount()).toBe(before);
  });
});

describe('individually requested claims (OpenID Connect Core 5.5)', () => {
  const EMAIL = JSON.stringify({ id_token: { email: { essential: true } }, userinfo: { name: null, birthdate: null } });

  test('are shown on the consent page, stored with the grant, and remembered', async () => {
    const asking = await service.client({ secret: 's' });
    const browser = await service.signedIn('alice');
    const silent = authorizeUrl(asking, { prompt: 'none', claims: EMAIL });
    expect(responseOf(await browser.get(silent))).toMatchObject({ error: 'consent_required' });
    await browser.open(authorizeUrl(asking, { claims: EMAIL }));
    expect(browser.page.text).toContain('See your email address');
    await browser.submit({ action: 'consent' }, { action: '/authorize' });
    expect(responseOf(browser.page)).toMatchObject(CODE);
    expect(await lastGrant()).toMatchObject({ claims: { id_token: ['email'], userinfo: ['name'] } });
    expect(responseOf(await browser.get(silent))).toMatchObject(CODE);
    const more = authorizeUrl(asking, { prompt: 'none', claims: '{"userinfo": {"email_verified": null}}' });
    expect(responseOf(await browser.get(more))).toMatchObject(CODE);
  });

  test('require consent even if the same scopes were approved', async () => {
    const asking = await service.client({ secret: 's' });
    const browser = await service.signedIn('alice');
    await browser.open(authorizeUrl(asking));
    await browser.submit({ action: 'consent' }, { action: '/authorize' });
    const page = await browser.get(authorizeUrl(asking, { prompt: 'none', claims: EMAIL }));
    expect(responseOf(page)).toMatchObject({ error: 'consent_required' });
  });

  test("beyond the client's registration are dropped, and without openid all are", async () => {
    const limited = await service.client({ secret: 's', metadata: { first_party: true, scope: 'openid profile' } });
    const browser = await service.signedIn('alice');
    await browser.get(authorizeUrl(limited, { claims: EMAIL }));
    expect(await lastGrant()).toMatchObject({ claims: { id_token: [], userinfo: ['name'] } });
    service.clock.advanceSeconds(1);
    await browser.get(authorizeUrl(client, { scope: 'profile', claims: EMAIL }));
    expect(await lastGrant()).toMatchObject({ claims: null });
  });

  test.each([
    '{',
    '[]',
    '"x"',
    'null',
    '{"id_token": []}',
    '{"userinfo": "name"}',
    '{"id_token": {"name": true}}',
    JSON.stringify({ userinfo: { name: { value: 'x'.repeat(4096) } } }),
  ])('malformed ones are invalid_request: %.40s', async (claims) => {
    const page = await service.browser().get(authorizeUrl(client, { claims }));
    expect(responseOf(page)).toMatchObject({
      error: 'invalid_request',
      error_description: expect.stringContaining('claims must be'),
    });
  });
});

async function signInHere(browser: Browser, username: string): Promise<void> {
  await browser.submit({ username, password: PASSWORD });
  if (browser.page.status !== 303) throw new Error(`signing in ${username} gave ${browser.page.status}`);
}
