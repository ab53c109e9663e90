import { describe, expect, test } from 'vitest';
import { LatchkeyError } from '#platform/base/errors.ts';
import { bankCurrentStretch, currentTask } from '#platform/base/tasks.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { leastOf } from '#test/support/measuring.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { runTask } from '#test/support/run-task.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { isUniqueViolation, StatementError } from './failures.ts';
import { ms, type NoParameters, statement } from './statement.ts';

const log = new RecordingLog();

const putState = statement<unknown, { readonly key: string; readonly value: Buffer }>(
  'testDatabase.put-state',
  'insert into server_state (key, value) values (:key::text, :value::bytea)',
);
const readState = statement<{ value: Buffer }, { readonly key: string }>(
  'testDatabase.read-state',
  'select value from server_state where key = :key::text',
);
const sleep = statement<unknown, { readonly seconds: number }>(
  'testDatabase.sleep',
  'select pg_sleep(:seconds::float8)',
);

const testDatabase = await sharedByTests(createTestDatabase({ log, slowStatementSeconds: 0.2 }));

describe('values', () => {
  const everyKind = statement<
    {
      text: string;
      bytes: Buffer;
      texts: string[];
      flag: boolean;
      count: number;
      at: number;
      none: null;
      json: unknown;
    },
    {
      readonly text: string;
      readonly bytes: Buffer;
      readonly texts: string[];
      readonly flag: boolean;
      readonly count: number;
      readonly at: Date;
      readonly none: null;
      readonly json: string;
    }
  >(
    'testDatabase.every-kind',
    `select :text::text as text, :bytes::bytea as bytes, :texts::text[] as texts, :flag::boolean as flag,
      :count::bigint as count, ${ms(':at::timestamptz')} as at, :none::text as none, :json::jsonb as json`,
  );

  test('of every type round-trip unchanged, a count as a number and a time in milliseconds', async () => {
    const at = Date.UTC(2026, 5, 17, 10, 49, 22, 419);
    const texts = ['plain', 'with "quotes", {braces} and \\', '', 'zwölf ✓'];
    const row = await testDatabase.database.first(everyKind, {
      text: "it's",
      bytes: Buffer.from([0, 255, 39]),
      texts,
      flag: true,
      count: 9_007_199_254_740_991,
      at: new Date(at),
      none: null,
      json: '[1,{"a":null}]',
    });
    expect(row).toEqual({
      text: "it's",
      bytes: Buffer.from([0, 255, 39]),
      texts,
      flag: true,
      count: 9_007_199_254_740_991,
      at,
      none: null,
      json: [1, { a: null }],
    });
  });

  test('execute returns the number of affected rows, first and rows return rows', async () => {
    expect(await testDatabase.database.execute(putState, { key: 'values', value: Buffer.from('v') })).toBe(1);
    expect(await testDatabase.database.first(readState, { key: 'values' })).toEqual({ value: Buffer.from('v') });
    expect(await testDatabase.database.rows(readState, { key: 'values' })).toHaveLength(1);
    expect(await testDatabase.database.first(readState, { key: 'absent' })).toBeUndefined();
  });
});

test('reading a whole table uses neither JIT nor parallel workers, whatever its estimated cost', async () => {
  const explain = statement<{ 'QUERY PLAN': unknown }, NoParameters>(
    'testDatabase.explain',
    'explain (analyze, format json) select count(*), sum(length(value)) from server_state',
  );
  const plan = JSON.stringify(await testDatabase.database.rows(explain, {}));
  expect(plan).toContain('Seq Scan');
  expect(plan).not.toMatch(/"JIT"|Gather/);
});

describe('failed statements', () => {
  test('identify a unique violation by its constraint', async () => {
    await testDatabase.database.execute(putState, { key: 'taken', value: Buffer.from('v') });
    const error = await testDatabase.database
      .execute(putState, { key: 'taken', value: Buffer.from('v') })
      .catch((caught: unknown) => caught);
    expect(isUniqueViolation(error)).toBe(true);
    expect(isUniqueViolation(error, 'server_state_pkey')).toBe(true);
    expect(isUniqueViolation(error, 'another_key')).toBe(false);
  });

  test('never log parameters or row values', async () => {
    const toUuid = statement<unknown, { value: string }>('testDatabase.to-uuid', 'select :value::text::uuid as id');
    const noValue = statement<unknown, { value: string }>(
      'testDatabase.no-value',
      'insert into server_state (key) values (:value::text)',
    );
    for (const [made, code] of [
      [toUuid, '22P02'],
      [noValue, '23502'],
    ] as const) {
      const error = await testDatabase.database
        .rows(made, { value: 'sensitive-value' })
        .catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(StatementError);
      expect(error).toMatchObject({ sqlState: code });
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('sensitive-value');
      expect(String(error instanceof Error && error.stack)).not.toContain('sensitive-value');
    }
  });

  test('text with a zero byte is a malformed request, not an internal error', async () => {
    await expect(testDatabase.database.first(readState, { key: 'a\0b' })).rejects.toMatchObject({
      code: 'malformed_request',
    });
  });

  test('leave other statements on the same connection unaffected', async () => {
    const broken = statement<unknown, NoParameters>('testDatabase.division', 'select 1 / 0 as never');
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) =>
        index % 2 === 0
          ? testDatabase.database.rows(broken, {})
          : testDatabase.database.rows(readState, { key: 'absent' }),
      ),
    );
    const expected = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 'rejected' : 'fulfilled'));
    expect(outcomes.map((outcome) => outcome.status)).toEqual(expected);
  });

  test('a parameter that cannot be encoded fails alone, and the statement works afterwards', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const echo = statement<{ text: string }, { value: unknown }>('testDatabase.echo', 'select :value::text as text');
    await expect(testDatabase.database.first(echo, { value: circular })).rejects.toThrow(/circular/);
    expect(await testDatabase.database.first(echo, { value: 'fine' })).toEqual({ text: 'fine' });
  });
});

describe('statistics', () => {
  test('a task that waits 50 ms for a statement is charged database time, not CPU time (operations 5.4)', async () => {
    const charged = await leastOf(async () => {
      const task = await runTask('GET-1', async () => {
        await testDatabase.database.rows(sleep, { seconds: 0.05 });
        bankCurrentStretch();
      });
      expect(task).toMatchObject({ queries: 1, fetched: 1 });
      expect(task.dbMs).toBeGreaterThanOrEqual(45);
      expect(task.polls).toBeGreaterThanOrEqual(2);
      return task.cpuMs;
    }, 10);
    expect(charged).toBeLessThanOrEqual(10);
  });

  test('a waiting task is not charged for another one that spins at the same time', async () => {
    const charged = await leastOf(async () => {
      const waiting = runTask('GET-2', async () => {
        await testDatabase.database.rows(sleep, { seconds: 0.02 });
        bankCurrentStretch();
      });
      const spinning = runTask('GET-3', async () => {
        await testDatabase.database.rows(sleep, { seconds: 0 });
        const until = performance.now() + 50;
        while (performance.now() < until);
        bankCurrentStretch();
      });
      expect((await spinning).cpuMs).toBeGreaterThanOrEqual(45);
      return (await waiting).cpuMs;
    }, 10);
    expect(charged).toBeLessThanOrEqual(10);
  });

  test('code after a statement runs in the context of the task that sent it', async () => {
    const owners: (string | undefined)[] = [];
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        runTask(`GET-${100 + index}`, async () => {
          await testDatabase.database.rows(readState, { key: 'absent' });
          owners[index] = currentTask()?.id;
        }),
      ),
    );
    expect(owners).toEqual(Array.from({ length: 20 }, (_, index) => `GET-${100 + index}`));
  });

  test('a transaction counts its statements and the awaited COMMIT, not the BEGIN sent with the first', async () => {
    const task = await runTask('POST-1', () =>
      testDatabase.database.transaction(async (transaction) => {
        await transaction.first(readState, { key: 'absent' });
        await transaction.first(readState, { key: 'absent' });
      }),
    );
    expect(task.queries).toBe(3);
    expect(task.polls).toBeGreaterThanOrEqual(4);
  });

  test('a slow statement is logged with its label and task, without parameters', async () => {
    await runTask('GET-9', () => testDatabase.database.rows(sleep, { seconds: 0.25 }));
    const slow = log.lines.find((line) => line.event === 'db.slow');
    expect(slow).toMatchObject({ level: 'warn', taskId: 'GET-9' });
    expect(slow?.message).toContain('testDatabase.sleep');
    expect(JSON.stringify(slow)).not.toContain('0.25');
  });
});

test('a statement ends at statement_timeout with temporarily_unavailable', async () => {
  const hurried = await createTestDatabase({ statementTimeoutSeconds: 0.1 });
  const error = await hurried.database.rows(sleep, { seconds: 5 }).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(LatchkeyError);
  expect(error).toMatchObject({ code: 'temporarily_unavailable', retryAfterSeconds: 5 });
  await hurried.drop();
});
