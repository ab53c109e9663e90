import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { basic, CLIENT_SECRET, member, type OAuthService, startOAuthService } from '#test/support/oauth-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ClientId } from '#vocabulary/ids.ts';

let service: OAuthService;
let client: ClientId;
let adminClient: ClientId;

const db = await sharedByTests(createTestDatabase());

beforeAll(async () => {
  const first = await startOAuthService(db.database);
  adminClient = await first.client();
  await first.close();
  service = await startOAuthService(db.database, { adminClients: [adminClient] });
  client = await service.client();
});
afterAll(async () => {
  await service.close();
});

describe('token endpoint', () => {
  test('rejects a body other than a form as invalid_request', async () => {
    const response = await service.request('/oauth2/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: basic(client, CLIENT_SECRET) },
      body: '{"grant_type":"client_credentials"}',
    });
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  test('ignores parameters in the query string', async () => {
    const response = await service.post(
      '/oauth2/token?grant_type=client_credentials',
      {},
      basic(client, CLIENT_SECRET),
    );
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  test.each(['password', 'implicit', 'urn:ietf:params:oauth:grant-type:jwt-bearer', '__proto__'])(
    'rejects the grant type %s as unsupported (R-19)',
    async (grantType) => {
      const response = await service.post('/oauth2/token', { grant_type: grantType }, basic(client, CLIENT_SECRET));
      expect(response).toMatchObject({ status: 400, body: { error: 'unsupported_grant_type' } });
    },
  );

  test('rejects a grant type that the client is not registered for as unauthorized_client', async () => {
    const narrow = await service.client({ secret: CLIENT_SECRET, metadata: { grant_types: ['authorization_code'] } });
    const response = await service.refresh(narrow, 'mar_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz_Il6Hq1');
    expect(response).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } });
  });

  test('allows browser code of any origin to call it and read its errors', async () => {
    const response = await service.post('/oauth2/token', {});
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });
});

describe('token endpoint: client_credentials', () => {
  const issue = async (id: ClientId, fields: Readonly<Record<string, string>> = {}) =>
    await service.post('/oauth2/token', { grant_type: 'client_credentials', ...fields }, basic(id, CLIENT_SECRET));

  test('issues only an access token to a confidential client, in one statement', async () => {
    const response = await issue(client);
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 300 });
    expect(service.lastRequest()).toMatchObject({ queries: 1, requester: `oauth2-client:${client}` });
    const introspected = await service.introspect(member(response, 'access_token'));
    expect(introspected.body).toMatchObject({ active: true, client_id: client, sub: client });
    expect(introspected.body).not.toHaveProperty('username');
    expect(introspected.body).not.toHaveProperty('scope');
  });

  test('drops offline_access, and grants openid without effect', async () => {
    const response = await issue(client, { scope: 'openid offline_access' });
    expect(response.body).toMatchObject({ scope: 'openid' });
    expect(response.body).not.toHaveProperty('id_token');
  });

  test.each([
    'urn:chat:client:api:*',
    'urn:chat:client:device:ABCDEFGHIJ',
    'openid urn:synapse:admin:*',
    'urn:latchkey:admin',
    'openid nonsense',
    'a"b',
  ])('rejects the scope %s as invalid_scope', async (scope) => {
    expect(await issue(client, { scope })).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
  });

  test('grants the admin scope only to configured admin clients, in either spelling', async () => {
    for (const scope of ['urn:latchkey:admin', 'urn:mas:admin']) {
      expect((await issue(adminClient, { scope })).body).toMatchObject({ scope });
    }
    expect(await issue(adminClient, { scope: 'urn:synapse:admin:*' })).toMatchObject({ status: 400 });
  });

  test('rejects a scope that the client is not registered for', async () => {
    const narrow = await service.client({ secret: CLIENT_SECRET, metadata: { scope: 'openid' } });
    expect((await issue(narrow, { scope: 'openid' })).status).toBe(200);
    expect(await issue(narrow, { scope: 'openid email' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_scope' },
    });
  });

  test('rejects a public client as unauthorized_client (RFC 6749 4.4)', async () => {
    const open = await service.client({});
    const response = await service.post('/oauth2/token', { grant_type: 'client_credentials', client_id: open });
    expect(response).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } });
  });
});

describe('token endpoint: refresh_token', () => {
  const signedIn = async (): Promise<string> => {
    const { code } = await service.signIn(client, { scope: ['openid', 'urn:chat:client:api:*'] });
    return member(await service.exchange(client, code), 'refresh_token');
  };

  test('returns a new pair without an ID token for a chat client', async () => {
    const response = await service.refresh(client, await signedIn());
    expect(response.status).toBe(200);
    expect(Object.keys(response.body).sort()).toEqual([
      'access_token',
      'expires_in',
      'refresh_token',
      'scope',
      'token_type',
    ]);
    expect(service.lastRequest().queries).toBe(2);
  });

  test('authenticates a public client by its client_id', async () => {
    const open = await service.client({});
    const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    const { code } = await service.signIn(open, { codeVerifier: verifier });
    const exchanged = await service.post('/oauth2/token', {
      grant_type: 'authorization_code',
      client_id: open,
      code,
      code_verifier: verifier,
    });
    expect(exchanged.status).toBe(200);
    const refreshed = await service.post('/oauth2/token', {
      grant_type: 'refresh_token',
      client_id: open,
      refresh_token: member(exchanged, 'refresh_token'),
    });
    expect(refreshed.status).toBe(200);
  });

  test('narrows only the access token to a scope, in either spelling, and rejects a wider one (RFC 6749 6)', async () => {
    const refreshToken = await signedIn();
    expect(await service.refresh(client, refreshToken, { scope: 'openid email' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_scope' },
    });
    const narrowed = await service.refresh(client, refreshToken, { scope: 'urn:chat:org.chat.msc2967.client:api:*' });
    expect(narrowed.body['scope']).toBe('urn:chat:org.chat.msc2967.client:api:*');
    const next = await service.refresh(client, member(narrowed, 'refresh_token'));
    expect(next.body['scope']).toBe('openid urn:chat:client:api:*');
  });

  test('drops scopes that authorization requests drop, and rejects one never granted (RFC 6749 6)', async () => {
    const narrow = await service.client({ secret: CLIENT_SECRET, metadata: { scope: 'openid profile' } });
    const { code } = await service.signIn(narrow, { scope: ['openid'] });
    let refreshToken = member(await service.exchange(narrow, code), 'refresh_token');
    for (const scope of ['openid email', 'openid offline groups urn:example:unknown']) {
      const response = await service.refresh(narrow, refreshToken, { scope });
      expect(response).toMatchObject({ status: 200, body: { scope: 'openid' } });
      refreshToken = member(response, 'refresh_token');
    }
    for (const scope of ['openid profile', 'groups', 'email', 'openid "']) {
      expect(await service.refresh(narrow, refreshToken, { scope })).toMatchObject({
        status: 400,
        body: { error: 'invalid_scope' },
      });
    }
    expect((await service.refresh(narrow, refreshToken)).status).toBe(200);
  });

  test('ends the session on reuse after the successor was used, with a WARN line (S-38)', async () => {
    const refreshToken = await signedIn();
    const next = await service.refresh(client, refreshToken);
    await service.introspect(member(next, 'access_token'));
    service.clock.advanceSeconds(31);
    expect(await service.refresh(client, refreshToken)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    expect(service.logged('token.reuse').at(-1)).toMatchObject({ level: 'warn', fields: { client } });
    expect(await service.refresh(client, member(next, 'refresh_token'))).toMatchObject({ status: 400 });
    expect((await service.introspect(member(next, 'access_token'))).body).toEqual({ active: false });
  });

  test.each(['an access token', 'another kind of token', 'nothing'])('rejects %s as a refresh token', async (what) => {
    const { code } = await service.signIn(client);
    const accessToken = member(await service.exchange(client, code), 'access_token');
    const text = { 'an access token': accessToken, nothing: '' }[what] ?? 'mct_2KBKosbvwJFL6Ydbpc5FE1pFP4HZt4_0zXy8M';
    const response = await service.refresh(client, text);
    expect(response.status).toBe(400);
    expect(response.body['error']).toBe(text === '' ? 'invalid_request' : 'invalid_grant');
  });
});

test.each([
  ['/oauth2/token', 'grant_type=client_credentials', true],
  ['/oauth2/introspect', 'token=x', true],
  ['/oauth2/revoke', 'token=x', true],
  ['/oauth2/userinfo', 'access_token=', false],
])('%s ignores unknown parameters, even repeated ones (RFC 6749 3.2)', async (path, form, isClient) => {
  const { code } = await service.signIn(client, { scope: ['openid'] });
  const accessToken = member(await service.exchange(client, code), 'access_token');
  const unknown = '&audience=x&audience=y&prompt=none&acr_values=1&foo[]=1&foo[]=2&__proto__=x&state=%F0%9F%99%82';
  const body = `${form}${isClient ? '' : accessToken}${unknown}`;
  const response = await service.post(path, body, isClient ? basic(client, CLIENT_SECRET) : undefined);
  expect(response.status).toBe(200);
});

test('logs no token, code or secret that the endpoint received or issued (security 3.8)', async () => {
  const { code } = await service.signIn(client, { scope: ['openid'] });
  const response = await service.exchange(client, code);
  await service.introspect(member(response, 'access_token'));
  const text = service.lines.join('\n') + JSON.stringify(service.logged('auth.refused'));
  for (const secret of [code, CLIENT_SECRET, member(response, 'access_token'), member(response, 'refresh_token')]) {
    expect(text).not.toContain(secret);
  }
});

test('writes session activity in batches, outside of any request', async () => {
  const { code } = await service.signIn(client);
  const response = await service.exchange(client, code);
  await service.activity.flush();
  const [row] = await sql<{ seen: boolean; ip: string }>(
    db.database,
    `select s.last_active_at = $1::timestamptz as seen, host(s.last_active_ip) as ip
       from oauth2_sessions s join oauth2_access_tokens a on a.session_id = s.id order by a.id desc limit 1`,
    [new Date(service.clock.now())],
  );
  expect(response.status).toBe(200);
  expect(row).toEqual({ seen: true, ip: '127.0.0.1' });
});
