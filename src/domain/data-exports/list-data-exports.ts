/**
 * Exports of account data, table `data_exports`. The user requests one, a job creates it, and it is deleted after a few
 * days. The archive is stored in the row, so that every process can serve it.
 */

import { type DataExportState, dataExportState } from '#domain/records/liveness/data-exports.ts';
import { type DataExportId, fromUuid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { areOwned, findOwned, type OwnedParams, type Owner } from '#platform/postgres/owned-rows.ts';
import {
  countLists,
  listStatements,
  type Page,
  type PageWindow,
  readPages,
  selectedColumns,
} from '#platform/postgres/page.ts';
import { ms, statement } from '#platform/postgres/statement.ts';

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
const exportsOfUsers = listStatements<ExportRow, NowParam>('data-exports-of-users', [
  { columns: COLUMNS, from: 'data_exports d', where: 'd.user_id = owner.id' },
]);

/** Returns a page of exports for each of these users, oldest first. */
export async function listDataExports(
  queryable: Queryable,
  users: readonly UserId[],
  now: number,
  window: PageWindow,
): Promise<Page<DataExport>[]> {
  const pages = await readPages(queryable, exportsOfUsers, users, { now: new Date(now) }, window);
  return pages.map((page) => ({ ...page, items: page.items.map(dataExport) }));
}

export async function countDataExports(queryable: Queryable, users: readonly UserId[], now: number): Promise<number[]> {
  return await countLists(queryable, exportsOfUsers, users, { now: new Date(now) });
}

const byIds = statement<ExportRow, NowParam & OwnedParams>(
  'find-data-exports',
  `select ${selectedColumns(COLUMNS)} from data_exports d
    where ${areOwned('d.id', 'd.user_id')}`,
);

/** Finds exports by their IDs, in the same order. */
export async function findDataExports(
  queryable: Queryable,
  ids: readonly DataExportId[],
  owner: Owner,
  now: number,
): Promise<(DataExport | undefined)[]> {
  const rows = await findOwned(queryable, byIds, ids, owner, { now: new Date(now) });
  return rows.map((row) => row && dataExport(row));
}

function dataExport(row: ExportRow): DataExport {
  return {
    id: fromUuid(row.id),
    createdAt: row.created_at,
    state: row.state,
    expiresAt: row.expires_at ?? undefined,
    sizeBytes: row.size_bytes ?? undefined,
  };
}
