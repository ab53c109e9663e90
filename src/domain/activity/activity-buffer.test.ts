import { expect, test } from 'vitest';
import { newId } from '#platform/base/ids.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { ActivityBuffer } from './activity-buffer.ts';

test('counts unwritten sessions of every kind until they are written', async () => {
  const testDatabase = await createTestDatabase();
  const activity = new ActivityBuffer(testDatabase.database, new RecordingLog());
  activity.recordBrowserSession(newId(0), 0, undefined);
  activity.recordOAuth2Session(newId(0), 0, undefined);
  activity.recordCompatSession(newId(0), 0, undefined);
  activity.recordPersonalSession(newId(0), 0, undefined);
  expect(activity.pending).toBe(4);
  await activity.flush();
  expect(activity.pending).toBe(0);
  await testDatabase.drop();
});
