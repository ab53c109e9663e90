import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { currentTask, type Task } from '#platform/base/tasks.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { runTask } from '#test/support/run-task.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { StatementError } from './failures.ts';
import { joinableWrite } from './joinable-write.ts';
import { lookup } from './lookup.ts';
import { ms, statement } from './statement.ts';

/** It tells of every statement. */
const log = new RecordingLog({ level: 'trace' });

interface Lookup {
  readonly key: string;
  readonly pause: number;
}

const read = lookup<{ readonly value: Buffer }, Lookup>(
  'test.read',
  'select value from server_state, pg_sleep(:pause::float8) where key = :key::text',
);
const readNumber = lookup<{ readonly number: number }, { readonly text: string; readonly pause: number }>(
  'test.read-number',
  'select :text::text::integer as number from pg_sleep(:pause::float8)',
);

const endOthers = statement<unknown, Record<string, never>>(
  'test.end-others',
  `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and query like '%pg_sleep%'`,
);

const testDatabase = await sharedByTests(createTestDatabase({ log }));

beforeAll(async () => {
  const put = statement<unknown, { readonly key: string; readonly value: Buffer }>(
    'test.put',
    'insert into server_state (key, value) values (:key::text, :value::bytea)',
  );
  for (const key of ['0', '1', '2', 'with "quotes", {braces} and \\', 'zwölf ✓']) {
    await testDatabase.database.execute(put, { key, value: Buffer.from(`value of ${key}`) });
  }
});

const PAUSE_SECONDS = 0.1;

/** After a stall of 2 ms, look-ups no longer wait for those in flight. */
const ON_BUSY_MACHINES = { retry: 5 };

/** Statements with that label that were answered while `work` ran. */
async function sent(label: string, work: () => Promise<unknown>): Promise<number> {
  const from = log.written.length;
  await work();
  return log.written.slice(from).filter((line) => line.includes(`statement ${label} completed`)).length;
}

async function readValue(key: string, pause = 0): Promise<string | undefined> {
  return (await testDatabase.database.first(read, { key, pause }))?.value.toString();
}

test(
  'look-ups of one kind leave together while one is in flight, and each gets its own answer',
  ON_BUSY_MACHINES,
  async () => {
    const keys = ['1', 'absent', '0', 'with "quotes", {braces} and \\', 'zwölf ✓', '1', 'absent', '2'];
    const tasks: Task[] = [];
    const responses: (string | undefined)[] = [];
    const first = readValue('0');
    const requested = keys.map(async (key, index) => {
      tasks[index] = await runTask(`GET-${index}`, async () => {
        responses[index] = await readValue(key);
      });
    });
    const joined = await sent('test.read.joined', () => Promise.all([first, ...requested]));
    expect(joined).toBe(1);
    expect(responses).toEqual(keys.map((key) => (key === 'absent' ? undefined : `value of ${key}`)));
    expect(tasks.map(({ queries }) => queries)).toEqual(keys.map(() => 1));
    expect(tasks.map(({ fetched }) => fetched)).toEqual(keys.map((key) => (key === 'absent' ? 0 : 1)));
    expect(tasks.every(({ dbMs }) => dbMs > 0)).toBe(true);
  },
);

test('look-ups that do not meet are sent by themselves', async () => {
  expect(await sent('test.read.joined', async () => [await readValue('0'), await readValue('1')])).toBe(0);
  expect(await sent('test.read', async () => [await readValue('0'), await readValue('1')])).toBe(2);
});

test('no more than 64 leave together', ON_BUSY_MACHINES, async () => {
  const many = Array.from({ length: 1 + 64 + 64 }, (_, index) => String(index % 3));
  const all = async () =>
    expect(await Promise.all(many.map((key) => readValue(key)))).toEqual(many.map((key) => `value of ${key}`));
  expect(await sent('test.read.joined', all)).toBe(2);
});

test('a parameter that the server refuses fails alone', async () => {
  const texts = ['1', '2', '3', 'no number', '5', '6'];
  const outcomes = await Promise.allSettled(
    texts.map((text) => testDatabase.database.first(readNumber, { text, pause: 0 })),
  );
  expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value?.number : outcome.reason))).toEqual([
    1,
    2,
    3,
    expect.any(StatementError),
    5,
    6,
  ]);
});

test('a value that is missing or cannot be encoded fails alone', async () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const echo = lookup<{ readonly text: string }, { readonly text: unknown }>('test.echo', 'select :text::text as text');
  const outcomes = await Promise.allSettled(
    ['one', 'two', 'three', undefined, circular, 'six'].map((text) => testDatabase.database.first(echo, { text })),
  );
  expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value?.text : outcome.reason))).toEqual([
    'one',
    'two',
    'three',
    expect.objectContaining({ message: 'statement test.echo was sent without a value for :text' }),
    expect.objectContaining({ message: expect.stringContaining('circular') }),
    'six',
  ]);
});

// The other connection may not be open yet the first time.
test('one in flight delays others for a moment only', ON_BUSY_MACHINES, async () => {
  const slow = readValue('0', 2);
  const startedAt = performance.now();
  expect(await Promise.all(['1', '2'].map((key) => readValue(key)))).toEqual(['value of 1', 'value of 2']);
  expect(performance.now() - startedAt).toBeLessThan(1_500);
  await slow;
});

test('a joined answer that is incomplete is requested again individually', ON_BUSY_MACHINES, async () => {
  const reset = statement<unknown, Record<string, never>>(
    'test.reset',
    `update server_state set value = 'value' where key in ('0', '1', '2')`,
  );
  await testDatabase.database.execute(reset, {});
  const mark = lookup<{ readonly marked: boolean }, { readonly key: string }>(
    'test.mark',
    `with marked as (
       update server_state set value = 'marked' where key = :key::text and value <> 'marked' returning key
     )
     select true as marked from server_state where key = :key::text`,
    `select value = 'marked' as marked, value <> 'marked' as is_incomplete from server_state where key = :key::text`,
  );
  const keys = ['0', '1', '2', '2'];
  const tasks = await Promise.all(
    keys.map((key) => runTask(`GET-${key}`, () => testDatabase.database.first(mark, { key }))),
  );
  expect(tasks.map(({ queries }) => queries)).toEqual([1, 2, 2, 2]);
  expect(await Promise.all(keys.map((key) => readValue(key)))).toEqual(keys.map(() => 'marked'));
});

test('look-ups whose connection is lost are sent again', async () => {
  const first = testDatabase.database.first(readNumber, { text: '1', pause: 0 });
  const requested = ['3', '4', '5'].map((text) =>
    testDatabase.database.first(readNumber, { text, pause: PAUSE_SECONDS }),
  );
  await first;
  await expect.poll(() => testDatabase.database.execute(endOthers, {})).toBeGreaterThan(0);
  expect((await Promise.all(requested)).map((row) => row?.number)).toEqual([3, 4, 5]);
});

test('joined look-ups whose prepared statement is lost are prepared again', ON_BUSY_MACHINES, async () => {
  const single = await createTestDatabase({ log, maxConnections: 2 });
  try {
    const keys = ['0', '1', '2', '3', '4'];
    const readAll = () => Promise.all(keys.map((key) => single.database.first(read, { key, pause: 0 })));
    await readAll();
    const forget = statement<unknown, Record<string, never>>(
      'test.forget',
      `do $do$ begin
        execute 'deallocate ' || quote_ident((
          select name from pg_prepared_statements where statement like 'select%unnest%server_state%'
        ));
      end $do$`,
    );
    await single.database.execute(forget, {});
    expect(await sent('test.read', readAll)).toBe(keys.length);
    expect(await sent('test.read', readAll)).toBe(1);
  } finally {
    await single.drop();
  }
});

test('look-ups of requests whose time is over are not sent', ON_BUSY_MACHINES, async () => {
  const first = readValue('0', PAUSE_SECONDS);
  const isSent = sent('test.read.joined', async () => {
    const late = ['0', '1', '2'].map((key) =>
      runTask(`GET-late-${key}`, async () => {
        const response = readValue(key);
        const task = currentTask();
        if (task !== undefined) task.isOver = true;
        await response;
      }),
    );
    const outcomes = await Promise.allSettled(late);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });
  expect(await isSent).toBe(0);
  await first;
});

const put = joinableWrite<
  { readonly texts: readonly string[]; readonly at: number },
  {
    readonly key: string;
    readonly value: Buffer;
    readonly texts: readonly (string | null)[];
    readonly at: Date;
    readonly none: string | null;
    readonly pause: number;
  }
>(
  'test.append',
  { key: 'text', value: 'bytea', texts: 'text[]', at: 'timestamptz', none: 'text', pause: 'float8' },
  `stored as (
    insert into server_state (key, value) select key, value from asked, pg_sleep(pause) where none is null
    returning key
  )
  select asked.place, asked.texts, ${ms('asked.at')} as at from stored join asked on asked.key = stored.key`,
);

describe('inserts of one kind', () => {
  const values = {
    value: Buffer.from([0, 255]),
    texts: ['plain', 'with "quotes", {braces} and \\', '', 'NULL', null],
    at: new Date(1_700_000_000_123),
    none: null,
    pause: 0,
  };
  const putAll = (keys: readonly string[], more: Partial<typeof values> = {}) =>
    Promise.allSettled(keys.map((key) => testDatabase.database.first(put, { ...values, ...more, key })));
  const remove = statement<unknown, Record<string, never>>(
    'test.remove',
    `delete from server_state where key like 'put-%'`,
  );
  beforeEach(() => testDatabase.database.execute(remove, {}));

  test('leave together, and one that the server refuses fails alone', ON_BUSY_MACHINES, async () => {
    const keys = ['put-1', 'put-2', 'put-3', 'put-4', '0', 'put-5'];
    const row = { texts: values.texts, at: 1_700_000_000_123 };
    const responses = [row, row, row, row, undefined, row];
    let outcomes: Awaited<ReturnType<typeof putAll>> = [];
    const joined = await sent('test.append.joined', async () => {
      outcomes = await putAll(keys);
    });
    expect(joined).toBe(1);
    for (const [index, outcome] of outcomes.entries()) {
      const response = responses[index];
      if (response === undefined) expect(outcome).toMatchObject({ status: 'rejected', reason: { sqlState: '23505' } });
      else expect(outcome).toMatchObject({ status: 'fulfilled', value: response });
    }
    expect(await readValue('put-3')).toBe(values.value.toString());
  });

  test('whose connection is lost are not repeated', ON_BUSY_MACHINES, async () => {
    const requested = [putAll(['put-1', 'put-2']), putAll(['put-3', 'put-4', 'put-5'], { pause: 0.5 })] as const;
    await requested[0];
    await expect.poll(() => testDatabase.database.execute(endOthers, {})).toBeGreaterThan(0);
    for (const outcome of await requested[1]) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'temporarily_unavailable' } });
    }
    expect(await Promise.all(['put-3', 'put-4', 'put-5'].map((key) => readValue(key)))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

test.each([
  ['without a cast', 'select :key as key'],
  ['with two casts', 'select :key::text as key, :key::uuid as id'],
  ['as an array', 'select :key::text[] as key'],
])('a look-up takes no parameter %s', (_how, source) => {
  expect(() => lookup('test.wrong', source)).toThrow('look-up test.wrong has to cast :key to one type');
});
