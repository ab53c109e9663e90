import { beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { Explainer } from './explain.ts';
import { countReadRows } from './read-plan.ts';
import { loadStatements } from './registered-statements.ts';

const LIVE = 2_000;
const ENDED = 2_000;
const PAGE = 6;
/** The user who owns the sessions. */
const OWNER = '01900000-0000-7000-8000-000000000001';
/** The client of all sessions. */
const CLIENT = '01900000-0000-7000-8000-000000000002';

const statements = new Map((await loadStatements()).map((made) => [made.label, made]));

/** Active and ended sessions alternate, except the newest, which have all ended. */
const ENDED_AT = `case when g % 2 = 0 or g > ${LIVE + ENDED} then now() end`;
const NUMBERS = `generate_series(1, ${LIVE + ENDED + ENDED}) g`;
const ID = `('01900001-0000-7000-8000-' || lpad(to_hex(g), 12, '0'))::uuid`;

const testDatabase = await sharedByTests(createTestDatabase());
const explainer = await sharedByTests(Explainer.open(testDatabase.connectionString));

beforeAll(async () => {
  await explainer.fill(`
    insert into users (id, username, username_key, created_at) values ('${OWNER}', 'everywhere', 'everywhere', now());
    insert into oauth2_clients (id, is_static, metadata, created_at)
      select '${CLIENT}', false, metadata, now() from oauth2_clients limit 1;
    insert into user_sessions (id, user_id, key_hash, authenticated_at, created_at, last_active_at, finished_at)
      select ${ID}, '${OWNER}', sha256(g::text::bytea), now(), now(), now(), ${ENDED_AT} from ${NUMBERS};
    insert into oauth2_sessions (id, user_id, client_id, scope, created_at, last_active_at, finished_at)
      select ${ID}, '${OWNER}', '${CLIENT}', '{openid}', now(), now(), ${ENDED_AT} from ${NUMBERS};
    insert into compat_sessions (id, user_id, device_id, created_at, last_active_at, finished_at)
      select ${ID}, '${OWNER}', 'D' || g, now(), now(), ${ENDED_AT} from ${NUMBERS};
    insert into audit_events (id, user_id, kind, detail, created_at)
      select ${ID}, '${OWNER}', 'login', '{}', now() from ${NUMBERS};
  `);
  await explainer.fill('vacuum analyze');
});

async function run(label: string): Promise<unknown> {
  const made = statements.get(label);
  if (made === undefined) throw new Error(`no statement is labelled ${label}`);
  return await explainer.run(made, {
    ...{ owners: `{${OWNER}}`, limit: String(PAGE + 1), kinds: '{login}' },
    ...{ users: `{${OWNER}}`, clients: `{${CLIENT}}` },
  });
}

const LISTS = [
  'live-browser-sessions-of-users',
  'live-oauth2-sessions-of-users',
  'live-compat-sessions-of-users',
  'live-app-sessions-of-users',
  'security-events-of-users',
];

// The list merges two kinds of sessions, and may look up the client and the name of each session.
const MOST = 4 * (PAGE + 1);

describe('for a user with thousands of sessions, only one page is read', () => {
  test.each(LISTS.flatMap((list) => [`${list}-first`, `${list}-last`]))('%s', async (label) => {
    const rows = countReadRows(await run(label));
    expect(rows).toBeGreaterThan(PAGE);
    expect(rows).toBeLessThanOrEqual(MOST);
  });
});

describe('active sessions are counted without reading ended ones', () => {
  test.each([
    ['live-browser-sessions-of-users-count', 1],
    ['live-oauth2-sessions-of-users-count', 1],
    ['live-compat-sessions-of-users-count', 1],
    ['live-app-sessions-of-users-count', 2],
  ])('%s', async (label, kinds) => {
    expect(countReadRows(await run(label))).toBe(kinds * LIVE);
  });
});

test('connected applications are found without reading all of their sessions', async () => {
  expect(countReadRows(await run('connected-applications-of-users-first'))).toBeLessThanOrEqual(MOST);
});

test('the summary of a connected application reads each of its active sessions once', async () => {
  const rows = countReadRows(await run('connection-facts'));
  expect(rows).toBeGreaterThanOrEqual(LIVE);
  expect(rows).toBeLessThan(LIVE + PAGE);
});
