import { statement } from '#db/statement.ts';
import { deleteOldestSql, type Sweep, secondsBefore, sweepAll } from '#jobs/sweep.ts';

const sweepAuditEvents = statement<never, { readonly createdBefore: Date }>(
  'sweep-audit-events',
  deleteOldestSql('audit_events', 'id', 'created_at', 't.created_at < :createdBefore::timestamptz'),
);

export const auditEventSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-audit-events',
    minute: 57,
    sweep: (database, now, { activitySeconds }) =>
      sweepAll(database, sweepAuditEvents, { createdBefore: secondsBefore(now, activitySeconds) }),
  },
];
