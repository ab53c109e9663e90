import {
  type ClientPresentation,
  clientPresentation,
  type PresentationJson,
  presentationColumn,
} from '#domain/clients/client-presentations.ts';
import { type ClientId, fromUuid, toUuid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { countLists, listStatements, type Page, type PageWindow, readPages } from '#platform/postgres/page.ts';
import { ms } from '#platform/postgres/statement.ts';
import { oauthSessionIsLive } from './liveness.ts';

/** An application that can act for a person just now. Times in milliseconds since the epoch. */
export interface ConnectedClient {
  readonly id: ClientId;
  readonly client: ClientPresentation;
  /** Of its oldest session or, where it is older, of what the person allowed it. */
  readonly firstAuthorizedAt: number;
  readonly lastActiveAt: number | undefined;
  readonly activeSessions: number;
  /** Of all its live sessions together. */
  readonly scope: readonly string[];
}

interface ConnectedRow {
  readonly id: string;
  readonly client: PresentationJson;
  readonly first_authorized_at: number;
  readonly last_active_at: number | null;
  readonly active_sessions: number;
  readonly scope: readonly string[];
}

interface FilterParams {
  /** Null: of every client. */
  readonly clientIds: readonly string[] | null;
}

/**
 * Index `oauth2_sessions_live_of_user`, which takes the condition on the time. Reads all live sessions of the person: that is what is summed up here. Those of
 * equal scope are taken together before their scopes are, of which most applications have one set.
 */
const connectedOfUsers = listStatements<ConnectedRow, FilterParams>('connected-applications-of-users', [
  {
    columns: {
      id: 'c.id',
      client: presentationColumn('c'),
      first_authorized_at: ms('least(live.created_at, consent.created_at)'),
      last_active_at: ms('live.last_active_at'),
      active_sessions: 'live.sessions',
      scope: 'live.scope',
    },
    from: `(
        select alike.client_id, alike.user_id, min(alike.created_at) as created_at,
               max(alike.last_active_at) as last_active_at,
               (sum(alike.sessions) filter (where coalesce(granted.position, 1) = 1))::integer as sessions,
               coalesce(array_agg(distinct granted.scope order by granted.scope) filter (where granted.scope is not null), '{}')
                 as scope
          from (
              select s.client_id, s.user_id, s.scope, min(s.created_at) as created_at,
                     max(s.last_active_at) as last_active_at, count(*) as sessions
                from oauth2_sessions s
               where s.user_id = owner.id and ${oauthSessionIsLive('s')} and s.created_at < 'infinity'
                 and (:clientIds::uuid[] is null or s.client_id = any(:clientIds::uuid[]))
               group by s.client_id, s.user_id, s.scope
            ) alike
            left join lateral unnest(alike.scope) with ordinality as granted (scope, position) on true
         group by alike.client_id, alike.user_id
      ) live
      join oauth2_clients c on c.id = live.client_id
      left join oauth2_consents consent on consent.user_id = live.user_id and consent.client_id = live.client_id`,
    where: 'true',
  },
]);

/** A page of the applications of each of these people, in the order of the applications' identifiers. */
export async function listConnectedClients(
  queryable: Queryable,
  users: readonly UserId[],
  window: PageWindow,
): Promise<Page<ConnectedClient>[]> {
  const pages = await readPages(queryable, connectedOfUsers, users, { clientIds: null }, window);
  return pages.map((page) => ({ ...page, items: page.items.map(connectedClient) }));
}

export async function countConnectedClients(queryable: Queryable, users: readonly UserId[]): Promise<number[]> {
  return await countLists(queryable, connectedOfUsers, users, { clientIds: null });
}

/** Those of these clients that can act for a person, in the same order. */
export async function findConnectedClients(
  queryable: Queryable,
  user: UserId,
  ids: readonly ClientId[],
): Promise<(ConnectedClient | undefined)[]> {
  const all = { size: ids.length, isFromEnd: false, after: undefined, before: undefined };
  const [page] = await readPages(queryable, connectedOfUsers, [user], { clientIds: ids.map(toUuid) }, all);
  const found = new Map((page?.items ?? []).map((row) => [fromUuid<'client'>(row.id), connectedClient(row)]));
  return ids.map((id) => found.get(id));
}

function connectedClient(row: ConnectedRow): ConnectedClient {
  const id = fromUuid<'client'>(row.id);
  return {
    id,
    client: clientPresentation(id, row.client),
    firstAuthorizedAt: row.first_authorized_at,
    lastActiveAt: row.last_active_at ?? undefined,
    activeSessions: row.active_sessions,
    scope: row.scope,
  };
}
