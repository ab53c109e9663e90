import { deleteOldestSql, type Sweep, secondsBefore, sweepAll } from '#domain/clean-up/sweep.ts';
import { statement } from '#platform/postgres/statement.ts';

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
