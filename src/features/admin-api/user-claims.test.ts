/** Groups and extra claims of accounts, set by administrators (decision 0035). */
import { beforeAll, describe, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { AdminClient } from '#test/support/admin-client.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T4X';
const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';
const PROVIDER = '01JD3Q5Z8W2N4K6M7P9R0S1T6X';
let admin: AdminClient;
let token: string;
let users = 0;

const service = await sharedByTests(
  startService({
    clients: [chatClientSettings(CLIENT, { grant_types: ['client_credentials'] })],
    policy: { data: { admin_clients: [CLIENT] } },
    upstream_oauth2: {
      providers: [
        { id: PROVIDER, issuer: 'https://login.example', client_id: 'x', token_endpoint_auth_method: 'none' },
      ],
    },
  }),
);

beforeAll(async () => {
  const form = { grant_type: 'client_credentials', scope: 'urn:mas:admin' };
  const { body } = await new ChatOAuthClient(service, CLIENT).post('/oauth2/token', form);
  token = String(body['access_token']);
  admin = new AdminClient(service, token);
});

async function newUser(): Promise<string> {
  users += 1;
  const account = { username: `maren${users}`, password: 'correct horse battery staple' };
  return await insertTestAccount(service.database, account, { hasher: service.core.hasher });
}

const uuidOf = (id: string) => toUuid(parseId(id) ?? expect.fail('no id'));

async function link(user: string, groups: readonly string[]): Promise<void> {
  await sql(
    service.database,
    `insert into upstream_links (id, provider_id, subject, user_id, created_at, groups)
     values ($1::uuid, $2::uuid, $1::text, $3::uuid, now(), $4::text[])`,
    [toUuid(newId(0)), uuidOf(PROVIDER), uuidOf(user), groups],
  );
}

async function eventsOf(user: string): Promise<readonly string[]> {
  const rows = await sql<{ kind: string }>(
    service.database,
    `select kind from audit_events
      where user_id = $1::uuid and detail ->> 'actor' = 'admin' and kind <> 'admin_action' order by id`,
    [uuidOf(user)],
  );
  return rows.map(({ kind }) => kind);
}

const pointers = ({ body }: Awaited<ReturnType<AdminClient['get']>>) => body.errors?.map(({ source }) => source);

describe('account groups', () => {
  test('are replaced as a whole, kept apart from those of providers, and returned with their source', async () => {
    const id = await newUser();
    await link(id, ['staff', 'ops']);
    const set = await admin.send('PUT', `users/${id}/groups`, { groups: ['ops', 'Admins', 'ops'] });
    expect(set.status).toBe(200);
    expect(set.body).toEqual({
      data: {
        type: 'user-groups',
        id,
        attributes: {
          groups: ['Admins', 'ops'],
          upstream: [{ provider_id: PROVIDER, groups: ['staff', 'ops'] }],
          effective: ['Admins', 'ops', 'staff'],
        },
        links: { self: `/api/admin/v1/users/${id}/groups` },
      },
      links: { self: `/api/admin/v1/users/${id}/groups` },
    });
    expect((await admin.get(`users/${id}/groups`)).body).toEqual(set.body);
    await admin.send('PUT', `users/${id}/groups`, { groups: ['Admins', 'ops'] });
    const none = await admin.send('PUT', `users/${id}/groups`, { groups: [] });
    expect(none.body.data?.attributes).toMatchObject({ groups: [], effective: ['ops', 'staff'] });
    expect(await eventsOf(id), 'what changes nothing is no event').toEqual(['groups_changed', 'groups_changed']);
    const lines = service.logLines().filter((line) => line.includes('operation=setUserGroups') && line.includes(id));
    expect(lines).toHaveLength(3);
  });

  test('can be used to find users, whatever their source', async () => {
    const [one, two, three] = [await newUser(), await newUser(), await newUser()];
    await admin.send('PUT', `users/${one}/groups`, { groups: ['pilots', 'crew'] });
    await link(two, ['pilots']);
    await link(two, ['pilots', 'x']);
    const found = async (name: string) => {
      const { body } = await admin.get(`users?filter[group]=${encodeURIComponent(name)}`);
      return [body.data?.map(({ id }) => id).toSorted(), body.meta?.count];
    };
    expect(await found('pilots')).toEqual([[one, two].toSorted(), 2]);
    expect(await found('crew')).toEqual([[one], 1]);
    expect(await found('Pilots')).toEqual([[], 0]);
    expect(await found("' or true --")).toEqual([[], 0]);
    expect((await admin.get('users?filter[group]=')).status).toBe(400);
    expect((await admin.get(`users/${three}/groups`)).body.data?.attributes['effective']).toEqual([]);
  });

  test.each([
    ['an empty name', { groups: [''] }, '/groups/0'],
    ['a line feed', { groups: ['a', 'b\nc'] }, '/groups/1'],
    ['white space at an end', { groups: ['ops '] }, '/groups/0'],
    ['a name too long', { groups: ['x'.repeat(256)] }, '/groups/0'],
    ['a number', { groups: [1] }, '/groups/0'],
    ['too many', { groups: Array.from({ length: 201 }, (_, index) => `g${index}`) }, '/groups'],
    ['a string instead of a list', { groups: 'ops' }, '/groups'],
    ['nothing', {}, '/groups'],
    ['another member', { groups: [], group: 'x' }, '/group'],
  ])('reject %s, and name the invalid member', async (_, body, pointer) => {
    const id = await newUser();
    const response = await admin.send('PUT', `users/${id}/groups`, body);
    expect([response.status, pointers(response)]).toEqual([400, [{ pointer }]]);
  });

  test('accept names of any script, up to the limit', async () => {
    const id = await newUser();
    const groups = ['مشرفون', '🦉'.repeat(255), "'; drop table users; --", '<b>', 'cn=ops,dc=example'];
    const many = Array.from({ length: 195 }, (_, index) => `g${index}`.padEnd(255, 'x'));
    const { status, body } = await admin.send('PUT', `users/${id}/groups`, { groups: [...groups, ...many] });
    expect(status).toBe(200);
    expect(body.data?.attributes['effective']).toHaveLength(200);
    expect(body.data?.attributes['effective']).toEqual(expect.arrayContaining(groups));
  });

  test.each(['groups', 'claims'])('and %s return 404 for unknown users, and 400 for invalid IDs', async (part) => {
    expect((await admin.get(`users/${ABSENT}/${part}`)).status).toBe(404);
    expect((await admin.get(`users/x/${part}`)).status).toBe(400);
    expect((await admin.send('PUT', `users/${ABSENT}/${part}`, { [part]: part === 'groups' ? [] : {} })).status).toBe(
      404,
    );
    expect((await admin.post(`users/${ABSENT}/${part}`, {})).status).toBe(405);
  });
});

describe('account claims', () => {
  test('are replaced as a whole and returned unchanged', async () => {
    const id = await newUser();
    const claims = { department: 'Harbour', level: 7, tags: ['a', { b: null }], 'https://example.com/role': 'pilot' };
    const set = await admin.send('PUT', `users/${id}/claims`, { claims });
    expect(set.status).toBe(200);
    expect(set.body.data).toMatchObject({
      type: 'user-claims',
      id,
      attributes: { claims },
      links: { self: `/api/admin/v1/users/${id}/claims` },
    });
    await admin.send('PUT', `users/${id}/claims`, { claims });
    expect((await admin.get(`users/${id}/claims`)).body).toEqual(set.body);
    const none = await admin.send('PUT', `users/${id}/claims`, { claims: {} });
    expect(none.body.data?.attributes).toEqual({ claims: {} });
    expect(await eventsOf(id)).toEqual(['claims_changed', 'claims_changed']);
    expect(service.logLines().filter((line) => line.includes('operation=setUserClaims'))).not.toHaveLength(0);
  });

  test.each([
    ['a claim reserved for the server', '{"claims":{"role":"x","sub":"root"}}', '/claims/sub'],
    ['the address', '{"claims":{"email_verified":true}}', '/claims/email_verified'],
    ['a name with a slash that is wrong', '{"claims":{"a/b":{"a":{"a":{"a":{"a":{}}}}}}}', '/claims/a~1b'],
    ['a prototype', '{"claims":{"__proto__":{"admin":true}}}', '/claims/__proto__'],
    ['a list', '{"claims":[]}', '/claims'],
    ['null', '{"claims":null}', '/claims'],
    ['nothing', '{}', '/claims'],
    ['more than 8 KiB', `{"claims":{"a":"${'x'.repeat(8192)}"}}`, '/claims'],
    ['a number that becomes infinite', '{"claims":{"a":1e999}}', '/claims/a'],
    ['NUL', '{"claims":{"a":"\\u0000"}}', undefined],
    ['an unpaired surrogate', '{"claims":{"a":"\\ud800"}}', undefined],
    ['a claim twice', '{"claims":{"a":1,"a":2}}', undefined],
    ['deep nesting', `{"claims":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`, undefined],
  ])('reject %s, and name the invalid member', async (_, body, pointer) => {
    const id = await newUser();
    const response = await fetch(`${service.address}/api/admin/v1/users/${id}/claims`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
    });
    const { errors } = await response.json();
    expect([response.status, errors[0].source]).toEqual([400, pointer === undefined ? undefined : { pointer }]);
    expect((await admin.get(`users/${id}/claims`)).body.data?.attributes).toEqual({ claims: {} });
  });
});

test('erasing an account deletes its groups and claims, while deactivation keeps them', async () => {
  const id = await newUser();
  await admin.send('PUT', `users/${id}/groups`, { groups: ['ops'] });
  await admin.send('PUT', `users/${id}/claims`, { claims: { role: 'pilot' } });
  await link(id, ['staff']);
  await admin.post(`users/${id}/deactivate`, { skip_erase: true });
  expect((await admin.get(`users/${id}/groups`)).body.data?.attributes['effective']).toEqual(['ops', 'staff']);
  await admin.post(`users/${id}/deactivate`);
  expect((await admin.get(`users/${id}/groups`)).body.data?.attributes['effective']).toEqual([]);
  expect((await admin.get(`users/${id}/claims`)).body.data?.attributes).toEqual({ claims: {} });
});
