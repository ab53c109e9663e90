import type { RenamedSession } from '#domain/oauth-sessions/rename-oauth2-session.ts';
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { CompatSessionId, UserId } from '#vocabulary/ids.ts';

const rename = statement<
  { user_id: string; username: string; device_id: string | null },
  { readonly id: string; readonly owner: string | null; readonly name: string }
>(
  'rename-compat-session',
  `update compat_sessions s set human_name = :name::text
     from users u
    where s.id = :id::uuid and ${compatSessionIsLive('s')} and u.id = s.user_id
      and (:owner::uuid is null or s.user_id = :owner::uuid)
   returning s.user_id, u.username, s.device_id`,
);

/**
 * Stores the name that a user gives to a chat client's session.
 * @param owner the session must belong to this user; `anybody`: administrators can rename all
 * @returns undefined if the session does not exist or has ended
 */
export async function renameCompatSession(
  queryable: Queryable,
  id: CompatSessionId,
  owner: UserId | 'anybody',
  name: string,
): Promise<RenamedSession | undefined> {
  const row = await queryable.first(rename, {
    id: toUuid(id),
    owner: owner === 'anybody' ? null : toUuid(owner),
    name,
  });
  if (row === undefined) return undefined;
  return { user: { id: fromUuid<'user'>(row.user_id), username: row.username }, deviceId: row.device_id ?? undefined };
}
