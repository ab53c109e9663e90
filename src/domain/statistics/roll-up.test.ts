import { beforeEach, describe, expect, test } from 'vitest';
import { newId, toUuid } from '#platform/base/ids.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { insertUser, sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { Counters, HOUR_MS, NO_CLIENT } from './counters.ts';
import type { Step } from './metrics.ts';
import { readSeries, wholeSteps } from './read-series.ts';
import { type RollUpDeps, rollUp, rollUpQueue } from './roll-up.ts';

const DAY_MS = 24 * HOUR_MS;
/** Within the hour in which clocks in Europe change, which UTC has not. */
const NOW = Date.UTC(2026, 9, 25, 1, 30);
const ACTIVITIES = 100_000;
const DAYS = 40;
let clock: FakeClock;
let deps: RollUpDeps;

const testDatabase = await sharedByTests(createTestDatabase());

beforeEach(async () => {
  await sql(
    testDatabase.database,
    `truncate users, audit_events, statistics_buckets, statistics_counters, statistics_progress cascade`,
  );
  clock = new FakeClock(NOW);
  deps = { database: testDatabase.database, clock, auditEventsSeconds: 365 * 86_400 };
});

async function rollUpAll(): Promise<void> {
  while (!(await rollUp(deps)));
}

/**
 * Activities of all kinds at times that cross hours, days and months. The first milliseconds of a day and the last ones
 * are among them. Every number is a function of the row's number, so that runs are equal.
 */
async function insertActivities(count = ACTIVITIES): Promise<void> {
  await sql(
    testDatabase.database,
    `with made as (
       select g, to_timestamp((case when g % 50 = 0 then $2::bigint - (g / 50 % $3::integer) * 86400000::bigint - (g % 3)
                                    else $1::bigint - (g::bigint * 7919333 % ($3::integer * 86400000::bigint)) end)::numeric / 1000) as at
         from generate_series(1, $4::integer) g
     )
     insert into audit_events (id, kind, user_id, client_id, detail, created_at)
     select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || substr(md5(g::text), 13))::uuid,
            (array['login', 'login_failed', 'registered', 'session_started', 'session_ended', 'admin_action', 'login'])[g % 7 + 1],
            case when g % 5 > 0 then md5('user' || g % 100)::uuid end,
            case when g % 7 = 3 and g % 11 > 0 then md5('client' || g % 13)::uuid end,
            case when g % 7 = 1 and g % 4 = 0 then jsonb_build_object('count', g % 9 + 1)
                 when g % 7 = 3 and g % 6 = 0 then '{"actor": "admin"}'
                 when g % 7 = 3 and g % 6 = 1 then '{"by": "token_exchange"}'
                 when g % 7 in (0, 6) and g % 3 = 0 then '{"method": "passkey"}'
                 when g % 7 in (0, 6) and g % 3 = 1 then '{"method": "password", "second_factor": "totp"}' end,
            at
       from made`,
    [NOW, Math.floor(NOW / DAY_MS) * DAY_MS, DAYS, count],
  );
  const counters = new Counters();
  for (let index = 0; index < 5_000; index += 1) {
    const at = NOW - ((index * 7_919_333) % (2 * DAY_MS));
    counters.count('unknown_account_failures', undefined, at);
    counters.count('tokens_issued', index % 4 === 0 ? undefined : CLIENTS[index % 3], at);
  }
  await counters.flush(testDatabase.database);
}

const CLIENTS = Array.from({ length: 3 }, () => newId<'client'>(0));

interface Figure {
  readonly metric: string;
  readonly step: string;
  readonly client: string;
  readonly at: string;
  readonly value: string;
}

async function figures(): Promise<Figure[]> {
  return await sql<Figure>(
    testDatabase.database,
    `select metric, step, client_id::text as client, started_at::text as at, value::text as value
       from statistics_buckets where metric not like 'active%' order by 1, 2, 3, started_at`,
  );
}

/** Counts each figure on its own, as somebody would who does not know the job. */
async function expectedFigures(): Promise<Figure[]> {
  const all = `'${NO_CLIENT}'`;
  const sources = [
    ['sign_ins', all, `audit_events`, `kind = 'login'`, '1'],
    [
      'sign_ins',
      'client_id::text',
      'audit_events',
      `kind = 'session_started' and client_id is not null and (detail is null or not detail ?| array['actor', 'by'])`,
      '1',
    ],
    [
      'sign_ins_with_second_factor',
      all,
      'audit_events',
      `kind = 'login' and (detail ? 'second_factor' or detail ->> 'method' = 'passkey')`,
      '1',
    ],
    ['registrations', all, 'audit_events', `kind = 'registered'`, '1'],
    ['sign_in_failures', all, 'audit_events', `kind = 'login_failed'`, `coalesce((detail ->> 'count')::integer, 1)`],
    ['sign_in_failures', all, 'counted', `name = 'unknown_account_failures'`, 'value'],
    ['tokens_issued', all, 'counted', `name = 'tokens_issued'`, 'value'],
    ['tokens_issued', 'client_id::text', 'counted', `name = 'tokens_issued' and client_id::text <> ${all}`, 'value'],
  ] as const;
  const each = sources.flatMap(([metric, client, table, condition, value]) =>
    ['hour', 'day'].map(
      (step) => `select '${metric}' as metric, '${step}' as step, ${client} as client,
        date_trunc('${step}', created_at at time zone 'UTC') at time zone 'UTC' as at, ${value} as value
        from ${table} where ${condition}`,
    ),
  );
  return await sql<Figure>(
    testDatabase.database,
    `with counted as (select hour as created_at, name, client_id, value from statistics_counters)
     select metric, step, client, at::text as at, sum(value)::text as value from (${each.join(' union all ')}) all_of_them
      group by metric, step, client, all_of_them.at order by 1, 2, 3, all_of_them.at`,
  );
}

describe('figures of 100,000 activities', () => {
  test('are exact, also if the job is killed, runs twice, and runs on two instances at once', async () => {
    await insertActivities();
    const failing = killedAfter(deps.database, 7);
    let runs = 0;
    for (let isDone = false; !isDone; ) {
      runs += 1;
      const killed = rollUp({ ...deps, database: failing.database() }).catch(() => undefined);
      const [, done] = await Promise.all([killed, rollUp(deps)]);
      isDone = done;
    }
    expect(runs).toBeGreaterThan(10);
    expect(failing.kills).toBeGreaterThan(3);
    const exact = await expectedFigures();
    expect(exact.length).toBeGreaterThan(5_000);
    expect(await figures()).toEqual(exact);
    await rollUpAll();
    expect(await figures()).toEqual(exact);
  }, 120_000);
});

/** A database whose transactions fail at a statement that is another one each time. */
function killedAfter(database: RollUpDeps['database'], statements: number) {
  const state = { kills: 0, starts: 0 };
  return {
    get kills() {
      return state.kills;
    },
    database: (): RollUpDeps['database'] => ({
      ...bound(database),
      transaction: async (work) =>
        await database.transaction(async (transaction) => {
          state.starts += 1;
          let left = state.starts % statements;
          const failAtLast = (): void => {
            left -= 1;
            if (left >= 0) return;
            state.kills += 1;
            throw new Error('killed');
          };
          return await work({
            ...bound(transaction),
            isTransaction: true,
            execute: async (statement, parameters) => {
              failAtLast();
              return await transaction.execute(statement, parameters);
            },
          });
        }),
    }),
  };
}

function bound(target: Pick<RollUpDeps['database'], 'rows' | 'first' | 'execute'>) {
  return {
    isTransaction: false as const,
    rows: target.rows.bind(target),
    first: target.first.bind(target),
    execute: target.execute.bind(target),
  };
}

describe('the job', () => {
  test('follows the current hour, later counts of an event, and events that were committed late', async () => {
    await insertActivities(2_000);
    await rollUpAll();
    await sql(
      testDatabase.database,
      `update audit_events set detail = '{"count": 12}'
        where id = (select id from audit_events where kind = 'login_failed' order by id desc limit 1)`,
    );
    const late = newId(NOW - 2 * HOUR_MS);
    await sql(
      testDatabase.database,
      `insert into audit_events (id, kind, created_at) values ($1::uuid, 'login', $2::timestamptz)`,
      [toUuid(late), new Date(NOW - 2 * HOUR_MS)],
    );
    await rollUpAll();
    expect(await figures()).toEqual(await expectedFigures());
  });

  test('adds up whole days after a pause, although hours of clients are deleted', async () => {
    await insertActivities(20_000);
    clock.advanceSeconds(-3 * 86_400);
    await rollUpAll();
    const client = `step = 'hour' and client_id <> '${NO_CLIENT}'`;
    await sql(testDatabase.database, `delete from statistics_buckets where ${client}`);
    clock.advanceSeconds(3 * 86_400);
    await rollUpAll();
    const ofDays = ({ step }: Figure): boolean => step === 'day';
    expect((await figures()).filter(ofDays)).toEqual((await expectedFigures()).filter(ofDays));
  });

  test('does not add up hours again whose events may be deleted', async () => {
    await insertActivities(2_000);
    await rollUpAll();
    const before = await figures();
    await sql(testDatabase.database, 'truncate audit_events');
    clock.advanceSeconds(10 * 86_400);
    deps = { ...deps, auditEventsSeconds: 5 * 86_400 };
    await rollUpAll();
    expect(await figures()).toEqual(before);
  });

  test('runs several times an hour, and stops when it is told to', async () => {
    await insertActivities(100);
    const queue = rollUpQueue(deps);
    const job = { id: 'roll-up', payload: {}, attempt: 1 };
    expect(queue).toMatchObject({ minuteOfHour: 7, everyMinutes: 10 });
    expect(await queue.run({ ...job, signal: AbortSignal.abort() })).toEqual({ kind: 'unfinished', payload: {} });
    expect(await queue.run({ ...job, signal: new AbortController().signal })).toEqual({ kind: 'done' });
  });
});

describe('series', () => {
  async function series(metric: Parameters<typeof readSeries>[1]['metric'], step: Step, days: number) {
    const span = wholeSteps(step, NOW - days * DAY_MS, NOW);
    return await readSeries(testDatabase.database, { metric, step, client: undefined, ...span });
  }

  test('have a point for every step, and count active accounts once in 1, 7 and 30 days', async () => {
    const [first, second, third] = await Promise.all(
      Array.from({ length: 3 }, () => insertUser(testDatabase.database, NOW)),
    );
    const uses = [
      [first, 0],
      [first, 1],
      [second, 6],
      [second, 7],
      [third, 29],
      [third, 30],
    ] as const;
    for (const [user, ago] of uses) {
      await sql(
        testDatabase.database,
        `insert into user_active_days (day, user_id) values (($1::timestamptz at time zone 'UTC')::date - $2::integer, $3::uuid)`,
        [new Date(NOW), ago, user === undefined ? null : toUuid(user)],
      );
    }
    await rollUpAll();
    const values = async (metric: Parameters<typeof readSeries>[1]['metric']) =>
      (await series(metric, 'day', 1)).map(({ value }) => value);
    expect(await values('active_users')).toEqual([1, 1]);
    expect(await values('active_users_7d')).toEqual([2, 2]);
    expect(await values('active_users_30d')).toEqual([3, 3]);
    expect(await values('sign_ins')).toEqual([0, 0]);
    expect(await values('second_factor_share')).toEqual([undefined, undefined]);
    expect(await series('sign_ins', 'hour', 1)).toHaveLength(25);
  });

  test('of the second factor are shares', async () => {
    await insertActivities(20_000);
    await rollUpAll();
    const [signIns, strong] = [await series('sign_ins', 'day', 5), await series('second_factor_share', 'day', 5)];
    expect(signIns).toHaveLength(6);
    for (const { value } of strong) expect(value).toBeCloseTo(2 / 3, 0);
    expect(strong.every(({ value = -1 }) => value > 0 && value < 1)).toBe(true);
  });
});
