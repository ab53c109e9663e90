import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertTestAccount, type TestAccount } from '#test/support/accounts.ts';
import { Browser } from '#test/support/browser.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient, type GraphqlResponse } from '#test/support/graphql-client.ts';
import { type Mails, startMails } from '#test/support/mails.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { bundleWorker } from '#test/support/worker-entry.ts';

const OLD = 'correct horse battery staple';
const NEW = 'seven purple walruses sing quietly';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T4X';
const ABSENT = 'user:01JD3Q5Z8W2N4K6M7P9R0S1T00';
const STRENGTH_WORKER = new URL('../../domain/accounts/passwords/strength.worker.ts', import.meta.url);

const clock = new FakeClock();
let strengthWorker: URL;
let mails: Mails;
let settings: Readonly<Record<string, unknown>>;
let service: TestService;
let application: ChatOAuthClient;
let users = 0;

beforeAll(async () => {
  strengthWorker = await bundleWorker(STRENGTH_WORKER);
  mails = await startMails();
  settings = {
    rate_limiting: {
      graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT },
      login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
    },
    clients: [chatClientSettings(CLIENT)],
    limits: { handler_timeout: '10m' },
    graphql: { oauth2_access: true, timeout: '5m' },
    policy: { data: { admin_users: ['root'] } },
    account: { password_recovery_enabled: true },
    email: mails.settings,
  };
  service = await startService(settings, { clock, strengthWorker });
  application = new ChatOAuthClient(service, CLIENT);
  await insertTestAccount(service.database, { username: 'root', password: OLD }, options());
});

afterAll(async () => {
  await service.stop();
  await mails.stop();
});

function options() {
  return { hasher: service.core.hasher, now: clock.now() };
}

interface TestUser {
  readonly username: string;
  readonly email: string;
  /** Node identifier. */
  readonly id: string;
}

async function newUser(more: Partial<TestAccount> = {}): Promise<TestUser> {
  users += 1;
  const username = `maren${users}`;
  const email = `${username}@mail.example`;
  const id = await insertTestAccount(service.database, { username, email, password: OLD, ...more }, options());
  return { username, email, id: `user:${id}` };
}

async function signedIn(
  { username }: Pick<TestUser, 'username'>,
  password = OLD,
  at = service,
): Promise<GraphqlClient> {
  return await GraphqlClient.signedIn(at, username, password);
}

/** Signs an application in for this user. */
async function withToken(who: Pick<TestUser, 'username'>, scope: string): Promise<GraphqlClient> {
  const { browser } = await signedIn(who);
  const { accessToken } = await application.signIn(browser ?? expect.fail('no browser'), scope);
  return new GraphqlClient(service, { authorization: `Bearer ${accessToken}` });
}

/** Tests whether the password works for sign-in. */
async function isGood({ username }: TestUser, password: string): Promise<boolean> {
  const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get('/login');
  await browser.submit({ username, password });
  return browser.page.status === 303;
}

const CHANGE = `mutation ChangePassword($userId: ID!, $oldPassword: String, $newPassword: String!, $keep: Boolean, $apps: Boolean) {
  setPassword(input: {
    userId: $userId, currentPassword: $oldPassword, newPassword: $newPassword,
    keepOtherSessions: $keep, endApplicationSessions: $apps
  }) {
    status score suggestions
  }
}`;

interface Fields {
  readonly oldPassword?: string | null;
  readonly newPassword?: string;
  readonly keep?: boolean;
  readonly apps?: boolean;
}

async function change(
  caller: GraphqlClient,
  { id }: Pick<TestUser, 'id'>,
  fields: Fields = {},
): Promise<GraphqlResponse> {
  return await caller.query(CHANGE, { userId: id, oldPassword: OLD, newPassword: NEW, ...fields });
}

const DONE = { setPassword: { status: 'ALLOWED', score: null, suggestions: null } };

function statusOf({ data, errors }: GraphqlResponse): unknown {
  return errors.length > 0 ? errors.map(({ extensions }) => extensions['code']) : Object(data).setPassword.status;
}

async function viewer(caller: GraphqlClient): Promise<unknown> {
  return Object((await caller.query('{ viewer { __typename } }')).data).viewer.__typename;
}

async function events({ username }: TestUser) {
  return await sql<{ kind: string; detail: unknown; client: string | null }>(
    service.database,
    `select e.kind, e.detail, e.client_id as client from audit_events e join users u on u.id = e.user_id
      where u.username = $1::text order by e.id`,
    [username],
  );
}

describe('setPassword (account-graphql 5.2)', () => {
  test("takes effect at once, ends other browser sessions, and rotates the current session's key (R-33, S-61)", async () => {
    const who = await newUser();
    const [here, there] = [await signedIn(who), await signedIn(who)];
    const attacker = new Map(here.browser?.cookies);
    const response = await change(here, who);
    expect([response.status, response.data]).toEqual([200, DONE]);
    expect(service.logLines().at(-1)).toMatch(
      new RegExp(
        `requester=user:\\w+\\(${who.username}\\).* graphql\\.operation\\.type=mutation graphql\\.operation\\.name=ChangePassword$`,
      ),
    );
    expect([await viewer(here), await viewer(there)]).toEqual(['User', 'Anonymous']);
    expect([await isGood(who, OLD), await isGood(who, NEW)]).toEqual([false, true]);
    clock.advanceSeconds(31);
    const old = new Browser({ listener: service.address, publicBase: service.publicBase });
    for (const [name, value] of attacker) old.cookies.set(name, value);
    expect(await viewer(new GraphqlClient(service, {}, old))).toBe('Anonymous');
    expect(await viewer(here)).toBe('User');
    expect((await events(who)).map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['reauthenticated', 'password_changed', 'session_ended']),
    );
    const line = service.logLines().findLast((text) => text.includes(' password.changed '));
    expect(line).toMatch(/user=\w{26} browser_sessions=1 oauth_sessions=0/);
    expect(service.logLines().join('\n')).not.toContain(NEW);
  });

  test.each<[string, Fields, { there: string; application: boolean }]>([
    ['by default', {}, { there: 'Anonymous', application: true }],
    ['without other browsers', { keep: true }, { there: 'User', application: true }],
    ['with applications', { apps: true }, { there: 'Anonymous', application: false }],
    ['with applications only', { keep: true, apps: true }, { there: 'User', application: false }],
  ])('%s ends the requested sessions, and never the current one (R-33, S-126)', async (_, fields, left) => {
    const who = await newUser();
    const app = await withToken(who, 'openid urn:mas:graphql:*');
    const [here, there] = [await signedIn(who), await signedIn(who)];
    expect((await change(here, who, fields)).data).toEqual(DONE);
    expect([await viewer(here), await viewer(there)]).toEqual(['User', left.there]);
    expect((await app.query('{ viewer { __typename } }')).status).toBe(left.application ? 200 : 401);
    const ended = await sql(
      service.database,
      `select finish_reason from oauth2_sessions s join users u on u.id = s.user_id where u.username = $1::text`,
      [who.username],
    );
    expect(ended).toEqual([{ finish_reason: left.application ? null : 'password_changed' }]);
  });

  test("notifies the owner by email, in the page's language, and voids recovery links", async () => {
    const who = await newUser();
    const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    await browser.get('/recover');
    await browser.submit({ email: who.email }, { action: '/recover' });
    const link = (await mails.deliver(service.core)).find(({ to }) => to === who.email);
    const ticket = /ticket=(\w{32})/.exec(link?.text ?? '')?.[1] ?? expect.fail('no ticket');
    const here = (await signedIn(who)).with({ 'accept-language': 'de' });
    await mails.deliver(service.core);
    expect((await change(here, who)).data).toEqual(DONE);
    expect(await mails.deliver(service.core)).toMatchObject([
      { to: who.email, subject: expect.stringContaining('Passwort') },
    ]);
    const looked = await new GraphqlClient(service).query(`{ userRecoveryTicket(ticket: "${ticket}") { status } }`);
    expect(looked.data).toEqual({ userRecoveryTicket: { status: 'CONSUMED' } });
  });

  test.each<[string, Fields, string, number | null, string | undefined]>([
    ['an empty one', { newPassword: '', oldPassword: 'wrong' }, 'INVALID_NEW_PASSWORD', null, 'Enter a password.'],
    ['a short one', { newPassword: 'x7!kQ' }, 'INVALID_NEW_PASSWORD', null, 'at least 8 characters'],
    ['one above the limit of bytes', { newPassword: 'x'.repeat(1025) }, 'INVALID_NEW_PASSWORD', null, 'too long'],
    ['a common one', { newPassword: 'baseball' }, 'INVALID_NEW_PASSWORD', 0, 'most common'],
    ['a weak one', { newPassword: 'kayakriver' }, 'INVALID_NEW_PASSWORD', 2, 'Add more words'],
    [
      'a weak one with a wrong current one',
      { newPassword: 'baseball', oldPassword: 'x' },
      'INVALID_NEW_PASSWORD',
      0,
      '',
    ],
    ['the same one', { newPassword: OLD }, 'INVALID_NEW_PASSWORD', null, 'current password'],
    ['a wrong current one', { oldPassword: 'wrong' }, 'WRONG_PASSWORD', null, undefined],
    ['a wrong current one that is the new one', { oldPassword: NEW }, 'WRONG_PASSWORD', null, undefined],
    ['an empty current one', { oldPassword: '' }, 'WRONG_PASSWORD', null, undefined],
    ['a current one above the limit of bytes', { oldPassword: 'x'.repeat(1025) }, 'WRONG_PASSWORD', null, undefined],
  ])('rejects %s, and changes nothing (S-93)', async (_, fields, status, score, suggestion) => {
    const who = await newUser();
    const here = await signedIn(who);
    const response = await change(here, who, fields);
    const { suggestions, ...payload } = Object(response.data).setPassword;
    expect(payload).toEqual({ status, score });
    expect(suggestions?.join(' ')).toEqual(suggestion === undefined ? undefined : expect.stringContaining(suggestion));
    expect(response.text).not.toContain(OLD);
    expect(await isGood(who, OLD)).toBe(true);
    expect((await events(who)).map(({ kind }) => kind)).not.toContain('password_changed');
  });

  test("treats account details as easy to guess, and gives advice in the reader's language", async () => {
    const who = await newUser({ email: 'bartholomew.quimby@mail.example' });
    const here = (await signedIn(who)).with({ 'accept-language': 'fr' });
    const response = await change(here, who, { newPassword: 'bartholomew.quimby@mail.example' });
    expect(response.data).toMatchObject({ setPassword: { status: 'INVALID_NEW_PASSWORD' } });
    expect(response.text).toContain('facile à deviner');
  });

  test('reports a missing current password as an input error', async () => {
    const who = await newUser();
    const response = await change(await signedIn(who), who, { oldPassword: null });
    expect([codesOf(response), response.data]).toEqual([['BAD_USER_INPUT'], null]);
  });

  test('rejects accounts without a password', async () => {
    const who = await newUser();
    const here = await signedIn(who);
    await sql(
      service.database,
      'delete from user_passwords where user_id = (select id from users where username = $1::text)',
      [who.username],
    );
    expect(statusOf(await change(here, who))).toBe('NO_CURRENT_PASSWORD');
  });

  test('treats other and unknown accounts alike (S-128)', async () => {
    const [who, other] = [await newUser(), await newUser()];
    const here = await signedIn(who);
    const body = ({ status, text }: GraphqlResponse): string => `${status} ${text.replaceAll(/POST-\d+/g, 'POST')}`;
    const foreign = await change(here, other);
    expect(body(foreign)).toBe(body(await change(here, { id: ABSENT })));
    expect([codesOf(foreign), foreign.errors[0]?.message]).toEqual([['FORBIDDEN'], 'Unauthorized']);
    expect(codesOf(await change(new GraphqlClient(service), other))).toEqual(['UNAUTHENTICATED']);
    expect(codesOf(await change(here, { id: 'user:x' }))).toEqual(['BAD_USER_INPUT']);
    expect(await isGood(other, OLD)).toBe(true);
  });

  test('ends the session after five consecutive wrong passwords on any form (S-87, S-122)', async () => {
    const who = await newUser();
    const here = await signedIn(who);
    const statuses = [];
    for (let count = 0; count < 5; count += 1) statuses.push(statusOf(await change(here, who, { oldPassword: 'x' })));
    const wrong = 'WRONG_PASSWORD';
    expect(statuses).toEqual([wrong, wrong, wrong, wrong, ['UNAUTHENTICATED']]);
    expect(await viewer(here)).toBe('Anonymous');
  });

  test('counts wrong passwords together with those of sign-ins, and ignores right ones (S-122)', async () => {
    const small = { burst: 2, per_second: 0.001 };
    const rateLimiting = {
      graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT },
      login: { per_ip: HIGH_LIMIT, per_known_browser: small },
    };
    const strict = await startService(
      { ...settings, rate_limiting: rateLimiting },
      { like: service, clock, strengthWorker },
    );
    const who = await newUser();
    const here = await signedIn(who);
    const atStrict = new GraphqlClient(strict, {}, here.browser);
    const back = { oldPassword: NEW, newPassword: OLD };
    for (const fields of [{}, back, {}, back]) expect((await change(atStrict, who, fields)).data).toEqual(DONE);
    const outcomes = [];
    for (let count = 0; count < 3; count += 1)
      outcomes.push(statusOf(await change(atStrict, who, { oldPassword: 'x' })));
    expect(outcomes).toEqual(['WRONG_PASSWORD', 'WRONG_PASSWORD', ['RATE_LIMITED']]);
    const refused = await change(atStrict, who);
    expect(refused.errors[0]?.extensions['retryAfter']).toBeGreaterThan(0);
    await strict.stop();
  });

  test('checks one password per document (S-135)', async () => {
    const who = await newUser();
    const input = `input: { userId: "${who.id}", currentPassword: "x", newPassword: "${NEW}" }`;
    const response = await (await signedIn(who)).query(
      `mutation { a: setPassword(${input}) { status } b: setPassword(${input}) { status } }`,
    );
    expect([codesOf(response), response.data]).toEqual([['QUERY_TOO_COMPLEX'], undefined]);
  });

  test.each([
    ['passwords are switched off', { passwords: { enabled: false } }],
    ['changes are not allowed', { account: { password_change_allowed: false } }],
  ])('while %s it says so, even with the right password', async (_, more) => {
    const closed = await startService({ ...settings, ...more }, { like: service, clock, strengthWorker });
    const who = await newUser();
    const { browser } = await signedIn(who);
    const caller = new GraphqlClient(closed, {}, browser);
    for (const oldPassword of [OLD, 'wrong', null]) {
      expect(statusOf(await change(caller, who, { oldPassword }))).toBe('PASSWORD_CHANGES_DISABLED');
    }
    expect(await isGood(who, OLD)).toBe(true);
    await closed.stop();
  });
});

describe('setPassword with an access token', () => {
  test('requires the current password from the user (S-122), and ends all browser sessions', async () => {
    const who = await newUser();
    const here = await signedIn(who);
    const app = await withToken(who, 'openid urn:mas:graphql:*');
    expect(statusOf(await change(app, who, { oldPassword: 'wrong' }))).toBe('WRONG_PASSWORD');
    expect(statusOf(await change(app, who, { newPassword: OLD }))).toBe('INVALID_NEW_PASSWORD');
    expect((await change(app, who)).data).toEqual(DONE);
    expect([await viewer(here), await viewer(app)]).toEqual(['Anonymous', 'User']);
    expect([await isGood(who, OLD), await isGood(who, NEW)]).toEqual([false, true]);
  });

  test('requires no password from administrators, for any account, and records them as the actor', async () => {
    const who = await newUser();
    const here = await signedIn(who);
    const admin = await withToken({ username: 'root' }, 'openid urn:mas:graphql:* urn:mas:admin');
    expect(statusOf(await change(admin, who, { oldPassword: null, newPassword: 'baseball' }))).toBe(
      'INVALID_NEW_PASSWORD',
    );
    expect((await change(admin, who, { oldPassword: null })).data).toEqual(DONE);
    expect([await viewer(here), await isGood(who, NEW)]).toEqual(['Anonymous', true]);
    const recorded = (await events(who)).find(({ kind }) => kind === 'password_changed');
    expect(recorded).toMatchObject({
      client: expect.any(String),
      detail: { actor: 'admin', admin: expect.any(String) },
    });
    expect(service.logLines().findLast((text) => text.includes(' password.set '))).toContain(`client=${CLIENT}`);
    expect(statusOf(await change(admin, { id: ABSENT }, { oldPassword: null }))).toBe('NOT_FOUND');
    const gone = await newUser({ isDeactivated: true });
    expect(statusOf(await change(admin, gone, { oldPassword: null }))).toBe('NOT_FOUND');
  });
});
