import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { runTask } from '#test/support/run-task.ts';
import { GuardRefused, StatementError } from './failures.ts';
import { type NoParameters, statement } from './statement.ts';

type Key = { readonly key: string };

const guard = statement<never, Key>('guarded.guard', `insert into server_state (key, value) values (:key::text, 'g')`);
const write = statement<never, Key>('guarded.write', `insert into server_state (key, value) values (:key::text, 'w')`);
const read = statement<{ one: number }, NoParameters>('guarded.read', 'select 1 as one');
const divide = statement<never, NoParameters>('guarded.divide', 'select 1 / (select 0)');
const failOnce = statement<{ failed: boolean }, NoParameters>('guarded.fail-once', 'select fail_once() as failed');

describe.each(['none', 'transaction'] as const)('statements with a guard (pooler: %s)', (pooler) => {
  let server: TestDatabase;
  beforeAll(async () => {
    server = await createTestDatabase({ pooler });
    await sql(server.database, 'create sequence failures');
    await sql(
      server.database,
      `create function fail_once() returns boolean language plpgsql as $$
       begin
         if nextval('failures') = 1 then raise exception using errcode = '40001'; end if;
         return true;
       end $$`,
    );
  });
  afterAll(async () => await server.drop());

  const guarded = (key: string) => server.database.guardedBy(guard, { key }, 'server_state_pkey');
  async function stored(prefix: string): Promise<string[]> {
    const rows = await sql<{ key: string }>(server.database, 'select key from server_state');
    return rows.map(({ key }) => key).filter((key) => key.startsWith(prefix));
  }

  test('are sent with it in one round trip, once', async () => {
    const { queries } = await runTask('POST-1', async () => {
      const database = guarded('one guard');
      expect(await database.first(read, {})).toEqual({ one: 1 });
      expect(database.isSettled).toBe(true);
      expect(await database.execute(write, { key: 'one write' })).toBe(1);
      await database.settle();
    });
    expect(queries).toBe(2);
    expect((await stored('one')).toSorted()).toEqual(['one guard', 'one write']);
  });

  test('do nothing when the guard rejects, on any connection', async () => {
    await guarded('two guard').settle();
    for (const round of [1, 2, 3]) {
      const database = guarded('two guard');
      const refused = database.execute(write, { key: `two write ${round}` });
      await expect(refused).rejects.toBeInstanceOf(GuardRefused);
      expect(database.isSettled).toBe(false);
      await expect(database.settle()).rejects.toBeInstanceOf(GuardRefused);
      await expect(database.transaction(async () => expect.fail('ran'))).rejects.toBeInstanceOf(GuardRefused);
    }
    expect(await stored('two')).toEqual(['two guard']);
    expect(await server.database.execute(write, { key: 'two write' })).toBe(1);
  });

  test('that are rejected themselves leave the guard for the next statement', async () => {
    const database = guarded('three guard');
    await expect(database.rows(divide, {})).rejects.toBeInstanceOf(StatementError);
    expect(await stored('three')).toEqual([]);
    await database.settle();
    expect(await stored('three')).toEqual(['three guard']);
  });

  test('that conflict with other transactions are repeated together with it', async () => {
    await sql(server.database, 'alter sequence failures restart');
    const database = guarded('four guard');
    expect(await database.first(failOnce, {})).toEqual({ failed: true });
    expect(await stored('four')).toEqual(['four guard']);
  });

  test('sent concurrently wait for the first statement', async () => {
    await guarded('five guard').settle();
    const database = guarded('five guard');
    const all = await Promise.allSettled(
      [1, 2, 3].map((round) => database.execute(write, { key: `five write ${round}` })),
    );
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await stored('five')).toEqual(['five guard']);
  });

  test('in a transaction wait for it', async () => {
    const database = guarded('six guard');
    await database.transaction(async (transaction) => {
      expect(await stored('six')).toEqual(['six guard']);
      await transaction.execute(write, { key: 'six write' });
    });
    expect(await stored('six')).toHaveLength(2);
  });
});
