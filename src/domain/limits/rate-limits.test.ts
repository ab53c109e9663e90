import { beforeAll, describe, expect, test } from 'vitest';
import { addressKey } from '#platform/base/ip-address.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import type { Database } from '#platform/postgres/database.ts';
import { cleanUpAll } from '#test/support/clean-up.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { measured } from '#test/support/measured.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { type Bucket, countFailure, isBucketEmpty, refundTokens, takeTokens, unknownNameKey } from './rate-limits.ts';

let database: Database;
const clock = new FakeClock();

const testDatabase = await sharedByTests(createTestDatabase());

beforeAll(async () => {
  database = testDatabase.database;
});

const bucket = (key: string, burst: number, perSecond: number): Bucket => ({ key, limiter: { burst, perSecond } });

async function takeRepeatedly(buckets: readonly Bucket[], times: number): Promise<number> {
  const taken = await Promise.all(Array.from({ length: times }, () => takeTokens(database, clock, buckets)));
  return taken.filter((one) => one.ok).length;
}

describe('token buckets', () => {
  test.each([
    [1, 1 / 3600],
    [3, 3 / 60],
    [5, 1.5],
    [7, 7 / 3],
    [100, 100 / 3600],
  ])('a burst of %i at %f per second allows exactly that many at once', async (burst, perSecond) => {
    expect(await takeRepeatedly([bucket(`burst ${burst}`, burst, perSecond)], burst + 5)).toBe(burst);
  });

  test('F-14: a bucket emptied while the clock was ahead is full once it was set back', async () => {
    const [requests, failures] = [[bucket('of later', 3, 0.1)], bucket('failures of later', 3, 0.1)];
    clock.advanceSeconds(3600);
    expect(await takeRepeatedly(requests, 5)).toBe(3);
    for (let count = 0; count < 5; count += 1) await countFailure(database, clock, failures);
    expect(await isBucketEmpty(database, clock, failures)).toBe(true);
    clock.advanceSeconds(-3600);
    expect(await isBucketEmpty(database, clock, failures)).toBe(false);
    expect(await countFailure(database, clock, failures)).toBe(0);
    expect(await takeRepeatedly(requests, 5)).toBe(3);
    // The bucket stays empty within the tolerated clock difference between two instances.
    clock.advanceSeconds(-60);
    expect(await takeRepeatedly(requests, 5)).toBe(0);
    clock.advanceSeconds(60);
  });

  test('tokens return one by one, never more than the burst', async () => {
    const refilled = [bucket('refilled', 3, 0.1)];
    expect(await takeRepeatedly(refilled, 5)).toBe(3);
    expect(await takeTokens(database, clock, refilled)).toEqual({ ok: false, retryAfterSeconds: 10 });
    clock.advanceSeconds(4);
    expect(await takeTokens(database, clock, refilled)).toEqual({ ok: false, retryAfterSeconds: 6 });
    clock.advanceSeconds(6);
    expect(await takeRepeatedly(refilled, 5)).toBe(1);
    clock.advanceSeconds(3600);
    expect(await takeRepeatedly(refilled, 5)).toBe(3);
  });

  test('cleanup removes a flood of unused keys and keeps limited ones (S-145)', async () => {
    const attacker = [bucket('attacker', 1, 1 / 86_400)];
    expect(await takeRepeatedly(attacker, 2)).toBe(1);
    await sql(
      database,
      `insert into rate_limits (key, tat) select 'flood ' || n, $1::timestamptz from generate_series(1, 100000) n`,
      [new Date(clock.now() + 1000)],
    );
    clock.advanceSeconds(3600);
    await cleanUpAll({ database, clock });
    const [row] = await sql<{ count: number }>(database, 'select count(*)::integer as count from rate_limits');
    expect(row?.count).toBeLessThan(100);
    expect(await takeRepeatedly(attacker, 1)).toBe(0);
  });

  test('a check is one statement', async () => {
    const { task } = await measured(() =>
      takeTokens(database, clock, [bucket('cheap', 3, 1), bucket('cheap too', 3, 1)]),
    );
    expect(task.queries).toBe(1);
  });

  test('when one of several buckets is empty the others keep their tokens, even in parallel', async () => {
    const small = bucket('small', 2, 1 / 60);
    const large = bucket('large', 10, 1 / 60);
    expect(await takeRepeatedly([small, large], 30)).toBe(2);
    expect(await takeRepeatedly([large], 20)).toBe(8);
  });

  test('callers that name the same buckets in another order do not block each other', async () => {
    const left = bucket('left', 1000, 1);
    const right = bucket('right', 1000, 1);
    const both = await Promise.all([takeRepeatedly([left, right], 100), takeRepeatedly([right, left], 100)]);
    expect(both).toEqual([100, 100]);
  });

  test('returned tokens can be taken again', async () => {
    const refundable = [bucket('refundable', 2, 1 / 60)];
    const first = await takeTokens(database, clock, refundable);
    await takeTokens(database, clock, refundable);
    if (!first.ok) throw new Error('refused');
    expect(await takeRepeatedly(refundable, 3)).toBe(0);
    await refundTokens(database, first.charges);
    expect(await takeRepeatedly(refundable, 3)).toBe(1);
  });

  test('returning nothing sends no statement', async () => {
    const { task } = await measured(() => refundTokens(database, { keys: [], seconds: [] }));
    expect(task.queries).toBe(0);
  });
});

describe('limits that count only failures', () => {
  test('the failure that takes the last token blocks the key until one returns', async () => {
    const failures = bucket('failures', 3, 0.1);
    expect(await countFailure(database, clock, failures)).toBe(0);
    expect(await countFailure(database, clock, failures)).toBe(0);
    expect(await countFailure(database, clock, failures)).toBe(10);
    clock.advanceSeconds(4);
    expect(await countFailure(database, clock, failures)).toBe(10);
    clock.advanceSeconds(25);
    expect(await countFailure(database, clock, failures)).toBe(0);
  });

  test('a thousand parallel failures block a key no longer than an empty bucket does', async () => {
    const failures = bucket('flood', 3, 0.1);
    const shut = await Promise.all(Array.from({ length: 1000 }, () => countFailure(database, clock, failures)));
    expect(Math.max(...shut)).toBe(10);
    expect(shut.filter((seconds) => seconds === 0)).toHaveLength(2);
  });
});

describe('bucket keys (R-40)', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    [undefined, 'unknown'],
    ['not an address', 'unknown'],
  ])('%s counts as %s', (address, key) => {
    expect(addressKey(address)).toBe(key);
  });

  test('an unknown name is keyed by a digest that only this service can compute', () => {
    const key = unknownNameKey(new KeyRing(Buffer.alloc(32, 1)), 'my-password-by-mistake');
    expect(key).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(unknownNameKey(new KeyRing(Buffer.alloc(32, 2)), 'my-password-by-mistake')).not.toBe(key);
  });
});
