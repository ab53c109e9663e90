import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClientId, toUuid } from '#base/ids.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { basic, CLIENT_SECRET, type OAuthService, startOAuthService, unusedId } from '#test/support/oauth-service.ts';

const GRANT = { grant_type: 'client_credentials' };

let db: TestDatabase;
let service: OAuthService;
let basicClient: ClientId;
let postClient: ClientId;
let publicClient: ClientId;

beforeAll(async () => {
  db = await createTestDatabase();
  service = await startOAuthService(db.database);
  basicClient = await service.client();
  postClient = await service.client({
    secret: CLIENT_SECRET,
    metadata: { token_endpoint_auth_method: 'client_secret_post' },
  });
  publicClient = await service.client({});
});
afterAll(async () => {
  await service.close();
  await db.drop();
});

function rawBasic(text: string | Buffer): string {
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

describe('client authentication', () => {
  test('good credentials of a cached client cost no query, and the client is the requester', async () => {
    const answer = await service.post('/oauth2/token', { grant_type: 'nonsense' }, basic(basicClient, CLIENT_SECRET));
    expect(answer).toMatchObject({ status: 400, body: { error: 'unsupported_grant_type' } });
    expect(service.lastRequest()).toMatchObject({ queries: 0, requester: `oauth2-client:${basicClient}` });
  });

  test.each([
    ['form-encoded in the header', () => basic(basicClient, CLIENT_SECRET)],
    ['with a scheme in lower case', () => basic(basicClient, CLIENT_SECRET).replace('Basic', 'basic')],
    ['with the id in lower case', () => basic(basicClient.toLowerCase(), CLIENT_SECRET)],
  ])('client_secret_basic, %s, is accepted', async (_, header) => {
    expect((await service.post('/oauth2/token', GRANT, header())).status).toBe(200);
  });

  test('a Basic header whose halves were not form-encoded is accepted too', async () => {
    const secret = 'a+b%zz:c d';
    const client = await service.client({ secret });
    expect((await service.post('/oauth2/token', GRANT, rawBasic(`${client}:${secret}`))).status).toBe(200);
    expect((await service.post('/oauth2/token', GRANT, basic(client, secret))).status).toBe(200);
    const ambiguous = await service.client({ secret: 'a+b%20c' });
    expect((await service.post('/oauth2/token', GRANT, rawBasic(`${ambiguous}:a+b%20c`))).status).toBe(200);
  });

  test('client_secret_post is accepted from a client registered for it', async () => {
    const answer = await service.post('/oauth2/token', {
      ...GRANT,
      client_id: postClient,
      client_secret: CLIENT_SECRET,
    });
    expect(answer.status).toBe(200);
  });

  test.each<[string, () => Readonly<Record<string, string>>, () => string | undefined]>([
    ['a wrong secret', () => GRANT, () => basic(basicClient, 'wrong')],
    ['an empty secret', () => GRANT, () => basic(basicClient, '')],
    ['an unknown client', () => GRANT, () => basic(unusedId(), CLIENT_SECRET)],
    ['an id that is none', () => GRANT, () => basic("' or 1=1 --", CLIENT_SECRET)],
    [
      'the right secret in the body of a client registered for Basic',
      () => ({ ...GRANT, client_id: basicClient, client_secret: CLIENT_SECRET }),
      () => undefined,
    ],
    [
      'the right secret in the header of a client registered for the body',
      () => GRANT,
      () => basic(postClient, CLIENT_SECRET),
    ],
    ['a confidential client without its secret', () => ({ ...GRANT, client_id: basicClient }), () => undefined],
    [
      'a secret from a public client (R-15)',
      () => ({ ...GRANT, client_id: publicClient, client_secret: 'x' }),
      () => undefined,
    ],
    ['a public client in a Basic header', () => GRANT, () => basic(publicClient, '')],
    ['nothing at all', () => GRANT, () => undefined],
    ['a bearer token', () => GRANT, () => 'Bearer abc'],
    [
      'an assertion, which is not offered',
      () => ({
        ...GRANT,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: 'a.b.c',
      }),
      () => undefined,
    ],
  ])('%s is refused as invalid_client with a challenge (RFC 6749 5.2)', async (_, form, header) => {
    const answer = await service.post('/oauth2/token', form(), header());
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect(answer.headers.get('www-authenticate')).toBe('Basic realm="https://auth.example.test/"');
    expect(service.lastRequest().requester).toBeUndefined();
  });

  test('an unknown client and a wrong secret read the same and cost the same', async () => {
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
      'header and body at once',
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
    ['a header that is no base64', () => 'grant_type=client_credentials', () => 'Basic !!!'],
    ['a header without a colon', () => 'grant_type=client_credentials', () => rawBasic('abc')],
    ['a header of invalid UTF-8', () => 'grant_type=client_credentials', () => rawBasic(Buffer.of(0xff, 0x3a, 0xfe))],
    [
      'an assertion of an unknown type',
      () => 'grant_type=client_credentials&client_assertion=a&client_assertion_type=b',
      () => undefined,
    ],
    ['a secret without a client_id', () => 'grant_type=client_credentials&client_secret=x', () => undefined],
  ])('%s is refused as invalid_request', async (_, form, header) => {
    const answer = await service.post('/oauth2/token', form(), header());
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  test('a client disabled after it was cached is unknown at its next request', async () => {
    const client = await service.client();
    expect((await service.post('/oauth2/token', GRANT, basic(client, CLIENT_SECRET))).status).toBe(200);
    await sql(db.database, 'update oauth2_clients set disabled_at = now() where id = $1::uuid', [toUuid(client)]);
    const answer = await service.post('/oauth2/token', GRANT, basic(client, CLIENT_SECRET));
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  test('a stored secret that cannot be opened is a fault of the operator: 500, and an ERROR line that names the client', async () => {
    const client = await service.client();
    await sql(db.database, `update oauth2_clients set client_secret_sealed = '\\x01' where id = $1::uuid`, [
      toUuid(client),
    ]);
    service.clients.forget(client);
    const answer = await service.post('/oauth2/token', GRANT, basic(client, CLIENT_SECRET));
    expect(answer).toMatchObject({ status: 500, body: { error: 'server_error' } });
    expect(answer.text).not.toContain('secrets.encryption');
    expect(service.lines.some((line) => line.includes('ERROR error ') && line.includes(client))).toBe(true);
  });

  test('why a client was refused is in the log by code, never what it sent', async () => {
    await service.post('/oauth2/token', GRANT, basic(basicClient, 'a mistyped secret'));
    const refusal = service.logged('auth.refused').at(-1);
    expect(refusal).toMatchObject({ level: 'info', fields: { reason: 'bad_client_secret', client: basicClient } });
    expect(JSON.stringify(service.logged('auth.refused')) + service.lines.join('\n')).not.toContain('mistyped');
  });
});

describe('limit of failed client authentications', () => {
  let limited: OAuthService;
  let client: ClientId;
  let other: ClientId;

  beforeAll(async () => {
    limited = await startOAuthService(db.database, { limiter: { burst: 3, perSecond: 0.1 } });
    client = await limited.client();
    other = await limited.client();
  });
  afterAll(async () => await limited.close());

  test('after the burst even the right secret is answered 429 without any work, and after a while it works again', async () => {
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

  test('successes are not counted', async () => {
    for (let count = 0; count < 10; count += 1) {
      expect((await limited.post('/oauth2/token', GRANT, basic(other, CLIENT_SECRET))).status).toBe(200);
    }
  });
});
