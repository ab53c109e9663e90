/** Users who deactivate their own account (account-graphql 5.3). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient, type GraphqlResponse } from '#test/support/graphql-client.ts';
import { startMails } from '#test/support/mails.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';

const PASSWORD = 'correct horse battery staple';
const SECRET = 'shared-secret-of-the-test';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T5X';
const PROVIDER = '01JD3Q5Z8W2N4K6M7P9R0S1T5Y';

const clock = new FakeClock();
let settings: Readonly<Record<string, unknown>>;
let service: TestService;
let count = 0;
/** A new user for each test. */
let username: string;
let id: string;
let here: GraphqlClient;

const mails = await sharedByTests(startMails());
const homeserver = await sharedByTests(startStandInHomeserver(SECRET, 'chat.example'));

beforeAll(async () => {
  settings = {
    rate_limiting: {
      graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT },
      login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
    },
    clients: [chatClientSettings(CLIENT)],
    graphql: { oauth2_access: true },
    email: mails.settings,
    homeserver: { kind: 'synapse', homeserver: 'chat.example', endpoint: homeserver.endpoint, secret: SECRET },
    upstream_oauth2: {
      providers: [{ id: PROVIDER, issuer: 'https://idp.example', client_id: 'us', token_endpoint_auth_method: 'none' }],
    },
  };
  service = await startService(settings, { clock });
});

beforeEach(async () => {
  count += 1;
  username = `leaver${count}`;
  const account = { username, password: PASSWORD, email: `${username}@mail.example` };
  id = await insertTestAccount(service.database, account, { hasher: service.core.hasher, now: clock.now() });
  homeserver.addUser(username);
  here = await GraphqlClient.signedIn(service, username, PASSWORD);
});

afterAll(async () => {
  await service.stop();
});

const DEACTIVATE = `mutation DeactivateUser($hsErase: Boolean!, $password: String) {
  deactivateUser(input: { hsErase: $hsErase, password: $password }) { status user { id username deactivatedAt } }
}`;

async function deactivate(
  caller = here,
  password: string | null = PASSWORD,
  hsErase = false,
): Promise<GraphqlResponse> {
  return await caller.query(DEACTIVATE, { hsErase, password });
}

function statusOf(response: GraphqlResponse): unknown {
  return response.errors.length > 0 ? codesOf(response) : Object(response.data).deactivateUser.status;
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

async function isDeactivated(): Promise<boolean> {
  const [row] = await rows<{ is: boolean }>('select deactivated_at is not null as is from users where id = $1::uuid');
  return row?.is ?? expect.fail('the account is gone');
}

/** Returns what remains of the account. */
async function remains() {
  const [row] = await rows(
    `select (select count(*)::integer from user_emails where user_id = $1::uuid) as emails,
            (select count(*)::integer from user_passwords where user_id = $1::uuid) as passwords,
            (select count(*)::integer from upstream_links where user_id = $1::uuid) as links,
            (select count(*)::integer from oauth2_consents where user_id = $1::uuid) as consents,
            (select count(*)::integer from user_sessions where user_id = $1::uuid and finished_at is null) as browsers,
            (select count(*)::integer from oauth2_sessions where user_id = $1::uuid and finished_at is null) as applications,
            (select count(*)::integer from compat_sessions where user_id = $1::uuid and finished_at is null) as chats`,
  );
  return row;
}

async function link(): Promise<void> {
  await rows(
    `insert into upstream_links (id, provider_id, user_id, subject, created_at)
     values ($2::uuid, $3::uuid, $1::uuid, $4::text, $5::timestamptz)`,
    ...[toUuid(newId(clock.now())), uuid(PROVIDER), username, new Date(clock.now())],
  );
}

async function dropPassword(): Promise<void> {
  await rows('delete from user_passwords where user_id = $1::uuid');
}

describe('deactivateUser', () => {
  test('ends all sessions and tokens, frees addresses and links, and keeps the username (S-126)', async () => {
    const there = await GraphqlClient.signedIn(service, username, PASSWORD);
    const application = new ChatOAuthClient(service, CLIENT);
    const tokens = await application.signIn(there.browser ?? expect.fail('no browser'), 'openid urn:mas:graphql:*');
    await new ChatClient(service).login(username, PASSWORD, { device_id: 'CHAT' });
    await link();
    expect(await remains()).toEqual({
      ...{ emails: 1, passwords: 1, links: 1, consents: 1, browsers: 2, applications: 1, chats: 1 },
    });
    const response = await deactivate();
    expect(response.data).toEqual({
      deactivateUser: {
        status: 'DEACTIVATED',
        user: { id: `user:${id}`, username, deactivatedAt: new Date(clock.now()).toISOString() },
      },
    });
    expect(service.logLines().at(-1)).toMatch(
      new RegExp(`requester=user:${id}\\(${username}\\).* graphql\\.operation\\.name=DeactivateUser$`),
    );
    expect(service.logLines().findLast((line) => line.includes(' account.deactivated '))).toMatch(
      new RegExp(`user=${id} erase=false browser_sessions=2 oauth_sessions=1 compat_sessions=1$`),
    );
    expect(await remains()).toEqual({
      ...{ emails: 0, passwords: 1, links: 0, consents: 0, browsers: 0, applications: 0, chats: 0 },
    });
    expect([await viewer(here), await viewer(there)]).toEqual(['Anonymous', 'Anonymous']);
    const bearer = new GraphqlClient(service, { authorization: `Bearer ${tokens.accessToken}` });
    expect((await bearer.query('{ viewer { __typename } }')).status).toBe(401);
    const refreshed = await application.post('/oauth2/token', {
      grant_type: 'refresh_token',
      refresh_token: tokens.refreshToken,
    });
    expect(refreshed.body['error']).toBe('invalid_grant');
    await expect(service.registerUser(username, PASSWORD)).rejects.toThrow();
  });

  test('clears the cookie in the same response, without a sign-out notice in this browser', async () => {
    await deactivate();
    const browser = here.browser ?? expect.fail('no browser');
    await browser.get('/account/');
    expect(browser.page.status).toBe(303);
    await browser.get('/login');
    await browser.submit({ username, password: PASSWORD });
    expect(browser.page).toMatchObject({ status: 200, body: expect.stringContaining('deactivated') });
  });

  test.each([false, true])('notifies the homeserver with a job, with erasure: %s', async (hsErase) => {
    await rows(
      `update users set display_name = 'Amira Okafor', given_name = 'Amira', family_name = 'Okafor', time_zone = 'UTC'
        where id = $1::uuid`,
    );
    expect(statusOf(await deactivate(here, PASSWORD, hsErase))).toBe('DEACTIVATED');
    expect(homeserver.user(username)).toMatchObject({ isDeactivated: false });
    await notifyHomeserver(service.core);
    expect(homeserver.user(username)).toMatchObject({ isDeactivated: true, isErased: hsErase });
    expect(await remains()).toMatchObject({ passwords: hsErase ? 0 : 1 });
    const kept = { display_name: 'Amira Okafor', given_name: 'Amira', family_name: 'Okafor', time_zone: 'UTC' };
    const none = { display_name: null, given_name: null, family_name: null, time_zone: null };
    expect(
      await rows('select display_name, given_name, family_name, time_zone from users where id = $1::uuid'),
    ).toEqual([hsErase ? none : kept]);
  });

  test('succeeds while the homeserver is down, and notifies it later', async () => {
    await homeserver.setFault({ kind: 'refuse' });
    expect(statusOf(await deactivate())).toBe('DEACTIVATED');
    await notifyHomeserver(service.core);
    await homeserver.setFault(undefined);
    clock.advanceSeconds(60);
    await notifyHomeserver(service.core);
    expect(homeserver.user(username)).toMatchObject({ isDeactivated: true });
  });

  test('records the user as the actor, and notifies their former email address (R-33)', async () => {
    await mails.deliver(service.core);
    await deactivate(here.with({ 'accept-language': 'fr', 'user-agent': 'Firefox/130.0' }));
    const events = await rows<{ kind: string; ip: string | null; user_agent: string | null; detail: object | null }>(
      `select kind, host(ip) as ip, user_agent, detail from audit_events
        where user_id = $1::uuid and kind in ('account_deactivated', 'session_ended') order by kind`,
    );
    expect(events).toEqual([
      { kind: 'account_deactivated', ip: '127.0.0.1', user_agent: 'Firefox/130.0', detail: null },
      { kind: 'session_ended', ip: null, user_agent: null, detail: { reason: 'deactivated', sessions: 1 } },
    ]);
    const [mail, ...others] = await mails.deliver(service.core);
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ to: `${username}@mail.example`, subject: 'Votre compte a été désactivé' });
    expect(mail?.text.replaceAll(/\s+/g, ' ')).toContain(`Vous avez désactivé votre compte`);
    expect(mail?.text).toContain('127.0.0.1');
  });

  test.each([
    ['en', 'You deactivated your account', 'If this was not you'],
    ['de', 'Sie haben Ihr Konto', 'Wenn Sie das nicht waren'],
    ['es', 'Ha desactivado su cuenta', 'Si no ha sido usted'],
    ['fr', 'Vous avez désactivé', 'Si ce n’était pas vous'],
    ['ar', 'لقد عطّلت حسابك', 'إذا لم تكن أنت'],
  ])('says by email in %s that the user did it', async (language, text, advice) => {
    await mails.deliver(service.core);
    await deactivate(here.with({ 'accept-language': language }));
    const [mail] = await mails.deliver(service.core);
    const words = mail?.text.replaceAll(/\s+/g, ' ');
    expect(words).toContain(text);
    expect(words).toContain(advice);
    expect(mail?.html).toContain(`<html lang="${language}"`);
  });

  test('sends no email where notifications are disabled', async () => {
    const quiet = await startService(
      { ...settings, email: { ...mails.settings, security_notices: false } },
      { like: service, clock },
    );
    try {
      await mails.deliver(service.core);
      expect(statusOf(await deactivate(new GraphqlClient(quiet, {}, here.browser)))).toBe('DEACTIVATED');
      expect(await mails.deliver(service.core)).toEqual([]);
    } finally {
      await quiet.stop();
    }
  });

  test('answers two concurrent requests, and records one', async () => {
    await mails.deliver(service.core);
    const there = await GraphqlClient.signedIn(service, username, PASSWORD);
    await mails.deliver(service.core);
    const statuses = (await Promise.all([deactivate(), deactivate(there)])).map(statusOf);
    expect(statuses).toContain('DEACTIVATED');
    expect(
      await rows(`select from audit_events where user_id = $1::uuid and kind = 'account_deactivated'`),
    ).toHaveLength(1);
    expect(await mails.deliver(service.core)).toHaveLength(1);
  });
});

describe('deactivateUser is refused', () => {
  test.each([
    ['no password', null],
    ['an empty password', ''],
    ['a wrong password', 'wrong'],
    ['a password above the limit of bytes', 'x'.repeat(1025)],
  ])('with %s, and changes nothing (S-123)', async (_, password) => {
    const response = await deactivate(here, password);
    expect(response.data).toEqual({ deactivateUser: { status: 'INCORRECT_PASSWORD', user: null } });
    expect([await isDeactivated(), await viewer(here)]).toEqual([false, 'User']);
  });

  test('after five consecutive wrong passwords, which end the session (S-87)', async () => {
    for (let tried = 0; tried < 5; tried += 1) {
      expect(statusOf(await deactivate(here, 'wrong'))).toBe('INCORRECT_PASSWORD');
    }
    expect(statusOf(await deactivate())).toEqual(['UNAUTHENTICATED']);
    expect(await isDeactivated()).toBe(false);
  });

  test('after too many wrong passwords, even with the right one', async () => {
    const small = { burst: 2, per_second: 0.001 };
    const rateLimiting = {
      graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT },
      login: { per_ip: HIGH_LIMIT, per_known_browser: small },
    };
    const strict = await startService({ ...settings, rate_limiting: rateLimiting }, { like: service, clock });
    try {
      const caller = new GraphqlClient(strict, {}, here.browser);
      const statuses = [];
      for (const password of ['wrong', 'wrong', PASSWORD]) statuses.push(statusOf(await deactivate(caller, password)));
      expect(statuses).toEqual(['INCORRECT_PASSWORD', 'INCORRECT_PASSWORD', ['RATE_LIMITED']]);
      const refused = await deactivate(caller);
      expect(refused.errors[0]?.extensions['retryAfter']).toBeGreaterThan(0);
      expect(await isDeactivated()).toBe(false);
    } finally {
      await strict.stop();
    }
  });

  test('for accounts without a password after an old sign-in (account-graphql 2.5, S-123)', async () => {
    await dropPassword();
    clock.advanceSeconds(601);
    const response = await deactivate(here, 'whatever');
    expect(response.errors[0]?.extensions).toMatchObject({
      code: 'REAUTH_REQUIRED',
      maxAge: 600,
      reauthUrl: '/reauth?kind=manage_account&action=org.chat.account_deactivate',
    });
    expect(await isDeactivated()).toBe(false);
  });

  test('except for accounts without a password after a recent sign-in', async () => {
    await dropPassword();
    clock.advanceSeconds(599);
    expect(statusOf(await deactivate(here, null))).toBe('DEACTIVATED');
  });

  test('for access tokens, including those of administrators, and anonymous callers (S-128)', async () => {
    const browser = here.browser ?? expect.fail('no browser');
    await rows('update users set can_request_admin = true where id = $1::uuid');
    const application = new ChatOAuthClient(service, CLIENT);
    for (const scope of ['urn:mas:graphql:*', 'urn:mas:graphql:* urn:mas:admin']) {
      const { accessToken } = await application.signIn(browser, scope);
      const caller = new GraphqlClient(service, { authorization: `Bearer ${accessToken}` });
      expect(statusOf(await deactivate(caller))).toEqual(['FORBIDDEN']);
    }
    expect(statusOf(await deactivate(new GraphqlClient(service)))).toEqual(['UNAUTHENTICATED']);
    expect(await isDeactivated()).toBe(false);
  });

  test('where it is disabled, before a password is checked', async () => {
    const closed = await startService(
      { ...settings, account: { account_deactivation_allowed: false } },
      { like: service, clock },
    );
    try {
      const caller = new GraphqlClient(closed, {}, here.browser);
      for (const password of [PASSWORD, 'wrong', null]) {
        const response = await deactivate(caller, password);
        expect([codesOf(response), response.data]).toEqual([['FEATURE_DISABLED'], null]);
        expect(response.errors[0]?.message).toContain('account.account_deactivation_allowed');
      }
      expect(statusOf(await deactivate(new GraphqlClient(closed)))).toEqual(['UNAUTHENTICATED']);
      expect(await isDeactivated()).toBe(false);
    } finally {
      await closed.stop();
    }
  });

  test('for cross-site requests, and for a second one in the same document (S-135)', async () => {
    const foreign = await deactivate(here.with({ origin: 'https://evil.example' }));
    expect([foreign.status, codesOf(foreign)]).toEqual([403, ['CSRF_REJECTED']]);
    const input = `(input: { hsErase: false, password: "x" }) { status }`;
    const twice = await here.query(`mutation { a: deactivateUser${input} b: deactivateUser${input} }`);
    expect(codesOf(twice)).toEqual(['QUERY_TOO_COMPLEX']);
    const untold = await here.query(`mutation { deactivateUser(input: { password: "${PASSWORD}" }) { status } }`);
    expect(codesOf(untold)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(await isDeactivated()).toBe(false);
  });
});
