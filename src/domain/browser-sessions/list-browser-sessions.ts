import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { areOwned, findOwned, type OwnedParams, type Owner } from '#platform/postgres/owned-rows.ts';
import {
  countLists,
  type ListStatements,
  listStatements,
  type Page,
  type PageWindow,
  readPages,
  selectedColumns,
} from '#platform/postgres/page.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { BrowserSessionId, UserId } from '#vocabulary/ids.ts';

/** A session as shown to its owner. Times are milliseconds since the epoch. */
export interface ListedBrowserSession {
  readonly id: BrowserSessionId;
  readonly userId: UserId;
  readonly createdAt: number;
  readonly finishedAt: number | undefined;
  readonly userAgent: string | undefined;
  readonly lastActiveAt: number | undefined;
  readonly lastActiveAddress: string | undefined;
}

export interface BrowserSessionFilter {
  /** Undefined: include ended sessions. */
  readonly isLive: boolean | undefined;
  /** Exclusive. Sessions without activity never match. */
  readonly activeAfter: number | undefined;
  readonly activeBefore: number | undefined;
}

interface SessionRow {
  readonly id: string;
  readonly user_id: string;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly user_agent: string | null;
  readonly last_active_at: number | null;
  readonly last_active_ip: string | null;
}

interface FilterParams {
  readonly isLive: boolean | null;
  readonly activeAfter: Date | null;
  readonly activeBefore: Date | null;
}

const COLUMNS = {
  id: 's.id',
  user_id: 's.user_id',
  created_at: ms('s.created_at'),
  finished_at: ms('s.finished_at'),
  user_agent: 's.user_agent',
  last_active_at: ms('s.last_active_at'),
  last_active_ip: 'host(s.last_active_ip)',
};

const LIVE = browserSessionIsLive('s');
const IN_STATE = `(:isLive::boolean is null or (${LIVE}) = :isLive::boolean)`;
const ACTIVE_WITHIN = `(:activeAfter::timestamptz is null or s.last_active_at > :activeAfter::timestamptz)
      and (:activeBefore::timestamptz is null or s.last_active_at < :activeBefore::timestamptz)`;

/**
 * Live sessions use the index `user_sessions_live_of_user`, which contains no others. The rest use
 * `user_sessions_user`.
 */
const LISTS = {
  live: sessionsOfUsers('live-browser-sessions-of-users', LIVE),
  'filtered-live': sessionsOfUsers('filtered-live-browser-sessions-of-users', `${LIVE} and ${ACTIVE_WITHIN}`),
  filtered: sessionsOfUsers('browser-sessions-of-users', `${IN_STATE} and ${ACTIVE_WITHIN}`),
};

function sessionsOfUsers(label: string, filters: string): ListStatements<SessionRow, FilterParams> {
  return listStatements(label, [
    { columns: COLUMNS, from: 'user_sessions s', where: `s.user_id = owner.id and ${filters}` },
  ]);
}

function listOf({ isLive, activeAfter, activeBefore }: BrowserSessionFilter): ListStatements<SessionRow, FilterParams> {
  if (isLive !== true) return LISTS.filtered;
  return activeAfter === undefined && activeBefore === undefined ? LISTS.live : LISTS['filtered-live'];
}

/** Returns a page of sessions for each of these users. */
export async function listBrowserSessions(
  queryable: Queryable,
  users: readonly UserId[],
  filter: BrowserSessionFilter,
  window: PageWindow,
): Promise<Page<ListedBrowserSession>[]> {
  return await readPages(queryable, listOf(filter), users, filterParams(filter), window, listedSession);
}

export async function countBrowserSessions(
  queryable: Queryable,
  users: readonly UserId[],
  filter: BrowserSessionFilter,
): Promise<number[]> {
  return await countLists(queryable, listOf(filter), users, filterParams(filter));
}

const byIds = statement<SessionRow, OwnedParams>(
  'find-browser-sessions',
  `select ${selectedColumns(COLUMNS)}
     from user_sessions s
    where ${areOwned('s.id', 's.user_id')}`,
);

/** Returns the sessions with these IDs, in the same order, including ended ones. */
export async function findBrowserSessions(
  queryable: Queryable,
  ids: readonly BrowserSessionId[],
  owner: Owner,
): Promise<(ListedBrowserSession | undefined)[]> {
  return await findOwned(queryable, byIds, ids, owner, {}, listedSession);
}

function filterParams({ isLive, activeAfter, activeBefore }: BrowserSessionFilter): FilterParams {
  return {
    isLive: isLive ?? null,
    activeAfter: activeAfter === undefined ? null : new Date(activeAfter),
    activeBefore: activeBefore === undefined ? null : new Date(activeBefore),
  };
}

function listedSession(row: SessionRow): ListedBrowserSession {
  return {
    id: fromUuid(row.id),
    userId: fromUuid(row.user_id),
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? undefined,
    userAgent: row.user_agent ?? undefined,
    lastActiveAt: row.last_active_at ?? undefined,
    lastActiveAddress: row.last_active_ip ?? undefined,
  };
}
