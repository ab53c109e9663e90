import { type BrowserSessionId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type ViewerRow, viewerColumns, viewerJoin } from './viewer-row.ts';

const byId = statement<ViewerRow, { readonly id: string }>(
  'find-viewer',
  `select ${viewerColumns} from (select 1) as one ${viewerJoin(':id::uuid')}`,
);

/** The row behind a session cookie, for `judgeViewer`. */
export async function findViewerRow(database: Queryable, id: BrowserSessionId): Promise<ViewerRow | undefined> {
  return await database.first(byId, { id: toUuid(id) });
}
