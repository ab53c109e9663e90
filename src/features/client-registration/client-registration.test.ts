import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { assertionFields, newClientKey } from '#test/support/client-assertions.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const BODY = {
  client_name: 'Example',
  'client_name#de': 'Beispiel',
  client_uri: 'https://app.example/',
  redirect_uris: ['https://app.example/cb', 'https://app.example/other'],
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
};
const HIGH_LIMIT = { rate_limiting: { client_registration: { per_ip: { burst: 10_000, per_second: 1000 } } } };

interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

const clock = new FakeClock();

const service = await sharedByTests(startService(HIGH_LIMIT, { clock }));

async function post(
  body: unknown,
  options: { at?: TestService; headers?: Record<string, string> } = {},
): Promise<TestResponse> {
  const response = await fetch(`${(options.at ?? service).address}/oauth2/registration`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...options.headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const responded: Record<string, unknown> = JSON.parse(await response.text());
  return { status: response.status, headers: response.headers, body: responded };
}

async function countClients(at: TestService = service): Promise<number> {
  const [row] = await sql<{ count: number }>(
    at.database,
    `select count(*)::integer as count from oauth2_clients where kind is distinct from 'builtin'`,
  );
  return row?.count ?? -1;
}

describe('a registration (RFC 7591 3.2.1)', () => {
  test('of a client with signed assertions returns a secret usable by every algorithm, or none', async () => {
    const jwt = { token_endpoint_auth_method: 'client_secret_jwt', token_endpoint_auth_signing_alg: 'HS512' };
    const { body } = await post({ ...BODY, ...jwt });
    expect(body).toMatchObject({ ...jwt, client_secret_expires_at: 0 });
    expect(String(body['client_secret']).length).toBeGreaterThanOrEqual(64);

    const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
    const signing = { token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_signing_alg: 'ES256' };
    const registration = { ...BODY, ...signing, jwks: { keys: [jwk] } };
    const first = await post(registration);
    expect(first.body).toMatchObject(signing);
    expect(first.body).not.toHaveProperty('client_secret');
    const again = await post({ ...registration, redirect_uris: registration.redirect_uris.toReversed() });
    expect(again.body['client_id']).toBe(first.body['client_id']);
    const other = await post({ ...registration, jwks: { keys: [{ ...jwk, kid: 'other' }] } });
    expect(other.body['client_id']).not.toBe(first.body['client_id']);
  });

  test('of a client with signed assertions needs no algorithm, and its method accepts each (OpenID Registration 2)', async () => {
    const common = { ...BODY, grant_types: ['authorization_code', 'client_credentials'] };
    const withKey = { ...common, token_endpoint_auth_method: 'private_key_jwt' };
    const [es256, ps256] = [await newClientKey('es', 'ES256'), await newClientKey('ps', 'PS256')];
    const ofKeys = await post({ ...withKey, jwks: { keys: [es256.publicJwk, ps256.publicJwk] } });
    const ofSecret = await post({ ...common, token_endpoint_auth_method: 'client_secret_jwt' });
    for (const { status, body } of [ofKeys, ofSecret]) {
      expect(status).toBe(201);
      expect(body).not.toHaveProperty('token_endpoint_auth_signing_alg');
    }
    const secret = String(ofSecret.body['client_secret']);
    for (const [registered, key, alg] of [
      [ofKeys, es256.privateKey, 'ES256'],
      [ofKeys, ps256.privateKey, 'PS256'],
      [ofSecret, secret, 'HS256'],
      [ofSecret, secret, 'HS512'],
    ] as const) {
      const clientId = String(registered.body['client_id']);
      const fields = await assertionFields({ clientId, audience: service.issuer, now: clock.now(), key, alg });
      const body = new URLSearchParams({ grant_type: 'client_credentials', ...fields });
      expect((await fetch(`${service.address}/oauth2/token`, { method: 'POST', body })).status).toBe(200);
    }
  });

  test('with public keys returns them unchanged', async () => {
    const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
    const jwks = { keys: [{ ...jwk, kid: 'one', use: 'sig' }, { kty: 'LWE' }] };
    expect((await post({ ...BODY, jwks })).body['jwks']).toEqual(jwks);
  });

  test('of a public client returns what is stored, in one statement', async () => {
    const response = await post(BODY);
    expect(response.status).toBe(201);
    expect(response.body).toEqual({
      ...BODY,
      client_id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      client_id_issued_at: Math.floor(clock.now() / 1000),
      application_type: 'web',
      response_types: ['code'],
      id_token_signed_response_alg: 'RS256',
      subject_type: 'public',
    });
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(service.requestLines().at(-1)).toMatchObject({ queries: 1 });
  });

  test('of a confidential client returns a working secret that no row or log line contains', async () => {
    const requested = { ...BODY, token_endpoint_auth_method: undefined, grant_types: ['client_credentials'] };
    const { body } = await post(requested);
    const secret = String(body['client_secret']);
    expect(body).toMatchObject({ client_secret_expires_at: 0, token_endpoint_auth_method: 'client_secret_basic' });
    expect(secret).toMatch(/^[\w-]{43}$/);
    const credentials = Buffer.from(`${String(body['client_id'])}:${secret}`).toString('base64');
    const token = await fetch(`${service.address}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${credentials}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'openid' }),
    });
    expect(token.status).toBe(200);
    const rows = await sql<{ text: string }>(service.database, 'select c::text as text from oauth2_clients c');
    expect(rows.filter(({ text }) => text.includes(secret))).toEqual([]);
    expect(service.logLines().filter((line) => line.includes(secret))).toEqual([]);
  });

  test('is logged for the operator', async () => {
    const { body } = await post({ ...BODY, client_name: 'Told' });
    expect(service.logLines().filter((line) => line.includes(String(body['client_id'])))).toHaveLength(1);
  });

  test('is advertised in the discovery document', async () => {
    const response = await fetch(`${service.address}/.well-known/openid-configuration`);
    expect(await response.json()).toMatchObject({ registration_endpoint: `${service.publicBase}oauth2/registration` });
  });
});

describe('a rejected registration', () => {
  test.each<[string, number, string, unknown, Record<string, string>]>([
    ['no JSON', 400, 'invalid_request', '{', {}],
    ['no object', 400, 'invalid_request', '[]', {}],
    ['null', 400, 'invalid_request', 'null', {}],
    ['a form', 400, 'invalid_request', 'client_name=x', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a wrong member', 400, 'invalid_client_metadata', { ...BODY, client_name: 7 }, {}],
    ['a wrong redirect URI', 400, 'invalid_redirect_uri', { ...BODY, redirect_uris: ['http://x/'] }, {}],
    ['a statement', 400, 'unapproved_software_statement', { ...BODY, software_statement: 'e30.e30.' }, {}],
    ['no statement', 400, 'invalid_software_statement', { ...BODY, software_statement: 'x' }, {}],
  ])('%s: %i %s, and nothing is stored', async (_what, status, code, body, headers) => {
    const before = await countClients();
    const response = await post(body, { headers });
    expect(response).toMatchObject({ status, body: { error: code, error_description: expect.any(String) } });
    expect(service.requestLines().at(-1)).toMatchObject({ queries: 0 });
    expect(await countClients()).toBe(before);
  });

  test('names the URL and the setting when rejected by policy, to the client and in the log', async () => {
    const requested = {
      redirect_uris: ['http://localhost:9/cb', 'cursor://host/cb'],
      token_endpoint_auth_method: 'none',
    };
    const { body } = await post({ ...BODY, ...requested, application_type: 'native' });
    const setting = 'policy.data.client_registration.allow_private_use_schemes';
    expect(body['error_description']).toMatch(/^redirect_uris\[1\] \(cursor:\/\/host\/cb\) must use https, .*/);
    expect(body['error_description']).toContain(`, unless ${setting} is on.`);
    const line = service.logLines().findLast((text) => text.includes('auth.refused'));
    expect(line).toContain(setting);
    expect(line).toContain('cursor://host/cb');
  });

  test('names the invalid member', async () => {
    const { body } = await post({ ...BODY, logo_uri: 'https://github.io/' });
    expect(body['error_description']).toBe('logo_uri is not using a valid domain');
  });
});

describe('identical registrations (oauth 4.5)', () => {
  test('return one client, regardless of the order of members, list elements and languages', async () => {
    const first = await post(BODY);
    clock.advanceSeconds(100);
    const reordered = {
      grant_types: BODY.grant_types.toReversed(),
      'client_name#de': 'Beispiel',
      redirect_uris: BODY.redirect_uris.toReversed(),
      token_endpoint_auth_method: 'none',
      client_uri: BODY.client_uri,
      client_name: 'Example',
    };
    const again = await post(reordered);
    expect(again.status).toBe(201);
    expect(again.body['client_id']).toBe(first.body['client_id']);
    expect(again.body['client_id_issued_at']).toBe(first.body['client_id_issued_at']);
  });

  test('return another client if an ignored member differs', async () => {
    const { body } = await post({ ...BODY, x_build: 1 });
    expect(body['client_id']).not.toBe((await post(BODY)).body['client_id']);
  });

  test('sent concurrently to two instances return one client, 200 times', { timeout: 120_000 }, async () => {
    const before = await countClients();
    const second = await startService(HIGH_LIMIT, { clock, like: service });
    try {
      for (let round = 0; round < 200; round += 1) {
        const body = { ...BODY, client_name: `At once ${round}` };
        const instances = [service, second, service, second];
        const responses = await Promise.all(instances.map((at) => post(body, { at })));
        expect(responses.map((response) => response.status)).toEqual([201, 201, 201, 201]);
        expect(new Set(responses.map((response) => response.body['client_id'])).size, `round ${round}`).toBe(1);
      }
      expect(await countClients()).toBe(before + 200);
    } finally {
      await second.stop();
    }
  });

  test('with a secret create separate clients', async () => {
    const confidential = { ...BODY, token_endpoint_auth_method: 'client_secret_post' };
    const [first, second] = [await post(confidential), await post(confidential)];
    expect(first.body['client_id']).not.toBe(second.body['client_id']);
  });

  test('do not re-enable a disabled client', async () => {
    const body = { ...BODY, client_name: 'Disabled' };
    const { body: registered } = await post(body);
    await sql(
      service.database,
      `update oauth2_clients set disabled_at = created_at where metadata->'client_name'->>'' = 'Disabled'`,
    );
    const response = await post(body);
    expect(response).toMatchObject({ status: 403, body: { error: 'access_denied' } });
    expect(JSON.stringify(response.body)).not.toContain(String(registered['client_id']));
  });
});

describe('the operator configures', () => {
  test('whether registration is open', async () => {
    const closed = await startService({ oauth: { dynamic_registration: { enabled: false } } });
    try {
      expect(await post(BODY, { at: closed })).toMatchObject({ status: 403, body: { error: 'access_denied' } });
      const response = await fetch(`${closed.address}/.well-known/openid-configuration`);
      expect(await response.json()).not.toHaveProperty('registration_endpoint');
    } finally {
      await closed.stop();
    }
  });

  test('whether it requires a token', async () => {
    const initial_access_token = 'the-token-for-registering';
    const guarded = await startService({ oauth: { dynamic_registration: { initial_access_token } } });
    const as = async (authorization?: string) =>
      await post(BODY, { at: guarded, headers: authorization === undefined ? {} : { authorization } });
    try {
      for (const wrong of [undefined, 'Bearer the-token-for-registerinG', 'Bearer ', `Basic ${initial_access_token}`]) {
        const response = await as(wrong);
        expect(response, wrong).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
        expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /);
      }
      expect(await countClients(guarded)).toBe(0);
      expect((await as(`Bearer ${initial_access_token}`)).status).toBe(201);
    } finally {
      await guarded.stop();
    }
  });

  test('who is banned', async () => {
    const policy = { data: { requester: { banned_user_agents: { substrings: ['evil'] } } } };
    const strict = await startService({ policy });
    try {
      const response = await post(BODY, { at: strict, headers: { 'user-agent': 'evil/1.0' } });
      expect(response).toMatchObject({ status: 400, body: { error: 'invalid_client_metadata' } });
      expect((await post(BODY, { at: strict })).status).toBe(201);
    } finally {
      await strict.stop();
    }
  });

  test('which exceptions the rules have', async () => {
    const client_registration = {
      allow_host_mismatch: true,
      allow_insecure_uris: true,
      allow_missing_client_uri: true,
    };
    const lenient = await startService({ policy: { data: { client_registration } } });
    try {
      const body = { redirect_uris: ['http://localhost:3000/cb'], token_endpoint_auth_method: 'none' };
      expect((await post(body)).status).toBe(400);
      expect((await post(body, { at: lenient })).status).toBe(201);
    } finally {
      await lenient.stop();
    }
  });

  test('that MCP clients may register unchanged', async () => {
    const sdk = {
      client_name: 'MCP client',
      redirect_uris: ['http://localhost:6274/oauth/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
    const missing = await post(sdk);
    expect(missing.body).toMatchObject({ error: 'invalid_client_metadata' });
    expect(missing.body['error_description']).toContain('allow_missing_client_uri');
    const client_registration = { preset: 'mcp' };
    const lenient = await startService({ policy: { data: { client_registration } } });
    try {
      const response = await post(sdk, { at: lenient });
      expect(response).toMatchObject({ status: 201, body: { ...sdk, application_type: 'native' } });
    } finally {
      await lenient.stop();
    }
  });

  test('how many registrations one address may make', async () => {
    const slow = await startService({}, { clock });
    try {
      const named = async (index: number) => await post({ ...BODY, client_name: `Client ${index}` }, { at: slow });
      for (let index = 0; index < 10; index += 1) expect((await named(index)).status).toBe(201);
      const limited = await named(10);
      expect(limited).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } });
      expect(limited.headers.get('retry-after')).toBe('120');
      expect(await countClients(slow)).toBe(10);
      clock.advanceSeconds(120);
      expect((await named(10)).status).toBe(201);
      expect((await named(11)).status).toBe(429);
    } finally {
      await slow.stop();
    }
  });
});
