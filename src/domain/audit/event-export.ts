import { fromUuid, type Ulid } from '#platform/base/ids.ts';
import { csvLine } from '#platform/log/csv.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { type AuditEventFilter, type ListedAuditEvent, listAuditEvents } from './list-audit-events.ts';

/** Rows that are read with one statement. */
const PAGE = 1000;
/** Maximum number of events in an export. */
export const MAX_EXPORTED = 1_000_000;

export type ExportFormat = 'csv' | 'ndjson';

/**
 * Reads the newest events in pages, so that the memory does not grow with their number.
 * @param render called for each page with events, and for an empty first one
 */
export async function* auditEventPages<Rendered>(
  queryable: Queryable,
  filter: AuditEventFilter,
  limit: number,
  render: (events: readonly ListedAuditEvent[], isFirst: boolean) => Rendered,
): AsyncGenerator<Rendered> {
  let before: Ulid | undefined;
  for (let left = limit; left > 0; ) {
    const { items, next } = await listAuditEvents(queryable, filter, { before, size: Math.min(PAGE, left) });
    if (items.length > 0 || before === undefined) yield render(items, before === undefined);
    if (next === undefined) return;
    left -= items.length;
    before = next;
  }
}

/** Reads the newest events as text, part by part. The first part of CSV begins with the names of the columns. */
export function eventExport(
  queryable: Queryable,
  filter: AuditEventFilter,
  limit: number,
  format: ExportFormat,
): AsyncIterable<string> {
  return auditEventPages(queryable, filter, limit, (events, isFirst) =>
    format === 'csv'
      ? (isFirst ? csvLine(COLUMNS) : '') + events.map(eventCsv).join('')
      : events.map(eventJson).join(''),
  );
}

/** The members of an exported event, with the names of the admin API. */
function exportedEvent(event: ListedAuditEvent) {
  return {
    id: fromUuid(event.id),
    created_at: new Date(event.createdAt).toISOString(),
    kind: event.kind,
    outcome: event.outcome,
    user_id: event.user?.id,
    username: event.user?.username,
    actor_type: event.actor.type,
    actor_id: event.actor.id,
    actor_username: event.actor.username,
    client_id: event.clientId,
    session_id: event.sessionId,
    address: event.address,
    user_agent: event.userAgent,
    operation: event.operation,
    target_type: event.target?.type,
    target_id: event.target?.id,
    changed: event.changed,
    request_id: event.requestId,
    detail: event.detail,
  };
}

const COLUMNS = [
  'id',
  'created_at',
  'kind',
  'outcome',
  'user_id',
  'username',
  'actor_type',
  'actor_id',
  'actor_username',
  'client_id',
  'session_id',
  'address',
  'user_agent',
  'operation',
  'target_type',
  'target_id',
  'changed',
  'request_id',
  'detail',
] as const satisfies readonly (keyof ReturnType<typeof exportedEvent>)[];

function eventCsv(event: ListedAuditEvent): string {
  const exported = exportedEvent(event);
  const { changed, detail } = exported;
  const texts = { ...exported, changed: changed.join(' '), detail: JSON.stringify(detail) };
  return csvLine(COLUMNS.map((name) => texts[name]));
}

function eventJson(event: ListedAuditEvent): string {
  return `${JSON.stringify(exportedEvent(event))}\n`;
}
