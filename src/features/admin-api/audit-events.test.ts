/** Audit events of all accounts (administration ). */
import { beforeAll, describe, expect, test } from 'vitest';
import { AUDIT_EVENT_KINDS } from '#domain/audit/audit-event.ts';
import { eventExport } from '#domain/audit/event-export.ts';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import type { AdminClient } from '#test/support/admin-client.ts';
import { sql } from '#test/support/fixtures.ts';
import { GraphqlClient } from '#test/support/graphql-client.ts';
import { until } from '#test/support/route-server.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { KINDS, operationText } from '../../../web/admin/pages/audit/kinds.ts';
import {
  ABSENT,
  CLIENT,
  PASSWORD,
  startAdministeredService,
  type TestUser,
} from './administered-service.test-support.ts';
import { OPERATIONS } from './operations.ts';

let admin: AdminClient;
let user: TestUser;

const administered = await sharedByTests(
  startAdministeredService({}, [CLIENT], ['audit_events', '/audit-events HTTP/1.1" 500 ']),
);

beforeAll(async () => {
  admin = await administered.adminOf(CLIENT);
  user = await administered.person();
});

async function list(query: string) {
  const response = await admin.get(`audit-events?${query}`);
  expect(response.status).toBe(200);
  return response.body;
}

const attributesOf = async (query: string) => ((await list(query)).data ?? []).map(({ attributes }) => attributes);

test('lists a change with actor, target, request and address, and the event that the user sees', async () => {
  const { clock, service } = administered;
  await admin.post(`users/${user.id}/lock`);
  const request = service.requestLines().at(-1)?.id;
  const events = await attributesOf(`filter[user]=${user.id}&page[first]=2`);
  // Events of the same instant have no defined order.
  const [event, action] = events.toSorted((one, other) => (String(one['kind']) < String(other['kind']) ? -1 : 1));
  expect(action).toEqual({
    kind: 'admin_action',
    created_at: new Date(clock.now()).toISOString().replace('Z', '000Z'),
    user_id: user.id,
    username: user.username,
    actor: { type: 'admin', id: null, username: null },
    client_id: CLIENT,
    client_name: 'Harbour',
    session_id: null,
    address: '127.0.0.1',
    user_agent: expect.any(String),
    outcome: 'ok',
    operation: 'lockUser',
    target: { type: 'user', id: user.id, name: user.username },
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
  await admin.post(`users/${user.id}/unlock`);
});

test('tells users from failed attempts, and names them', async () => {
  await GraphqlClient.signedIn(administered.service, user.username, PASSWORD);
  administered.clock.advanceSeconds(1);
  await GraphqlClient.signedIn(administered.service, user.username, 'wrong').catch(() => undefined);
  const named = { id: user.id, username: user.username };
  expect(
    await attributesOf(`filter[user]=${user.id}&page[first]=2&filter[kind]=login&filter[kind]=login_failed`),
  ).toMatchObject([
    {
      kind: 'login_failed',
      outcome: 'failed',
      actor: { type: 'anonymous', id: null, username: null },
      ...{ username: user.username },
    },
    { kind: 'login', outcome: 'ok', actor: { type: 'user', ...named } },
  ]);
  const failed = await attributesOf(`filter[outcome]=failed`);
  expect(failed.map(({ kind }) => kind)).toEqual(['login_failed']);
  const own = await attributesOf(`filter[actor]=${user.id}`);
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

test('the filter of the admin area offers the kinds that the service records', () => {
  expect(KINDS).toEqual(AUDIT_EVENT_KINDS);
});

describe('an export', () => {
  const CSV = { accept: 'text/csv' };
  const NDJSON = { accept: 'application/x-ndjson' };
  const exports = async () =>
    await list('filter[kind]=admin_action&page[first]=200').then(
      ({ data = [] }) => data.filter(({ attributes }) => attributes['operation'] === 'exportAuditEvents').length,
    );

  test('has the rows of the command, and is an event itself (S-189)', async () => {
    const { clock, service } = administered;
    clock.advanceSeconds(1);
    await sql(
      service.database,
      `insert into audit_events (id, kind, user_id, user_agent, detail, created_at)
       values ($1::uuid, 'login', $2::uuid, '=HYPERLINK("https://evil.example")', '{}', $3::timestamptz)`,
      [toUuid(newId(clock.now())), user.uuid, new Date(clock.now())],
    );
    const before = await exports();
    const query = `audit-events?filter[user]=${user.id}`;
    const response = await admin.download(query, CSV);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="audit-events-2026-06-01.csv"',
      'cache-control': 'no-store',
    });
    const csv = await response.text();
    expect(csv).toContain(`,"'=HYPERLINK(""https://evil.example"")",`);
    let printed = '';
    const { database } = service.core;
    for await (const part of eventExport(database, { user: user.id }, 1000, 'csv')) printed += part;
    expect(csv).toBe(printed);
    const lines = (await (await admin.download(`${query}&limit=2`, NDJSON)).text()).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ username: user.username }, { user_id: user.id }]);
    expect(
      (await (await admin.download(`audit-events?filter[user]=${ABSENT}`, CSV)).text()).split('\r\n'),
    ).toHaveLength(2);
    expect(await exports()).toBe(before + 3);
  });

  test.each([
    ['application/json', 'application/json'],
    ['*/*', 'application/json'],
    ['text/csv;q=0.5, application/json', 'application/json'],
    ['text/csv;q=0.5, application/x-ndjson', 'application/x-ndjson; charset=utf-8'],
  ])('Accept: %s gets %s', async (accept, type) => {
    const response = await admin.download('audit-events', { accept });
    expect(response.headers.get('content-type')).toBe(type);
    await response.text();
  });

  describe('of more than a client takes at once', () => {
    const LARGE = `audit-events?filter[kind]=registered`;
    beforeAll(async () => {
      await sql(
        administered.service.database,
        `insert into audit_events (id, kind, user_agent, detail, created_at)
         select gen_random_uuid(), 'registered', repeat('x', 2000), '{}', now() from generate_series(1, 15000)`,
      );
    });

    test('is one at a time for each caller, until the client leaves (S-203)', async () => {
      const leaving = new AbortController();
      const unread = await admin.download(LARGE, { ...CSV, signal: leaving.signal });
      expect(unread.status).toBe(200);
      const second = await admin.download(LARGE, CSV);
      expect([second.status, second.headers.get('retry-after')]).toEqual([429, '10']);
      expect(await second.json()).toMatchObject({ errors: [{ code: 'rate_limited' }] });
      leaving.abort();
      await until(() =>
        administered.service.logLines().some((line) => line.includes('streamed response ended outcome=aborted')),
      );
      const third = await admin.download(LARGE, { ...NDJSON, method: 'HEAD' });
      expect(third.status).toBe(200);
      const fourth = await admin.download(`${LARGE}&limit=14000`, NDJSON);
      expect((await fourth.text()).match(/\n/g)).toHaveLength(14_000);
    });

    test('is cut off if the database fails, and 503 if it fails at the beginning', async () => {
      const { database } = administered.service;
      const response = await admin.download(LARGE, CSV);
      expect(response.status).toBe(200);
      await sql(database, 'alter table audit_events rename to unavailable_events');
      await expect(response.text()).rejects.toThrow();
      const refused = await admin.download(LARGE, CSV);
      expect(refused.status).toBe(500);
      await sql(database, 'alter table unavailable_events rename to audit_events');
    });
  });

  test('is refused, and not recorded, with a parameter of pages or a bad limit or filter', async () => {
    const before = await exports();
    for (const [query, parameter] of [
      ['page[first]=5', 'page[first]'],
      ['limit=0', 'limit'],
      ['limit=1&limit=2', 'limit'],
      ['limit=x', 'limit'],
      ['filter[kind]=nothing', 'filter[kind]'],
    ]) {
      const response = await admin.download(`audit-events?${query}`, CSV);
      expect([response.status, await response.json()]).toEqual([
        400,
        { errors: [expect.objectContaining({ code: 'invalid_parameter', source: { parameter } })] },
      ]);
    }
    expect(await exports()).toBe(before);
  });
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

test('the admin area has a text for every change', () => {
  const changes = OPERATIONS.filter(({ method }) => method !== 'GET').map(({ id }) => id);
  expect(changes.filter((id) => operationText(id) === undefined)).toEqual([]);
});

test('shows the current names of clients and groups, and none of deleted ones', async () => {
  const idOf = async (path: string, body: object) => (await admin.post(path, body)).body.data?.id ?? expect.fail(path);
  const client = await idOf('oauth2-clients', { client_name: 'Harbour', client_auth_method: 'none' });
  const group = await idOf('groups', { name: 'deck hands' });
  await admin.send('PATCH', `oauth2-clients/${client}`, { client_name: 'Harbor' });
  await admin.send('PATCH', `groups/${group}`, { name: 'sailors' });
  await sql(
    administered.service.database,
    `insert into audit_events (id, kind, user_id, client_id, detail, created_at)
     values ($1::uuid, 'consent_given', $2::uuid, $3::uuid, '{}', now())`,
    [toUuid(newId(administered.clock.now())), user.uuid, toUuid(parseId(client) ?? expect.fail())],
  );
  const provider = newId(administered.clock.now());
  await sql(
    administered.service.database,
    `with provider as (insert into upstream_providers (id, issuer, human_name, client_id, ui_order, created_at)
       values ($1::uuid, 'https://harbor.example', 'Harbor Office', 'latchkey', 9, now()) returning id)
     insert into audit_events (id, kind, detail, created_at)
     select $2::uuid, 'admin_action', jsonb_build_object('actor', 'operator', 'operation', 'checkUpstreamOAuthProvider',
              'target_type', 'upstream-oauth-provider', 'target', $3::text), now() from provider`,
    [toUuid(provider), toUuid(newId(administered.clock.now())), provider],
  );
  const targets = async (id: string) =>
    (await attributesOf('filter[kind]=admin_action&page[first]=20'))
      .map(({ target }) => Object(target))
      .filter((target) => target.id === id)
      .map(({ name }) => name);
  const [consent] = await attributesOf(`filter[kind]=consent_given&filter[client]=${client}`);
  expect(consent).toMatchObject({ client_id: client, client_name: 'Harbor' });
  expect(await targets(client)).toEqual(['Harbor', 'Harbor']);
  expect(await targets(group)).toEqual(['sailors', 'sailors']);
  expect(await targets(provider)).toEqual(['Harbor Office']);
  const [event] = (await list(`filter[kind]=consent_given&filter[client]=${client}`)).data ?? [];
  expect((await admin.get(`audit-events/${event?.id}`)).body.data?.attributes).toEqual(consent);
  await admin.delete(`oauth2-clients/${client}`);
  await sql(administered.service.database, `delete from user_groups where name = 'sailors'`);
  expect(await targets(client)).toEqual([null, null, null]);
  expect(await targets(group)).toEqual([null, null]);
});
