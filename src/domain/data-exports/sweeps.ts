import { deleteOldestSql, type Sweep, sweepAll } from '#domain/clean-up/sweep.ts';
import { dataExportIsExpired } from '#domain/records/liveness/data-exports.ts';
import { statement } from '#platform/postgres/statement.ts';

const sweepExpired = statement<never, { readonly now: Date }>(
  'sweep-data-exports',
  deleteOldestSql('data_exports', 'id', 'expires_at', dataExportIsExpired('t', ':now::timestamptz')),
);

export const dataExportSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-data-exports',
    minute: 58,
    sweep: (database, now) => sweepAll(database, sweepExpired, { now: new Date(now) }),
  },
];
