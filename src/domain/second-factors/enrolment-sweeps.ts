import { deleteOldestSql, type Sweep, sweepAll } from '#domain/clean-up/sweep.ts';
import { enrolmentIsExpired } from '#domain/records/liveness/one-time-codes.ts';
import { statement } from '#platform/postgres/statement.ts';

const sweepEnrolments = statement<never, { readonly now: Date }>(
  'sweep-totp-enrolments',
  deleteOldestSql('user_totp_enrolments', 'id', 'created_at', enrolmentIsExpired('t', ':now::timestamptz')),
);

export const oneTimeCodeSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-user-totp-enrolments',
    minute: 23,
    sweep: (database, now) => sweepAll(database, sweepEnrolments, { now: new Date(now) }),
  },
];
