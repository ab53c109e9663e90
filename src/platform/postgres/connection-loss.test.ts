import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '#platform/base/clock.ts';
import { administer } from '#test/support/administer.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { freePort } from '#test/support/free-port.js';
import { NetworkLink } from '#test/support/network-link.js';
import { startPostgresServer, type TestServer, waitUntil } from '#test/support/postgres-server.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import type { OpenDatabase } from './database.ts';
import { completeOptions } from './database-options.ts';
import { openDatabase, PostgresDatabase } from './open-database.ts';
import { type NoParameters, statement } from './statement.ts';

const read = statement<{ value: number }, NoParameters>(
  'testDatabase.slow-read',
  'select 1 as value from pg_sleep(0.3)',
);
const write = statement<unknown, { readonly id: number }>(
  'testDatabase.slow-write',
  'insert into kept (id) select :id::integer from pg_sleep(0.3)',
);
const put = statement<unknown, { readonly id: number }>(
  'testDatabase.quick-write',
  'insert into kept (id) values (:id::integer)',
);
const count = statement<{ count: number }, NoParameters>(
  'testDatabase.count-kept',
  'select count(*) as count from kept',
);

describe('a connection lost during a statement', () => {
  let testDatabase: TestDatabase;
  const log = new RecordingLog();

  beforeAll(async () => {
    testDatabase = await createTestDatabase({ log });
    await administer(testDatabase.connectionString, 'create table kept (id integer)');
  });
  beforeEach(() => administer(testDatabase.connectionString, 'truncate kept'));
  afterAll(() => testDatabase.drop());

  async function killWhenRunning(text: string): Promise<void> {
    await waitUntil(async () => {
      const killed = await administer(
        testDatabase.connectionString,
        `select pg_terminate_backend(pid) from pg_stat_activity where query like '${text}%' and state = 'active'`,
      );
      return killed.length > 0;
    }, `a session that runs ${text}`);
  }

  test('repeats a read on another connection, unnoticed by its caller', async () => {
    const reading = testDatabase.database.first(read, {});
    await killWhenRunning(read.text);
    expect(await reading).toEqual({ value: 1 });
    expect(log.lines.some((line) => line.event === 'db.lost' && line.level === 'warn')).toBe(true);
  });

  test('does not repeat a write: it may have been stored', async () => {
    const writing = testDatabase.database.execute(write, { id: 1 }).catch((caught: unknown) => caught);
    await killWhenRunning('insert into kept');
    expect(await writing).toMatchObject({ code: 'temporarily_unavailable', cause: { name: 'ConnectionLost' } });
    expect(await testDatabase.database.first(count, {})).toEqual({ count: 0 });
  });

  test('leaves nothing of a transaction and frees its slot', async () => {
    const failing = testDatabase.database
      .transaction(async (transaction) => {
        await transaction.execute(put, { id: 1 });
        await transaction.execute(write, { id: 2 });
      })
      .catch((caught: unknown) => caught);
    await killWhenRunning('insert into kept (id) select');
    expect(await failing).toMatchObject({ code: 'temporarily_unavailable' });
    expect(await testDatabase.database.first(count, {})).toEqual({ count: 0 });
    expect(testDatabase.database.statistics()).toMatchObject({ busy: 0, waiting: 0 });
    await Promise.all(
      Array.from({ length: 8 }, (_, id) =>
        testDatabase.database.transaction((transaction) => transaction.execute(put, { id })),
      ),
    );
    expect(await testDatabase.database.first(count, {})).toEqual({ count: 8 });
  });

  test('replaces killed idle connections, and no statement fails', async () => {
    await Promise.all(Array.from({ length: 20 }, () => testDatabase.database.first(count, {})));
    const linesBefore = log.lines.length;
    await administer(
      testDatabase.connectionString,
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    const responses = await Promise.all(Array.from({ length: 20 }, () => testDatabase.database.first(count, {})));
    expect(responses.every((response) => response?.count === 8 || response?.count === 0)).toBe(true);
    expect(log.lines.slice(linesBefore).filter((line) => line.event === 'db.lost').length).toBeLessThanOrEqual(1);
  });

  test('prepares a statement that a migration made stale again on every connection', async () => {
    await administer(
      testDatabase.connectionString,
      'create table shifting (value integer); insert into shifting values (1)',
    );
    const shifting = statement<{ value: number | string }, NoParameters>(
      'testDatabase.shifting',
      'select value from shifting',
    );
    await Promise.all(Array.from({ length: 40 }, () => testDatabase.database.first(shifting, {})));
    await administer(testDatabase.connectionString, 'alter table shifting alter column value type text');
    const responses = await Promise.all(Array.from({ length: 40 }, () => testDatabase.database.first(shifting, {})));
    expect(new Set(responses.map((response) => response?.value))).toEqual(new Set(['1']));
  });

  test('a read-only database rejects writes with temporarily_unavailable and still serves reads', async () => {
    await administer(
      testDatabase.connectionString,
      `do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$`,
    );
    const second = await openSecond();
    await expect(second.execute(put, { id: 1 })).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      cause: { sqlState: '25006' },
    });
    expect(await second.first(count, {})).toMatchObject({ count: expect.any(Number) });
    await second.close();
  });

  /** Opens without the check at startup, like a process that started before the mode changed. */
  async function openSecond(): Promise<OpenDatabase> {
    const connection = parseConnectionUri(testDatabase.connectionString);
    return new PostgresDatabase(completeOptions({ connection, log, clock: systemClock }));
  }
});

describe('a database server', () => {
  let server: TestServer;
  let database: OpenDatabase;
  const log = new RecordingLog();

  beforeAll(async () => {
    server = await startPostgresServer();
    await administer(server.uri, 'create table kept (id integer)');
    database = await openDatabase({
      connection: parseConnectionUri(server.uri),
      log,
      clock: systemClock,
      acquireTimeoutSeconds: 0.2,
    });
  });
  afterAll(async () => {
    await database.close();
    await server.remove();
  });

  const isHealthy = (): Promise<boolean> =>
    database.ping().then(
      () => true,
      () => false,
    );

  test.each([
    ['is shut down', () => server.stop()],
    ['is killed', () => server.kill()],
  ])('that %s: 503 until it is back, then service without a restart', async (_, end) => {
    await Promise.all(Array.from({ length: 20 }, () => database.first(count, {})));
    await database.transaction((transaction) => transaction.execute(put, { id: 1 }));
    await end();
    await expect(database.first(count, {})).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      retryAfterSeconds: 5,
    });
    await expect(database.execute(put, { id: 2 })).rejects.toMatchObject({ code: 'temporarily_unavailable' });
    await expect(database.transaction((transaction) => transaction.execute(put, { id: 3 }))).rejects.toMatchObject({
      code: 'temporarily_unavailable',
    });
    await waitUntil(async () => !(await isHealthy()), 'a failing health check');
    await server.start();
    await waitUntil(async () => (await database.first(count, {}).catch(() => undefined)) !== undefined, 'an answer');
    await database.transaction((transaction) => transaction.execute(put, { id: 4 }));
    await waitUntil(isHealthy, 'a passing health check');
  });

  test('that does not respond within the statement timeout: its connections count as lost', async () => {
    const frozen = await openDatabase({
      connection: parseConnectionUri(server.uri),
      log,
      clock: systemClock,
      statementTimeoutSeconds: 0.1,
      acquireTimeoutSeconds: 0.2,
    });
    await frozen.first(count, {});
    server.freeze();
    try {
      await expect(frozen.execute(put, { id: 5 })).rejects.toMatchObject({
        code: 'temporarily_unavailable',
        cause: { message: expect.stringMatching(/no response for \d+ s/) },
      });
    } finally {
      server.thaw();
    }
    await waitUntil(async () => (await frozen.first(count, {}).catch(() => undefined)) !== undefined, 'an answer');
    await frozen.close();
  });

  test('behind silently dropped connections: one without a response gives up all of them (F-08)', async () => {
    const cable = new NetworkLink(server);
    const port = await freePort();
    await cable.listen(port);
    const forgotten = await openDatabase({
      connection: { ...parseConnectionUri(server.uri), host: '127.0.0.1', port },
      log,
      clock: systemClock,
      statementTimeoutSeconds: 0.1,
    });
    await forgotten.transaction((transaction) => transaction.execute(put, { id: 6 }));
    await forgotten.first(count, {});
    cable.forgetConnections();
    await expect(forgotten.execute(put, { id: 7 })).rejects.toMatchObject({ cause: { name: 'ConnectionLost' } });
    // The transaction's connection was idle, and would have been silent too.
    await forgotten.transaction((transaction) => transaction.execute(put, { id: 8 }));
    await forgotten.close();
    cable.close();
  });

  test.runIf(process.platform === 'linux')(
    'behind an idle connection: keepalive probes it within ten seconds (F-08)',
    async () => {
      const cable = new NetworkLink(server);
      const port = await freePort();
      await cable.listen(port);
      const idle = await openDatabase({
        connection: { ...parseConnectionUri(server.uri), host: '127.0.0.1', port },
        log,
        clock: systemClock,
      });
      await idle.first(count, {});
      // proc(5): remote address, state, queues, then 02 for the keep-alive timer and its hundredths of a second.
      const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
      const timer = new RegExp(` ${remote} 01 \\S+ 02:([0-9A-F]{8}) `);
      const [, left = ''] = timer.exec(readFileSync('/proc/net/tcp', 'utf8')) ?? [];
      await idle.close();
      cable.close();
      expect(Number.parseInt(left, 16)).toBeLessThanOrEqual(1000);
    },
  );
});
