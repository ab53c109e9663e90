import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId, toUuid } from '#platform/base/ids.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { basic, CLIENT_SECRET, type OAuthService, startOAuthService, unusedId } from '#test/support/oauth-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ClientId } from '#vocabulary/ids.ts';

const GRANT = { grant_type: 'client_credentials' };
let basicClient: ClientId;
let postClient: ClientId;
let publicClient: ClientId;

const db = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startOAuthService(db.database));

beforeAll(async () => {
  basicClient = await service.client();
  postClient = await service.client({
    secret: CLIENT_SECRET,
    metadata: { token_endpoint_auth_method: 'client_secret_post' },
  });
  publicClient = await service.client({});
});

function rawBasic(text: string | Buffer): string {
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

describe('client authentication', () => {
  test('takes no query for valid credentials of a cached client, and the client is the requester', async () => {
    const response = await service.post('/oauth2/token', { grant_type: 'nonsense' }, basic(basicClient, CLIENT_SECRET));
    expect(response).toMatchObject({ status: 400, body: { error: 'unsupported_grant_type' } });
    expect(service.lastRequest()).toMatchObject({ queries: 0, requester: `oauth2-client:${basicClient}` });
  });

  test.each([
    ['form-encoded in the header', () => basic(basicClient, CLIENT_SECRET)],
    ['with a scheme in lower case', () => basic(basicClient, CLIENT_SECRET).replace('Basic', 'basic')],
    ['with the id in lower case', () => basic(basicClient.toLowerCase(), CLIENT_SECRET)],
  ])('accepts client_secret_basic, %s', async (_, header) => {
    expect((await service.post('/oauth2/token', GRANT, header())).status).toBe(200);
  });

  test('accepts a Basic header whose parts are not form-encoded', async () => {
    const secret = 'a+b%zz:c d';
    const client = await service.client({ secret });
    expect((await service.post('/oauth2/token', GRANT, rawBasic(`${client}:${secret}`))).status).toBe(200);
    expect((await service.post('/oauth2/token', GRANT, basic(client, secret))).status).toBe(200);
    const ambiguous = await service.client({ secret: 'a+b%20c' });
    expect((await service.post('/oauth2/token', GRANT, rawBasic(`${ambiguous}:a+b%20c`))).status).toBe(200);
  });

  test('accepts client_secret_post from a client registered for it', async () => {
    const response = await service.post('/oauth2/token', {
      ...GRANT,
      client_id: postClient,
      client_secret: CLIENT_SECRET,
    });
    expect(response.status).toBe(200);
  });

  test.each<[string, () => Readonly<Record<string, string>>, () => string | undefined]>([
    ['a wrong secret', () => GRANT, () => basic(basicClient, 'wrong')],
    ['an empty secret', () => GRANT, () => basic(basicClient, '')],
    ['an unknown client', () => GRANT, () => basic(unusedId(), CLIENT_SECRET)],
    ['an invalid ID', () => GRANT, () => basic("' or 1=1 --", CLIENT_SECRET)],
    ['a confidential client without its secret', () => ({ ...GRANT, client_id: basicClient }), () => undefined],
    [
      'a secret from a public client (R-15)',
      () => ({ ...GRANT, client_id: publicClient, client_secret: 'x' }),
      () => undefined,
    ],
    ['a public client with a secret in a Basic header', () => GRANT, () => basic(publicClient, 'x')],
    ['no credentials', () => GRANT, () => undefined],
    ['a bearer token', () => GRANT, () => 'Bearer abc'],
    [
      'an assertion that is not a JWT',
      () => ({
        ...GRANT,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: 'a.b.c',
      }),
      () => undefined,
    ],
  ])('rejects %s as invalid_client with a challenge (RFC 6749 5.2)', async (_, form, header) => {
    const response = await service.post('/oauth2/token', form(), header());
    expect(response).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect(response.headers.get('www-authenticate')).toBe('Basic realm="https://auth.example.test/"');
    expect(service.lastRequest().requester).toBeUndefined();
  });

  test('gives the same response, at the same cost, for an unknown client and a wrong secret', async () => {
    const unknown = unusedId();
    await service.post('/oauth2/token', GRANT, basic(unknown, 'x'));
    const first = await service.post('/oauth2/token', GRANT, basic(unknown, 'x'));
    const { queries } = service.lastRequest();
    const second = await service.post('/oauth2/token', GRANT, basic(basicClient, 'x'));
    expect(second.text).toBe(first.text);
    expect(service.lastRequest().queries).toBe(queries);
  });

  test.each<[string, () => string, () => string | undefined]>([
    [
      'another secret in the body than in the header',
      () => `grant_type=client_credentials&client_secret=x`,
      () => basic(basicClient, CLIENT_SECRET),
    ],
    [
      'two client_id values',
      () => `grant_type=client_credentials&client_id=${basicClient}&client_id=${basicClient}`,
      () => undefined,
    ],
    [
      'a client_id in the body that differs from the header',
      () => `grant_type=client_credentials&client_id=${postClient}`,
      () => basic(basicClient, CLIENT_SECRET),
    ],
    ['a header that is not base64', () => 'grant_type=client_credentials', () => 'Basic !!!'],
    ['a header without a colon', () => 'grant_type=client_credentials', () => rawBasic('abc')],
    ['a header of invalid UTF-8', () => 'grant_type=client_credentials', () => rawBasic(Buffer.of(0xff, 0x3a, 0xfe))],
    [
      'an assertion of an unknown type',
      () => 'grant_type=client_credentials&client_assertion=a&client_assertion_type=b',
      () => undefined,
    ],
    ['a secret without a client_id', () => 'grant_type=client_credentials&client_secret=x', () => undefined],
  ])('rejects %s as invalid_request', async (_, form, header) => {
    const response = await service.post('/oauth2/token', form(), header());
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  test('treats a client disabled after being cached as unknown from its next request', async () => {
    const client = await service.client();
    expect((await service.post('/oauth2/token', GRANT, basic(client, CLIENT_SECRET))).status).toBe(200);
    await sql(db.database, 'update oauth2_clients set disabled_at = now() where id = $1::uuid', [toUuid(client)]);
    const response = await service.post('/oauth2/token', GRANT, basic(client, CLIENT_SECRET));
    expect(response).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  test('takes no query for a client cached over a minute ago, but reloads it; stale data causes no rejection', async () => {
    const header = basic(basicClient, CLIENT_SECRET);
    const changed = await service.client({
      metadata: { token_endpoint_auth_method: 'client_secret_jwt' },
      secret: CLIENT_SECRET,
    });
    const present = async (client: ClientId) =>
      (await service.post('/oauth2/token', { grant_type: 'nonsense' }, basic(client, CLIENT_SECRET))).status;
    expect([await present(basicClient), await present(changed)]).toEqual([400, 401]);
    const id = toUuid(basicClient);
    await sql(db.database, 'update oauth2_clients set disabled_at = now() where id = $1::uuid', [id]);
    await sql(
      db.database,
      `update oauth2_clients set version = version + 1,
         metadata = jsonb_set(metadata, '{token_endpoint_auth_method}', '"client_secret_basic"') where id = $1::uuid`,
      [toUuid(changed)],
    );
    service.clock.advanceSeconds(61);
    expect(await present(changed)).toBe(400);
    expect((await service.post('/oauth2/token', { grant_type: 'nonsense' }, header)).status).toBe(400);
    expect(service.lastRequest()).toMatchObject({ queries: 0 });
    await expect.poll(() => present(basicClient)).toBe(401);
    await sql(db.database, 'update oauth2_clients set disabled_at = null where id = $1::uuid', [id]);
    service.clock.advanceSeconds(2);
    expect(await present(basicClient)).toBe(400);
  });

  test('reloads a client cached over ten minutes ago first', async () => {
    const client = await service.client();
    expect((await service.post('/oauth2/token', GRANT, basic(client, CLIENT_SECRET))).status).toBe(200);
    await sql(db.database, 'update oauth2_clients set disabled_at = now() where id = $1::uuid', [toUuid(client)]);
    service.clock.advanceSeconds(600);
    const response = await service.post('/oauth2/token', { grant_type: 'nonsense' }, basic(client, CLIENT_SECRET));
    expect(response).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  test('returns 500 for a stored secret that cannot be decrypted, with an ERROR line that names the client', async () => {
    const client = await service.client();
    await sql(db.database, `update oauth2_clients set client_secret_sealed = '\\x01' where id = $1::uuid`, [
      toUuid(client),
    ]);
    service.clients.forget(client);
    const response = await service.post('/oauth2/token', GRANT, basic(client, CLIENT_SECRET));
    expect(response).toMatchObject({ status: 500, body: { error: 'server_error' } });
    expect(response.text).not.toContain('secrets.encryption');
    expect(service.lines.some((line) => line.includes('ERROR error ') && line.includes(client))).toBe(true);
  });

  test('logs the reason for a rejection as a code, never the input', async () => {
    await service.post('/oauth2/token', GRANT, basic(basicClient, 'a mistyped secret'));
    const refusal = service.logged('auth.refused').at(-1);
    expect(refusal).toMatchObject({ level: 'info', fields: { code: 'bad_client_secret', client: basicClient } });
    expect(JSON.stringify(service.logged('auth.refused')) + service.lines.join('\n')).not.toContain('mistyped');
  });
});

describe('a secret in the header or form (RFC 6749 2.3.1)', () => {
  const inForm = (client: ClientId): Record<string, string> => ({ client_id: client, client_secret: CLIENT_SECRET });
  const WAYS: [string, (client: ClientId) => Record<string, string>, (client: ClientId) => string | undefined][] = [
    ['in the form', inForm, () => undefined],
    ['in the header', () => ({}), (client) => basic(client, CLIENT_SECRET)],
    ['in both', inForm, (client) => basic(client, CLIENT_SECRET)],
    ['in both, without client_id', () => ({ client_secret: CLIENT_SECRET }), (client) => basic(client, CLIENT_SECRET)],
  ];

  describe.each(['/oauth2/token', '/oauth2/introspect', '/oauth2/revoke'])('at %s', (path) => {
    test.each(WAYS)('is accepted %s from a client of either method', async (_, form, header) => {
      for (const client of [basicClient, postClient]) {
        const response = await service.post(path, { ...GRANT, token: 'x', ...form(client) }, header(client));
        expect(response.status).toBe(200);
        expect(service.lastRequest().requester).toBe(`oauth2-client:${client}`);
      }
    });

    test('is accepted only as registered with strict_auth_method: true (S-28)', async () => {
      for (const [method, accepted] of [
        ['client_secret_post', 'in the form'],
        ['client_secret_basic', 'in the header'],
      ] as const) {
        const metadata = { token_endpoint_auth_method: method, strict_auth_method: true };
        const client = await service.client({ secret: CLIENT_SECRET, metadata });
        for (const [way, form, header] of WAYS) {
          const response = await service.post(path, { ...GRANT, token: 'x', ...form(client) }, header(client));
          expect(response.status, `${method} ${way}`).toBe(way === accepted ? 200 : 401);
        }
      }
    });
  });

  test('may be empty in the Basic header of a public client, unless it is strict', async () => {
    const metadata = { strict_auth_method: true };
    const strict = await service.client({ metadata });
    for (const [client, status] of [
      [publicClient, 200],
      [strict, 401],
    ] as const) {
      expect((await service.post('/oauth2/revoke', { token: 'x' }, basic(client, ''))).status).toBe(status);
      expect((await service.post('/oauth2/revoke', { token: 'x', client_id: client })).status).toBe(200);
    }
  });

  test('that is empty counts as missing: a confidential client is rejected in every way of sending it', async () => {
    for (const header of [basic(basicClient, ''), undefined]) {
      const form = { ...GRANT, client_id: basicClient, client_secret: '' };
      expect((await service.post('/oauth2/token', form, header)).status).toBe(401);
    }
  });

  test('is logged with the used and the registered method', async () => {
    await service.post('/oauth2/token', { ...GRANT, client_id: basicClient });
    expect(service.logged('auth.refused').at(-1)).toMatchObject({
      level: 'info',
      fields: { code: 'wrong_auth_method', method: 'none', registered: 'client_secret_basic', client: basicClient },
    });
    await service.post('/oauth2/token', { ...GRANT, ...inForm(basicClient) });
    expect(service.logged('auth.method').at(-1)).toMatchObject({
      level: 'debug',
      fields: { method: 'client_secret_post', registered: 'client_secret_basic', client: basicClient },
    });
  });
});

describe('the limit of failed client authentications', () => {
  let limited: OAuthService;
  let client: ClientId;
  let other: ClientId;

  beforeAll(async () => {
    limited = await startOAuthService(db.database, { limiter: { burst: 3, perSecond: 0.1 } });
    client = await limited.client();
    other = await limited.client();
  });
  afterAll(async () => await limited.close());

  test('rejects even the right secret with 429 after the burst, without any work, and recovers later', async () => {
    for (let failure = 0; failure < 3; failure += 1) {
      expect((await limited.post('/oauth2/token', GRANT, basic(client, 'wrong'))).status).toBe(401);
    }
    const shut = await limited.post('/oauth2/token', GRANT, basic(client, CLIENT_SECRET));
    expect(shut).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } });
    expect(Number(shut.headers.get('retry-after'))).toBe(10);
    expect(limited.lastRequest().queries).toBe(0);
    expect((await limited.post('/oauth2/token', GRANT, basic(other, CLIENT_SECRET))).status).toBe(200);
    limited.clock.advanceSeconds(10);
    expect((await limited.post('/oauth2/token', GRANT, basic(client, CLIENT_SECRET))).status).toBe(200);
  });

  async function buckets(): Promise<number> {
    const rows = await sql(db.database, `select key from rate_limits where key like 'client_authentication:%'`);
    return rows.length;
  }

  async function refusals(count: number, form: Record<string, string>, headers: Record<string, string>): Promise<void> {
    for (let failure = 0; failure < count; failure += 1) {
      const response = await limited.request('/oauth2/token', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: new URLSearchParams({ ...GRANT, ...form }).toString(),
      });
      expect(response.status).toBe(401);
    }
  }

  test('ignores failures of a public client, whatever secret it sends (S-182)', async () => {
    const open = await limited.client({});
    const before = await buckets();
    await refusals(8, { client_id: open, client_secret: 'x' }, {});
    await refusals(8, {}, { authorization: basic(open, 'x') });
    expect(await buckets()).toBe(before);
    expect((await limited.post('/oauth2/revoke', { token: 'x', client_id: open })).status).toBe(200);
  });

  test('ignores requests without a secret', async () => {
    const confidential = await limited.client();
    const before = await buckets();
    await refusals(8, { client_id: confidential }, {});
    await refusals(8, {}, { authorization: basic(confidential, '') });
    expect(await buckets()).toBe(before);
  });

  test('ignores requests that a foreign page makes a browser send (S-182)', async () => {
    const victim = await limited.client();
    const before = await buckets();
    for (const origin of ['https://evil.example', 'null', 'https://auth.example.test:8443']) {
      await refusals(8, { client_id: victim, client_secret: 'x' }, { origin });
    }
    expect(await buckets()).toBe(before);
    expect((await limited.post('/oauth2/token', GRANT, basic(victim, CLIENT_SECRET))).status).toBe(200);
    await refusals(3, { client_id: victim, client_secret: 'x' }, { origin: 'https://auth.example.test' });
    expect((await limited.post('/oauth2/token', GRANT, basic(victim, CLIENT_SECRET))).status).toBe(429);
  });

  test('shares one counter per address for unknown IDs, which blocks no client there (S-179)', async () => {
    const known = await limited.client();
    await sql(db.database, 'delete from rate_limits');
    const statuses = new Set<number>();
    for (let index = 0; index < 8; index += 1) {
      statuses.add((await limited.post('/oauth2/token', GRANT, basic(newId<'client'>(index), 'x'))).status);
    }
    expect([...statuses]).toEqual([401, 429]);
    expect(await buckets()).toBe(1);
    limited.clients.forget(known);
    expect((await limited.post('/oauth2/token', GRANT, basic(known, CLIENT_SECRET))).status).toBe(200);
  });

  test('never blocks a client for one address because of another (S-182)', async () => {
    const proxied = await startOAuthService(db.database, {
      limiter: { burst: 3, perSecond: 0.1 },
      isBehindProxy: true,
    });
    const client = await proxied.client();
    const from = async (address: string, secret: string): Promise<number> => {
      const response = await proxied.request('/oauth2/token', {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-forwarded-for': address,
          authorization: basic(client, secret),
        },
        body: 'grant_type=client_credentials',
      });
      return response.status;
    };
    try {
      for (let failure = 0; failure < 3; failure += 1) expect(await from('192.0.2.1', 'wrong')).toBe(401);
      expect(await from('192.0.2.1', CLIENT_SECRET)).toBe(429);
      expect(await from('192.0.2.2', CLIENT_SECRET)).toBe(200);
    } finally {
      await proxied.close();
    }
  });

  test('ignores successes', async () => {
    for (let count = 0; count < 10; count += 1) {
      expect((await limited.post('/oauth2/token', GRANT, basic(other, CLIENT_SECRET))).status).toBe(200);
    }
  });
});
