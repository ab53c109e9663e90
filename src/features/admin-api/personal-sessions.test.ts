import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseId, toUuid } from '#platform/base/ids.ts';
import { AdminClient } from '#test/support/admin-client.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { ChatOAuthClient } from '#test/support/chat-oauth-client.ts';
import type { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import type { TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import type { StandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';
import type { UserId } from '#vocabulary/ids.ts';
import {
  ABSENT,
  CLIENT,
  PASSWORD,
  SECOND_CLIENT,
  SECRET,
  startAdministeredService,
  type TestUser,
} from './administered-service.test-support.ts';

const ADMIN = 'urn:mas:admin';
const API = 'urn:chat:client:api:*';
const DEVICE = 'urn:chat:client:device:SERVICE01X';
let clock: FakeClock;
let homeserver: StandInHomeserver;
let service: TestService;
/** Two clients that administer with their own tokens. */
let admin: AdminClient;
let other: AdminClient;

const administered = await sharedByTests(
  startAdministeredService(
    { limits: { handler_timeout: '10m' } },
    [CLIENT, SECOND_CLIENT],
    ['" 502 ', 'homeserver.refused', 'homeserver.failed'],
  ),
);

beforeAll(async () => {
  ({ clock, homeserver, service } = administered);
  admin = await administered.adminOf(CLIENT);
  other = await administered.adminOf(SECOND_CLIENT);
});
beforeEach(async () => {
  await homeserver.setFault(undefined);
});

async function newUser(more: { readonly admin?: boolean } = {}): Promise<TestUser> {
  const made = await administered.person();
  if (more.admin === true) await setColumn(made.id, 'can_request_admin', 'true');
  return made;
}

async function setColumn(id: UserId, column: string, value: string): Promise<void> {
  await sql(service.database, `update users set ${column} = ${value} where id = $1::uuid`, [toUuid(id)]);
}

async function make(actor: UserId, more: Readonly<Record<string, unknown>> = {}, by: AdminClient = admin) {
  const body = { actor_user_id: actor, human_name: 'bridge', scope: API, ...more };
  const response = await by.post('personal-sessions', body);
  expect(response.status, JSON.stringify(response.body)).toBe(201);
  const { id, attributes } = response.body.data ?? expect.fail('nothing was made');
  return { id, attributes, token: String(attributes['access_token']) };
}

async function introspect(token: string, hint = 'access_token'): Promise<Record<string, unknown>> {
  const response = await fetch(`${service.address}/oauth2/introspect`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}`, 'x-mas-supports-device-id': '1' },
    body: new URLSearchParams({ token, token_type_hint: hint }),
  });
  return await response.json();
}

const uuidOf = (id: string) => toUuid(parseId(id) ?? expect.fail('no id'));
const isActive = async (token: string) => (await introspect(token))['active'];
const codes = ({ body }: { readonly body: { readonly errors?: readonly { readonly code: string }[] } }) =>
  body.errors?.map(({ code }) => code);
const devicesOf = (username: string) => [...(homeserver.state.users.get(username)?.devices.keys() ?? [])];

describe('a personal session (operations 4.7)', () => {
  test('is created with a token that is shown once, can be read and listed, and belongs to its client', async () => {
    const actor = await newUser();
    const { id, attributes, token } = await make(actor.id, { expires_in: 3600 });
    expect(token).toMatch(/^mpt_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}$/);
    expect(attributes).toMatchObject({
      owner_user_id: null,
      owner_client_id: CLIENT,
      actor_user_id: actor.id,
      human_name: 'bridge',
      scope: API,
      revoked_at: null,
      last_active_at: null,
    });
    const read = await admin.get(`personal-sessions/${id}`);
    expect(read.body.data?.attributes).not.toHaveProperty('access_token');
    const stored = await sql(service.database, 'select * from personal_access_tokens');
    expect(JSON.stringify(stored)).not.toContain(token);
    const listed = await admin.get(`personal-sessions?filter[actor_user]=${actor.id}`);
    expect(listed.body.data?.[0]?.attributes).toEqual(read.body.data?.attributes);
    expect(service.logLines().some((line) => line.includes('operation=createPersonalSession'))).toBe(true);
    expect(service.logLines().join('\n')).not.toContain(token);
  });

  test('can be found by owner, account, scope, state and expiry', async () => {
    const actor = await newUser();
    const lasting = (await make(actor.id)).id;
    clock.advanceSeconds(1);
    const short = (await make(actor.id, { expires_in: 60, scope: 'openid' }, other)).id;
    clock.advanceSeconds(1);
    const revoked = (await make(actor.id)).id;
    await admin.post(`personal-sessions/${revoked}/revoke`);
    const soon = new Date(clock.now() + 61_000).toISOString();
    const found = async (query: string) => {
      const { body } = await admin.get(`personal-sessions?filter[actor_user]=${actor.id}&${query}`);
      return body.data?.map(({ id }) => id);
    };
    expect(await found(`filter[owner_client]=${SECOND_CLIENT}`)).toEqual([short]);
    expect(await found(`filter[scope]=${API}`)).toEqual([lasting, revoked]);
    expect(await found('filter[status]=active')).toEqual([lasting, short]);
    expect(await found('filter[status]=revoked')).toEqual([revoked]);
    expect(await found('filter[expires]=false')).toEqual([lasting, revoked]);
    expect(await found('filter[expires]=true')).toEqual([short]);
    expect(await found(`filter[expires_before]=${soon}`)).toEqual([short]);
    expect(await found(`filter[expires_after]=${soon}`)).toEqual([]);
    for (const filter of ['owner_user', 'owner_client', 'actor_user']) {
      expect((await admin.get(`personal-sessions?filter[${filter}]=${ABSENT}`)).status, filter).toBe(404);
    }
    expect(codes(await admin.get('personal-sessions?filter[status]=finished'))).toEqual(['invalid_parameter']);
  });

  test.each([
    [{ scope: '' }, 400, 'invalid_scope'],
    [{ scope: DEVICE }, 400, 'invalid_scope'],
    [{ scope: `${API} ${DEVICE}2 ${DEVICE}` }, 400, 'invalid_scope'],
    [{ scope: 'no-such-scope' }, 403, 'scope_not_allowed'],
    [{ scope: 'urn:mas:graphql:*' }, 403, 'scope_not_allowed'],
    [{ scope: `${API} offline_access` }, 403, 'scope_not_allowed'],
    [{ scope: ADMIN }, 403, 'scope_not_allowed'],
    [{ scope: 'urn:synapse:admin:*' }, 403, 'scope_not_allowed'],
    [{ human_name: '' }, 400, 'invalid_request'],
    [{ human_name: 'x'.repeat(101) }, 400, 'invalid_request'],
    [{ human_name: 'a\u0007b' }, 400, 'invalid_request'],
    [{ expires_in: 0 }, 400, 'invalid_request'],
    [{ expires_in: 315_360_001 }, 400, 'invalid_request'],
    [{ expires_in: 1.5 }, 400, 'invalid_request'],
    [{ actor_user_id: 'x' }, 400, 'invalid_request'],
    [{ actor_user_id: ABSENT }, 404, 'not_found'],
    [{ owner_user_id: ABSENT }, 400, 'invalid_request'],
  ])('is not created with %j: %i %s', async (more, status, code) => {
    const { id } = await newUser();
    const response = await admin.post('personal-sessions', {
      actor_user_id: id,
      human_name: 'bridge',
      scope: API,
      ...more,
    });
    expect([response.status, codes(response)]).toEqual([status, [code]]);
  });

  test('is not created for a deactivated account', async () => {
    const { id } = await newUser();
    await admin.post(`users/${id}/deactivate`);
    const response = await admin.post('personal-sessions', { actor_user_id: id, human_name: 'x', scope: API });
    expect([response.status, codes(response)]).toEqual([410, ['user_deactivated']]);
  });

  test('can be revoked once', async () => {
    const { id, token } = await make((await newUser()).id);
    expect(await isActive(token)).toBe(true);
    const revoked = await admin.post(`personal-sessions/${id}/revoke`);
    expect(revoked.body.data?.attributes['revoked_at']).not.toBeNull();
    expect(await isActive(token)).toBe(false);
    const again = await admin.post(`personal-sessions/${id}/revoke`);
    expect([again.status, codes(again)]).toEqual([409, ['already_revoked']]);
    expect((await admin.post(`personal-sessions/${ABSENT}/revoke`)).status).toBe(404);
  });
});

describe('regenerating the token of a personal session', () => {
  const regenerate = (id: string, body?: unknown, by: AdminClient = admin) =>
    by.post(`personal-sessions/${id}/regenerate`, body);

  test('replaces the previous token, even if it had expired', async () => {
    const { id, token } = await make((await newUser()).id, { expires_in: 60 });
    clock.advanceSeconds(60);
    expect(await isActive(token)).toBe(false);
    const response = await regenerate(id, { expires_in: 120 });
    expect([response.status, response.body.links?.['self']]).toEqual([
      201,
      `/api/admin/v1/personal-sessions/${id}/regenerate`,
    ]);
    const next = String(response.body.data?.attributes['access_token']);
    expect((await introspect(next))['expires_in']).toBe(120);
    const lasting = await regenerate(id);
    expect(lasting.body.data?.attributes['expires_at']).toBeNull();
    expect(await isActive(next)).toBe(false);
    expect(await isActive(String(lasting.body.data?.attributes['access_token']))).toBe(true);
  });

  test('issues one token for twenty concurrent requests', async () => {
    const { id } = await make((await newUser()).id);
    const responses = await Promise.all(Array.from({ length: 20 }, () => regenerate(id)));
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
    const alive = await Promise.all(
      responses.map(({ body }) => isActive(String(body.data?.attributes['access_token']))),
    );
    expect(alive.filter((one) => one === true)).toHaveLength(1);
  });

  test('is refused to other clients, for ended sessions, and with an invalid body', async () => {
    const { id } = await make((await newUser()).id);
    expect(codes(await regenerate(id, undefined, other))).toEqual(['not_owner']);
    expect(codes(await regenerate(id, { expires_in: 'x' }))).toEqual(['invalid_request']);
    expect((await regenerate(ABSENT)).status).toBe(404);
    await admin.post(`personal-sessions/${id}/revoke`);
    const over = await regenerate(id);
    expect([over.status, codes(over)]).toEqual([422, ['session_not_valid']]);
  });
});

describe('a personal token at the admin API (operations 4.1)', () => {
  test('can act as a locked account, named in the log, while account and owner have the right', async () => {
    const owner = await newUser({ admin: true });
    const actor = await newUser({ admin: true });
    const { token, id } = await make(actor.id, { scope: ADMIN });
    await sql(
      service.database,
      'update personal_sessions set owner_client_id = null, owner_user_id = $2::uuid where actor_user_id = $1::uuid',
      [toUuid(actor.id), toUuid(owner.id)],
    );
    const program = new AdminClient(service, token);
    await setColumn(actor.id, 'locked_at', 'now()');
    expect((await program.get('users')).status).toBe(200);
    expect(service.requestLines().at(-1)).toMatchObject({
      requester: `user:${actor.id}(${actor.username})`,
      queries: 3,
    });
    await service.core.activity.flush();
    expect((await admin.get(`personal-sessions/${id}`)).body.data?.attributes['last_active_ip']).toBe('127.0.0.1');
    // What the token creates belongs to the token's owner.
    const made = await make((await newUser()).id, {}, program);
    expect(made.attributes).toMatchObject({ owner_user_id: owner.id, owner_client_id: null });
    expect(codes(await admin.post(`personal-sessions/${made.id}/regenerate`))).toEqual(['not_owner']);
    expect((await program.post(`personal-sessions/${made.id}/regenerate`)).status).toBe(201);
    // Introspection reports the token as inactive while the account is locked. A homeserver must not accept it.
    expect(await isActive(token)).toBe(false);

    for (const [who, column, value, status] of [
      [actor, 'can_request_admin', 'false', 403],
      [actor, 'can_request_admin', 'true', 200],
      [owner, 'can_request_admin', 'false', 403],
      [owner, 'can_request_admin', 'true', 200],
      [owner, 'locked_at', 'now()', 401],
      [owner, 'locked_at', 'null', 200],
      [owner, 'deactivated_at', 'now()', 401],
      [owner, 'deactivated_at', 'null', 200],
      [actor, 'deactivated_at', 'now()', 401],
      [actor, 'deactivated_at', 'null', 200],
    ] as const) {
      await setColumn(who.id, column, value);
      expect((await program.get('users')).status, `${column} ${value}`).toBe(status);
    }
    await admin.post(`personal-sessions/${id}/revoke`);
    expect((await program.get('users')).status).toBe(401);
  });

  test('requires the admin scope', async () => {
    const { token } = await make((await newUser()).id);
    const response = await new AdminClient(service, token).get('users');
    expect([response.status, codes(response)]).toEqual([403, ['insufficient_scope']]);
  });
});

describe('a personal token at other endpoints', () => {
  test('is introspected with one statement, in both scope spellings, as the account it acts as', async () => {
    const actor = await newUser();
    const { token } = await make(actor.id, { scope: `${API} ${DEVICE}`, expires_in: 600 });
    const now = Math.floor(clock.now() / 1000);
    expect(await introspect(token)).toEqual({
      active: true,
      scope: [
        API,
        'urn:chat:org.chat.msc2967.client:api:*',
        DEVICE,
        'urn:chat:org.chat.msc2967.client:device:SERVICE01X',
      ].join(' '),
      client_id: CLIENT,
      username: actor.username,
      sub: actor.id,
      token_type: 'Bearer',
      iat: now,
      nbf: now,
      exp: now + 600,
      expires_in: 600,
      iss: service.core.config.http.issuer,
      device_id: 'SERVICE01X',
    });
    expect(service.requestLines().at(-1)).toMatchObject({ requester: 'homeserver', queries: 1 });
    expect(await introspect(token, 'refresh_token')).toEqual({ active: false });
    await setColumn(actor.id, 'locked_at', 'now()');
    expect(await introspect(token)).toEqual({ active: false });
    await setColumn(actor.id, 'locked_at', 'null');
    clock.advanceSeconds(600);
    expect(await introspect(token)).toEqual({ active: false });
  });

  test('can be introspected by its owning client and by clients that see every token', async () => {
    const { token } = await make((await newUser()).id);
    const requested = async (client: string) => {
      const { body } = await new ChatOAuthClient(service, client).post('/oauth2/introspect', { token });
      return body['active'];
    };
    expect([await requested(CLIENT), await requested(SECOND_CLIENT)]).toEqual([true, true]);
  });

  test('is rejected by userinfo, GraphQL and chat client routes, and is not revoked by RFC 7009', async () => {
    const { token } = await make((await newUser()).id, { scope: `${API} openid` });
    const headers = { authorization: `Bearer ${token}` };
    const userinfo = await fetch(`${service.address}/oauth2/userinfo`, { headers });
    expect(userinfo.status).toBe(401);
    const graphql = await fetch(`${service.address}/graphql?query={viewer{__typename}}`, { headers });
    expect(graphql.status).toBe(401);
    const logout = await new ChatClient(service).post('/logout', undefined, headers);
    expect([logout.status, logout.body['errcode'], logout.body['soft_logout']]).toEqual([
      401,
      'M_UNKNOWN_TOKEN',
      false,
    ]);
    const revocation = await new ChatOAuthClient(service, CLIENT).post('/oauth2/revoke', { token });
    expect(revocation.status).toBe(200);
    expect(await isActive(token)).toBe(true);
  });
});

describe('a personal session with a device', () => {
  test('keeps it at the homeserver from creation to revocation', async () => {
    const actor = await newUser();
    const { id } = await make(actor.id, { scope: `${API} ${DEVICE}`, human_name: 'Harbour bridge' });
    expect(devicesOf(actor.username)).toEqual(['SERVICE01X']);
    await admin.post(`users/${actor.id}/lock`);
    await notifyHomeserver(service.core);
    expect(devicesOf(actor.username)).toEqual(['SERVICE01X']);
    await admin.post(`personal-sessions/${id}/revoke`);
    await notifyHomeserver(service.core);
    expect(devicesOf(actor.username)).toEqual([]);
  });

  test('is not created when the homeserver does not respond', async () => {
    const actor = await newUser();
    await homeserver.setFault({ kind: 'answer', status: 500 });
    const body = { actor_user_id: actor.id, human_name: 'x', scope: `${API} ${DEVICE}` };
    const response = await admin.post('personal-sessions', body);
    expect([response.status, codes(response)]).toEqual([502, ['homeserver_error']]);
    expect((await admin.get(`personal-sessions?filter[actor_user]=${actor.id}`)).body.meta?.count).toBe(0);
    await homeserver.setFault(undefined);
    clock.advanceSeconds(11);
  });
});

describe('personal sessions end', () => {
  test('with the other sessions of the account they act as, unless other kinds are named', async () => {
    const { id } = await newUser();
    const { token } = await make(id);
    const kill = async (body?: unknown) => (await admin.post(`users/${id}/kill-sessions`, body)).body.meta;
    expect(await kill({ kinds: ['browser', 'oauth2', 'compat'] })).toMatchObject({ personal: 0 });
    expect(await isActive(token)).toBe(true);
    expect(await kill()).toEqual({ browser: 0, oauth2: 0, compat: 0, personal: 1 });
    expect(await isActive(token)).toBe(false);
  });

  test('permanently with the deactivation of the account or its owner, while devices of other accounts are kept', async () => {
    const owner = await newUser({ admin: true });
    const actor = await newUser();
    const { token } = await make(actor.id, { scope: `${API} ${DEVICE}` });
    await sql(
      service.database,
      'update personal_sessions set owner_client_id = null, owner_user_id = $2::uuid where actor_user_id = $1::uuid',
      [toUuid(actor.id), toUuid(owner.id)],
    );
    await admin.post(`users/${owner.id}/deactivate`);
    await admin.post(`users/${owner.id}/reactivate`);
    expect(await isActive(token)).toBe(false);
    await notifyHomeserver(service.core);
    expect(devicesOf(actor.username)).toEqual([]);
    const own = (await make(actor.id)).id;
    await admin.post(`users/${actor.id}/deactivate`);
    expect((await admin.get(`personal-sessions/${own}`)).body.data?.attributes['revoked_at']).not.toBeNull();
  });

  test('when the user signs out all chat clients, if they own the session and it covers the client API', async () => {
    const actor = await newUser();
    const own = await make(actor.id);
    const identity = await make(actor.id, { scope: 'openid' });
    const foreign = await make(actor.id);
    await sql(
      service.database,
      'update personal_sessions set owner_client_id = null, owner_user_id = actor_user_id where id = any($1::uuid[])',
      [[own.id, identity.id].map((id) => uuidOf(id))],
    );
    const chat = await new ChatClient(service).login(actor.username, PASSWORD);
    const response = await new ChatClient(service).post('/logout/all', undefined, {
      authorization: `Bearer ${chat.accessToken}`,
    });
    expect(response.status).toBe(200);
    expect(await isActive(own.token)).toBe(false);
    expect(await isActive(identity.token)).toBe(true);
    expect(await isActive(foreign.token)).toBe(true);
  });
});
