import { deleteOldestSql, type Sweep, secondsBefore, sweepAll } from '#domain/clean-up/sweep.ts';
import { statement } from '#platform/postgres/statement.ts';

/** The alarm looks back that far. */
const KEPT_SECONDS = 24 * 3600;

const sweepLoginFailures = statement<never, { readonly failedBefore: Date }>(
  'sweep-login-failures',
  deleteOldestSql('login_failures', 'key', 'last_failed_at', 't.last_failed_at < :failedBefore::timestamptz'),
);

export const loginFailureSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-login-failures',
    minute: 54,
    sweep: (database, now) =>
      sweepAll(database, sweepLoginFailures, { failedBefore: secondsBefore(now, KEPT_SECONDS) }),
  },
];
