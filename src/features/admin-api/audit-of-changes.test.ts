/** Each change of the admin API is recorded in the transaction of the change (administration A-20, security S-202). */
import { beforeAll, describe, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { AdminClient } from '#test/support/admin-client.ts';
import { giveAuthenticatorApp } from '#test/support/authenticator-app.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { insertBrowserSession, insertClient, sql } from '#test/support/fixtures.ts';
import { givePasskey, passkeyIds } from '#test/support/passkeys.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { CLIENT, startAdministeredService } from './administered-service.test-support.ts';
import { OPERATIONS } from './operations.ts';

const PROVIDER = '01JD3Q5Z8W2N4K6M7P9R0S1T6X';
const ADDRESS = '127.0.0.1';

interface Request {
  readonly path: string;
  readonly body?: unknown;
  /** The recorded target; the new record if undefined. */
  readonly target?: string;
  /** The account that the event names. */
  readonly user?: string;
  readonly changed?: readonly string[];
}
let token: string;
let admin: AdminClient;

const administered = await sharedByTests(
  startAdministeredService(
    {
      clients: [chatClientSettings(CLIENT, { grant_types: ['client_credentials'] })],
      email: { transport: 'file' },
      upstream_oauth2: {
        providers: [
          {
            id: PROVIDER,
            issuer: 'https://login.example',
            human_name: 'Harbour Login',
            client_id: 'latchkey',
            token_endpoint_auth_method: 'none',
          },
        ],
      },
    },
    [CLIENT],
    ['no audit event', ' 500 Internal Server Error '],
  ),
);

beforeAll(async () => {
  const form = { grant_type: 'client_credentials', scope: 'urn:mas:admin' };
  const { body } = await new ChatOAuthClient(administered.service, CLIENT).post('/oauth2/token', form);
  token = String(body['access_token']);
  admin = new AdminClient(administered.service, token);
  await sql(
    administered.service.database,
    `create function refuse_actions() returns trigger language plpgsql as $$
     begin
       if new.kind = 'admin_action' then raise exception 'no audit event' using errcode = 'XX001'; end if;
       return new;
     end $$`,
  );
});

function uuidOf(id: string | undefined): string {
  return toUuid(parseId(id ?? '') ?? expect.fail('not a ULID'));
}

async function ofUser(action: string, more: Partial<Request> = {}): Promise<Request> {
  const { id } = await administered.person();
  return { path: `users/${id}/${action}`, target: id, user: id, ...more };
}

async function email(): Promise<Request> {
  const { id: user } = await administered.person();
  const added = await admin.post('user-emails', { user_id: user, email: `${newId(0)}@mail.example` });
  const id = added.body.data?.id ?? expect.fail('not added');
  return { path: `user-emails/${id}`, target: id, user };
}

async function browserSession(): Promise<Request> {
  const { clock, service } = administered;
  const { id: user } = await administered.person();
  const id = await insertBrowserSession(service.database, user, clock.now());
  return { path: `user-sessions/${id}/finish`, target: id, user, changed: ['finished_at'] };
}

async function sessionIn(table: 'oauth2' | 'compat'): Promise<Request> {
  const { clock, service } = administered;
  const { id: user, uuid } = await administered.person();
  const id = newId(clock.now());
  const now = new Date(clock.now());
  if (table === 'compat') {
    await sql(
      service.database,
      `insert into compat_sessions (id, user_id, device_id, created_at)
       values ($1::uuid, $2::uuid, 'QUAY', $3::timestamptz)`,
      [toUuid(id), uuid, now],
    );
  } else {
    const client = await insertClient(service.database, service.core.keyRing, clock.now());
    await sql(
      service.database,
      `insert into oauth2_sessions (id, user_id, client_id, scope, created_at)
       values ($1::uuid, $2::uuid, $3::uuid, '{openid}', $4::timestamptz)`,
      [toUuid(id), uuid, toUuid(client), now],
    );
  }
  return { path: `${table}-sessions/${id}/finish`, target: id, user, changed: ['finished_at'] };
}

const personalBody = (actor: string) => ({ actor_user_id: actor, human_name: 'Backup', scope: 'openid' });

async function personalSession(action: string, changed?: readonly string[]): Promise<Request> {
  const { id: user } = await administered.person();
  const { body } = await admin.post('personal-sessions', personalBody(user));
  const id = body.data?.id ?? expect.fail('not created');
  return { path: `personal-sessions/${id}/${action}`, target: id, user, ...(changed !== undefined && { changed }) };
}

async function registrationToken(action?: string): Promise<string> {
  const id = (await admin.post('user-registration-tokens', {})).body.data?.id ?? expect.fail('not created');
  if (action !== undefined) await admin.post(`user-registration-tokens/${id}/${action}`);
  return id;
}

const MANAGED_CLIENT = { client_auth_method: 'client_secret_basic', redirect_uris: ['https://harbour.example/cb'] };

async function managedClient(): Promise<string> {
  return (await admin.post('oauth2-clients', MANAGED_CLIENT)).body.data?.id ?? expect.fail('not created');
}

async function group(): Promise<string> {
  return (await admin.post('groups', { name: newId(0) })).body.data?.id ?? expect.fail('not created');
}

async function link(): Promise<Request> {
  const { id: user } = await administered.person();
  const body = { user_id: user, provider_id: PROVIDER, subject: newId(0) };
  const id = (await admin.post('upstream-oauth-links', body)).body.data?.id ?? expect.fail('not linked');
  return { path: `upstream-oauth-links/${id}`, target: id, user };
}

async function deadJob(): Promise<string> {
  const { clock, service } = administered;
  const id = newId(clock.now());
  await sql(
    service.database,
    `insert into queue_jobs (id, queue, payload, created_at, due_at, failed_at, failed_reason)
     values ($1::uuid, 'audited', '{}', $2::timestamptz, $2::timestamptz, $2::timestamptz, 'tried')`,
    [toUuid(id), new Date(clock.now())],
  );
  return id;
}

/** Prepares a request of each operation that changes something. */
const REQUESTS: Readonly<Record<string, () => Promise<Request>>> = {
  createUser: async () => ({
    path: 'users',
    // After the refused request, the homeserver knows the name.
    body: { username: `audited${newId(0).slice(-8).toLowerCase()}`, skip_homeserver_check: true },
  }),
  userSetAdmin: () => ofUser('set-admin', { body: { admin: true }, changed: ['admin'] }),
  lockUser: () => ofUser('lock', { changed: ['locked_at'] }),
  unlockUser: async () => {
    const request = await ofUser('unlock', { changed: ['locked_at'] });
    await admin.post(`users/${request.user}/lock`);
    return request;
  },
  deactivateUser: () => ofUser('deactivate', { body: {}, changed: ['deactivated_at'] }),
  reactivateUser: async () => {
    const request = await ofUser('reactivate', { changed: ['deactivated_at'] });
    await admin.post(`users/${request.user}/deactivate`, { skip_erase: true });
    return request;
  },
  killUserSessions: async () => {
    const { user = '' } = await browserSession();
    return { path: `users/${user}/kill-sessions`, body: {}, target: user, user };
  },
  userRemoveSecondFactors: async () => {
    const request = await ofUser('remove-second-factors');
    await giveAuthenticatorApp(administered.service.core, request.user ?? '');
    return request;
  },
  removeUserPasskey: async () => {
    const { id: user } = await administered.person();
    await givePasskey(administered.service.core, user);
    const [passkey] = await passkeyIds(admin, user);
    return { path: `users/${user}/passkeys/${passkey}`, target: user, user, changed: ['passkeys'] };
  },
  createRecoveryLink: () => ofUser('recovery-link', { body: { delivery: 'link' } }),
  exportUserData: () => ofUser('data-export'),
  bulkUsers: async () => {
    const { id } = await administered.person();
    return {
      path: 'users/bulk/status',
      body: { action: 'lock', ids: [id] },
      target: id,
      user: id,
      changed: ['locked_at'],
    };
  },
  bulkFinishSessions: async () => {
    const { target = '', user = '' } = await browserSession();
    const body = { kind: 'browser', ids: [target] };
    return { path: 'sessions/bulk-finish', body, target, user, changed: ['finished_at'] };
  },
  setUserPassword: () =>
    ofUser('set-password', {
      body: { password: 'seven purple walruses', skip_password_check: true },
      changed: ['password'],
    }),
  setUserGroups: () => ofUser('groups', { body: { groups: ['crew'] }, changed: ['groups'] }),
  setUserClaims: () => ofUser('claims', { body: { claims: { berth: 7 } }, changed: ['claims'] }),
  createGroup: async () => ({ path: 'groups', body: { name: newId(0) } }),
  updateGroup: async () => {
    const id = await group();
    return { path: `groups/${id}`, body: { name: newId(0) }, target: id, changed: ['name'] };
  },
  deleteGroup: async () => {
    const id = await group();
    return { path: `groups/${id}`, target: id };
  },
  addGroupUsers: async () => {
    const [id, { id: user }] = [await group(), await administered.person()];
    return { path: `groups/${id}/users`, body: { user_ids: [user] }, target: id, changed: ['members'] };
  },
  addGroupUser: async () => {
    const [id, { id: user }] = [await group(), await administered.person()];
    return { path: `groups/${id}/users/${user}`, target: id, user, changed: ['members'] };
  },
  removeGroupUser: async () => {
    const [id, { id: user }] = [await group(), await administered.person()];
    await admin.send('PUT', `groups/${id}/users/${user}`);
    return { path: `groups/${id}/users/${user}`, target: id, user, changed: ['members'] };
  },
  addUserEmail: async () => {
    const { id: user } = await administered.person();
    return { path: 'user-emails', body: { user_id: user, email: `${newId(0)}@mail.example` }, user };
  },
  deleteUserEmail: email,
  finishUserSession: browserSession,
  finishOAuth2Session: () => sessionIn('oauth2'),
  finishCompatSession: () => sessionIn('compat'),
  createPersonalSession: async () => {
    const { id: user } = await administered.person();
    return { path: 'personal-sessions', body: personalBody(user), user };
  },
  revokePersonalSession: () => personalSession('revoke'),
  regeneratePersonalSession: () => personalSession('regenerate', ['access_token', 'expires_at']),
  addUserRegistrationToken: async () => ({ path: 'user-registration-tokens', body: {} }),
  updateUserRegistrationToken: async () => {
    const id = await registrationToken();
    return {
      path: `user-registration-tokens/${id}`,
      body: { usage_limit: 7 },
      target: id,
      changed: ['usage_limit'],
    };
  },
  revokeUserRegistrationToken: async () => {
    const id = await registrationToken();
    return { path: `user-registration-tokens/${id}/revoke`, target: id, changed: ['revoked_at'] };
  },
  sendUserRegistrationToken: async () => {
    const { body } = await admin.post('user-registration-tokens', { email: 'guest@mail.example' });
    const id = body.data?.id ?? expect.fail('not created');
    return { path: `user-registration-tokens/${id}/send`, target: id, changed: ['mail_queued_at'] };
  },
  unrevokeUserRegistrationToken: async () => {
    const id = await registrationToken('revoke');
    return { path: `user-registration-tokens/${id}/unrevoke`, target: id, changed: ['revoked_at'] };
  },
  deleteOAuth2Client: async () => {
    const { clock, service } = administered;
    const id = await insertClient(service.database, service.core.keyRing, clock.now(), { isStatic: false });
    return { path: `oauth2-clients/${id}`, target: id };
  },
  createOAuth2Client: async () => ({ path: 'oauth2-clients', body: MANAGED_CLIENT }),
  updateOAuth2Client: async () => {
    const id = await managedClient();
    return { path: `oauth2-clients/${id}`, body: { client_name: 'Port' }, target: id, changed: ['client_name'] };
  },
  rotateOAuth2ClientSecret: async () => {
    const id = await managedClient();
    return { path: `oauth2-clients/${id}/rotate-secret`, target: id, changed: ['client_secret'] };
  },
  testOAuth2Client: async () => {
    const id = await managedClient();
    return { path: `oauth2-clients/${id}/test`, target: id };
  },
  checkUpstreamOAuthProvider: async () => ({ path: `upstream-oauth-providers/${PROVIDER}/check`, target: PROVIDER }),
  disableOAuth2Client: async () => {
    const id = await managedClient();
    return { path: `oauth2-clients/${id}/disable`, target: id, changed: ['disabled_at'] };
  },
  enableOAuth2Client: async () => {
    const id = await managedClient();
    await admin.post(`oauth2-clients/${id}/disable`);
    return { path: `oauth2-clients/${id}/enable`, target: id, changed: ['disabled_at'] };
  },
  addUpstreamOAuthLink: async () => {
    const { id: user } = await administered.person();
    return {
      path: 'upstream-oauth-links',
      body: { user_id: user, provider_id: PROVIDER, subject: newId(0) },
      user,
    };
  },
  deleteUpstreamOAuthLink: link,
  setPolicyData: async () => ({
    path: 'policy-data',
    body: { data: { admin_users: [newId(0)] } },
    changed: ['admin_users'],
  }),
  retryJob: async () => {
    const id = await deadJob();
    return { path: `jobs/${id}/retry`, target: id };
  },
  cancelJob: async () => {
    const id = await deadJob();
    return { path: `jobs/${id}`, target: id };
  },
};

/** They have a body, but store nothing. */
const READING = ['validatePolicyData'];
const changing = OPERATIONS.filter(({ id, method }) => method !== 'GET' && !READING.includes(id));

/** Tables that are also written outside of the change. */
const OTHER_TABLES = new Set(['rate_limits', 'user_leases']);

/** Returns a digest of the rows of each table. */
async function contents(): Promise<Readonly<Record<string, string>>> {
  const { database } = administered.service;
  const tables = await sql<{ name: string }>(
    database,
    `select relname as name from pg_class
      where relnamespace = current_schema()::regnamespace and relkind = 'r' order by relname`,
  );
  const digests: Record<string, string> = {};
  for (const { name } of tables) {
    if (OTHER_TABLES.has(name)) continue;
    const [row] = await sql<{ digest: string }>(
      database,
      `select coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as digest from ${name} t`,
    );
    digests[name] = row?.digest ?? '';
  }
  return digests;
}

interface EventRow {
  readonly operation: string;
  readonly target: string | null;
  readonly user: string | null;
  readonly client: string | null;
  readonly ip: string | null;
  readonly actor: string;
  readonly request: string | null;
  readonly changed: readonly string[] | null;
}

async function actions(): Promise<readonly EventRow[]> {
  return await sql<EventRow>(
    administered.service.database,
    `select e.detail ->> 'operation' as operation, e.detail ->> 'target' as target, e.user_id as user,
            e.client_id as client, host(e.ip) as ip, e.detail ->> 'actor' as actor,
            e.detail ->> 'request' as request, e.detail -> 'changed' as changed
       from audit_events e where e.kind = 'admin_action' order by e.id`,
  );
}

test('there is a request for every operation that changes something', () => {
  expect(Object.keys(REQUESTS).toSorted()).toEqual(changing.map(({ id }) => id).toSorted());
});

describe.each(changing.map(({ id, method }) => [id, method] as const))('%s', (id, method) => {
  test('changes nothing if its event cannot be stored, and is recorded otherwise (S-202)', async () => {
    const { clock, service } = administered;
    const prepare = REQUESTS[id] ?? expect.fail('no request');
    const { path, body, target, user, changed } = await prepare();
    clock.advanceSeconds(1);
    await admin.get('version');
    await service.core.activity.flush();

    const before = await contents();
    await sql(
      service.database,
      'create trigger refused before insert on audit_events for each row execute function refuse_actions()',
    );
    const refused = await fetch(`${service.address}/api/admin/v1/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    await sql(service.database, 'drop trigger refused on audit_events');
    expect([refused.status, await contents()]).toEqual([500, before]);

    const earlier = await actions();
    const done = await admin.send(method, path, body);
    expect(done.status).toBeLessThan(300);
    const recorded = (await actions()).slice(earlier.length);
    expect(recorded).toEqual([
      {
        operation: id,
        target: target ?? done.body.data?.id,
        user: id === 'createUser' ? uuidOf(done.body.data?.id) : (user ?? null) && uuidOf(user),
        client: uuidOf(CLIENT),
        ip: ADDRESS,
        actor: 'admin',
        request: expect.stringMatching(/^[A-Z]+-\d+$/),
        changed: changed ?? null,
      },
    ]);
    expect(recorded[0]?.request).toBe(service.requestLines().at(-1)?.id);
  });
});
