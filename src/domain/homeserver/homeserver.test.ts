import { beforeEach, describe, expect, test } from 'vitest';
import type { Config } from '#config/config.ts';
import { Secret } from '#platform/base/secret.ts';
import { testConfig } from '#test/support/app.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';
import type { CallContext, Homeserver, Profile } from './homeserver.ts';
import { openHomeserver } from './open-homeserver.ts';

const SECRET = 'shared-secret-of-the-test';
const REQUEST = { kind: 'request' } as const;
const PAGE = { kind: 'page' } as const;
const clock = new FakeClock();
const job = (signal = new AbortController().signal): CallContext => ({ kind: 'job', signal });
let log: RecordingLog;

const standIn = await sharedByTests(startStandInHomeserver(SECRET));

beforeEach(async () => {
  await standIn.setFault(undefined);
  standIn.state.users.clear();
  standIn.requests.length = 0;
  log = new RecordingLog({ clock, level: 'debug' });
});

function open(settings: Partial<Config['homeserver']> = {}): Homeserver {
  const base = testConfig('http://localhost/', []).homeserver;
  const { endpoint, serverName } = standIn;
  const own = { kind: 'synapse', homeserver: serverName, endpoint, secret: new Secret(SECRET) } as const;
  const config = { protocolName: 'chat', homeserver: { ...base, ...own, ...settings } };
  return openHomeserver({ config, clock, log, version: '1.2.3' });
}

function profile(changes: Partial<Profile> = {}): Profile {
  return {
    localpart: 'amira',
    subject: '01JD3Q5Z8W2N4K6M7P9R0S1TWB',
    displayName: undefined,
    emails: [],
    isLocked: false,
    ...changes,
  };
}

const events = (event: string) => log.lines.filter((line) => line.event === event);

describe.each(['synapse', 'synapse_legacy'] as const)('a homeserver of kind %s (chat-compat 11.3, 11.4)', (kind) => {
  test('is notified of a new user with name and email addresses', async () => {
    const told = profile({ displayName: 'Amira Öz', emails: ['amira@example.org', 'a@b.example'] });
    for (const isNew of [true, false])
      expect(await open({ kind }).provisionUser(told, job())).toEqual({ ok: true, value: { isNew } });
    expect(standIn.user('amira')).toMatchObject({
      displayName: 'Amira Öz',
      emails: ['amira@example.org', 'a@b.example'],
      isLocked: false,
      subject: kind === 'synapse' ? undefined : told.subject,
    });
  });

  test('keeps an unspecified name and removes deleted addresses', async () => {
    const user = standIn.addUser('amira');
    user.displayName = 'Chosen there';
    user.emails = ['old@example.org'];
    expect(await open({ kind }).provisionUser(profile(), job())).toMatchObject({ ok: true });
    expect(user).toMatchObject({ displayName: 'Chosen there', emails: [] });
  });

  test('reports whether names are available', async () => {
    standIn.addUser('taken');
    standIn.state.exclusive = /^bridge-/;
    const homeserver = open({ kind });
    const responses = new Map<string, unknown>();
    for (const name of ['free', 'taken', 'Taken', 'bridge-x', '_x', '123', 'amirä', 'a b']) {
      responses.set(name, await homeserver.isLocalpartAvailable(name, REQUEST));
    }
    expect(
      [...responses].filter(([, response]) => JSON.stringify(response) === '{"ok":true,"value":true}'),
    ).toHaveLength(1);
    expect([...responses.values()].slice(1)).toEqual(Array(7).fill({ ok: true, value: false }));
    expect(standIn.requests.length, 'a name outside of ASCII is not asked for').toBe(7);
  });

  test('returns the data of a user', async () => {
    const value = { displayName: 'Amira', avatarUrl: 'mxc://example.org/face', isDeactivated: true };
    Object.assign(standIn.addUser('amira'), value);
    const homeserver = open({ kind });
    expect(await homeserver.queryUser('amira', PAGE)).toEqual({ ok: true, value });
    expect(await homeserver.queryUser('nobody', PAGE)).toMatchObject({ ok: false, reason: 'unknown-user' });
  });

  test.each([true, false])('deactivates a user, erased: %s, and reactivates the user', async (isErased) => {
    const user = standIn.addUser('amira');
    const homeserver = open({ kind });
    expect(await homeserver.deleteUser('amira', isErased, job())).toMatchObject({ ok: true });
    expect(user).toMatchObject({ isDeactivated: true, isErased });
    expect(await homeserver.reactivateUser('amira', job())).toMatchObject({ ok: true });
    expect(user.isDeactivated).toBe(false);
  });

  test('reports an unknown user on deactivation', async () => {
    expect(await open({ kind }).deleteUser('nobody', true, job())).toMatchObject({
      ok: false,
      reason: 'unknown-user',
    });
  });

  test('is notified of a device, whose name stays unless one is sent', async () => {
    const { devices } = standIn.addUser('amira');
    const homeserver = open({ kind });
    for (const id of ['PHONE', 'of two words', 'a/b?c#d%', 'é']) {
      expect(await homeserver.upsertDevice('amira', { id, name: `${id} named` }, REQUEST)).toMatchObject({
        ok: true,
      });
      expect(await homeserver.upsertDevice('amira', { id, name: undefined }, REQUEST)).toMatchObject({ ok: true });
      expect(devices.get(id)).toBe(`${id} named`);
    }
    expect(await homeserver.upsertDevice('nobody', { id: 'X', name: 'N' }, REQUEST)).toMatchObject({
      ok: false,
      reason: 'unknown-user',
    });
  });

  test('is notified of a new display name and of its removal', async () => {
    const user = standIn.addUser('amira');
    const homeserver = open({ kind });
    for (const name of ['Amira Öz', 'x'.repeat(256), '👋'.repeat(255), undefined]) {
      expect(await homeserver.setDisplayName('amira', name, REQUEST)).toMatchObject({ ok: true });
      expect(user.displayName).toBe(name);
    }
    expect(await homeserver.setDisplayName('nobody', 'N', REQUEST)).toMatchObject({
      ok: false,
      reason: 'unknown-user',
    });
  });

  test('allows a user to replace the cross-signing keys for a while', async () => {
    const user = standIn.addUser('amira');
    const homeserver = open({ kind });
    expect(await homeserver.allowCrossSigningReset('amira', REQUEST)).toMatchObject({ ok: true });
    expect(user.resetAllowedUntil).toBeGreaterThan(standIn.state.clock.now());
    expect(await homeserver.allowCrossSigningReset('nobody', REQUEST)).toMatchObject({
      ok: false,
      reason: 'unknown-user',
    });
  });

  test('is notified of another name of a known device', async () => {
    const { devices } = standIn.addUser('amira');
    const homeserver = open({ kind });
    for (const id of ['PHONE', 'of two words', 'a/b?c#d%', 'é']) {
      devices.set(id, 'before');
      expect(await homeserver.renameDevice('amira', { id, name: 'after' }, REQUEST)).toMatchObject({ ok: true });
      expect(devices.get(id)).toBe('after');
    }
    expect(await homeserver.renameDevice('amira', { id: 'NONE', name: 'N' }, REQUEST)).toMatchObject({
      ok: false,
      reason: 'unknown-user',
    });
  });

  test('has no device whose ID would lead to another path', async () => {
    const { devices } = standIn.addUser('amira');
    const homeserver = open({ kind });
    for (const id of ['.', '..']) {
      expect(await homeserver.upsertDevice('amira', { id, name: 'N' }, REQUEST)).toMatchObject({ ok: true });
    }
    expect([...devices.keys()]).toEqual(['.', '..']);
    expect(standIn.requests.every(({ method }) => method === 'POST')).toBe(true);
  });

  test('is sent all devices: others are deleted, and one without a session is left alone', async () => {
    const user = standIn.addUser('amira');
    for (const id of ['KEPT', 'SURPLUS', 'DRY']) user.devices.set(id, `name of ${id}`);
    user.dehydratedDevice = 'DRY';
    const homeserver = open({ kind });
    expect(await homeserver.syncDevices('amira', ['KEPT', 'MISSING'], job())).toMatchObject({ ok: true });
    expect([...user.devices]).toEqual([
      ['KEPT', 'name of KEPT'],
      ['DRY', 'name of DRY'],
      ['MISSING', undefined],
    ]);
    expect(await homeserver.syncDevices('amira', [], job())).toMatchObject({ ok: true });
    expect([...user.devices.keys()]).toEqual(['DRY']);
    expect(await homeserver.syncDevices('nobody', [], job())).toMatchObject({ ok: false, reason: 'unknown-user' });
  });

  test('is called below a path in the endpoint, with the user agent of the service', async () => {
    const homeserver = open({ kind, endpoint: `${standIn.endpoint}inside/` });
    await homeserver.queryUser('amira', PAGE);
    expect(standIn.requests[0]?.path).toMatch(/^\/inside\/_synapse\//);
    expect(standIn.requests[0]).toMatchObject({ authorization: `Bearer ${SECRET}`, userAgent: 'latchkey/1.2.3' });
  });

  test('with another secret is unavailable until the operator fixes it', async () => {
    const homeserver = open({ kind, secret: new Secret('another-secret-of-the-test') });
    expect(await homeserver.provisionUser(profile(), job())).toMatchObject({ ok: false, reason: 'unavailable' });
    expect(await homeserver.isLocalpartAvailable('amira', REQUEST)).toMatchObject({
      ok: false,
      reason: 'unavailable',
    });
    expect(events('homeserver.failed')).toHaveLength(1);
  });
});

test('a locked user is reported as locked to the homeserver, and each value is either set or unset', async () => {
  await open().provisionUser(profile({ isLocked: true, displayName: 'A' }), job());
  await open().provisionUser(profile({ emails: ['a@b.example'] }), job());
  expect(standIn.requests.map(({ body }) => body)).toEqual([
    { localpart: 'amira', set_displayname: 'A', unset_emails: true, locked: true },
    { localpart: 'amira', set_emails: ['a@b.example'], locked: false },
  ]);
});

describe('a read-only homeserver', () => {
  test('is queried but not changed, and the log contains the skipped changes', async () => {
    standIn.addUser('amira');
    const homeserver = open({ kind: 'synapse_read_only' });
    expect(homeserver.isConnected).toBe(true);
    expect(await homeserver.isLocalpartAvailable('amira', REQUEST)).toEqual({ ok: true, value: false });
    expect(await homeserver.queryUser('amira', PAGE)).toMatchObject({ ok: true });
    expect(standIn.requests.splice(0)).toHaveLength(2);
    for (const call of [
      homeserver.provisionUser(profile(), job()),
      homeserver.deleteUser('amira', true, job()),
      homeserver.reactivateUser('amira', job()),
      homeserver.setDisplayName('amira', 'A', REQUEST),
      homeserver.setDisplayName('amira', undefined, REQUEST),
      homeserver.allowCrossSigningReset('amira', REQUEST),
      homeserver.renameDevice('amira', { id: 'PHONE', name: 'P' }, REQUEST),
      homeserver.upsertDevice('amira', { id: 'PHONE', name: undefined }, REQUEST),
      homeserver.syncDevices('amira', ['PHONE', 'LAPTOP'], job()),
    ]) {
      expect(await call).toMatchObject({ ok: true });
    }
    expect(standIn.requests).toEqual([]);
    expect(events('homeserver.skipped').map(({ level, fields }) => [level, fields['call'], fields['devices']])).toEqual(
      [
        ['info', 'provision_user', undefined],
        ['info', 'delete_user', undefined],
        ['info', 'reactivate_user', undefined],
        ['info', 'set_displayname', undefined],
        ['info', 'unset_displayname', undefined],
        ['info', 'allow_cross_signing_reset', undefined],
        ['info', 'update_device_display_name', 'PHONE'],
        ['info', 'upsert_device', 'PHONE'],
        ['info', 'sync_devices', 'PHONE LAPTOP'],
      ],
    );
  });
});

describe('without a homeserver', () => {
  test('every name is available, and nothing is sent', async () => {
    const homeserver = open({ kind: 'none' });
    expect(homeserver.isConnected).toBe(false);
    expect(await homeserver.isLocalpartAvailable('amira', REQUEST)).toEqual({ ok: true, value: true });
    expect(await homeserver.provisionUser(profile(), job())).toMatchObject({ ok: true });
    expect(await homeserver.deleteUser('amira', false, job())).toMatchObject({ ok: true });
    expect(await homeserver.reactivateUser('amira', job())).toMatchObject({ ok: true });
    expect(await homeserver.setDisplayName('amira', 'A', REQUEST)).toMatchObject({ ok: true });
    expect(await homeserver.renameDevice('amira', { id: 'PHONE', name: 'P' }, REQUEST)).toMatchObject({ ok: true });
    expect(await homeserver.upsertDevice('amira', { id: 'PHONE', name: 'P' }, REQUEST)).toMatchObject({ ok: true });
    expect(await homeserver.syncDevices('amira', ['PHONE'], job())).toMatchObject({ ok: true });
    expect(await homeserver.allowCrossSigningReset('amira', REQUEST)).toMatchObject({ ok: false, reason: 'refused' });
    expect(standIn.requests).toEqual([]);
  });
});

/** Responses and their meaning, with and without retries (chat-compat 11.8, security F-17). */
const RESPONSES: readonly [status: number, body: string, reason: string][] = [
  [500, '{}', 'unavailable'],
  [502, '<html>', 'unavailable'],
  [503, '{"errcode":"M_UNKNOWN"}', 'unavailable'],
  [408, '{}', 'unavailable'],
  [401, '{"errcode":"M_UNKNOWN_TOKEN"}', 'unavailable'],
  [403, '{"errcode":"M_UNKNOWN"}', 'unavailable'],
  [404, '{"errcode":"M_UNRECOGNIZED"}', 'unavailable'],
  [404, '<html>nginx</html>', 'unavailable'],
  [404, '{"errcode":"M_NOT_FOUND"}', 'unknown-user'],
  [400, '{"errcode":"M_INVALID_PARAM"}', 'refused'],
  [400, 'no JSON', 'refused'],
  [400, '{"errcode":7}', 'refused'],
  [405, '{}', 'refused'],
  [413, '{}', 'refused'],
  [200, '<html>sign in to the network</html>', 'unavailable'],
  [200, '[]', 'unavailable'],
  [200, '"yes"', 'unavailable'],
  [200, '', 'unavailable'],
  [200, `{"x":"${'x'.repeat(1024 * 1024)}"}`, 'unavailable'],
  [302, '{}', 'unavailable'],
];

test.each(RESPONSES)('the response %i %.30j means %s', async (status, body, reason) => {
  const headers = { location: `${standIn.endpoint}elsewhere` };
  await standIn.setFault({ kind: 'answer', status, body, headers });
  expect(await open().provisionUser(profile(), job())).toMatchObject({ ok: false, reason });
  expect(
    standIn.requests.map(({ path }) => path),
    'a redirect would take the secret along',
  ).toEqual(['/_synapse/mas/provision_user']);
});

test.each([
  ['7', 7],
  ['999999', 3600],
  ['soon', undefined],
  ['-1', undefined],
])('Retry-After: %s', async (value, retryAfterSeconds) => {
  await standIn.setFault({ kind: 'answer', status: 429, headers: { 'retry-after': value } });
  const result = await open().provisionUser(profile(), job());
  expect(result).toEqual({ ok: false, reason: 'unavailable', detail: '429', retryAfterSeconds });
});

test.each([
  [401, true],
  [403, true],
  [404, true],
  [429, undefined],
  [503, undefined],
])('the response %i requires operator action: %s', async (status, needsOperator) => {
  await standIn.setFault({ kind: 'answer', status });
  const result = await open().upsertDevice('amira', { id: 'PHONE', name: undefined }, REQUEST);
  expect(result).toMatchObject({ ok: false, reason: 'unavailable' });
  expect('needsOperator' in result ? result.needsOperator : undefined).toBe(needsOperator);
});

test.each(['refuse', 'close'] as const)('an unreachable homeserver (%s) is no response', async (kind) => {
  await standIn.setFault({ kind });
  const result = await open().provisionUser(profile(), job());
  expect(result).toMatchObject({
    ok: false,
    reason: 'unavailable',
    detail: expect.stringMatching(/^connection \(ECONN/),
  });
});

test('waits for a late response as long as a page waits, and not longer', async () => {
  await standIn.setFault({ kind: 'hang' });
  const result = await open().queryUser('amira', PAGE);
  expect(result).toMatchObject({ ok: false, reason: 'unavailable', detail: expect.stringMatching(/^timeout/) });
  expect(events('homeserver.failed')).toHaveLength(1);
  expect(events('homeserver.slow')).toHaveLength(1);
});

test('pages that timed out do not block callers that can wait longer', async () => {
  const homeserver = open();
  await standIn.setFault({ kind: 'hang' });
  await Promise.all(Array.from({ length: 5 }, () => homeserver.queryUser('amira', PAGE)));
  expect(await homeserver.queryUser('amira', PAGE), 'further pages do not wait').toMatchObject({
    ok: false,
    detail: expect.stringContaining('not called'),
  });
  await standIn.setFault(undefined);
  expect(await homeserver.isLocalpartAvailable('amira', REQUEST)).toEqual({ ok: true, value: true });
});

test('a job that ends aborts its call', async () => {
  await standIn.setFault({ kind: 'hang' });
  const aborting = new AbortController();
  const call = open().provisionUser(profile(), job(aborting.signal));
  await expect.poll(() => standIn.requests.length).toBe(1);
  aborting.abort();
  expect(await call).toMatchObject({ ok: false, reason: 'unavailable' });
});

test('reuses connections, and one closed by the homeserver does not fail a call', async () => {
  const homeserver = open();
  const before = standIn.connections();
  for (let count = 0; count < 5; count += 1) await homeserver.queryUser('nobody', PAGE);
  expect(standIn.connections() - before).toBe(1);
  await standIn.setFault({ kind: 'close', isOnce: true });
  expect(await homeserver.provisionUser(profile(), job())).toMatchObject({ ok: true });
  expect(standIn.requests).toHaveLength(7);
  expect(standIn.connections() - before).toBe(2);
});

test('F-20: a call that may take minutes has a connection of its own, since a kept one may be dead', async () => {
  standIn.addUser('amira');
  const homeserver = open();
  const before = standIn.connections();
  expect(await homeserver.queryUser('amira', PAGE)).toMatchObject({ ok: true });
  expect(await homeserver.syncDevices('amira', [], job())).toMatchObject({ ok: true });
  expect(standIn.connections() - before).toBe(2);
});

test('limits concurrent calls to the configured number', async () => {
  await standIn.setFault({ kind: 'hang' });
  const homeserver = open({ maxConcurrent: 2 });
  const aborting = new AbortController();
  const calls = Array.from({ length: 6 }, () => homeserver.queryUser('amira', job(aborting.signal)));
  await expect.poll(() => standIn.requests.length).toBe(2);
  await new Promise((resolve) => setImmediate(resolve));
  expect(standIn.requests.length).toBe(2);
  aborting.abort();
  for (const call of calls) expect(await call).toMatchObject({ ok: false, reason: 'unavailable' });
});

describe('after five consecutive failures (operations 9.3)', () => {
  async function fail(homeserver: Homeserver, times: number): Promise<void> {
    for (let count = 0; count < times; count += 1) await homeserver.isLocalpartAvailable('amira', REQUEST);
  }

  test.each([
    ['refused connections', { kind: 'refuse' }],
    ['answers 500', { kind: 'answer', status: 500 }],
  ] as const)('%s: users do not wait, for ten seconds', async (_, fault) => {
    const homeserver = open();
    await standIn.setFault(fault);
    await fail(homeserver, 5);
    await standIn.setFault(undefined);
    standIn.requests.length = 0;
    await fail(homeserver, 3);
    clock.advanceSeconds(9);
    await fail(homeserver, 1);
    expect(standIn.requests).toEqual([]);
    clock.advanceSeconds(1);
    expect(await homeserver.isLocalpartAvailable('amira', REQUEST)).toEqual({ ok: true, value: true });
    expect(await homeserver.isLocalpartAvailable('amira', REQUEST)).toEqual({ ok: true, value: true });
  });

  test('one call at a time checks for recovery, and another failure restarts the pause', async () => {
    const homeserver = open();
    await standIn.setFault({ kind: 'answer', status: 500 });
    await fail(homeserver, 5);
    clock.advanceSeconds(10);
    standIn.requests.length = 0;
    await Promise.all(Array.from({ length: 5 }, () => fail(homeserver, 1)));
    expect(standIn.requests).toHaveLength(1);
    await fail(homeserver, 1);
    expect(standIn.requests).toHaveLength(1);
  });

  test('jobs continue, and report the recovery', async () => {
    const homeserver = open();
    await standIn.setFault({ kind: 'refuse' });
    await fail(homeserver, 5);
    await standIn.setFault(undefined);
    expect(await homeserver.provisionUser(profile(), job())).toMatchObject({ ok: true });
    expect(await homeserver.isLocalpartAvailable('karim', REQUEST)).toEqual({ ok: true, value: true });
  });

  test('four failures and a rejection are not enough: the homeserver has responded', async () => {
    const homeserver = open();
    for (let round = 0; round < 2; round += 1) {
      await standIn.setFault({ kind: 'answer', status: 500 });
      await fail(homeserver, 4);
      await standIn.setFault({ kind: 'answer', status: 403 });
      await fail(homeserver, 1);
    }
    await standIn.setFault(undefined);
    expect(await homeserver.isLocalpartAvailable('amira', REQUEST)).toEqual({ ok: true, value: true });
  });
});

test('no log line contains the secret or a response body', async () => {
  const homeserver = open();
  await standIn.setFault({ kind: 'answer', status: 500, body: `{"errcode":"M_UNKNOWN","error":"${SECRET} inside"}` });
  await homeserver.isLocalpartAvailable('amira', REQUEST);
  await standIn.setFault({ kind: 'refuse' });
  await homeserver.isLocalpartAvailable('amira', REQUEST);
  expect(events('homeserver.failed')).toHaveLength(2);
  expect(log.written.join('\n')).not.toContain(SECRET);
});
