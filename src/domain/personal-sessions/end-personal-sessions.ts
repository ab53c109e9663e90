import { insertSyncsOfEnded, type SessionEndParams, sessionEndParams } from '#domain/homeserver/device-sync-jobs.ts';
import { personalSessionIsLive } from '#domain/records/liveness/personal-sessions.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

/**
 * Returns the CTE `personal_ended`, for use within a larger statement: the sessions of `roots` that it revoked. Lock
 * personal sessions after those of applications and chat clients.
 * @param roots a query of session IDs
 * @param now parameter with the time, cast to `timestamptz`
 */
export function personalEndingCte(roots: string, now: string): string {
  return `personal_ended as (
    update personal_sessions
       set revoked_at = ${now}
     where id in (${roots}) and ${personalSessionIsLive('personal_sessions')}
    returning id, actor_user_id, device_id
  )`;
}

/** Devices of the sessions that `personalEndingCte` revoked, for `insertSyncsOfEnded`. */
export const PERSONAL_ENDED_DEVICES = `select actor_user_id as user_id, device_id, 'revoked' as finish_reason from personal_ended`;

/**
 * Returns a query for the IDs of live sessions that act as a user or belong to them.
 * @param user expression of the user's ID
 */
export function personalSessionsOfUser(user: string): string {
  return `select mine.id from personal_sessions mine
     where mine.actor_user_id = ${user} and ${personalSessionIsLive('mine')}
    union
    select mine.id from personal_sessions mine
     where mine.owner_user_id = ${user} and ${personalSessionIsLive('mine')}`;
}

const revokeOfUser = statement<{ count: number }, SessionEndParams & { readonly userId: string; readonly now: Date }>(
  'revoke-personal-sessions-of-user',
  `with ${personalEndingCte(personalSessionsOfUser(':userId::uuid'), ':now::timestamptz')}, synced as (
    ${insertSyncsOfEnded([PERSONAL_ENDED_DEVICES], ':now::timestamptz')}
  )
  select count(*)::integer as count from personal_ended`,
);

/**
 * Revokes every session that acts as a user or belongs to them. Runs one statement, with or without a transaction.
 * @returns how many sessions this call revoked
 */
export async function revokePersonalSessionsOfUser(
  queryable: Queryable,
  user: UserId,
  { now, syncsDevices }: { readonly now: number; readonly syncsDevices: boolean },
): Promise<number> {
  const params = { userId: toUuid(user), now: new Date(now), ...sessionEndParams(syncsDevices) };
  return (await queryable.first(revokeOfUser, params))?.count ?? 0;
}
