import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { currentTask, evenWhenOver } from '#platform/base/tasks.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { runTask } from '#test/support/run-task.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { isUniqueViolation } from './failures.ts';
import { type NoParameters, statement } from './statement.ts';

const create = statement<unknown, NoParameters>(
  'testDatabase.create',
  'create table if not exists tally (id integer primary key, n integer)',
);
const empty = statement<unknown, NoParameters>('testDatabase.empty', 'truncate tally');
const put = statement<unknown, { readonly id: number; readonly n: number }>(
  'testDatabase.put',
  'insert into tally (id, n) values (:id::integer, :n::integer)',
);
const read = statement<{ n: number }, { readonly id: number }>(
  'testDatabase.read',
  'select n from tally where id = :id::integer',
);
const add = statement<{ n: number }, { readonly id: number }>(
  'testDatabase.add',
  'update tally set n = n + 1 where id = :id::integer returning n',
);
const count = statement<{ count: number }, NoParameters>('testDatabase.count', 'select count(*) as count from tally');

const testDatabase = await sharedByTests(createTestDatabase());

beforeAll(async () => {
  await testDatabase.database.execute(create, {});
});
beforeEach(() => testDatabase.database.execute(empty, {}));

/** Ends the current task, as the server does when it responds in place of a handler. */
function endTimeOfTask(): void {
  const task = currentTask();
  if (task !== undefined) task.isOver = true;
}

async function stored(id: number): Promise<number | undefined> {
  return (await testDatabase.database.first(read, { id }))?.n;
}

describe('a single statement', () => {
  test('of a request that timed out is not sent, except to release something', async () => {
    const { database } = testDatabase;
    const task = await runTask('POST-1', async () => {
      endTimeOfTask();
      await expect(database.execute(put, { id: 1, n: 1 })).rejects.toMatchObject({ code: 'temporarily_unavailable' });
      await evenWhenOver(() => database.execute(put, { id: 2, n: 2 }));
      expect(currentTask()?.id).toBe('POST-1');
    });
    expect(task.queries).toBe(0);
    expect([await stored(1), await stored(2)]).toEqual([undefined, 2]);
  });
});

describe('transaction', () => {
  test('keeps all of its writes on success, and none when it throws', async () => {
    await testDatabase.database.transaction(async (transaction) => {
      await transaction.execute(put, { id: 1, n: 10 });
      await transaction.execute(put, { id: 2, n: 20 });
    });
    const failing = testDatabase.database.transaction(async (transaction) => {
      await transaction.execute(put, { id: 3, n: 30 });
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect([await stored(1), await stored(2), await stored(3)]).toEqual([10, 20, undefined]);
  });

  test('of a request that timed out sends nothing more and keeps nothing', async () => {
    const late = runTask('POST-1', async () => {
      await testDatabase.database.transaction(async (transaction) => {
        await transaction.execute(put, { id: 1, n: 10 });
        endTimeOfTask();
      });
    });
    await expect(late).rejects.toMatchObject({ code: 'temporarily_unavailable' });
    const later = runTask('POST-2', async () => {
      endTimeOfTask();
      await testDatabase.database.transaction((transaction) => transaction.execute(put, { id: 1, n: 10 }));
    });
    await expect(later).rejects.toMatchObject({ code: 'temporarily_unavailable' });
    expect(await stored(1)).toBeUndefined();
    await testDatabase.database.transaction((transaction) => transaction.execute(put, { id: 1, n: 20 }));
    expect(await stored(1)).toBe(20);
  });

  test('hides its writes from others until the commit', async () => {
    await testDatabase.database.transaction(async (transaction) => {
      await transaction.execute(put, { id: 1, n: 10 });
      expect(await stored(1)).toBeUndefined();
      expect(await transaction.first(read, { id: 1 })).toEqual({ n: 10 });
    });
    expect(await stored(1)).toBe(10);
  });

  test('keeps an acknowledged insert of another request between its BEGIN and ROLLBACK', async () => {
    await testDatabase.database
      .transaction(async (transaction) => {
        await transaction.execute(put, { id: 1, n: 10 });
        await Promise.all(
          Array.from({ length: 30 }, (_, index) => testDatabase.database.execute(put, { id: 100 + index, n: 0 })),
        );
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    expect(await stored(1)).toBeUndefined();
    expect(await testDatabase.database.first(count, {})).toEqual({ count: 30 });
  });

  test('reports a COMMIT that the server turned into a ROLLBACK because an error was ignored', async () => {
    await testDatabase.database.execute(put, { id: 1, n: 10 });
    const careless = testDatabase.database.transaction(async (transaction) => {
      await transaction.execute(put, { id: 2, n: 20 });
      await transaction.execute(put, { id: 1, n: 10 }).catch(() => undefined);
    });
    await expect(careless).rejects.toMatchObject({ code: 'internal', cause: { sqlState: '23505' } });
    expect(await stored(2)).toBeUndefined();
  });

  test('whose first statement fails rolls back, and its connection is reused', async () => {
    await testDatabase.database.execute(put, { id: 1, n: 10 });
    for (let round = 0; round < 20; round += 1) {
      const error = await testDatabase.database
        .transaction((transaction) => transaction.execute(put, { id: 1, n: 10 }))
        .catch((caught: unknown) => caught);
      expect(isUniqueViolation(error, 'tally_pkey')).toBe(true);
    }
    expect(testDatabase.database.statistics()).toMatchObject({ busy: 0, waiting: 0 });
    await testDatabase.database.transaction((transaction) => transaction.execute(put, { id: 2, n: 20 }));
    expect(await stored(2)).toBe(20);
  });

  test('without a statement sends nothing', async () => {
    expect(await testDatabase.database.transaction(async () => 'done')).toBe('done');
  });

  test('sends concurrent statements in order', async () => {
    const [, , row] = await testDatabase.database.transaction((transaction) =>
      Promise.all([
        transaction.execute(put, { id: 1, n: 10 }),
        transaction.first(add, { id: 1 }),
        transaction.first(add, { id: 1 }),
      ]),
    );
    expect(row).toEqual({ n: 12 });
  });

  test('rejects statements after its end, where they would run outside of it', async () => {
    let kept: { execute: (made: typeof put, parameters: { id: number; n: number }) => Promise<number> } | undefined;
    await testDatabase.database.transaction(async (transaction) => {
      kept = transaction;
      await transaction.execute(put, { id: 1, n: 10 });
    });
    await expect(kept?.execute(put, { id: 2, n: 20 })).rejects.toThrow(/after the end/);
    expect(await stored(2)).toBeUndefined();
  });

  test('twenty at once on four connections each take effect exactly once', async () => {
    await testDatabase.database.execute(put, { id: 1, n: 0 });
    const seen = await Promise.all(
      Array.from({ length: 20 }, () =>
        testDatabase.database.transaction(async (transaction) => (await transaction.first(add, { id: 1 }))?.n),
      ),
    );
    expect(seen.map(Number).sort((left, right) => left - right)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    expect(await stored(1)).toBe(20);
    expect(testDatabase.database.statistics()).toMatchObject({ busy: 0, waiting: 0 });
  });

  test('declared repeatable is retried after a deadlock and takes effect once', async () => {
    await testDatabase.database.execute(put, { id: 1, n: 0 });
    await testDatabase.database.execute(put, { id: 2, n: 0 });
    let runs = 0;
    let arrived = 0;
    let open: () => void = () => {};
    const bothHoldOne = new Promise<void>((resolve) => {
      open = resolve;
    });
    const crosswise = (first: number, second: number) =>
      testDatabase.database.transaction(
        async (transaction) => {
          runs += 1;
          await transaction.first(add, { id: first });
          arrived += 1;
          if (arrived === 2) open();
          await bothHoldOne;
          await transaction.first(add, { id: second });
        },
        { isRepeatable: true },
      );
    await Promise.all([crosswise(1, 2), crosswise(2, 1)]);
    // The gate is open in the repeated run, which may therefore cause another deadlock.
    expect(runs).toBeGreaterThanOrEqual(3);
    expect([await stored(1), await stored(2)]).toEqual([2, 2]);
  });

  test('not declared repeatable ends with temporarily_unavailable after a deadlock', async () => {
    await testDatabase.database.execute(put, { id: 1, n: 0 });
    await testDatabase.database.execute(put, { id: 2, n: 0 });
    let arrived = 0;
    let open: () => void = () => {};
    const bothHoldOne = new Promise<void>((resolve) => {
      open = resolve;
    });
    const crosswise = (first: number, second: number) =>
      testDatabase.database.transaction(async (transaction) => {
        await transaction.first(add, { id: first });
        arrived += 1;
        if (arrived === 2) open();
        await bothHoldOne;
        await transaction.first(add, { id: second });
      });
    const outcomes = await Promise.allSettled([crosswise(1, 2), crosswise(2, 1)]);
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(failed).toMatchObject([{ reason: { code: 'temporarily_unavailable', cause: { sqlState: '40P01' } } }]);
    expect([await stored(1), await stored(2)]).toEqual([1, 1]);
  });
});
