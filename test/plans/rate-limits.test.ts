import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { Explainer } from './explain.ts';
import { findWholeScans } from './read-plan.ts';
import { loadStatements } from './registered-statements.ts';

const statements = await loadStatements();
let testDatabase: TestDatabase;
let explainer: Explainer;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  explainer = await Explainer.open(testDatabase.connectionString);
  // The table is empty after the clean-up. A plan made at that time stays in use while the table grows.
  await explainer.fill('truncate rate_limits');
  await explainer.fill('vacuum analyze rate_limits');
});
afterAll(async () => {
  await explainer.close();
  await testDatabase.drop();
});

test.each(
  statements
    .filter(({ text }) => /\brate_limits\b/.test(text) && !/\bsweep/.test(text))
    .map((made) => [made.label, made.text]),
)('%s finds buckets by key, even with a plan made without any buckets', async (_label, text) => {
  const scans = findWholeScans(await explainer.explain(text));
  expect(scans.filter((scan) => scan.includes('rate_limits'))).toEqual([]);
});
