import type { ListedAuditEvent } from '#domain/audit/list-audit-events.ts';
import { shownTextSql } from '#domain/clients/client.ts';
import { parseId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

/** An event with the current names of the records that it names by ID. */
export interface NamedAuditEvent extends ListedAuditEvent {
  /** Undefined if the client has no name or no longer exists. */
  readonly clientName: string | undefined;
  /** Undefined if the record has no name or no longer exists. */
  readonly targetName: string | undefined;
}

/** Types of targets with names, besides accounts. */
const CLIENT = 'oauth2-client';
const GROUP = 'group';
const PROVIDER = 'upstream-oauth-provider';

/** Finds the names of clients, groups and providers with one statement; with none if the events name none. */
export async function withNames(
  queryable: Queryable,
  events: readonly ListedAuditEvent[],
): Promise<readonly NamedAuditEvent[]> {
  const clients = idsOf(events.flatMap(({ clientId, target }) => [clientId, target?.type === CLIENT && target.id]));
  const groups = idsOf(events.map(({ target }) => target?.type === GROUP && target.id));
  const providers = idsOf(events.map(({ target }) => target?.type === PROVIDER && target.id));
  const names = new Map<string, string>();
  if (clients.length + groups.length + providers.length > 0) {
    for (const { id, name } of await queryable.rows(findNames, { clients, groups, providers })) {
      if (name !== null) names.set(id, name);
    }
  }
  const nameOf = (id: string | undefined) => (id === undefined ? undefined : names.get(uuidOf(id) ?? ''));
  return events.map((event) => ({
    ...event,
    clientName: nameOf(event.clientId),
    targetName: event.target?.type === 'user' ? event.user?.username : nameOf(event.target?.id),
  }));
}

/** Targets of old events may have other identifiers. */
function uuidOf(text: string): string | undefined {
  const id = parseId(text);
  return id && toUuid(id);
}

function idsOf(texts: readonly (string | false | undefined)[]): readonly string[] {
  return [...new Set(texts.flatMap((text) => (text ? (uuidOf(text) ?? []) : [])))];
}

const findNames = statement<
  { id: string; name: string | null },
  { readonly clients: readonly string[]; readonly groups: readonly string[]; readonly providers: readonly string[] }
>(
  'names-in-audit-events',
  `select c.id, ${shownTextSql('c', 'client_name')} as name from oauth2_clients c where c.id = any (:clients::uuid[])
   union all
   select g.id, g.name from user_groups g where g.id = any (:groups::uuid[])
   union all
   select p.id, coalesce(p.human_name, p.issuer) from upstream_providers p where p.id = any (:providers::uuid[])`,
);
