import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { insertUser, sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { withUserLease } from './user-lease.ts';

const clock = new FakeClock();
const { signal } = new AbortController();
let user: UserId;

const db = await sharedByTests(createTestDatabase());
beforeEach(async () => {
  user = await insertUser(db.database, clock.now());
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function leases() {
  return await sql<{ owner: string; seconds: number }>(
    db.database,
    `select owner, extract(epoch from expires_at - $2::timestamptz)::integer as seconds
       from homeserver_leases where user_id = $1::uuid`,
    [toUuid(user), new Date(clock.now())],
  );
}

/** Advances the clock and the timers, one second at a time. */
function advance(seconds: number): void {
  clock.advanceSeconds(seconds);
  vi.advanceTimersByTime(seconds * 1000);
}

function work<Value>(doing: (signal: AbortSignal) => Promise<Value>, database: Queryable = db.database) {
  return withUserLease({ database, clock }, toUuid(user), signal, doing);
}

describe('the homeserver lease of a user (chat-compat 11.7)', () => {
  test('has one holder at a time and is released at the end', async () => {
    const outcome = await work(async () => {
      expect(await leases()).toMatchObject([{ seconds: 60 }]);
      expect(await work(() => Promise.resolve('second'))).toBeUndefined();
      return 'first';
    });
    expect(outcome).toEqual({ value: 'first' });
    expect(await leases()).toEqual([]);
  });

  test('is released when the work fails', async () => {
    await expect(work(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await leases()).toEqual([]);
  });

  test('is extended while the work continues, and no other process takes it', async () => {
    await work(async (lost) => {
      for (let round = 0; round < 5; round += 1) {
        advance(20);
        await expect.poll(async () => (await leases())[0]?.seconds).toBe(60);
        expect(await work(() => Promise.resolve('second'))).toBeUndefined();
      }
      expect(lost.aborted).toBe(false);
    });
  });

  test('F-14: taken while the clock was ahead does not last until that time once it was set back', async () => {
    clock.advanceSeconds(3600);
    await work(async () => {
      // Simulates a process that died and no longer renews the lease.
      clock.advanceSeconds(-3600);
      expect(await work(() => Promise.resolve('second'))).toEqual({ value: 'second' });
    });
  });

  test('lost to another process ends the work, which leaves the lease of the other process alone', async () => {
    const other = '11111111-1111-4111-8111-111111111111';
    await work(async (lost) => {
      await sql(db.database, 'update homeserver_leases set owner = $1::uuid', [other]);
      advance(20);
      await expect.poll(() => lost.aborted).toBe(true);
    });
    expect(await leases()).toMatchObject([{ owner: other }]);
  });

  test('that could not be extended ends the work when it expires, and not before', async () => {
    let isDown = false;
    const database: Queryable = {
      rows: (...args) => db.database.rows(...args),
      first: (...args) => db.database.first(...args),
      execute: (...args) => (isDown ? Promise.reject(new Error('no connection')) : db.database.execute(...args)),
    };
    await work(async (lost) => {
      isDown = true;
      advance(20);
      advance(20);
      await new Promise((resolve) => setImmediate(resolve));
      expect(lost.aborted).toBe(false);
      advance(20);
      await expect.poll(() => lost.aborted).toBe(true);
      isDown = false;
    }, database);
  });
});
