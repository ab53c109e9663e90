/** Clocks that are set, and instances whose clocks differ (security F-14, F-15). */
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createJobWorkers } from '#app/jobs.ts';
import { DatabaseWatch } from '#app/service/watch-database.ts';
import { type Clock, SteadyClock } from '#platform/base/clock.ts';
import { packageRoot } from '#platform/base/package-root.ts';

import { openDatabase } from '#platform/postgres/open-database.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { parseConnectionUri } from '../support/connection-uri.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sql } from '../support/fixtures.ts';
import { member, type OAuthService, startOAuthService } from '../support/oauth-service.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { until } from '../support/route-server.ts';
import { startService, type TestService } from '../support/service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const SECRET = 'a-secret-of-at-least-16-characters';
const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:${SECRET}`).toString('base64')}`;
const SETTINGS = {
  clients: [{ client_id: CLIENT_ID, client_auth_method: 'client_secret_basic', client_secret: SECRET }],
};
const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000];

/** A machine's clock that a test can set. */
class MachineClock implements Clock {
  aheadMs = 0;

  now(): number {
    return Date.now() + this.aheadMs;
  }
}
/** The clock of the second instance's machine. The other machine and the database have the right time. */
const clock = new MachineClock();
/** The steady clock that the second instance uses. */
let steady = new SteadyClock(clock);
const log = new RecordingLog();
let watch: DatabaseWatch;

const first = await sharedByTests(startService(SETTINGS));
const second = await sharedByTests(
  startService(SETTINGS, { clock: { now: () => steady.now() }, like: first, expectedErrors: [' 503 '] }),
);
const database = await sharedByTests(
  openDatabase({ connection: parseConnectionUri(first.connectionString), log, clock }),
);

beforeEach(() => newWatch());
afterEach(() => {
  clock.aheadMs = 0;
  log.lines.length = 0;
  log.written.length = 0;
});

/** Creates the watch of a process that has just started. */
function newWatch(monotonic = () => performance.now()): void {
  const state = second.core.instance;
  steady = new SteadyClock(clock, monotonic);
  const migrations = join(packageRoot, 'migrations');
  watch = new DatabaseWatch({ database, clock: steady, log, state, migrations, monotonic });
}

async function post(service: TestService, path: string, fields: Readonly<Record<string, string>>): Promise<Response> {
  const body = new URLSearchParams(fields);
  return await fetch(service.address + path, { method: 'POST', headers: { authorization: AUTHORIZATION }, body });
}

async function issue(service: TestService): Promise<string> {
  const response = await post(service, '/oauth2/token', { grant_type: 'client_credentials' });
  expect(response.status).toBe(200);
  return (await response.json()).access_token;
}

/** Makes every access token expire that many seconds ago on the database's clock. */
async function expireTokens(seconds: number): Promise<void> {
  await sql(database, "update oauth2_access_tokens set expires_at = now() - $1::integer * interval '1 second'", [
    seconds,
  ]);
}

async function isActive(service: TestService, token: string): Promise<boolean> {
  const response = await post(service, '/oauth2/introspect', { token });
  expect(response.status).toBe(200);
  return (await response.json()).active;
}

/**
 * Sends a request except for the last byte of its body. @returns a function that sends the rest, once the service
 * handles the request
 */
async function beginIntrospection(service: TestService, token: string) {
  const { hostname, host, port } = new URL(service.address);
  const body = new URLSearchParams({ token }).toString();
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = [
    'POST /oauth2/introspect HTTP/1.1',
    `Host: ${host}`,
    `Authorization: ${AUTHORIZATION}`,
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`);
  // The server received the unfinished request earlier than this one.
  expect(await isActive(service, token)).toBe(true);
  return {
    finish: async (): Promise<string> => {
      socket.write(body.slice(-1));
      return await text(socket);
    },
  };
}

/** Expects the responses of an instance whose clock may be wrong. */
async function expectRefusals(service: TestService): Promise<void> {
  const refused = await Promise.all([
    post(service, '/oauth2/introspect', { token: 'any' }),
    post(service, '/oauth2/token', { grant_type: 'client_credentials' }),
    fetch(`${service.address}/login`),
    fetch(`${service.address}/_chat/client/v3/login`),
    fetch(`${service.address}/graphql?query={__typename}`),
    fetch(`${service.address}/api/admin/v1/version`),
  ]);
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 503));
  expect(refused.map(({ headers }) => headers.get('retry-after'))).toEqual(refused.map(() => '5'));
  const health = await fetch(`${service.address}/health`);
  expect([health.status, await health.text()]).toEqual([503, 'clock']);
  for (const path of ['/health?probe=live', '/.well-known/openid-configuration', '/oauth2/keys.json']) {
    expect([path, (await fetch(service.address + path)).status]).toEqual([path, 200]);
  }
}

describe('the clock of one instance differs', () => {
  test('F-15: by 30 s: it serves, expires tokens 30 s later, and logs a warning with the difference', async () => {
    clock.aheadMs = -30_000;
    newWatch();
    await watch.check();
    expect(log.lines).toMatchObject([{ event: 'db.skew', level: 'warn' }]);
    expect(log.written.at(-1)).toMatch(/ db\.skew clock skew .* milliseconds=(29|30)\d{3}\b/);
    const token = await issue(second);
    await expireTokens(15);
    expect([await isActive(first, token), await isActive(second, token)]).toEqual([false, true]);
    await expireTokens(31);
    expect([await isActive(first, token), await isActive(second, token)]).toEqual([false, false]);
  });

  test.each([['behind', -10 * MINUTE_MS] as const, ['ahead', 10 * MINUTE_MS] as const])(
    'F-15: by 10 minutes, %s: it refuses to serve, with a reason, until corrected; the other one serves',
    async (_, aheadMs) => {
      clock.aheadMs = aheadMs;
      newWatch();
      await watch.check();
      expect(log.lines.map(({ event, level }) => [event, level])).toEqual([
        ['db.skew', 'warn'],
        ['db.skew', 'error'],
      ]);
      await expectRefusals(second);
      expect(await isActive(first, await issue(first))).toBe(true);
      clock.aheadMs = 0;
      await until(() => second.core.instance.isClockRight());
      expect(await isActive(second, await issue(second))).toBe(true);
    },
  );
});

describe('the clock of one instance is set', () => {
  test.each([
    ['an hour ahead', 60 * MINUTE_MS],
    ['an hour back', -60 * MINUTE_MS],
    ['400 days ahead', 400 * DAY_MS],
  ])(
    'F-14: %s: it stops judging and deleting from that moment; once corrected, everything is as before',
    async (_, aheadMs) => {
      const token = await issue(second);
      const workers = createJobWorkers({ ...second.core, isBusy: () => false, transport: undefined });
      const work = async (): Promise<number> => {
        let taken = 0;
        for (const worker of workers) taken += await worker.poll();
        for (const worker of workers) await worker.idle();
        return taken;
      };
      // Finishes the clean-up jobs that are due within the hour.
      await work();
      clock.aheadMs = aheadMs;
      await expectRefusals(second);
      await watch.check();
      await expectRefusals(second);
      expect(await work()).toBe(0);
      const [set] = log.lines.filter(({ event }) => event === 'clock.set');
      expect(set?.level).toBe('warn');
      expect(Math.abs(Number(set?.fields['milliseconds']) - aheadMs)).toBeLessThan(1000);
      clock.aheadMs = 0;
      await until(() => second.core.instance.isClockRight());
      expect([await isActive(first, token), await isActive(second, token)]).toEqual([true, true]);
    },
  );

  test.each([
    ['an hour back', -60 * MINUTE_MS],
    ['400 days ahead', 400 * DAY_MS],
  ])('F-14: %s: work in progress is judged by the former time', async (_, aheadMs) => {
    const token = await issue(second);
    const unfinished = await beginIntrospection(second, token);
    clock.aheadMs = aheadMs;
    await expectRefusals(second);
    await watch.check();
    expect(await unfinished.finish()).toContain('"active":true');
    clock.aheadMs = 0;
    await until(() => second.core.instance.isClockRight());
    expect([await isActive(first, token), await isActive(second, token)]).toEqual([true, true]);
  });

  test('F-14: by a second, as for a leap second: no effect', async () => {
    clock.aheadMs = 1000;
    expect(await isActive(second, await issue(second))).toBe(true);
    expect(log.lines).toEqual([]);
  });

  test('F-14: together with the database clock: it compares both immediately and continues', async () => {
    // The test cannot set the database's clock. A suspended machine looks the same.
    let stoodStillMs = 0;
    newWatch(() => performance.now() - stoodStillMs);
    stoodStillMs = 60 * MINUTE_MS;
    const aheadMs = () => Math.round((second.core.clock.now() - Date.now()) / MINUTE_MS) * MINUTE_MS;
    expect([second.core.instance.isClockRight(), aheadMs()]).toEqual([false, -stoodStillMs]);
    await until(() => second.core.instance.isClockRight());
    expect(aheadMs()).toBe(0);
    expect(log.lines.map(({ event }) => event)).toEqual(['clock.set']);
    expect(await isActive(second, await issue(second))).toBe(true);
  });

  test('F-14: back: values remembered until a given time are forgotten once the clocks agree', async () => {
    let forgotten = 0;
    watch.onSetBack = () => {
      forgotten += 1;
    };
    clock.aheadMs = 60 * MINUTE_MS;
    await watch.check();
    expect(forgotten).toBe(0);
    clock.aheadMs = 0;
    await watch.check();
    await watch.check();
    expect(forgotten).toBe(1);
  });
});

describe('all clocks are set', () => {
  let made: TestDatabase;
  let oauth: OAuthService;
  let clientId: ClientId;

  beforeAll(async () => {
    made = await createTestDatabase();
    oauth = await startOAuthService(made.database);
    clientId = await oauth.client();
  });
  afterAll(async () => {
    await oauth.close();
    await made.drop();
  });

  /** Signs a user in and uses the resulting tokens. */
  async function openSession() {
    const { code } = await oauth.signIn(clientId);
    const opened = await oauth.exchange(clientId, code);
    const accessToken = member(opened, 'access_token');
    expect((await oauth.introspect(accessToken)).body).toMatchObject({ active: true });
    return { code, accessToken, refreshToken: member(opened, 'refresh_token') };
  }

  test('F-14: back by an hour: used refresh tokens stay used, and unused ones keep working', async () => {
    const [victim, other] = [await openSession(), await openSession()];
    const refreshed = await oauth.refresh(clientId, victim.refreshToken);
    expect((await oauth.introspect(member(refreshed, 'access_token'))).body).toMatchObject({ active: true });
    oauth.clock.advanceSeconds(-3600);
    expect((await oauth.refresh(clientId, other.refreshToken)).status).toBe(200);
    expect((await oauth.refresh(clientId, victim.refreshToken)).body).toMatchObject({ error: 'invalid_grant' });
    // The token's first use may have been by a thief, so its successor is revoked too.
    expect((await oauth.refresh(clientId, member(refreshed, 'refresh_token'))).status).toBe(400);
    oauth.clock.advanceSeconds(3600);
  });

  test('F-14: back by an hour: a used code is a replay, and an earlier one has expired', async () => {
    const { code, accessToken } = await openSession();
    const unused = await oauth.signIn(clientId);
    oauth.clock.advanceSeconds(-3600);
    expect((await oauth.exchange(clientId, code)).body).toMatchObject({ error: 'invalid_grant' });
    expect((await oauth.introspect(accessToken)).body).toEqual({ active: false });
    expect((await oauth.exchange(clientId, unused.code)).body).toMatchObject({ error: 'invalid_grant' });
    oauth.clock.advanceSeconds(3600);
  });

  test('F-14: 400 days ahead and back: what was judged expired stays expired, and sessions continue', async () => {
    const [used, unused] = [await openSession(), await openSession()];
    oauth.clock.advanceSeconds(400 * (DAY_MS / 1000));
    expect((await oauth.introspect(used.accessToken)).body).toEqual({ active: false });
    const refreshed = await oauth.refresh(clientId, used.refreshToken);
    expect(refreshed.status).toBe(200);
    oauth.clock.advanceSeconds(-400 * (DAY_MS / 1000));
    expect((await oauth.refresh(clientId, unused.refreshToken)).status).toBe(200);
    expect((await oauth.refresh(clientId, member(refreshed, 'refresh_token'))).status).toBe(200);
    expect((await oauth.refresh(clientId, used.refreshToken)).body).toMatchObject({ error: 'invalid_grant' });
  });
});
