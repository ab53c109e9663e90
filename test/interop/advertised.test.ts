/**
 * Tests each member of the discovery document: every listed value works, and unlisted values are rejected. New members
 * without a test here fail the first test.
 */
import {
  constants,
  createHmac,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomUUID,
  sign,
} from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEVICE_CODE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import { giveAuthenticatorApp } from '../support/authenticator-app.ts';
import { Browser } from '../support/browser.ts';
import { ASSERTION_TYPE } from '../support/client-assertions.ts';
import { sql } from '../support/fixtures.ts';
import { basic } from '../support/oauth-service.ts';
import { startService, type TestService } from '../support/service.ts';
import { everySigningKey } from '../support/signing-keys.ts';

const SECRET = 'a-secret-that-is-as-long-as-the-longest-hash-of-any-of-the-algorithms';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const PAGES = {
  policy: 'https://example.org/privacy',
  terms: 'https://example.org/terms',
  manual: 'https://example.org/developers',
};

const id = (digit: number) => `01JD3Q5Z8W2N4K6M7P9R0S1T0${digit}`;
/** One client for each method. */
const CLIENT_OF_METHOD: Readonly<Record<string, string>> = {
  client_secret_basic: id(1),
  client_secret_post: id(2),
  client_secret_jwt: id(3),
  private_key_jwt: id(4),
  none: id(5),
};
const WEB = id(1);
const PAIRWISE = id(6);
/** One client for each signing algorithm of the service. */
const SIGNED: Readonly<Record<string, string>> = { RS256: id(7), ES256: id(8), EdDSA: id(9) };

type Metadata = Readonly<Record<string, unknown>>;
type Form = Readonly<Record<string, string>>;

let service: TestService;
let browser: Browser;
let metadata: Metadata;
/** Client keys by algorithm. */
const keys = new Map(everySigningKey().map(({ name, key }) => [name, createPrivateKey(String(key))]));

beforeAll(async () => {
  const jwks = {
    keys: [...keys].map(([alg, key]) => ({ ...createPublicKey(key).export({ format: 'jwk' }), alg, kid: alg })),
  };
  const shared = { redirect_uris: [CALLBACK], first_party: true };
  service = await startService({
    account: { password_registration_enabled: true },
    branding: { policy_uri: PAGES.policy, tos_uri: PAGES.terms },
    oauth: { service_documentation: PAGES.manual },
    clients: [
      ...Object.entries(CLIENT_OF_METHOD).map(([method, client_id]) => ({
        ...shared,
        client_id,
        client_auth_method: method,
        ...(method.startsWith('client_secret') && { client_secret: SECRET }),
        ...(method === 'private_key_jwt' && { jwks }),
      })),
      {
        ...{ ...shared, client_id: PAIRWISE, client_auth_method: 'client_secret_basic', client_secret: SECRET },
        subject_type: 'pairwise',
      },
      ...Object.entries(SIGNED).map(([alg, client_id]) => ({
        ...{ ...shared, client_id, client_auth_method: 'client_secret_basic', client_secret: SECRET },
        ...{ id_token_signed_response_alg: alg, userinfo_signed_response_alg: alg },
        introspection_signed_response_alg: alg,
        authorization_signed_response_alg: alg,
      })),
    ],
  });
  metadata = await (await fetch(`${service.address}/.well-known/openid-configuration`)).json();
  const userId = await service.registerUser('amira', PASSWORD);
  await sql(
    service.database,
    `with named as (update users set display_name = 'Amira', given_name = 'Amira', family_name = 'Okafor',
                             time_zone = 'Africa/Lagos', locale = 'de', groups = '{crew}'
                       where username = 'amira' returning id)
     insert into user_emails (id, user_id, email, email_key, created_at)
     select gen_random_uuid(), id, 'amira@example.org', 'amira@example.org', now() from named`,
  );
  expect(userId).not.toBe('');
  browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get('/login');
  await browser.submit({ username: 'amira', password: PASSWORD });
});
afterAll(async () => await service.stop());

const at = (member: string) => String(metadata[member]);

function listed(member: string): readonly string[] {
  const value = metadata[member];
  if (!Array.isArray(value) || value.length === 0) throw new Error(`${member} is no list of values`);
  return value.map(String);
}

interface TestResponse {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly body: Metadata;
}

async function ask(url: string, init: RequestInit = {}): Promise<TestResponse> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  return { status: response.status, type, text, body: type.startsWith('application/json') ? JSON.parse(text) : {} };
}

async function post(member: string, form: Form, headers: Readonly<Record<string, string>> = {}): Promise<TestResponse> {
  return await ask(at(member), { method: 'POST', headers, body: new URLSearchParams(form) });
}

const asWeb = (client = WEB) => ({ authorization: basic(client, SECRET) });

async function register(members: object): Promise<TestResponse> {
  return await ask(at('registration_endpoint'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_uri: 'https://app.example/', redirect_uris: [CALLBACK], ...members }),
  });
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/**
 * Signs a compact JWS by the algorithm's specification, independently of Latchkey's code (RFC 7518 3, RFC 8037, RFC
 * 8812).
 */
function signed(alg: string, key: KeyObject | string, header: object, claims: object): string {
  const content = `${encode({ alg, ...header })}.${encode(claims)}`;
  const hash = `sha${/\d+/.exec(alg)?.[0] ?? '512'}`;
  if (typeof key === 'string') return `${content}.${createHmac(hash, key).update(content).digest('base64url')}`;
  const padding = alg.startsWith('PS') ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: -1 } : {};
  const isEdwards = key.asymmetricKeyType === 'ed25519';
  const signature = sign(isEdwards ? null : hash, Buffer.from(content), { key, dsaEncoding: 'ieee-p1363', ...padding });
  return `${content}.${signature.toString('base64url')}`;
}

/** RFC 9864 defines another name for the same algorithm. */
function keyOf(alg: string): KeyObject {
  const key = keys.get(alg === 'Ed25519' ? 'EdDSA' : alg);
  if (key === undefined) throw new Error(`no key for ${alg}`);
  return key;
}

const seconds = () => Math.floor(Date.now() / 1000);

function assertion(client: string, alg: string): Form {
  const key = alg.startsWith('HS') ? SECRET : keyOf(alg);
  const claims = { iss: client, sub: client, aud: service.issuer, exp: seconds() + 60, jti: randomUUID() };
  const header = alg.startsWith('HS') ? {} : { kid: alg === 'Ed25519' ? 'EdDSA' : alg };
  return { client_assertion_type: ASSERTION_TYPE, client_assertion: signed(alg, key, header, claims) };
}

/** Returns the credentials of a client that uses this method. */
function credentials(method: string): { readonly form: Form; readonly headers: Readonly<Record<string, string>> } {
  const client = CLIENT_OF_METHOD[method] ?? '';
  switch (method) {
    case 'client_secret_basic':
      return { form: {}, headers: { authorization: basic(client, SECRET) } };
    case 'client_secret_post':
      return { form: { client_id: client, client_secret: SECRET }, headers: {} };
    case 'client_secret_jwt':
      return { form: assertion(client, 'HS256'), headers: {} };
    case 'private_key_jwt':
      return { form: assertion(client, 'ES256'), headers: {} };
    default:
      return { form: { client_id: client }, headers: {} };
  }
}

function asking(fields: Form, client = WEB): URL {
  const usual = {
    ...{ client_id: client, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid', state: 'st' },
    ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256' },
  };
  return new URL(`${at('authorization_endpoint')}?${new URLSearchParams({ ...usual, ...fields })}`);
}

/** Runs an authorization and consents if asked. @returns the redirect URL, or the URL of a page of the service */
async function authorize(fields: Form = {}, client = WEB, by = browser): Promise<URL> {
  await by.open(asking(fields, client).href);
  if (/\/consent\//.test(by.page.url)) await by.submit({ action: 'consent' }, { action: '/authorize' });
  return new URL(by.page.location ?? by.page.url);
}

/** Signs a user in with a password and a TOTP code. */
async function signedInWithApp(): Promise<Browser> {
  const app = await giveAuthenticatorApp(service.core, await service.registerUser('bruno', PASSWORD));
  const own = new Browser({ listener: service.address, publicBase: service.publicBase });
  await own.get('/login');
  await own.submit({ username: 'bruno', password: PASSWORD });
  await own.follow();
  await own.submit({ code: app.code() });
  return own;
}

async function signIn(fields: Form = {}, client = WEB, by = browser): Promise<Metadata> {
  const code = (await authorize(fields, client, by)).searchParams.get('code') ?? '';
  const form = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
  const response = await post('token_endpoint', form, asWeb(client));
  expect([fields, response.status]).toEqual([fields, 200]);
  return response.body;
}

async function expectReached(member: string, init: RequestInit, status: number): Promise<void> {
  expect([member, (await ask(at(member), init)).status]).toEqual([member, status]);
}

const FORM = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } };

async function exerciseMethods(endpoint: string, form: Form): Promise<void> {
  const methods = listed(`${endpoint}_auth_methods_supported`);
  for (const method of Object.keys(CLIENT_OF_METHOD)) {
    const { form: own, headers } = credentials(method);
    const { status } = await post(endpoint, { ...form, ...own }, headers);
    // Public clients may use the token endpoint, but not with this grant.
    const isRefused = status === 401;
    expect([endpoint, method, isRefused]).toEqual([endpoint, method, !methods.includes(method)]);
  }
}

async function exerciseAlgorithms(endpoint: string, form: Form): Promise<void> {
  for (const alg of listed(`${endpoint}_auth_signing_alg_values_supported`)) {
    const method = alg.startsWith('HS') ? 'client_secret_jwt' : 'private_key_jwt';
    const response = await post(endpoint, { ...form, ...assertion(CLIENT_OF_METHOD[method] ?? '', alg) });
    expect([endpoint, alg, response.status]).toEqual([endpoint, alg, 200]);
  }
}

const BY_ITSELF = { grant_type: 'client_credentials' };
const SOME_TOKEN = { token: 'unknown' };

async function exerciseSignedResponses(member: string, jwtOf: (tokens: Metadata, client: string) => Promise<string>) {
  const algorithms = listed(member);
  expect(algorithms.toSorted()).toEqual(Object.keys(SIGNED).toSorted());
  for (const alg of algorithms) {
    const client = SIGNED[alg] ?? '';
    const jwt = await jwtOf(await signIn({}, client), client);
    expect([member, decodeProtectedHeader(jwt).alg, decodeJwt(jwt).iss]).toEqual([member, alg, service.issuer]);
  }
}

async function refusesToRegister(members: object): Promise<void> {
  expect(await register(members)).toMatchObject({ status: 400, body: { error: 'invalid_client_metadata' } });
}

const EXERCISES: Readonly<Record<string, () => Promise<void>>> = {
  issuer: async () => {
    const { id_token } = await signIn();
    expect(decodeJwt(String(id_token)).iss).toBe(at('issuer'));
  },
  authorization_endpoint: async () => await expectReached('authorization_endpoint', {}, 400),
  token_endpoint: async () => await expectReached('token_endpoint', { ...FORM, body: 'x=1' }, 401),
  jwks_uri: async () => {
    const { body } = await ask(at('jwks_uri'));
    const { id_token } = await signIn();
    const { kid } = decodeProtectedHeader(String(id_token));
    expect(body['keys']).toEqual(expect.arrayContaining([expect.objectContaining({ kid, alg: 'RS256' })]));
  },
  registration_endpoint: async () => expect((await register({})).status).toBe(201),
  userinfo_endpoint: async () => await expectReached('userinfo_endpoint', {}, 401),
  introspection_endpoint: async () => await expectReached('introspection_endpoint', { ...FORM, body: 'token=x' }, 401),
  revocation_endpoint: async () => await expectReached('revocation_endpoint', { ...FORM, body: 'token=x' }, 401),
  device_authorization_endpoint: async () => {
    expect((await post('device_authorization_endpoint', { scope: 'openid' }, asWeb())).status).toBe(200);
  },
  pushed_authorization_request_endpoint: async () => {
    const form = Object.fromEntries(asking({}).searchParams);
    const pushed = await post('pushed_authorization_request_endpoint', form, asWeb());
    expect(pushed.status).toBe(201);
    const query = new URLSearchParams({ client_id: WEB, request_uri: String(pushed.body['request_uri']) });
    await browser.open(`${at('authorization_endpoint')}?${query}`);
    expect(browser.page.location).toContain('code=');
  },
  end_session_endpoint: async () => {
    const nobody = new Browser({ listener: service.address, publicBase: service.publicBase });
    expect((await nobody.get(at('end_session_endpoint'))).status).toBe(200);
  },
  scopes_supported: async () => {
    for (const scope of listed('scopes_supported')) expect((await signIn({ scope }))['scope']).toBe(scope);
  },
  response_types_supported: async () => {
    for (const response_type of ['code', 'token', 'id_token', 'code id_token', 'none']) {
      const { searchParams, hash } = await authorize({ response_type });
      const error = searchParams.get('error') ?? new URLSearchParams(hash.slice(1)).get('error');
      const isListed = listed('response_types_supported').includes(response_type);
      expect([response_type, error]).toEqual([response_type, isListed ? null : 'unsupported_response_type']);
    }
  },
  response_modes_supported: async () => {
    for (const response_mode of listed('response_modes_supported')) {
      const target = await authorize({ response_mode });
      const [delivery, format] = response_mode === 'jwt' ? ['query', 'jwt'] : response_mode.split('.');
      const name = format === 'jwt' ? 'response' : 'code';
      if (delivery === 'query') expect(target.searchParams.has(name)).toBe(true);
      else if (delivery === 'fragment') expect(new URLSearchParams(target.hash.slice(1)).has(name)).toBe(true);
      else {
        expect(delivery).toBe('form_post');
        expect(browser.page.forms[0]?.action).toBe(CALLBACK);
        expect(browser.page.forms[0]?.inputs.has(name)).toBe(true);
      }
    }
    await browser.open(asking({ response_mode: 'web_message' }).href);
    expect(browser.page.status).toBe(400);
  },
  grant_types_supported: async () => {
    const { refresh_token } = await signIn();
    const device = await post('device_authorization_endpoint', { scope: 'openid' }, asWeb());
    // Other tests complete each grant. Here, the service only has to recognize it and evaluate its parameters.
    const rest: Readonly<Record<string, readonly [form: Form, error: string | undefined]>> = {
      authorization_code: [{ code: 'x' }, 'invalid_grant'],
      refresh_token: [{ refresh_token: String(refresh_token) }, undefined],
      client_credentials: [{}, undefined],
      [DEVICE_CODE_GRANT_TYPE]: [{ device_code: String(device.body['device_code']) }, 'authorization_pending'],
    };
    expect(listed('grant_types_supported').toSorted()).toEqual(Object.keys(rest).toSorted());
    for (const [grant_type, [form, error]] of Object.entries(rest)) {
      const response = await post('token_endpoint', { grant_type, ...form }, asWeb());
      expect([grant_type, response.body['error']]).toEqual([grant_type, error]);
    }
    const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
    const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
    for (const grant_type of ['password', 'implicit', jwtBearer, exchange]) {
      const response = await post('token_endpoint', { grant_type }, asWeb());
      expect([grant_type, response.body['error']]).toEqual([grant_type, 'unsupported_grant_type']);
    }
  },
  token_endpoint_auth_methods_supported: async () => await exerciseMethods('token_endpoint', BY_ITSELF),
  revocation_endpoint_auth_methods_supported: async () => await exerciseMethods('revocation_endpoint', SOME_TOKEN),
  introspection_endpoint_auth_methods_supported: async () =>
    await exerciseMethods('introspection_endpoint', SOME_TOKEN),
  token_endpoint_auth_signing_alg_values_supported: async () => await exerciseAlgorithms('token_endpoint', BY_ITSELF),
  revocation_endpoint_auth_signing_alg_values_supported: async () =>
    await exerciseAlgorithms('revocation_endpoint', SOME_TOKEN),
  introspection_endpoint_auth_signing_alg_values_supported: async () =>
    await exerciseAlgorithms('introspection_endpoint', SOME_TOKEN),
  code_challenge_methods_supported: async () => {
    for (const code_challenge_method of ['S256', 'plain']) {
      const { searchParams } = await authorize({ code_challenge_method });
      const isListed = listed('code_challenge_methods_supported').includes(code_challenge_method);
      expect([code_challenge_method, searchParams.has('code')]).toEqual([code_challenge_method, isListed]);
    }
  },
  subject_types_supported: async () => {
    expect(listed('subject_types_supported')).toEqual(['public', 'pairwise']);
    const subjects = [await signIn(), await signIn({}, PAIRWISE)].map(
      (tokens) => decodeJwt(String(tokens['id_token'])).sub,
    );
    expect(subjects[0]).toMatch(/^[0-9A-Z]{26}$/);
    expect(subjects[1]).toMatch(/^[\w-]{43}$/);
  },
  id_token_signing_alg_values_supported: async () =>
    await exerciseSignedResponses('id_token_signing_alg_values_supported', async ({ id_token }) => String(id_token)),
  userinfo_signing_alg_values_supported: async () =>
    await exerciseSignedResponses('userinfo_signing_alg_values_supported', async ({ access_token }) => {
      const headers = { authorization: `Bearer ${access_token}` };
      return (await ask(at('userinfo_endpoint'), { headers })).text;
    }),
  authorization_signing_alg_values_supported: async () =>
    await exerciseSignedResponses('authorization_signing_alg_values_supported', async (_, client) => {
      return (await authorize({ response_mode: 'jwt' }, client)).searchParams.get('response') ?? '';
    }),
  introspection_signing_alg_values_supported: async () =>
    await exerciseSignedResponses('introspection_signing_alg_values_supported', async ({ access_token }, client) => {
      const headers = { ...asWeb(client), accept: 'application/token-introspection+jwt' };
      return (await post('introspection_endpoint', { token: String(access_token) }, headers)).text;
    }),
  display_values_supported: async () => {
    for (const display of listed('display_values_supported')) {
      expect((await authorize({ display })).searchParams.has('code')).toBe(true);
    }
  },
  claim_types_supported: async () => {
    expect(listed('claim_types_supported')).toEqual(['normal']);
    const { access_token } = await signIn({ scope: 'openid profile email' });
    const { body } = await ask(at('userinfo_endpoint'), { headers: { authorization: `Bearer ${access_token}` } });
    for (const name of ['_claim_names', '_claim_sources']) expect(body).not.toHaveProperty(name);
  },
  claims_supported: async () => {
    const { access_token, id_token } = await signIn({
      scope: 'openid profile email groups',
      nonce: 'n',
      max_age: '3600',
    });
    const { body } = await ask(at('userinfo_endpoint'), { headers: { authorization: `Bearer ${access_token}` } });
    const told = Object.keys({ ...decodeJwt(String(id_token)), ...body });
    expect(told.toSorted()).toEqual(listed('claims_supported').toSorted());
  },
  claims_parameter_supported: async () => {
    expect(metadata['claims_parameter_supported']).toBe(true);
    const claims = JSON.stringify({ userinfo: { email: null }, id_token: { name: { essential: true } } });
    const { access_token, id_token } = await signIn({ claims });
    expect(decodeJwt(String(id_token))).toMatchObject({ name: 'Amira' });
    const { body } = await ask(at('userinfo_endpoint'), { headers: { authorization: `Bearer ${access_token}` } });
    expect(body).toMatchObject({ email: 'amira@example.org' });
  },
  acr_values_supported: async () => {
    const withApp = await signedInWithApp();
    const reachedBy = new Map([
      ['urn:latchkey:acr:1', browser],
      ['urn:latchkey:acr:2', withApp],
    ]);
    expect(listed('acr_values_supported')).toEqual([...reachedBy.keys()]);
    for (const [acr, by] of reachedBy) {
      const claims = JSON.stringify({ id_token: { acr: { essential: true, value: acr } } });
      expect(decodeJwt(String((await signIn({ claims }, WEB, by))['id_token']))).toMatchObject({ acr });
    }
    const claims = JSON.stringify({ id_token: { acr: { essential: true, value: 'x' } } });
    expect((await authorize({ claims })).searchParams.get('error')).toBe('unmet_authentication_requirements');
  },
  request_parameter_supported: async () => expect(metadata['request_parameter_supported']).toBe(true),
  request_object_signing_alg_values_supported: async () => {
    const client = CLIENT_OF_METHOD['private_key_jwt'] ?? '';
    for (const alg of listed('request_object_signing_alg_values_supported')) {
      const { client_id, ...fields } = Object.fromEntries(asking({}, client).searchParams);
      const claims = { ...fields, client_id, iss: client, aud: service.issuer, exp: seconds() + 60 };
      const request = signed(alg, keyOf(alg), { kid: alg === 'Ed25519' ? 'EdDSA' : alg }, claims);
      const query = new URLSearchParams({ client_id: client, request });
      await browser.open(`${at('authorization_endpoint')}?${query}`);
      expect([alg, browser.page.location?.includes('code=')]).toEqual([alg, true]);
    }
  },
  request_uri_parameter_supported: async () => {
    expect(metadata['request_uri_parameter_supported']).toBe(false);
    const { searchParams } = await authorize({ request_uri: 'https://app.example/request' });
    expect(searchParams.get('error')).toBe('request_uri_not_supported');
  },
  require_request_uri_registration: async () => {
    expect(metadata['require_request_uri_registration']).toBe(false);
    expect((await register({ request_uris: [] })).status).toBe(201);
  },
  require_pushed_authorization_requests: async () => {
    expect(metadata['require_pushed_authorization_requests']).toBe(false);
    expect((await authorize()).searchParams.has('code')).toBe(true);
  },
  dpop_signing_alg_values_supported: async () => {
    for (const alg of listed('dpop_signing_alg_values_supported')) {
      const jwk = createPublicKey(keyOf(alg)).export({ format: 'jwk' });
      const claims = { jti: randomUUID(), htm: 'POST', htu: at('token_endpoint'), iat: seconds() };
      const dpop = signed(alg, keyOf(alg), { typ: 'dpop+jwt', jwk }, claims);
      const { body } = await post('token_endpoint', BY_ITSELF, { ...asWeb(), dpop });
      expect([alg, body['token_type']]).toEqual([alg, 'DPoP']);
    }
  },
  tls_client_certificate_bound_access_tokens: async () => {
    expect(metadata['tls_client_certificate_bound_access_tokens']).toBe(false);
    await refusesToRegister({ tls_client_certificate_bound_access_tokens: true });
  },
  frontchannel_logout_supported: async () => {
    expect(metadata['frontchannel_logout_supported']).toBe(false);
    await refusesToRegister({ frontchannel_logout_session_required: true });
  },
  // Tested in src/features/logout/backchannel-logout.test.ts.
  backchannel_logout_supported: async () => {
    expect(metadata['backchannel_logout_supported']).toBe(true);
    const told = { backchannel_logout_uri: 'https://app.example/out' };
    expect(await register(told)).toMatchObject({ status: 201, body: told });
  },
  backchannel_logout_session_supported: async () => {
    expect(metadata['backchannel_logout_session_supported']).toBe(true);
    const { id_token } = await signIn();
    expect(decodeJwt(String(id_token))).toMatchObject({ sid: expect.stringMatching(/^[0-9A-Z]{26}$/) });
  },
  prompt_values_supported: async () => {
    const pages: Readonly<Record<string, string>> = {
      none: '/callback',
      login: '/reauth',
      consent: '/consent/',
      select_account: '/consent/',
      create: '/register',
    };
    for (const prompt of listed('prompt_values_supported')) {
      await browser.open(asking({ prompt }).href);
      const shown = new URL(browser.page.location ?? browser.page.url);
      expect([prompt, shown.pathname.slice(0, pages[prompt]?.length)]).toEqual([prompt, pages[prompt]]);
      expect(shown.searchParams.get('error')).toBeNull();
    }
  },
  ui_locales_supported: async () => {
    for (const language of listed('ui_locales_supported')) {
      const nobody = new Browser({ listener: service.address, publicBase: service.publicBase });
      await nobody.open(asking({ ui_locales: language }).href);
      expect(/<html[^>]* lang="([^"]*)"/.exec(nobody.page.body)?.[1]).toBe(language);
    }
  },
  authorization_response_iss_parameter_supported: async () => {
    expect((await authorize()).searchParams.get('iss')).toBe(at('issuer'));
    expect((await authorize({ scope: 'nothing' })).searchParams.get('iss')).toBe(at('issuer'));
  },
  op_policy_uri: async () => expect(at('op_policy_uri')).toBe(PAGES.policy),
  op_tos_uri: async () => expect(at('op_tos_uri')).toBe(PAGES.terms),
  service_documentation: async () => expect(at('service_documentation')).toBe(PAGES.manual),
  account_management_uri: async () => {
    const page = await browser.get(at('account_management_uri'));
    expect([page.status, page.body.includes('<div id="root"')]).toEqual([200, true]);
  },
  account_management_actions_supported: async () => {
    for (const action of listed('account_management_actions_supported')) {
      const nobody = new Browser({ listener: service.address, publicBase: service.publicBase });
      const { location } = await nobody.get(`${at('account_management_uri')}?action=${action}&device_id=D`);
      expect(new URL(location ?? '').searchParams.get('action')).toBe(action);
    }
  },
  graphql_endpoint: async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ query: '{ viewer { __typename } }' });
    const url = at('graphql_endpoint');
    expect(await ask(url, { method: 'POST', headers, body })).toMatchObject({ status: 200 });
  },
};

test('every member of the document is exercised here', () => {
  expect(Object.keys(metadata).toSorted()).toEqual(Object.keys(EXERCISES).toSorted());
});

test('every client endpoint is in the document', () => {
  const advertised = Object.entries(metadata).filter(([name]) => /_endpoint$|^jwks_uri$/.test(name));
  const paths = new Set(advertised.map(([, url]) => new URL(String(url)).pathname));
  const mounted = service.routes.filter(({ path, errorFormat }) => {
    return path === '/authorize' || path.startsWith('/oauth2/') || errorFormat === 'oauth-json';
  });
  const missing = mounted.map(({ path }) => path).filter((path) => !paths.has(path));
  // The first is disclosed only in the client's registration response. The second is for providers, and the operator
  // configures it there.
  expect(new Set(missing)).toEqual(new Set(['/oauth2/registration/:client_id', '/upstream/backchannel-logout/:id']));
});

describe('every advertised feature works', () => {
  test.each(Object.entries(EXERCISES))('%s', async (_, exercise) => await exercise());
});
