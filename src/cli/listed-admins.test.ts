import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { insertTestAccount } from '#test/support/accounts.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { warnOfMissingAdmins } from './listed-admins.ts';

let test: TestDatabase;
let log: RecordingLog;

beforeAll(async () => {
  test = await createTestDatabase();
  await insertTestAccount(test.database, { username: 'amira' });
  await insertTestAccount(test.database, { username: 'Bruno' });
});
afterAll(async () => {
  await test.drop();
});
beforeEach(() => {
  log = new RecordingLog();
});

it('a start names the accounts in policy.data.admin_users that do not exist, and how to make them (S-177)', async () => {
  await warnOfMissingAdmins(test.database, ['amira', 'adele', 'zoe'], log, 'latchkey manage register-user');
  expect(log.lines).toEqual([
    expect.objectContaining({
      level: 'warn',
      event: 'startup',
      message: expect.stringContaining('make one with: latchkey manage register-user NAME'),
      fields: { missing: 'adele zoe' },
    }),
  ]);
});

it('and those that are spelled in another case, since names are compared exactly', async () => {
  await warnOfMissingAdmins(test.database, ['Amira', 'Bruno'], log, 'latchkey manage register-user');
  expect(log.lines.map((line) => line.fields)).toEqual([{ missing: 'Amira', spelled_in_another_case: 'amira' }]);
});

it.each([[['amira', 'Bruno']], [[]]])('says nothing when all of %j exist', async (listed) => {
  await warnOfMissingAdmins(test.database, listed, log, '');
  expect(log.lines).toEqual([]);
});
