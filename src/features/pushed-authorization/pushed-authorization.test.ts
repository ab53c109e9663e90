import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser, type Page } from '#test/support/browser.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import type { RequestLine } from '#test/support/log-expression.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const WEB = '01JD3Q5Z8W2N4K6M7P9R0S1TWB';
const OTHER = '01JD3Q5Z8W2N4K6M7P9R0S1T0T';
const STRICT = '01JD3Q5Z8W2N4K6M7P9R0S1TST';
const SPA = '01JD3Q5Z8W2N4K6M7P9R0S1TSP';
const MACHINE = '01JD3Q5Z8W2N4K6M7P9R0S1TMA';
const SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/cb';
const PASSWORD = 'correct horse battery staple';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const REQUEST = { response_type: 'code', redirect_uri: CALLBACK, scope: 'openid', state: 'st' };

function confidential(client_id: string, more: object = {}) {
  const redirect_uris = [CALLBACK, 'https://app.example/second'];
  return { client_id, client_auth_method: 'client_secret_basic', client_secret: SECRET, redirect_uris, ...more };
}

const SETTINGS = {
  http: { trusted_proxies: ['127.0.0.1'], client_ip_header: 'x-forwarded-for' },
  clients: [
    confidential(WEB),
    confidential(OTHER),
    confidential(STRICT, { require_pushed_authorization_requests: true, first_party: true }),
    confidential(MACHINE, { grant_types: ['client_credentials'] }),
    { client_id: SPA, client_auth_method: 'none', redirect_uris: [CALLBACK] },
  ],
  rate_limiting: { login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT } },
  oauth: { resources: ['a', 'b'].map((name) => ({ identifier: `https://${name}.example` })) },
};

const clock = new FakeClock();
let browsers = 0;

const service = await sharedByTests(startService(SETTINGS, { clock }));

beforeAll(async () => {
  await service.registerUser('amira', PASSWORD);
});

interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

async function push(
  form: Readonly<Record<string, string>> | string,
  more: { readonly clientId?: string; readonly headers?: HeadersInit } = {},
): Promise<TestResponse> {
  const { clientId = WEB } = more;
  const response = await fetch(`${service.address}/oauth2/par`, {
    method: 'POST',
    headers: {
      ...(clientId !== SPA && { authorization: `Basic ${Buffer.from(`${clientId}:${SECRET}`).toString('base64')}` }),
      ...more.headers,
    },
    body: new URLSearchParams(form),
  });
  // Avoids the rate limits, which have their own test.
  clock.advanceSeconds(0.1);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

async function pushed(fields: Readonly<Record<string, string>> = {}, clientId = WEB): Promise<string> {
  const { status, body } = await push({ ...REQUEST, ...fields }, { clientId });
  expect(status, JSON.stringify(body)).toBe(201);
  return String(body['request_uri']);
}

function authorizeUrl(requestUri: string, fields: Readonly<Record<string, string>> = {}): string {
  return `/authorize?${new URLSearchParams({ client_id: WEB, request_uri: requestUri, ...fields })}`;
}

function newBrowser(): Browser {
  browsers += 1;
  const headers = { 'x-forwarded-for': `198.51.100.${browsers}` };
  return new Browser({ listener: service.address, publicBase: service.publicBase, headers });
}

async function signedIn(): Promise<Browser> {
  const browser = newBrowser();
  await browser.get('/login');
  await browser.submit({ username: 'amira', password: PASSWORD });
  expect(browser.page.status).toBe(303);
  clock.advanceSeconds(1);
  return browser;
}

function response(page: Page): URLSearchParams {
  return new URL(page.location ?? expect.fail(`no redirect: ${page.text}`)).searchParams;
}

function lastLine(method: string, path: string): RequestLine {
  const lines = service.requestLines().filter((line) => line.method === method && line.path === path);
  return lines.at(-1) ?? expect.fail(`no line for ${method} ${path}`);
}

async function count(from: string): Promise<number> {
  const rows = await sql<{ count: number }>(service.database, `select count(*)::integer as count from ${from}`);
  return rows[0]?.count ?? -1;
}

describe('a pushed request', () => {
  test('returns an unguessable reference, stored as a digest, without credentials', async () => {
    await push(REQUEST);
    const { status, headers, body } = await push({ ...REQUEST, unknown: 'x' });
    expect(status).toBe(201);
    expect(body).toEqual({
      request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[A-Za-z0-9_-]{43}$/),
      expires_in: 90,
    });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(lastLine('POST', '/oauth2/par')).toMatchObject({ requester: `oauth2-client:${WEB}`, queries: 1 });
    const rows = await sql<{ text: string; parameters: object }>(
      service.database,
      'select p::text as text, p.parameters from oauth2_pushed_requests p order by created_at desc limit 1',
    );
    expect(rows[0]?.parameters).toEqual({
      response_type: ['code'],
      redirect_uri: [CALLBACK],
      scope: ['openid'],
      state: ['st'],
    });
    expect(rows[0]?.text).not.toContain(String(body['request_uri']).slice(-43));
  });

  test('continues in a browser with only the reference, in as many round trips as a plain one', async () => {
    const browser = await signedIn();
    const first = await browser.open(authorizeUrl(await pushed({ state: 'pushed' })));
    expect(new URL(first.url).pathname).toMatch(/^\/consent\//);
    const granted = await browser.submit({ action: 'consent' }, { action: '/authorize' });
    expect(response(granted).get('state')).toBe('pushed');
    // The consent is now remembered.
    const again = await browser.get(authorizeUrl(await pushed({ nonce: 'n' })));
    expect(response(again).get('code')).toMatch(/^[\w-]{43}$/);
    expect(lastLine('GET', '/authorize')).toMatchObject({ status: 303, queries: 3 });
  });

  test('continues for a user who signs in first', async () => {
    const browser = newBrowser();
    await browser.open(authorizeUrl(await pushed({ login_hint: 'amira', prompt: 'consent' })));
    expect(new URL(browser.page.url).pathname).toBe('/login');
    expect(browser.page.forms[0]?.inputs.get('username')).toBe('amira');
    await browser.submit({ username: 'amira', password: PASSWORD });
    await browser.follow();
    const granted = await browser.submit({ action: 'consent' }, { action: '/authorize' });
    expect(response(granted).get('code')).toMatch(/^[\w-]{43}$/);
  });

  test('ignores other parameters next to the reference', async () => {
    const browser = await signedIn();
    const uri = await pushed({ state: 'inside' });
    const fields = { state: 'outside', redirect_uri: 'https://app.example/second', scope: 'email', prompt: 'none' };
    await browser.open(authorizeUrl(uri, { ...fields, response_mode: 'fragment', response_type: 'token' }));
    const { location, url } = browser.page;
    const result = location ?? expect.fail(`no redirect from ${url}`);
    expect(result.startsWith(`${CALLBACK}?`)).toBe(true);
    expect(new URL(result).searchParams.get('state')).toBe('inside');
  });

  test('may also be used by POST, in a form with only the reference', async () => {
    const browser = await signedIn();
    const form = new URLSearchParams({ client_id: WEB, request_uri: await pushed() });
    await browser.post('/authorize', form, { cookie: undefined });
    expect(browser.page.location).toMatch(/\/authorize\/[0-9A-Z]{26}\?bind=/);
    expect(lastLine('POST', '/authorize')).toMatchObject({ status: 303, queries: 2 });
    const again = await browser.post('/authorize', form, { cookie: undefined });
    expect(again).toMatchObject({ status: 400, location: undefined });
  });

  test('may name several resource servers', async () => {
    const browser = await signedIn();
    const parameters = new URLSearchParams({ ...REQUEST, prompt: 'consent' });
    for (const name of ['a', 'b']) parameters.append('resource', `https://${name}.example`);
    const { body } = await push(parameters.toString());
    await browser.open(authorizeUrl(String(body['request_uri'])));
    const grant = new URL(browser.page.url).pathname.split('/').at(-1) ?? '';
    const rows = await sql(service.database, 'select resources from oauth2_authorization_grants where id = $1::uuid', [
      uuidOf(grant),
    ]);
    expect(rows).toEqual([{ resources: ['https://a.example', 'https://b.example'] }]);
  });

  test('of a public client needs its client_id and PKCE', async () => {
    const good = { ...REQUEST, client_id: SPA, code_challenge: CHALLENGE, code_challenge_method: 'S256' };
    expect((await push(good, { clientId: SPA })).status).toBe(201);
    const { client_id: _, ...nameless } = good;
    expect(await push(nameless, { clientId: SPA })).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect(await push({ ...REQUEST, client_id: SPA }, { clientId: SPA })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', error_description: expect.stringContaining('code_challenge') },
    });
  });
});

describe('validation of a pushed request', () => {
  test.each([
    [{ redirect_uri: 'https://evil.example/cb' }, 'invalid_request'],
    [{ redirect_uri: '' }, 'invalid_request'],
    [{ response_mode: 'smoke' }, 'invalid_request'],
    [{ state: 'x'.repeat(8193) }, 'invalid_request'],
    [{ max_age: '-1' }, 'invalid_request'],
    [{ prompt: 'none login' }, 'invalid_request'],
    [{ id_token_hint: 'x' }, 'invalid_request'],
    [{ claims: '[' }, 'invalid_request'],
    [{ request_uri: 'urn:ietf:params:oauth:request_uri:x' }, 'invalid_request'],
    [{ registration: '{}' }, 'registration_not_supported'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ code_challenge: CHALLENGE, code_challenge_method: 'plain' }, 'invalid_request'],
    [{ scope: 'nothing' }, 'invalid_scope'],
    [{ resource: 'https://api.example/' }, 'invalid_target'],
  ])('%j: %s, as JSON', async (fields, error) => {
    const stored = await count('oauth2_pushed_requests');
    const result = await push({ ...REQUEST, ...fields });
    expect(result).toMatchObject({ status: 400, body: { error, error_description: expect.any(String) } });
    expect(result.headers.get('location')).toBeNull();
    expect(result.headers.get('cache-control')).toBe('no-store');
    expect(await count('oauth2_pushed_requests')).toBe(stored);
  });

  test.each(['acr_values', 'claims_locales', 'display', 'login_hint', 'nonce', 'prompt', 'ui_locales'])(
    'limits %s to what the request line of the authorization endpoint allows',
    async (name) => {
      const result = await push({ ...REQUEST, [name]: 'x'.repeat(8192) });
      expect(result).toMatchObject({
        status: 400,
        body: { error: 'invalid_request', error_description: expect.stringContaining(`${name} must have at most`) },
      });
    },
  );

  test('stores a resource server once if it is named a hundred times', async () => {
    const parameters = new URLSearchParams(REQUEST);
    for (let count = 0; count < 90; count += 1) parameters.append('resource', 'https://a.example');
    expect((await push(parameters.toString())).status).toBe(201);
    const [row] = await sql<{ resources: string[] }>(
      service.database,
      `select parameters->'resource' as resources from oauth2_pushed_requests order by created_at desc limit 1`,
    );
    expect(row?.resources).toEqual(['https://a.example']);
  });

  test('rejects a repeated parameter', async () => {
    const result = await push(`${new URLSearchParams(REQUEST)}&nonce=a&nonce=b`);
    expect(result).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  test('rejects a client without the code grant as unauthorized_client', async () => {
    const result = await push(REQUEST, { clientId: MACHINE });
    expect(result).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } });
  });

  test('logs the error for the operator', async () => {
    await push({ ...REQUEST, scope: 'nothing' });
    expect(service.logLines().findLast((line) => line.includes(' auth.refused '))).toContain('code=invalid_scope');
  });

  test('rejects wrong credentials with 401 before checking anything else', async () => {
    const wrong = { authorization: `Basic ${Buffer.from(`${WEB}:wrong`).toString('base64')}` };
    const result = await push({ response_type: 'token' }, { headers: wrong });
    expect(result).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect(result.headers.get('www-authenticate')).toMatch(/^Basic /);
  });
});

describe('a reference', () => {
  test('works once, and its second use is reported where the plain parameters specify', async () => {
    const uri = await pushed();
    await newBrowser().get(authorizeUrl(uri));
    const page = await newBrowser().get(authorizeUrl(uri));
    expect(page).toMatchObject({ status: 400, location: undefined });
    expect(page.text).toContain('invalid_request_uri');
    const sent = await newBrowser().get(authorizeUrl(uri, { redirect_uri: CALLBACK, state: 'plain' }));
    expect(Object.fromEntries(response(sent))).toMatchObject({
      error: 'invalid_request_uri',
      error_description: expect.stringContaining('already used'),
      state: 'plain',
      iss: service.issuer,
    });
    const form = await newBrowser().get(authorizeUrl(uri, { redirect_uri: CALLBACK, response_mode: 'form_post' }));
    expect(form.forms[0]?.inputs.get('error')).toBe('invalid_request_uri');
    const foreign = await newBrowser().get(authorizeUrl(uri, { redirect_uri: 'https://evil.example/' }));
    expect(foreign).toMatchObject({ status: 400, location: undefined });
  });

  test('loaded again by the same browser resumes the request until the reference expires', async () => {
    const uri = await pushed();
    const browser = newBrowser();
    const first = await browser.get(authorizeUrl(uri));
    const again = await browser.get(authorizeUrl(uri));
    expect(again.status).toBe(303);
    const grant = new URL(again.location ?? '').pathname.split('/').at(-1);
    expect(first.location).toContain(grant);
    const resumed = await browser.follow();
    expect(resumed.url).toBe(first.location);
    clock.advanceSeconds(90);
    expect(await browser.get(authorizeUrl(uri))).toMatchObject({ status: 400, location: undefined });
  });

  test.each([
    ['unknown', `urn:ietf:params:oauth:request_uri:${'x'.repeat(43)}`],
    ['malformed', 'urn:ietf:params:oauth:request_uri:x'],
  ])('that is %s shows a page', async (_, uri) => {
    const loaded = await newBrowser().get(authorizeUrl(uri));
    expect(loaded).toMatchObject({ status: 400, location: undefined });
    expect(loaded.text).toContain('invalid_request_uri');
  });

  test('works for 90 seconds', async () => {
    const [early, late] = [await pushed(), await pushed()];
    clock.advanceSeconds(89);
    expect((await newBrowser().get(authorizeUrl(early))).status).toBe(303);
    clock.advanceSeconds(1);
    expect(await newBrowser().get(authorizeUrl(late))).toMatchObject({ status: 400, location: undefined });
  });

  test('of another client is unknown, and stays valid for its own', async () => {
    const uri = await pushed();
    const stranger = await newBrowser().get(authorizeUrl(uri, { client_id: OTHER }));
    expect(stranger).toMatchObject({ status: 400, location: undefined });
    expect((await newBrowser().get(authorizeUrl(uri))).status).toBe(303);
  });

  test('that is an external URL is rejected without fetching it', async () => {
    const loaded = await newBrowser().get(authorizeUrl(`${service.address}/health`, REQUEST));
    expect(response(loaded).get('error')).toBe('request_uri_not_supported');
    expect(service.requestLines().filter((line) => line.path === '/health')).toEqual([]);
  });

  test('is not consumed by a request that is rejected at once', async () => {
    const uri = await pushed({ prompt: 'none' });
    expect(response(await newBrowser().get(authorizeUrl(uri))).get('error')).toBe('login_required');
    const browser = await signedIn();
    expect(response(await browser.get(authorizeUrl(uri))).has('error')).toBe(false);
  });

  test("is validated again when used, against the client's current metadata", async () => {
    const uri = await pushed();
    await sql(
      service.database,
      `update oauth2_clients set version = version + 1,
         metadata = jsonb_set(metadata, '{redirect_uris}', '["https://app.example/other"]') where id = $1::uuid`,
      [uuidOf(WEB)],
    );
    clock.advanceSeconds(61);
    try {
      expect(await newBrowser().get(authorizeUrl(uri))).toMatchObject({ status: 400, location: undefined });
    } finally {
      await sql(
        service.database,
        `update oauth2_clients set version = version + 1,
           metadata = jsonb_set(metadata, '{redirect_uris}', $2::jsonb) where id = $1::uuid`,
        [uuidOf(WEB), JSON.stringify([CALLBACK, 'https://app.example/second'])],
      );
      clock.advanceSeconds(61);
    }
  });
});

function uuidOf(ulid: string): string {
  const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  const value = [...ulid].reduce((sum, digit) => sum * 32n + BigInt(digits.indexOf(digit)), 0n);
  return value.toString(16).padStart(32, '0');
}

describe('a client that must push', () => {
  test('is refused a request that was not pushed, and can continue with a pushed one', async () => {
    const plain = await newBrowser().get(`/authorize?${new URLSearchParams({ client_id: STRICT, ...REQUEST })}`);
    expect(Object.fromEntries(response(plain))).toMatchObject({
      error: 'invalid_request',
      error_description: expect.stringContaining('PAR'),
    });
    const browser = await signedIn();
    const page = await browser.get(authorizeUrl(await pushed({}, STRICT), { client_id: STRICT }));
    expect(response(page).get('code')).toMatch(/^[\w-]{43}$/);
  });
});

describe('the rate limit of pushed requests', () => {
  let limited: TestService;
  beforeAll(async () => {
    const par = { per_client: { burst: 2, per_second: 0.1 } };
    limited = await startService({ ...SETTINGS, rate_limiting: { par } }, { clock });
  });
  afterAll(async () => await limited.stop());

  async function pushAt(clientId: string, address = '203.0.113.1'): Promise<Response> {
    const secret = clientId === SPA ? {} : { client_secret: SECRET };
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
    return await fetch(`${limited.address}/oauth2/par`, {
      method: 'POST',
      headers: { 'x-forwarded-for': address },
      body: new URLSearchParams({ ...REQUEST, ...pkce, client_id: clientId, ...secret }),
    });
  }

  test('applies per client, from all addresses', async () => {
    expect([(await pushAt(WEB)).status, (await pushAt(WEB, '203.0.113.2')).status]).toEqual([201, 201]);
    const refused = await pushAt(WEB, '203.0.113.3');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('10');
    expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable' });
    expect((await pushAt(OTHER)).status).toBe(201);
    clock.advanceSeconds(10);
    expect((await pushAt(WEB)).status).toBe(201);
  });

  test('of a public client applies per address, so that a stranger cannot exhaust it', async () => {
    for (const status of [201, 201, 429]) expect((await pushAt(SPA, '203.0.113.4')).status).toBe(status);
    expect((await pushAt(SPA, '203.0.113.5')).status).toBe(201);
  });
});
