import { expect, test } from 'vitest';
import { insertTestAccount } from '#test/support/accounts.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { measured } from '#test/support/measured.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { NamePolicy } from './registration-policy.ts';
import { suggestFreeNames } from './suggest-names.ts';

const { database } = await sharedByTests(createTestDatabase());
const NOTHING = { literals: [], prefixes: [], suffixes: [], substrings: [], regexes: [] };
const policy: NamePolicy = {
  serverName: 'example.org',
  allowedUsernames: NOTHING,
  bannedUsernames: NOTHING,
  reservedUsernames: new Set<string>(),
};
const suggest = (taken: string, rules = policy) => suggestFreeNames(database, taken, rules);

test('suggests three names with 2, 3 and 4 random digits, with one query', async () => {
  const { result, task } = await measured(() => suggest(' Amira '));
  expect(task.queries).toBe(1);
  expect(result.map((name) => name.replace(/\d/g, '0'))).toEqual(['amira00', 'amira000', 'amira0000']);
  expect(await suggest('amira')).not.toEqual(result);
});

test('suggests no name that an account has', async () => {
  for (let digits = 10; digits < 100; digits += 1) {
    await insertTestAccount(database, { username: digits % 2 === 0 ? `Bo${digits}` : `bo${digits}` });
  }
  const names = await suggest('bo');
  expect(names).toHaveLength(3);
  for (const name of names) expect(name).toMatch(/^bo\d{3,4}$/);
});

test('suggests no name that the operator does not allow', async () => {
  const banned = { ...policy, bannedUsernames: { ...NOTHING, prefixes: ['mod'] } };
  expect((await measured(() => suggest('mod', banned))).task.queries).toBe(0);
  expect(await suggest('mod', banned)).toEqual([]);
});

test('shortens a long name, so that the suggestion is valid', async () => {
  const [name = ''] = await suggest('x'.repeat(242));
  expect(name).toMatch(/^x{238}\d\d$/);
});
