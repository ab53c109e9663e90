import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { OAuth2SessionId, UserId } from '#vocabulary/ids.ts';

const rename = statement<
  { user_id: string | null; username: string | null; device_id: string | null },
  { readonly id: string; readonly owner: string | null; readonly name: string }
>(
  'rename-oauth2-session',
  `with renamed as (
    update oauth2_sessions s set human_name = :name::text
     where s.id = :id::uuid and ${oauthSessionIsLive('s')} and (:owner::uuid is null or s.user_id = :owner::uuid)
    returning s.user_id, s.device_id
  )
  select renamed.user_id, u.username, renamed.device_id from renamed left join users u on u.id = renamed.user_id`,
);

export interface RenamedSession {
  /** Undefined: a session without a user. */
  readonly user: { readonly id: UserId; readonly username: string } | undefined;
  readonly deviceId: string | undefined;
}

/**
 * Stores the name that a user gives to an application's session.
 * @param owner the session must belong to this user; `anybody`: administrators can rename all
 * @returns undefined if the session does not exist or has ended
 */
export async function renameOAuth2Session(
  queryable: Queryable,
  id: OAuth2SessionId,
  owner: UserId | 'anybody',
  name: string,
): Promise<RenamedSession | undefined> {
  const row = await queryable.first(rename, {
    id: toUuid(id),
    owner: owner === 'anybody' ? null : toUuid(owner),
    name,
  });
  if (row === undefined) return undefined;
  const { user_id, username, device_id } = row;
  const user = user_id === null || username === null ? undefined : { id: fromUuid<'user'>(user_id), username };
  return { user, deviceId: device_id ?? undefined };
}
