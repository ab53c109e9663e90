import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findUserByName } from '#domain/accounts/find-user.ts';
import { queueProvisioning } from '#domain/homeserver/provision-user.ts';
import { Secret } from '#platform/base/secret.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { type PageService, startPages } from '#test/support/page-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';
import { lockUserCommand, unlockUserCommand } from './lock-user.ts';
import { manageDeps, type Printed } from './manage-deps.test-support.ts';

const SECRET = 'shared-secret-of-the-test';
const PASSWORD = 'correct horse battery staple';
let connected: PageService;
let alone: PageService;
let printed: Printed;

const testDatabase = await sharedByTests(createTestDatabase());
const homeserver = await sharedByTests(startStandInHomeserver(SECRET));

beforeAll(async () => {
  const { endpoint } = homeserver;
  connected = await startPages(testDatabase.database, {
    homeserver: { kind: 'synapse', endpoint, secret: new Secret(SECRET) },
  });
  alone = await startPages(testDatabase.database, { clock: connected.clock });
});

beforeEach(async () => {
  printed = { out: '', err: '' };
  await homeserver.setFault(undefined);
  homeserver.requests.length = 0;
});

afterAll(async () => {
  await connected.stop();
  await alone.stop();
});

type Lock = Parameters<typeof lockUserCommand>[1];
type Unlock = Parameters<typeof unlockUserCommand>[1];

const lock = (user: string, options: Partial<Lock> = {}, service = connected) =>
  lockUserCommand(manageDeps(service, printed), { user, deactivate: false, erase: false, json: false, ...options });
const unlock = (user: string, options: Partial<Unlock> = {}, service = connected) =>
  unlockUserCommand(manageDeps(service, printed), { user, reactivate: false, json: false, ...options });

async function rows<Row extends object>(text: string, ...params: unknown[]): Promise<Row[]> {
  return await sql<Row>(testDatabase.database, text, params);
}

/** A user with an email address and a browser session, provisioned on the homeserver. */
async function member(username: string) {
  await insertTestAccount(testDatabase.database, { username, password: PASSWORD });
  await rows(
    `insert into user_emails (id, user_id, email, email_key, created_at)
     select gen_random_uuid(), id, username || '@example.org', username || '@example.org', now() from users
      where username = $1::text`,
    username,
  );
  const there = homeserver.addUser(username);
  there.emails = [`${username}@example.org`];
  const browser = connected.browser();
  await signIn(username, browser);
  return { there, browser };
}

async function signIn(username: string, browser = connected.browser()) {
  await browser.get('/login');
  return await browser.submit({ username, password: PASSWORD });
}

/** Jobs of one user run sequentially: the second is retried after two seconds. */
async function tell(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await notifyHomeserver(connected.core);
    connected.clock.advanceSeconds(2);
  }
}

async function state(username: string) {
  const [row] = await rows<{ locked: boolean; deactivated: boolean; emails: number; passwords: number; live: number }>(
    `select u.locked_at is not null as locked, u.deactivated_at is not null as deactivated,
            (select count(*)::integer from user_emails e where e.user_id = u.id) as emails,
            (select count(*)::integer from user_passwords p where p.user_id = u.id) as passwords,
            (select count(*)::integer from user_sessions s where s.user_id = u.id and s.finished_at is null) as live
       from users u where u.username = $1::text`,
    username,
  );
  return row;
}

/** Returns the pending jobs of an account, except email notices. */
async function jobs(username: string): Promise<string[]> {
  const found = await rows<{ queue: string }>(
    `select j.queue from queue_jobs j join users u on u.id::text = j.payload ->> 'user_id'
      where u.username = $1::text and j.failed_at is null and j.queue <> 'send-security-notice'
      order by j.queue`,
    username,
  );
  return found.map(({ queue }) => queue);
}

describe('manage lock-user', () => {
  test('locks immediately, ends no session, and notifies the homeserver', async () => {
    const { there, browser } = await member('amira');
    await lock('amira');
    expect(printed.out).toBe('amira is locked\n');
    expect(await state('amira')).toMatchObject({ locked: true, deactivated: false, emails: 1, live: 1 });
    expect((await browser.get('/')).body).not.toContain('@amira:');
    expect(await jobs('amira')).toEqual(['provision-user']);
    await tell();
    expect(there).toMatchObject({ isLocked: true, emails: ['amira@example.org'] });
  });

  test('changes nothing the second time, not even the time', async () => {
    await member('again');
    await lock('@again:example.org');
    const [before] = await rows(`select locked_at from users where username = 'again'`);
    connected.clock.advanceSeconds(60);
    await lock('again', { json: true });
    expect(await rows(`select locked_at from users where username = 'again'`)).toEqual([before]);
    expect(printed.out).toContain('"username":"again","locked":true,"deactivated":false');
  });

  test.each([
    [{}, 'user not found', 1],
    [{ erase: true }, '--erase requires --deactivate', 2],
  ])('%j: %s', async (options, message, exitCode) => {
    await expect(lock('nobody', options)).rejects.toMatchObject({ message, exitCode });
  });

  test('--deactivate ends everything here before notifying the homeserver; the password is kept', async () => {
    const { there } = await member('gone');
    await lock('gone', { deactivate: true });
    expect(printed.out).toContain(
      'gone is deactivated\nended browser sessions: 1, OAuth sessions: 0, chat client sessions: 0, personal sessions: 0\n',
    );
    const gone = { locked: true, deactivated: true, emails: 0, passwords: 1, live: 0 };
    expect(await state('gone')).toEqual(gone);
    expect(there.isDeactivated).toBe(false);
    await tell();
    expect(there).toMatchObject({ isDeactivated: true, isErased: false });
    expect(await jobs('gone')).toEqual([]);
    expect((await signIn('gone')).status).not.toBe(303);
  });

  test('--erase makes the homeserver erase, and deletes the password and the display name (S-133)', async () => {
    const { there } = await member('erased');
    await rows(`update users set display_name = 'Amira Okafor' where username = 'erased'`);
    await lock('erased', { deactivate: true, erase: true });
    expect(await rows(`select display_name from users where username = 'erased'`)).toEqual([{ display_name: null }]);
    expect(await state('erased')).toMatchObject({ deactivated: true, emails: 0, passwords: 0 });
    await tell();
    expect(there).toMatchObject({ isDeactivated: true, isErased: true });
  });

  test('keeps a user deactivated while the homeserver is unavailable and notifies it later (I-21)', async () => {
    const { there } = await member('outage');
    await homeserver.setFault({ kind: 'refuse' });
    await lock('outage', { deactivate: true, erase: true });
    await tell();
    expect(await state('outage')).toMatchObject({ deactivated: true, live: 0 });
    expect(await jobs('outage')).toContain('deactivate-user');
    await homeserver.setFault(undefined);
    connected.clock.advanceSeconds(60);
    await tell();
    expect(there).toMatchObject({ isDeactivated: true, isErased: true });
    expect(await jobs('outage')).toEqual([]);
  });

  test('a late job does not create a user unknown to the homeserver', async () => {
    await insertTestAccount(testDatabase.database, { username: 'never' });
    const user = await findUserByName(testDatabase.database, 'never');
    const now = connected.clock.now();
    if (user !== undefined)
      await queueProvisioning(testDatabase.database, connected.core.homeserver, { userId: user.id, now });
    await lock('never', { deactivate: true });
    await tell();
    expect(await jobs('never')).toEqual([]);
    expect(homeserver.user('never')).toBeUndefined();
  });
});

describe('manage unlock-user', () => {
  test('lets users whose sessions continued sign in again, and notifies the homeserver', async () => {
    const { there } = await member('back');
    await lock('back');
    await tell();
    await unlock('back');
    expect(printed.out).toContain('back is unlocked\n');
    expect(await state('back')).toMatchObject({ locked: false, live: 1 });
    await tell();
    expect(there.isLocked).toBe(false);
  });

  test('does not reactivate implicitly', async () => {
    const { there } = await member('stays');
    await lock('stays', { deactivate: true });
    await unlock('stays');
    await tell();
    expect(printed.out).toContain('stays is still deactivated; use --reactivate');
    expect(await state('stays')).toMatchObject({ locked: false, deactivated: true });
    expect(there.isDeactivated).toBe(true);
  });

  test('--reactivate reactivates on the homeserver first', async () => {
    const { there } = await member('returned');
    await lock('returned', { deactivate: true });
    await tell();
    await homeserver.setFault({ kind: 'refuse' });
    await unlock('returned', { reactivate: true });
    await tell();
    expect(await state('returned'), 'nobody is active here and not there').toMatchObject({ deactivated: true });
    await homeserver.setFault(undefined);
    connected.clock.advanceSeconds(60);
    await tell();
    expect(there).toMatchObject({ isDeactivated: false, isLocked: false });
    expect(await state('returned')).toMatchObject({ locked: false, deactivated: false, emails: 0 });
    expect(await jobs('returned')).toEqual([]);
    expect((await signIn('returned')).status).toBe(303);
  });

  test('--reactivate sends nothing when the homeserver never deactivated the user', async () => {
    const { there } = await member('quick');
    await homeserver.setFault({ kind: 'refuse' });
    await lock('quick', { deactivate: true });
    await unlock('quick', { reactivate: true, json: true });
    expect(printed.out).toContain('"deactivated":true,"reactivation_queued":true');
    await homeserver.setFault(undefined);
    connected.clock.advanceSeconds(60);
    await rows(`delete from queue_jobs where queue = 'deactivate-user'`);
    await tell();
    expect(homeserver.requests.map(({ path }) => path)).not.toContain('/_synapse/mas/reactivate_user');
    expect(there.isDeactivated).toBe(false);
    expect(await state('quick')).toMatchObject({ deactivated: false });
  });
});

test('without a homeserver everything happens immediately, and no job is queued (operations 6.3)', async () => {
  await member('alone');
  await lock('alone', { deactivate: true }, alone);
  expect(await state('alone')).toMatchObject({ locked: true, deactivated: true, live: 0 });
  await unlock('alone', { reactivate: true }, alone);
  expect(printed.out).toContain('alone is reactivated\n');
  expect(await state('alone')).toMatchObject({ locked: false, deactivated: false });
  expect(await jobs('alone')).toEqual([]);
});
