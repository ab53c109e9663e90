import { beforeAll, describe, expect, test } from 'vitest';
import { insertTestAccount } from '#test/support/accounts.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { measured } from '#test/support/measured.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { foldUsername } from '../account-names.ts';
import { findNameProblems, suggestName } from './registration-policy.ts';

const NO_NAME = { literals: [], prefixes: [], suffixes: [], substrings: [], regexes: [] };
const free = {
  serverName: 'example.org',
  allowedUsernames: NO_NAME,
  bannedUsernames: NO_NAME,
  reservedUsernames: new Set<string>(),
};

const testDatabase = await sharedByTests(createTestDatabase());

beforeAll(async () => {
  await insertTestAccount(testDatabase.database, { username: 'alice' });
  await insertTestAccount(testDatabase.database, { username: 'Bob' });
});

describe('a username that is taken', () => {
  test.each(['alice', 'bob'])('%s exists', async (name) => {
    expect(await findNameProblems(testDatabase.database, name, free)).toEqual(['exists']);
  });

  test('takes one statement to look up, and none when a rule other than case is broken', async () => {
    const costs = async (name: string) =>
      (await measured(() => findNameProblems(testDatabase.database, name, free))).task.queries;
    expect([await costs('carol'), await costs('Carol'), await costs('_carol')]).toEqual([1, 1, 0]);
  });

  test('is not suggested in lower case when the lowercase name is taken', async () => {
    const problems = (name: string) => findNameProblems(testDatabase.database, name, free);
    await insertTestAccount(testDatabase.database, { username: 'advised' });
    expect(await problems('ADVISED')).toEqual(['username-invalid-chars', 'exists']);
    expect(await problems('UNADVISED')).toEqual(['username-invalid-chars']);
  });
});

describe('banned names', () => {
  const bannedUsernames = {
    literals: ['Admin'],
    prefixes: ['sys'],
    suffixes: ['bot'],
    substrings: ['official'],
    regexes: [],
  };
  const policy = { ...free, bannedUsernames };

  test.each(['admin', 'sys', 'system', 'bot', 'a.bot', 'the-official-one'])('%s is banned', async (name) => {
    expect(await findNameProblems(testDatabase.database, name, policy)).toEqual(['username-banned']);
  });

  test.each(['admins', 'my-sys', 'botany', 'offici.al'])('%s is not banned', async (name) => {
    expect(await findNameProblems(testDatabase.database, name, policy)).toEqual([]);
  });

  test('are banned in upper case too, reported together with the other problems', async () => {
    expect(await findNameProblems(testDatabase.database, 'ADMIN', policy)).toEqual([
      'username-invalid-chars',
      'username-banned',
    ]);
  });
});

describe('regular expressions', () => {
  const banned = (...regexes: string[]) => ({ ...free, bannedUsernames: { ...NO_NAME, regexes } });

  test('ban names that they match anywhere, in any case', async () => {
    const policy = banned('^mod[0-9]+$', 'Official');
    for (const name of ['mod1', 'mod42', 'the-official-one']) {
      expect(await findNameProblems(testDatabase.database, name, policy), name).toEqual(['username-banned']);
    }
    for (const name of ['mod', 'mod1a'])
      expect(await findNameProblems(testDatabase.database, name, policy), name).toEqual([]);
    expect(await findNameProblems(testDatabase.database, 'MOD1', policy)).toContain('username-banned');
  });

  test('can restrict names to those that match', async () => {
    const policy = { ...free, allowedUsernames: { ...NO_NAME, regexes: ['^[a-z]+\\.[a-z]+$'] } };
    expect(await findNameProblems(testDatabase.database, 'amira.okafor', policy)).toEqual([]);
    expect(await findNameProblems(testDatabase.database, 'amira', policy)).toEqual(['username-not-allowed']);
  });

  // JavaScript's expressions would practically never finish on the first of these.
  test.each([240, 8000])('that look harmless do not block the process on %i characters', async (length) => {
    const policy = banned('(a+)+$', '(a|a)*$', '^(([a-z])+.)+[A-Z]([a-z])+$');
    expect(await findNameProblems(testDatabase.database, `${'a'.repeat(length)}!`, policy)).toContain(
      'username-invalid-chars',
    );
  });
});

describe('names reserved by the operator (S-177)', () => {
  const policy = { ...free, reservedUsernames: new Set([' Amira', 'ｂｅａ', 'carol', '_x'].map(foldUsername)) };

  test.each(['amira', 'bea', 'carol'])('%s is reserved', async (name) => {
    expect(await findNameProblems(testDatabase.database, name, policy)).toEqual(['username-reserved']);
  });

  test('in another case are reported once, together with the other problems', async () => {
    expect(await findNameProblems(testDatabase.database, 'AMIRA', policy)).toEqual([
      'username-invalid-chars',
      'username-reserved',
    ]);
    expect(await findNameProblems(testDatabase.database, '_x', policy)).toEqual(['username-reserved']);
  });

  test.each(['amira.', 'amiraa', 'a.mira'])('%s is another name', async (name) => {
    expect(await findNameProblems(testDatabase.database, name, policy)).toEqual([]);
  });

  test('are not suggested to a user who typed one in upper case', () => {
    expect(suggestName('Amira', policy)).toBeUndefined();
  });
});

describe('allowed names', () => {
  const allowedUsernames = { ...NO_NAME, prefixes: ['team-'] };

  test('exclude all other names', async () => {
    const policy = { ...free, allowedUsernames };
    expect(await findNameProblems(testDatabase.database, 'team-x', policy)).toEqual([]);
    expect(await findNameProblems(testDatabase.database, 'alice', policy)).toEqual(['username-not-allowed']);
  });

  test('can still be banned', async () => {
    const policy = { ...free, allowedUsernames, bannedUsernames: { ...NO_NAME, literals: ['team-a'] } };
    expect(await findNameProblems(testDatabase.database, 'team-a', policy)).toEqual(['username-banned']);
  });
});

describe('the suggestion for a rejected name', () => {
  test.each([
    ['Carol', 'carol'],
    [' carol', 'carol'],
    ['CAROL.1 ', 'carol.1'],
    ['carol', undefined],
    ['Carol Ann', undefined],
    ['Ümit', undefined],
    // KELVIN SIGN, which becomes a plain k in lower case.
    ['\u212aarl', undefined],
    ['_Carol', undefined],
    ['..', undefined],
    ['', undefined],
  ])('of %j is %j', (name, suggestion) => {
    expect(suggestName(name, free)).toBe(suggestion);
  });
});
