import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { insertClient, insertUser, sql } from '#test/support/fixtures.ts';
import { manage, REGISTRATION, registerManaged, signInWith } from '#test/support/managed-clients.ts';
import { basic, startOAuthService, TEST_ISSUER } from '#test/support/oauth-service.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ClientId } from '#vocabulary/ids.ts';

const UNKNOWN_TOKEN = 'mgt_0123456789ABCDEFGHIJabcdefghij_0nvfCE';

const db = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startOAuthService(db.database));

async function count(table: string, client: ClientId): Promise<number> {
  const [row] = await sql<{ count: number }>(
    db.database,
    `select count(*)::integer as count from ${table} where client_id = $1::uuid`,
    [toUuid(client)],
  );
  return row?.count ?? -1;
}

async function isActive(token: string, at = service): Promise<boolean> {
  return (await at.introspect(token)).body['active'] === true;
}

async function authenticates(id: ClientId, secret: string, at = service): Promise<boolean> {
  const form = { grant_type: 'client_credentials', scope: 'openid' };
  return (await at.post('/oauth2/token', form, basic(id, secret))).status === 200;
}

describe('a registration with a secret (RFC 7591 3.2.1)', () => {
  test('returns the management URL and token, of which only a hash is stored', async () => {
    const { id, token, registered } = await registerManaged(service);
    expect(registered['registration_client_uri']).toBe(`${TEST_ISSUER}oauth2/registration/${id}`);
    expect(token).toMatch(/^mgt_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}$/);
    const rows = await sql<{ text: string }>(db.database, 'select c::text as text from oauth2_clients c');
    expect(rows.filter(({ text }) => text.includes(token))).toEqual([]);
    expect(service.lines.filter((line) => line.includes(token))).toEqual([]);
  });

  test('without a secret offers no management, since the client is shared (oauth 4.5)', async () => {
    const body = { ...REGISTRATION, grant_types: ['authorization_code'], token_endpoint_auth_method: 'none' };
    const response = await service.request('/oauth2/registration', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(201);
    expect(Object.keys(response.body).filter((name) => name.startsWith('registration_'))).toEqual([]);
  });
});

describe('GET (RFC 7592 2.1)', () => {
  test('returns the registration in one statement', async () => {
    const { id, token, registered } = await registerManaged(service, { 'client_name#de': 'Verwaltet' });
    const response = await manage(service, 'GET', id, token);
    expect(response).toMatchObject({ status: 200, body: registered });
    expect(Object.keys(response.body).sort()).toEqual(Object.keys(registered).sort());
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(service.lastRequest()).toMatchObject({ queries: 1, requester: `oauth2-client:${id}` });
    expect(await manage(service, 'GET', id.toLowerCase(), token)).toMatchObject({ status: 200 });
  });
});

describe('PUT (RFC 7592 2.2)', () => {
  test('replaces all metadata, keeps secret and token, and takes effect at once', async () => {
    const { id, secret, token } = await registerManaged(service, { scope: 'openid', contacts: ['a@example.org'] });
    expect(await authenticates(id, secret)).toBe(true);
    const body = { ...REGISTRATION, client_id: id, client_secret: secret, grant_types: ['authorization_code'] };
    const response = await manage(service, 'PUT', id, token, body);
    expect(response).toMatchObject({
      status: 200,
      body: { client_id: id, client_secret: secret, registration_access_token: token, grant_types: body.grant_types },
    });
    expect(response.body).not.toHaveProperty('scope');
    expect(response.body).not.toHaveProperty('contacts');
    expect((await manage(service, 'GET', id, token)).body).toEqual(response.body);
    expect(await authenticates(id, secret)).toBe(false);
    const again = { ...REGISTRATION, client_id: id };
    expect((await manage(service, 'PUT', id, token, again)).body['client_secret']).toBe(secret);
    expect(await authenticates(id, secret)).toBe(true);
  });

  test('takes effect on another instance that has the client cached', async () => {
    const other = await startOAuthService(db.database, { clock: service.clock });
    try {
      const { id, secret, token } = await registerManaged(service);
      expect(await authenticates(id, secret, other)).toBe(true);
      await manage(service, 'PUT', id, token, { ...REGISTRATION, client_id: id, grant_types: ['authorization_code'] });
      expect(await authenticates(id, secret, other)).toBe(false);
    } finally {
      await other.close();
    }
  });

  test('cannot leave the sector: pairwise subjects stay unlinkable (OpenID Connect Core 8)', async () => {
    const application = await registerManaged(service, { subject_type: 'pairwise' });
    const { id, token } = application;
    const put = async (changes: object) =>
      await manage(service, 'PUT', id, token, { ...REGISTRATION, client_id: id, subject_type: 'pairwise', ...changes });
    const elsewhere = { client_uri: 'https://other.example/', redirect_uris: ['https://other.example/callback'] };
    for (const changes of [{ subject_type: 'public' }, { subject_type: undefined }, elsewhere]) {
      expect(await put(changes)).toMatchObject({ status: 400, body: { error: 'invalid_client_metadata' } });
    }
    const { accessToken } = await signInWith(service, application);
    const requested = await service.post('/oauth2/introspect', { token: accessToken }, basic(id, application.secret));
    expect(requested.body).toMatchObject({ active: true, sub: expect.stringMatching(/^[\w-]{43}$/) });
    expect((await put({ client_name: 'The same sector' })).status).toBe(200);
  });

  test('ends no session', async () => {
    const application = await registerManaged(service);
    const { id, token } = application;
    const { accessToken } = await signInWith(service, application);
    expect((await manage(service, 'PUT', id, token, { ...REGISTRATION, client_id: id })).status).toBe(200);
    expect(await isActive(accessToken)).toBe(true);
  });

  test.each([
    ['another name', { client_name: 'Your bank' }, 0],
    ['another logo', { logo_uri: 'https://app.example.org/bank.png' }, 0],
    ['a privacy policy', { policy_uri: 'https://app.example.org/privacy' }, 0],
    ['terms of service', { tos_uri: 'https://app.example.org/terms' }, 0],
    ['another redirect host', { redirect_uris: [...REGISTRATION.redirect_uris, 'https://b.app.example.org/cb'] }, 0],
    ['a name in another language', { 'client_name#de': 'Ihre Bank' }, 0],
    ['the same name', {}, 1],
  ])('with %s: asks users for consent again as far as they approved something else', async (_, changes, left) => {
    const { id, token } = await registerManaged(service);
    const user = await insertUser(db.database, service.clock.now());
    await sql(
      db.database,
      `insert into oauth2_consents (user_id, client_id, scope, created_at, updated_at)
       values ($1::uuid, $2::uuid, '{openid}', now(), now())`,
      [toUuid(user), toUuid(id)],
    );
    await manage(service, 'PUT', id, token, { ...REGISTRATION, client_id: id, ...changes });
    expect(await count('oauth2_consents', id)).toBe(left);
  });

  test('drops the secret for a method without one, and issues a new one for the way back', async () => {
    const { id, secret, token } = await registerManaged(service);
    const grant_types = ['authorization_code', 'refresh_token'];
    const open = { ...REGISTRATION, client_id: id, grant_types, token_endpoint_auth_method: 'none' };
    const opened = await manage(service, 'PUT', id, token, open);
    expect(opened.status).toBe(200);
    expect(opened.body).not.toHaveProperty('client_secret');
    // No other registration gets this client, even with the same metadata.
    const { client_id: _, ...same } = open;
    const stranger = await service.request('/oauth2/registration', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(same),
    });
    expect(stranger.body['client_id']).not.toBe(id);
    const closed = await manage(service, 'PUT', id, token, { ...REGISTRATION, client_id: id });
    expect(closed.body['client_secret']).toMatch(/^[\w-]{43}$/);
    expect(closed.body['client_secret']).not.toBe(secret);
    expect(await authenticates(id, secret)).toBe(false);
    expect(await authenticates(id, String(closed.body['client_secret']))).toBe(true);
  });

  test.each<[string, number, string, (id: string) => unknown]>([
    ['no JSON', 400, 'invalid_request', () => '{'],
    ['no object', 400, 'invalid_request', () => []],
    ['no client_id', 400, 'invalid_client_metadata', () => REGISTRATION],
    ['another client_id', 400, 'invalid_client_metadata', () => ({ ...REGISTRATION, client_id: newId(1) })],
    [
      'another secret',
      400,
      'invalid_client_metadata',
      (id) => ({ ...REGISTRATION, client_id: id, client_secret: 'mine' }),
    ],
    ['a wrong member', 400, 'invalid_client_metadata', (id) => ({ ...REGISTRATION, client_id: id, client_name: 1 })],
    [
      'a wrong redirect URI',
      400,
      'invalid_redirect_uri',
      (id) => ({ ...REGISTRATION, client_id: id, redirect_uris: ['http://x'] }),
    ],
    ...['registration_access_token', 'registration_client_uri', 'client_id_issued_at', 'client_secret_expires_at'].map(
      (name): [string, number, string, (id: string) => unknown] => [
        name,
        400,
        'invalid_client_metadata',
        (id) => ({ ...REGISTRATION, client_id: id, [name]: name.endsWith('at') ? 0 : 'x' }),
      ],
    ),
  ])('with %s is rejected: %i %s, and nothing changes', async (_, status, error, body) => {
    const { id, token, registered } = await registerManaged(service);
    const response = await manage(service, 'PUT', id, token, body(id));
    expect(response).toMatchObject({ status, body: { error, error_description: expect.any(String) } });
    expect((await manage(service, 'GET', id, token)).body).toEqual(registered);
  });
});

describe('DELETE (RFC 7592 2.3)', () => {
  test('ends all sessions of the client at once, on every instance, and deletes it', async () => {
    const other = await startOAuthService(db.database, { clock: service.clock });
    try {
      const application = await registerManaged(service);
      const { id, secret, token } = application;
      const tokens = [await signInWith(service, application), await signInWith(other, application)];
      const response = await manage(service, 'DELETE', id, token);
      expect(response).toMatchObject({ status: 204, text: '' });
      expect(service.lastRequest()).toMatchObject({ requester: `oauth2-client:${id}` });
      for (const { accessToken, refreshToken } of tokens) {
        expect(await isActive(accessToken, other)).toBe(false);
        expect(await isActive(refreshToken)).toBe(false);
        const refresh = { grant_type: 'refresh_token', refresh_token: refreshToken };
        const refused = await other.post('/oauth2/token', refresh, basic(id, secret));
        expect(refused).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
      }
      for (const table of ['oauth2_sessions', 'oauth2_authorization_grants', 'oauth2_consents']) {
        expect(await count(table, id), table).toBe(0);
      }
      expect(await manage(service, 'GET', id, token)).toMatchObject({ status: 401 });
      expect(await manage(service, 'DELETE', id, token)).toMatchObject({ status: 401 });
      expect(service.logged('client.deleted').at(-1)?.fields).toMatchObject({ client: id, sessions: 2 });
      const [event] = await sql(
        db.database,
        `select detail, host(ip) as ip from audit_events where kind = 'session_ended' and client_id = $1::uuid`,
        [toUuid(id)],
      );
      expect(event).toEqual({ detail: { reason: 'client_deleted', sessions: 2 }, ip: '127.0.0.1' });
    } finally {
      await other.close();
    }
  });

  test("makes another instance reject the client's requests, even ones that only store something", async () => {
    const other = await startOAuthService(db.database, { clock: service.clock });
    try {
      const { id, secret, token } = await registerManaged(service, {
        grant_types: [...REGISTRATION.grant_types, 'urn:ietf:params:oauth:grant-type:device_code'],
      });
      expect(await authenticates(id, secret, other)).toBe(true);
      await manage(service, 'DELETE', id, token);
      expect(await other.post('/oauth2/device', { scope: 'openid' }, basic(id, secret))).toMatchObject({ status: 401 });
      expect(await authenticates(id, secret, other)).toBe(false);
    } finally {
      await other.close();
    }
  });

  test('tells a device polling on another instance that its client is unknown, rather than its code', async () => {
    const other = await startOAuthService(db.database, { clock: service.clock });
    try {
      const grantType = 'urn:ietf:params:oauth:grant-type:device_code';
      const { id, secret, token } = await registerManaged(service, {
        grant_types: [...REGISTRATION.grant_types, grantType],
      });
      const { body } = await other.post('/oauth2/device', { scope: 'openid' }, basic(id, secret));
      await manage(service, 'DELETE', id, token);
      const poll = { grant_type: grantType, device_code: String(body['device_code']) };
      expect(await other.post('/oauth2/token', poll, basic(id, secret))).toMatchObject({
        status: 401,
        body: { error: 'invalid_client' },
      });
    } finally {
      await other.close();
    }
  });

  test('ends more sessions than fit into one statement', async () => {
    const application = await registerManaged(service);
    await signInWith(service, application);
    await sql(
      db.database,
      `insert into oauth2_sessions (id, client_id, scope, created_at)
       select gen_random_uuid(), $1::uuid, '{}', now() from generate_series(1, 5000)`,
      [toUuid(application.id)],
    );
    expect((await manage(service, 'DELETE', application.id, application.token)).status).toBe(204);
    expect(service.logged('client.deleted').at(-1)?.fields).toMatchObject({ sessions: 5001 });
    expect(await count('oauth2_sessions', application.id)).toBe(0);
  });
});

describe('pending browser requests', () => {
  const managed = {
    ...REGISTRATION,
    redirect_uris: ['https://app.example.org/old', 'https://app.example.org/kept'],
  };
  let first: TestService;
  let second: TestService;

  beforeAll(async () => {
    first = await startService();
    second = await startService({}, { like: first });
  });
  afterAll(async () => {
    await second.stop();
    await first.stop();
  });

  const register = async () => {
    const response = await send(first, 'POST', '', undefined, managed);
    return { id: String(response['client_id']), token: String(response['registration_access_token']) };
  };
  const send = async (at: TestService, method: string, id: string, token: string | undefined, body?: unknown) => {
    const response = await fetch(`${at.address}/oauth2/registration${id === '' ? '' : `/${id}`}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const result: Record<string, unknown> = text === '' ? {} : JSON.parse(text);
    return result;
  };
  const authorize = async (at: TestService, id: string, name: 'old' | 'kept') => {
    const query = new URLSearchParams({
      client_id: id,
      response_type: 'code',
      redirect_uri: `https://app.example.org/${name}`,
      scope: 'openid',
    });
    return await fetch(`${at.address}/authorize?${query}`, { redirect: 'manual' });
  };

  test('are canceled by PUT only if their redirect URI was removed (oauth 4.6)', async () => {
    const { id, token } = await register();
    for (const name of ['old', 'kept'] as const) expect((await authorize(first, id, name)).status).toBe(303);
    const redirect_uris = ['https://app.example.org/kept'];
    await send(first, 'PUT', id, token, { ...managed, client_id: id, redirect_uris });
    const grants = await sql(
      first.database,
      'select redirect_uri, cancel_reason from oauth2_authorization_grants where client_id = $1::uuid order by id',
      [toUuid(parseId<'client'>(id) ?? newId(1))],
    );
    expect(grants).toEqual([
      { redirect_uri: 'https://app.example.org/old', cancel_reason: 'redirect-uri-removed' },
      { redirect_uri: 'https://app.example.org/kept', cancel_reason: null },
    ]);
    expect((await authorize(first, id, 'old')).status).toBe(400);
  });

  test('are rejected with a page after DELETE, on an instance with the client cached', async () => {
    const { id, token } = await register();
    expect((await authorize(second, id, 'kept')).status).toBe(303);
    await send(first, 'DELETE', id, token);
    const refused = await authorize(second, id, 'kept');
    expect(refused.status).toBe(400);
    expect(refused.headers.get('location')).toBeNull();
    expect((await authorize(second, id, 'kept')).status).toBe(400);
  });
});

describe('access to the management of a client', () => {
  const responseTo = async (method: string, id: string, token: string | undefined) => {
    const response = await manage(service, method, id, token, method === 'PUT' ? { client_id: id } : undefined);
    return { status: response.status, text: response.text, challenge: response.headers.get('www-authenticate') };
  };

  test.each(['GET', 'PUT', 'DELETE'])(
    '%s: gives one response for wrong and foreign tokens, unknown and disabled clients (RFC 7592 2.1)',
    async (method) => {
      const [own, other, disabled] = [
        await registerManaged(service),
        await registerManaged(service),
        await registerManaged(service),
      ];
      const shared = await insertClient(db.database, service.keys, service.clock.now(), { isStatic: false });
      await sql(db.database, 'update oauth2_clients set disabled_at = created_at where id = $1::uuid', [
        toUuid(disabled.id),
      ]);
      const responses = [
        await responseTo(method, own.id, undefined),
        await responseTo(method, own.id, 'x'),
        await responseTo(method, own.id, UNKNOWN_TOKEN),
        await responseTo(method, own.id, other.token),
        await responseTo(method, own.id, own.secret),
        await responseTo(method, newId(1), own.token),
        await responseTo(method, disabled.id, disabled.token),
        await responseTo(method, shared, own.token),
      ];
      expect(responses[0]).toMatchObject({ status: 401 });
      expect(JSON.parse(responses[0]?.text ?? '')).toMatchObject({ error: 'invalid_token' });
      for (const response of responses) expect(response).toEqual(responses[0]);
      expect(responses[0]?.challenge).toMatch(/^Bearer .*error="invalid_token"/);
      expect((await manage(service, 'GET', own.id, own.token)).body).toEqual(own.registered);
    },
  );

  test.each(['GET', 'PUT', 'DELETE'])('%s of a configured client returns 403', async (method) => {
    const { token } = await registerManaged(service);
    const fixed = await service.client();
    const response = await manage(service, method, fixed, token, method === 'PUT' ? { client_id: fixed } : undefined);
    expect(response).toMatchObject({ status: 403, body: { error: 'access_denied' } });
    expect(await service.clients.find(fixed)).toBeDefined();
  });

  test('returns 404 for an invalid ID, and rejects a malformed token without a query', async () => {
    const { id, token } = await registerManaged(service);
    expect(await manage(service, 'GET', 'x', token)).toMatchObject({ status: 404, body: { error: 'not_found' } });
    for (const text of ['x', `${token}x`, token.replace('mgt_', 'mat_')]) {
      expect(await manage(service, 'GET', id, text)).toMatchObject({ status: 401 });
      expect(service.lastRequest().queries).toBe(0);
    }
  });

  test('in browsers: preflights list the methods, and errors are readable (oauth 18.3)', async () => {
    const { id } = await registerManaged(service);
    const preflight = await service.request(`/oauth2/registration/${id}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example.org', 'access-control-request-method': 'PUT' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, PUT, DELETE');
    const refused = await manage(service, 'DELETE', id, undefined);
    expect(refused).toMatchObject({ status: 401 });
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    expect(refused.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
    const post = await manage(service, 'POST', id, undefined);
    expect(post).toMatchObject({ status: 405 });
    expect(post.headers.get('allow')).toBe('GET, HEAD, PUT, DELETE, OPTIONS');
  });
});
