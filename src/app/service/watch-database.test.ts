import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { InstanceState } from '#domain/instance-state.ts';
import { SteadyClock } from '#platform/base/clock.ts';
import { packageRoot } from '#platform/base/package-root.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { DatabaseWatch } from './watch-database.ts';

/** Offset from the database clock. The monotonic clock is separate and cannot be set. */
const clock = { aheadMs: 0, now: () => Date.now() + clock.aheadMs };
const steady = { aheadMs: 0, now: () => performance.now() + steady.aheadMs };
const log = new RecordingLog();
const state = new InstanceState();
let watch: DatabaseWatch;

const made = await sharedByTests(createTestDatabase({ clock, log }));

beforeAll(async () => {
  watch = newWatch();
});

const newWatch = (ofService = new SteadyClock(clock, steady.now)): DatabaseWatch =>
  new DatabaseWatch({
    ...{ database: made.database, log, state, migrations: join(packageRoot, 'migrations') },
    ...{ clock: ofService, monotonic: steady.now },
  });
const check = (): Promise<void> => watch.check();
const errors = (): string[] => log.lines.filter(({ level }) => level === 'error').map(({ event }) => event);

test('clocks that differ by over a minute make the instance not ready until they agree (operations 8.1)', async () => {
  clock.aheadMs = 30_000;
  await check();
  expect(state.isClockRight()).toBe(true);
  clock.aheadMs = 65_000;
  await check();
  await check();
  expect(state.isClockRight()).toBe(false);
  expect(errors()).toEqual(['db.skew']);
  clock.aheadMs = 0;
  await check();
  expect(state.isClockRight()).toBe(true);
});

const insertJobs = `insert into queue_jobs (id, queue, payload, created_at, due_at)
  select gen_random_uuid(), 'send-security-notice', '{}', now(), now() - $1::integer * interval '1 second'
    from generate_series(1, $2::integer)`;

test.each([
  ['a job that was due ten minutes ago', [595, 1], [605, 1]],
  ['more than 100,000 due jobs', [1, 100_000], [1, 1]],
])('%s: late emails are logged once, until the queue has caught up (operations 9.4)', async (_, just, more) => {
  const { database } = made;
  // Its clock has not been set.
  watch = newWatch();
  const before = log.lines.length;
  await sql(database, insertJobs, just);
  await check();
  expect(state.areMailsLate).toBe(false);
  await sql(database, insertJobs, more);
  await check();
  await check();
  expect(state.areMailsLate).toBe(true);
  await sql(database, 'truncate queue_jobs');
  await check();
  expect(state.areMailsLate).toBe(false);
  expect(log.lines.slice(before).map(({ event, level }) => [event, level])).toEqual([
    ['job.behind', 'warn'],
    ['job.behind', 'info'],
  ]);
  expect(state.isClockRight() && state.isSchemaUsable, 'it stays ready').toBe(true);
});

/** Advances or reverses time on the machine without setting its clock. The clock of the database cannot be set here. */
function pass(milliseconds: number): void {
  clock.aheadMs += milliseconds;
  steady.aheadMs += milliseconds;
}

test('F-14: jobs that are late only because the clock was set ahead count as late after a minute at the earliest', async () => {
  const { database } = made;
  pass(-40_000);
  await sql(database, insertJobs, [3_600, 1]);
  // A suspended machine looks the same.
  steady.aheadMs -= 3_600_000;
  await check();
  expect([state.isClockRight(), state.areMailsLate]).toEqual([true, false]);
  pass(40_000);
  await check();
  expect(state.areMailsLate).toBe(false);
  pass(21_000);
  await check();
  expect(state.areMailsLate).toBe(true);
  await sql(database, 'truncate queue_jobs');
  await check();
  expect(state.areMailsLate).toBe(false);
  pass(-21_000);
});

test('F-14: a corrected database clock is noticed immediately, and the earlier error is logged once', async () => {
  pass(70_000);
  await check();
  expect(state.isClockRight()).toBe(false);
  const told = log.lines.length;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  watch.start();
  vi.advanceTimersByTime(1_000);
  await check();
  vi.advanceTimersByTime(1_000);
  await check();
  expect(log.lines).toHaveLength(told);
  pass(-70_000);
  vi.advanceTimersByTime(1_000);
  vi.useRealTimers();
  watch.stop();
  await expect.poll(() => state.isClockRight()).toBe(true);
  expect(log.lines.slice(told).map(({ event, level }) => [event, level])).toEqual([['db.skew', 'info']]);
});

test('F-14: a clock changed during the comparison is not used', async () => {
  const ofService = new SteadyClock(clock, steady.now);
  watch = newWatch(ofService);
  const checking = check();
  // Half of it is measured, which is within the limit.
  clock.aheadMs += 100_000;
  expect(state.isClockRight()).toBe(false);
  await checking;
  expect(Math.abs(ofService.now() - Date.now())).toBeLessThan(1_000);
  expect(state.isClockRight()).toBe(false);
  clock.aheadMs -= 100_000;
  await check();
  expect(state.isClockRight()).toBe(true);
});

test('a schema that a newer version made unreadable, or that lacks a migration, makes the instance not ready', async () => {
  const { database } = made;
  const insert = `insert into schema_migrations (version, name, checksum, kind, min_reader, applied_at, duration_ms)
    values (9000, 'later', '', 'contract', $1::integer, now(), 0)`;
  await sql(database, insert, [1]);
  await check();
  expect(state.isSchemaUsable).toBe(true);
  await sql(database, 'update schema_migrations set min_reader = 9000 where version = 9000');
  await check();
  expect(state.isSchemaUsable).toBe(false);
  await sql(database, 'delete from schema_migrations where version = 9000');
  await check();
  expect(state.isSchemaUsable).toBe(true);
  await sql(database, 'delete from schema_migrations where version = 1');
  await check();
  expect(state.isSchemaUsable).toBe(false);
  expect(errors()).toEqual(['db.skew', 'db.skew', 'db.migrate', 'db.migrate']);
});
