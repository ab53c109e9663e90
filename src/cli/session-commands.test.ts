import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findUserByName } from '#domain/accounts/find-user.ts';
import { issuePersonalToken } from '#domain/personal-sessions/issue-personal-token.ts';
import { spendRecoveryCode } from '#domain/second-factors/spend-recovery-code.ts';
import { toUuid } from '#platform/base/ids.ts';
import { giveAuthenticatorApp } from '#test/support/authenticator-app.ts';
import { Browser } from '#test/support/browser.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { insertClient, sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';
import { deleteClientCommand } from './delete-client.ts';
import { issueCompatibilityTokenCommand } from './issue-compatibility-token.ts';
import { issuePersonalTokenCommand } from './issue-personal-token.ts';
import { killSessionsCommand } from './kill-sessions.ts';
import { manageDeps, type Printed } from './manage-deps.test-support.ts';
import { provisionAllUsersCommand, syncDevicesCommand } from './notify-homeserver.ts';
import { removeSecondFactorsCommand } from './remove-second-factors.ts';

const SECRET = 'shared-secret-of-the-test';
const PASSWORD = 'correct horse battery staple';
const SERVER_NAME = 'example.org';

const clock = new FakeClock();
let alone: TestService;
let connected: TestService;
let printed: Printed;

const homeserver = await sharedByTests(startStandInHomeserver(SECRET));

beforeAll(async () => {
  const { endpoint } = homeserver;
  alone = await startService({ homeserver: { kind: 'none', homeserver: SERVER_NAME } }, { clock });
  connected = await startService(
    { homeserver: { kind: 'synapse', homeserver: SERVER_NAME, endpoint, secret: SECRET } },
    { clock, like: alone, expectedErrors: ['homeserver rejected a device'] },
  );
});
afterAll(async () => {
  await connected.stop();
  await alone.stop();
});
beforeEach(() => {
  printed = { out: '', err: '' };
});

async function rows<Row extends object>(text: string, ...params: unknown[]): Promise<Row[]> {
  return await sql<Row>(alone.database, text, params);
}

describe('manage remove-second-factors', () => {
  const remove = (json = false) =>
    removeSecondFactorsCommand({ ...manageDeps(alone, printed), sendsNotices: true }, { user: 'fay', json });

  test('removes app and recovery codes of a user who lost them, and notifies the owner by email', async () => {
    await alone.registerUser('fay', PASSWORD);
    const fay = (await findUserByName(alone.database, 'fay')) ?? expect.fail();
    const app = await giveAuthenticatorApp(alone.core, fay.id);
    await sql(
      alone.database,
      `insert into user_emails (id, user_id, email, email_key, created_at)
       values ($1::uuid, $1::uuid, 'fay@mail.example', 'fay@mail.example', now())`,
      [toUuid(fay.id)],
    );
    const browser = new Browser({ listener: alone.address, publicBase: alone.publicBase });
    const signIn = async () => {
      await browser.get('/login');
      return (await browser.submit({ username: 'fay', password: PASSWORD })).location;
    };
    expect(await signIn()).toContain('/login/totp');
    await remove();
    expect(printed.out).toBe('authenticator app and recovery codes of fay removed\n');
    expect(await signIn()).not.toContain('/login/totp');
    const now = clock.now();
    const { database, secretKeys } = alone.core;
    const typed = { user: fay.id, code: app.recoveryCodes[0] ?? '', address: undefined, userAgent: undefined };
    expect(
      await spendRecoveryCode({ database, secretKeys, sendsNotices: false }, { ...typed, language: 'en', now }),
    ).toEqual({ ok: false, reason: 'wrong' });
    const [event] = await rows(
      `select kind, ip, user_agent, client_id from audit_events where user_id = $1::uuid and kind = 'totp_removed'`,
      toUuid(fay.id),
    );
    expect(event).toEqual({ kind: 'totp_removed', ip: null, user_agent: null, client_id: null });
    const told = await rows(
      `select payload -> 'detail' as detail from queue_jobs where payload ->> 'user_id' = $1
          and payload -> 'detail' ->> 'change' = 'totp_removed'`,
      toUuid(fay.id),
    );
    expect(told).toEqual([{ detail: { change: 'totp_removed' } }]);
    printed.out = '';
    await remove(true);
    expect(JSON.parse(printed.out)).toEqual({ id: fay.id, username: 'fay', removed: false });
  });
});

describe('manage kill-sessions', () => {
  const kill = (user: string, options: Partial<Parameters<typeof killSessionsCommand>[1]> = {}) =>
    killSessionsCommand(manageDeps(alone, printed), {
      user,
      dryRun: false,
      keepsPersonal: false,
      json: false,
      ...options,
    });

  async function member(username: string) {
    await alone.registerUser(username, PASSWORD);
    const chat = await new ChatClient(alone).login(username, PASSWORD, { refresh_token: true });
    const browser = new Browser({ listener: alone.address, publicBase: alone.publicBase });
    await browser.get('/login');
    await browser.submit({ username, password: PASSWORD });
    return {
      isSignedIn: async () => (await browser.get('/')).text.includes('Sign out'),
      isChatting: async () =>
        (await new ChatClient(alone).post('/refresh', { refresh_token: chat.refreshToken })).status === 200,
    };
  }

  test('ends sessions of every kind of this user only', async () => {
    const [one, other] = [await member('kim'), await member('kai')];
    const kim = (await findUserByName(alone.database, 'kim')) ?? expect.fail();
    await issuePersonalToken(alone.core, {
      ...{ owner: { kind: 'user', id: kim.id }, actor: kim, name: 'bridge', scope: ['openid'], deviceId: undefined },
      ...{
        lifetimeSeconds: undefined,
        by: {},
        record: async () => undefined,
        waiting: { signal: new AbortController().signal, beginWrite: () => true },
      },
    });
    await kill('kim', { dryRun: true, keepsPersonal: true });
    expect(printed.out).not.toContain('personal');
    printed.out = '';
    await kill('@kim:example.org', { dryRun: true });
    expect(printed.out).toBe(
      'would have ended browser sessions: 1, OAuth sessions: 0, chat client sessions: 1, personal sessions: 1\n',
    );
    expect([await one.isSignedIn(), await one.isChatting()]).toEqual([true, true]);
    printed.out = '';
    await kill('kim');
    expect(printed.out).toBe(
      'ended browser sessions: 1, OAuth sessions: 0, chat client sessions: 1, personal sessions: 1\n',
    );
    expect([await one.isSignedIn(), await one.isChatting()]).toEqual([false, false]);
    expect([await other.isSignedIn(), await other.isChatting()]).toEqual([true, true]);
    const reasons = await rows(
      `select distinct s.finish_reason from users u join compat_sessions s on s.user_id = u.id where u.username = 'kim'
       union all select distinct s.finish_reason from users u join user_sessions s on s.user_id = u.id where u.username = 'kim'`,
    );
    expect(reasons).toEqual([{ finish_reason: 'admin' }, { finish_reason: 'admin' }]);
    printed.out = '';
    await kill('kim', { json: true });
    expect(JSON.parse(printed.out)).toMatchObject({
      username: 'kim',
      dry_run: false,
      ended: { browser: 0, oauth2: 0, compat: 0, personal: 0 },
    });
  });

  test('of an unknown user fails', async () => {
    await expect(kill('nobody')).rejects.toMatchObject({ message: 'user not found', exitCode: 1 });
  });
});

describe('manage provision-all-users', () => {
  const provision = (onlyActive = false, json = false, service = connected) =>
    provisionAllUsersCommand(manageDeps(service, printed), { onlyActive, json });

  beforeEach(async () => {
    await rows('delete from queue_jobs');
    await rows('delete from users');
    await rows(
      `insert into users (id, username, username_key, created_at, locked_at)
       select gen_random_uuid(), 'member' || g, 'member' || g, $1::timestamptz, case when g = 1 then $1::timestamptz end
         from generate_series(1, 2005) g`,
      new Date(clock.now()),
    );
  });

  async function waiting() {
    const [row] = await rows<{ jobs: number; people: number; due_now: number; last: Date }>(
      `select count(*)::integer as jobs, count(distinct payload ->> 'user_id')::integer as people,
              (count(*) filter (where due_at < $1::timestamptz + interval '1 second'))::integer as due_now,
              max(due_at) as last
         from queue_jobs where queue = 'provision-user'`,
      new Date(clock.now()),
    );
    return row;
  }

  test('queues one job per user, of which twenty become due each second', async () => {
    await provision();
    expect(printed.out).toBe('2005 users will be synced to the homeserver within 101 s\n');
    const last = new Date(clock.now() + 2004 * 50);
    expect(await waiting()).toEqual({ jobs: 2005, people: 2005, due_now: 20, last });
    // The second time, the pending jobs replace new ones.
    await provision();
    expect(await waiting()).toMatchObject({ jobs: 2005 });
  });

  test('--only-active skips locked users', async () => {
    await provision(true, true);
    expect(JSON.parse(printed.out)).toEqual({ users: 2004, seconds: 101 });
    expect(await waiting()).toMatchObject({ jobs: 2004 });
  });

  test('makes all users known to the homeserver', async () => {
    await rows(`delete from users where username <> 'member7'`);
    await provision();
    expect(printed.out).toBe('1 user will be synced to the homeserver within 1 s\n');
    await notifyHomeserver(connected.core);
    expect(homeserver.user('member7')).toBeDefined();
  });

  test('fails without a homeserver', async () => {
    await expect(provision(false, false, alone)).rejects.toMatchObject({ exitCode: 1 });
  });
});

describe('manage sync-devices', () => {
  const sync = (user?: string, service = connected) =>
    syncDevicesCommand(manageDeps(service, printed), { user, deletesUnknown: false, json: false });

  async function withDevices(username: string, devices: readonly string[]): Promise<void> {
    await connected.registerUser(username, PASSWORD);
    const there = homeserver.addUser(username);
    for (const id of devices) there.devices.set(id, undefined);
    await rows(
      `insert into compat_sessions (id, user_id, device_id, created_at)
       select gen_random_uuid(), id, 'LIVE', created_at from users where username = $1::text`,
      username,
    );
    await rows('delete from queue_jobs');
  }
  const devicesOf = (username: string) => [...(homeserver.user(username)?.devices.keys() ?? [])];

  test("of one user keeps the devices of the user's sessions, and does not touch those of others", async () => {
    await withDevices('rin', ['LOST', 'LIVE']);
    await withDevices('ren', ['LOST']);
    await sync('rin');
    expect(printed.out).toBe('1 user will be synced to the homeserver within 1 s\n');
    await notifyHomeserver(connected.core);
    expect([devicesOf('rin'), devicesOf('ren')]).toEqual([['LIVE'], ['LOST']]);
  });

  test('of all users reaches all of them', async () => {
    await withDevices('sol', ['LOST']);
    await withDevices('sam', []);
    await sync();
    clock.advanceSeconds(10);
    await notifyHomeserver(connected.core);
    expect([devicesOf('sol'), devicesOf('sam')]).toEqual([['LIVE'], ['LIVE']]);
  });

  test.each([
    ['of nobody', 'nobody', () => connected],
    ['without a homeserver', undefined, () => alone],
  ])('%s fails', async (_, user, service) => {
    await expect(sync(user, service())).rejects.toMatchObject({ exitCode: 1 });
  });
});

describe('manage issue-compatibility-token', () => {
  type Options = Parameters<typeof issueCompatibilityTokenCommand>[1];
  const defaults = { deviceId: undefined, expiresInSeconds: undefined, isAdmin: false, json: false };
  const issue = (user: string, options: Partial<Options> = {}, service = connected) =>
    issueCompatibilityTokenCommand(manageDeps(service, printed), { user, ...defaults, ...options });

  beforeEach(async () => {
    await homeserver.setFault(undefined);
    homeserver.requests.length = 0;
    await rows('delete from queue_jobs');
  });

  async function member(username: string) {
    await connected.registerUser(username, PASSWORD);
    return homeserver.addUser(username);
  }

  async function introspect(token: string) {
    const response = await fetch(`${connected.address}/oauth2/introspect`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}`, 'x-mas-supports-device-id': '1' },
      body: new URLSearchParams({ token }),
    });
    const body: Record<string, unknown> = await response.json();
    return body;
  }

  const sessions = (username: string) =>
    rows<{ device_id: string; finish_reason: string | null }>(
      `select s.device_id, s.finish_reason from compat_sessions s join users u on u.id = s.user_id
        where u.username = $1::text order by s.finished_at nulls last`,
      username,
    );

  test('creates the device, and prints only a token that does not expire', async () => {
    const there = await member('tom');
    await issue('@tom:example.org');
    expect(printed.out).toMatch(/^mct_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}\n$/);
    expect(printed.err).toBe('');
    const [session] = await sessions('tom');
    expect(session?.device_id).toMatch(/^[0-9A-Za-z]{10}$/);
    expect([...there.devices.keys()]).toEqual([session?.device_id]);
    const body = await introspect(printed.out.trim());
    expect(body).toMatchObject({ active: true, username: 'tom', device_id: session?.device_id });
    expect(body['scope']).not.toContain('admin');
    expect(body).not.toHaveProperty('exp');
    expect(connected.logLines().filter((line) => line.includes(printed.out.trim()))).toEqual([]);
  });

  test('grants homeserver administration on explicit request, with a warning', async () => {
    await member('tia');
    await issue('tia', { deviceId: 'ADMIN BOX', isAdmin: true, expiresInSeconds: 3600, json: true });
    expect(printed.err).toBe('warning: this token gives tia administrator rights on the homeserver\n');
    const result: Record<string, unknown> = JSON.parse(printed.out);
    expect(result).toMatchObject({ username: 'tia', device_id: 'ADMIN BOX', admin: true });
    const body = await introspect(String(result['access_token']));
    expect(body['scope']).toContain('urn:synapse:admin:*');
    expect(body['expires_in']).toBe(3600);
    clock.advanceSeconds(3600);
    expect(await introspect(String(result['access_token']))).toEqual({ active: false });
  });

  test('replaces the session on the same device', async () => {
    await member('tul');
    await issue('tul', { deviceId: 'BOX' });
    const first = printed.out.trim();
    await issue('tul', { deviceId: 'BOX' });
    expect(await introspect(first)).toEqual({ active: false });
    expect(await sessions('tul')).toEqual([
      { device_id: 'BOX', finish_reason: 'device_replaced' },
      { device_id: 'BOX', finish_reason: null },
    ]);
  });

  test.each([
    ['does not answer', { kind: 'refuse' } as const, 'the homeserver does not respond; no token was issued', 1],
    [
      'refuses',
      { kind: 'answer', status: 403 } as const,
      'the homeserver rejected the device; see the log for the reason',
      0,
    ],
  ])('creates nothing while the homeserver %s', async (what, fault, message, syncs) => {
    const username = what === 'refuses' ? 'ula' : 'udo';
    await member(username);
    await homeserver.setFault(fault);
    await expect(issue(username)).rejects.toMatchObject({ message, exitCode: 1 });
    expect([printed.out, await sessions(username)]).toEqual(['', []]);
    expect(await rows(`select from queue_jobs where queue = 'sync-devices'`)).toHaveLength(syncs);
  });

  test.each([
    ['nobody', {}, 'user not found', 1],
    ['ute', { deviceId: '' }, 'a device id must have 1 to 255 characters and no control characters', 2],
    ['ute', { deviceId: 'a\tb' }, 'a device id must have 1 to 255 characters and no control characters', 2],
    ['ute', { expiresInSeconds: 0 }, 'the lifetime of a token must be from 1 second to 10 years', 2],
  ])('%s %j fails', async (user, options, message, exitCode) => {
    await expect(issue(user, options)).rejects.toMatchObject({ message, exitCode });
  });

  test.each([
    ['locked', 'locked_at'],
    ['deactivated', 'deactivated_at'],
  ])('of a user who is %s fails before the homeserver is called', async (state, column) => {
    const username = `was-${state}`;
    await member(username);
    await rows(`update users set ${column} = created_at where username = $1::text`, username);
    await expect(issue(username)).rejects.toMatchObject({ message: `the user is ${state}`, exitCode: 1 });
    expect(homeserver.requests).toEqual([]);
  });

  test('works without a homeserver', async () => {
    await alone.registerUser('uma', PASSWORD);
    await issue('uma', { deviceId: 'BOX' }, alone);
    expect(await sessions('uma')).toEqual([{ device_id: 'BOX', finish_reason: null }]);
  });
});

test('manage delete-client: deletes a dynamically registered client, not one of the configuration', async () => {
  const remove = (clientId: string) => deleteClientCommand(manageDeps(alone, printed), { clientId, json: false });
  const { database, core } = alone;
  const [dynamic, configured] = await Promise.all(
    [false, true].map((isStatic) =>
      insertClient(database, core.keyRing, clock.now(), {
        isStatic,
        metadata: { client_name: { '': `Harbour ${isStatic}` } },
      }),
    ),
  );
  await remove(dynamic ?? expect.fail('no client'));
  expect(printed.out).toBe('deleted\n');
  await expect(remove(dynamic ?? '')).rejects.toThrow('client not found');
  await expect(remove(configured ?? '')).rejects.toThrow('defined in the configuration');
  await expect(remove('x')).rejects.toThrow('not a client id');
});

describe('manage issue-personal-token', () => {
  const defaults = { owner: undefined, name: 'bridge', scope: 'openid', expiresInSeconds: undefined, json: false };
  const issue = (actor: string, options: Partial<Parameters<typeof issuePersonalTokenCommand>[1]> = {}) =>
    issuePersonalTokenCommand(manageDeps(connected, printed), { actor, ...defaults, ...options });
  const API = 'urn:chat:client:api:*';

  async function administers(token: string): Promise<number> {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${connected.address}/api/admin/v1/users`, { headers })).status;
  }

  beforeAll(async () => {
    await homeserver.setFault(undefined);
    for (const name of ['robot', 'keeper']) {
      await connected.registerUser(name, PASSWORD);
      homeserver.addUser(name);
    }
  });

  test('prints only a token, whose device the homeserver has', async () => {
    await issue('robot', { scope: `${API} urn:chat:client:device:ROBOT01234`, expiresInSeconds: 3600 });
    expect(printed.out).toMatch(/^mpt_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}\n$/);
    expect([...(homeserver.user('robot')?.devices.keys() ?? [])]).toEqual(['ROBOT01234']);
    expect(connected.logLines().filter((line) => line.includes(printed.out.trim()))).toEqual([]);
  });

  test('lets a locked user administer while both the owner and the user have the right', async () => {
    await rows(`update users set locked_at = now() where username = 'robot'`);
    await expect(issue('robot')).rejects.toMatchObject({ exitCode: 1, message: expect.stringContaining('--owner') });
    const wanted = { owner: 'keeper', scope: 'urn:mas:admin', json: true };
    await expect(issue('robot', wanted)).rejects.toMatchObject({ exitCode: 1 });
    await rows(`update users set can_request_admin = true where username in ('robot', 'keeper')`);
    await issue('robot', wanted);
    const { access_token: token, ...rest } = JSON.parse(printed.out);
    expect(rest).toMatchObject({ username: 'robot', owner: 'keeper' });
    expect(await administers(token)).toBe(200);
    await rows(`update users set can_request_admin = false where username = 'keeper'`);
    expect(await administers(token)).toBe(403);
    await rows(`update users set locked_at = null where username = 'robot'`);
  });

  test.each([
    [{ name: '' }, 2],
    [{ name: 'x'.repeat(101) }, 2],
    [{ scope: '' }, 2],
    [{ scope: 'urn:mas:graphql:*' }, 1],
    [{ expiresInSeconds: 0 }, 2],
    [{ owner: 'nobody' }, 1],
  ])('rejects %j with exit code %i', async (options, exitCode) => {
    await expect(issue('robot', options)).rejects.toMatchObject({ exitCode });
    expect(printed.out).toBe('');
  });
});
