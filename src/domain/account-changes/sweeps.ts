import { deleteOldest, type SweepRow, secondsBefore } from '#domain/clean-up/sweep.ts';

export const recoverySweeps: readonly SweepRow[] = [
  {
    // Also deletes their tickets.
    name: 'cleanup-user-recovery-sessions',
    minute: 50,
    batch: deleteOldest('sweep-user-recovery-sessions', {
      table: 'user_recovery_sessions',
      orderedBy: 'created_at',
      isDue: 't.created_at < :createdBefore::timestamptz',
    }),
    parameters: (now, { pendingFlowsSeconds }) => ({ createdBefore: secondsBefore(now, pendingFlowsSeconds) }),
  },
];
