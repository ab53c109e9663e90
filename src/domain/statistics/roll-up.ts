/** The job that adds up events and counts to figures by hour and day (administration A-23). */
import type { Clock } from '#platform/base/clock.ts';
import { lowestIdAt, toUuid } from '#platform/base/ids.ts';
import { DONE, type JobQueue } from '#platform/jobs/queue.ts';
import type { Database, Transaction } from '#platform/postgres/database.ts';
import { ms, type NoParameters, statement } from '#platform/postgres/statement.ts';
import { dayOf } from './active-days.ts';
import { HOUR_MS, NO_CLIENT } from './counters.ts';

export interface RollUpDeps {
  /** Pool that requests do not wait for. */
  readonly database: Database;
  readonly clock: Clock;
  /** How long audit events are kept. Hours whose events may be deleted are not added up again. */
  readonly auditEventsSeconds: number;
}

const DAY_MS = 24 * HOUR_MS;
/** The current hour changes until it is over. The figures are at most this old. */
const EVERY_MINUTES = 10;
const TIME_LIMIT_SECONDS = 600;
/** Makes way for other jobs, and continues where it stopped. */
const MAX_RUN_MS = 9 * 60_000;
/** Hours that one transaction adds up. */
const MAX_HOURS = 48;
/**
 * Hours before the last complete one that are added up again: events are committed late, an event of failed sign-ins
 * counts for an hour, and counts wait in memory for a minute, or longer while the database is unreachable.
 */
const REPEATED_HOURS = 3;
/** Days whose active accounts are counted again. The table keeps 30 days more. */
const COUNTED_DAYS = 8;

export function rollUpQueue(deps: RollUpDeps): JobQueue {
  return {
    name: 'roll-up-statistics',
    minuteOfHour: 7,
    everyMinutes: EVERY_MINUTES,
    timeLimitSeconds: TIME_LIMIT_SECONDS,
    run: async ({ signal }) => {
      const startedAt = deps.clock.now();
      while (!(await rollUp(deps))) {
        if (signal.aborted || deps.clock.now() - startedAt > MAX_RUN_MS) return { kind: 'unfinished', payload: {} };
      }
      return DONE;
    },
  };
}

/**
 * Adds up the hours since the last run, in one transaction. The sums replace earlier ones, so nothing changes if it
 * runs twice. A lock makes concurrent runs wait for each other.
 * @returns whether the figures are up to date
 */
export async function rollUp({ database, clock, auditEventsSeconds }: RollUpDeps): Promise<boolean> {
  const now = clock.now();
  return await database.transaction(async (transaction) => {
    const done = await lockProgress(transaction, now);
    const kept = hourOf(now - auditEventsSeconds * 1000) + HOUR_MS;
    const from = Math.max(startOf(done, now), Math.min(kept, hourOf(now)));
    const to = Math.min(from + MAX_HOURS * HOUR_MS, hourOf(now) + HOUR_MS);
    await transaction.execute(rollUpHours, {
      from: new Date(from),
      to: new Date(to),
      fromId: toUuid(lowestIdAt(from)),
      toId: toUuid(lowestIdAt(to)),
    });
    const days = daysBetween(from, to);
    await transaction.execute(rollUpDays, {
      from: new Date(dayStartOf(from)),
      to: new Date(dayStartOf(to - 1) + DAY_MS),
    });
    await transaction.execute(countActiveUsers, {
      days: days.filter((day) => day >= now - COUNTED_DAYS * DAY_MS).map(dayOf),
    });
    await transaction.execute(storeProgress, { upTo: new Date(Math.max(done, Math.min(to, hourOf(now)))) });
    return to > now;
  });
}

/** Returns the hour up to which figures are complete: at first, that of the oldest event. */
async function lockProgress(transaction: Transaction, now: number): Promise<number> {
  const known = await transaction.first(lockRow, {});
  if (known !== undefined) return known.rolled_up_to;
  const oldest = await transaction.first(oldestEvent, {});
  await transaction.execute(insertProgress, { upTo: new Date(hourOf(oldest?.created_at ?? now)) });
  return (await transaction.first(lockRow, {}))?.rolled_up_to ?? hourOf(now);
}

/** The sum of a day needs all of its hours. Those of single clients are deleted after some days. */
function startOf(done: number, now: number): number {
  const from = Math.min(done, hourOf(now)) - REPEATED_HOURS * HOUR_MS;
  return done < now - DAY_MS ? dayStartOf(from) : from;
}

function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
}

function dayStartOf(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS;
}

function daysBetween(from: number, to: number): number[] {
  const first = dayStartOf(from);
  return Array.from({ length: Math.ceil((to - first) / DAY_MS) }, (_, index) => first + index * DAY_MS);
}

const lockRow = statement<{ rolled_up_to: number }, NoParameters>(
  'lock-statistics-progress',
  `select ${ms('p.rolled_up_to')} as rolled_up_to from statistics_progress p where p.name = 'buckets' for update`,
);

const oldestEvent = statement<{ created_at: number }, NoParameters>(
  'oldest-audit-event',
  `select ${ms('e.created_at')} as created_at from audit_events e order by e.id limit 1`,
);

const insertProgress = statement<never, { readonly upTo: Date }>(
  'insert-statistics-progress',
  `insert into statistics_progress (name, rolled_up_to) values ('buckets', :upTo::timestamptz)
   on conflict (name) do nothing`,
);

const storeProgress = statement<never, { readonly upTo: Date }>(
  'store-statistics-progress',
  `update statistics_progress set rolled_up_to = :upTo::timestamptz where name = 'buckets'`,
);

/**
 * Sessions that a client opens with a token of another one, and those that administrators open, are not sign-ins of a
 * user. An event of failed sign-ins may count several.
 */
const rollUpHours = statement<
  never,
  { readonly from: Date; readonly to: Date; readonly fromId: string; readonly toId: string }
>(
  'roll-up-statistics-hours',
  `with events as materialized (
    select date_trunc('hour', e.created_at, 'UTC') as hour, e.kind, e.client_id,
           case when e.kind = 'login_failed' then coalesce((e.detail ->> 'count')::bigint, 1) else 1 end as number,
           e.detail ->> 'second_factor' is not null or e.detail ->> 'method' = 'passkey' as is_strong,
           e.detail ->> 'actor' is null and e.detail ->> 'by' is null as is_of_user
      from audit_events e
     where e.id >= :fromId::uuid and e.id < :toId::uuid
       and e.kind in ('login', 'login_failed', 'registered', 'session_started')
  ), counters as materialized (
    select c.hour, c.name, c.client_id, c.value from statistics_counters c
     where c.hour >= :from::timestamptz and c.hour < :to::timestamptz
  ), counted as (
    select 'sign_ins' as metric, '${NO_CLIENT}'::uuid as client_id, hour, number as value from events where kind = 'login'
    union all
    select 'sign_ins', client_id, hour, number from events
     where kind = 'session_started' and client_id is not null and is_of_user
    union all
    select 'sign_ins_with_second_factor', '${NO_CLIENT}'::uuid, hour, number from events where kind = 'login' and is_strong
    union all
    select 'registrations', '${NO_CLIENT}'::uuid, hour, number from events where kind = 'registered'
    union all
    select 'sign_in_failures', '${NO_CLIENT}'::uuid, hour, number from events where kind = 'login_failed'
    union all
    select 'sign_in_failures', '${NO_CLIENT}'::uuid, hour, value from counters where name = 'unknown_account_failures'
    union all
    select 'tokens_issued', '${NO_CLIENT}'::uuid, hour, value from counters where name = 'tokens_issued'
    union all
    select 'tokens_issued', client_id, hour, value from counters
     where name = 'tokens_issued' and client_id <> '${NO_CLIENT}'::uuid
  ), summed as materialized (
    select metric, client_id, hour, sum(value)::bigint as value from counted group by metric, client_id, hour
  ), written as (
    insert into statistics_buckets as b (metric, step, client_id, started_at, value)
    select s.metric, 'hour', s.client_id, s.hour, s.value from summed s
    on conflict (metric, step, client_id, started_at) do update set value = excluded.value
      where b.value <> excluded.value
  )
  delete from statistics_buckets b
   where b.step = 'hour' and b.started_at >= :from::timestamptz and b.started_at < :to::timestamptz
     and not exists (select from summed s
                      where s.metric = b.metric and s.client_id = b.client_id and s.hour = b.started_at)`,
);

const rollUpDays = statement<never, { readonly from: Date; readonly to: Date }>(
  'roll-up-statistics-days',
  `with summed as materialized (
    select h.metric, h.client_id, date_trunc('day', h.started_at, 'UTC') as day, sum(h.value)::bigint as value
      from statistics_buckets h
     where h.step = 'hour' and h.started_at >= :from::timestamptz and h.started_at < :to::timestamptz
     group by 1, 2, 3
  ), written as (
    insert into statistics_buckets as b (metric, step, client_id, started_at, value)
    select s.metric, 'day', s.client_id, s.day, s.value from summed s
    on conflict (metric, step, client_id, started_at) do update set value = excluded.value
      where b.value <> excluded.value
  )
  delete from statistics_buckets b
   where b.step = 'day' and b.started_at >= :from::timestamptz and b.started_at < :to::timestamptz
     and b.metric not like 'active\\_users%'
     and not exists (select from summed s
                      where s.metric = b.metric and s.client_id = b.client_id and s.day = b.started_at)`,
);

/** Accounts active on a day, and within the 7 and 30 days that end with it. */
const countActiveUsers = statement<never, { readonly days: readonly string[] }>(
  'count-active-users',
  `with counted as materialized (
    select d.day, count(*) filter (where seen.last_day = d.day) as one,
           count(*) filter (where seen.last_day > d.day - 7) as seven, count(*) as thirty
      from unnest(:days::date[]) as d (day)
     cross join lateral (select a.user_id, max(a.day) as last_day from user_active_days a
                          where a.day > d.day - 30 and a.day <= d.day group by a.user_id) seen
     group by d.day
  )
  insert into statistics_buckets as b (metric, step, client_id, started_at, value)
  select figure.metric, 'day', '${NO_CLIENT}'::uuid, c.day::timestamp at time zone 'UTC', figure.value
    from counted c
   cross join lateral (values ('active_users', c.one), ('active_users_7d', c.seven), ('active_users_30d', c.thirty))
     as figure (metric, value)
   where figure.value > 0
  on conflict (metric, step, client_id, started_at) do update set value = excluded.value
    where b.value <> excluded.value`,
);
