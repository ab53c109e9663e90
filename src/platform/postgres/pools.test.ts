import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { systemClock } from '#platform/base/clock.ts';
import { administer } from '#test/support/administer.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { freePort } from '#test/support/free-port.js';
import { NetworkLink } from '#test/support/network-link.js';
import { waitUntil } from '#test/support/postgres-server.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import type { Transaction } from './database.ts';
import { completeOptions } from './database-options.ts';
import { PostgresDatabase } from './open-database.ts';
import { type NoParameters, statement } from './statement.ts';

let testDatabase: TestDatabase;
afterEach(() => testDatabase.drop());

const one = statement<{ one: number }, NoParameters>('testDatabase.one', 'select 1 as one');
const setting = statement<{ value: string }, { readonly name: string }>(
  'testDatabase.setting',
  'select current_setting(:name::text) as value',
);

const SWEEP_MS = 1_000;

/** Existing connections stay open. */
async function allowConnections(isAllowed: boolean): Promise<void> {
  const name = new URL(testDatabase.connectionString).pathname.slice(1);
  await administer(inject('testDatabases').adminUri, `alter database ${name} with allow_connections ${isAllowed}`);
}

/** Starts a transaction that stays open until `finish` is called. */
function heldTransaction(): { begun: Promise<void>; finish: () => void; ended: Promise<void> } {
  let finish: () => void = () => {};
  let hasBegun: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    hasBegun = resolve;
  });
  const notified = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const ended = testDatabase.database.transaction(async (transaction: Transaction) => {
    await transaction.first(one, {});
    hasBegun();
    await notified;
    await transaction.first(one, {});
  });
  return { begun, finish, ended };
}

describe('connections', () => {
  test('never exceed the limit, whatever the load', async () => {
    testDatabase = await createTestDatabase({ maxConnections: 4 });
    await Promise.all([
      ...Array.from({ length: 100 }, () => testDatabase.database.first(one, {})),
      ...Array.from({ length: 20 }, () =>
        testDatabase.database.transaction((transaction) => transaction.first(one, {})),
      ),
    ]);
    const sessions = statement<{ count: number }, NoParameters>(
      'testDatabase.sessions',
      `select count(*) as count from pg_stat_activity where datname = current_database()`,
    );
    expect((await testDatabase.database.first(sessions, {}))?.count).toBeLessThanOrEqual(4);
    expect(testDatabase.database.statistics().open).toBeLessThanOrEqual(4);
  });

  test('with a limit of one alternate between statements and transactions', async () => {
    testDatabase = await createTestDatabase({ maxConnections: 1 });
    await Promise.all([
      ...Array.from({ length: 20 }, () => testDatabase.database.first(one, {})),
      ...Array.from({ length: 20 }, () =>
        testDatabase.database.transaction((transaction) => transaction.first(one, {})),
      ),
    ]);
    expect(testDatabase.database.statistics()).toEqual({ open: 1, busy: 0, waiting: 0 });
  });

  test('idle beyond the minimum are closed after the idle timeout', async () => {
    testDatabase = await createTestDatabase({ idleTimeoutSeconds: 0.1 });
    await Promise.all(Array.from({ length: 50 }, () => testDatabase.database.first(one, {})));
    await waitUntil(() => testDatabase.database.statistics().open === 0, 'idle connections to be closed');
    expect(await testDatabase.database.first(one, {})).toEqual({ one: 1 });
  });

  test('beyond their lifetime are replaced without a failing statement, those in a transaction after its end', async () => {
    testDatabase = await createTestDatabase({ maxLifetimeSeconds: 0.05, maxConnections: 2 });
    const pid = statement<{ pid: number }, NoParameters>('testDatabase.pid', 'select pg_backend_pid() as pid');
    const held = heldTransaction();
    await held.begun;
    const before = await testDatabase.database.first(pid, {});
    await waitUntil(
      async () => (await testDatabase.database.first(pid, {}))?.pid !== before?.pid,
      'another connection',
    );
    held.finish();
    await held.ended;
  });

  test.each([
    { what: 'one', statements: 1 },
    { what: 'all that there may be', statements: 100 },
  ])('beyond their lifetime stay while no replacement can be opened: $what (F-20)', async ({ statements }) => {
    const log = new RecordingLog();
    testDatabase = await createTestDatabase({ log, maxLifetimeSeconds: 0.05, maxConnections: 6 });
    await Promise.all(Array.from({ length: statements }, () => testDatabase.database.first(one, {})));
    await allowConnections(false);
    try {
      await waitUntil(() => log.lines.some(({ event }) => event === 'db.lost'), 'a refused connection');
      for (let sweeps = 0; sweeps < 3; sweeps += 1) {
        await setTimeout(SWEEP_MS);
        expect(await testDatabase.database.first(one, {})).toEqual({ one: 1 });
      }
    } finally {
      await allowConnections(true);
    }
  });

  test('have the server-side settings: timeouts, generic plans, durable commits', async () => {
    testDatabase = await createTestDatabase({ statementTimeoutSeconds: 7 });
    const read = async (name: string) => (await testDatabase.database.first(setting, { name }))?.value;
    expect(await read('statement_timeout')).toBe('7s');
    expect(await read('plan_cache_mode')).toBe('force_generic_plan');
    expect(await read('synchronous_commit')).toBe('on');
    expect(await read('lock_timeout')).toBe('1s');
  });
});

describe('waiting for a connection', () => {
  test('longer than the acquire timeout ends with temporarily_unavailable and a time to retry', async () => {
    testDatabase = await createTestDatabase({ maxConnections: 2, acquireTimeoutSeconds: 0.1 });
    const held = heldTransaction();
    await held.begun;
    await expect(testDatabase.database.transaction(async () => 'never')).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      retryAfterSeconds: 5,
    });
    expect(testDatabase.database.statistics().waiting).toBe(0);
    held.finish();
    await held.ended;
    expect(await testDatabase.database.transaction((transaction) => transaction.first(one, {}))).toEqual({ one: 1 });
  });

  test('is rejected immediately when too many wait already; the others are served in order', async () => {
    testDatabase = await createTestDatabase({ maxConnections: 2, maxWaiters: 3 });
    const held = heldTransaction();
    await held.begun;
    const order: number[] = [];
    const waiting = [1, 2, 3].map((number) =>
      testDatabase.database.transaction(async (transaction) => {
        await transaction.first(one, {});
        order.push(number);
      }),
    );
    expect(testDatabase.database.statistics().waiting).toBe(3);
    await expect(testDatabase.database.transaction(async () => 'never')).rejects.toMatchObject({
      code: 'temporarily_unavailable',
    });
    held.finish();
    await Promise.all([held.ended, ...waiting]);
    expect(order).toEqual([1, 2, 3]);
  });

  test('for a transaction does not block single statements', async () => {
    testDatabase = await createTestDatabase({ maxConnections: 2 });
    const held = heldTransaction();
    await held.begun;
    expect(await testDatabase.database.first(one, {})).toEqual({ one: 1 });
    held.finish();
    await held.ended;
  });
});

describe('behind a transaction pooler', () => {
  test('statements are unnamed, and timeouts are sent with each transaction', async () => {
    testDatabase = await createTestDatabase({ pooler: 'transaction', statementTimeoutSeconds: 0.2, maxConnections: 2 });
    const names = statement<{ count: number }, NoParameters>(
      'testDatabase.prepared',
      'select count(*) as count from pg_prepared_statements',
    );
    const sleep = statement<unknown, NoParameters>('testDatabase.nap', 'select pg_sleep(2)');
    expect(await testDatabase.database.first(setting, { name: 'statement_timeout' })).toEqual({ value: '200ms' });
    expect(await testDatabase.database.first(names, {})).toEqual({ count: 0 });
    await expect(testDatabase.database.rows(sleep, {})).rejects.toMatchObject({ code: 'temporarily_unavailable' });
    await testDatabase.database.transaction(async (transaction) => {
      expect(await transaction.first(setting, { name: 'statement_timeout' })).toEqual({ value: '200ms' });
      expect(await transaction.first(names, {})).toEqual({ count: 0 });
    });
    await expect(
      testDatabase.database.transaction(async (transaction) => {
        await transaction.first(one, {});
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
  });
});

describe('a slow server (F-09)', () => {
  /** Opens a database with three shared connections through a cable. */
  async function openBehindLink() {
    testDatabase = await createTestDatabase();
    const { host = '127.0.0.1', port = 5432, ...target } = parseConnectionUri(testDatabase.connectionString);
    const cable = new NetworkLink({ host, port });
    const linkPort = await freePort();
    await cable.listen(linkPort);
    const slow = new PostgresDatabase(
      completeOptions({
        connection: { ...target, host: '127.0.0.1', port: linkPort },
        ...{ log: new RecordingLog(), clock: systemClock, maxConnections: 4, acquireTimeoutSeconds: 0.2 },
      }),
    );
    await slow.first(one, {});
    return { slow, cable };
  }

  test('gets as many statements at once as it answers within two seconds', async () => {
    const { slow, cable } = await openBehindLink();
    cable.slowDown(50);
    // The first statements measure the latency and open the other connections.
    await Promise.all(Array.from({ length: 30 }, () => slow.first(one, {})));
    const requested = await Promise.allSettled(Array.from({ length: 320 }, () => slow.first(one, {})));
    const responded = requested.filter(({ status }) => status === 'fulfilled').length;
    expect(responded).toBeGreaterThan(40);
    expect(responded).toBeLessThan(200);
    await slow.close();
    cable.close();
  });

  test('gets no more than it answers: callers wait for a limited time, and no work remains afterwards', async () => {
    const { slow, cable } = await openBehindLink();
    cable.slowDown(1_500);
    let pending = 0;
    let refused = 0;
    const ask = async (): Promise<void> => {
      pending += 1;
      await slow.first(one, {}).catch(() => {
        refused += 1;
      });
      pending -= 1;
    };
    const requested: Promise<void>[] = [];
    // One statement for each of the three shared connections. They are overdue after a second.
    for (let count = 0; count < 3; count += 1) requested.push(ask());
    await setTimeout(1_200);
    for (let wave = 0; wave < 20; wave += 1) {
      for (let count = 0; count < 10; count += 1) requested.push(ask());
      await setTimeout(100);
    }
    await waitUntil(() => pending <= 3, 'callers to give up');
    expect(refused).toBeGreaterThan(150);
    cable.slowDown(0);
    await Promise.all(requested);
    expect(await slow.first(one, {})).toEqual({ one: 1 });
    await slow.close();
    cable.close();
  });
});
