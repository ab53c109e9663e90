/** Tokens that a homeserver issued before it delegated authentication (chat-compat 10.3). */
import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ChatClient, type ChatResponse, textOf } from '#test/support/chat-client.ts';
import { cleanUpAll } from '#test/support/clean-up.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const SECRET = 'the-secret-that-the-homeserver-shares';
const SETTINGS = { homeserver: { kind: 'none', homeserver: 'chat.example', secret: SECRET } };
const DAY_SECONDS = 86_400;

const clock = new FakeClock();
let chat: ChatClient;
let user: string;
let session: string;

const service = await sharedByTests(startService(SETTINGS, { clock }));
const other = await sharedByTests(startService(SETTINGS, { clock, like: service }));

beforeAll(async () => {
  chat = new ChatClient(service);
  user = await service.registerUser('moved', 'correct horse battery staple');
});
beforeEach(async () => {
  const [row] = await sql<{ id: string }>(
    service.database,
    `insert into compat_sessions (id, user_id, device_id, created_at)
     select gen_random_uuid(), id, $1::text, $2::timestamptz from users where username = 'moved' returning id`,
    [randomBytes(6).toString('hex'), new Date(clock.now())],
  );
  session = row?.id ?? '';
});

function letters(count: number): string {
  return randomBytes(count).toString('hex').slice(0, count);
}

function synapseToken(prefix: 'syt' | 'syr'): string {
  return `${prefix}_bW92ZWQ_${letters(20)}_${letters(6)}`;
}

function macaroon(): string {
  return Buffer.from(`001alocation chat.example\n0013identifier ${letters(40)}\n`).toString('base64url');
}

async function importAccess(token: string, expiresInSeconds?: number): Promise<string> {
  const [row] = await sql<{ id: string }>(
    service.database,
    `insert into compat_access_tokens (id, session_id, token_hash, created_at, expires_at)
     values (gen_random_uuid(), $1::uuid, sha256($2::text::bytea), $3::timestamptz, $4::timestamptz) returning id`,
    [
      session,
      token,
      new Date(clock.now()),
      expiresInSeconds === undefined ? null : new Date(clock.now() + expiresInSeconds * 1000),
    ],
  );
  return row?.id ?? '';
}

async function importRefresh(token: string, accessTokenId: string | null = null): Promise<void> {
  await sql(
    service.database,
    `insert into compat_refresh_tokens (id, session_id, token_hash, access_token_id, created_at)
     values (gen_random_uuid(), $1::uuid, sha256($2::text::bytea), $3::uuid, $4::timestamptz)`,
    [session, token, accessTokenId, new Date(clock.now())],
  );
}

async function introspect(token: string, fields: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${service.address}/oauth2/introspect`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}`, 'x-mas-supports-device-id': '1' },
    body: new URLSearchParams({ token, ...fields }),
  });
  expect(response.status).toBe(200);
  const body: Record<string, unknown> = await response.json();
  return body;
}

async function refresh(token: string, through = chat): Promise<ChatResponse> {
  return await through.post('/refresh', { refresh_token: token });
}

function refusal({ status, body }: ChatResponse): unknown[] {
  return [status, body['errcode'], body['soft_logout']];
}

const UNKNOWN = [401, 'M_UNKNOWN_TOKEN', false];

describe('an imported access token', () => {
  test.each([
    ['of Synapse', () => synapseToken('syt')],
    ['that is a macaroon', macaroon],
  ])('%s is valid, and can sign out', async (_, make) => {
    const token = make();
    expect(await introspect(token)).toEqual({ active: false });
    await importAccess(token);
    expect(await introspect(token, { token_type_hint: 'access_token' })).toMatchObject({
      active: true,
      username: 'moved',
      sub: user,
      client_id: 'legacy',
      token_type: 'Bearer',
    });
    expect(await introspect(token, { token_type_hint: 'refresh_token' })).toEqual({ active: false });
    const headers = { authorization: `Bearer ${token}` };
    expect((await chat.post('/logout', undefined, headers)).status).toBe(200);
    expect(await introspect(token)).toEqual({ active: false });
    expect(refusal(await chat.post('/logout', undefined, headers))).toEqual(UNKNOWN);
  });

  test('may be imported without a device', async () => {
    await sql(service.database, 'update compat_sessions set device_id = null where id = $1::uuid', [session]);
    const token = synapseToken('syt');
    await importAccess(token);
    const body = await introspect(token);
    expect(body).toMatchObject({ active: true });
    expect(body).not.toHaveProperty('device_id');
  });

  test('expires at its time', async () => {
    const token = synapseToken('syt');
    await importAccess(token, 60);
    expect(await introspect(token)).toMatchObject({ active: true, expires_in: 60 });
    clock.advanceSeconds(60);
    expect(await introspect(token)).toEqual({ active: false });
  });

  test('cannot be used to refresh, and a refresh token cannot sign out', async () => {
    const [access, refreshing] = [synapseToken('syt'), synapseToken('syr')];
    await importAccess(access);
    await importRefresh(refreshing);
    expect(refusal(await refresh(access))).toEqual(UNKNOWN);
    expect(service.requestLines().at(-1)?.queries).toBe(0);
    expect(refusal(await chat.post('/logout', undefined, { authorization: `Bearer ${refreshing}` }))).toEqual(UNKNOWN);
    expect(service.requestLines().at(-1)?.queries).toBe(0);
    expect(await introspect(refreshing)).toMatchObject({ active: true, token_type: 'refresh_token' });
  });

  test('with an invalid format takes no query', async () => {
    for (const token of ['syt_', 'syt_bW92ZWQ_x', 'syr_bW92ZWQ__', `syt_${'a'.repeat(500)}_b_abcdef`, 'MDAxYWxvY2F0']) {
      expect(await introspect(token), token).toEqual({ active: false });
      expect(service.requestLines().at(-1)?.queries, token).toBe(0);
      await chat.post('/logout', undefined, { authorization: `Bearer ${token}` });
      expect(service.requestLines().at(-1)?.queries, token).toBe(0);
      expect(refusal(await refresh(token)), token).toEqual(UNKNOWN);
      expect(service.requestLines().at(-1)?.queries, token).toBe(0);
    }
  });
});

describe('an imported refresh token', () => {
  async function imported(): Promise<{ access: string; token: string }> {
    const [access, token] = [synapseToken('syt'), synapseToken('syr')];
    await importRefresh(token, await importAccess(access, 300));
    return { access, token };
  }

  test('is exchanged for a new pair, which follows the usual rules', async () => {
    const { access, token } = await imported();
    const first = await refresh(token);
    expect(first.body).toEqual({
      access_token: expect.stringMatching(/^mct_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}$/),
      refresh_token: expect.stringMatching(/^mcr_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}$/),
      expires_in_ms: 300_000,
    });
    expect(service.requestLines().at(-1)).toMatchObject({ requester: `user:${user}`, queries: 2 });
    expect(await introspect(access)).toEqual({ active: false });
    const second = await refresh(textOf(first, 'refresh_token'));
    expect(second.status).toBe(200);
    expect(await introspect(textOf(second, 'access_token'))).toMatchObject({ active: true });
    // Two generations old.
    expect(refusal(await refresh(token))).toEqual(UNKNOWN);
    expect(await introspect(textOf(second, 'access_token'))).toEqual({ active: false });
  });

  test('whose response was lost returns the same refresh token', async () => {
    const { token } = await imported();
    const first = await refresh(token);
    clock.advanceSeconds(20);
    expect((await refresh(token)).body).toEqual({ ...first.body, expires_in_ms: 280_000 });
    clock.advanceSeconds(20);
    const late = await refresh(token);
    expect(late.body['refresh_token']).toBe(first.body['refresh_token']);
    expect(late.body['access_token']).not.toBe(first.body['access_token']);
    expect(await introspect(textOf(first, 'access_token'))).toEqual({ active: false });
  });

  test('reused after its successor was used ends the session', async () => {
    const { token } = await imported();
    const attacker = await refresh(token);
    await introspect(textOf(attacker, 'access_token'));
    clock.advanceSeconds(31);
    expect(refusal(await refresh(token))).toEqual(UNKNOWN);
    expect(await introspect(textOf(attacker, 'access_token'))).toEqual({ active: false });
    expect(service.logLines().some((line) => line.includes('token.reuse'))).toBe(true);
  });

  test('is ignored after another token of its session was exchanged', async () => {
    const [{ token }, { token: another }] = [await imported(), await imported()];
    const first = await refresh(token);
    expect(refusal(await refresh(another))).toEqual(UNKNOWN);
    expect(service.requestLines().at(-1)?.queries).toBe(1);
    expect(await introspect(another)).toEqual({ active: false });
    expect((await refresh(textOf(first, 'refresh_token'))).status).toBe(200);
  });

  test('and a second one of the same session, used concurrently, yield one pair (S-42)', async () => {
    const elsewhere = new ChatClient(other);
    for (let round = 0; round < 20; round += 1) {
      const [{ token }, { token: another }] = [await imported(), await imported()];
      const responses = await Promise.all([refresh(token), refresh(another, elsewhere)]);
      expect(responses.map(({ status }) => status).toSorted(), `round ${round}`).toEqual([200, 401]);
      const pair = responses.find(({ status }) => status === 200);
      const goesOn = pair === undefined ? undefined : await refresh(textOf(pair, 'refresh_token'));
      expect(goesOn?.status, `round ${round}`).toBe(200);
      await sql(service.database, 'update compat_sessions set refresh_family = null where id = $1::uuid', [session]);
    }
  });

  test("that arrives late does not replace the session's current tokens", async () => {
    const { token } = await imported();
    const pair = await refresh(token);
    const { token: late } = await imported();
    expect(refusal(await refresh(late))).toEqual(UNKNOWN);
    expect((await refresh(textOf(pair, 'refresh_token'))).status).toBe(200);
  });

  test('of an unknown or ended session is unknown', async () => {
    expect(refusal(await refresh(synapseToken('syr')))).toEqual(UNKNOWN);
    const { token } = await imported();
    await sql(service.database, 'update compat_sessions set finished_at = $2::timestamptz where id = $1::uuid', [
      session,
      new Date(clock.now()),
    ]);
    expect(refusal(await refresh(token))).toEqual(UNKNOWN);
  });

  test('in twenty rounds returns one pair for all concurrent requests, on two instances', async () => {
    const clients = [chat, new ChatClient(other), chat, new ChatClient(other)];
    for (let round = 0; round < 20; round += 1) {
      const { token } = await imported();
      const responses = await Promise.all(clients.map((client) => refresh(token, client)));
      const pairs = responses.map(({ status, body }) => [status, body['access_token'], body['refresh_token']].join());
      expect([round, new Set(pairs).size, responses[0]?.status]).toEqual([round, 1, 200]);
      await sql(service.database, 'update compat_sessions set refresh_family = null where id = $1::uuid', [session]);
    }
  });

  test('is unknown once it was exchanged and cleaned up', async () => {
    const { token } = await imported();
    const first = await refresh(token);
    await refresh(textOf(first, 'refresh_token'));
    clock.advanceSeconds(2 * DAY_SECONDS);
    await cleanUpAll({ clock, database: service.database });
    expect(refusal(await refresh(token))).toEqual(UNKNOWN);
  });
});
