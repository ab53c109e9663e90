import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserSessionId, newId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { insertBrowserSession, insertUser, sql } from '#test/support/fixtures.ts';
import { measured } from '#test/support/measured.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { until } from '#test/support/route-server.ts';
import { ActivityBuffer } from './activity-buffer.ts';

const NOW = Date.UTC(2026, 5, 1);

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => await db.drop());

async function newSession(): Promise<BrowserSessionId> {
  return await insertBrowserSession(db.database, await insertUser(db.database, NOW), NOW);
}

async function stored(id: BrowserSessionId): Promise<{ at: number | null; ip: string | null } | undefined> {
  const [row] = await sql<{ at: number | null; ip: string | null }>(
    db.database,
    `select (extract(epoch from last_active_at) * 1000)::float8 as at, host(last_active_ip) as ip
       from user_sessions where id = $1::uuid`,
    [toUuid(id)],
  );
  return row;
}

async function userAgent(id: BrowserSessionId): Promise<string | null | undefined> {
  const [row] = await sql<{ agent: string | null }>(
    db.database,
    'select user_agent as agent from user_sessions where id = $1::uuid',
    [toUuid(id)],
  );
  return row?.agent;
}

describe('activity of sessions', () => {
  test('the latest time and address are written at the flush, not before', async () => {
    const buffer = new ActivityBuffer(db.database, new RecordingLog());
    const id = await newSession();
    const { task } = await measured(async () => {
      buffer.recordBrowserSession(id, NOW + 1, '203.0.113.7');
      buffer.recordBrowserSession(id, NOW + 2, undefined);
    });
    expect(task.queries).toBe(0);
    expect(await stored(id)).toEqual({ at: null, ip: null });
    await buffer.flush();
    expect(await stored(id)).toEqual({ at: NOW + 2, ip: '203.0.113.7' });
  });

  test('the user agent follows, and an unknown one keeps what is stored', async () => {
    const buffer = new ActivityBuffer(db.database, new RecordingLog());
    const id = await newSession();
    buffer.recordBrowserSession(id, NOW + 1, undefined, 'Firefox/140');
    buffer.recordBrowserSession(id, NOW + 2, undefined, 'Firefox/141');
    buffer.recordBrowserSession(id, NOW + 3, undefined);
    await buffer.flush();
    expect(await userAgent(id)).toBe('Firefox/141');
    buffer.recordBrowserSession(id, NOW + 4, undefined);
    await buffer.flush();
    expect(await userAgent(id)).toBe('Firefox/141');
    expect(await stored(id)).toMatchObject({ at: NOW + 4 });
  });

  test('a session that is active all the time is written once a minute, however many others are', async () => {
    let statements = 0;
    const counting: Queryable = {
      rows: (statement, params) => db.database.rows(statement, params),
      first: (statement, params) => db.database.first(statement, params),
      execute: (statement, params) => {
        statements += 1;
        return db.database.execute(statement, params);
      },
    };
    const buffer = new ActivityBuffer(counting, new RecordingLog());
    const ids = Array.from({ length: 2_000 }, () => newId<'browser-session'>(NOW));
    for (let second = 0; second < 5; second += 1) {
      for (const id of ids) buffer.recordBrowserSession(id, NOW + second * 1000, undefined);
    }
    expect(statements).toBe(0);
    await buffer.flush();
    expect(statements).toBe(2);
  });

  test('an unknown address keeps the stored one, and an older time never replaces a newer', async () => {
    const buffer = new ActivityBuffer(db.database, new RecordingLog());
    const id = await newSession();
    buffer.recordBrowserSession(id, NOW + 10, '2001:db8::1');
    await buffer.flush();
    buffer.recordBrowserSession(id, NOW + 20, undefined);
    await buffer.flush();
    expect(await stored(id)).toEqual({ at: NOW + 20, ip: '2001:db8::1' });
    buffer.recordBrowserSession(id, NOW + 5, '203.0.113.9');
    await buffer.flush();
    expect(await stored(id)).toEqual({ at: NOW + 20, ip: '2001:db8::1' });
  });

  test('ten thousand sessions are written without waiting for the minute, charged to no request', async () => {
    const buffer = new ActivityBuffer(db.database, new RecordingLog());
    const id = await newSession();
    const { task } = await measured(async () => {
      buffer.recordBrowserSession(id, NOW + 7, undefined);
      for (let count = 1; count < 10_000; count += 1) buffer.recordBrowserSession(newId(NOW), NOW, undefined);
    });
    // Leaves the context of that task, so that this test's queries are not charged to it.
    await new Promise((resolve) => setImmediate(resolve));
    let at: number | null | undefined;
    await until(() => {
      void stored(id).then((row) => {
        at = row?.at;
      });
      return at === NOW + 7;
    });
    expect(task.queries).toBe(0);
  });

  test('a batch that cannot be written is kept for the next time, and nothing is thrown', async () => {
    const log = new RecordingLog();
    const buffer = new ActivityBuffer(db.database, log);
    const id = await newSession();
    buffer.recordBrowserSession(id, NOW + 3, undefined);
    await sql(db.database, 'alter table user_sessions rename to user_sessions_away');
    await buffer.flush();
    await sql(db.database, 'alter table user_sessions_away rename to user_sessions');
    expect(log.lines).toMatchObject([{ level: 'warn', event: 'activity.failed' }]);
    expect(await stored(id)).toEqual({ at: null, ip: null });
    await buffer.stop();
    expect(await stored(id)).toEqual({ at: NOW + 3, ip: null });
  });
});
