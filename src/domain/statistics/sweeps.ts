import { deleteOldest, type SweepRow, secondsBefore } from '#domain/clean-up/sweep.ts';
import { NO_CLIENT } from './counters.ts';

const DAY_SECONDS = 86_400;
/** 13 months. */
const BUCKETS_SECONDS = 396 * DAY_SECONDS;
/** Then their day has been added up, and is not added up again. */
const CLIENT_HOURS_SECONDS = 3 * DAY_SECONDS;
const COUNTERS_SECONDS = 3 * DAY_SECONDS;
/** Figures look back 30 days, and days are counted again for some days. */
const ACTIVE_DAYS_SECONDS = 40 * DAY_SECONDS;

/** Rows are identified by `ctid`, because the primary keys have several columns. */
export const statisticsSweeps: readonly SweepRow[] = [
  {
    name: 'cleanup-statistics-buckets',
    minute: 35,
    batch: deleteOldest('sweep-statistics-buckets', {
      table: 'statistics_buckets',
      key: 'ctid',
      orderedBy: 'started_at',
      isDue: 't.started_at < :before::timestamptz',
    }),
    parameters: (now) => ({ before: secondsBefore(now, BUCKETS_SECONDS) }),
  },
  {
    name: 'cleanup-statistics-client-hours',
    minute: 36,
    batch: deleteOldest('sweep-statistics-client-hours', {
      table: 'statistics_buckets',
      key: 'ctid',
      orderedBy: 'started_at',
      isDue: `t.step = 'hour' and t.client_id <> '${NO_CLIENT}'
        and t.started_at < :before::timestamptz`,
    }),
    parameters: (now) => ({ before: secondsBefore(now, CLIENT_HOURS_SECONDS) }),
  },
  {
    name: 'cleanup-statistics-counters',
    minute: 37,
    batch: deleteOldest('sweep-statistics-counters', {
      table: 'statistics_counters',
      key: 'ctid',
      orderedBy: 'hour',
      // Counts that are not added up yet stay, however old they are.
      isDue: `t.hour < :before::timestamptz
        and t.hour < (select p.rolled_up_to from statistics_progress p where p.name = 'buckets') - interval '3 days'`,
    }),
    parameters: (now) => ({ before: secondsBefore(now, COUNTERS_SECONDS) }),
  },
  {
    name: 'cleanup-user-active-days',
    minute: 38,
    batch: deleteOldest('sweep-user-active-days', {
      table: 'user_active_days',
      key: 'ctid',
      orderedBy: 'day',
      isDue: 't.day < :before::timestamptz::date',
    }),
    parameters: (now) => ({ before: secondsBefore(now, ACTIVE_DAYS_SECONDS) }),
  },
];
