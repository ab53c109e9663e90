import { createLocalJWKSet, jwtVerify } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { toUuid } from '#platform/base/ids.ts';

import { openDatabase } from '#platform/postgres/open-database.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { insertBrowserSession, insertFulfilledGrant, insertUser, sql } from '#test/support/fixtures.ts';
import { basic, CLIENT_SECRET, member, startOAuthService, TEST_ISSUER } from '#test/support/oauth-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';
import type { ClientId } from '#vocabulary/ids.ts';

const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const DEVICE_SCOPE = ['urn:chat:client:api:*', 'urn:chat:client:device:ABCDEFGHIJ'];
let client: ClientId;

const db = await sharedByTests(createTestDatabase());
const secondDatabase = await sharedByTests(
  openDatabase({
    connection: parseConnectionUri(db.connectionString),
    log: silentLog,
    clock: { now: () => Date.now() },
  }),
);
const service = await sharedByTests(startOAuthService(db.database));
const second = await sharedByTests(startOAuthService(secondDatabase, { clock: service.clock }));

beforeAll(async () => {
  client = await service.client();
});

describe('token endpoint: authorization_code', () => {
  test('exchanges a code and verifier for tokens and an ID token in two statements (OpenID Connect Core 3.1.3.3)', async () => {
    const { code, userId } = await service.signIn(client, {
      scope: ['openid', 'profile'],
      nonce: 'a nonce',
      codeVerifier: VERIFIER,
    });
    const response = await service.exchange(client, code, { code_verifier: VERIFIER });
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ token_type: 'Bearer', expires_in: 300, scope: 'openid profile' });
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('pragma')).toBe('no-cache');
    const line = service.lastRequest();
    expect(line.queries).toBe(2);
    expect(line.requester).toBe(`oauth2-client:${client}`);

    const { payload, protectedHeader } = await jwtVerify(
      member(response, 'id_token'),
      createLocalJWKSet({ keys: [...service.publicJwks.keys] }),
      { issuer: TEST_ISSUER, audience: client, currentDate: new Date(service.clock.now()) },
    );
    expect(protectedHeader).toMatchObject({ alg: 'RS256', typ: 'JWT' });
    expect(payload).toMatchObject({
      sub: userId,
      nonce: 'a nonce',
      acr: 'urn:latchkey:acr:1',
      amr: ['pwd'],
      auth_time: Math.floor(service.clock.now() / 1000),
    });
    const introspected = await service.introspect(member(response, 'access_token'));
    expect(introspected.body).toMatchObject({ active: true, sub: userId, client_id: client });
    const [session] = await sql<{ id: string }>(
      db.database,
      'select oauth2_session_id as id from oauth2_authorization_grants where code_hash is not null and nonce = $1::text',
      ['a nonce'],
    );
    expect(toUuid(String(payload['sid']) as ClientId)).toBe(session?.id);
  });

  test('issues no ID token without openid, and no refresh token without the refresh_token grant type', async () => {
    const narrow = await service.client({ secret: CLIENT_SECRET, metadata: { grant_types: ['authorization_code'] } });
    const { code } = await service.signIn(narrow, { scope: ['urn:chat:client:api:*'] });
    const response = await service.exchange(narrow, code);
    expect(response.status).toBe(200);
    expect(Object.keys(response.body).sort()).toEqual(['access_token', 'expires_in', 'scope', 'token_type']);
  });

  test('keeps the code when no key can sign the ID token, which is a server error', async () => {
    const odd = await service.client({ secret: CLIENT_SECRET, metadata: { id_token_signed_response_alg: 'ES256' } });
    const { code } = await service.signIn(odd, { scope: ['openid'] });
    expect(await service.exchange(odd, code)).toMatchObject({ status: 500, body: { error: 'server_error' } });
    await sql(
      db.database,
      `update oauth2_clients set version = 2, metadata = metadata || '{"id_token_signed_response_alg": "RS256"}'
        where id = $1::uuid`,
      [toUuid(odd)],
    );
    expect((await service.exchange(odd, code)).status).toBe(200);
  });

  test('rejects a malformed code without a query', async () => {
    const response = await service.exchange(client, 'no code');
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(service.lastRequest().queries).toBe(0);
  });

  test('row 1: an unknown code is rejected', async () => {
    const response = await service.exchange(client, 'A'.repeat(43));
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  test('row 2: a code sent by another client is rejected and stays valid for its own (RFC 6749 4.1.3)', async () => {
    const attacker = await service.client();
    const { code } = await service.signIn(client);
    const response = await service.exchange(attacker, code);
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(service.logged('auth.refused').at(-1)?.fields).toMatchObject({ code: 'other_client', client: attacker });
    expect((await service.exchange(client, code)).status).toBe(200);
  });

  test('row 3: a resend within 20 s is rejected and keeps the session; later it ends the session', async () => {
    const { code } = await service.signIn(client);
    const first = await service.exchange(client, code);
    service.clock.advanceSeconds(1);
    expect(await service.exchange(client, code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await service.introspect(member(first, 'access_token'))).body).toMatchObject({ active: true });
    service.clock.advanceSeconds(24);
    expect(await service.exchange(client, code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await service.introspect(member(first, 'access_token'))).body).toEqual({ active: false });
    expect(await service.refresh(client, member(first, 'refresh_token'))).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    expect(service.logged('token.reuse').at(-1)).toMatchObject({ level: 'warn', fields: { client } });
    const events = await sql<{ reason: string }>(
      db.database,
      `select detail ->> 'reason' as reason from audit_events where kind = 'session_ended' order by created_at desc, id desc limit 1`,
    );
    expect(events).toEqual([{ reason: 'code_reused' }]);
  });

  test.each([
    ['the same verifier leaves the session alone', { code_verifier: VERIFIER }, true],
    ['another verifier ends the session (RFC 6749 4.1.2)', { code_verifier: 'x'.repeat(43) }, false],
    ['no verifier ends the session (RFC 6749 4.1.2)', {}, false],
  ])('row 3: a code resent at once with %s', async (_, proof, isActive) => {
    const { code } = await service.signIn(client, { codeVerifier: VERIFIER });
    const first = await service.exchange(client, code, { code_verifier: VERIFIER });
    service.clock.advanceSeconds(1);
    expect(await service.exchange(client, code, proof)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    expect((await service.introspect(member(first, 'access_token'))).body['active']).toBe(isActive);
    const refreshed = await service.refresh(client, member(first, 'refresh_token'));
    expect(refreshed.status).toBe(isActive ? 200 : 400);
  });

  test('row 4: a canceled grant is rejected', async () => {
    const { code, grantId } = await service.signIn(client);
    await sql(db.database, 'update oauth2_authorization_grants set cancelled_at = now() where id = $1::uuid', [
      toUuid(grantId),
    ]);
    expect(await service.exchange(client, code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  test('row 5: a code is valid for its lifetime and not a second longer', async () => {
    const { code: inTime } = await service.signIn(client);
    const { code: late } = await service.signIn(client);
    service.clock.advanceSeconds(60);
    expect((await service.exchange(client, inTime)).status).toBe(200);
    service.clock.advanceSeconds(1);
    expect(await service.exchange(client, late)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  test.each([
    ['another address', true, undefined, 'https://app.example.org/other', 400],
    ['no address although one was sent, without PKCE', true, undefined, '', 400],
    ['no address although one was sent, with PKCE', true, VERIFIER, '', 200],
    ['no address when none was sent', false, undefined, '', 200],
    ['the same address', true, undefined, 'https://app.example.org/callback', 200],
  ])('row 6: redirect_uri, %s', async (_, redirectUriSent, codeVerifier, redirect_uri, status) => {
    const { code } = await service.signIn(client, {
      redirectUriSent,
      ...(codeVerifier === undefined ? {} : { codeVerifier }),
    });
    const fields = codeVerifier === undefined ? { redirect_uri } : { redirect_uri, code_verifier: codeVerifier };
    const response = await service.exchange(client, code, fields);
    expect(response.status).toBe(status);
    if (status === 400) expect(response.body['error']).toBe('invalid_grant');
  });

  test('row 7: a verifier without a challenge, and a challenge without a verifier, are rejected (RFC 9700 4.8.2)', async () => {
    const { code: plain } = await service.signIn(client);
    expect(await service.exchange(client, plain, { code_verifier: VERIFIER })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    const { code: bound } = await service.signIn(client, { codeVerifier: VERIFIER });
    for (const fields of [{}, { code_verifier: '' }]) {
      expect(await service.exchange(client, bound, fields)).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      });
    }
    expect((await service.exchange(client, bound, { code_verifier: VERIFIER })).status).toBe(200);
  });

  test.each([
    ['wrong', 'x'.repeat(43)],
    ['of 42 characters', VERIFIER.slice(1)],
    ['of 129 characters', 'x'.repeat(129)],
    ['with padding', `${VERIFIER}=`],
  ])('row 8: a verifier that is %s is rejected, and cancels the grant for everyone', async (_, verifier) => {
    const { code } = await service.signIn(client, { codeVerifier: VERIFIER });
    const response = await service.exchange(client, code, { code_verifier: verifier });
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(response.body['error_description']).toContain('PKCE');
    expect(await service.exchange(client, code, { code_verifier: VERIFIER })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
  });

  test('rejects a repeated parameter', async () => {
    const { code } = await service.signIn(client, { codeVerifier: VERIFIER });
    const form = `grant_type=authorization_code&code=${code}&code_verifier=${VERIFIER}&code_verifier=${VERIFIER}`;
    const response = await service.post('/oauth2/token', form, basic(client, CLIENT_SECRET));
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  test.each([
    ['the browser session ended', 'update user_sessions set finished_at = now() where id = $1::uuid', 'session'],
    ['the user was locked', 'update users set locked_at = now() where id = $1::uuid', 'user'],
    ['the user was deactivated', 'update users set deactivated_at = now() where id = $1::uuid', 'user'],
  ])('row 10: once %s the code is rejected and its grant canceled', async (_, text, whose) => {
    const { code, grantId, userId, browserSessionId } = await service.signIn(client);
    await sql(db.database, text, [toUuid(whose === 'user' ? userId : browserSessionId)]);
    expect(await service.exchange(client, code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    const [grant] = await sql<{ cancelled: boolean }>(
      db.database,
      'select cancelled_at is not null as cancelled from oauth2_authorization_grants where id = $1::uuid',
      [toUuid(grantId)],
    );
    expect(grant).toEqual({ cancelled: true });
  });

  test('row 11: an admin scope is rejected when the user has lost the right to it', async () => {
    const scope = ['openid', 'urn:latchkey:admin'];
    const allowed = await service.signIn(client, { scope, user: { canRequestAdmin: true } });
    expect((await service.exchange(client, allowed.code)).status).toBe(200);
    const named = await service.signIn(client, { scope, user: { username: 'operator' } });
    expect((await service.exchange(client, named.code)).status).toBe(200);
    const { code } = await service.signIn(client, { scope });
    expect(await service.exchange(client, code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  test('row 12: a resource that was not granted is rejected with invalid_target (RFC 8707 2)', async () => {
    const { code } = await service.signIn(client);
    expect(await service.exchange(client, code, { resource: 'https://api.example.org/' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    });
  });

  test('rejects a disabled client although its record is cached', async () => {
    const deleted = await service.client();
    const { code } = await service.signIn(deleted);
    await sql(db.database, 'update oauth2_clients set disabled_at = now() where id = $1::uuid', [toUuid(deleted)]);
    expect(await service.exchange(deleted, code)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  test('reports a deleted client as unknown although its record is cached', async () => {
    const deleted = await service.client();
    const { code } = await service.signIn(deleted);
    const id = toUuid(deleted);
    await sql(db.database, `delete from oauth2_authorization_grants where client_id = '${id}'`);
    await sql(db.database, `delete from oauth2_clients where id = '${id}'`);
    expect(await service.exchange(deleted, code)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  test('reloads and serves a client that changed since it was cached', async () => {
    const changed = await service.client();
    const { code } = await service.signIn(changed);
    await sql(db.database, 'update oauth2_clients set version = version + 1 where id = $1::uuid', [toUuid(changed)]);
    expect((await service.exchange(changed, code)).status).toBe(200);
  });
});

describe('token endpoint: devices', () => {
  test("ends the first of two sessions of one user and device, but not another user's with that device name", async () => {
    const userId = await insertUser(db.database, service.clock.now());
    const browserSessionId = await insertBrowserSession(db.database, userId, service.clock.now());
    const grant = { clientId: client, browserSessionId, scope: DEVICE_SCOPE };
    const older = await insertFulfilledGrant(db.database, service.clock.now(), grant);
    const newer = await insertFulfilledGrant(db.database, service.clock.now(), grant);
    const stranger = await service.signIn(client, { scope: DEVICE_SCOPE });
    const first = await service.exchange(client, older.code);
    const others = await service.exchange(client, stranger.code);
    const replacing = await service.exchange(client, newer.code);
    // A transaction locks the user.
    expect(service.lastRequest().queries).toBe(4);
    expect((await service.introspect(member(first, 'access_token'))).body).toEqual({ active: false });
    expect(await service.refresh(client, member(first, 'refresh_token'))).toMatchObject({ status: 400 });
    for (const response of [others, replacing]) {
      expect((await service.introspect(member(response, 'access_token'))).body).toMatchObject({
        active: true,
        device_id: 'ABCDEFGHIJ',
      });
    }
  });

  test('answers four concurrent requests for one device, and leaves one session', async () => {
    const userId = await insertUser(db.database, service.clock.now());
    const browserSessionId = await insertBrowserSession(db.database, userId, service.clock.now());
    const grants = await Promise.all(
      Array.from({ length: 4 }, () =>
        insertFulfilledGrant(db.database, service.clock.now(), {
          clientId: client,
          browserSessionId,
          scope: DEVICE_SCOPE,
        }),
      ),
    );
    const responses = await Promise.all(
      grants.map(({ code }, index) => (index % 2 === 0 ? service : second).exchange(client, code)),
    );
    expect(responses.map((response) => response.status)).toEqual(responses.map(() => 200));
    const [left] = await sql<{ live: number }>(
      db.database,
      'select count(*)::int as live from oauth2_sessions where user_id = $1::uuid and finished_at is null',
      [toUuid(userId)],
    );
    expect(left).toEqual({ live: 1 });
  });
});

describe('token endpoint: races for one code', () => {
  test('fifty concurrent exchanges on two instances: exactly one 200, one session and one pair (RFC 6749 4.1.2)', async () => {
    const { code, userId } = await service.signIn(client);
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? service : second).exchange(client, code)),
    );
    expect(responses.filter((response) => response.status === 200)).toHaveLength(1);
    const losers = responses.filter((response) => response.status !== 200);
    expect(losers.every((response) => response.status === 400 && response.body['error'] === 'invalid_grant')).toBe(
      true,
    );
    const [rows] = await sql<{ sessions: number; access: number; refresh: number }>(
      db.database,
      `select count(distinct s.id)::int as sessions, count(distinct a.id)::int as access, count(distinct r.id)::int as refresh
         from oauth2_sessions s
         left join oauth2_access_tokens a on a.session_id = s.id
         left join oauth2_refresh_tokens r on r.session_id = s.id
        where s.user_id = $1::uuid`,
      [toUuid(userId)],
    );
    expect(rows).toEqual({ sessions: 1, access: 1, refresh: 1 });
  });

  test('an exchange concurrent with a deactivation leaves no live session', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { code, userId } = await service.signIn(client);
      const [response] = await Promise.all([
        service.exchange(client, code),
        secondDatabase.transaction(async (transaction) => {
          await sql(transaction, 'update users set deactivated_at = now() where id = $1::uuid', [toUuid(userId)]);
          await sql(
            transaction,
            'update oauth2_sessions set finished_at = now() where user_id = $1::uuid and finished_at is null',
            [toUuid(userId)],
          );
        }),
      ]);
      expect([200, 400]).toContain(response.status);
      const live = await sql(
        db.database,
        'select from oauth2_sessions where user_id = $1::uuid and finished_at is null',
        [toUuid(userId)],
      );
      expect(live).toHaveLength(0);
    }
  });
});
