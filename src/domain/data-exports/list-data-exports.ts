/**
 * Exports of account data, table `data_exports`. The user requests one, a job creates it, and it is deleted after a few
 * days. The archive is stored in the row, so that every process can serve it.
 */

import { type DataExportState, dataExportState } from '#domain/records/liveness/data-exports.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { ownedList } from '#platform/postgres/owned-list.ts';
import { ms } from '#platform/postgres/statement.ts';
import type { DataExportId } from '#vocabulary/ids.ts';

/** An export as shown to its user. Times in milliseconds since the epoch. */
export interface DataExport {
  readonly id: DataExportId;
  readonly createdAt: number;
  readonly state: DataExportState;
  /** Undefined if no archive has been made. */
  readonly expiresAt: number | undefined;
  readonly sizeBytes: number | undefined;
}

interface ExportRow {
  readonly id: string;
  readonly created_at: number;
  readonly state: DataExportState;
  readonly expires_at: number | null;
  readonly size_bytes: number | null;
}

interface NowParam {
  readonly now: Date;
}

const COLUMNS = {
  id: 'd.id',
  created_at: ms('d.created_at'),
  state: dataExportState('d', ':now::timestamptz'),
  expires_at: `case when d.ready_at is not null then ${ms('d.expires_at')} end`,
  size_bytes: 'd.size_bytes',
};

/** Uses index `data_exports_user`. */
export const dataExports = ownedList<ExportRow, DataExport, NowParam>({
  labels: { list: 'data-exports-of-users', find: 'find-data-exports' },
  columns: COLUMNS,
  from: 'data_exports d',
  owner: 'd.user_id',
  toItem: dataExport,
});

function dataExport(row: ExportRow): DataExport {
  return {
    id: fromUuid(row.id),
    createdAt: row.created_at,
    state: row.state,
    expiresAt: row.expires_at ?? undefined,
    sizeBytes: row.size_bytes ?? undefined,
  };
}
