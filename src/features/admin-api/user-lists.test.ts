/** Search, filters and order of lists of accounts, and what is known about one account (operations 4.4). */
import { beforeAll, describe, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import type { AdminClient } from '#test/support/admin-client.ts';
import { giveAuthenticatorApp } from '#test/support/authenticator-app.ts';
import { insertBrowserSession, sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { ABSENT, CLIENT, startAdministeredService, type TestUser } from './administered-service.test-support.ts';

let admin: AdminClient;
let users: readonly TestUser[];

const administered = await sharedByTests(startAdministeredService());

beforeAll(async () => {
  admin = await administered.adminOf(CLIENT);
  const made: TestUser[] = [];
  for (let count = 0; count < 5; count += 1) made.push(await administered.person());
  users = made;
  // In another order than they were created.
  const names = ['edda', 'Anton', 'dora', 'berta', 'cuno'];
  for (const [index, { uuid }] of users.entries()) {
    await sql(
      administered.service.database,
      'update users set username = $2, username_key = lower($2) where id = $1::uuid',
      [uuid, names[index]],
    );
  }
});

async function names(query: string): Promise<readonly unknown[]> {
  const { status, body } = await admin.get(`users?${query}`);
  expect(status).toBe(200);
  return (body.data ?? []).map(({ attributes }) => attributes['username']);
}

async function rejection(query: string): Promise<unknown> {
  const { status, body } = await admin.get(`users?${query}`);
  return [status, body.errors?.[0]?.source];
}

const at = (index: number): TestUser => users[index] ?? expect.fail('nobody');

describe('the order of a list', () => {
  test('is by username in both directions, whatever the case', async () => {
    const sorted = ['Anton', 'berta', 'cuno', 'dora', 'edda'];
    expect(await names('sort=username')).toEqual(sorted);
    expect(await names('sort=-username')).toEqual(sorted.toReversed());
    expect(await names('sort=-id')).toEqual(['cuno', 'berta', 'dora', 'Anton', 'edda']);
    expect(await names('sort=username&filter[search]=a')).toEqual(['Anton', 'berta', 'dora', 'edda']);
  });

  test.each(['username', '-username', 'id', '-id'])('%s is kept by the links to other pages', async (sort) => {
    const whole = await names(`sort=${sort}`);
    const walked: unknown[] = [];
    let next: string | undefined = `users?sort=${sort}&page[first]=2`;
    let last = '';
    while (next !== undefined) {
      const { body } = await admin.get(next);
      walked.push(...(body.data ?? []).map(({ attributes }) => attributes['username']));
      last = body.data?.at(-1)?.id ?? '';
      next = body.links?.['next'];
    }
    expect(walked).toEqual(whole);
    expect(await names(`sort=${sort}&page[last]=2&page[before]=${last}`)).toEqual(whole.slice(2, 4));
  });

  test('must be one that the list supports', async () => {
    expect(await rejection('sort=email')).toEqual([400, { parameter: 'sort' }]);
    expect(await rejection('sort=id&sort=-id')).toEqual([400, { parameter: 'sort' }]);
    // As in other lists, which ignore parameters that they do not know.
    expect((await admin.get('user-emails?sort=username')).status).toBe(200);
  });
});

test('a search finds usernames, or also display names and addresses', async () => {
  const { database } = administered.service;
  await sql(database, `update users set display_name = 'Kapitän Dünnebier' where id = $1::uuid`, [at(0).uuid]);
  await admin.post('user-emails', { user_id: at(1).id, email: 'Duennebier@Mail.Example' });
  administered.clock.advanceSeconds(1);
  await admin.post('user-emails', { user_id: at(1).id, email: 'second@mail.example' });
  expect(await names('filter[search]=nnebier')).toEqual([]);
  expect(await names('filter[search]=nnebier&filter[search-in]=any')).toEqual(['edda', 'Anton']);
  expect(await names('filter[search]=SECOND@&filter[search-in]=any')).toEqual(['Anton']);
  expect(await names('filter[search]=%25&filter[search-in]=any')).toEqual([]);
  expect(await rejection('filter[search-in]=email')).toEqual([400, { parameter: 'filter[search-in]' }]);
  const { body } = await admin.get(`users/${at(1).id}`);
  expect(body.data?.attributes).toMatchObject({ display_name: null, email: 'Duennebier@mail.example' });
});

test('accounts are found by when they were last active', async () => {
  const { clock, service } = administered;
  const days = 86_400_000;
  for (const [index, ago] of [0, 3, 20].entries()) {
    await sql(
      service.database,
      `insert into user_active_days (day, user_id) values (($1::timestamptz at time zone 'UTC')::date, $2::uuid)`,
      [new Date(clock.now() - ago * days), at(index).uuid],
    );
  }
  const since = (ago: number) => `filter[active-since]=${new Date(clock.now() - ago * days).toISOString()}`;
  expect(await names(since(0))).toEqual(['edda']);
  expect(await names(since(7))).toEqual(['edda', 'Anton']);
  expect(await names(`${since(30)}&sort=username`)).toEqual(['Anton', 'dora', 'edda']);
  expect(await rejection('filter[active-since]=yesterday')).toEqual([400, { parameter: 'filter[active-since]' }]);
});

test('the details of an account name its factors, passkeys and sessions, and no secrets', async () => {
  const { clock, service } = administered;
  const { id, uuid } = at(2);
  expect(await names('filter[has-second-factor]=true')).toEqual([]);
  await giveAuthenticatorApp(service.core, parseId(id) ?? expect.fail('no id'));
  await sql(
    service.database,
    `insert into user_passkeys (id, user_id, credential_id, public_key, sign_count, transports, backed_up, name, created_at)
     values ($1::uuid, $2::uuid, 'credential', 'key', 0, '{}', true, 'Phone', $3::timestamptz)`,
    [toUuid(newId(clock.now())), at(3).uuid, new Date(clock.now())],
  );
  expect(await names('filter[has-second-factor]=true')).toEqual(['dora', 'berta']);
  expect(await names('filter[has-second-factor]=false')).toEqual(['edda', 'Anton', 'cuno']);

  await insertBrowserSession(service.database, id, clock.now());
  await admin.send('PUT', `users/${id}/groups`, { groups: ['crew'] });
  await sql(
    service.database,
    `insert into user_terms (user_id, terms_uri, accepted_at) values ($1::uuid, 'https://mail.example/terms', $2::timestamptz)`,
    [uuid, new Date(clock.now())],
  );
  await sql(
    service.database,
    `update users set given_name = 'Maren', family_name = 'Dünnebier', time_zone = 'Europe/Berlin'
      where id = $1::uuid`,
    [uuid],
  );
  const { body } = await admin.get(`users/${id}/details`);
  expect(body.data?.attributes).toEqual({
    given_name: 'Maren',
    family_name: 'Dünnebier',
    time_zone: 'Europe/Berlin',
    language: null,
    has_password: true,
    authenticator_app: { created_at: expect.any(String), last_used_at: null },
    recovery_codes: { total: 10, remaining: 10 },
    passkeys: [],
    groups: ['crew'],
    linked_accounts: 0,
    accepted_terms: [{ uri: 'https://mail.example/terms', accepted_at: expect.any(String) }],
    sessions: { browser: 1, oauth2: 0, compat: 0, personal: 0 },
    last_active_at: null,
  });
  const { body: other } = await admin.get(`users/${at(3).id}/details`);
  expect(other.data?.attributes['passkeys']).toEqual([
    { id: expect.any(String), name: 'Phone', created_at: expect.any(String), last_used_at: null },
  ]);
  expect((await admin.get(`users/${ABSENT}/details`)).status).toBe(404);
});
