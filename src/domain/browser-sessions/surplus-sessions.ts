import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

const MAX_SESSIONS = 1000;

/**
 * Returns an SQL expression that counts the live sessions of a user before the statement opens one, up to the limit.
 * For `finishSurplusSessions`.
 * @param userId SQL expression
 */
export function liveSessionsSql(userId: string): string {
  return `(
      select count(*)::integer from (
        select from user_sessions live where live.user_id = ${userId} and ${browserSessionIsLive('live')}
        limit ${MAX_SESSIONS}
      ) as counted
    )`;
}

/** Ends the least recently active sessions of a user who has too many. Runs no statement below the limit. */
export async function finishSurplusSessions(
  database: Queryable,
  userUuid: string,
  liveBefore: number,
  now: number,
): Promise<void> {
  if (liveBefore < MAX_SESSIONS) return;
  await database.execute(finishSurplus, { now: new Date(now), userId: userUuid, kept: MAX_SESSIONS });
}

/** Ends the sessions after the first `kept`. */
const finishSurplus = statement<never, { readonly now: Date; readonly userId: string; readonly kept: number }>(
  'finish-surplus-browser-sessions',
  `update user_sessions set finished_at = :now::timestamptz, finish_reason = 'too_many_sessions'
  where ${browserSessionIsLive('user_sessions')} and id in (
    select surplus.id from user_sessions surplus
    where surplus.user_id = :userId::uuid and ${browserSessionIsLive('surplus')}
    order by surplus.last_active_at desc nulls last, surplus.id desc offset :kept::integer
  )`,
);
