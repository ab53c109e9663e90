import { beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { Explainer } from './explain.ts';
import { findWholeScans } from './read-plan.ts';
import { loadStatements } from './registered-statements.ts';

const statements = await loadStatements();

const testDatabase = await sharedByTests(createTestDatabase());
const explainer = await sharedByTests(Explainer.open(testDatabase.connectionString));

beforeAll(async () => {
  // The table is empty after the clean-up. A plan made at that time stays in use while the table grows.
  await explainer.fill('truncate rate_limits');
  await explainer.fill('vacuum analyze rate_limits');
});

test.each(
  statements
    .filter(({ text }) => /\brate_limits\b/.test(text) && !/\bsweep/.test(text))
    .map((made) => [made.label, made.text]),
)('%s finds buckets by key, even with a plan made without any buckets', async (_label, text) => {
  const scans = findWholeScans(await explainer.explain(text));
  expect(scans.filter((scan) => scan.includes('rate_limits'))).toEqual([]);
});
