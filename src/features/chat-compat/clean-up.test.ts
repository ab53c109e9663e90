/** Cleanup of chat client sessions and tokens, and automatic session expiry (chat-compat 15). */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ChatClient, type ChatResponse, textOf } from '#test/support/chat-client.ts';
import { cleanUpAll } from '#test/support/clean-up.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';
const SECRET = 'the-secret-that-the-homeserver-shares';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const TTL = 3600;
const SETTINGS = {
  homeserver: { kind: 'none', homeserver: 'chat.example', secret: SECRET },
  rate_limiting: { login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT } },
};
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const clock = new FakeClock();
let chat: ChatClient;

const service = await sharedByTests(startService(SETTINGS, { clock }));

beforeAll(async () => {
  chat = new ChatClient(service);
  await service.registerUser('amira', PASSWORD);
  await service.registerUser('bela', PASSWORD);
});
// Removes the sessions of earlier tests, with their tokens and events.
beforeEach(async () => {
  await service.core.activity.flush();
  await sql(service.database, 'delete from compat_sessions');
  await sql(service.database, 'delete from audit_events');
});

async function begin(username = 'amira') {
  const { accessToken, refreshToken = '', deviceId } = await chat.login(username, PASSWORD, { refresh_token: true });
  return { access: accessToken, refresh: refreshToken, device: deviceId };
}

async function refresh(token: string): Promise<ChatResponse> {
  return await chat.post('/refresh', { refresh_token: token });
}

async function isActive(token: string): Promise<boolean> {
  const response = await fetch(`${service.address}/oauth2/introspect`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}`, 'x-mas-supports-device-id': '1' },
    body: new URLSearchParams({ token }),
  });
  const { active }: { active?: boolean } = await response.json();
  return active === true;
}

async function cleanUp(changes: Parameters<typeof cleanUpAll>[1] = {}): Promise<void> {
  await service.core.activity.flush();
  await cleanUpAll({ clock, database: service.database }, changes);
}

async function count(table: string): Promise<number> {
  const [row] = await sql<{ count: number }>(service.database, `select count(*)::integer as count from ${table}`);
  return row?.count ?? 0;
}

async function endings() {
  return await sql(
    service.database,
    `select s.device_id, s.finish_reason, e.detail from compat_sessions s
       left join audit_events e on e.session_id = s.id and e.kind = 'session_ended'
      where s.finished_at is not null order by s.device_id`,
  );
}

describe('access tokens', () => {
  test('are deleted a day after expiry, never without an expiry', async () => {
    const { refresh: token } = await begin();
    const { accessToken: endless } = await chat.login('amira', PASSWORD);
    clock.advanceSeconds(300 + DAY - 1);
    await cleanUp();
    expect(await count('compat_access_tokens')).toBe(2);
    clock.advanceSeconds(2);
    await cleanUp();
    expect(await count('compat_access_tokens')).toBe(1);
    clock.advanceSeconds(400 * DAY);
    await cleanUp();
    expect(await isActive(endless)).toBe(true);
    expect((await refresh(token)).status).toBe(200);
  });

  test('are deleted a day after rotation', async () => {
    const { refresh: token } = await begin();
    const first = await refresh(token);
    await refresh(textOf(first, 'refresh_token'));
    expect(await count('compat_access_tokens')).toBe(3);
    clock.advanceSeconds(DAY + MINUTE);
    await cleanUp();
    // The current token has expired too, but it is kept to detect a lost response.
    expect(await count('compat_access_tokens')).toBe(1);
  });
});

describe('refresh tokens', () => {
  test('are deleted a day after use, except the last one of each session', async () => {
    const { refresh: token } = await begin();
    const first = await refresh(token);
    const second = await refresh(textOf(first, 'refresh_token'));
    clock.advanceSeconds(DAY - MINUTE);
    await cleanUp();
    expect(await count('compat_refresh_tokens')).toBe(3);
    clock.advanceSeconds(2 * MINUTE);
    await cleanUp();
    expect(await count('compat_refresh_tokens')).toBe(2);
    clock.advanceSeconds(400 * DAY);
    await cleanUp();
    expect((await refresh(textOf(second, 'refresh_token'))).status).toBe(200);
  });

  test('of a lost response still return the same successor, however late the client retries', async () => {
    const { refresh: token } = await begin();
    const lost = await refresh(token);
    clock.advanceSeconds(40 * DAY);
    await cleanUp();
    const again = await refresh(token);
    expect([again.status, again.body['refresh_token']]).toEqual([200, textOf(lost, 'refresh_token')]);
    expect(await isActive(textOf(lost, 'access_token'))).toBe(false);
    expect(await isActive(textOf(again, 'access_token'))).toBe(true);
  });

  test('reused after their successor was used still end the session, however late', async () => {
    const { refresh: token, device } = await begin();
    const attacker = await refresh(token);
    await isActive(textOf(attacker, 'access_token'));
    clock.advanceSeconds(20 * DAY);
    await cleanUp();
    expect((await refresh(token)).status).toBe(401);
    expect(await endings()).toMatchObject([{ device_id: device, finish_reason: 'refresh_token_reused' }]);
  });

  test('older than the retained ones end the session as well', async () => {
    const { refresh: token, device } = await begin();
    const first = await refresh(token);
    const second = await refresh(textOf(first, 'refresh_token'));
    clock.advanceSeconds(2 * DAY);
    await cleanUp();
    expect((await refresh(token)).status).toBe(401);
    expect(await endings()).toMatchObject([{ device_id: device, finish_reason: 'refresh_token_reused' }]);
    expect((await refresh(textOf(second, 'refresh_token'))).status).toBe(401);
  });
});

describe('ended sessions', () => {
  test('are deleted after thirty days, with their tokens', async () => {
    const { access } = await begin();
    const other = await begin('bela');
    await chat.post('/logout', undefined, { authorization: `Bearer ${access}` });
    clock.advanceSeconds(30 * DAY - MINUTE);
    await cleanUp();
    expect(await count('compat_sessions')).toBe(2);
    clock.advanceSeconds(2 * MINUTE);
    await cleanUp();
    expect(await count('compat_sessions')).toBe(1);
    expect(await count('compat_refresh_tokens')).toBe(1);
    expect((await refresh(other.refresh)).status).toBe(200);
  });

  test('lose their IP addresses after thirty days without activity', async () => {
    await begin();
    const addresses = () => sql(service.database, 'select last_active_ip is not null as is_known from compat_sessions');
    clock.advanceSeconds(30 * DAY - MINUTE);
    await cleanUp();
    expect(await addresses()).toEqual([{ is_known: true }]);
    clock.advanceSeconds(2 * MINUTE);
    await cleanUp();
    expect(await addresses()).toEqual([{ is_known: false }]);
  });
});

describe('inactive sessions, with experimental.inactive_session_expiration', () => {
  const limited = { unusedCompatSessionsSeconds: TTL };
  // Activity is written with a delay of at most two minutes.
  const LONG = TTL + 3 * MINUTE;

  test('end with an event each, whether used once or never', async () => {
    const used = await begin();
    const never = await begin('bela');
    await sql(service.database, 'update compat_sessions set last_active_at = null where device_id = $1::text', [
      never.device,
    ]);
    clock.advanceSeconds(TTL);
    await cleanUp(limited);
    expect(await endings()).toEqual([]);
    clock.advanceSeconds(3 * MINUTE);
    await cleanUp(limited);
    const ended = [used, never].map(({ device }) => ({
      device_id: device,
      finish_reason: 'inactive',
      detail: { reason: 'inactive' },
    }));
    expect(await endings()).toEqual(ended.toSorted((a, b) => (a.device_id < b.device_id ? -1 : 1)));
    expect((await refresh(used.refresh)).body).toMatchObject({ errcode: 'M_UNKNOWN_TOKEN', soft_logout: false });
  });

  test('continue without the setting', async () => {
    const { refresh: token } = await begin();
    clock.advanceSeconds(400 * DAY);
    await cleanUp();
    expect((await refresh(token)).status).toBe(200);
  });

  test.each([
    ['the homeserver asks about their token', async ({ access }: { access: string }) => void (await isActive(access))],
    ['they refresh', async ({ refresh: token }: { refresh: string }) => void (await refresh(token))],
  ])('continue where %s', async (_, use) => {
    const session = await begin();
    clock.advanceSeconds(200);
    await use(session);
    clock.advanceSeconds(LONG - 200);
    await cleanUp(limited);
    expect(await endings()).toEqual([]);
    clock.advanceSeconds(200);
    await cleanUp(limited);
    expect(await endings()).toMatchObject([{ finish_reason: 'inactive' }]);
  });

  test('count a refresh at once, before its activity is written', async () => {
    const { refresh: token, device } = await begin();
    clock.advanceSeconds(LONG);
    await refresh(token);
    await sql(service.database, `update compat_sessions set last_active_at = null where device_id = $1::text`, [
      device,
    ]);
    await cleanUpAll({ clock, database: service.database }, limited);
    expect(await endings()).toEqual([]);
  });

  test('all end, even more than a hundred', async () => {
    await sql(
      service.database,
      `insert into compat_sessions (id, user_id, device_id, created_at)
       select gen_random_uuid(), u.id, 'device ' || g, $1::timestamptz
         from users u, generate_series(1, 250) g where u.username = 'amira'`,
      [new Date(clock.now())],
    );
    clock.advanceSeconds(LONG);
    const { device } = await begin();
    await cleanUp(limited);
    expect(await sql(service.database, 'select device_id from compat_sessions where finished_at is null')).toEqual([
      { device_id: device },
    ]);
  });
});
