import { beforeAll, describe, expect, test } from 'vitest';
import { cleanUpAll } from '#test/support/clean-up.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { basic, CLIENT_SECRET, type MachineResponse, member, startOAuthService } from '#test/support/oauth-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ClientId } from '#vocabulary/ids.ts';

let client: ClientId;

const db = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startOAuthService(db.database));

beforeAll(async () => {
  client = await service.client();
});

async function signedIn(): Promise<{ accessToken: string; refreshToken: string }> {
  const { code } = await service.signIn(client);
  const response = await service.exchange(client, code);
  return { accessToken: member(response, 'access_token'), refreshToken: member(response, 'refresh_token') };
}

async function revoke(
  token: string,
  fields: Readonly<Record<string, string>> = {},
  by = client,
): Promise<MachineResponse> {
  return await service.post('/oauth2/revoke', { token, ...fields }, basic(by, CLIENT_SECRET));
}

async function isActive(token: string): Promise<boolean> {
  return (await service.introspect(token)).body['active'] === true;
}

describe('revocation', () => {
  test.each(['accessToken', 'refreshToken'] as const)(
    "ends the session of the caller's %s in two statements, with an empty 200 (RFC 7009 2.2)",
    async (kind) => {
      const tokens = await signedIn();
      const response = await revoke(tokens[kind]);
      expect(response).toMatchObject({ status: 200, text: '' });
      expect(service.lastRequest()).toMatchObject({ queries: 2, requester: `oauth2-client:${client}` });
      expect(await isActive(tokens.accessToken)).toBe(false);
      expect(await isActive(tokens.refreshToken)).toBe(false);
      expect((await service.refresh(client, tokens.refreshToken)).status).toBe(400);
      expect((await revoke(tokens[kind])).status).toBe(200);
    },
  );

  test('records the end of the session as an audit event with its reason', async () => {
    const { accessToken } = await signedIn();
    await revoke(accessToken);
    const [event] = await sql(
      db.database,
      `select detail, host(ip) as ip from audit_events where kind = 'session_ended' order by created_at desc, id desc limit 1`,
    );
    expect(event).toEqual({ detail: { reason: 'client_revoked' }, ip: '127.0.0.1' });
  });

  test('accepts an expired access token and a consumed refresh token', async () => {
    const first = await signedIn();
    service.clock.advanceSeconds(301);
    expect((await revoke(first.accessToken)).status).toBe(200);
    expect(await isActive(first.refreshToken)).toBe(false);
    const second = await signedIn();
    const next = await service.refresh(client, second.refreshToken);
    expect((await revoke(second.refreshToken)).status).toBe(200);
    expect(await isActive(member(next, 'access_token'))).toBe(false);
  });

  test('accepts a consumed refresh token whose row was deleted, from its own client only', async () => {
    const other = await service.client();
    const { refreshToken } = await signedIn();
    let newest = refreshToken;
    for (let count = 0; count < 3; count += 1) {
      newest = member(await service.refresh(client, newest), 'refresh_token');
    }
    service.clock.advanceSeconds(2 * 3600);
    await cleanUpAll({ database: db.database, clock: service.clock });
    const rows = await sql(
      db.database,
      'select from oauth2_refresh_tokens where token_hash = sha256($1::text::bytea)',
      [refreshToken],
    );
    expect(rows).toEqual([]);
    expect(await revoke(refreshToken, {}, other)).toMatchObject({ body: { error: 'unauthorized_client' } });
    expect(await isActive(newest)).toBe(true);
    expect(await revoke(refreshToken)).toMatchObject({ status: 200, text: '' });
    expect(await isActive(newest)).toBe(false);
  });

  test.each(['access_token', 'refresh_token'])('ignores a wrong hint %s (RFC 7009 2.1)', async (hint) => {
    for (const kind of ['accessToken', 'refreshToken'] as const) {
      const tokens = await signedIn();
      expect((await revoke(tokens[kind], { token_type_hint: hint })).status).toBe(200);
      expect(await isActive(tokens.accessToken)).toBe(false);
    }
  });

  test('returns unsupported_token_type for an unknown hint', async () => {
    const { accessToken } = await signedIn();
    expect(await revoke(accessToken, { token_type_hint: 'id_token' })).toMatchObject({
      status: 400,
      body: { error: 'unsupported_token_type' },
    });
    expect(await isActive(accessToken)).toBe(true);
  });

  test('rejects a token of another client as unauthorized_client, and keeps it valid (S-46)', async () => {
    const other = await service.client();
    const { accessToken } = await signedIn();
    expect(await revoke(accessToken, {}, other)).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } });
    expect(await isActive(accessToken)).toBe(true);
  });

  test.each([
    ['malformed', 'abc', 0],
    ['unknown', 'mat_0123456789ABCDEFGHIJabcdefghij_0WADMv', 1],
    ['of another kind', 'mct_2KBKosbvwJFL6Ydbpc5FE1pFP4HZt4_0zXy8M', 0],
  ])('returns 200 for a token that is %s', async (_, token, queries) => {
    expect(await revoke(token)).toMatchObject({ status: 200, text: '' });
    expect(service.lastRequest().queries).toBe(queries);
  });

  test('returns invalid_request without a token, and invalid_client without credentials', async () => {
    expect(await service.post('/oauth2/revoke', {}, basic(client, CLIENT_SECRET))).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
    const { accessToken } = await signedIn();
    expect(await service.post('/oauth2/revoke', { token: accessToken })).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    });
    expect(service.logged('auth.refused').at(-1)?.fields).toMatchObject({ code: 'missing_credentials' });
    expect(await isActive(accessToken)).toBe(true);
  });
});
