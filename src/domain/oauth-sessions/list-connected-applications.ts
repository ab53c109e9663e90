import {
  type ClientPresentation,
  clientPresentation,
  type PresentationJson,
  presentationColumn,
} from '#domain/clients/client-presentations.ts';
import { clientIsApplication } from '#domain/records/liveness/clients.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { countLists, listStatements, type Page, type PageWindow, readPages } from '#platform/postgres/page.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { ClientId, UserId } from '#vocabulary/ids.ts';

/** An application that currently has access to a user's account. */
export interface ConnectedClient {
  readonly id: ClientId;
  readonly userId: UserId;
  readonly client: ClientPresentation;
}

/** Summary of its live sessions. Times are milliseconds since the epoch. */
export interface ConnectionFacts {
  /** Start of its oldest session, or of the user's consent if that is older. */
  readonly firstAuthorizedAt: number;
  readonly lastActiveAt: number | undefined;
  readonly activeSessions: number;
  /** Union over all live sessions. */
  readonly scope: readonly string[];
}

interface ConnectedRow {
  readonly id: string;
  readonly user_id: string;
  readonly client: PresentationJson;
}

interface FilterParams {
  /** Null: all clients. */
  readonly clientIds: readonly string[] | null;
}

/** The condition on the time is always true. It makes the planner choose the right index. */
const LIVE_BY_CLIENT = `${oauthSessionIsLive('s')} and s.created_at > '-infinity'`;

/**
 * Walks the index `oauth2_sessions_live_by_client` from one application to the next. This skips further sessions of the
 * same application, which may be thousands.
 */
const connectedOfUsers = listStatements<ConnectedRow, FilterParams>('connected-applications-of-users', [
  {
    columns: {
      id: 'live.client_id',
      user_id: 'owner.id',
      client: `(select ${presentationColumn('c')} from oauth2_clients c where c.id = live.client_id)`,
    },
    from: `(
        with recursive found as (
          (select s.client_id from oauth2_sessions s
            where s.user_id = owner.id and ${LIVE_BY_CLIENT} order by s.client_id limit 1)
          union all
          select (select s.client_id from oauth2_sessions s
                   where s.user_id = owner.id and ${LIVE_BY_CLIENT} and s.client_id > found.client_id
                   order by s.client_id limit 1)
            from found where found.client_id is not null
        )
        select client_id from found where client_id is not null and ${clientIsApplication('client_id')}
      ) live`,
    where: '(:clientIds::uuid[] is null or live.client_id = any(:clientIds::uuid[]))',
  },
]);

/** Returns a page of the applications of each of these users, ordered by the IDs of the applications. */
export async function listConnectedClients(
  queryable: Queryable,
  users: readonly UserId[],
  window: PageWindow,
): Promise<Page<ConnectedClient>[]> {
  return await readPages(queryable, connectedOfUsers, users, { clientIds: null }, window, connectedClient);
}

export async function countConnectedClients(queryable: Queryable, users: readonly UserId[]): Promise<number[]> {
  return await countLists(queryable, connectedOfUsers, users, { clientIds: null });
}

/** Returns those of these clients that have access to a user's account, in the same order. */
export async function findConnectedClients(
  queryable: Queryable,
  user: UserId,
  ids: readonly ClientId[],
): Promise<(ConnectedClient | undefined)[]> {
  const all = { size: ids.length, isFromEnd: false, after: undefined, before: undefined };
  const filters = { clientIds: ids.map(toUuid) };
  const [page] = await readPages(queryable, connectedOfUsers, [user], filters, all, connectedClient);
  const found = new Map(page?.items.map((client) => [client.id, client]));
  return ids.map((id) => found.get(id));
}

function connectedClient(row: ConnectedRow): ConnectedClient {
  const id = fromUuid<'client'>(row.id);
  return { id, userId: fromUuid(row.user_id), client: clientPresentation(id, row.client) };
}

/** An application of a user. */
export type Connection = Pick<ConnectedClient, 'id' | 'userId'>;

/** Summarizes the live sessions of each connection with one statement; undefined if there are none left. */
export async function findConnectionFacts(
  queryable: Queryable,
  connections: readonly Connection[],
): Promise<(ConnectionFacts | undefined)[]> {
  const rows = await queryable.rows(connectionFacts, {
    users: connections.map(({ userId }) => toUuid(userId)),
    clients: connections.map(({ id }) => toUuid(id)),
  });
  const found = new Map(rows.map((row) => [row.position, row]));
  return connections.map((_, index) => {
    const row = found.get(index + 1);
    if (row === undefined) return undefined;
    return {
      firstAuthorizedAt: row.first_authorized_at,
      lastActiveAt: row.last_active_at ?? undefined,
      activeSessions: row.active_sessions,
      scope: row.scope,
    };
  });
}

/**
 * Uses the index `oauth2_sessions_live_by_client`. Groups sessions by scope before merging the scopes, because most
 * applications use a single set.
 */
const connectionFacts = statement<
  {
    /** Starts at 1. */
    position: number;
    first_authorized_at: number;
    last_active_at: number | null;
    active_sessions: number;
    scope: readonly string[];
  },
  { readonly users: readonly string[]; readonly clients: readonly string[] }
>(
  'connection-facts',
  `select asked.position::integer as position,
          ${ms('least(live.created_at, consent.created_at)')} as first_authorized_at,
          ${ms('live.last_active_at')} as last_active_at,
          live.sessions as active_sessions,
          live.scope
     from unnest(:users::uuid[], :clients::uuid[]) with ordinality as asked (user_id, client_id, position)
     cross join lateral (
       select min(alike.created_at) as created_at, max(alike.last_active_at) as last_active_at,
              (sum(alike.sessions) filter (where coalesce(granted.position, 1) = 1))::integer as sessions,
              coalesce(array_agg(distinct granted.scope order by granted.scope) filter (where granted.scope is not null), '{}')
                as scope
         from (
             select s.scope, min(s.created_at) as created_at, max(s.last_active_at) as last_active_at, count(*) as sessions
               from oauth2_sessions s
              where s.user_id = asked.user_id and s.client_id = asked.client_id and ${LIVE_BY_CLIENT}
              group by s.scope
           ) alike
           left join lateral unnest(alike.scope) with ordinality as granted (scope, position) on true
     ) live
     left join oauth2_consents consent on consent.user_id = asked.user_id and consent.client_id = asked.client_id
    where live.sessions > 0`,
);
