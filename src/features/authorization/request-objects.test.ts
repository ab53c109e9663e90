import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser, type Page } from '#test/support/browser.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';

const CALLBACK = 'https://app.example/cb';
const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const BEHIND_PROXY = { trusted_proxies: ['127.0.0.1'], client_ip_header: 'x-forwarded-for' };

const clock = new FakeClock();
let service: TestService;
let key: CryptoKey;
let otherKey: CryptoKey;
let clientId: string;
let otherId: string;
let strictId: string;
let spaKey: CryptoKey;
let keyless: string;
let browsers = 0;

beforeAll(async () => {
  const spaKeys = await generateKeyPair('EdDSA');
  spaKey = spaKeys.privateKey;
  service = await startService(
    {
      http: BEHIND_PROXY,
      clients: [
        {
          client_id: SPA,
          client_auth_method: 'none',
          redirect_uris: [CALLBACK],
          jwks: { keys: [await exportJWK(spaKeys.publicKey)] },
          request_object_signing_alg: 'EdDSA',
          require_signed_request_object: true,
          default_acr_values: ['phr', 'urn:latchkey:acr:1'],
        },
      ],
      rate_limiting: {
        login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
        client_registration: { per_ip: HIGH_LIMIT },
      },
    },
    { clock },
  );
  await service.registerUser('amira', PASSWORD);
  const [own, other] = [await generateKeyPair('ES256'), await generateKeyPair('ES256')];
  [key, otherKey] = [own.privateKey, other.privateKey];
  const jwks = { keys: [{ ...(await exportJWK(own.publicKey)), kid: 'own' }] };
  clientId = await register({ jwks });
  otherId = await register({ jwks: { keys: [await exportJWK(other.publicKey)] } });
  strictId = await register({ jwks, request_object_signing_alg: 'ES256', require_signed_request_object: true });
  keyless = await register({});
});
afterAll(async () => await service.stop());

async function register(metadata: object): Promise<string> {
  const response = await fetch(`${service.address}/oauth2/registration`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_uri: 'https://app.example/',
      redirect_uris: [CALLBACK, 'https://app.example/second'],
      token_endpoint_auth_method: 'client_secret_post',
      ...metadata,
    }),
  });
  const { client_id, client_secret, ...rest } = await response.json();
  expect(response.status, JSON.stringify(rest)).toBe(201);
  secrets.set(client_id, client_secret);
  return client_id;
}

const SPA = '01JD3Q5Z8W2N4K6M7P9R0S1TSP';
const secrets = new Map<string, string>();

interface Signing {
  readonly clientId?: string;
  readonly key?: CryptoKey;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Overrides for the default claims; undefined omits a claim. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

function claimsOf({ clientId: id = clientId, claims = {} }: Signing): JWTPayload {
  const now = Math.floor(clock.now() / 1000);
  const parameters = { client_id: id, response_type: 'code', redirect_uri: CALLBACK, scope: 'openid', state: 'inside' };
  const usual = { iss: id, aud: service.issuer, iat: now, nbf: now, exp: now + 300 };
  return JSON.parse(JSON.stringify({ ...usual, ...parameters, ...claims }));
}

async function signed(signing: Signing = {}): Promise<string> {
  const header = { alg: 'ES256', ...signing.header };
  return await new SignJWT(claimsOf(signing)).setProtectedHeader(header).sign(signing.key ?? key);
}

function newBrowser(): Browser {
  browsers += 1;
  // From the clients' own site, so that errors are redirected at once.
  const headers = { 'x-forwarded-for': `198.51.100.${browsers}`, referer: 'https://app.example/' };
  return new Browser({ listener: service.address, publicBase: service.publicBase, headers });
}

async function signedIn(): Promise<Browser> {
  const browser = newBrowser();
  await browser.get('/login');
  await browser.submit({ username: 'amira', password: PASSWORD });
  clock.advanceSeconds(1);
  return browser;
}

function authorizeUrl(request: string, fields: Readonly<Record<string, string>> = {}): string {
  return `/authorize?${new URLSearchParams({ client_id: clientId, request, ...fields })}`;
}

function response(page: Page): Readonly<Record<string, string>> {
  return Object.fromEntries(new URL(page.location ?? expect.fail(`no redirect: ${page.text}`)).searchParams);
}

/** Sends plain parameters as well, so that the error reaches the client. */
async function refusal(request: string, fields: Readonly<Record<string, string>> = {}) {
  const plain = { redirect_uri: CALLBACK, state: 'outside', ...fields };
  return response(await newBrowser().get(authorizeUrl(request, plain)));
}

describe('a request object', () => {
  test('contains all request parameters, and those outside are ignored', async () => {
    const browser = await signedIn();
    const claims = { nonce: 'n', max_age: 3600, claims: { id_token: { name: null } }, login_hint: 'amira' };
    const fields = { state: 'outside', redirect_uri: 'https://app.example/second', prompt: 'none', max_age: 'x' };
    await browser.open(authorizeUrl(await signed({ claims }), fields));
    expect(new URL(browser.page.url).pathname).toMatch(/^\/consent\//);
    const granted = await browser.submit({ action: 'consent' }, { action: '/authorize' });
    expect(granted.location?.startsWith(`${CALLBACK}?`)).toBe(true);
    expect(response(granted)).toMatchObject({ state: 'inside', code: expect.any(String), iss: service.issuer });
  });

  test('takes no more statements than plain parameters', async () => {
    const browser = await signedIn();
    await browser.get(authorizeUrl(await signed({ claims: { prompt: 'none' } })));
    const line = service.requestLines().at(-1);
    expect(line).toMatchObject({ path: '/authorize', status: 303 });
    expect(line?.queries).toBeLessThanOrEqual(3);
  });

  test('may contain only response mode and state, and may be sent by POST', async () => {
    const browser = await signedIn();
    const request = await signed({ claims: { response_mode: 'fragment', prompt: 'none', scope: 'email' } });
    const form = new URLSearchParams({ client_id: clientId, request });
    await browser.post('/authorize', form, { cookie: undefined });
    await browser.follow();
    expect(browser.page.location).toMatch(/^https:\/\/app\.example\/cb#error=consent_required&.*state=inside/);
  });

  test('may declare its type, its key, and audiences besides the issuer', async () => {
    const aud = ['https://elsewhere.example', service.issuer];
    for (const typ of ['oauth-authz-req+jwt', 'JWT', 'application/oauth-authz-req+jwt']) {
      const request = await signed({ header: { typ, kid: 'own' }, claims: { aud, nbf: undefined } });
      expect((await newBrowser().get(authorizeUrl(request))).location).toContain('/login');
    }
  });

  test('is accepted up to a minute after its exp, to allow for clock skew', async () => {
    const exp = Math.floor(clock.now() / 1000) - 59;
    const loaded = await newBrowser().get(authorizeUrl(await signed({ claims: { exp } })));
    expect(loaded.location).toContain('/login');
  });

  test('may be accompanied by a matching response type and scope', async () => {
    const request = await signed({ claims: { scope: 'openid email' } });
    const loaded = await newBrowser().get(authorizeUrl(request, { response_type: 'code', scope: 'email openid' }));
    expect(loaded.location).toContain('/login');
  });

  test('is validated like plain parameters, with errors sent where it specifies', async () => {
    const claims = { response_type: 'token', redirect_uri: 'https://app.example/second', response_mode: 'query' };
    const loaded = await newBrowser().get(authorizeUrl(await signed({ claims }), { redirect_uri: CALLBACK }));
    expect(loaded.location?.startsWith('https://app.example/second?')).toBe(true);
    expect(response(loaded)).toMatchObject({ error: 'unsupported_response_type', state: 'inside' });
    const page = await newBrowser().get(
      authorizeUrl(await signed({ claims: { redirect_uri: 'https://evil.example/' } }), { redirect_uri: CALLBACK }),
    );
    expect(page).toMatchObject({ status: 400, location: undefined });
  });
});

describe('a rejected request object', () => {
  const seconds = () => Math.floor(clock.now() / 1000);

  test.each<[string, () => Promise<string>]>([
    ['unsigned', async () => new UnsecuredJWT(claimsOf({})).encode()],
    ['no JWT', async () => 'x'],
    ['signed with the key of another client', async () => await signed({ key: otherKey })],
    ['with another typ', async () => await signed({ header: { typ: 'at+jwt' } })],
    ['with a key id that the client does not have', async () => await signed({ header: { kid: 'x' } })],
    ['without iss', async () => await signed({ claims: { iss: undefined } })],
    ['of another iss', async () => await signed({ claims: { iss: otherId } })],
    ['for another audience', async () => await signed({ claims: { aud: 'https://elsewhere.example' } })],
    ['without audience', async () => await signed({ claims: { aud: undefined } })],
    ['without exp', async () => await signed({ claims: { exp: undefined } })],
    ['expired', async () => await signed({ claims: { exp: seconds() - 60 } })],
    ['valid for longer than an hour', async () => await signed({ claims: { exp: seconds() + 3661 } })],
    ['of the future', async () => await signed({ claims: { nbf: seconds() + 61 } })],
    ['with a nested request', async () => await signed({ claims: { request: 'x' } })],
    ['with a request_uri', async () => await signed({ claims: { request_uri: 'urn:x' } })],
    ['of another client_id', async () => await signed({ claims: { client_id: otherId } })],
    ['without client_id', async () => await signed({ claims: { client_id: undefined } })],
    ['with a list for a scope', async () => await signed({ claims: { scope: ['openid'] } })],
    ['with a state that no form can hold', async () => await signed({ claims: { state: 'a\0b' } })],
    ['with an unpaired surrogate', async () => await signed({ claims: { state: '\ud800' } })],
  ])("%s: invalid_request_object, at the plain parameters' redirect URI", async (_, make) => {
    const refused = await refusal(await make());
    expect(refused).toMatchObject({ error: 'invalid_request_object', state: 'outside', iss: service.issuer });
    const page = await newBrowser().get(authorizeUrl(await make()));
    expect(page).toMatchObject({ status: 400, location: undefined });
    expect(page.text).toContain('invalid_request_object');
  });

  test('differs in response type or scope from the plain parameters', async () => {
    expect(await refusal(await signed(), { scope: 'openid email' })).toMatchObject({ error: 'invalid_request_object' });
    expect(await refusal(await signed(), { response_type: 'token', response_mode: 'query' })).toMatchObject({
      error: 'invalid_request_object',
    });
  });

  test('comes from a client without keys', async () => {
    const request = await signed({ clientId: keyless });
    expect(await refusal(request, { client_id: keyless })).toMatchObject({ error: 'invalid_request_object' });
  });

  test('is reported in the response mode of the plain parameters', async () => {
    const fields = { redirect_uri: CALLBACK, response_mode: 'form_post', state: 'outside' };
    const response = await newBrowser().get(authorizeUrl('x', fields));
    expect(response.forms[0]?.inputs.get('error')).toBe('invalid_request_object');
    expect(response.forms[0]?.inputs.get('state')).toBe('outside');
  });

  test('is rejected together with a request_uri, whatever their content', async () => {
    const refused = await refusal(await signed(), { request_uri: 'urn:ietf:params:oauth:request_uri:x' });
    expect(refused).toMatchObject({ error: 'invalid_request' });
  });
});

describe('a configured public client with keys', () => {
  const spa = (fields: Readonly<Record<string, string>>) =>
    `/authorize?${new URLSearchParams({ client_id: SPA, ...fields })}`;
  const pkce = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' };

  test('signs its requests with its registered algorithm, and others are rejected', async () => {
    const plain = { redirect_uri: CALLBACK, response_type: 'code', scope: 'openid', ...pkce };
    const refused = response(await newBrowser().get(spa(plain)));
    expect(refused).toMatchObject({ error: 'invalid_request', error_description: expect.stringContaining('sign') });
    const request = await signed({ clientId: SPA, claims: pkce, key: spaKey, header: { alg: 'EdDSA' } });
    expect((await newBrowser().get(spa({ request }))).location).toContain('/login');
    const other = await signed({ clientId: SPA, claims: pkce });
    expect(response(await newBrowser().get(spa({ ...plain, request: other })))).toMatchObject({
      error: 'invalid_request_object',
      error_description: expect.stringContaining('EdDSA'),
    });
  });

  test('has default_acr_values, which are stored with a request that has no acr_values', async () => {
    const request = await signed({ clientId: SPA, claims: pkce, key: spaKey, header: { alg: 'EdDSA' } });
    clock.advanceSeconds(1);
    await newBrowser().get(spa({ request }));
    const [grant] = await sql<{ acr_values: string[] }>(
      service.database,
      'select acr_values from oauth2_authorization_grants order by created_at desc limit 1',
    );
    expect(grant?.acr_values).toEqual(['phr', 'urn:latchkey:acr:1']);
  });
});

describe('a client that must sign its requests', () => {
  test('is refused an unsigned one, and one with another algorithm', async () => {
    const plain = { client_id: strictId, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid' };
    const refused = response(await newBrowser().get(`/authorize?${new URLSearchParams(plain)}`));
    expect(refused).toMatchObject({ error: 'invalid_request', error_description: expect.stringContaining('sign') });
    const page = await newBrowser().get(authorizeUrl(await signed({ clientId: strictId }), { client_id: strictId }));
    expect(page.location).toContain('/login');
  });

  test('may push a signed request, and no other', async () => {
    const push = async (form: Readonly<Record<string, string>>) =>
      await fetch(`${service.address}/oauth2/par`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: strictId, client_secret: secrets.get(strictId) ?? '', ...form }),
      });
    const plain = await push({ redirect_uri: CALLBACK, response_type: 'code', scope: 'openid' });
    expect([plain.status, (await plain.json()).error]).toEqual([400, 'invalid_request']);
    const forged = await push({ request: await signed({ clientId: strictId, key: otherKey }) });
    expect([forged.status, (await forged.json()).error]).toEqual([400, 'invalid_request_object']);
    const pushed = await push({ request: await signed({ clientId: strictId }), scope: 'openid' });
    expect(pushed.status).toBe(201);
    const { request_uri } = await pushed.json();
    const browser = await signedIn();
    await browser.open(`/authorize?${new URLSearchParams({ client_id: strictId, request_uri })}`);
    const granted = await browser.submit({ action: 'consent' }, { action: '/authorize' });
    expect(response(granted)).toMatchObject({ state: 'inside', code: expect.any(String) });
  });
});

describe('a request in a frame', () => {
  const inFrame = { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' };

  async function framed(claims: object): Promise<Response> {
    const url = service.address + authorizeUrl(await signed({ claims: { ...claims } }), { prompt: 'none' });
    return await fetch(url, { headers: inFrame, redirect: 'manual' });
  }

  test('is accepted if silent inside; otherwise rejected, whatever the URL says, storing nothing (S-181)', async () => {
    const silent = await framed({ prompt: 'none' });
    expect([silent.status, silent.headers.get('location')]).toEqual([303, expect.stringContaining('login_required')]);
    expect((await framed({})).status).toBe(403);
  });
});
