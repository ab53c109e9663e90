import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { insertTestAccount } from '#test/support/accounts.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { warnOfMissingAdmins } from './start-checks.ts';

let testDatabase: TestDatabase;
let log: RecordingLog;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  await insertTestAccount(testDatabase.database, { username: 'amira' });
  await insertTestAccount(testDatabase.database, { username: 'Bruno' });
});
afterAll(async () => {
  await testDatabase.drop();
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
