import { beforeAll, beforeEach, expect, test } from 'vitest';
import { insertTestAccount } from '#test/support/accounts.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { warnOfMissingAdmins } from './start-checks.ts';

let log: RecordingLog;

const testDatabase = await sharedByTests(createTestDatabase());

beforeAll(async () => {
  await insertTestAccount(testDatabase.database, { username: 'amira' });
  await insertTestAccount(testDatabase.database, { username: 'Bruno' });
});
beforeEach(() => {
  log = new RecordingLog();
});

test('a start lists accounts in policy.data.admin_users that do not exist, and how to create them (S-177)', async () => {
  await warnOfMissingAdmins(testDatabase.database, ['amira', 'adele', 'zoe'], log, 'latchkey manage register-user');
  expect(log.lines).toEqual([
    expect.objectContaining({
      level: 'warn',
      event: 'startup',
      message: expect.stringContaining('create one with: latchkey manage register-user NAME'),
      fields: { missing: 'adele zoe' },
    }),
  ]);
});

test('and those spelled in another case, since names are compared exactly', async () => {
  await warnOfMissingAdmins(testDatabase.database, ['Amira', 'Bruno'], log, 'latchkey manage register-user');
  expect(log.lines.map((line) => line.fields)).toEqual([{ missing: 'Amira', spelled_in_another_case: 'amira' }]);
});

test.each([[['amira', 'Bruno']], [[]]])('logs nothing when all of %j exist', async (listed) => {
  await warnOfMissingAdmins(testDatabase.database, listed, log, '');
  expect(log.lines).toEqual([]);
});
