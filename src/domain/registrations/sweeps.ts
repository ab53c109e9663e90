import { statement } from '#db/statement.ts';
import { type Sweep, secondsBefore, sweepSome, type WalkRow, walkSql } from '#jobs/sweep.ts';

/** Longer than `account.registration_ttl` can be. */
const OPEN_SECONDS = 24 * 3600;

const sweepRegistrations = statement<
  WalkRow,
  [fromAt: string, fromId: string, openBefore: Date, completedBefore: Date]
>(
  'sweep-user-registrations',
  walkSql({
    table: 'user_registrations',
    range: '(t.created_at, t.id) > ($1::timestamptz, $2::uuid) and t.created_at < $3::timestamptz',
    orderedBy: 'created_at',
    isDue: '(t.completed_at is null or t.created_at < $4::timestamptz)',
    action: 'delete from user_registrations t',
  }),
);

export const registrationSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-user-registrations',
    minute: 45,
    sweep: (database, now, { registrationsSeconds }, from) =>
      sweepSome(database, sweepRegistrations, [
        from.at,
        from.id,
        secondsBefore(now, OPEN_SECONDS),
        secondsBefore(now, registrationsSeconds),
      ]),
  },
];
