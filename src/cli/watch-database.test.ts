import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { InstanceState } from '#domain/instance-state.ts';
import { packageRoot } from '#platform/base/package-root.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { checkDatabase } from './watch-database.ts';

const clock = { aheadMs: 0, now: () => Date.now() + clock.aheadMs };
const log = new RecordingLog();
const state = new InstanceState();
let made: TestDatabase;

beforeAll(async () => {
  made = await createTestDatabase({ clock, log });
});
afterAll(async () => await made.drop());

const check = (): Promise<void> =>
  checkDatabase({ database: made.database, log, state, migrations: join(packageRoot, 'migrations') });
const errors = (): string[] => log.lines.filter(({ level }) => level === 'error').map(({ event }) => event);

test('clocks that differ by over a minute make the instance not ready, until they agree (operations 8.1)', async () => {
  clock.aheadMs = 30_000;
  await check();
  expect(state.isClockRight).toBe(true);
  clock.aheadMs = 65_000;
  await check();
  await check();
  expect(state.isClockRight).toBe(false);
  expect(errors()).toEqual(['db.skew']);
  clock.aheadMs = 0;
  await check();
  expect(state.isClockRight).toBe(true);
});

test('a schema that a newer version made unreadable, or that lacks a migration, makes it not ready', async () => {
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
  await sql(database, 'delete from schema_migrations where version = 2');
  await check();
  expect(state.isSchemaUsable).toBe(false);
  expect(errors()).toEqual(['db.skew', 'db.migrate', 'db.migrate']);
});
