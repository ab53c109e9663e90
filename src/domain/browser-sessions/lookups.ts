import { type BrowserSessionId, toUuid } from '#base/ids.ts';
import type { Queryable } from '#db/database.ts';
import { statement } from '#db/statement.ts';
import { type ViewerRow, viewerColumns, viewerJoin } from './viewer-row.ts';

const byId = statement<ViewerRow, { readonly id: string }>(
  'find-viewer',
  `select ${viewerColumns} from (select 1) as one ${viewerJoin(':id::uuid')}`,
);

/** The row behind a session cookie, for `judgeViewer`. */
export async function findViewerRow(database: Queryable, id: BrowserSessionId): Promise<ViewerRow | undefined> {
  return await database.first(byId, { id: toUuid(id) });
}
