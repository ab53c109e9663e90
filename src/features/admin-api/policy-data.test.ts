/** The policy data editor: validation, versions and concurrent changes (administration A-26, operations 4.11). */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId, toUuid } from '#platform/base/ids.ts';
import { HeldChange } from '#test/attacks/held-change.ts';
import { AdminClient } from '#test/support/admin-client.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { sql } from '#test/support/fixtures.ts';
import { GraphqlClient } from '#test/support/graphql-client.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import {
  ABSENT,
  CLIENT,
  PASSWORD,
  SECOND_CLIENT,
  startAdministeredService,
} from './administered-service.test-support.ts';

const GRANTS = { grant_types: ['client_credentials', 'authorization_code', 'refresh_token'] };

const administered = await sharedByTests(
  startAdministeredService({
    clients: [chatClientSettings(CLIENT, GRANTS), chatClientSettings(SECOND_CLIENT, GRANTS)],
    policy: { data: { admin_users: ['Root'], admin_clients: [CLIENT], banned_domains: ['configured.example'] } },
  }),
);

let token: string;
let admin: AdminClient;

beforeAll(async () => {
  const form = { grant_type: 'client_credentials', scope: 'urn:mas:admin' };
  const { body } = await new ChatOAuthClient(administered.service, CLIENT).post('/oauth2/token', form);
  token = String(body['access_token']);
  admin = new AdminClient(administered.service, token);
});

beforeEach(async () => {
  await sql(administered.service.database, 'delete from policy_data');
});

/** Sends a change with conditions. */
async function set(data: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return await fetch(`${administered.service.address}/api/admin/v1/policy-data`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ data }),
  });
}

async function latest(): Promise<{ readonly tag: string; readonly data: unknown }> {
  const { body, headers } = await admin.get('policy-data/latest');
  return { tag: headers.get('etag') ?? '', data: body.data?.attributes['data'] };
}

const codeOf = async (response: Response): Promise<unknown> => (await response.json()).errors?.[0]?.code;

describe('concurrent changes', () => {
  test('security S-207: of twenty changes that are based on the same version, one is stored', async () => {
    expect((await set({ banned_domains: ['first.example'] })).status).toBe(201);
    const { tag } = await latest();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => set({ banned_domains: [`d${index}.example`] }, { 'if-match': tag })),
    );
    const stored = responses.filter(({ status }) => status === 201);
    expect(stored).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 412)).toHaveLength(19);
    const now = await latest();
    expect(now.tag).toBe(stored[0]?.headers.get('etag'));
    const refused = await set({}, { 'if-match': tag });
    expect([refused.status, refused.headers.get('etag'), await codeOf(refused)]).toEqual([
      412,
      now.tag,
      'precondition_failed',
    ]);
    expect(await latest()).toEqual(now);
    expect((await admin.get('policy-data')).body.data).toHaveLength(2);
  });

  test('security S-207: a change waits for one that is being stored, and is refused if that one is new', async () => {
    expect((await set({ banned_domains: ['first.example'] })).status).toBe(201);
    const { tag } = await latest();
    const insert = `insert into policy_data (id, data, created_at)
      select $1::uuid, '{"banned_domains": ["other.example"]}', now()
        from pg_advisory_xact_lock(hashtextextended('latchkey:policy-data', 0))`;
    const later = toUuid(newId<'policy-data'>(Date.now() + 1000));
    const held = await HeldChange.make(administered.service.connectionString, insert, [later]);
    const refused = await held.commitDuring(set({ banned_domains: ['second.example'] }, { 'if-match': tag }));
    expect([refused.status, await codeOf(refused)]).toEqual([412, 'precondition_failed']);
    expect((await latest()).data).toEqual({ banned_domains: ['other.example'] });
  });

  test('the first data is stored once', async () => {
    const responses = await Promise.all([1, 2].map(() => set({}, { 'if-none-match': '*' })));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 412]);
    expect((await set({}, { 'if-none-match': '*' })).status).toBe(412);
  });

  test('without a condition, the last change wins; a condition that cannot be read is refused', async () => {
    expect((await set({})).status).toBe(201);
    expect((await set({}, { 'if-match': '*' })).status).toBe(201);
    expect((await set({}, { 'if-match': `"${ABSENT}", ${(await latest()).tag}` })).status).toBe(201);
    expect((await set({}, { 'if-match': `"${ABSENT}"` })).status).toBe(412);
    for (const headers of [{ 'if-match': '3' }, { 'if-match': '"3"' }, { 'if-none-match': '"3"' }]) {
      const refused = await set({}, headers);
      expect([refused.status, await codeOf(refused)]).toEqual([400, 'invalid_precondition']);
    }
  });
});

describe('validation', () => {
  const validate = async (data: unknown, as = admin) => {
    const { status, body } = await as.post('policy-data/draft/validate', { data });
    return { status, result: body.data };
  };

  test('names the first error by its place in the given data, and stores nothing', async () => {
    const { status, result } = await validate({ banned_domains: ['ok.example', 'not a domain'] });
    expect(status).toBe(200);
    expect(result).toEqual({
      valid: false,
      problem: { pointer: '/data/banned_domains/1', message: expect.stringContaining('expected a domain') },
      warnings: [],
    });
    expect((await validate({ 'a/b': 1 })).result).toMatchObject({ problem: { pointer: '/data/a~1b' } });
    expect((await admin.get('policy-data/latest')).status).toBe(404);
    const events = await sql(
      administered.service.database,
      `select 1 from audit_events where detail ->> 'operation' = 'validatePolicyData'`,
    );
    expect(events).toEqual([]);
  });

  test('warns of names that grant nothing', async () => {
    const { username } = await administered.person();
    const users = [username, 'nobody-of-this-name', username.toUpperCase()];
    const { result } = await validate({ admin_users: users, admin_clients: [SECOND_CLIENT, ABSENT] });
    expect(result).toEqual({
      valid: true,
      problem: null,
      warnings: [
        { code: 'unknown_user', pointer: '/data/admin_users/1', subject: 'nobody-of-this-name' },
        { code: 'respelled_user', pointer: '/data/admin_users/2', subject: username.toUpperCase() },
        { code: 'unknown_client', pointer: '/data/admin_clients/1', subject: ABSENT },
      ],
    });
  });

  test('warns the caller who would be locked out or banned', async () => {
    const { username, id } = await administered.person();
    expect((await set({ admin_users: [username] })).status).toBe(201);
    const { browser = expect.fail('no browser') } = await GraphqlClient.signedIn(
      administered.service,
      username,
      PASSWORD,
    );
    const program = new ChatOAuthClient(administered.service, SECOND_CLIENT);
    const own = new AdminClient(
      administered.service,
      (await program.signIn(browser, 'openid urn:mas:admin')).accessToken,
    );
    const codes = async (data: unknown) => JSON.stringify((await validate(data, own)).result).match(/"code":"\w+"/g);
    expect(await codes({ admin_users: [username] })).toBeNull();
    expect(await codes({})).toEqual(['"code":"locks_out_caller"']);
    expect(await codes({ admin_users: [username], requester: { banned_ips: ['127.0.0.0/8'] } })).toEqual([
      '"code":"bans_caller"',
    ]);
    // With the right of the account, the list does not matter.
    await sql(administered.service.database, 'update users set can_request_admin = true where id = $1::uuid', [
      toUuid(id),
    ]);
    expect(await codes({})).toBeNull();
  });
});

test('versions name who stored them, as long as the audit event is kept', async () => {
  const { service } = administered;
  await set({ banned_domains: ['one.example'] });
  await sql(service.database, 'delete from audit_events');
  await set({ banned_domains: ['two.example'] });
  const { username, id } = await administered.person();
  await sql(service.database, 'update users set can_request_admin = true where id = $1::uuid', [toUuid(id)]);
  const { browser = expect.fail('no browser') } = await GraphqlClient.signedIn(service, username, PASSWORD);
  const program = new ChatOAuthClient(service, SECOND_CLIENT);
  const own = new AdminClient(service, (await program.signIn(browser, 'openid urn:mas:admin')).accessToken);
  expect((await own.post('policy-data', { data: {} })).status).toBe(201);
  const { data, links } = (await admin.get('policy-data')).body;
  expect(links).toEqual({ self: '/api/admin/v1/policy-data' });
  expect(data?.map(({ attributes }) => attributes['created_by'])).toEqual([
    { user_id: id, username, client_id: SECOND_CLIENT },
    { user_id: null, username: null, client_id: CLIENT },
    null,
  ]);
  const oldest = data?.at(-1)?.links.self ?? '';
  expect((await admin.get(oldest)).body.data?.attributes['data']).toEqual({ banned_domains: ['one.example'] });
});
