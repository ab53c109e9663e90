import { deleteOldest, type SweepRow } from '#domain/clean-up/sweep.ts';
import { dataExportIsExpired } from '#domain/records/liveness/data-exports.ts';

export const dataExportSweeps: readonly SweepRow[] = [
  {
    name: 'cleanup-data-exports',
    minute: 58,
    batch: deleteOldest('sweep-data-exports', {
      table: 'data_exports',
      orderedBy: 'expires_at',
      isDue: dataExportIsExpired('t', ':now::timestamptz'),
    }),
    parameters: (now) => ({ now: new Date(now) }),
  },
];
