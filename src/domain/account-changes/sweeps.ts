import { deleteOldestSql, type Sweep, secondsBefore, sweepAll } from '#domain/clean-up/sweep.ts';
import { statement } from '#platform/postgres/statement.ts';

/** Also deletes their tickets. */
const sweepSessions = statement<never, { readonly createdBefore: Date }>(
  'sweep-user-recovery-sessions',
  deleteOldestSql('user_recovery_sessions', 'id', 'created_at', 't.created_at < :createdBefore::timestamptz'),
);

export const recoverySweeps: readonly Sweep[] = [
  {
    name: 'cleanup-user-recovery-sessions',
    minute: 50,
    sweep: (database, now, { pendingFlowsSeconds }) =>
      sweepAll(database, sweepSessions, { createdBefore: secondsBefore(now, pendingFlowsSeconds) }),
  },
];
