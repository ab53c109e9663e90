/**
 * Devices that the homeserver had before the account existed here: no sync deletes them, until the operator allows it
 * (chat-compat 11.6).
 */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ensureFirstAdmin } from '#cli/first-admin.ts';
import { manageDeps } from '#cli/manage-deps.test-support.ts';
import { syncDevicesCommand } from '#cli/notify-homeserver.ts';
import { registerUserCommand } from '#cli/register-user.ts';
import { registerKnownUser } from '#domain/accounts/registrations/register-known-user.ts';
import { registerUser } from '#domain/accounts/registrations/register-user.ts';
import { Secret } from '#platform/base/secret.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';
import { bundleWorker } from '#test/support/worker-entry.ts';

const PASSWORD = 'correct horse battery staple';
const SECRET = 'shared-secret-of-the-test';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };

const clock = new FakeClock();
const homeserver = await sharedByTests(startStandInHomeserver(SECRET, 'chat.example'));
const { endpoint, serverName } = homeserver;
const strengthWorker = await bundleWorker(
  new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url),
);

function settings(kind: string) {
  const connected = kind === 'none' ? {} : { endpoint, secret: SECRET };
  return {
    homeserver: { kind, homeserver: serverName, ...connected },
    rate_limiting: { login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT } },
  };
}

const service = await startService(settings('synapse'), { clock, strengthWorker });
const others = new Map<string, TestService>();
for (const kind of ['synapse_legacy', 'synapse_read_only', 'none'])
  others.set(kind, await startService(settings(kind), { clock, like: service, strengthWorker }));
const of = (kind: string): TestService => others.get(kind) ?? service;

beforeEach(async () => {
  clock.advanceSeconds(60);
  await sql(service.database, 'delete from queue_jobs');
  homeserver.requests.length = 0;
});

afterAll(async () => {
  for (const other of others.values()) await other.stop();
  await service.stop();
});

/** Creates an account. @param isNewAtHomeserver false: without asking the homeserver about the name */
async function register(username: string, { by = service, isNewAtHomeserver = false } = {}): Promise<void> {
  const outcome = await registerUser(by.core, {
    username,
    displayName: undefined,
    locale: 'en',
    canRequestAdmin: false,
    isNewAtHomeserver,
    emails: [],
    password: await by.core.hasher.hash(PASSWORD, { address: 'test' }),
    now: clock.now(),
  });
  expect(outcome.ok).toBe(true);
}

/** Creates a user with devices at the homeserver, and an account whose name was not checked there. */
async function registerLater(username: string, options?: Parameters<typeof register>[1]): Promise<void> {
  const { devices } = homeserver.addUser(username);
  devices.set('BEFORE', 'Phone from before');
  devices.set('TABLET', 'Tablet from before');
  await register(username, options);
}

async function signInAndOut(username: string, through = service, device = 'HERE'): Promise<void> {
  const chat = new ChatClient(through);
  const { accessToken } = await chat.login(username, PASSWORD, { device_id: device });
  await settle(through);
  const { status } = await chat.post('/logout', undefined, { authorization: `Bearer ${accessToken}` });
  expect(status).toBe(200);
  await settle(through);
}

async function settle({ core }: TestService): Promise<void> {
  clock.advanceSeconds(3);
  await notifyHomeserver(core);
}

const devicesOf = (username: string) => [...(homeserver.user(username)?.devices.keys() ?? [])].sort();
const callsOf = (name: string) => homeserver.requests.filter(({ path }) => path.endsWith(name)).length;

async function isKeeping(username: string): Promise<boolean | undefined> {
  const [row] = await sql<{ keeps: boolean }>(
    service.database,
    'select keeps_unknown_devices as keeps from users where username = $1::text',
    [username],
  );
  return row?.keeps;
}

describe.each(['synapse', 'synapse_legacy'])('at a homeserver of kind %s', (kind) => {
  const name = (username: string) => `${username}-${kind.replace('_', '-')}`;

  test('a sign-in and a sign-out delete the own device only', async () => {
    await registerLater(name('amira'));
    await signInAndOut(name('amira'), of(kind));
    expect(devicesOf(name('amira'))).toEqual(['BEFORE', 'TABLET']);
    expect(callsOf('sync_devices')).toBe(0);
    expect(await isKeeping(name('amira'))).toBe(true);
    const line = of(kind)
      .logLines()
      .findLast((one) => one.includes('homeserver.devices_kept'));
    expect(line).toMatch(/ INFO .*latchkey manage sync-devices --delete-unknown/);
  });

  test('a device from before that signs in here again ends with its session', async () => {
    await registerLater(name('bela'));
    await signInAndOut(name('bela'), of(kind), 'BEFORE');
    expect(devicesOf(name('bela'))).toEqual(['TABLET']);
  });

  test('a user whom the homeserver does not know yet is created there, and synced as usual from then on', async () => {
    await register(name('cora'));
    expect(await isKeeping(name('cora'))).toBe(true);
    await settle(of(kind));
    expect(await isKeeping(name('cora'))).toBe(false);
    homeserver.user(name('cora'))?.devices.set('STRAY', undefined);
    await signInAndOut(name('cora'), of(kind));
    expect(devicesOf(name('cora'))).toEqual([]);
  });

  test('so is a user who signs in before their job has run', async () => {
    await register(name('dilan'));
    await sql(service.database, 'delete from queue_jobs');
    await signInAndOut(name('dilan'), of(kind));
    expect(await isKeeping(name('dilan'))).toBe(false);
  });
});

test('a device that is live here stays when another one ends, and a device without a session here returns', async () => {
  await registerLater('enno');
  const chat = new ChatClient(service);
  await chat.login('enno', PASSWORD, { device_id: 'LIVE' });
  homeserver.user('enno')?.devices.delete('LIVE');
  await signInAndOut('enno');
  expect(devicesOf('enno')).toEqual(['BEFORE', 'LIVE', 'TABLET']);
});

test('accounts from the time without a homeserver keep devices that a homeserver has', async () => {
  await registerLater('femi', { by: of('none'), isNewAtHomeserver: true });
  await signInAndOut('femi');
  expect(devicesOf('femi')).toEqual(['BEFORE', 'TABLET']);
});

test('jobs that are left over without a homeserver do not change this', async () => {
  await registerLater('gesa');
  await settle(of('none'));
  expect(await isKeeping('gesa')).toBe(true);
});

test('accounts from a rehearsal keep devices, and the rehearsal does not change that', async () => {
  await register('hana', { by: of('synapse_read_only'), isNewAtHomeserver: true });
  await settle(of('synapse_read_only'));
  expect(await isKeeping('hana')).toBe(true);
  homeserver.addUser('hana').devices.set('BEFORE', undefined);
  await signInAndOut('hana');
  expect(devicesOf('hana')).toEqual(['BEFORE']);
});

test('an account by an administrator keeps devices if the homeserver had the user', async () => {
  homeserver.addUser('ilka').devices.set('BEFORE', undefined);
  const account = {
    displayName: undefined,
    locale: 'en',
    canRequestAdmin: false,
    emails: [],
    password: undefined,
    record: () => Promise.resolve(),
    now: clock.now(),
  };
  for (const username of ['ilka', 'jana'])
    expect(await registerKnownUser(service.core, { ...account, username }, undefined)).toMatchObject({ ok: true });
  expect([await isKeeping('ilka'), await isKeeping('jana')]).toEqual([true, false]);
  await settle(service);
  expect(devicesOf('ilka')).toEqual(['BEFORE']);
});

test('a name that the homeserver reported as available is synced as usual', async () => {
  await register('kian', { isNewAtHomeserver: true });
  await settle(service);
  homeserver.user('kian')?.devices.set('STRAY', undefined);
  await signInAndOut('kian');
  expect(devicesOf('kian')).toEqual([]);
});

async function eventsOfSync(): Promise<object[]> {
  return await sql(
    service.database,
    `select u.username, e.detail from audit_events e left join users u on u.id = e.user_id
      where e.detail ->> 'operation' = 'sync-devices' order by e.created_at`,
  );
}

test('manage sync-devices keeps the devices, and deletes them with --delete-unknown, now and later', async () => {
  await registerLater('lena');
  await registerLater('mona');
  const printed = { out: '', err: '' };
  const sync = async (user: string | undefined, deletesUnknown: boolean) => {
    await syncDevicesCommand(manageDeps(service, printed), { user, deletesUnknown, json: false });
    clock.advanceSeconds(60);
    await settle(service);
  };
  await sync('lena', false);
  expect(devicesOf('lena')).toEqual(['BEFORE', 'TABLET']);
  await sync('lena', true);
  expect([devicesOf('lena'), devicesOf('mona')]).toEqual([[], ['BEFORE', 'TABLET']]);
  homeserver.user('lena')?.devices.set('STRAY', undefined);
  await signInAndOut('lena');
  expect(devicesOf('lena')).toEqual([]);
  const changed = { changed: ['keeps_unknown_devices'] };
  const ofOne = { username: 'lena', detail: { target_type: 'user', ...changed } };
  expect(await eventsOfSync()).toMatchObject([ofOne]);
  for (const _ of ['allows', 'changes nothing']) await sync(undefined, true);
  expect(devicesOf('mona')).toEqual([]);
  expect(await eventsOfSync()).toMatchObject([ofOne, { username: null, detail: { actor: 'operator', ...changed } }]);
});

test('manage register-user says import first for a user of the homeserver, and creates the account on demand', async () => {
  const { devices } = homeserver.addUser('nils');
  devices.set('BEFORE', undefined);
  homeserver.state.exclusive = /^bridge-/;
  const command = (username: string, skipHomeserverCheck: boolean) =>
    registerUserCommand(manageDeps(service, { out: '', err: '' }), {
      ...{ username, upstreamProviderMapping: [], emails: [], yes: true, json: false },
      ...{ ignorePasswordComplexity: false, skipHomeserverCheck },
    });
  await expect(command('nils', false)).rejects.toThrow(/the homeserver has the user nils, .* import first: /);
  await expect(command('bridge-one', false)).rejects.toThrow('username bridge-one is taken or reserved');
  await command('nils', true);
  await settle(service);
  expect(devicesOf('nils')).toEqual(['BEFORE']);
});

test('the first admin of the environment keeps devices', async () => {
  await sql(service.database, 'truncate users cascade');
  homeserver.addUser('root').devices.set('BEFORE', undefined);
  const deps = manageDeps(service, { out: '', err: '' });
  await ensureFirstAdmin(deps, service.core.log, { username: 'root', password: new Secret(PASSWORD) });
  await settle(service);
  expect(devicesOf('root')).toEqual(['BEFORE']);
});
