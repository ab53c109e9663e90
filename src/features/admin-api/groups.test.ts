/** Groups as records, with members and access (administration A-14). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rewriteGroupNames } from '#domain/accounts/groups/rewrite-names.ts';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import type { AdminClient } from '#test/support/admin-client.ts';
import { insertClient, sql } from '#test/support/fixtures.ts';
import type { UserId } from '#vocabulary/ids.ts';
import {
  ABSENT,
  type AdministeredService,
  CLIENT,
  startAdministeredService,
} from './administered-service.test-support.ts';

const PROVIDER = '01JD3Q5Z8W2N4K6M7P9R0S1T6X';

let administered: AdministeredService;
let admin: AdminClient;

beforeAll(async () => {
  administered = await startAdministeredService({
    upstream_oauth2: {
      providers: [
        { id: PROVIDER, issuer: 'https://login.example', client_id: 'x', token_endpoint_auth_method: 'none' },
      ],
    },
  });
  admin = await administered.adminOf(CLIENT);
});
afterAll(async () => await administered.stop());

type TestResponse = Awaited<ReturnType<AdminClient['get']>>;

const uuidOf = (id: string) => toUuid(parseId(id) ?? expect.fail('not a ULID'));
const refused = ({ status, body }: TestResponse) => {
  const [error] = body.errors ?? [];
  return [status, error?.code, error?.source];
};
const groupsOf = async (user: string) => (await admin.get(`users/${user}/groups`)).body.data?.attributes['groups'];

async function create(name: string): Promise<string> {
  const { status, body } = await admin.post('groups', { name });
  expect(status).toBe(201);
  return body.data?.id ?? '';
}

async function newUser(): Promise<UserId> {
  return (await administered.person()).id;
}

async function link(user: string, groups: readonly string[]): Promise<void> {
  await sql(
    administered.service.database,
    `insert into upstream_links (id, provider_id, subject, user_id, created_at, groups)
     values ($1::uuid, $2::uuid, $1::text, $3::uuid, now(), $4::text[])`,
    [toUuid(newId(0)), uuidOf(PROVIDER), uuidOf(user), groups],
  );
}

/** Creates a client that only members of these groups may use. */
async function limitedClient(groups: readonly string[], isStatic = false): Promise<string> {
  const { clock, service } = administered;
  const id = await insertClient(service.database, service.core.keyRing, clock.now(), { isStatic });
  await sql(service.database, 'update oauth2_clients set allowed_groups = $2::uuid[] where id = $1::uuid', [
    toUuid(id),
    groups.map(uuidOf),
  ]);
  return id;
}

async function mayUse(user: string, client: string): Promise<boolean> {
  const [row] = await sql<{ may: boolean }>(
    administered.service.database,
    `select user_may_use_client(u.id, u.groups, c.allowed_groups) as may
       from users u, oauth2_clients c where u.id = $1::uuid and c.id = $2::uuid`,
    [uuidOf(user), uuidOf(client)],
  );
  return row?.may === true;
}

describe('groups', () => {
  test('are created, described, listed and found', async () => {
    const made = await admin.post('groups', { name: 'Deck', description: 'Harbor "deck" <b>' });
    expect(made.body.data).toEqual({
      type: 'group',
      id: expect.any(String),
      attributes: {
        name: 'Deck',
        description: 'Harbor "deck" <b>',
        created_at: expect.any(String),
        external: false,
        member_count: 0,
        pending: null,
        clients: [],
      },
      links: { self: expect.stringMatching(/\/groups\/[0-9A-Z]{26}$/) },
    });
    const id = made.body.data?.id ?? '';
    expect((await admin.get(`groups/${id}`)).body.data).toEqual(made.body.data);
    const changed = await admin.send('PATCH', `groups/${id}`, { description: '' });
    expect(changed.body.data?.attributes).toMatchObject({ name: 'Deck', description: null });
    administered.clock.advanceSeconds(1);
    await create('deck');
    const listed = async (query: string) =>
      (await admin.get(`groups?${query}`)).body.data?.map(({ attributes }) => attributes['name']);
    expect(await listed('filter[search]=DECK')).toEqual(['Deck', 'deck']);
    expect(await listed('filter[search]=%25')).toEqual([]);
    expect(await listed('filter[external]=true')).toEqual([]);
    expect((await admin.get('groups?count=only')).body.meta?.count).toBeGreaterThan(1);
  });

  test.each([
    ['a name that is taken', { name: 'taken' }, [409, 'group_exists', { pointer: '/name' }]],
    ['an empty name', { name: '' }, [400, 'invalid_request', { pointer: '/name' }]],
    ['white space at an end', { name: 'x ' }, [400, 'invalid_request', { pointer: '/name' }]],
    ['a control character', { name: 'a\u0001' }, [400, 'invalid_request', { pointer: '/name' }]],
    ['no name', {}, [400, 'invalid_request', { pointer: '/name' }]],
    [
      'a long description',
      { name: 'y', description: 'x'.repeat(501) },
      [400, 'invalid_request', { pointer: '/description' }],
    ],
    ['an ID', { name: 'y', id: ABSENT }, [400, 'invalid_request', { pointer: '/id' }]],
    ['a state', { name: 'y', external: true }, [400, 'invalid_request', { pointer: '/external' }]],
  ])('reject %s', async (_, body, expected) => {
    await admin.post('groups', { name: 'taken' });
    expect(refused(await admin.post('groups', body))).toEqual(expected);
    const id = await create(newId(0));
    if (Object.keys(body).length > 0)
      expect(refused(await admin.send('PATCH', `groups/${id}`, body))).toEqual(expected);
  });

  test('are created when an administrator sets the groups of an account', async () => {
    const user = await newUser();
    const name = newId(0);
    await admin.send('PUT', `users/${user}/groups`, { groups: [name] });
    const { body } = await admin.get(`groups?filter[search]=${name}`);
    expect(body.data).toMatchObject([{ attributes: { name, member_count: 1 } }]);
  });
});

describe('members', () => {
  test('are added and removed, alone and many at once, all or none', async () => {
    const [id, one, two] = [await create('crew'), await newUser(), await newUser()];
    const some = await admin.post(`groups/${id}/users`, { user_ids: [one, ABSENT, two] });
    expect(refused(some)).toEqual([404, 'not_found', { pointer: '/user_ids/1' }]);
    expect(await groupsOf(one)).toEqual([]);
    expect((await admin.send('PUT', `groups/${id}/users/${one}`)).status).toBe(204);
    expect((await admin.send('PUT', `groups/${id}/users/${one}`)).status).toBe(204);
    const both = await admin.post(`groups/${id}/users`, { user_ids: [one, two, two.toLowerCase()] });
    expect([both.status, both.body]).toEqual([200, { meta: { added: 1, already: 1 } }]);
    expect((await admin.get(`groups/${id}`)).body.data?.attributes).toMatchObject({ member_count: 2 });
    expect((await admin.delete(`groups/${id}/users/${one}`)).status).toBe(204);
    expect((await admin.delete(`groups/${id}/users/${one}`)).status).toBe(204);
    expect([await groupsOf(one), await groupsOf(two)]).toEqual([[], ['crew']]);

    for (const target of [`groups/${ABSENT}/users/${one}`, `groups/${id}/users/${ABSENT}`]) {
      expect((await admin.send('PUT', target)).status).toBe(404);
      expect((await admin.delete(target)).status).toBe(404);
    }
    expect(refused(await admin.send('PUT', `groups/${id}/users/x`))).toEqual([400, 'invalid_id', undefined]);
    const many = Array.from({ length: 501 }, () => newId(0));
    expect(refused(await admin.post(`groups/${id}/users`, { user_ids: many }))).toEqual([
      ...[400, 'invalid_request', { pointer: '/user_ids' }],
    ]);
    const groups = Array.from({ length: 200 }, (_, index) => `g${index}`);
    await admin.send('PUT', `users/${one}/groups`, { groups });
    expect(refused(await admin.post(`groups/${id}/users`, { user_ids: [two, one] }))).toEqual([
      ...[400, 'invalid_request', { pointer: '/user_ids/1' }],
    ]);
    expect((await admin.send('PUT', `groups/${id}/users/${one}`)).status).toBe(400);
  });

  test('are listed by source, page by page', async () => {
    const [id, one, two, three] = [await create('pilots'), await newUser(), await newUser(), await newUser()];
    await admin.post(`groups/${id}/users`, { user_ids: [one, two] });
    await link(two, ['pilots']);
    await link(three, ['pilots']);
    const listed = async (query = '') => {
      const { body } = await admin.get(`groups/${id}/users${query}`);
      return [body.data?.map((user) => user.id), body.meta?.count];
    };
    expect(await listed()).toEqual([[one, two, three], 3]);
    expect(await listed('?filter[source]=admin')).toEqual([[one, two], 2]);
    expect(await listed('?filter[source]=provider')).toEqual([[two, three], 2]);
    const { body } = await admin.get(`groups/${id}/users?page[first]=1`);
    expect(body.links?.['next']).toBe(`/api/admin/v1/groups/${id}/users?page[first]=1&page[after]=${one}`);
    expect((await admin.get(`groups/${ABSENT}/users`)).status).toBe(404);
    expect((await admin.get(`groups/${id}/users?filter[source]=x`)).status).toBe(400);
  });
});

describe('a rename', () => {
  test('keeps members and access', async () => {
    const [id, member, other] = [await create('before'), await newUser(), await newUser()];
    await admin.send('PUT', `groups/${id}/users/${member}`);
    const client = await limitedClient([id]);
    const { status, body } = await admin.send('PATCH', `groups/${id}`, { name: 'after' });
    expect([status, body.data?.attributes['name'], body.data?.attributes['member_count']]).toEqual([200, 'after', 1]);
    expect(await groupsOf(member)).toEqual(['after']);
    expect([await mayUse(member, client), await mayUse(other, client)]).toEqual([true, false]);
    // Another group that gets the former name does not get the access.
    const former = await create('before');
    await admin.send('PUT', `groups/${former}/users/${other}`);
    expect(await mayUse(other, client)).toBe(false);
    expect(refused(await admin.send('PATCH', `groups/${former}`, { name: 'after' }))).toEqual([
      ...[409, 'group_exists', { pointer: '/name' }],
    ]);
  });
});

describe('a deletion', () => {
  test('is refused while clients are limited to the group, and never opens them (S-200)', async () => {
    const [id, member, other] = [await create('gone'), await newUser(), await newUser()];
    await admin.send('PUT', `groups/${id}/users/${member}`);
    const client = await limitedClient([id]);
    expect((await admin.get(`groups/${id}`)).body.data?.attributes['clients']).toMatchObject([
      { id: client, kind: 'dynamic' },
    ]);
    const used = await admin.delete(`groups/${id}`);
    expect(refused(used)).toEqual([409, 'group_in_use', undefined]);
    expect(used.body.errors?.[0]?.detail).toContain(client);
    for (const wrong of ['force=yes', 'force=', 'force=true&force=true']) {
      expect([wrong, (await admin.delete(`groups/${id}?${wrong}`)).status]).toEqual([wrong, 400]);
    }
    expect((await admin.delete(`groups/${id}?force=true`)).status).toBe(204);
    expect([await groupsOf(member), (await admin.get(`groups/${id}`)).status]).toEqual([[], 404]);
    const again = await create('gone');
    await admin.post(`groups/${again}/users`, { user_ids: [member, other] });
    expect([await mayUse(member, client), await mayUse(other, client)]).toEqual([false, false]);
  });

  test('and a rename of what the configuration names or a provider reports are refused, also if forced', async () => {
    const [configured, external, user] = [await create('configured'), await create('reported'), await newUser()];
    await limitedClient([configured], true);
    await link(user, ['reported']);
    for (const [id, code] of [
      [configured, 'group_is_configured'],
      [external, 'group_is_external'],
    ]) {
      expect(refused(await admin.delete(`groups/${id}?force=true`))).toEqual([409, code, undefined]);
      expect(refused(await admin.send('PATCH', `groups/${id}`, { name: newId(0) }))).toEqual([409, code, undefined]);
      expect((await admin.send('PATCH', `groups/${id}`, { description: 'x' })).status).toBe(200);
    }
    expect(refused(await admin.delete(`groups/${external}/users/${user}`))).toEqual([
      ...[409, 'group_is_external', undefined],
    ]);
  });

  test('of a group with many members is finished by the service', async () => {
    const { service } = administered;
    const id = await create('fleet');
    const client = await limitedClient([id]);
    await sql(
      service.database,
      `insert into users (id, username, username_key, created_at, groups)
       select gen_random_uuid(), 'fleet-' || g, 'fleet-' || g, now(), '{fleet}' from generate_series(1, 1001) g`,
    );
    const [row] = await sql<{ id: string }>(service.database, `select id from users where username = 'fleet-7'`);
    expect((await admin.send('PATCH', `groups/${id}`, { name: 'armada' })).body.data?.attributes).toMatchObject({
      ...{ name: 'armada', member_count: 1000, pending: 'renaming' },
    });
    const access = async () => {
      const [found] = await sql<{ may: boolean }>(
        service.database,
        `select user_may_use_client(u.id, u.groups, c.allowed_groups) as may
           from users u, oauth2_clients c where u.id = $1::uuid and c.id = $2::uuid`,
        [row?.id, uuidOf(client)],
      );
      return found?.may;
    };
    expect(await access(), 'members keep access during the rename').toBe(true);
    expect(refused(await admin.post('groups', { name: 'fleet' }))[1]).toBe('group_exists');
    expect(refused(await admin.send('PATCH', `groups/${id}`, { name: 'navy' }))[1]).toBe('group_is_pending');
    expect((await admin.delete(`groups/${id}?force=true`)).status).toBe(204);
    expect(await access()).toBe(false);
    expect((await admin.get(`groups/${id}`)).body.data?.attributes['pending']).toBe('deleting');
    const user = await newUser();
    expect(refused(await admin.send('PUT', `groups/${id}/users/${user}`))[1]).toBe('group_is_pending');
    expect(refused(await admin.send('PUT', `users/${user}/groups`, { groups: ['armada'] }))[1]).toBe('group_exists');
    expect(await rewriteGroupNames(service, new AbortController().signal)).toEqual({ kind: 'done' });
    expect((await admin.get(`groups/${id}`)).status).toBe(404);
    expect(await access()).toBe(false);
  });
});
