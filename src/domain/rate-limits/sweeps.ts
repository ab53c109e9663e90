import { deleteOldestSql, type Sweep, sweepAll } from '#domain/clean-up/sweep.ts';
import { statement } from '#platform/postgres/statement.ts';

// A bucket whose time has passed is full, as one without a row is.
const sweepFullBuckets = statement<never, { readonly now: Date }>(
  'sweep-rate-limits',
  deleteOldestSql('rate_limits', 'key', 'tat', 't.tat < :now::timestamptz'),
);

export const rateLimitSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-rate-limits',
    minute: 56,
    sweep: (database, now) => sweepAll(database, sweepFullBuckets, { now: new Date(now) }),
  },
];
