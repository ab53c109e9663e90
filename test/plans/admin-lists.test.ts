import { beforeAll, describe, expect, test } from 'vitest';
import { clients, MAX_LISTED_SESSIONS } from '#domain/administration/client-listing.ts';
import {
  addressFilters,
  browserSessions,
  compatSessions,
  oauth2Sessions,
} from '#domain/administration/session-listings.ts';
import { users } from '#domain/administration/user-listing.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { AnyStatement } from '#platform/postgres/statement.ts';
import { createTestDatabase } from '../support/database.ts';
import { sql } from '../support/fixtures.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { Explainer } from './explain.ts';
import { countReadRows } from './read-plan.ts';

const LIVE = 2_000;
const ENDED = 4_000;
const ADMINS = 10;
const TEAMS = 500;
const PAGE = 6;
const WINDOW = { size: PAGE, isFromEnd: false, after: undefined, before: undefined };
const OWNER = '01900000-0000-7000-8000-000000000001';

/** All active rows are older than the ended ones. */
const ENDED_AT = `case when g > ${LIVE} then now() end`;
const NUMBERS = `generate_series(1, ${LIVE + ENDED}) g`;
/** Most sessions share an address; the oldest have one each, in a network of their own. */
const FEW = 20;
const ADDRESS = `case when g > ${FEW} then inet '192.0.2.7' else inet '198.51.100.0' + g end`;
const ID = `('01900001-0000-7000-8000-' || lpad(to_hex(g), 12, '0'))::uuid`;

const testDatabase = await sharedByTests(createTestDatabase());
const explainer = await sharedByTests(Explainer.open(testDatabase.connectionString));

beforeAll(async () => {
  await explainer.fill(`
    delete from users;
    insert into users (id, username, username_key, created_at) values ('${OWNER}', 'everywhere', 'everywhere', now());
    insert into users (id, username, username_key, created_at, can_request_admin, groups)
      select ${ID}, 'person-' || g, 'person-' || g, now(), g <= ${ADMINS}, array['everyone', 'team-' || g % ${TEAMS}]
        from ${NUMBERS};
    insert into user_sessions (id, user_id, key_hash, authenticated_at, created_at, finished_at, last_active_ip)
      select ${ID}, '${OWNER}', sha256(g::text::bytea), now(), now(), ${ENDED_AT}, ${ADDRESS} from ${NUMBERS};
    insert into oauth2_sessions (id, user_id, client_id, scope, created_at, finished_at, last_active_ip)
      select ${ID}, '${OWNER}', (select id from oauth2_clients limit 1), '{openid}', now(), ${ENDED_AT}, ${ADDRESS} from ${NUMBERS};
    insert into compat_sessions (id, user_id, device_id, created_at, finished_at, last_active_ip)
      select ${ID}, '${OWNER}', 'D' || g, now(), ${ENDED_AT}, ${ADDRESS} from ${NUMBERS};
  `);
  await explainer.fill('vacuum analyze');
});

/** Returns how many rows a list's statement reads. */
async function readRows(send: (queryable: Queryable) => Promise<unknown>): Promise<number> {
  const sent: { made: AnyStatement; parameters: Readonly<Record<string, string>> }[] = [];
  const keep = (made: AnyStatement, parameters: object): void => {
    const texts = Object.entries(parameters).map(([name, value]) => [name, literal(value)]);
    sent.push({ made, parameters: Object.fromEntries(texts) });
  };
  await send({
    rows: async (made, parameters) => {
      keep(made, parameters);
      return [];
    },
    first: async (made, parameters) => {
      keep(made, parameters);
      return undefined;
    },
    execute: async () => 0,
  });
  const [only] = sent;
  if (only === undefined) throw new Error('nothing was sent');
  return countReadRows(await explainer.run(only.made, only.parameters));
}

function literal(value: unknown): string {
  return Array.isArray(value) ? `{${value.join(',')}}` : String(value);
}

describe('active sessions are counted without reading ended ones', () => {
  test.each([
    ['browser', browserSessions],
    ['applications', oauth2Sessions],
    ['chat clients', compatSessions],
  ])('%s', async (_, list) => {
    const read = await readRows((queryable) => list.count(queryable, { isLive: true }));
    expect(read).toBeGreaterThanOrEqual(LIVE);
    expect(read).toBeLessThan(LIVE + ENDED);
  });
});

test('the last page of active application sessions is read without sessions that ended later', async () => {
  const last = { ...WINDOW, isFromEnd: true };
  const read = await readRows((queryable) => oauth2Sessions.page(queryable, { isLive: true }, last));
  // Each session, with at most its user and its client.
  expect(read).toBeGreaterThan(PAGE);
  expect(read).toBeLessThanOrEqual(3 * (PAGE + 1));
});

describe('sessions of an address are listed without reading those of others', () => {
  const last = { ...WINDOW, isFromEnd: true };
  test.each([
    ['browser', browserSessions],
    ['applications', oauth2Sessions],
    ['chat clients', compatSessions],
  ])('%s', async (_, list) => {
    const read = async (address: string) =>
      await readRows((queryable) => list.page(queryable, addressFilters(address), last));
    // Each session, with at most its user, its client and its sign-in.
    const mostOfPage = 4 * (PAGE + 1);
    expect(await read('192.0.2.7')).toBeLessThanOrEqual(mostOfPage);
    expect(await read('198.51.100.3')).toBeLessThanOrEqual(4);
    expect(await read('198.51.100.0/24')).toBeLessThanOrEqual(2 * FEW + mostOfPage);
    // As wide as the table: no session is sorted.
    expect(await read('0.0.0.0/0')).toBeLessThanOrEqual(2 * mostOfPage);
  });
});

test('a list of clients counts live sessions up to its limit, without reading ended ones', async () => {
  const read = await readRows((queryable) => clients.page(queryable, {}, WINDOW));
  // The client with the sessions is on the page: its row, the counted sessions and the newest one.
  expect(read).toBeGreaterThan(MAX_LISTED_SESSIONS);
  expect(read).toBeLessThan(MAX_LISTED_SESSIONS + 20);
});

test('administrators are counted without reading other accounts', async () => {
  expect(await readRows((queryable) => users.count(queryable, { admin: true }))).toBe(ADMINS);
});

describe('members of groups (administration A-26)', () => {
  test.each(['ownGroups', 'anyGroups'] as const)(
    'of a group with all accounts are counted once each: %s',
    async (name) => {
      const read = await readRows((queryable) => users.count(queryable, { [name]: ['everyone'] }));
      expect(read).toBeGreaterThanOrEqual(LIVE + ENDED);
      // In the index and in the table.
      expect(read).toBeLessThanOrEqual(2 * (LIVE + ENDED) + 10);
    },
  );

  test('of a small group are found and counted without reading other accounts', async () => {
    const members = (LIVE + ENDED) / TEAMS;
    const page = await readRows((queryable) => users.page(queryable, { group: 'team-7' }, WINDOW));
    const count = await readRows((queryable) => users.count(queryable, { group: 'team-7' }));
    expect(Math.max(page, count)).toBeLessThanOrEqual(5 * members);
  });
});

describe('accounts by their sessions (administration A-26)', () => {
  test.each([true, false])('are counted without reading ended sessions: %s', async (hasOAuth2Session) => {
    const read = await readRows((queryable) => users.count(queryable, { hasOAuth2Session }));
    expect(read).toBeLessThanOrEqual(LIVE + ENDED + 1 + LIVE + 1);
  });

  test('at a client are found without reading ended sessions', async () => {
    const rows = await sql<{ client: string }>(
      testDatabase.database,
      'select client_id as client from oauth2_sessions limit 1',
    );
    const at = rows.map(({ client }) => client);
    const read = await readRows((queryable) => users.page(queryable, { clients: at }, WINDOW));
    expect(read).toBeGreaterThanOrEqual(LIVE);
    expect(read).toBeLessThanOrEqual(2 * LIVE + 20);
  });
});
