import { fromUuid, toUuid, type Ulid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { AuthenticationKind } from '#protocol/oidc/authentication-classes.ts';
import type { BrowserSessionId } from '#vocabulary/ids.ts';

/** How a user authenticated. */
export interface Authentication {
  readonly id: Ulid<'authentication'>;
  readonly kind: AuthenticationKind;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Uses the index `user_session_authentications_session`. */
const latest = statement<
  { session_id: string; id: string; kind: AuthenticationKind; created_at: number },
  { readonly sessions: readonly string[] }
>(
  'last-authentications',
  `select session.id as session_id, a.id, a.kind, a.created_at
     from unnest(:sessions::uuid[]) as session (id)
     cross join lateral (
       select last.id, last.kind, ${ms('last.created_at')} as created_at from user_session_authentications last
        where last.user_session_id = session.id order by last.created_at desc, last.id desc limit 1
     ) a`,
);

/** Returns the latest authentication of each session, in the same order. */
export async function findLastAuthentications(
  queryable: Queryable,
  sessions: readonly BrowserSessionId[],
): Promise<(Authentication | undefined)[]> {
  const rows = await queryable.rows(latest, { sessions: sessions.map(toUuid) });
  return sessions.map((session) => {
    const row = rows.find(({ session_id }) => fromUuid(session_id) === session);
    return row === undefined ? undefined : { id: fromUuid(row.id), kind: row.kind, createdAt: row.created_at };
  });
}
