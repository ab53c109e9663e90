/** Pages through every list from both ends while rows are inserted (operations 10.8). */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromUuid } from '#platform/base/ids.ts';
import { AdminClient } from '#test/support/admin-client.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { fillTables } from '../../../test/plans/fill-tables.ts';
import { OPERATIONS } from './operations.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T4X';
const ROWS = 1_000;
/** Number of rows inserted after each of the first pages. */
const MORE = 3;
const BUSY_PAGES = 3;

/** The tables behind the lists. */
const TABLES: Readonly<Record<string, string>> = {
  users: 'users',
  'user-emails': 'user_emails',
  'user-sessions': 'user_sessions',
  'oauth2-clients': 'oauth2_clients',
  'oauth2-sessions': 'oauth2_sessions',
  'compat-sessions': 'compat_sessions',
  'personal-sessions': 'personal_sessions',
  'upstream-oauth-links': 'upstream_links',
  'upstream-oauth-providers': 'upstream_providers',
  'user-registration-tokens': 'user_registration_tokens',
  jobs: 'queue_jobs',
  groups: 'user_groups',
};
/** Hard to generate: token texts are sealed, and job payloads depend on the queue. */
const MADE_UP_BADLY = new Set(['user_registration_tokens', 'queue_jobs']);
let admin: AdminClient;
let client: Client;
let except: ReadonlySet<string>;
let filled = 0;

const service = await sharedByTests(
  startService({
    experimental: { access_token_ttl: 86_400 },
    clients: [chatClientSettings(CLIENT, { grant_types: ['client_credentials'] })],
    policy: { data: { admin_clients: [CLIENT] } },
  }),
);

beforeAll(async () => {
  const form = { grant_type: 'client_credentials', scope: 'urn:mas:admin' };
  const { body } = await new ChatOAuthClient(service, CLIENT).post('/oauth2/token', form);
  admin = new AdminClient(service, String(body['access_token']));
  client = new Client({ connectionString: service.connectionString });
  await client.connect();
  const tables = await sql<{ name: string }>(
    service.database,
    'select relname as name from pg_class where relnamespace = current_schema()::regnamespace',
  );
  const wanted = new Set(Object.values(TABLES).filter((table) => !MADE_UP_BADLY.has(table)));
  except = new Set(tables.map(({ name }) => name).filter((name) => !wanted.has(name)));
  await fill(ROWS);
});
afterAll(async () => {
  await client.end();
});

async function fill(rows: number): Promise<void> {
  const first = filled + 1;
  filled += rows;
  await fillTables(client, { rows, first, except });
  await client.query(
    `insert into queue_jobs (id, queue, payload, created_at, due_at)
     select md5('job' || g)::uuid, 'walked', '{}', now(), now() + interval '1 day' from generate_series(${first}, ${filled}) g`,
  );
  for (let number = first; number <= filled; number += 1) {
    await service.issueRegistrationToken(`walked-${number}`, undefined);
  }
  const method = `jsonb_build_object('token_endpoint_auth_method', 'none')`;
  const made = `metadata ? 'g'`;
  await client.query(`update oauth2_clients set metadata = ${method} where ${made}`);
}

/**
 * Lists that start with the newest item have one direction, and a test of their own: `list-audit-events.test.ts`. So have
 * the members of a group: `groups.test.ts`.
 */
const lists = OPERATIONS.filter(
  ({ filters, pages, path }) => filters !== undefined && pages === undefined && !path.includes(':'),
);

test('every list is covered', () => {
  expect(lists.map(({ path }) => path).toSorted()).toEqual(Object.keys(TABLES).toSorted());
});

test.each(
  lists.flatMap(({ path }) => [[path, 'page[first]=100', 'next'] as const, [path, 'page[last]=100', 'prev'] as const]),
)(
  '%s: paginating by %s returns every row that existed at the start, once and in order',
  async (path, start, direction) => {
    const table = TABLES[path] ?? expect.fail(`${path} has no table`);
    const isListed = table === 'oauth2_clients' ? ' where disabled_at is null and kind is null' : '';
    const before = await sql<{ id: string }>(service.database, `select id from ${table}${isListed} order by id`);
    const seen: string[] = [];
    for (let next: string | undefined = `${path}?${start}&count=false`; next !== undefined; ) {
      const { body }: Awaited<ReturnType<AdminClient['get']>> = await admin.get(next);
      const ids = (body.data ?? []).map(({ id }) => id);
      expect(ids.length).toBeGreaterThan(0);
      seen.push(...(direction === 'next' ? ids : ids.toReversed()));
      next = body.links?.[direction];
      if (seen.length <= BUSY_PAGES * 100) await fill(MORE);
    }
    const walked = direction === 'next' ? seen : seen.toReversed();
    expect(walked).toEqual([...new Set(walked)].toSorted());
    const found = new Set<string>(walked);
    expect(before.length).toBeGreaterThanOrEqual(isListed === '' ? ROWS : ROWS / 3);
    expect(before.map(({ id }) => fromUuid(id)).filter((id) => !found.has(id))).toEqual([]);
  },
);
