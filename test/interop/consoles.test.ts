/**
 * The requests that Element Admin and Ketesa make (administration A-1): sign-in with PKCE, as a client that registers
 * itself or as a configured one, then lists, filters, counts and actions. The limits are the default ones.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AdministeredService,
  PASSWORD,
  startAdministeredService,
} from '#features/admin-api/administered-service.test-support.ts';
import { chatNames } from '#protocol/chat/names.ts';
import { AdminClient } from '../support/admin-client.ts';
import { Browser } from '../support/browser.ts';
import { sql } from '../support/fixtures.ts';

const VERIFIER = 'verifier-of-the-console-0123456789-0123456789';
const CONFIGURED = '01JD3Q5Z8W2N4K6M7P9R0S1T6X';
const USERS = 12;

const ELEMENT_ADMIN = {
  origin: 'https://admin.example',
  name: 'Element Admin',
  redirectUri: 'https://admin.example/callback',
};
const KETESA = {
  origin: 'https://ketesa.example',
  name: 'Ketesa',
  redirectUri: 'https://ketesa.example/auth-callback',
};
type Console = typeof ELEMENT_ADMIN;

let administered: AdministeredService;
let origin: string;
let metadata: Readonly<Record<string, string>>;
let users: readonly string[];

beforeAll(async () => {
  administered = await startAdministeredService({
    rate_limiting: {},
    clients: [{ client_id: CONFIGURED, client_auth_method: 'none', redirect_uris: [KETESA.redirectUri] }],
  });
  const { service } = administered;
  origin = service.address;
  const accounts = [];
  for (let count = 0; count < USERS; count += 1) accounts.push(await administered.person());
  users = accounts.map(({ id }) => id);
  await sql(service.database, `update users set can_request_admin = true where username = 'nele1'`);
  const discovered = await fetch(`${origin}/.well-known/openid-configuration`);
  metadata = await discovered.json();
});
afterAll(async () => await administered.stop());

/** Requests something of the service as a page of the console does. */
async function request(console: Console, method: string, url: string, init: RequestInit = {}): Promise<Response> {
  const { publicBase } = administered.service;
  const response = await fetch(url.replace(publicBase, `${origin}/`), {
    ...init,
    method,
    headers: { origin: console.origin, ...init.headers },
  });
  expect(response.headers.get('access-control-allow-origin'), url).toBe('*');
  return response;
}

async function register(console: Console): Promise<string> {
  const response = await request(console, 'POST', metadata['registration_endpoint'] ?? '', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      application_type: 'web',
      client_name: console.name,
      client_uri: `${console.origin}/`,
      redirect_uris: [console.redirectUri],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    }),
  });
  expect(response.status).toBe(201);
  const { client_id }: { readonly client_id: string } = await response.json();
  return client_id;
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
}

async function tokens(console: Console, form: Readonly<Record<string, string>>): Promise<Tokens> {
  const response = await request(console, 'POST', metadata['token_endpoint'] ?? '', {
    body: new URLSearchParams(form),
  });
  expect(response.status).toBe(200);
  const result: Tokens = await response.json();
  expect(result).toMatchObject({ refresh_token: expect.any(String), expires_in: expect.any(Number) });
  return result;
}

/** Signs the administrator in, as the console does with its client. */
async function signIn(console: Console, clientId: string, scope: string): Promise<Tokens> {
  const { service } = administered;
  const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get('/login');
  await browser.submit({ username: 'nele1', password: PASSWORD });
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: console.redirectUri,
    scope,
    state: 'state-of-the-console',
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
  };
  await browser.open(`/authorize?${new URLSearchParams(parameters)}`);
  await browser.submit({ action: 'consent' }, { action: '/authorize' });
  const response = new URL(browser.page.location ?? '');
  expect(response.searchParams.get('state')).toBe(parameters.state);
  return await tokens(console, {
    grant_type: 'authorization_code',
    code: response.searchParams.get('code') ?? '',
    code_verifier: VERIFIER,
    client_id: clientId,
    redirect_uri: console.redirectUri,
  });
}

async function adminOf(console: Console, clientId?: string): Promise<AdminClient> {
  const { access_token } = await signIn(console, clientId ?? (await register(console)), 'urn:mas:admin');
  return new AdminClient(administered.service, access_token);
}

async function got(admin: AdminClient, path: string) {
  const { status, body } = await admin.get(path);
  expect([path, status]).toEqual([path, 200]);
  return body;
}

async function posted(admin: AdminClient, path: string, body: object = {}) {
  const response = await admin.post(path, body);
  expect(response.status, `${path}: ${JSON.stringify(response.body.errors)}`).toBeLessThan(300);
  return response.body;
}

describe('sign-in', () => {
  test.each([
    ['with the API of chat clients', ['api:*']],
    ['for administration alone', []],
  ])('of a client that registers itself, %s; it refreshes and revokes its tokens', async (_, chat) => {
    const clientId = await register(ELEMENT_ADMIN);
    const { unstableScopePrefix } = chatNames('chat');
    const scope = [...chat.map((name) => unstableScopePrefix + name), 'urn:mas:admin', 'urn:synapse:admin:*'].join(' ');
    const first = await signIn(ELEMENT_ADMIN, clientId, scope);
    const refresh = { grant_type: 'refresh_token', refresh_token: first.refresh_token, client_id: clientId };
    const second = await tokens(ELEMENT_ADMIN, refresh);
    const admin = new AdminClient(administered.service, second.access_token);
    await got(admin, 'version');
    const revocation = { token: second.access_token, client_id: clientId, token_type_hint: 'access_token' };
    await request(ELEMENT_ADMIN, 'POST', metadata['revocation_endpoint'] ?? '', {
      body: new URLSearchParams(revocation),
    });
    expect((await admin.get('version')).status).toBe(401);
  });

  test('of a configured client', async () => {
    await got(await adminOf(KETESA, CONFIGURED), 'site-config');
  });

  test('the metadata names the service by the URL of the account API', () => {
    expect(metadata[chatNames('chat').accountApiMember]).toBe(`${administered.service.publicBase}graphql`);
  });

  test.each(['GET', 'POST', 'PUT', 'DELETE'])(
    'a browser may send %s with a token from another origin',
    async (method) => {
      const url = `${origin}/api/admin/v1/users`;
      const requested = {
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type',
      };
      const response = await request(ELEMENT_ADMIN, 'OPTIONS', url, { headers: requested });
      expect(response.headers.get('access-control-allow-methods')).toContain(method);
      expect(response.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('authorization');
    },
  );
});

describe('Element Admin', () => {
  let admin: AdminClient;
  beforeAll(async () => {
    admin = await adminOf(ELEMENT_ADMIN);
  });

  test('pages through users in both directions, 200 at a time', async () => {
    const page = await got(admin, 'users?count=false&page[first]=200');
    expect(page.data?.map(({ id }) => id)).toEqual(users);
    expect(page.links?.['self']).toContain('page[first]=200');
    const cursors = page.data?.map(({ meta }) => meta?.page.cursor) ?? [];
    const after = await got(admin, `users?count=false&page[first]=200&page[after]=${cursors[3]}`);
    expect(after.data?.map(({ id }) => id)).toEqual(users.slice(4));
    const before = await got(admin, `users?count=false&page[last]=200&page[before]=${cursors[3]}`);
    expect(before.data?.map(({ id }) => id)).toEqual(users.slice(0, 3));
  });

  test.each([
    ['', USERS],
    ['&filter[admin]=true', 1],
    ['&filter[admin]=false', USERS - 1],
    ['&filter[legacy-guest]=true', 0],
    ['&filter[status]=active', USERS],
    ['&filter[status]=locked', 0],
    ['&filter[status]=deactivated', 0],
    ['&filter[search]=nele1', 4],
  ])('lists and counts users%s', async (filters, count) => {
    expect((await got(admin, `users?count=only${filters}`)).meta?.count).toBe(count);
    const { data, meta } = await got(admin, `users?count=false&page[first]=200${filters}`);
    expect([data?.length, meta]).toEqual([count, undefined]);
  });

  test('reads a user with everything that belongs to the account', async () => {
    const id = users[1];
    for (const path of [
      `users/${id}`,
      `users/by-username/nele2`,
      `user-emails?filter[user]=${id}&page[first]=10&count=false`,
      `upstream-oauth-links?filter[user]=${id}&page[first]=1000&count=false`,
      'upstream-oauth-providers?page[first]=1000&count=false',
      `oauth2-sessions?filter[user]=${id}&filter[status]=active&page[first]=200&count=false`,
      `compat-sessions?filter[user]=${id}&filter[status]=active&page[first]=200&count=false`,
      `user-sessions?filter[user]=${id}&filter[status]=active&page[first]=200&count=false`,
      `personal-sessions?filter[actor_user]=${id}&filter[status]=active&page[first]=200&count=false`,
      'oauth2-clients?page[first]=200&count=false',
      'oauth2-sessions?count=only&filter[status]=active',
    ]) {
      await got(admin, path);
    }
  });

  test('administers a user', async () => {
    const id = users[2];
    const email = await posted(admin, 'user-emails', { user_id: id, email: 'nele3@mail.example' });
    expect((await admin.delete(`user-emails/${email.data?.id}`)).status).toBe(204);
    await posted(admin, `users/${id}/set-password`, {
      password: 'seven purple walruses sing quietly',
      skip_password_check: true,
    });
    await posted(admin, `users/${id}/set-admin`, { admin: true });
    await posted(admin, `users/${id}/set-admin`, { admin: false });
    for (const action of ['lock', 'unlock', 'deactivate', 'reactivate']) await posted(admin, `users/${id}/${action}`);
    const created = await posted(admin, 'users', { username: 'fresh' });
    await posted(admin, `users/${created.data?.id}/deactivate`, { skip_erase: false });
  });

  test('issues registration tokens, and finds them by state', async () => {
    const { data } = await posted(admin, 'user-registration-tokens', {});
    const path = `user-registration-tokens/${data?.id}`;
    const expires_at = '2036-01-31T12:00:00Z';
    expect((await admin.send('PUT', path, { usage_limit: 5, expires_at })).status).toBe(200);
    expect((await admin.send('PUT', path, { usage_limit: null, expires_at: null })).status).toBe(200);
    await posted(admin, `${path}/revoke`);
    for (const [filter, count] of [
      ['filter[revoked]=true', 1],
      ['filter[used]=false', 1],
      ['filter[expired]=false', 1],
      ['filter[valid]=true', 0],
    ] as const) {
      expect((await got(admin, `user-registration-tokens?count=only&${filter}`)).meta?.count).toBe(count);
      await got(admin, `user-registration-tokens?page[first]=200&count=false&${filter}`);
    }
    await posted(admin, `${path}/unrevoke`);
  });

  test('issues personal tokens, and finds them by state', async () => {
    const wanted = { actor_user_id: users[0], human_name: 'Backup', scope: 'urn:mas:admin' };
    const { data } = await posted(admin, 'personal-sessions', wanted);
    for (const filter of [
      'filter[status]=active',
      `filter[actor_user]=${users[0]}`,
      'filter[expires]=false',
      'filter[scope]=urn:mas:admin',
    ]) {
      const { data: found } = await got(admin, `personal-sessions?page[first]=200&count=false&${filter}`);
      expect([filter, found?.map(({ id }) => id)]).toEqual([filter, [data?.id]]);
    }
    await posted(admin, `personal-sessions/${data?.id}/regenerate`);
    await posted(admin, `personal-sessions/${data?.id}/regenerate`, { expires_in: 30 * 86_400 });
    await posted(admin, `personal-sessions/${data?.id}/revoke`);
  });
});

describe('Ketesa', () => {
  test('reads each user of a page of the homeserver at once, and all lists with counts', async () => {
    const admin = await adminOf(KETESA, CONFIGURED);
    const found = await Promise.all(
      Array.from({ length: 25 }, (_, index) =>
        got(admin, `users?filter[search]=nele${index + 1}&page[first]=50&count=true`),
      ),
    );
    expect(found[4]?.data?.map(({ attributes }) => attributes['username'])).toEqual(['nele5']);
    expect(found[24]?.meta?.count).toBe(0);
    for (const path of [
      'user-registration-tokens?page[first]=50&count=true&filter[valid]=true',
      'compat-sessions?page[first]=50&count=true',
      'oauth2-sessions?page[first]=50&count=true',
      'user-sessions?page[first]=50&count=true',
      'personal-sessions?page[first]=50&count=true',
      'user-emails?page[first]=50&count=true',
      'upstream-oauth-links?page[first]=50&count=true',
      'upstream-oauth-providers?page[first]=1000&count=true',
    ]) {
      expect([path, (await got(admin, path)).meta?.count]).toEqual([path, expect.any(Number)]);
    }
    expect((await admin.get('policy-data/latest')).status).toBe(404);
    const own = await got(admin, 'user-sessions?filter[status]=active&page[first]=50&count=true');
    await posted(admin, `user-sessions/${own.data?.at(-1)?.id}/finish`);
  });
});
