import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import { NO_CLIENT } from './counters.ts';

export interface Figures {
  /** Accounts active on the day, and within the 7 and 30 days that end with it. */
  readonly today: number;
  readonly week: number;
  readonly month: number;
  /** Until when figures are complete, in milliseconds since the epoch; undefined: the job has not run yet. */
  readonly until: number | undefined;
}

const findFigures = statement<
  { today: number; week: number; month: number; until: number | null },
  { readonly day: Date }
>(
  'statistics-of-day',
  `select coalesce(max(b.value) filter (where b.metric = 'active_users'), 0)::float8 as today,
          coalesce(max(b.value) filter (where b.metric = 'active_users_7d'), 0)::float8 as week,
          coalesce(max(b.value) filter (where b.metric = 'active_users_30d'), 0)::float8 as month,
          (select ${ms('p.rolled_up_to')} from statistics_progress p where p.name = 'buckets') as until
     from statistics_buckets b
    where b.metric in ('active_users', 'active_users_7d', 'active_users_30d') and b.step = 'day'
      and b.client_id = '${NO_CLIENT}'::uuid and b.started_at = :day::timestamptz`,
);

/** Reads how many accounts were active on a day and before. @param day its start, in milliseconds since the epoch */
export async function readFigures(queryable: Queryable, day: number): Promise<Figures> {
  const row = await queryable.first(findFigures, { day: new Date(day) });
  return { today: row?.today ?? 0, week: row?.week ?? 0, month: row?.month ?? 0, until: row?.until ?? undefined };
}
