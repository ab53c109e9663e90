import {
  type ClientPresentation,
  clientPresentation,
  type PresentationJson,
  presentationColumn,
} from '#domain/clients/client-presentations.ts';
import { clientIsApplication } from '#domain/records/liveness/clients.ts';
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { areOwned, findOwned, type OwnedParams, type Owner } from '#platform/postgres/owned-rows.ts';
import {
  countLists,
  type ListedTable,
  type ListStatements,
  listStatements,
  type Page,
  type PageWindow,
  readPages,
  selectedColumns,
} from '#platform/postgres/page.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { BrowserSessionId, ClientId, CompatSessionId, OAuth2SessionId, UserId } from '#vocabulary/ids.ts';

/** A session of an application or chat client as shown to its user. Times are milliseconds since the epoch. */
interface ListedSession {
  readonly browserSessionId: BrowserSessionId | undefined;
  readonly deviceId: string | undefined;
  readonly humanName: string | undefined;
  readonly userAgent: string | undefined;
  readonly createdAt: number;
  readonly lastActiveAt: number | undefined;
  readonly lastActiveAddress: string | undefined;
  readonly finishedAt: number | undefined;
}

export interface ListedOAuth2Session extends ListedSession {
  readonly kind: 'oauth2';
  readonly id: OAuth2SessionId;
  /** Undefined: the client's session on its own behalf. */
  readonly userId: UserId | undefined;
  readonly client: ClientPresentation;
  readonly scope: readonly string[];
}

export interface ListedCompatSession extends ListedSession {
  readonly kind: 'compat';
  readonly id: CompatSessionId;
  readonly userId: UserId;
}

export type ListedAppSession = ListedOAuth2Session | ListedCompatSession;

export interface AppSessionFilter {
  /** Undefined: include ended sessions. */
  readonly isLive: boolean | undefined;
  /** Exclusive. Sessions without activity never match. */
  readonly activeAfter: number | undefined;
  readonly activeBefore: number | undefined;
  readonly clientId?: ClientId | undefined;
  readonly deviceId?: string | undefined;
  readonly browserSessionId?: BrowserSessionId | undefined;
  /** Whether it was opened by a single sign-on; false for all sessions of applications. */
  readonly isOfSsoLogin?: boolean | undefined;
}

interface SessionRow {
  readonly id: string;
  readonly user_id: string | null;
  /** Null: a chat client's session. */
  readonly client_id: string | null;
  readonly client: PresentationJson | null;
  readonly scope: readonly string[] | null;
  readonly user_session_id: string | null;
  readonly device_id: string | null;
  readonly human_name: string | null;
  readonly user_agent: string | null;
  readonly created_at: number;
  readonly last_active_at: number | null;
  readonly last_active_ip: string | null;
  readonly finished_at: number | null;
}

interface FilterParams {
  readonly isLive: boolean | null;
  readonly activeAfter: Date | null;
  readonly activeBefore: Date | null;
  readonly clientId: string | null;
  readonly deviceId: string | null;
  readonly browserSessionId: string | null;
  readonly isOfSsoLogin: boolean | null;
}

const SHARED_COLUMNS = {
  id: 's.id',
  user_id: 's.user_id',
  user_session_id: 's.user_session_id',
  device_id: 's.device_id',
  human_name: 's.human_name',
  user_agent: 's.user_agent',
  created_at: ms('s.created_at'),
  last_active_at: ms('s.last_active_at'),
  last_active_ip: 'host(s.last_active_ip)',
  finished_at: ms('s.finished_at'),
};
const OAUTH2_COLUMNS = {
  ...SHARED_COLUMNS,
  client_id: 's.client_id',
  client: presentationColumn('c'),
  scope: 's.scope',
};
const COMPAT_COLUMNS = {
  ...SHARED_COLUMNS,
  client_id: 'null::uuid',
  client: 'null::jsonb',
  scope: 'null::text[]',
};
/**
 * Deleting a client deletes its sessions, so the client always exists. The planner can omit a left join without used
 * columns when it counts.
 */
const OAUTH2_SESSIONS = 'oauth2_sessions s left join oauth2_clients c on c.id = s.client_id';

/** The condition on the time is always true. It lets the statement use `oauth2_sessions_live_of_user`. */
const OAUTH2_IS_LIVE = `${oauthSessionIsLive('s')} and s.created_at < 'infinity'`;

/** How far a list is filtered. For live sessions, each owner column has an index that contains no others. */
type Narrowing = 'live' | 'filtered-live' | 'filtered';

function filters(narrowing: Narrowing, isLive: string, clientId: string, isOfSsoLogin: string): string {
  if (narrowing === 'live') return isLive;
  return `${narrowing === 'filtered-live' ? isLive : `(:isLive::boolean is null or (${isLive}) = :isLive::boolean)`}
    and (:activeAfter::timestamptz is null or s.last_active_at > :activeAfter::timestamptz)
    and (:activeBefore::timestamptz is null or s.last_active_at < :activeBefore::timestamptz)
    and (:clientId::uuid is null or ${clientId} = :clientId::uuid)
    and (:deviceId::text is null or s.device_id = :deviceId::text)
    and (:browserSessionId::uuid is null or s.user_session_id = :browserSessionId::uuid)
    and (:isOfSsoLogin::boolean is null or (${isOfSsoLogin}) = :isOfSsoLogin::boolean)`;
}

const OF_SSO_LOGIN = 'exists (select from compat_sso_logins l where l.compat_session_id = s.id)';

/** @param owner column that assigns a session to a list; the tables have an index on it with `id` */
function tables(
  owner: 'user_id' | 'user_session_id',
  narrowing: Narrowing,
): { readonly oauth2: ListedTable; readonly compat: ListedTable } {
  return {
    oauth2: {
      columns: OAUTH2_COLUMNS,
      from: OAUTH2_SESSIONS,
      where: `s.${owner} = owner.id and ${clientIsApplication('s.client_id')}
        and ${filters(narrowing, OAUTH2_IS_LIVE, 's.client_id', 'false')}`,
    },
    compat: {
      columns: COMPAT_COLUMNS,
      from: 'compat_sessions s',
      where: `s.${owner} = owner.id and ${filters(narrowing, compatSessionIsLive('s'), 'null::uuid', OF_SSO_LOGIN)}`,
    },
  };
}

type Lists = Readonly<Record<AppSessionList, ListStatements<SessionRow, FilterParams>>>;

/** Returns the lists by owner and kind of session. */
function lists(prefix: string, narrowing: Narrowing): Lists {
  const ofUsers = tables('user_id', narrowing);
  const ofBrowserSessions = tables('user_session_id', narrowing);
  return {
    'oauth2-of-user': listStatements(`${prefix}oauth2-sessions-of-users`, [ofUsers.oauth2]),
    'compat-of-user': listStatements(`${prefix}compat-sessions-of-users`, [ofUsers.compat]),
    'all-of-user': listStatements(`${prefix}app-sessions-of-users`, [ofUsers.oauth2, ofUsers.compat]),
    'all-of-browser-session': listStatements(`${prefix}app-sessions-of-browser-sessions`, [
      ofBrowserSessions.oauth2,
      ofBrowserSessions.compat,
    ]),
  };
}

const LISTS: Readonly<Record<Narrowing, Lists>> = {
  live: lists('live-', 'live'),
  'filtered-live': lists('filtered-live-', 'filtered-live'),
  filtered: lists('', 'filtered'),
};

function narrowingOf({ isLive, ...others }: AppSessionFilter): Narrowing {
  if (isLive !== true) return 'filtered';
  return Object.values(others).every((filter) => filter === undefined) ? 'live' : 'filtered-live';
}

export type AppSessionList = 'oauth2-of-user' | 'compat-of-user' | 'all-of-user' | 'all-of-browser-session';

/** Returns a page of the list for each of these users or browser sessions. */
export async function listAppSessions(
  queryable: Queryable,
  list: AppSessionList,
  owners: readonly (UserId | BrowserSessionId)[],
  filter: AppSessionFilter,
  window: PageWindow,
): Promise<Page<ListedAppSession>[]> {
  const statements = LISTS[narrowingOf(filter)][list];
  return await readPages(queryable, statements, owners, filterParams(filter), window, listedSession);
}

export async function countAppSessions(
  queryable: Queryable,
  list: AppSessionList,
  owners: readonly (UserId | BrowserSessionId)[],
  filter: AppSessionFilter,
): Promise<number[]> {
  return await countLists(queryable, LISTS[narrowingOf(filter)][list], owners, filterParams(filter));
}

function selected(columns: ListedTable['columns']): string {
  return selectedColumns(columns, Object.keys(OAUTH2_COLUMNS));
}

const OWN = areOwned('s.id', 's.user_id');

const byIds = statement<SessionRow, OwnedParams>(
  'find-app-sessions',
  `select ${selected(OAUTH2_COLUMNS)} from ${OAUTH2_SESSIONS} where ${OWN}
   union all
   select ${selected(COMPAT_COLUMNS)} from compat_sessions s where ${OWN}`,
);

/** Returns the sessions (of either kind) with these IDs, in the same order, including ended ones. */
export async function findAppSessions(
  queryable: Queryable,
  ids: readonly (OAuth2SessionId | CompatSessionId)[],
  owner: Owner,
): Promise<(ListedAppSession | undefined)[]> {
  return await findOwned(queryable, byIds, ids, owner, {}, listedSession);
}

const ofDevice = statement<SessionRow, { readonly userId: string; readonly deviceId: string }>(
  'find-session-of-device',
  `(select ${selected(COMPAT_COLUMNS)} from compat_sessions s
     where s.user_id = :userId::uuid and s.device_id = :deviceId::text and ${compatSessionIsLive('s')})
   union all
   (select ${selected(OAUTH2_COLUMNS)} from ${OAUTH2_SESSIONS}
     where s.user_id = :userId::uuid and s.device_id = :deviceId::text and ${oauthSessionIsLive('s')})
   limit 1`,
);

/** Returns the live session of a user's device. Prefers a chat client's session over an OAuth session. */
export async function findSessionOfDevice(
  queryable: Queryable,
  user: UserId,
  deviceId: string,
): Promise<ListedAppSession | undefined> {
  const row = await queryable.first(ofDevice, { userId: toUuid(user), deviceId });
  return row === undefined ? undefined : listedSession(row);
}

function filterParams(filter: AppSessionFilter): FilterParams {
  const { isLive, activeAfter, activeBefore, clientId, deviceId, browserSessionId, isOfSsoLogin } = filter;
  return {
    isLive: isLive ?? null,
    activeAfter: activeAfter === undefined ? null : new Date(activeAfter),
    activeBefore: activeBefore === undefined ? null : new Date(activeBefore),
    clientId: clientId === undefined ? null : toUuid(clientId),
    deviceId: deviceId ?? null,
    browserSessionId: browserSessionId === undefined ? null : toUuid(browserSessionId),
    isOfSsoLogin: isOfSsoLogin ?? null,
  };
}

function listedSession(row: SessionRow): ListedAppSession {
  const shared = {
    browserSessionId: row.user_session_id === null ? undefined : fromUuid<'browser-session'>(row.user_session_id),
    deviceId: row.device_id ?? undefined,
    humanName: row.human_name ?? undefined,
    userAgent: row.user_agent ?? undefined,
    createdAt: row.created_at,
    lastActiveAt: row.last_active_at ?? undefined,
    lastActiveAddress: row.last_active_ip ?? undefined,
    finishedAt: row.finished_at ?? undefined,
  };
  const userId = row.user_id === null ? undefined : fromUuid<'user'>(row.user_id);
  if (row.client_id !== null && row.client !== null) {
    const client = clientPresentation(fromUuid(row.client_id), row.client);
    return { kind: 'oauth2', id: fromUuid(row.id), userId, client, scope: row.scope ?? [], ...shared };
  }
  if (userId === undefined) throw new TypeError('session of a chat client has no user');
  return { kind: 'compat', id: fromUuid(row.id), userId, ...shared };
}
