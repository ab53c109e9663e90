import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LatchkeyError } from '#base/errors.ts';
import { bankCurrentStretch, currentTask } from '#base/tasks.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { leastOf } from '#test/support/measuring.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { runTask } from '#test/support/run-task.ts';
import { isUniqueViolation, StatementError } from '../failures.ts';
import { ms, statement } from '../statement.ts';

let test: TestDatabase;
const log = new RecordingLog();

const putState = statement<unknown, [key: string, value: Buffer]>(
  'test.put-state',
  'insert into server_state (key, value) values ($1::text, $2::bytea)',
);
const readState = statement<{ value: Buffer }, [key: string]>(
  'test.read-state',
  'select value from server_state where key = $1::text',
);
const sleep = statement<unknown, [seconds: number]>('test.sleep', 'select pg_sleep($1::float8)');

beforeAll(async () => {
  test = await createTestDatabase({ log, slowStatementSeconds: 0.2 });
});
afterAll(() => test.drop());

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
    [string, Buffer, string[], boolean, number, Date, null, string]
  >(
    'test.every-kind',
    `select $1::text as text, $2::bytea as bytes, $3::text[] as texts, $4::boolean as flag, $5::bigint as count,
      ${ms('$6::timestamptz')} as at, $7::text as none, $8::jsonb as json`,
  );

  it('of every kind come back as they went in, a count as a number and a time in milliseconds', async () => {
    const at = Date.UTC(2026, 5, 17, 10, 49, 22, 419);
    const texts = ['plain', 'with "quotes", {braces} and \\', '', 'zwölf ✓'];
    const row = await test.database.first(everyKind, [
      "it's",
      Buffer.from([0, 255, 39]),
      texts,
      true,
      9_007_199_254_740_991,
      new Date(at),
      null,
      '[1,{"a":null}]',
    ]);
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

  it('execute tells the number of rows affected, first and rows the rows', async () => {
    expect(await test.database.execute(putState, ['values', Buffer.from('v')])).toBe(1);
    expect(await test.database.first(readState, ['values'])).toEqual({ value: Buffer.from('v') });
    expect(await test.database.rows(readState, ['values'])).toHaveLength(1);
    expect(await test.database.first(readState, ['absent'])).toBeUndefined();
  });
});

it('reading a whole table takes neither compiled code nor parallel workers, however dear the server thinks it', async () => {
  const explain = statement<{ 'QUERY PLAN': unknown }, []>(
    'test.explain',
    'explain (analyze, format json) select count(*), sum(length(value)) from server_state',
  );
  const plan = JSON.stringify(await test.database.rows(explain, []));
  expect(plan).toContain('Seq Scan');
  expect(plan).not.toMatch(/"JIT"|Gather/);
});

describe('refused statements', () => {
  it('a taken key is recognised by its constraint', async () => {
    await test.database.execute(putState, ['taken', Buffer.from('v')]);
    const error = await test.database.execute(putState, ['taken', Buffer.from('v')]).catch((caught: unknown) => caught);
    expect(isUniqueViolation(error)).toBe(true);
    expect(isUniqueViolation(error, 'server_state_pkey')).toBe(true);
    expect(isUniqueViolation(error, 'another_key')).toBe(false);
  });

  it('never carry parameters or row values into the log', async () => {
    const toUuid = statement<unknown, [string]>('test.to-uuid', 'select $1::text::uuid as id');
    const noValue = statement<unknown, [string]>('test.no-value', 'insert into server_state (key) values ($1::text)');
    for (const [made, code] of [
      [toUuid, '22P02'],
      [noValue, '23502'],
    ] as const) {
      const error = await test.database.rows(made, ['sensitive-value']).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(StatementError);
      expect(error).toMatchObject({ sqlState: code });
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('sensitive-value');
      expect(String(error instanceof Error && error.stack)).not.toContain('sensitive-value');
    }
  });

  it('text with a zero byte is a malformed request, not a fault of the service', async () => {
    await expect(test.database.first(readState, ['a\0b'])).rejects.toMatchObject({ code: 'malformed_request' });
  });

  it('leave the statements beside them on the connection untouched', async () => {
    const broken = statement<unknown, []>('test.division', 'select 1 / 0 as never');
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) =>
        index % 2 === 0 ? test.database.rows(broken, []) : test.database.rows(readState, ['absent']),
      ),
    );
    const expected = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 'rejected' : 'fulfilled'));
    expect(outcomes.map((outcome) => outcome.status)).toEqual(expected);
  });

  it('a parameter that cannot be written fails alone, and the statement works again afterwards', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const echo = statement<{ text: string }, [unknown]>('test.echo', 'select $1::text as text');
    await expect(test.database.first(echo, [circular])).rejects.toThrow(/circular/);
    expect(await test.database.first(echo, ['fine'])).toEqual({ text: 'fine' });
  });
});

describe('statistics', () => {
  it('a task that waits 50 ms for a statement is charged database time, not processor time (operations 5.4)', async () => {
    const charged = await leastOf(async () => {
      const task = await runTask('GET-1', async () => {
        await test.database.rows(sleep, [0.05]);
        bankCurrentStretch();
      });
      expect(task).toMatchObject({ queries: 1, fetched: 1 });
      expect(task.dbMs).toBeGreaterThanOrEqual(45);
      expect(task.polls).toBeGreaterThanOrEqual(2);
      return task.cpuMs;
    }, 10);
    expect(charged).toBeLessThanOrEqual(10);
  });

  it('a waiting task is not charged for another that spins at the same time', async () => {
    const charged = await leastOf(async () => {
      const waiting = runTask('GET-2', async () => {
        await test.database.rows(sleep, [0.02]);
        bankCurrentStretch();
      });
      const spinning = runTask('GET-3', async () => {
        await test.database.rows(sleep, [0]);
        const until = performance.now() + 50;
        while (performance.now() < until);
        bankCurrentStretch();
      });
      expect((await spinning).cpuMs).toBeGreaterThanOrEqual(45);
      return (await waiting).cpuMs;
    }, 10);
    expect(charged).toBeLessThanOrEqual(10);
  });

  it('code after a statement runs on behalf of the task that sent it', async () => {
    const owners: (string | undefined)[] = [];
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        runTask(`GET-${100 + index}`, async () => {
          await test.database.rows(readState, ['absent']);
          owners[index] = currentTask()?.id;
        }),
      ),
    );
    expect(owners).toEqual(Array.from({ length: 20 }, (_, index) => `GET-${100 + index}`));
  });

  it('a transaction counts its statements and the COMMIT that it awaits, not the BEGIN that travels along', async () => {
    const task = await runTask('POST-1', () =>
      test.database.transaction(async (transaction) => {
        await transaction.first(readState, ['absent']);
        await transaction.first(readState, ['absent']);
      }),
    );
    expect(task.queries).toBe(3);
    expect(task.polls).toBeGreaterThanOrEqual(4);
  });

  it('a slow statement is logged with its label, on behalf of its task, without parameters', async () => {
    await runTask('GET-9', () => test.database.rows(sleep, [0.25]));
    const slow = log.lines.find((line) => line.event === 'db.slow');
    expect(slow).toMatchObject({ level: 'warn', taskId: 'GET-9' });
    expect(slow?.message).toContain('test.sleep');
    expect(JSON.stringify(slow)).not.toContain('0.25');
  });
});

it('a statement ends at statement_timeout with temporarily_unavailable', async () => {
  const hurried = await createTestDatabase({ statementTimeoutSeconds: 0.1 });
  const error = await hurried.database.rows(sleep, [5]).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(LatchkeyError);
  expect(error).toMatchObject({ code: 'temporarily_unavailable', retryAfterSeconds: 5 });
  await hurried.drop();
});
