import { afterEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { waitUntil } from '#test/support/postgres-server.ts';
import type { Transaction } from './database.ts';
import { type NoParameters, statement } from './statement.ts';

let test: TestDatabase;
afterEach(() => test.drop());

const one = statement<{ one: number }, NoParameters>('test.one', 'select 1 as one');
const setting = statement<{ value: string }, { readonly name: string }>(
  'test.setting',
  'select current_setting(:name::text) as value',
);

/** A transaction that has begun and stays open until it is told to go on. */
function heldTransaction(): { begun: Promise<void>; finish: () => void; ended: Promise<void> } {
  let finish: () => void = () => {};
  let hasBegun: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    hasBegun = resolve;
  });
  const told = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const ended = test.database.transaction(async (transaction: Transaction) => {
    await transaction.first(one, {});
    hasBegun();
    await told;
    await transaction.first(one, {});
  });
  return { begun, finish, ended };
}

describe('connections', () => {
  it('never exceed the bound, whatever is asked of them', async () => {
    test = await createTestDatabase({ maxConnections: 4 });
    await Promise.all([
      ...Array.from({ length: 100 }, () => test.database.first(one, {})),
      ...Array.from({ length: 20 }, () => test.database.transaction((transaction) => transaction.first(one, {}))),
    ]);
    const sessions = statement<{ count: number }, NoParameters>(
      'test.sessions',
      `select count(*) as count from pg_stat_activity where datname = current_database()`,
    );
    expect((await test.database.first(sessions, {}))?.count).toBeLessThanOrEqual(4);
    expect(test.database.statistics().open).toBeLessThanOrEqual(4);
  });

  it('with a bound of one serve statements and transactions in turn', async () => {
    test = await createTestDatabase({ maxConnections: 1 });
    await Promise.all([
      ...Array.from({ length: 20 }, () => test.database.first(one, {})),
      ...Array.from({ length: 20 }, () => test.database.transaction((transaction) => transaction.first(one, {}))),
    ]);
    expect(test.database.statistics()).toEqual({ open: 1, busy: 0, waiting: 0 });
  });

  it('idle beyond the minimum are closed after the idle time-out', async () => {
    test = await createTestDatabase({ idleTimeoutSeconds: 0.1 });
    await Promise.all(Array.from({ length: 50 }, () => test.database.first(one, {})));
    await waitUntil(() => test.database.statistics().open === 0, 'idle connections to be closed');
    expect(await test.database.first(one, {})).toEqual({ one: 1 });
  });

  it('past their lifetime are replaced without a failing statement, one of a transaction after its end', async () => {
    test = await createTestDatabase({ maxLifetimeSeconds: 0.05, maxConnections: 2 });
    const pid = statement<{ pid: number }, NoParameters>('test.pid', 'select pg_backend_pid() as pid');
    const held = heldTransaction();
    await held.begun;
    const before = await test.database.first(pid, {});
    await waitUntil(async () => (await test.database.first(pid, {}))?.pid !== before?.pid, 'another connection');
    held.finish();
    await held.ended;
  });

  it('carry the bounds of the server side: time-outs, generic plans, durable commits', async () => {
    test = await createTestDatabase({ statementTimeoutSeconds: 7 });
    const read = async (name: string) => (await test.database.first(setting, { name }))?.value;
    expect(await read('statement_timeout')).toBe('7s');
    expect(await read('plan_cache_mode')).toBe('force_generic_plan');
    expect(await read('synchronous_commit')).toBe('on');
    expect(await read('lock_timeout')).toBe('1s');
  });
});

describe('waiting for a connection', () => {
  it('longer than the acquire time-out ends with temporarily_unavailable and the time to try again', async () => {
    test = await createTestDatabase({ maxConnections: 2, acquireTimeoutSeconds: 0.1 });
    const held = heldTransaction();
    await held.begun;
    await expect(test.database.transaction(async () => 'never')).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      retryAfterSeconds: 5,
    });
    expect(test.database.statistics().waiting).toBe(0);
    held.finish();
    await held.ended;
    expect(await test.database.transaction((transaction) => transaction.first(one, {}))).toEqual({ one: 1 });
  });

  it('is refused at once when too many wait already; those in line are served in their order', async () => {
    test = await createTestDatabase({ maxConnections: 2, maxWaiters: 3 });
    const held = heldTransaction();
    await held.begun;
    const order: number[] = [];
    const waiting = [1, 2, 3].map((number) =>
      test.database.transaction(async (transaction) => {
        await transaction.first(one, {});
        order.push(number);
      }),
    );
    expect(test.database.statistics().waiting).toBe(3);
    await expect(test.database.transaction(async () => 'never')).rejects.toMatchObject({
      code: 'temporarily_unavailable',
    });
    held.finish();
    await Promise.all([held.ended, ...waiting]);
    expect(order).toEqual([1, 2, 3]);
  });

  it('for a transaction does not hold up single statements', async () => {
    test = await createTestDatabase({ maxConnections: 2 });
    const held = heldTransaction();
    await held.begun;
    expect(await test.database.first(one, {})).toEqual({ one: 1 });
    held.finish();
    await held.ended;
  });
});

describe('behind a transaction pooler', () => {
  it('statements have no names, and time-outs travel with each transaction', async () => {
    test = await createTestDatabase({ pooler: 'transaction', statementTimeoutSeconds: 0.2, maxConnections: 2 });
    const names = statement<{ count: number }, NoParameters>(
      'test.prepared',
      'select count(*) as count from pg_prepared_statements',
    );
    const sleep = statement<unknown, NoParameters>('test.nap', 'select pg_sleep(2)');
    expect(await test.database.first(setting, { name: 'statement_timeout' })).toEqual({ value: '200ms' });
    expect(await test.database.first(names, {})).toEqual({ count: 0 });
    await expect(test.database.rows(sleep, {})).rejects.toMatchObject({ code: 'temporarily_unavailable' });
    await test.database.transaction(async (transaction) => {
      expect(await transaction.first(setting, { name: 'statement_timeout' })).toEqual({ value: '200ms' });
      expect(await transaction.first(names, {})).toEqual({ count: 0 });
    });
    await expect(
      test.database.transaction(async (transaction) => {
        await transaction.first(one, {});
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
  });
});
