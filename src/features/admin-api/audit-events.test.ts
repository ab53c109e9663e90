/** Audit events of all accounts (administration ). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { AdminClient } from '#test/support/admin-client.ts';
import { sql } from '#test/support/fixtures.ts';
import { GraphqlClient } from '#test/support/graphql-client.ts';
import {
  ABSENT,
  type AdministeredService,
  CLIENT,
  PASSWORD,
  type Person,
  startAdministeredService,
} from './administered-service.test-support.ts';

let administered: AdministeredService;
let admin: AdminClient;
let person: Person;

beforeAll(async () => {
  administered = await startAdministeredService();
  admin = await administered.adminOf(CLIENT);
  person = await administered.person();
});
afterAll(async () => await administered.stop());

async function list(query: string) {
  const answer = await admin.get(`audit-events?${query}`);
  expect(answer.status).toBe(200);
  return answer.body;
}

const attributesOf = async (query: string) => ((await list(query)).data ?? []).map(({ attributes }) => attributes);

test('lists a change with actor, target, request and address, and the event that the user sees', async () => {
  const { clock, service } = administered;
  await admin.post(`users/${person.id}/lock`);
  const request = service.requestLines().at(-1)?.id;
  const events = await attributesOf(`filter[user]=${person.id}&page[first]=2`);
  // Events of the same instant have no defined order.
  const [event, action] = events.toSorted((one, other) => (String(one['kind']) < String(other['kind']) ? -1 : 1));
  expect(action).toEqual({
    kind: 'admin_action',
    created_at: new Date(clock.now()).toISOString().replace('Z', '000Z'),
    user_id: person.id,
    username: person.username,
    actor: { type: 'admin', id: null, username: null },
    client_id: CLIENT,
    session_id: null,
    address: '127.0.0.1',
    user_agent: expect.any(String),
    outcome: 'ok',
    operation: 'lockUser',
    target: { type: 'user', id: person.id },
    changed: ['locked_at'],
    request_id: request,
    detail: {},
  });
  expect(event).toMatchObject({
    kind: 'account_locked',
    address: null,
    user_agent: null,
    operation: null,
    target: null,
  });
  await admin.post(`users/${person.id}/unlock`);
});

test('tells users from failed attempts, and names them', async () => {
  await GraphqlClient.signedIn(administered.service, person.username, PASSWORD);
  administered.clock.advanceSeconds(1);
  await GraphqlClient.signedIn(administered.service, person.username, 'wrong').catch(() => undefined);
  const named = { id: person.id, username: person.username };
  expect(
    await attributesOf(`filter[user]=${person.id}&page[first]=2&filter[kind]=login&filter[kind]=login_failed`),
  ).toMatchObject([
    {
      kind: 'login_failed',
      outcome: 'failed',
      actor: { type: 'anonymous', id: null, username: null },
      ...{ username: person.username },
    },
    { kind: 'login', outcome: 'ok', actor: { type: 'user', ...named } },
  ]);
  const failed = await attributesOf(`filter[outcome]=failed`);
  expect(failed.map(({ kind }) => kind)).toEqual(['login_failed']);
  const own = await attributesOf(`filter[actor]=${person.id}`);
  expect(own.map(({ kind }) => kind)).toContain('login');
  expect(own.map(({ kind }) => kind)).not.toContain('login_failed');
});

test('continues with older events, and counts on request', async () => {
  const all = await list('page[first]=200&count=true');
  const ids = (all.data ?? []).map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(4);
  expect(all.meta).toEqual({ count: ids.length, count_is_capped: false });
  expect(all.links).not.toHaveProperty('next');
  const walked: string[] = [];
  let next: string | undefined = '/api/admin/v1/audit-events?page[first]=2';
  while (next !== undefined) {
    const { body }: { body: Awaited<ReturnType<typeof list>> } = await admin.get(next);
    expect(body.meta).toBeUndefined();
    walked.push(...(body.data ?? []).map(({ id }) => id));
    next = body.links?.['next'];
  }
  expect(walked).toEqual(ids);
  const only = await list('count=only&filter[kind]=admin_action');
  expect(only).toEqual({ meta: { count: 2, count_is_capped: false }, links: { self: expect.any(String) } });
});

test('finds events by time and network, also of accounts that no longer exist', async () => {
  const { clock, service } = administered;
  const at = clock.now() - 86_400_000;
  const id = newId(at);
  const gone = newId<'user'>(at);
  await sql(
    service.database,
    `insert into audit_events (id, kind, user_id, ip, detail, created_at)
     values ($1::uuid, 'login', $2::uuid, '198.51.100.7', '{"method": "passkey"}', $3::timestamptz)`,
    [toUuid(id), toUuid(gone), new Date(at)],
  );
  const iso = (time: number) => encodeURIComponent(new Date(time).toISOString());
  for (const query of [
    `filter[until]=${iso(at + 1)}`,
    `filter[address]=198.51.100.0/24`,
    'filter[address]=198.51.100.7',
    `filter[user]=${gone}`,
    `filter[actor]=${gone}`,
  ]) {
    expect([query, ((await list(query)).data ?? []).map((event) => event.id)]).toEqual([query, [id]]);
  }
  expect(
    ((await list(`filter[since]=${iso(at + 1)}&page[first]=200`)).data ?? []).map((event) => event.id),
  ).not.toContain(id);
  const { body } = await admin.get(`audit-events/${id}`);
  expect(body.data?.attributes).toMatchObject({ user_id: gone, username: null, detail: { method: 'passkey' } });
});

describe('bad input', () => {
  test.each([
    ['filter[user]=x', 'filter[user]'],
    ['filter[actor]=everyone', 'filter[actor]'],
    ['filter[kind]=nothing', 'filter[kind]'],
    ['filter[client]=', 'filter[client]'],
    ['filter[address]=999.1.1.1', 'filter[address]'],
    ['filter[address]=192.0.2.7/24', 'filter[address]'],
    ['filter[since]=yesterday', 'filter[since]'],
    ['filter[until]=1', 'filter[until]'],
    ['filter[outcome]=maybe', 'filter[outcome]'],
    ['filter[color]=red', 'filter[color]'],
    [`filter[user]=${ABSENT}&filter[user]=${ABSENT}`, 'filter[user]'],
    ['page[first]=0', 'page[first]'],
    ['page[last]=5', 'page[last]'],
    [`page[before]=${ABSENT}`, 'page[before]'],
    ['page[after]=x', 'page[after]'],
    ['count=maybe', 'count'],
  ])('%s names the parameter', async (query, parameter) => {
    const { status, body } = await admin.get(`audit-events?${query}`);
    expect([status, body.errors?.[0]]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid_parameter', source: { parameter } }),
    ]);
  });

  test('an event that does not exist is 404', async () => {
    expect((await admin.get(`audit-events/${ABSENT}`)).status).toBe(404);
    expect((await admin.get('audit-events/x')).status).toBe(400);
  });
});
