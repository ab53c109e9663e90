import { describe, expect, test } from 'vitest';
import { systemClock } from '#platform/base/clock.ts';
import { administer } from '#test/support/administer.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createEmptyDatabase, createTestDatabase } from '#test/support/database.ts';
import { leastOf } from '#test/support/measuring.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { openDatabase } from './open-database.ts';

describe('openDatabase', () => {
  test('without a server retries until the timeout, warns immediately, and exits with code 69', async () => {
    const log = new RecordingLog();
    const opening = openDatabase({
      connection: { host: '127.0.0.1', port: 1, user: 'somebody', password: 'hidden', database: 'latchkey' },
      log,
      clock: systemClock,
      connectTimeoutSeconds: 0.4,
    });
    await expect(opening).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringContaining('cannot connect to database latchkey on 127.0.0.1:1'),
    });
    expect(log.lines).toMatchObject([{ level: 'warn', event: 'db.lost' }]);
    expect(JSON.stringify(log.lines)).not.toContain('hidden');
  });

  test('rejects a read-only database (security O-08)', async () => {
    const empty = await createEmptyDatabase();
    const name = new URL(empty.connectionString).pathname.slice(1);
    await administer(empty.connectionString, `alter database ${name} set default_transaction_read_only = on`);
    const opening = openDatabase({
      connection: parseConnectionUri(empty.connectionString),
      log: new RecordingLog(),
      clock: systemClock,
    });
    await expect(opening).rejects.toMatchObject({ exitCode: 69, message: expect.stringContaining('read-only') });
    await empty.drop();
  });

  test('rejects a database with an encoding other than UTF-8', async () => {
    const empty = await createEmptyDatabase({ encoding: 'LATIN1' });
    const opening = openDatabase({
      connection: parseConnectionUri(empty.connectionString),
      log: new RecordingLog(),
      clock: systemClock,
    });
    await expect(opening).rejects.toMatchObject({ exitCode: 69, message: expect.stringContaining('LATIN1') });
    await empty.drop();
  });
});

describe('skewMs', () => {
  test.each([
    [0, 0],
    [10_000, 1],
  ])('of a process clock %i ms behind warns %i times', async (behindMs, warnings) => {
    const log = new RecordingLog();
    const test = await createTestDatabase({ log, clock: { now: () => systemClock.now() - behindMs } });
    // If the process is suspended between two readings, the pause counts as skew.
    const wrong = await leastOf(async () => {
      log.lines.length = 0;
      return Math.abs((await test.database.skewMs()) - behindMs);
    }, 1_000);
    expect(wrong).toBeLessThanOrEqual(1_000);
    expect(log.lines.filter((line) => line.event === 'db.skew')).toHaveLength(warnings);
    await test.drop();
  });
});

test('ping queries the server once for callers within a second', async () => {
  const test = await createTestDatabase();
  await Promise.all(Array.from({ length: 50 }, () => test.database.ping()));
  expect(test.database.statistics().open).toBe(1);
  await test.drop();
});
