import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { Explainer } from './explain.ts';
import { formatSql } from './format-sql.ts';
import { findWholeScans, readTables } from './read-plan.ts';
import { loadStatements } from './registered-statements.ts';
import { type DescribedStatement, isShown, statementPages } from './statement-pages.ts';
import { statementSources } from './statement-sources.ts';

/** Statements that may scan a whole table, and the reason why no request waits for them. */
const MAY_SCAN: Readonly<Record<string, string>> = {
  'list-job-queues': 'asked by `latchkey jobs list --queues` and for unknown names only, by hand',
  'accounts-count': 'asked by administrators only, for the number of all accounts',
  'adopt-group-names-of-users': 'a job every 15 minutes; of groups, it reads the few names from before a rename',
  'adopt-group-names-of-upstream-links': 'the same',
  'mark-external-groups': 'the same job; reads groups in batches of 1,000',
  'find-group-to-rewrite': 'a job that runs after renames and deletions; there are far fewer groups than accounts',
  'list-admins': 'a command of the operator; its index holds administrators only',
  'count-users-by-status': 'asked by administrators, at most once every ten seconds',
  'count-clients-by-kind': 'the same; there are few clients',
  'count-live-sessions':
    'asked every five minutes while metrics are wanted, and by administrators at most every ten seconds; ends at 100,000 rows of an index that holds live sessions only',
  'list-unusable-clients': 'asked by `latchkey doctor`, and for administrators every 15 minutes',
  'list-usernames-that-are-identifiers': 'asked by `latchkey doctor`, and for administrators every 15 minutes',
  'list-users': 'a command of the operator, which may ask for any part of a name',
  'is-any-admin': 'ends at the first row; its index holds administrators only',
  'is-any-user': 'asked once at start, and ends at the first row',
  'find-use-of-database': 'asked once at start and by `latchkey doctor`, and ends at the first row',
  'mark-fresh-start': 'run once at start with `--fresh`, and ends at the first row',
  'clear-unknown-devices-of-everybody': 'a command of the operator, for all accounts',
  'latest-policy-data-id': 'asked when an administrator stores policy data, and ends at the first row',
  'delete-old-policy-data': 'the same; the table has eleven rows at most',
  'policy-data-versions': 'asked by administrators only; the table has ten rows',
  'oldest-audit-event': 'asked once, by the first run of the job for statistics, and ends at the first row',
  'schema-versions': 'asked once a minute, not by requests; the table has one row for each migration',
  'stored-password-schemes': 'asked by `latchkey doctor`, and for administrators every 15 minutes',
  'static-clients': 'part of the configuration sync at start; its index holds static clients only',
  'upstream-providers': 'part of the configuration sync at start; its index holds the providers that people may use',
  'store-upstream-providers': 'the same, when something has changed',
};

const statements = await loadStatements();

const testDatabase = await sharedByTests(createTestDatabase());
const explainer = await sharedByTests(Explainer.open(testDatabase.connectionString));

async function wholeScansOf(text: string): Promise<string[]> {
  return findWholeScans(await explainer.explain(text));
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

describe('every statement uses an index', () => {
  test.each(statements.filter((made) => MAY_SCAN[made.label] === undefined).map((made) => [made.label, made.text]))(
    '%s',
    async (_label, text) => {
      expect(await wholeScansOf(text)).toEqual([]);
    },
  );

  test('except listed ones, each of which exists', () => {
    const labels = new Set(statements.map((made) => made.label));
    expect(Object.keys(MAY_SCAN).filter((label) => !labels.has(label))).toEqual([]);
  });
});

// Servers of other versions plan differently.
describe.skipIf(process.env['LATCHKEY_TEST_DATABASE_URI'] !== undefined)('docs/sql', () => {
  const described: DescribedStatement[] = [];

  beforeAll(async () => {
    const labels = new Set(statements.map(({ label }) => label));
    const sourceOf = statementSources();
    for (const made of statements) {
      if (made.isReadOnly || made.label.endsWith('.joined')) continue;
      const { plan, types } = await explainer.describe(made.text);
      const isJoined = labels.has(`${made.label}.joined`);
      described.push({ made, isJoined, source: sourceOf(made.label), types, tables: readTables(plan) });
    }
  });

  test('shows statements with other line breaks only', () => {
    for (const { made } of described) expect(words(formatSql(made.text))).toEqual(words(made.text));
  });

  test('shows what composed statements write; -u updates it', async () => {
    const pages = statementPages(described.filter(isShown));
    expect(pages.size).toBeGreaterThan(10);
    for (const [name, text] of pages) await expect(text).toMatchFileSnapshot(`../../docs/sql/${name}`);
    expect(readdirSync('docs/sql').filter((name) => !pages.has(name))).toEqual([]);
  });
});

describe('the plan check itself', () => {
  test.each([
    ['a column without index', 'select id from users where display_name = $1::text', 'Seq Scan on users'],
    ['an unindexed expression', 'select id from users where lower(username) = $1::text', 'Seq Scan on users'],
    [
      'the order of an index without a condition on it',
      'select id from users order by username limit 10',
      'Index Scan of all of users_username_key',
    ],
    [
      'a partial index whose predicate is not repeated',
      'select id from user_sessions where last_active_at < $1::timestamptz and user_agent = $2::text',
      'Seq Scan on user_sessions',
    ],
    [
      'a scan inside a writing statement',
      `with gone as (delete from users where locale = $1::text returning id)
       insert into server_state (key, value) select gone.id::text, $2::bytea from gone`,
      'Seq Scan on users',
    ],
  ])('reports %s', async (_what, text, expected) => {
    expect(await wholeScansOf(text)).toContain(expected);
  });

  test('accepts look-ups by key, joins by key and insertions', async () => {
    expect(
      await wholeScansOf(
        `select s.id from user_sessions s join users u on u.id = s.user_id
         where s.id = $1::uuid and s.finished_at is null and u.locked_at is null`,
      ),
    ).toEqual([]);
    expect(await wholeScansOf('insert into server_state (key, value) values ($1::text, $2::bytea)')).toEqual([]);
  });
});
