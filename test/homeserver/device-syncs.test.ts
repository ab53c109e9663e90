import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deactivateUser } from '#domain/account-changes/deactivate-user.ts';
import { finishCompatSession } from '#domain/compat-sessions/finish-compat-session.ts';
import { endAllSessions } from '#domain/oauth-sessions/end-all-sessions.ts';
import { endBrowserSessions } from '#domain/oauth-sessions/end-browser-sessions.ts';
import {
  endApplicationSessionsOfUser,
  endOAuth2Session,
  type OAuth2SessionEndReason,
} from '#domain/oauth-sessions/end-oauth2-session.ts';
import { clientSessionEnder } from '#domain/oauth-sessions/end-sessions-of-client.ts';
import { revokeApplication } from '#domain/oauth-sessions/revoke-application.ts';
import { signOut } from '#domain/oauth-sessions/sign-out.ts';
import { fromUuid, newId, toUuid } from '#platform/base/ids.ts';
import { randomAlphanumeric } from '#platform/base/random.ts';
import { sha256 } from '#platform/base/secret.ts';
import { newToken } from '#protocol/oauth/token-format.ts';
import { ChatClient, type ChatLogin } from '#test/support/chat-client.ts';
import { cleanUpAll } from '#test/support/clean-up.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { insertBrowserSession, insertClient, sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';
import type { BrowserSessionId, ClientId, OAuth2SessionId, UserId } from '#vocabulary/ids.ts';
import { loadStatements } from '../plans/registered-statements.ts';

const PASSWORD = 'correct horse battery staple';
const SECRET = 'shared-secret-of-the-test';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const DAY = 86_400;

const clock = new FakeClock();
let service: TestService;
/** A service without a homeserver, on the same database. */
let alone: TestService;
let chat: ChatClient;
let amira: UserId;

/** A user's sign-ins: a chat client on one device, an OAuth application on another. */
interface SignedIn {
  readonly chat: ChatLogin;
  readonly client: ClientId;
  readonly application: OAuth2SessionId;
  /** An access token of the application. */
  readonly token: string;
  readonly browser: BrowserSessionId;
}

const homeserver = await sharedByTests(startStandInHomeserver(SECRET, 'chat.example'));

beforeAll(async () => {
  const limits = { login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT } };
  const common = {
    rate_limiting: limits,
    experimental: { session_limit: { soft_limit: 5, hard_limit: 5, dangerous_hard_limit_eviction: true } },
  };
  const { endpoint, serverName } = homeserver;
  const connected = { kind: 'synapse', homeserver: serverName, endpoint, secret: SECRET };
  service = await startService({ ...common, homeserver: connected }, { clock });
  alone = await startService(
    { ...common, homeserver: { kind: 'none', homeserver: serverName } },
    { clock, like: service },
  );
  chat = new ChatClient(service);
  await service.registerUser('amira', PASSWORD);
  const [row] = await sql<{ id: string }>(service.database, `select id from users where username = 'amira'`);
  amira = fromUuid<'user'>(row?.id ?? '');
  homeserver.addUser('amira');
});

beforeEach(async () => {
  clock.advanceSeconds(1);
  for (const table of ['compat_sessions', 'oauth2_sessions', 'user_sessions', 'queue_jobs'])
    await sql(service.database, `delete from ${table}`);
  homeserver.requests.length = 0;
});

afterAll(async () => {
  await alone.stop();
  await service.stop();
});

async function signIn(): Promise<SignedIn> {
  const { database, core } = service;
  const now = clock.now();
  const browser = await insertBrowserSession(database, amira, now);
  const client = await insertClient(database, core.keyRing, now, {
    isStatic: false,
    metadata: { backchannel_logout_uri: 'https://app.example/logout' },
  });
  const application = newId<'oauth2-session'>(now);
  await sql(
    database,
    `insert into oauth2_sessions (id, user_id, user_session_id, client_id, scope, device_id, refresh_family, created_at)
     values ($1::uuid, $2::uuid, $3::uuid, $4::uuid, '{openid}', 'APPLICATION', $1::text::bytea, $5::timestamptz)`,
    [toUuid(application), toUuid(amira), toUuid(browser), toUuid(client), new Date(now)],
  );
  const token = newToken('mat');
  await sql(
    database,
    `insert into oauth2_access_tokens (id, session_id, token_hash, scope, created_at, expires_at)
     values (gen_random_uuid(), $1::uuid, $2::bytea, $3::text[], $4::timestamptz, $4::timestamptz + interval '1 hour')`,
    [toUuid(application), sha256(token), core.scopeRules.clientApi, new Date(now)],
  );
  const login = await chat.login('amira', PASSWORD, { device_id: 'CHAT', refresh_token: true });
  return { chat: login, client, application, token, browser };
}

/** Returns in how many seconds each queued device sync is due. */
async function queuedSyncs(): Promise<readonly number[]> {
  const rows = await sql<{ user_id: string; due_at: Date }>(
    service.database,
    `select payload ->> 'user_id' as user_id, due_at from queue_jobs where queue = 'sync-devices' order by due_at`,
  );
  expect(rows.every(({ user_id: user }) => user === toUuid(amira))).toBe(true);
  return rows.map(({ due_at: at }) => Math.round((at.getTime() - clock.now()) / 1000));
}

const UNKNOWN_PLACE = { address: undefined, userAgent: undefined };
const now = () => clock.now();
const bearer = ({ chat: { accessToken } }: SignedIn) => ({ authorization: `Bearer ${accessToken}` });
const oauthEnd = (reason: OAuth2SessionEndReason) => async (signedIn: SignedIn, syncsDevices: boolean) => {
  await endOAuth2Session(service.database, signedIn.application, { reason, now: now(), syncsDevices });
};
const endAll =
  (reason: 'admin' | 'password_changed' | 'password_recovered') => async (_: SignedIn, syncsDevices: boolean) => {
    await endApplicationSessionsOfUser(service.database, amira, { reason, now: now(), syncsDevices });
  };
const through = (syncsDevices: boolean) => new ChatClient(syncsDevices ? service : alone);
const core = (syncsDevices: boolean) => (syncsDevices ? service.core : alone.core);

interface Ending {
  /** Labels of the statements that end the session. */
  readonly statements: readonly string[];
  happens(signedIn: SignedIn, syncsDevices: boolean): Promise<void>;
  /** Delay until the sync is due. */
  readonly seconds?: number;
}

const ENDINGS: Readonly<Record<string, Ending>> = {
  'a chat client signs out': {
    statements: ['log-out-chat-client'],
    happens: async (signedIn, syncs) => {
      expect((await through(syncs).post('/logout', undefined, bearer(signedIn))).status).toBe(200);
    },
  },
  'a chat client signs out of all sessions': {
    statements: ['log-out-chat-client'],
    happens: async (signedIn, syncs) => {
      expect((await through(syncs).post('/logout/all', undefined, bearer(signedIn))).status).toBe(200);
    },
  },
  'a chat client with an OAuth token signs out': {
    statements: ['log-out-oauth-client'],
    happens: async ({ token }, syncs) => {
      const headers = { authorization: `Bearer ${token}` };
      expect((await through(syncs).post('/logout', undefined, headers)).status).toBe(200);
    },
  },
  "a chat client's refresh token is reused": {
    statements: ['end-reused-compat-session'],
    happens: async ({ chat: { refreshToken } }, syncs) => {
      const client = through(syncs);
      const next = await client.post('/refresh', { refresh_token: refreshToken });
      await client.post('/refresh', { refresh_token: next.body['refresh_token'] });
      clock.advanceSeconds(60);
      expect((await client.post('/refresh', { refresh_token: refreshToken })).status).toBe(401);
    },
  },
  "a chat client's login token is replayed": {
    statements: ['end-replayed-compat-session'],
    happens: async ({ browser }, syncs) => {
      const loginToken = randomAlphanumeric(32);
      await sql(
        service.database,
        `insert into compat_sso_logins (id, redirect_uri, requester_ip, created_at, expires_at, user_session_id,
           fulfilled_at, login_token_hash, exchanged_at, compat_session_id)
         select gen_random_uuid(), 'https://app.example/', '127.0.0.1', created_at, created_at, $1::uuid,
                created_at, $2::bytea, created_at, id from compat_sessions where device_id = 'CHAT'`,
        [toUuid(browser), sha256(loginToken)],
      );
      clock.advanceSeconds(60);
      expect((await through(syncs).post('/login', { type: 'm.login.token', token: loginToken })).status).toBe(403);
    },
  },
  'a chat client session is ended for a new one': {
    statements: ['open-compat-session-with-password', 'open-compat-session-with-login-token'],
    happens: async (_, syncs) => {
      for (let count = 0; count < 4; count += 1) await through(syncs).login('amira', PASSWORD);
    },
  },
  'a user signs a chat client out': {
    statements: ['finish-compat-session'],
    happens: async (_, syncsDevices) => {
      const [row] = await sql<{ id: string }>(
        service.database,
        `select id from compat_sessions where device_id = 'CHAT'`,
      );
      const session = fromUuid<'compat-session'>(row?.id ?? '');
      const end = { now: now(), address: undefined, userAgent: undefined, syncsDevices };
      await finishCompatSession(service.database, session, end);
    },
  },
  'a chat client was unused for too long': {
    statements: ['expire-unused-compat-sessions'],
    happens: async (_, syncsDevices) => {
      clock.advanceSeconds(2 * DAY);
      await cleanUpAll({ database: service.database, clock }, { unusedCompatSessionsSeconds: DAY, syncsDevices });
    },
    seconds: 60,
  },
  'an application revokes its tokens': { statements: ['end-oauth2-session'], happens: oauthEnd('client_revoked') },
  'a code is replayed': { statements: ['end-oauth2-session'], happens: oauthEnd('code_reused') },
  'a refresh token is reused': { statements: ['end-oauth2-session'], happens: oauthEnd('refresh_token_reused') },
  'an application signs its user out': {
    statements: ['sign-out'],
    happens: async ({ application }, syncs) => {
      const end = { userId: amira, which: 'all', reason: 'logout', now: now(), oauthSessionId: application } as const;
      await signOut(core(syncs), end);
    },
  },
  'a user signs out, and the application is notified': {
    statements: ['sign-out'],
    happens: async (_, syncs) => {
      await signOut(core(syncs), { userId: amira, which: 'all', reason: 'logout', now: now() });
    },
  },
  'a user signs out everywhere': {
    statements: ['end-all-sessions-of-user'],
    happens: async (_, syncs) => {
      const kinds = new Set(['browser', 'oauth2', 'compat'] as const);
      await endAllSessions(core(syncs), {
        userId: amira,
        kinds,
        kept: undefined,
        now: now(),
        by: { kind: 'person', ...UNKNOWN_PLACE },
      });
    },
  },
  'a user revokes all access of an application': {
    statements: ['revoke-application'],
    happens: async ({ client }, syncs) => {
      await revokeApplication(core(syncs), { userId: amira, clientId: client, now: now(), ...UNKNOWN_PLACE });
    },
  },
  'a provider signs out all sessions': {
    statements: ['end-browser-sessions'],
    happens: async ({ browser }, syncsDevices) => {
      await endBrowserSessions(service.database, {
        sessionIds: [toUuid(browser)],
        isWithApplications: true,
        reason: 'upstream_logout',
        now: now(),
        syncsDevices,
      });
    },
  },
  'a new password ends all sessions': {
    statements: ['end-application-sessions-of-user'],
    happens: endAll('password_changed'),
  },
  'a recovered password ends all sessions': {
    statements: ['end-application-sessions-of-user'],
    happens: endAll('password_recovered'),
  },
  'an operator ends all sessions': { statements: ['end-application-sessions-of-user'], happens: endAll('admin') },
  'the client is deleted': {
    statements: ['end-oauth2-sessions-of-client'],
    happens: async ({ client }, isConnected) => {
      const ender = clientSessionEnder({ isConnected });
      await service.database.transaction(async (transaction) => {
        await ender.endGrantsAndSessionsOfClient(transaction, client, { now: now() });
      });
    },
  },
  'an application session is too old': {
    statements: ['expire-oauth2-sessions'],
    happens: async (_, syncsDevices) => {
      clock.advanceSeconds(2 * DAY);
      await cleanUpAll({ database: service.database, clock }, { sessionMaxLifetimeSeconds: DAY, syncsDevices });
    },
    seconds: 60,
  },
  'an application session was unused for too long': {
    statements: ['expire-unused-oauth2-sessions'],
    happens: async (_, syncsDevices) => {
      clock.advanceSeconds(2 * DAY);
      await cleanUpAll({ database: service.database, clock }, { unusedOAuth2SessionsSeconds: DAY, syncsDevices });
    },
    seconds: 60,
  },
};

describe('every end of a session deletes its device at the homeserver (chat-compat 10.2, S-126)', () => {
  test.each(Object.entries(ENDINGS))('%s', async (_, { happens, seconds = 0 }) => {
    const signedIn = await signIn();
    await happens(signedIn, true);
    expect(await queuedSyncs()).toEqual([seconds]);
  });

  test.each(Object.entries(ENDINGS))('%s, without a homeserver: nothing is queued', async (_, { happens }) => {
    const signedIn = await signIn();
    await happens(signedIn, false);
    expect(await queuedSyncs()).toEqual([]);
  });

  const FINISHES = /update (compat|oauth2)_sessions\b[^;]*?\bset\s+finished_at\b/;

  test('no other statement ends sessions of either kind, and each of these queues a sync', async () => {
    const statements = (await loadStatements()).filter(({ text }) => FINISHES.test(text));
    const covered = new Set(Object.values(ENDINGS).flatMap((ending) => ending.statements));
    const silent = statements.filter(({ text }) => !text.includes(`'sync-devices'`)).map(({ label }) => label);
    // Client credentials sessions have no device.
    expect(silent).toEqual(['sweep-oauth2-client-sessions']);
    const others = statements
      .map(({ label }) => label)
      .filter((label) => !covered.has(label) && !silent.includes(label));
    // These end only the session whose device they reuse, or sessions of the admin area, which have none.
    const takesOver = /^redeem-|^open-compat-session-for-operator$|^open-session-for-administrator$|^renew-admin-area$/;
    expect(others.filter((label) => !takesOver.test(label))).toEqual([]);
  });

  test('only a deactivation and a sign-in that takes over a device skip the homeserver', () => {
    const source = fileURLToPath(new URL('../../src', import.meta.url));
    const silent = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!\.test)\.tsx?$/.test(file))
      .filter((file) => /syncsDevices: false|sessionEndParams\(false\)/.test(readFileSync(join(source, file), 'utf8')));
    expect(silent.toSorted()).toEqual([
      'domain/account-changes/deactivate-user.ts',
      'domain/oauth-sessions/open-session.ts',
    ]);
  });
});

describe('a device sync (chat-compat 11.6, 11.8)', () => {
  test('is queued in the ending transaction: a session that did not end is not synced', async () => {
    const { application } = await signIn();
    const end = { reason: 'client_revoked', now: now(), syncsDevices: true } as const;
    const failing = service.database.transaction(async (transaction) => {
      expect(await endOAuth2Session(transaction, application, end)).toBe(true);
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow('undone');
    expect(await queuedSyncs()).toEqual([]);
  });

  test('is not queued by a deactivation, whose own job deletes the devices', async () => {
    await service.registerUser('gone', PASSWORD);
    await notifyHomeserver(service.core);
    await chat.login('gone', PASSWORD, { device_id: 'CHAT' });
    const [row] = await sql<{ id: string }>(service.database, `select id from users where username = 'gone'`);
    expect(row).toBeDefined();
    await service.database.transaction(async (transaction) => {
      const user = fromUuid<'user'>(row?.id ?? '');
      await deactivateUser(transaction, service.core.homeserver, {
        user,
        by: { kind: 'admin', actor: {} },
        isErased: false,
        isTold: false,
        now: now(),
      });
    });
    expect(await queuedSyncs()).toEqual([]);
    await notifyHomeserver(service.core);
    expect(homeserver.user('gone')).toMatchObject({ isDeactivated: true, devices: new Map() });
  });

  test('sends the devices of the remaining sessions of both kinds: many ends cause one call', async () => {
    const signedIn = await signIn();
    const others = await Promise.all(['A', 'B', 'C'].map((id) => chat.login('amira', PASSWORD, { device_id: id })));
    homeserver.requests.length = 0;
    for (const { accessToken } of others)
      await chat.post('/logout', undefined, { authorization: `Bearer ${accessToken}` });
    expect(await queuedSyncs()).toEqual([0]);
    await notifyHomeserver(service.core);
    expect(homeserver.requests.map(({ body }) => body)).toEqual([
      {
        localpart: 'amira',
        devices: expect.toSatisfy((ids: string[]) => ids.toSorted().join() === 'APPLICATION,CHAT'),
      },
    ]);
    await oauthEnd('client_revoked')(signedIn, true);
    await notifyHomeserver(service.core);
    expect([...(homeserver.user('amira')?.devices.keys() ?? [])]).toEqual(['CHAT']);
  });

  test('I-09: follows a sign-out immediately, and the device is gone', async () => {
    const signedIn = await signIn();
    await chat.post('/logout', undefined, bearer(signedIn));
    await notifyHomeserver(service.core);
    expect([...(homeserver.user('amira')?.devices.keys() ?? [])]).toEqual(['APPLICATION']);
  });

  test('of users whose sessions expired runs one at a time, ten seconds apart', async () => {
    const names = ['b1', 'b2', 'b3'];
    for (const name of names) {
      await service.registerUser(name, PASSWORD);
      homeserver.addUser(name);
      await chat.login(name, PASSWORD, { device_id: 'CHAT' });
    }
    await sql(service.database, 'delete from queue_jobs');
    clock.advanceSeconds(2 * DAY);
    await cleanUpAll({ database: service.database, clock }, { unusedCompatSessionsSeconds: DAY, syncsDevices: true });
    const rows = await sql<{ due_at: Date }>(
      service.database,
      `select due_at from queue_jobs where queue = 'sync-devices' order by due_at`,
    );
    expect(rows.map(({ due_at: at }) => (at.getTime() - clock.now()) / 1000)).toEqual([60, 70, 80]);
    // A user who signs out before that does not wait for it.
    const { accessToken } = await chat.login('b3', PASSWORD);
    await chat.post('/logout', undefined, { authorization: `Bearer ${accessToken}` });
    homeserver.requests.length = 0;
    await notifyHomeserver(service.core);
    expect(homeserver.requests.map(({ body }) => body)).toEqual([{ localpart: 'b3', devices: [] }]);
  });

  test('of a user unknown to the homeserver provisions the user and syncs then', async () => {
    const { accessToken } = await chat.login('amira', PASSWORD, { device_id: 'KEPT' }).then(async (kept) => {
      expect(kept.deviceId).toBe('KEPT');
      return await chat.login('amira', PASSWORD, { device_id: 'GONE' });
    });
    homeserver.state.users.delete('amira');
    await chat.post('/logout', undefined, { authorization: `Bearer ${accessToken}` });
    homeserver.requests.length = 0;
    await notifyHomeserver(service.core);
    expect(homeserver.requests.map(({ path }) => path.replace('/_synapse/mas/', ''))).toEqual([
      'sync_devices',
      'provision_user',
      'sync_devices',
    ]);
    expect([...(homeserver.user('amira')?.devices.keys() ?? [])]).toEqual(['KEPT']);
  });

  test('of a user whom the homeserver never accepts is retried less and less often', async () => {
    const signedIn = await signIn();
    const body = '{"errcode":"M_NOT_FOUND"}';
    await homeserver.setFault({ kind: 'answer', path: '/sync_devices', status: 404, body });
    await chat.post('/logout', undefined, bearer(signedIn));
    const waits: number[] = [];
    homeserver.requests.length = 0;
    for (let round = 0; round < 4; round += 1) {
      await notifyHomeserver(service.core);
      const [seconds = 0] = await queuedSyncs();
      waits.push(seconds);
      clock.advanceSeconds(seconds + 1);
    }
    expect(homeserver.requests).toHaveLength(4 * 3);
    expect(waits.every((wait, index) => wait >= 4 * 2 ** index)).toBe(true);
    await homeserver.setFault(undefined);
    await notifyHomeserver(service.core);
    expect([...(homeserver.user('amira')?.devices.keys() ?? [])]).toEqual(['APPLICATION']);
  });

  test('is retried while the homeserver is down, and the user can sign in and out in the meantime', async () => {
    const signedIn = await signIn();
    await homeserver.setFault({ kind: 'answer', status: 503 });
    await chat.post('/logout', undefined, bearer(signedIn));
    await notifyHomeserver(service.core);
    expect(await queuedSyncs()).toEqual([expect.toSatisfy((seconds: number) => seconds >= 4 && seconds <= 6)]);
    await homeserver.setFault(undefined);
    clock.advanceSeconds(7);
    await notifyHomeserver(service.core);
    expect([...(homeserver.user('amira')?.devices.keys() ?? [])]).toEqual(['APPLICATION']);
    expect(await queuedSyncs()).toEqual([]);
  });

  test('follows a process that died during a homeserver call, at the latest by the clean-up', async () => {
    await sql(
      service.database,
      'insert into homeserver_leases (user_id, owner, expires_at) values ($1::uuid, gen_random_uuid(), $2::timestamptz)',
      [toUuid(amira), new Date(clock.now() + 60_000)],
    );
    homeserver.user('amira')?.devices.set('LEFT', undefined);
    await cleanUpAll({ database: service.database, clock });
    expect(await queuedSyncs(), 'it may be alive').toEqual([]);
    clock.advanceSeconds(60);
    await cleanUpAll({ database: service.database, clock });
    expect(await queuedSyncs()).toEqual([0]);
    await notifyHomeserver(service.core);
    expect([...(homeserver.user('amira')?.devices.keys() ?? [])]).toEqual([]);
  });
});
