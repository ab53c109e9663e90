import { expect, test } from 'vitest';
import { HOUR_MS } from '#domain/statistics/counters.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { insertBrowserSession, insertUser, sql } from '#test/support/fixtures.ts';
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

test('stores the days on which an account was active once, also if a session was used before and after midnight', async () => {
  const testDatabase = await createTestDatabase();
  const { database } = testDatabase;
  const activity = new ActivityBuffer(database, new RecordingLog());
  const midnight = Date.UTC(2026, 5, 2);
  const user = await insertUser(database, midnight);
  const sessions = await Promise.all([1, 2].map(() => insertBrowserSession(database, user, midnight)));
  const days = async () => await sql(database, 'select day::text as day, user_id from user_active_days order by day');
  for (const at of [midnight - 1, midnight]) {
    for (const id of sessions) activity.recordBrowserSession(id, at, undefined);
  }
  await activity.flush();
  const both = ['2026-06-01', '2026-06-02'].map((day) => ({ day, user_id: toUuid(user) }));
  expect(await days()).toEqual(both);
  for (const id of sessions) activity.recordBrowserSession(id, midnight + HOUR_MS, undefined);
  await activity.flush();
  expect(await days()).toEqual(both);
  await testDatabase.drop();
});

test('adds counters by hour, and keeps them while the database refuses them', async () => {
  const testDatabase = await createTestDatabase();
  const { database } = testDatabase;
  const [one, other] = [1, 2].map(() => new ActivityBuffer(database, new RecordingLog()));
  const client = newId<'client'>(0);
  for (const at of [0, HOUR_MS - 1, HOUR_MS]) one?.counters.count('tokens_issued', client, at);
  other?.counters.count('tokens_issued', client, 0);
  await sql(database, 'alter table statistics_counters rename to absent');
  await one?.flush();
  await sql(database, 'alter table absent rename to statistics_counters');
  one?.counters.count('tokens_issued', client, 0);
  await Promise.all([one?.flush(), other?.flush()]);
  await one?.flush();
  expect(await sql(database, 'select value::integer as value from statistics_counters order by hour')).toEqual([
    { value: 4 },
    { value: 1 },
  ]);
  await testDatabase.drop();
});
