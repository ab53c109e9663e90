/** General guarantees of the API, beyond its individual operations (operations 4). */
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { toUuid } from '#platform/base/ids.ts';
import { AdminClient } from '#test/support/admin-client.ts';
import type { Browser } from '#test/support/browser.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import type { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { freePort } from '#test/support/free-port.js';
import { GraphqlClient } from '#test/support/graphql-client.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { StandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';
import {
  ABSENT,
  type AdministeredService,
  CLIENT,
  PASSWORD,
  SECOND_CLIENT,
  startAdministeredService,
} from './administered-service.test-support.ts';
import { TAGS } from './operations.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
let clock: FakeClock;
let homeserver: StandInHomeserver;
let service: TestService;
let user: AdministeredService['person'];
let jobsOf: AdministeredService['jobsOf'];
let program: ChatOAuthClient;
let token: string;
let admin: AdminClient;

const administered = await sharedByTests(
  startAdministeredService({
    clients: [
      chatClientSettings(CLIENT, {
        grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
        client_uri: 'https://harbour.example/chat',
      }),
      chatClientSettings(SECOND_CLIENT, { grant_types: ['authorization_code', 'refresh_token'], client_name: 'Quay' }),
    ],
  }),
);

beforeAll(async () => {
  ({ clock, homeserver, jobsOf, person: user, service } = administered);
  program = new ChatOAuthClient(service, CLIENT);
  const { body } = await program.post('/oauth2/token', { grant_type: 'client_credentials', scope: 'urn:mas:admin' });
  token = String(body['access_token']);
  admin = new AdminClient(service, token);
});

async function signedIn(username: string): Promise<Browser> {
  const { browser } = await GraphqlClient.signedIn(service, username, PASSWORD);
  return browser ?? expect.fail('no browser');
}

async function forgetJobs(): Promise<void> {
  await sql(service.database, 'delete from queue_jobs');
}

const codes = ({ body }: { readonly body: { readonly errors?: readonly { readonly code: string }[] } }) =>
  body.errors?.map(({ code }) => code);
const ids = ({ body }: { readonly body: { readonly data?: readonly { readonly id: string }[] } }) =>
  body.data?.map(({ id }) => id) ?? [];
const send = (
  path: string,
  init: Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> } = {},
) =>
  fetch(service.address + path, {
    ...init,
    headers: { authorization: `Bearer ${token}`, ...init.headers },
  });

describe('access control (operations 4.1)', () => {
  test('counts each use of a token as session activity', async () => {
    const { id, username } = await user();
    await sql(service.database, 'update users set can_request_admin = true where id = $1::uuid', [toUuid(id)]);
    const { accessToken } = await program.signIn(await signedIn(username), 'openid urn:mas:admin');
    clock.advanceSeconds(60);
    expect((await new AdminClient(service, accessToken).get('version')).status).toBe(200);
    await service.core.activity.flush();
    const [session] = (await admin.get(`oauth2-sessions?filter[user]=${id}`)).body.data ?? [];
    expect(session?.attributes).toMatchObject({
      last_active_at: new Date(clock.now()).toISOString().replace('Z', '000Z'),
      last_active_ip: '127.0.0.1',
    });
  });

  test('treats several Authorization headers as malformed on all other endpoints', async () => {
    const headers = [
      ['authorization', `Bearer ${token}`],
      ['Authorization', 'Bearer other'],
    ];
    for (const [path, status] of [
      ['/api/admin/v1/version', 401],
      ['/oauth2/userinfo', 400],
      ['/graphql?query={viewer{__typename}}', 400],
      ['/health', 400],
    ] as const) {
      expect([path, await statusOf(path, headers)]).toEqual([path, status]);
    }
  });
});

/** Uses node:http, which can repeat a header. */
async function statusOf(path: string, headers: readonly (readonly string[])[]): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    const sent = request(service.address + path, {
      headers: ['Host', new URL(service.address).host, ...headers.flat()],
    });
    sent.once('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.once('error', reject);
    sent.end();
  });
}

describe('documents (operations 4.2)', () => {
  test('are uncacheable JSON, with links as the request spells them', async () => {
    const { id } = await user();
    const response = await admin.post(`users/${id.toLowerCase()}/lock`);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.body).toMatchObject({
      data: { type: 'user', id, links: { self: `/api/admin/v1/users/${id}` } },
      links: { self: `/api/admin/v1/users/${id}/lock` },
    });
    expect(response.body.data?.attributes['locked_at']).toMatch(TIME);
    expect(response.body.data?.attributes['created_at']).toMatch(TIME);
  });

  test("have links below the listener's prefix", async () => {
    const port = await freePort();
    const listeners = [{ resources: ['adminapi'], prefix: '/inner', binds: [{ address: `127.0.0.1:${port}` }] }];
    const other = await startService(
      { http: { listeners }, clients: [], policy: { data: { admin_clients: [CLIENT] } } },
      { like: service, clock },
    );
    try {
      const ask = async (path: string) =>
        await (
          await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } })
        ).json();
      const { links, data } = await ask('/inner/api/admin/v1/users?page[first]=1');
      expect(links.first).toBe('/inner/api/admin/v1/users?page[first]=1');
      expect((await ask(data[0].links.self)).links.self).toBe(data[0].links.self);
      expect((await fetch(`http://127.0.0.1:${port}/api/admin/v1/users`)).status).toBe(404);
    } finally {
      await other.stop();
    }
  });

  test.each(['/api/', '/api/nothing', '/api/admin', '/api/admin/v1', '/api/admin/v2/users', '/api/admin/v1/users/'])(
    'report a JSON error at %s, which has no resource',
    async (path) => {
      const response = await send(path);
      const { errors } = JSON.parse(await response.text());
      expect([response.status, errors[0].code, errors[0].status]).toEqual([404, 'not_found', '404']);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
    },
  );

  test('report errors with their description, their location and the request ID', async () => {
    const response = await admin.post('users', { username: 'a', colour: 'red' });
    expect(response.body).toEqual({
      errors: [
        {
          title: expect.stringContaining('unknown member'),
          status: '400',
          code: 'invalid_request',
          detail: expect.stringContaining('/colour'),
          source: { pointer: '/colour' },
          id: expect.stringMatching(/^POST-\d+$/),
        },
      ],
    });
    expect(service.logLines().join('\n')).toContain(String(response.body.errors?.[0]?.id));
  });

  test('ignore a body where none is expected', async () => {
    const { id } = await user();
    const body = 'x'.repeat(5000);
    const locked = await send(`/api/admin/v1/users/${id}/lock`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body,
    });
    expect([locked.status, (await locked.json()).data.id]).toEqual([200, id]);
  });

  test('send the same methods, headers and max age to browsers of any origin', async () => {
    const response = await send('/api/admin/v1/users', {
      method: 'OPTIONS',
      headers: { origin: 'https://admin.example', 'access-control-request-method': 'POST' },
    });
    const allowed = response.headers.get('access-control-allow-headers')?.toLowerCase().split(', ');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toBe('GET, POST, PUT, PATCH, DELETE, OPTIONS');
    expect(response.headers.get('access-control-max-age')).toBe('3600');
    expect(response.headers.has('access-control-allow-credentials')).toBe(false);
    expect(allowed).toEqual(
      expect.arrayContaining([
        ...['authorization', 'accept', 'content-type', 'x-requested-with', 'traceparent', 'tracestate'],
      ]),
    );
  });
});

describe('pages (operations 4.2)', () => {
  test('are delimited by cursors that need not exist, which links omit', async () => {
    const made = [await user(), await user(), await user(), await user()].map(({ id }) => id);
    const [first = '', second = '', third = '', last = ''] = made;
    const between = await admin.get(`users?page[after]=${first.toLowerCase()}&page[before]=${last}&page[first]=1`);
    expect(ids(between)).toEqual([second]);
    expect(between.body.links).toEqual({
      self: `/api/admin/v1/users?page[first]=1&page[after]=${first}&page[before]=${last}`,
      first: '/api/admin/v1/users?page[first]=1',
      last: '/api/admin/v1/users?page[last]=1',
      next: `/api/admin/v1/users?page[first]=1&page[after]=${second}`,
    });
    const backward = await admin.get(`users?page[last]=1&page[after]=${first}&page[before]=${last}`);
    expect(ids(backward)).toEqual([third]);
    expect(Object.keys(backward.body.links ?? {})).toEqual(['self', 'first', 'last', 'prev']);
    expect(ids(await admin.get('users?page[after]=7ZZZZZZZZZZZZZZZZZZZZZZZZZ'))).toEqual([]);
    expect(ids(await admin.get('users?page[before]=00000000000000000000000000'))).toEqual([]);
    expect((await admin.get('users')).body.data?.length).toBeLessThanOrEqual(10);
  });

  test('count everything that matches the filters, on any page', async () => {
    const search = `filter[search]=nele`;
    const total = (await admin.get(`users?${search}&count=only`)).body;
    expect(Object.keys(total)).toEqual(['meta', 'links']);
    expect((await admin.get(`users?${search}&page[first]=1`)).body.meta).toEqual(total.meta);
    expect((await admin.get(`users?${search}&page[last]=2`)).body.meta).toEqual(total.meta);
    expect((await admin.get(`users?${search}&count=true`)).body.meta).toEqual(total.meta);
  });

  test('repeat filters in links with literal brackets and encoded values', async () => {
    const { body } = await admin.get(`users?filter[search]=${encodeURIComponent('a&b=c d')}&count=false`);
    expect(body.links?.['self']).toBe('/api/admin/v1/users?filter[search]=a%26b%3Dc%20d&count=false&page[first]=10');
    const [one] = (await admin.get('users?page[first]=1')).body.data ?? [];
    expect(one).toMatchObject({ meta: { page: { cursor: one?.id } } });
  });
});

test('site-config has exactly these members (operations 4.3)', async () => {
  expect((await admin.get('site-config')).body).toEqual({
    server_name: 'chat.example',
    password_login_enabled: true,
    password_registration_enabled: false,
    password_registration_email_required: false,
    password_registration_token_required: false,
    registration_token_required: false,
    email_change_allowed: true,
    displayname_change_allowed: true,
    password_change_allowed: true,
    account_recovery_allowed: false,
    account_deactivation_allowed: true,
    captcha_enabled: false,
    minimum_password_complexity: 3,
  });
});

describe('accounts (operations 4.4)', () => {
  test('can be found by state and by live sessions', async () => {
    const [idle, chatting, locked, gone] = [await user(), await user(), await user(), await user()];
    const browser = await signedIn(chatting.username);
    await program.signIn(browser, 'openid');
    await new ChatOAuthClient(service, SECOND_CLIENT).signIn(browser, 'openid');
    await new ChatClient(service).login(locked.username, PASSWORD);
    await admin.post(`users/${locked.id}/lock`);
    await admin.post(`users/${gone.id}/deactivate`);
    const all = [idle, chatting, locked, gone].map(({ id }) => id);
    const found = async (query: string) =>
      ids(await admin.get(`users?page[first]=100&${query}`)).filter((id) => all.some((one) => one === id));
    expect(await found('filter[status]=active')).toEqual([idle.id, chatting.id]);
    expect(await found('filter[status]=locked')).toEqual([locked.id]);
    expect(await found('filter[status]=deactivated')).toEqual([gone.id]);
    expect(await found('filter[has-active-oauth2-session]=true')).toEqual([chatting.id]);
    expect(await found('filter[has-active-oauth2-session]=false')).toEqual([idle.id, locked.id, gone.id]);
    expect(await found('filter[has-active-compat-session]=true')).toEqual([locked.id]);
    const clients = `filter[active-oauth2-client]=${SECOND_CLIENT}&filter[active-oauth2-client]=${CLIENT}`;
    expect(await found(clients)).toEqual([chatting.id]);
    expect((await admin.get(`users?filter[search]=${'x'.repeat(256)}`)).status).toBe(400);
  });

  test('are rejected if the homeserver has the name, unless the check is skipped, which is logged', async () => {
    homeserver.addUser('harbourmaster');
    const taken = await admin.post('users', { username: 'harbourmaster' });
    expect([taken.status, codes(taken)]).toEqual([409, ['username_reserved']]);
    expect(JSON.stringify(taken.body)).toContain('import first');
    expect((await admin.post('users', { username: 'harbourmaster', skip_homeserver_check: true })).status).toBe(201);
    const line = service.logLines().find((one) => one.includes('admin.unchecked_name'));
    expect(line).toMatch(/ WARN .*harbourmaster/);
    for (const username of ['', 'Upper', 'with blank', '_low', 'ä', 'x'.repeat(256)]) {
      expect([username, codes(await admin.post('users', { username }))]).toEqual([username, ['invalid_username']]);
    }
  });

  test('get a password, which ends no sessions and replaces the previous one', async () => {
    const { id, uuid, username } = await user();
    const { accessToken } = await program.signIn(await signedIn(username), 'openid');
    const set = (password: string) => admin.post(`users/${id}/set-password`, { password, skip_password_check: true });
    expect((await set('another horse battery staple')).status).toBe(204);
    expect(await sql(service.database, 'select 1 from user_passwords where user_id = $1::uuid', [uuid])).toHaveLength(
      1,
    );
    const userinfo = await fetch(`${service.address}/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(userinfo.status).toBe(200);
    expect([(await set('x'.repeat(1025))).status, codes(await set('x'.repeat(1025)))]).toEqual([
      400,
      ['password_too_weak'],
    ]);
    const nobody = await admin.post(`users/${ABSENT}/set-password`, { password: 'another horse battery staple' });
    expect(nobody.status).toBe(404);
  });

  test('get no password where password sign-in is disabled', async () => {
    const other = await startService(
      { passwords: { enabled: false }, clients: [], policy: { data: { admin_clients: [CLIENT] } } },
      { like: service, clock },
    );
    try {
      const { id } = await user();
      const response = await new AdminClient(other, token).post(`users/${id}/set-password`, { password: PASSWORD });
      expect([response.status, codes(response)]).toEqual([403, ['password_auth_disabled']]);
    } finally {
      await other.stop();
    }
  });

  test('are synced to the homeserver: locks, addresses, deactivation with and without erasure', async () => {
    const [one, other] = [await user(), await user()];
    await forgetJobs();
    await admin.post(`users/${one.id}/lock`);
    expect(await jobsOf(one.uuid, 'provision-user')).toHaveLength(1);
    await forgetJobs();
    await admin.post(`users/${one.id}/unlock`);
    expect(await jobsOf(one.uuid, 'provision-user')).toHaveLength(1);
    await forgetJobs();
    const address = (await admin.post('user-emails', { user_id: one.id, email: 'one@mail.example' })).body.data?.id;
    expect(await jobsOf(one.uuid, 'provision-user')).toHaveLength(1);
    await forgetJobs();
    expect((await admin.delete(`user-emails/${address}`)).status).toBe(204);
    expect(await jobsOf(one.uuid, 'provision-user')).toHaveLength(1);
    await admin.post(`users/${one.id}/deactivate`);
    await admin.post(`users/${other.id}/deactivate`, { skip_erase: true });
    expect(await jobsOf(one.uuid, 'deactivate-user')).toMatchObject([{ payload: { erase: true } }]);
    expect(await jobsOf(other.uuid, 'deactivate-user')).toMatchObject([{ payload: { erase: false } }]);
    for (const action of ['lock', 'unlock', 'set-admin', 'deactivate', 'reactivate']) {
      const body = action === 'set-admin' ? { admin: true } : undefined;
      expect([action, (await admin.post(`users/${ABSENT}/${action}`, body)).status]).toEqual([action, 404]);
    }
  });
});

describe('sessions (operations 4.6)', () => {
  test('can be found by each of their filters', async () => {
    const [one, other] = [await user(), await user()];
    const browser = await signedIn(one.username);
    await program.signIn(browser, 'openid urn:chat:client:api:* urn:chat:client:device:HARBOUR001');
    await new ChatOAuthClient(service, SECOND_CLIENT).signIn(browser, 'openid');
    await new ChatClient(service).login(one.username, PASSWORD);
    await signedIn(other.username);
    const [signIn = ''] = ids(await admin.get(`user-sessions?filter[user]=${one.id}`));
    const before = encodeURIComponent(new Date(clock.now() - 1).toISOString());
    const after = encodeURIComponent(new Date(clock.now() + 1).toISOString());
    for (const table of ['user_sessions', 'oauth2_sessions', 'compat_sessions']) {
      const used = `update ${table} set last_active_at = $1::timestamptz, last_active_ip = $2::inet`;
      await sql(service.database, used, [new Date(clock.now()), '192.0.2.7']);
    }
    const count = async (query: string) => {
      const [kind = '', filters = ''] = query.split('?');
      return (await admin.get(`${kind}?filter[user]=${one.id}&count=only&${filters}`)).body.meta?.count;
    };
    for (const [kind, all] of [
      ['user-sessions', 1],
      ['oauth2-sessions', 2],
      ['compat-sessions', 1],
    ] as const) {
      for (const [filter, found] of [
        ['status]=active', all],
        ['status]=finished', 0],
        [`created-before]=${after}`, all],
        [`created-before]=${before}`, 0],
        [`created-after]=${before}`, all],
        [`created-after]=${after}`, 0],
        [`last-active-before]=${after}`, all],
        [`last-active-before]=${before}`, 0],
        [`last-active-after]=${before}`, all],
        [`last-active-after]=${after}`, 0],
        ['address]=192.0.2.7', all],
        ['address]=192.0.2.70', 0],
        ['address]=192.0.2.7/32', all],
        ['address]=192.0.2.0/24', all],
        ['address]=192.0.3.0/24', 0],
        ['address]=192.0.2.8/29', 0],
        ['address]=192.0.0.0/8', all],
        ['address]=0.0.0.0/0', all],
        ['address]=10.0.0.0/8', 0],
        ['address]=2001:db8::/32', 0],
        ['address]=::/0', 0],
      ] as const) {
        expect([kind, filter, await count(`${kind}?filter[${filter}`)]).toEqual([kind, filter, found]);
      }
      for (const wrong of ['192.0.2', '192.0.2.7/24', '192.0.2.0/33', 'harbour.example', '192.0.2.7%20']) {
        const response = await admin.get(`${kind}?filter[address]=${wrong}`);
        expect([wrong, codes(response)]).toEqual([wrong, ['invalid_parameter']]);
      }
      expect((await admin.get(`${kind}?filter[user]=${ABSENT}`)).status).toBe(404);
      expect((await admin.get(`${kind}/${ABSENT}`)).status).toBe(404);
      expect((await admin.post(`${kind}/${ABSENT}/finish`)).status).toBe(404);
    }
    expect(await count(`oauth2-sessions?filter[user-session]=${signIn}`)).toBe(2);
    expect(await count(`oauth2-sessions?filter[client]=${SECOND_CLIENT}`)).toBe(1);
    expect(await count(`oauth2-sessions?filter[client]=${SECOND_CLIENT}&filter[client]=${CLIENT}`)).toBe(2);
    expect(await count('oauth2-sessions?filter[client-kind]=static')).toBe(2);
    expect(await count('oauth2-sessions?filter[client-kind]=dynamic')).toBe(0);
    expect(await count('oauth2-sessions?filter[scope]=openid')).toBe(2);
    const both = 'filter[scope]=openid&filter[scope]=urn:chat:client:device:HARBOUR001';
    expect(await count(`oauth2-sessions?${both}`)).toBe(1);
    expect(codes(await admin.get('oauth2-sessions?filter[scope]=a%20b'))).toEqual(['invalid_parameter']);
    expect(await count(`compat-sessions?filter[user-session]=${signIn}`)).toBe(0);
    expect((await admin.get(`oauth2-sessions?filter[user-session]=${ABSENT}`)).status).toBe(404);
  });

  test('end with their last activity and the homeserver device; ending a browser session keeps client sessions', async () => {
    const { id, uuid, username } = await user();
    const browser = await signedIn(username);
    const { accessToken } = await program.signIn(
      browser,
      'openid urn:chat:client:api:* urn:chat:client:device:HARBOUR002',
    );
    const { deviceId } = await new ChatClient(service).login(username, PASSWORD);
    clock.advanceSeconds(90);
    const userinfo = () =>
      fetch(`${service.address}/oauth2/userinfo`, { headers: { authorization: `Bearer ${accessToken}` } });
    expect((await userinfo()).status).toBe(200);
    const [signIn] = ids(await admin.get(`user-sessions?filter[user]=${id}`));
    const [application] = (await admin.get(`oauth2-sessions?filter[user]=${id}`)).body.data ?? [];
    const [chat] = (await admin.get(`compat-sessions?filter[user]=${id}`)).body.data ?? [];
    expect(chat?.attributes).toMatchObject({ user_id: id, device_id: deviceId, user_session_id: null });
    expect((await admin.post(`user-sessions/${signIn}/finish`)).status).toBe(200);
    expect((await userinfo()).status).toBe(200);
    await forgetJobs();
    const ended = await admin.post(`oauth2-sessions/${application?.id}/finish`);
    expect(ended.body.data?.attributes['last_active_at']).toBe(
      new Date(clock.now()).toISOString().replace('Z', '000Z'),
    );
    expect(ended.body.links?.['self']).toBe(`/api/admin/v1/oauth2-sessions/${application?.id}/finish`);
    expect((await userinfo()).status).toBe(401);
    expect(await jobsOf(uuid, 'sync-devices')).toHaveLength(1);
    await forgetJobs();
    expect((await admin.post(`compat-sessions/${chat?.id}/finish`)).status).toBe(200);
    expect(await jobsOf(uuid, 'sync-devices')).toHaveLength(1);
  });
});

test('registration tokens: returns 404 for unknown ones, and rejects duplicates (operations 4.8)', async () => {
  for (const action of ['', '/revoke', '/unrevoke']) {
    const path = `user-registration-tokens/${ABSENT}${action}`;
    const response = action === '' ? await admin.get(path) : await admin.post(path);
    expect([action, response.status]).toEqual([action, 404]);
  }
  expect((await admin.send('PUT', `user-registration-tokens/${ABSENT}`, {})).status).toBe(404);
  await admin.post('user-registration-tokens', { token: 'A.-_~9' });
  const again = await admin.post('user-registration-tokens', { token: 'A.-_~9' });
  expect([again.status, codes(again)]).toEqual([409, ['token_exists']]);
  expect(codes(await admin.post('user-registration-tokens', { token: 'x'.repeat(65) }))).toEqual(['invalid_request']);
  const rows = await sql<{ row: string }>(service.database, 'select t::text as row from user_registration_tokens t');
  expect(rows.map(({ row }) => row).join()).not.toContain('A.-_~9');
  expect((await admin.get('user-registration-tokens?filter[used]=false&filter[revoked]=false')).body.meta?.count).toBe(
    1,
  );
});

test('clients can be found by each of their filters (operations 4.9)', async () => {
  const { username } = await user();
  await new ChatOAuthClient(service, SECOND_CLIENT).signIn(await signedIn(username), 'openid');
  const found = async (query: string) => ids(await admin.get(`oauth2-clients?${query}`));
  expect(await found('filter[client-kind]=static')).toEqual([CLIENT, SECOND_CLIENT]);
  expect(await found('filter[client-kind]=dynamic')).toEqual([]);
  expect(await found('filter[client-name]=qUa')).toEqual([SECOND_CLIENT]);
  expect(await found('filter[client-uri]=HARBOUR.example')).toEqual([CLIENT]);
  expect(await found('filter[grant-type]=client_credentials')).toEqual([CLIENT]);
  expect(await found('filter[has-active-sessions]=true')).toContain(SECOND_CLIENT);
  const [listed] = (await admin.get('oauth2-clients?page[first]=1')).body.data ?? [];
  expect(Object.keys(listed?.attributes ?? {}).toSorted()).toEqual([
    ...[
      'access',
      'active_sessions',
      'allowed_groups',
      'client_id',
      'client_name',
      'client_uri',
      'created_at',
      'disabled_at',
      'grant_types',
      'is_static',
      'kind',
    ],
    ...['last_used_at', 'logo_uri', 'preset', 'redirect_uris', 'token_endpoint_auth_method', 'updated_at'],
  ]);
  expect((await admin.get(`oauth2-clients/${ABSENT}`)).status).toBe(404);
});

describe('the OpenAPI document (operations 4.13)', () => {
  test('lists every query parameter that an operation reads', async () => {
    const { paths } = await (await fetch(`${service.address}/api/spec.json`)).json();
    const { parameters } = paths['/api/admin/v1/groups/{id}'].delete;
    expect(parameters.map(({ name }: { name: string }) => name)).toEqual(['id', 'force']);
    // Others are read by the schemas that the description is generated from.
    const folder = new URL('operations/', import.meta.url);
    const direct = readdirSync(folder).filter((file) =>
      /\bquery\.\w+\(/.test(readFileSync(new URL(file, folder), 'utf8')),
    );
    expect(direct).toEqual([]);
  });

  test('matches the contract, and is announced by HEAD', async () => {
    const head = await fetch(`${service.address}/api/spec.json`, { method: 'HEAD' });
    expect([head.status, await head.text(), head.headers.get('content-type')]).toEqual([200, '', 'application/json']);
    expect(head.headers.get('etag')).toMatch(/^"[^"]+"$/);
    const { servers, info, tags, components, security, paths } = await (
      await fetch(`${service.address}/api/spec.json`)
    ).json();
    expect(servers).toEqual([{ url: service.publicBase.replace(/\/$/, '') }]);
    expect(info).toMatchObject({ title: expect.any(String), version: service.core.process.version });
    expect(tags.map(({ name }: { readonly name: string }) => name)).toEqual(Object.keys(TAGS));
    const flow = {
      tokenUrl: `${service.publicBase}oauth2/token`,
      scopes: { 'urn:mas:admin': expect.any(String) },
    };
    expect(components.securitySchemes).toEqual({
      oauth2: {
        type: 'oauth2',
        description: expect.any(String),
        flows: {
          authorizationCode: { ...flow, authorizationUrl: `${service.publicBase}authorize` },
          clientCredentials: flow,
        },
      },
      token: { type: 'http', scheme: 'bearer', description: expect.any(String) },
    });
    expect(security.flatMap((one: object) => Object.keys(one))).toEqual(['oauth2', 'token']);
    const described = Object.values<object>(paths).flatMap((path) =>
      Object.values<{ readonly operationId: string }>({ ...path }).map(({ operationId }) => operationId),
    );
    expect(described.toSorted()).toEqual(OPERATION_IDS.split(/\s+/).toSorted());
  });
});

const OPERATION_IDS = `siteConfig version getEffectiveConfiguration listHealthFindings listUsers createUser getUser getUserDetails exportUserData createRecoveryLink
  bulkUsers bulkFinishSessions getUserByUsername setUserPassword userSetAdmin
  userRemoveSecondFactors removeUserPasskey
  lockUser unlockUser deactivateUser reactivateUser killUserSessions getUserGroups setUserGroups getUserClaims
  setUserClaims listUserEmails addUserEmail getUserEmail deleteUserEmail listUserSessions getUserSession finishUserSession listOAuth2Sessions getOAuth2Session
  finishOAuth2Session listCompatSessions getCompatSession finishCompatSession listPersonalSessions createPersonalSession
  getPersonalSession revokePersonalSession regeneratePersonalSession listUserRegistrationTokens addUserRegistrationToken
  getUserRegistrationToken updateUserRegistrationToken sendUserRegistrationToken revokeUserRegistrationToken unrevokeUserRegistrationToken
  listOAuth2Clients getOAuth2Client deleteOAuth2Client createOAuth2Client updateOAuth2Client rotateOAuth2ClientSecret
  disableOAuth2Client enableOAuth2Client connectOAuth2Client testOAuth2Client listClientPresets getClientPreset
  listUpstreamOAuthLinks addUpstreamOAuthLink getUpstreamOAuthLink
  deleteUpstreamOAuthLink listUpstreamOAuthProviders getUpstreamOAuthProvider checkUpstreamOAuthProvider setPolicyData
  validatePolicyData listPolicyData getLatestPolicyData
  listGroups getGroup createGroup updateGroup deleteGroup listGroupUsers addGroupUsers addGroupUser removeGroupUser
  getPolicyData listAuditEvents getAuditEvent getStatisticsOverview getStatisticsSeries listJobs getJob retryJob cancelJob`;
