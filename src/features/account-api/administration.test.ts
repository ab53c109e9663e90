/** Account changes that administrators make with a token (account-graphql 4.1, 5.5). */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fromUuid, newId, parseId, toUuid } from '#platform/base/ids.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient, type GraphqlResponse } from '#test/support/graphql-client.ts';
import { startMails } from '#test/support/mails.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';

const PASSWORD = 'correct horse battery staple';
const SECRET = 'shared-secret-of-the-test';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T6X';
const PROVIDER = '01JD3Q5Z8W2N4K6M7P9R0S1T6Y';
const ABSENT = 'user:01JD3Q5Z8W2N4K6M7P9R0S1T00';

const clock = new FakeClock();
let admin: GraphqlClient;
let adminId: string;
let count = 0;
/** A new user for each test. */
let username: string;
let id: string;
let user: GraphqlClient;

const mails = await sharedByTests(startMails());
const homeserver = await sharedByTests(startStandInHomeserver(SECRET, 'chat.example'));
const service = await sharedByTests(
  startService(
    {
      rate_limiting: {
        graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT },
        login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
      },
      clients: [chatClientSettings(CLIENT)],
      graphql: { oauth2_access: true },
      experimental: { access_token_ttl: '1d' },
      policy: { data: { admin_users: ['listed'] } },
      email: mails.settings,
      homeserver: { kind: 'synapse', homeserver: 'chat.example', endpoint: homeserver.endpoint, secret: SECRET },
      upstream_oauth2: {
        providers: [
          { id: PROVIDER, issuer: 'https://idp.example', client_id: 'us', token_endpoint_auth_method: 'none' },
        ],
      },
    },
    { clock },
  ),
);

beforeAll(async () => {
  await insertTestAccount(service.database, { username: 'listed' }, { now: clock.now() });
  clock.advanceSeconds(1);
  adminId = await service.registerUser('root', PASSWORD, { canRequestAdmin: true });
  const root = await GraphqlClient.signedIn(service, 'root', PASSWORD);
  const scope = 'openid urn:mas:graphql:* urn:mas:admin';
  const { accessToken } = await new ChatOAuthClient(service, CLIENT).signIn(
    root.browser ?? expect.fail('no browser'),
    scope,
  );
  admin = new GraphqlClient(service, { authorization: `Bearer ${accessToken}` });
});

beforeEach(async () => {
  await homeserver.setFault(undefined);
  // The homeserver's circuit breaker may still be open from the previous test.
  clock.advanceSeconds(11);
  count += 1;
  username = `member${count}`;
  const account = { username, password: PASSWORD, email: `${username}@mail.example` };
  id = await insertTestAccount(service.database, account, { hasher: service.core.hasher, now: clock.now() });
  homeserver.addUser(username);
  user = await GraphqlClient.signedIn(service, username, PASSWORD);
  await mails.deliver(service.core);
});

const ADD = `mutation AddUser($username: String!, $skip: Boolean) {
  addUser(input: { username: $username, skipHomeserverCheck: $skip }) { status user { id username hasPassword } }
}`;
const LOCK = `mutation LockUser($id: ID!, $deactivate: Boolean) {
  lockUser(input: { userId: $id, deactivate: $deactivate }) { status user { id lockedAt deactivatedAt } }
}`;
const UNLOCK = `mutation UnlockUser($id: ID!) {
  unlockUser(input: { userId: $id }) { status user { id lockedAt deactivatedAt } }
}`;
const SET_ADMIN = `mutation SetCanRequestAdmin($id: ID!, $may: Boolean!) {
  setCanRequestAdmin(input: { userId: $id, canRequestAdmin: $may }) { user { id canRequestAdmin } }
}`;
const USERS = `query Users($state: UserState, $may: Boolean, $first: Int, $last: Int, $after: String, $before: String) {
  users(state: $state, canRequestAdmin: $may, first: $first, last: $last, after: $after, before: $before) {
    totalCount nodes { id username } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;
/** Variables cannot contain a NUL character, but documents can. */
const BY_NUL = String.raw`{ userByUsername(username: "nul\u0000") { id username } }`;
const BY_NAME = 'query($username: String!) { userByUsername(username: $username) { id username } }';

/** Jobs for one user run one after the other. The second is retried after two seconds. */
async function tell(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await notifyHomeserver(service.core);
    clock.advanceSeconds(2);
  }
}

/** Returns the payload of the response's only mutation. The response must not have errors. */
function payloadOf({ data, errors, text }: GraphqlResponse): Record<string, unknown> {
  expect(errors, text).toEqual([]);
  return Object(Object.values(Object(data))[0]);
}

function uuid(text = id): string {
  return toUuid(parseId(text) ?? expect.fail(`no id: ${text}`));
}

async function rows<Row extends object>(text: string, ...parameters: unknown[]): Promise<Row[]> {
  return await sql<Row>(service.database, text, [uuid(), ...parameters]);
}

async function viewer(caller: GraphqlClient): Promise<unknown> {
  return Object((await caller.query('{ viewer { __typename } }')).data).viewer.__typename;
}

/** Returns the user's audit events with their actors. */
async function events(...kinds: readonly string[]) {
  return await rows<{ kind: string; client: string; detail: unknown; ip: string | null }>(
    `select kind, client_id as client, detail, host(ip) as ip from audit_events
      where user_id = $1::uuid and kind = any($2::text[]) order by kind`,
    kinds,
  );
}

/** The record of an event that the administrator of these tests caused. */
function byAdmin(kind: string) {
  return { kind, client: uuid(CLIENT), detail: { actor: 'admin', admin: adminId }, ip: null };
}

function lastLine(event: string): string | undefined {
  return service.logLines().findLast((line) => line.includes(` ${event} `));
}

/** The response without the request identifier. */
const body = ({ status, text }: GraphqlResponse): string => `${status} ${text.replaceAll(/(POST)-\d+/g, '$1')}`;

describe('an action of an administrator', () => {
  const EMAIL = 'mutation($id: ID!, $email: String!) { addEmail(input: { userId: $id, email: $email }) { status } }';
  const NAME = 'mutation($id: ID!) { setDisplayName(input: { userId: $id, displayName: "Bo" }) { status } }';
  async function actions() {
    return await rows<{ operation: string; type: string; target: string; ip: string; changed: unknown }>(
      `select detail ->> 'operation' as operation, detail ->> 'target_type' as type, detail ->> 'target' as target,
              host(ip) as ip, detail -> 'changed' as changed
         from audit_events
        where user_id = $1::uuid and kind = 'admin_action' and detail ->> 'admin' = $2::text order by id`,
      adminId,
    );
  }

  test('is recorded with the address, which the event of the user lacks', async () => {
    for (const [mutation, more] of [
      [LOCK, {}],
      [UNLOCK, {}],
      [SET_ADMIN, { may: false }],
      [EMAIL, { email: `second.${username}@mail.example` }],
      [NAME, {}],
    ] as const) {
      payloadOf(await admin.query(mutation, { id: `user:${id}`, ...more }));
      clock.advanceSeconds(1);
    }
    const ofUser = { type: 'user', target: id, ip: '127.0.0.1' };
    expect(await actions()).toEqual([
      { operation: 'lockUser', ...ofUser, changed: ['locked_at'] },
      { operation: 'unlockUser', ...ofUser, changed: ['locked_at', 'deactivated_at'] },
      { operation: 'setCanRequestAdmin', ...ofUser, changed: ['admin'] },
      { operation: 'addEmail', ...ofUser, type: 'user-email', target: expect.any(String), changed: null },
      { operation: 'setDisplayName', ...ofUser, changed: ['displayname'] },
    ]);
    expect(
      await rows(`select id from audit_events where user_id = $1::uuid and detail ->> 'actor' = 'admin'
       and kind <> 'admin_action' and ip is not null`),
    ).toEqual([]);
  });

  test('names a session that the administrator renames, but not one that its user renames', async () => {
    const session = newId<'compat-session'>(clock.now());
    await rows(
      `insert into compat_sessions (id, user_id, device_id, created_at, last_active_at)
       values ($2::uuid, $1::uuid, 'PHONE', now(), now()) returning id`,
      toUuid(session),
    );
    const rename = `mutation($id: ID!, $name: String!) {
      setCompatSessionName(input: { compatSessionId: $id, humanName: $name }) { status } }`;
    for (const [caller, name] of [
      [user, 'Mine'],
      [admin, 'Phone of the crew'],
    ] as const) {
      const renamed = await caller.query(rename, { id: `compat_session:${session}`, name });
      expect(payloadOf(renamed)).toEqual({ status: 'UPDATED' });
    }
    expect(await actions()).toEqual([
      {
        ...{ operation: 'setCompatSessionName', type: 'compat-session', target: session, ip: '127.0.0.1' },
        changed: ['human_name'],
      },
    ]);
  });

  test('names a session that the administrator ends, but not one that its user ends', async () => {
    const sessions = await rows<{ id: string }>('select id from user_sessions where user_id = $1::uuid');
    const [session] = sessions.map((row) => fromUuid(row.id));
    const end = 'mutation($id: ID!) { endBrowserSession(input: { browserSessionId: $id }) { status } }';
    expect(payloadOf(await admin.query(end, { id: `browser_session:${session}` }))).toEqual({ status: 'ENDED' });
    expect(await actions()).toMatchObject([{ operation: 'endBrowserSession', type: 'user-session', target: session }]);
    user = await GraphqlClient.signedIn(service, username, PASSWORD);
    const { data } = await user.query('{ viewerSession { ... on Node { id } } }');
    payloadOf(await user.query(end, { id: Object(data).viewerSession.id }));
    expect(await actions()).toHaveLength(1);
  });
});

describe('lockUser', () => {
  test('blocks all access, notifies the user and the homeserver, and records the administrator', async () => {
    const locked = payloadOf(await admin.query(LOCK, { id: `user:${id}` }));
    const lockedAt = new Date(clock.now()).toISOString();
    expect(locked).toEqual({ status: 'LOCKED', user: { id: `user:${id}`, lockedAt, deactivatedAt: null } });
    expect(service.logLines().at(-1)).toMatch(/requester=user:\w+\(root\).* graphql\.operation\.name=LockUser$/);
    expect(lastLine('account.locked')).toContain(`user=${id} deactivated=false client=${CLIENT} admin=${adminId}`);
    expect(await events('account_locked')).toEqual([byAdmin('account_locked')]);
    expect(await viewer(user)).toBe('Anonymous');
    expect((await mails.deliver(service.core)).map(({ to, subject }) => [to, subject])).toEqual([
      [`${username}@mail.example`, 'Your account was locked'],
    ]);
    await tell();
    expect(homeserver.user(username)).toMatchObject({ isLocked: true, isDeactivated: false });
    clock.advanceSeconds(60);
    expect(payloadOf(await admin.query(LOCK, { id: `user:${id}` }))).toEqual(locked);
    expect([await events('account_locked'), await mails.deliver(service.core)]).toEqual([
      [byAdmin('account_locked')],
      [],
    ]);
  });

  test('optionally deactivates the account without erasing it, and keeps its upstream links', async () => {
    await rows(
      `insert into upstream_links (id, provider_id, user_id, subject, created_at)
       values ($2::uuid, $3::uuid, $1::uuid, $4::text, $5::timestamptz)`,
      ...[toUuid(newId(clock.now())), uuid(PROVIDER), username, new Date(clock.now())],
    );
    const locked = payloadOf(await admin.query(LOCK, { id: `user:${id}`, deactivate: true }));
    const at = new Date(clock.now()).toISOString();
    expect(locked).toEqual({ status: 'LOCKED', user: { id: `user:${id}`, lockedAt: at, deactivatedAt: at } });
    expect(await events('account_locked', 'account_deactivated')).toEqual([
      byAdmin('account_deactivated'),
      byAdmin('account_locked'),
    ]);
    expect(lastLine('account.locked')).toContain('deactivated=true');
    const [left] = await rows(
      `select (select count(*)::integer from user_emails where user_id = $1::uuid) as emails,
              (select count(*)::integer from user_passwords where user_id = $1::uuid) as passwords,
              (select count(*)::integer from upstream_links where user_id = $1::uuid) as links,
              (select count(*)::integer from user_sessions where user_id = $1::uuid and finished_at is null) as sessions`,
    );
    expect(left).toEqual({ emails: 0, passwords: 1, links: 1, sessions: 0 });
    const notices = await mails.deliver(service.core);
    expect(notices.map(({ subject }) => subject)).toEqual(['Your account was deactivated']);
    expect(notices[0]?.text.replaceAll(/\s+/g, ' ')).toContain('An administrator deactivated your account');
    await tell();
    expect(homeserver.user(username)).toMatchObject({ isDeactivated: true, isErased: false });
  });

  test('returns NOT_FOUND for an unknown user', async () => {
    expect(payloadOf(await admin.query(LOCK, { id: ABSENT }))).toEqual({ status: 'NOT_FOUND', user: null });
    expect(codesOf(await admin.query(LOCK, { id: 'user:x' }))).toEqual(['BAD_USER_INPUT']);
    expect(codesOf(await admin.query(LOCK, { id: `user_email:${id}` }))).toEqual(['BAD_USER_INPUT']);
  });
});

describe('unlockUser', () => {
  test('lets sessions continue, and records the administrator', async () => {
    await admin.query(LOCK, { id: `user:${id}` });
    expect(await viewer(user)).toBe('Anonymous');
    expect(payloadOf(await admin.query(UNLOCK, { id: `user:${id}` }))).toEqual({
      status: 'UNLOCKED',
      user: { id: `user:${id}`, lockedAt: null, deactivatedAt: null },
    });
    expect(await viewer(user)).toBe('User');
    expect(await events('account_unlocked')).toEqual([byAdmin('account_unlocked')]);
    expect(lastLine('account.unlocked')).toContain(`user=${id} client=${CLIENT} admin=${adminId}`);
    await tell();
    expect(homeserver.user(username)).toMatchObject({ isLocked: false });
  });

  test('reactivates a deactivated account at the homeserver first', async () => {
    await admin.query(LOCK, { id: `user:${id}`, deactivate: true });
    await tell();
    await homeserver.setFault({ kind: 'refuse' });
    const refused = await admin.query(UNLOCK, { id: `user:${id}` });
    expect([codesOf(refused), refused.data]).toEqual([['HOMESERVER_UNAVAILABLE'], null]);
    const state =
      'select locked_at is not null as locked, deactivated_at is not null as gone from users where id = $1::uuid';
    expect(await rows(state)).toEqual([{ locked: true, gone: true }]);
    await homeserver.setFault(undefined);
    clock.advanceSeconds(60);
    expect(payloadOf(await admin.query(UNLOCK, { id: `user:${id}` }))).toMatchObject({ status: 'UNLOCKED' });
    expect(homeserver.user(username)).toMatchObject({ isDeactivated: false });
    expect(await rows(state)).toEqual([{ locked: false, gone: false }]);
    expect(await events('account_reactivated', 'account_unlocked')).toEqual([
      byAdmin('account_reactivated'),
      byAdmin('account_unlocked'),
    ]);
    expect(await viewer(user), 'sessions do not come back').toBe('Anonymous');
  });

  test('cancels a deactivation that was not yet sent to the homeserver', async () => {
    await admin.query(LOCK, { id: `user:${id}`, deactivate: true });
    expect(payloadOf(await admin.query(UNLOCK, { id: `user:${id}` }))).toMatchObject({ status: 'UNLOCKED' });
    clock.advanceSeconds(10);
    await tell();
    expect(homeserver.user(username)).toMatchObject({ isDeactivated: false });
  });

  test('changes nothing while a job is updating the user at the homeserver', async () => {
    await admin.query(LOCK, { id: `user:${id}`, deactivate: true });
    await rows(
      `insert into homeserver_leases (user_id, owner, expires_at) values ($1::uuid, gen_random_uuid(), $2::timestamptz)`,
      new Date(clock.now() + 60_000),
    );
    expect(codesOf(await admin.query(UNLOCK, { id: `user:${id}` }))).toEqual(['HOMESERVER_UNAVAILABLE']);
    expect(await events('account_reactivated', 'account_unlocked')).toEqual([]);
  });

  test('returns NOT_FOUND for an unknown user', async () => {
    expect(payloadOf(await admin.query(UNLOCK, { id: ABSENT }))).toEqual({ status: 'NOT_FOUND', user: null });
  });
});

describe('addUser', () => {
  test('creates an account without a password, and a job creates it at the homeserver', async () => {
    const name = `${username}.new`;
    const added = payloadOf(await admin.query(ADD, { username: name }));
    expect(added).toEqual({ status: 'ADDED', user: { id: expect.any(String), username: name, hasPassword: false } });
    const made = String(Object(added['user']).id).replace('user:', '');
    expect(lastLine('account.added')).toContain(`user=${made} client=${CLIENT} admin=${adminId}`);
    id = made;
    expect(await events('registered')).toEqual([byAdmin('registered')]);
    await tell();
    expect(homeserver.user(name)).toBeDefined();
    expect(payloadOf(await admin.query(ADD, { username: name }))).toEqual({ ...added, status: 'EXISTS' });
  });

  test.each(['Member1', '', '_bot', 'a b', 'müller', '12345', 'x'.repeat(256), '.'])(
    'with the name %j returns %s',
    async (name) => {
      const { status, user } = payloadOf(await admin.query(ADD, { username: name, skip: true }));
      const isThere = name === 'Member1';
      expect([status, user]).toEqual(
        isThere ? ['EXISTS', expect.objectContaining({ username: 'member1' })] : ['INVALID', null],
      );
    },
  );

  test('rejects names that PostgreSQL cannot store', async () => {
    const nul = String.raw`mutation { addUser(input: { username: "nul\u0000" }) { status user { id } } }`;
    expect(payloadOf(await admin.query(nul))).toEqual({ status: 'INVALID', user: null });
  });

  test('checks the name at the homeserver, unless told to skip the check', async () => {
    const name = `${username}.there`;
    homeserver.addUser(name);
    expect(payloadOf(await admin.query(ADD, { username: name }))).toEqual({ status: 'RESERVED', user: null });
    await homeserver.setFault({ kind: 'refuse' });
    expect(codesOf(await admin.query(ADD, { username: `${username}.other` }))).toEqual(['HOMESERVER_UNAVAILABLE']);
    expect(payloadOf(await admin.query(ADD, { username: name, skip: true }))).toMatchObject({ status: 'ADDED' });
  });

  test('creates one account for two concurrent requests with the same name', async () => {
    const name = `${username}.twice`;
    const both = await Promise.all([1, 2].map(() => admin.query(ADD, { username: name, skip: true })));
    expect(both.map((response) => payloadOf(response)['status']).toSorted()).toEqual(['ADDED', 'EXISTS']);
  });
});

describe('setCanRequestAdmin', () => {
  test('grants and revokes the right, and records the administrator once per change', async () => {
    for (const may of [true, true, false]) {
      const { user } = payloadOf(await admin.query(SET_ADMIN, { id: `user:${id}`, may }));
      expect(user).toEqual({ id: `user:${id}`, canRequestAdmin: may });
    }
    expect(await events('admin_granted', 'admin_revoked')).toEqual([
      byAdmin('admin_granted'),
      byAdmin('admin_revoked'),
    ]);
    expect(lastLine('account.admin_set')).toContain(`user=${id} may_ask=false client=${CLIENT} admin=${adminId}`);
  });

  test('returns NOT_FOUND for an unknown user', async () => {
    expect(payloadOf(await admin.query(SET_ADMIN, { id: ABSENT, may: true }))).toEqual({ user: null });
  });
});

describe('users', () => {
  async function names(given: object): Promise<string[]> {
    const { nodes } = payloadOf(await admin.query(USERS, { first: 100, ...given }));
    return Object(nodes).map((user: { username: string }) => user.username);
  }

  test('lists all accounts in creation order, filtered by state and by right', async () => {
    await admin.query(LOCK, { id: `user:${id}` });
    const [all, active, locked] = [await names({}), await names({ state: 'ACTIVE' }), await names({ state: 'LOCKED' })];
    expect(all.slice(0, 2)).toEqual(['listed', 'root']);
    expect(all).toContain(username);
    expect(active).not.toContain(username);
    expect(locked).toContain(username);
    expect(await names({ may: true })).toEqual(['listed', 'root']);
    expect(await names({ may: false })).toEqual(all.filter((name) => !['listed', 'root'].includes(name)));
    expect(await names({ state: 'LOCKED', may: true })).toEqual([]);
    const gone = await insertTestAccount(
      service.database,
      { username: `${username}.gone`, isDeactivated: true },
      {
        now: clock.now(),
      },
    );
    expect(gone).toBeDefined();
    expect(await names({})).toContain(`${username}.gone`);
    for (const state of ['ACTIVE', 'LOCKED']) expect(await names({ state })).not.toContain(`${username}.gone`);
  });

  test('paginates in both directions, with a total independent of the page', async () => {
    const whole = payloadOf(await admin.query(USERS, { first: 100 }));
    const total = Object(whole['nodes']).length;
    expect(whole['totalCount']).toBe(total);
    const first = payloadOf(await admin.query(USERS, { first: 2 }));
    expect(first).toMatchObject({ totalCount: total, pageInfo: { hasPreviousPage: false, hasNextPage: true } });
    const after = Object(first['pageInfo']).endCursor;
    const rest = payloadOf(await admin.query(USERS, { first: 100, after }));
    expect([...Object(first['nodes']), ...Object(rest['nodes'])]).toEqual(whole['nodes']);
    const last = payloadOf(await admin.query(USERS, { last: 1 }));
    expect(last['nodes']).toEqual([{ id: `user:${id}`, username }]);
    const none = payloadOf(await admin.query(USERS, { first: 0 }));
    expect(none).toMatchObject({ totalCount: total, nodes: [] });
    for (const wrong of [{ first: 101 }, { first: 1, last: 1 }, { last: -1 }, { after: 'eA' }])
      expect(codesOf(await admin.query(USERS, wrong))).toEqual(['BAD_USER_INPUT']);
  });
});

describe('userByUsername', () => {
  test("finds the caller's own account, and any account for administrators, ignoring case", async () => {
    const own = { userByUsername: { id: `user:${id}`, username } };
    for (const caller of [user, admin]) {
      for (const name of [username, username.toUpperCase()])
        expect((await caller.query(BY_NAME, { username: name })).data).toEqual(own);
    }
    for (const name of ['nobody-at-all', '', 'x'.repeat(10_000)])
      expect((await admin.query(BY_NAME, { username: name })).data).toEqual({ userByUsername: null });
    expect((await admin.query(BY_NUL)).data).toEqual({ userByUsername: null });
  });

  test('does not reveal to others whether an account exists (S-128)', async () => {
    for (const caller of [user, new GraphqlClient(service)]) {
      const foreign = await caller.query(BY_NAME, { username: 'root' });
      expect(foreign.data).toEqual({ userByUsername: null });
      expect(body(foreign)).toBe(body(await caller.query(BY_NAME, { username: 'nobody-at-all' })));
    }
  });
});

test('tokens issued earlier lose a right that was revoked (S-129)', async () => {
  await admin.query(SET_ADMIN, { id: `user:${id}`, may: true });
  const { accessToken } = await new ChatOAuthClient(service, CLIENT).signIn(
    user.browser ?? expect.fail('no browser'),
    'urn:mas:graphql:* urn:mas:admin',
  );
  const former = new GraphqlClient(service, { authorization: `Bearer ${accessToken}` });
  expect((await former.query(USERS)).errors).toEqual([]);
  await admin.query(SET_ADMIN, { id: `user:${id}`, may: false });
  for (const [query, given] of [
    [USERS, {}],
    [LOCK, { id: `user:${adminId}` }],
    [UNLOCK, { id: `user:${adminId}` }],
    [ADD, { username: 'sneaked.in' }],
    [SET_ADMIN, { id: `user:${id}`, may: true }],
  ] as const)
    expect(codesOf(await former.query(query, given))).toEqual(['FORBIDDEN']);
});
