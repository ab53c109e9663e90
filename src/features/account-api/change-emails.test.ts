/** Listing and removing email addresses, and changes by administrators (account-graphql 2.5, 3.2, 4.2, 5.1). */
import { beforeAll, describe, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient, type GraphqlResponse } from '#test/support/graphql-client.ts';
import { startMails } from '#test/support/mails.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T3W';
const PROVIDER = '01JD3Q5Z8W2N4K6M7P9R0S1T4X';
const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';

const SETTINGS = {
  rate_limiting: {
    graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT },
    login: { per_ip: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
  },
  policy: { data: { emails: { banned_addresses: { suffixes: ['@banned.example'] } } } },
  clients: [chatClientSettings(CLIENT)],
  graphql: { oauth2_access: true },
  upstream_oauth2: {
    providers: [
      {
        id: PROVIDER,
        issuer: 'https://idp.example',
        client_id: 'us',
        token_endpoint_auth_method: 'none',
        discovery_mode: 'disabled',
        authorization_endpoint: 'https://idp.example/authorize',
        token_endpoint: 'https://idp.example/token',
        jwks_uri: 'https://idp.example/jwks',
        claims_imports: { localpart: { action: 'ignore' } },
      },
    ],
  },
};

const clock = new FakeClock();
let users = 0;

const REMOVE = `mutation RemoveEmail($id: ID!, $password: String) {
  removeEmail(input: { userEmailId: $id, password: $password }) { status email { id email } user { id } }
}`;
const ADD = `mutation($email: String!, $userId: ID!, $skipPolicyCheck: Boolean) {
  addEmail(input: { email: $email, userId: $userId, skipPolicyCheck: $skipPolicyCheck, skipVerification: false }) {
    status violations email { email } user { id }
  }
}`;
const SET_PRIMARY = 'mutation($id: ID!) { setPrimaryEmail(input: { userEmailId: $id }) { status user { id } } }';

const mails = await sharedByTests(startMails());
const service = await sharedByTests(startService({ ...SETTINGS, email: mails.settings }, { clock }));

beforeAll(async () => {
  await service.registerUser('root', PASSWORD, { canRequestAdmin: true });
});

async function withToken(username: string, scope: string): Promise<GraphqlClient> {
  const { browser } = await GraphqlClient.signedIn(service, username, PASSWORD);
  const tokens = await new ChatOAuthClient(service, CLIENT).signIn(browser ?? expect.fail('no browser'), scope);
  return new GraphqlClient(service, { authorization: `Bearer ${tokens.accessToken}` });
}

/** Administrator tokens expire after a few minutes. */
async function administrator(): Promise<GraphqlClient> {
  return await withToken('root', 'urn:mas:graphql:* urn:mas:admin');
}

interface TestUser {
  readonly id: string;
  readonly username: string;
  /** Node identifiers, in order of creation. */
  readonly emails: readonly string[];
  readonly here: GraphqlClient;
}

async function newUser(count = 2, of: TestService = service): Promise<TestUser> {
  users += 1;
  const username = `person${users}`;
  const id = await of.registerUser(username, PASSWORD);
  const emails: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const email = `${username}.${index}@mail.example`;
    const emailId = newId(clock.now() - 1000 + index);
    await sql(
      of.database,
      'insert into user_emails (id, user_id, email, email_key, created_at) values ($1, $2, $3, $3, $4)',
      [toUuid(emailId), uuid(id), email, new Date(clock.now())],
    );
    emails.push(`user_email:${emailId}`);
  }
  return { id: `user:${id}`, username, emails, here: await GraphqlClient.signedIn(of, username, PASSWORD) };
}

function uuid(id: string): string {
  return toUuid(parseId(id.replace(/^.*:/, '')) ?? expect.fail('no id'));
}

async function remove(by: GraphqlClient, id: string | undefined, password?: string) {
  const response = await by.query(REMOVE, { id, password });
  return { answer: response, codes: codesOf(response), ...Object(response.data).removeEmail };
}

async function countOf({ id }: TestUser): Promise<number> {
  return (await sql(service.database, 'select id from user_emails where user_id = $1', [uuid(id)])).length;
}

const body = ({ status, text }: GraphqlResponse): string => `${status} ${text.replaceAll(/POST-\d+/g, 'POST')}`;

test('lists email addresses page by page, only to their owner (S-128)', async () => {
  const ann = await newUser(5);
  const page = `query($after: String) { viewer { ... on User { emails(first: 2, after: $after, state: PENDING) {
    totalCount pageInfo { hasNextPage hasPreviousPage endCursor } nodes { id email createdAt confirmedAt }
  } } } }`;
  const { emails } = Object(Object((await ann.here.query(page)).data).viewer);
  expect(emails).toMatchObject({ totalCount: 5, pageInfo: { hasNextPage: true, hasPreviousPage: false } });
  expect(emails.nodes.map(({ id }: { id: string }) => id)).toEqual(ann.emails.slice(0, 2));
  expect(emails.nodes[0]).toMatchObject({
    email: `${ann.username}.0@mail.example`,
    confirmedAt: emails.nodes[0].createdAt,
  });
  const next = await ann.here.query(page, { after: emails.pageInfo.endCursor });
  expect(Object(next.data).viewer.emails.nodes.map(({ id }: { id: string }) => id)).toEqual(ann.emails.slice(2, 4));

  const read = 'query($id: ID!) { userEmail(id: $id) { email } node(id: $id) { ... on UserEmail { email } } }';
  const own = { email: `${ann.username}.0@mail.example` };
  const [id] = ann.emails;
  for (const reader of [ann.here, await administrator()]) {
    expect((await reader.query(read, { id })).data).toEqual({ userEmail: own, node: own });
  }
  for (const reader of [(await newUser()).here, new GraphqlClient(service)]) {
    const foreign = await reader.query(read, { id });
    expect(foreign.data).toEqual({ userEmail: null, node: null });
    expect(body(foreign)).toBe(body(await reader.query(read, { id: `user_email:${ABSENT}` })));
  }
  expect(codesOf(await ann.here.query(read, { id: ann.id }))).toEqual(['BAD_USER_INPUT']);
});

describe('removing an email address', () => {
  test('requires the password, notifies all addresses including the removed one, and voids its recovery ticket', async () => {
    const ben = await newUser();
    const [first, second] = ben.emails;
    const recovery = [toUuid(newId(clock.now())), `${ben.username}.1@mail.example`, new Date(clock.now())];
    await sql(
      service.database,
      `with session as (
        insert into user_recovery_sessions (id, email, email_key, locale, created_at) values ($1, $2, $2, 'en', $3) returning id
      ) insert into user_recovery_tickets (ticket_hash, session_id, user_id, user_email_id, created_at)
        select 'x', id, $4, $5, $3 from session`,
      [...recovery, uuid(ben.id), uuid(second ?? '')],
    );
    for (const password of [undefined, '', 'wrong', 'x'.repeat(1025)]) {
      const { status, email, user } = await remove(ben.here, second, password);
      expect({ status, email, user }).toEqual({ status: 'INCORRECT_PASSWORD', email: null, user: null });
    }
    const removed = await remove(ben.here, second, PASSWORD);
    expect(removed).toMatchObject({
      status: 'REMOVED',
      email: { id: second, email: `${ben.username}.1@mail.example` },
      user: { id: ben.id },
    });
    expect(service.logLines().at(-1)).toMatch(/\(person\d+\).* graphql\.operation\.name=RemoveEmail$/);
    const told = await mails.deliver(service.core);
    expect(told.map(({ to, subject }) => [to, subject]).toSorted()).toEqual([
      [`${ben.username}.0@mail.example`, 'Email address removed'],
      [`${ben.username}.1@mail.example`, 'Email address removed'],
    ]);
    expect(await sql(service.database, 'select from user_recovery_tickets where user_id = $1', [uuid(ben.id)])).toEqual(
      [],
    );
    expect(
      await sql(service.database, `select detail from audit_events where kind = 'email_removed' and user_id = $1`, [
        uuid(ben.id),
      ]),
    ).toEqual([{ detail: { email: 'p…@mail.example' } }]);
    expect((await remove(ben.here, second, PASSWORD)).status).toBe('NOT_FOUND');
    expect(await countOf(ben)).toBe(1);
    expect(first).toBeDefined();
  });

  test('treats addresses of other users as unknown (S-128)', async () => {
    const cara = await newUser();
    for (const other of [(await newUser()).here, new GraphqlClient(service)]) {
      const foreign = await other.query(REMOVE, { id: cara.emails[0], password: PASSWORD });
      expect(foreign.data).toEqual({ removeEmail: { status: 'NOT_FOUND', email: null, user: null } });
      expect(body(foreign)).toBe(body(await other.query(REMOVE, { id: `user_email:${ABSENT}`, password: PASSWORD })));
    }
    expect(await countOf(cara)).toBe(2);
  });

  test('refuses the last one, unless another sign-in method exists', async () => {
    const dan = await newUser(1);
    const { codes, answer: response } = await remove(dan.here, dan.emails[0], PASSWORD);
    expect([response.status, codes]).toEqual([200, ['LAST_EMAIL']]);
    expect(await mails.deliver(service.core)).toEqual([]);
    await sql(
      service.database,
      'insert into upstream_links (id, provider_id, subject, user_id, created_at) values ($1, $2, $3, $4, $5)',
      [toUuid(newId(clock.now())), uuid(PROVIDER), 'dan', uuid(dan.id), new Date(clock.now())],
    );
    expect((await remove(dan.here, dan.emails[0], PASSWORD)).status).toBe('REMOVED');
    await mails.deliver(service.core);
  });

  test('removes one of the last two when both are removed concurrently (S-101)', async () => {
    const eva = await newUser();
    const elsewhere = await GraphqlClient.signedIn(service, eva.username, PASSWORD);
    const outcomes = await Promise.all([
      remove(eva.here, eva.emails[0], PASSWORD),
      remove(elsewhere, eva.emails[1], PASSWORD),
    ]);
    expect(outcomes.flatMap(({ status, codes }) => status ?? codes).toSorted()).toEqual(['LAST_EMAIL', 'REMOVED']);
    expect(await countOf(eva)).toBe(1);
    await mails.deliver(service.core);
  });

  test('allows the last one if configured, and none where changes are disabled', async () => {
    const like = { clock, like: service };
    const loose = await startService({ ...SETTINGS, account: { keep_one_email: false } }, like);
    const closed = await startService({ ...SETTINGS, account: { email_change_allowed: false } }, like);
    try {
      const fritz = await newUser(1, loose);
      const shut = await GraphqlClient.signedIn(closed, fritz.username, PASSWORD);
      expect((await remove(shut, fritz.emails[0], PASSWORD)).codes).toEqual(['FORBIDDEN']);
      expect((await remove(fritz.here, fritz.emails[0], PASSWORD)).status).toBe('REMOVED');
    } finally {
      await loose.stop();
      await closed.stop();
    }
  });

  test('requires a recent sign-in for accounts without a password (S-123)', async () => {
    const gina = await newUser(3);
    await sql(service.database, 'delete from user_passwords where user_id = $1', [uuid(gina.id)]);
    expect((await remove(gina.here, gina.emails[0])).status).toBe('REMOVED');
    clock.advanceSeconds(601);
    const { answer: response, codes } = await remove(gina.here, gina.emails[1]);
    expect([codes, await countOf(gina)]).toEqual([['REAUTH_REQUIRED'], 2]);
    expect(response.errors[0]?.extensions).toMatchObject({ reauthUrl: '/reauth?kind=manage_account', maxAge: 600 });
    // NOT_FOUND takes precedence over REAUTH_REQUIRED.
    expect((await remove(gina.here, `user_email:${ABSENT}`)).status).toBe('NOT_FOUND');
    await mails.deliver(service.core);
  });

  test('requires the password from applications, even with a valid token', async () => {
    const hugo = await newUser();
    const app = await withToken(hugo.username, 'urn:mas:graphql:*');
    expect((await remove(app, hugo.emails[0])).status).toBe('INCORRECT_PASSWORD');
    expect((await remove(app, hugo.emails[0], 'wrong')).status).toBe('INCORRECT_PASSWORD');
    expect((await remove(app, hugo.emails[0], PASSWORD)).status).toBe('REMOVED');
    await sql(service.database, 'delete from user_passwords where user_id = $1', [uuid(hugo.id)]);
    expect((await remove(app, hugo.emails[1])).codes).toEqual(['REAUTH_REQUIRED']);
    await mails.deliver(service.core);
  });
});

describe('administrators', () => {
  test('add a confirmed address without sending mail, and remove one without a password', async () => {
    const [ines, root] = [await newUser(1), await administrator()];
    const added = await root.query(ADD, { email: 'Ines@work.example', userId: ines.id });
    expect(added.data).toEqual({
      addEmail: { status: 'ADDED', violations: null, email: { email: 'Ines@work.example' }, user: { id: ines.id } },
    });
    expect((await mails.deliver(service.core)).map(({ to }) => to)).toEqual([`${ines.username}.0@mail.example`]);
    const [event] = await sql<{ client_id: string; detail: object }>(
      service.database,
      `select client_id, detail from audit_events where kind = 'email_added' and user_id = $1`,
      [uuid(ines.id)],
    );
    expect(event).toMatchObject({
      client_id: uuid(CLIENT),
      detail: { email: 'I…@work.example', admin: expect.stringMatching(/^\w{26}$/) },
    });
    expect((await remove(root, ines.emails[0])).status).toBe('REMOVED');
    await mails.deliver(service.core);
  });

  test('appear as administrators among the security events of the user, without an address', async () => {
    const [mia, root] = [await newUser(1), await administrator()];
    clock.advanceSeconds(1);
    const added = await root.query(
      'mutation($email: String!, $userId: ID!) { addEmail(input: { email: $email, userId: $userId }) { email { id } } }',
      { email: 'mia@work.example', userId: mia.id },
    );
    const { id } = Object(added.data).addEmail.email;
    clock.advanceSeconds(1);
    expect((await root.query(SET_PRIMARY, { id })).data).toMatchObject({ setPrimaryEmail: { status: 'SET' } });
    clock.advanceSeconds(1);
    expect((await remove(root, mia.emails[0])).status).toBe('REMOVED');
    const { data } = await mia.here.query(
      '{ viewer { ... on User { securityEvents(last: 3) { nodes { kind actor ip userAgent { raw } } } } } }',
    );
    expect(Object(data).viewer.securityEvents.nodes).toEqual(
      ['EMAIL_ADDED', 'PRIMARY_EMAIL_CHANGED', 'EMAIL_REMOVED'].map((kind) => ({
        kind,
        actor: 'ADMIN',
        ip: null,
        userAgent: null,
      })),
    );
    const notices = await mails.deliver(service.core);
    expect(notices).toHaveLength(3);
    for (const { text } of notices) expect(text).not.toContain('IP address');
  });

  test('get the reason why an address cannot be added', async () => {
    const [jan, kai, root] = [await newUser(1), await newUser(1), await administrator()];
    const add = async (email: string, more: object = {}) => {
      const response = await root.query(ADD, { email, userId: jan.id, ...more });
      const { status, violations } = Object(response.data).addEmail;
      return [status, violations];
    };
    expect(await add(`${jan.username}.0@MAIL.example`)).toEqual(['EXISTS', null]);
    expect(await add('nobody')).toEqual(['INVALID', null]);
    expect(await add('jan@banned.example')).toEqual(['DENIED', ['This email address cannot be used here.']]);
    expect(await add('jan@banned.example', { skipPolicyCheck: true })).toEqual(['ADDED', null]);
    expect(await add(`${kai.username}.0@mail.example`)).toEqual(['DENIED', ['That email address is already in use.']]);
    await sql(service.database, 'update users set deactivated_at = $2 where id = $1', [uuid(jan.id), new Date(0)]);
    expect(await add('jan@mail.example')).toEqual(['DENIED', ['The account is deactivated.']]);
    expect(codesOf(await root.query(ADD, { email: 'x@mail.example', userId: `user:${ABSENT}` }))).toEqual([
      'NOT_FOUND',
    ]);
    await mails.deliver(service.core);
  });

  test('are the only ones who may do so', async () => {
    const lou = await newUser(1);
    const given = { email: 'lou@mail.example', userId: lou.id };
    expect(codesOf(await lou.here.query(ADD, given))).toEqual(['FORBIDDEN']);
    expect(codesOf(await new GraphqlClient(service).query(ADD, given))).toEqual(['UNAUTHENTICATED']);
    expect(await countOf(lou)).toBe(1);
  });
});

describe('the primary email address', () => {
  const LIST = 'query { viewer { ... on User { emails(first: 20) { nodes { id isPrimary } } } } }';
  const primaryOf = async ({ here }: TestUser): Promise<string[]> => {
    const { nodes } = Object(Object((await here.query(LIST)).data).viewer).emails;
    return nodes.flatMap(({ id, isPrimary }: { id: string; isPrimary: boolean }) => (isPrimary ? [id] : []));
  };
  const choose = async ({ here }: TestUser, id: string | undefined) => (await here.query(SET_PRIMARY, { id })).data;
  const isSet = ({ id }: TestUser) => ({ setPrimaryEmail: { status: 'SET', user: { id } } });

  test('is the oldest until the user chooses another, and again after that one is removed', async () => {
    const max = await newUser(3);
    const [oldest, second, youngest] = max.emails;
    expect(await primaryOf(max)).toEqual([oldest]);
    expect(await choose(max, youngest)).toEqual(isSet(max));
    expect(await primaryOf(max)).toEqual([youngest]);
    expect(await choose(max, second)).toEqual(isSet(max));
    expect(await primaryOf(max)).toEqual([second]);
    expect((await remove(max.here, second, PASSWORD)).status).toBe('REMOVED');
    expect(await primaryOf(max)).toEqual([oldest]);
    await mails.deliver(service.core);
  });

  test('is the `email` claim in userinfo and the ID token', async () => {
    const mia = await newUser();
    await choose(mia, mia.emails[1]);
    const { browser } = await GraphqlClient.signedIn(service, mia.username, PASSWORD);
    const app = new ChatOAuthClient(service, CLIENT);
    const { accessToken } = await app.signIn(browser ?? expect.fail('no browser'), 'openid email');
    const response = await fetch(`${service.address}/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(await response.json()).toMatchObject({ email: `${mia.username}.1@mail.example`, email_verified: true });
  });

  test('records one account event per change', async () => {
    const ned = await newUser();
    for (const id of [ned.emails[0], ned.emails[1], ned.emails[1]]) expect(await choose(ned, id)).toEqual(isSet(ned));
    const events = await sql<{ detail: unknown }>(
      service.database,
      `select detail from audit_events where user_id = $1 and kind = 'primary_email_changed'`,
      [uuid(ned.id)],
    );
    expect(events).toEqual([{ detail: { email: 'p…@mail.example' } }]);
  });

  test('can be chosen only by the owner, and only where address changes are allowed', async () => {
    const ona = await newUser();
    const refused = { setPrimaryEmail: { status: 'NOT_FOUND', user: null } };
    expect(await choose(await newUser(), ona.emails[1])).toEqual(refused);
    expect(await choose(ona, `user_email:${ABSENT}`)).toEqual(refused);
    const strict = await startService({ ...SETTINGS, account: { email_change_allowed: false } }, { clock });
    try {
      const pia = await newUser(2, strict);
      expect(codesOf(await pia.here.query(SET_PRIMARY, { id: pia.emails[1] }))).toEqual(['FORBIDDEN']);
      expect(await primaryOf(pia)).toEqual([pia.emails[0]]);
    } finally {
      await strict.stop();
    }
  });
});
