import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import {
  countLists,
  listStatements,
  type Page,
  type PageWindow,
  readPages,
  selectedColumns,
} from '#platform/postgres/page.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { CompatSessionId, CompatSsoLoginId, UserId } from '#vocabulary/ids.ts';

/** A single sign-on as shown to the user who consented. Times are milliseconds since the epoch. */
export interface ListedSsoLogin {
  readonly id: CompatSsoLoginId;
  readonly redirectUri: string;
  readonly createdAt: number;
  readonly fulfilledAt: number | undefined;
  readonly exchangedAt: number | undefined;
  /** The session opened with it. */
  readonly sessionId: CompatSessionId | undefined;
}

interface LoginRow {
  readonly id: string;
  readonly redirect_uri: string;
  readonly created_at: number;
  readonly fulfilled_at: number | null;
  readonly exchanged_at: number | null;
  readonly compat_session_id: string | null;
}

const COLUMNS = {
  id: 'l.id',
  redirect_uri: 'l.redirect_uri',
  created_at: ms('l.created_at'),
  fulfilled_at: ms('l.fulfilled_at'),
  exchanged_at: ms('l.exchanged_at'),
  compat_session_id: 'l.compat_session_id',
};

/**
 * A sign-on belongs to the user of the browser session that consented. Uses the partial index
 * `compat_sso_logins_user_session`.
 */
const loginsOfUsers = listStatements<LoginRow, object>('compat-sso-logins-of-users', [
  {
    columns: COLUMNS,
    from: 'compat_sso_logins l join user_sessions b on b.id = l.user_session_id',
    where: 'b.user_id = owner.id',
  },
]);

/** Returns a page of single sign-ons for each of these users. */
export async function listSsoLogins(
  queryable: Queryable,
  users: readonly UserId[],
  window: PageWindow,
): Promise<Page<ListedSsoLogin>[]> {
  return await readPages(queryable, loginsOfUsers, users, {}, window, listedLogin);
}

export async function countSsoLogins(queryable: Queryable, users: readonly UserId[]): Promise<number[]> {
  return await countLists(queryable, loginsOfUsers, users, {});
}

const ofSessions = statement<LoginRow, { readonly sessionIds: readonly string[] }>(
  'find-compat-sso-logins-of-sessions',
  `select ${selectedColumns(COLUMNS)}
     from compat_sso_logins l where l.compat_session_id = any(:sessionIds::uuid[])`,
);

/** Returns the single sign-on that opened each of these sessions, in the same order. */
export async function findSsoLoginsOfSessions(
  queryable: Queryable,
  sessions: readonly CompatSessionId[],
): Promise<(ListedSsoLogin | undefined)[]> {
  const rows = await queryable.rows(ofSessions, { sessionIds: sessions.map(toUuid) });
  const found = new Map(rows.map((row) => [row.compat_session_id, listedLogin(row)]));
  return sessions.map((id) => found.get(toUuid(id)));
}

function listedLogin(row: LoginRow): ListedSsoLogin {
  return {
    id: fromUuid(row.id),
    redirectUri: row.redirect_uri,
    createdAt: row.created_at,
    fulfilledAt: row.fulfilled_at ?? undefined,
    exchangedAt: row.exchanged_at ?? undefined,
    sessionId: row.compat_session_id === null ? undefined : fromUuid(row.compat_session_id),
  };
}
