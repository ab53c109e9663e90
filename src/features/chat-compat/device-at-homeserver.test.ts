import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ChatClient, type ChatResponse, textOf } from '#test/support/chat-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';

const PASSWORD = 'correct horse battery staple';
const SECRET = 'shared-secret-of-the-test';
/** Log lines of rejected logins. */
const EXPECTED = ['homeserver.refused', '" 500 Internal', '" 503 Service'];
/** High enough for the many password checks of these tests. */
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };

const clock = new FakeClock();
let chat: ChatClient;

const homeserver = await sharedByTests(startStandInHomeserver(SECRET, 'chat.example'));
const service = await sharedByTests(startService(settings(), { clock, expectedErrors: EXPECTED }));

beforeAll(async () => {
  chat = new ChatClient(service);
  for (const name of ['amira', 'lena', 'dana', 'newcomer']) await service.registerUser(name, PASSWORD);
  await sql(service.database, `update users set locked_at = created_at where username = 'lena'`);
  await sql(service.database, `update users set deactivated_at = created_at where username = 'dana'`);
});

beforeEach(async () => {
  await homeserver.setFault(undefined);
  // The homeserver's circuit breaker may still be open from the previous test.
  clock.advanceSeconds(11);
  await sql(service.database, 'delete from queue_jobs where failed_at is null');
  await sql(service.database, 'delete from homeserver_leases');
  await sql(service.database, 'delete from compat_sessions');
  homeserver.state.users.clear();
  for (const name of ['amira', 'lena', 'dana']) homeserver.addUser(name);
  homeserver.requests.length = 0;
});

afterEach(async () => {
  expect(await rowsOf('homeserver_leases'), 'every lease was given back').toEqual([]);
});

function settings() {
  const { endpoint, serverName } = homeserver;
  return {
    homeserver: { kind: 'synapse', homeserver: serverName, endpoint, secret: SECRET },
    rate_limiting: { login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT } },
  };
}

async function rowsOf(table: 'homeserver_leases' | 'compat_sessions') {
  return await sql<{ user_id: string }>(service.database, `select user_id from ${table}`);
}

async function liveDevices(): Promise<readonly string[]> {
  const rows = await sql<{ device_id: string }>(
    service.database,
    'select device_id from compat_sessions where finished_at is null order by device_id',
  );
  return rows.map(({ device_id: id }) => id);
}

async function queuedSyncs(): Promise<readonly string[]> {
  const rows = await sql<{ username: string }>(
    service.database,
    `select u.username from queue_jobs j join users u on u.id::text = j.payload ->> 'user_id'
      where j.queue = 'sync-devices' order by 1`,
  );
  return rows.map(({ username }) => username);
}

const calls = () => homeserver.requests.map(({ path }) => path.replace('/_synapse/mas/', ''));

function logIn(deviceId: string, fields: Readonly<Record<string, unknown>> = {}): Promise<ChatResponse> {
  return chat.tryLogin('amira', PASSWORD, { device_id: deviceId, ...fields });
}

function expectError(response: ChatResponse, status: number, errcode: string, retryAfter: string | null = null): void {
  expect([response.status, response.body['errcode']]).toEqual([status, errcode]);
  expect(response.body['error']).toEqual(expect.any(String));
  expect(response.headers.get('retry-after')).toBe(retryAfter);
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
}

async function takeLease(seconds: number): Promise<void> {
  await sql(
    service.database,
    `insert into homeserver_leases (user_id, owner, expires_at)
     select id, gen_random_uuid(), $1::timestamptz from users where username = 'amira'`,
    [new Date(clock.now() + seconds * 1000)],
  );
}

/** Holds back the homeserver's responses. @returns a function that releases them */
async function holdResponses(): Promise<() => Promise<void>> {
  let resolve = () => {};
  const until = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  await homeserver.setFault({ kind: 'wait', until });
  return async () => {
    resolve();
    await homeserver.setFault(undefined);
  };
}

describe('the homeserver has the device before the session exists (chat-compat 5.5)', () => {
  test('I-02: it has the device with its name when the login responds, after three statements', async () => {
    const response = await logIn('PHONE', { initial_device_display_name: 'Phone' });
    expect(response.status).toBe(200);
    expect(homeserver.requests.map(({ body }) => body)).toEqual([
      { localpart: 'amira', device_id: 'PHONE', display_name: 'Phone' },
    ]);
    expect(homeserver.user('amira')?.devices.get('PHONE')).toBe('Phone');
    expect(service.requestLines().at(-1)).toMatchObject({ queries: 3 });
    expect(await queuedSyncs()).toEqual([]);
  });

  test('nothing is stored and no transaction is open during the request', async () => {
    const letGo = await holdResponses();
    const response = logIn('PHONE');
    await expect.poll(calls).toEqual(['upsert_device']);
    expect(await rowsOf('compat_sessions')).toEqual([]);
    const open = await sql(
      service.database,
      `select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and xact_start is not null
         and pid <> pg_backend_pid()`,
    );
    expect(open).toEqual([]);
    await letGo();
    expect((await response).status).toBe(200);
  });

  test('I-11: a login on a device of a live session keeps its name, and ends only that session', async () => {
    const first = await chat.login('amira', PASSWORD, { device_id: 'PHONE', initial_device_display_name: 'First' });
    await logIn('LAPTOP');
    await logIn('PHONE', { initial_device_display_name: 'Second' });
    expect([...(homeserver.user('amira')?.devices ?? [])]).toEqual([
      ['PHONE', 'First'],
      ['LAPTOP', undefined],
    ]);
    expect(await liveDevices()).toEqual(['LAPTOP', 'PHONE']);
    expect((await chat.post('/logout', undefined, { authorization: `Bearer ${first.accessToken}` })).status).toBe(401);
    expect(await queuedSyncs(), 'the device lives on').toEqual([]);
  });

  test('I-23: an unknown user is created there, and the login succeeds', async () => {
    const response = await chat.tryLogin('newcomer', PASSWORD, { device_id: 'PHONE' });
    expect(response.status).toBe(200);
    expect(calls()).toEqual(['upsert_device', 'provision_user', 'upsert_device']);
    expect([...(homeserver.user('newcomer')?.devices.keys() ?? [])]).toEqual(['PHONE']);
  });

  test.each(['of three words', 'ä/ö?#%', '📱'])('I-25: it accepts the device id %s', async (id) => {
    expect((await logIn(id)).body['device_id']).toBe(id);
    expect([...(homeserver.user('amira')?.devices.keys() ?? [])]).toEqual([id]);
  });

  test('I-25: a name of 200 characters is truncated to its limit', async () => {
    expect((await logIn('PHONE', { initial_device_display_name: 'x'.repeat(200) })).status).toBe(200);
    expect(homeserver.user('amira')?.devices.get('PHONE')).toBe('x'.repeat(100));
  });

  test('I-25: a device id that it reserves is refused, and the client may try another one', async () => {
    homeserver.state.hiddenDevice = 'KEY';
    expectError(await logIn('KEY'), 403, 'M_FORBIDDEN');
    expect(await liveDevices()).toEqual([]);
    expect((await logIn('OTHER')).status).toBe(200);
  });

  test.each([
    ['lena', 'M_USER_LOCKED', 401],
    ['dana', 'M_USER_DEACTIVATED', 403],
  ])('it is not called for %s', async (name, errcode, status) => {
    expectError(await chat.tryLogin(name, PASSWORD), status, errcode);
    expect(calls()).toEqual([]);
  });
});

describe('an unreachable homeserver (chat-compat 5.5, 11.9)', () => {
  test('I-22: connection refused: returns 503, stores nothing, and syncs after recovery', async () => {
    await logIn('OLD');
    await homeserver.setFault({ kind: 'refuse' });
    expectError(await logIn('NEW'), 503, 'M_UNKNOWN', '5');
    expectError(await logIn('OLD'), 503, 'M_UNKNOWN', '5');
    expect(await liveDevices(), 'the older session goes on').toEqual(['OLD']);
    expect(await queuedSyncs(), 'one for both').toEqual(['amira']);
    await homeserver.setFault(undefined);
    homeserver.requests.length = 0;
    await notifyHomeserver(service.core);
    expect(homeserver.requests.map(({ body }) => body)).toEqual([{ localpart: 'amira', devices: ['OLD'] }]);
  });

  test('I-22: connection refused: signed-in clients can refresh, be introspected, and sign out', async () => {
    const { refreshToken } = await chat.login('amira', PASSWORD, { refresh_token: true });
    await homeserver.setFault({ kind: 'refuse' });
    const refreshed = await chat.post('/refresh', { refresh_token: refreshToken });
    expect(refreshed.status).toBe(200);
    const token = textOf(refreshed, 'access_token');
    const introspection = await fetch(`${service.address}/oauth2/introspect`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}`, 'x-mas-supports-device-id': '1' },
      body: new URLSearchParams({ token }),
    });
    expect(await introspection.json()).toMatchObject({ active: true, username: 'amira' });
    expect((await chat.post('/logout', undefined, { authorization: `Bearer ${token}` })).status).toBe(200);
  });

  test('a lost response: the next sync deletes the device it created', async () => {
    await homeserver.setFault({ kind: 'answer', status: 502 });
    expectError(await logIn('LOST'), 503, 'M_UNKNOWN', '5');
    expect([...(homeserver.user('amira')?.devices.keys() ?? [])]).toEqual(['LOST']);
    await homeserver.setFault(undefined);
    await notifyHomeserver(service.core);
    expect([...(homeserver.user('amira')?.devices.keys() ?? [])]).toEqual([]);
  });

  test.each([
    ['is overloaded and sends Retry-After', { status: 429, headers: { 'retry-after': '17' } }, '17'],
    ['sends an unexpected response', { status: 200, body: '<html>sign in to the network</html>' }, '5'],
    ['sends an empty response', { status: 200, body: '' }, '5'],
  ])('it %s', async (_what, fault, retryAfter) => {
    await homeserver.setFault({ kind: 'answer', ...fault });
    expectError(await logIn('PHONE'), 503, 'M_UNKNOWN', retryAfter);
    expect(await liveDevices()).toEqual([]);
    expect(await queuedSyncs()).toEqual(['amira']);
  });

  test.each([
    ['the homeserver has another secret', { status: 403, body: '{"errcode":"M_UNKNOWN"}' }],
    ['its interface is disabled', { status: 404, body: '{"errcode":"M_UNRECOGNIZED"}' }],
    ['it rejects the request for another reason', { status: 400, body: '{"errcode":"M_INVALID_PARAM"}' }],
  ])('%s: returns 500 and alerts the operator', async (_what, fault) => {
    await homeserver.setFault({ kind: 'answer', ...fault });
    const before = service.logLines().length;
    expectError(await logIn('PHONE'), 500, 'M_UNKNOWN');
    expect(await liveDevices()).toEqual([]);
    const errors = service
      .logLines()
      .slice(before)
      .filter((line) => line.includes(' homeserver.refused '));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(new RegExp(` ERROR .* reason="?${fault.status} `));
    expect(errors[0]).not.toContain(SECRET);
  });

  test('after five consecutive failures requests fail fast, and then probe one at a time', async () => {
    await homeserver.setFault({ kind: 'answer', status: 500 });
    for (let count = 0; count < 5; count += 1) await logIn('PHONE');
    homeserver.requests.length = 0;
    expectError(await logIn('PHONE'), 503, 'M_UNKNOWN', '5');
    expect(calls()).toEqual([]);
    await homeserver.setFault(undefined);
    clock.advanceSeconds(10);
    expect((await logIn('PHONE')).status).toBe(200);
  });

  test('a right password costs no rate limit, whatever the homeserver does', async () => {
    const limited = await startService(
      {
        ...settings(),
        rate_limiting: {
          login: { per_ip: { burst: 2, per_second: 0.001 }, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
        },
      },
      { clock, like: service, expectedErrors: EXPECTED },
    );
    await homeserver.setFault({ kind: 'answer', status: 500 });
    const statuses: number[] = [];
    for (let count = 0; count < 4; count += 1)
      statuses.push((await new ChatClient(limited).tryLogin('amira', PASSWORD)).status);
    expect(statuses).toEqual([503, 503, 503, 503]);
    await limited.stop();
  });
});

describe('a session that the database cannot store after the homeserver created the device (F-12)', () => {
  async function refuseRowsOf(table: string): Promise<void> {
    await sql(
      service.database,
      `create or replace function refuse_row() returns trigger language plpgsql as
        $$ begin raise exception 'no space left' using errcode = '53100'; end $$`,
    );
    await sql(
      service.database,
      `create trigger refused before insert on ${table} for each row execute function refuse_row()`,
    );
  }
  const acceptRowsOf = (table: string) => sql(service.database, `drop trigger refused on ${table}`);

  test('returns 503, and a sync deletes the device', async () => {
    await refuseRowsOf('compat_sessions');
    expectError(await logIn('PHONE'), 503, 'M_UNKNOWN', '5');
    await acceptRowsOf('compat_sessions');
    expect(await queuedSyncs()).toEqual(['amira']);
    await notifyHomeserver(service.core);
    expect([...(homeserver.user('amira')?.devices.keys() ?? [])]).toEqual([]);
    expect((await logIn('PHONE')).status).toBe(200);
  });

  test('without a stored sync: the lease expires, and its next owner queues the sync', async () => {
    await refuseRowsOf('compat_sessions');
    await refuseRowsOf('queue_jobs');
    expectError(await logIn('PHONE'), 503, 'M_UNKNOWN', '5');
    await acceptRowsOf('compat_sessions');
    await acceptRowsOf('queue_jobs');
    expect(await queuedSyncs()).toEqual([]);
    expect(await rowsOf('homeserver_leases')).toHaveLength(1);
    clock.advanceSeconds(60);
    expect((await logIn('LAPTOP')).status).toBe(200);
    expect(await queuedSyncs()).toEqual(['amira']);
  });
});

describe("the user's lease (chat-compat 11.7)", () => {
  test('delays a login until it is free', async () => {
    await takeLease(60);
    const response = logIn('PHONE');
    await expect.poll(async () => service.requestLines().length).toBeGreaterThan(0);
    expect(calls()).toEqual([]);
    await sql(service.database, 'delete from homeserver_leases');
    expect((await response).status).toBe(200);
  });

  test('makes a login fail with 503 after five seconds, without calling the homeserver', async () => {
    await takeLease(60);
    const response = logIn('PHONE');
    const isDecided = response.then(() => true);
    // The password is checked first. The five seconds start after that.
    while (!(await Promise.race([isDecided, new Promise((resolve) => setTimeout(resolve, 100, false))]))) {
      clock.advanceSeconds(1);
    }
    expectError(await response, 503, 'M_UNKNOWN', '5');
    expect(calls()).toEqual([]);
    await sql(service.database, 'delete from homeserver_leases');
  });

  test('of a dead process is taken over, and the user is synced', async () => {
    await takeLease(-1);
    expect((await logIn('PHONE')).status).toBe(200);
    expect(await queuedSyncs()).toEqual(['amira']);
  });

  test('lost during the homeserver call makes a login store nothing', async () => {
    const letGo = await holdResponses();
    const response = logIn('PHONE');
    await expect.poll(calls).toEqual(['upsert_device']);
    await sql(service.database, 'update homeserver_leases set owner = gen_random_uuid()');
    await letGo();
    expectError(await response, 503, 'M_UNKNOWN', '5');
    expect(await liveDevices()).toEqual([]);
    expect(await queuedSyncs(), 'the device is there').toEqual(['amira']);
    await sql(service.database, 'delete from homeserver_leases');
  });

  test('delays a sync until the login ends, and the sync keeps its device', async () => {
    const letGo = await holdResponses();
    const response = logIn('PHONE');
    await expect.poll(calls).toEqual(['upsert_device']);
    await sql(
      service.database,
      `insert into queue_jobs (id, queue, payload, created_at, due_at)
       select gen_random_uuid(), 'sync-devices', jsonb_build_object('user_id', id), created_at, created_at
         from users where username = 'amira'`,
    );
    await notifyHomeserver(service.core);
    expect(calls()).toEqual(['upsert_device']);
    await letGo();
    expect((await response).status).toBe(200);
    clock.advanceSeconds(2);
    await notifyHomeserver(service.core);
    expect(homeserver.requests.at(-1)?.body).toEqual({ localpart: 'amira', devices: ['PHONE'] });
  });

  test('is released without a session when the client disconnects during the homeserver call', async () => {
    const letGo = await holdResponses();
    const leaving = new AbortController();
    const left = chat.request('/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'm.login.password', user: 'amira', password: PASSWORD, device_id: 'GONE' }),
      signal: leaving.signal,
    });
    await expect.poll(calls).toEqual(['upsert_device']);
    leaving.abort();
    await expect(left).rejects.toThrow();
    // Once this request is answered, the service has noticed the disconnect.
    await chat.request('/login');
    await expect.poll(async () => (await sql(service.database, `select from homeserver_leases`)).length).toBe(1);
    await letGo();
    await expect.poll(queuedSyncs).toEqual(['amira']);
    expect(await liveDevices()).toEqual([]);
  });
});
