import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { toUuid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { endingCtes } from './ending-sql.ts';
import { oauthSessionIsLive } from './liveness.ts';

const endAll = statement<
  { ended: number },
  { readonly userId: string; readonly now: Date; readonly reason: string; readonly auditEventId: string }
>(
  'end-oauth2-sessions-of-user',
  `with recursive ${endingCtes(
    `select id from oauth2_sessions where user_id = :userId::uuid and ${oauthSessionIsLive('oauth2_sessions')}`,
    ':now::timestamptz',
    ':reason::text',
  )}, audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'session_ended', :userId::uuid, null, null, null, null,
           jsonb_build_object('reason', :reason::text, 'sessions', count(ended.id)), :now::timestamptz
      from ended having count(ended.id) > 0
  )
  select count(ended.id)::integer as ended from ended`,
);

/**
 * Ends every session of a user with its tokens, and one audit event for all. One statement, so that it may be sent
 * alone or inside the caller's transaction.
 * @returns how many sessions this call ended
 */
export async function endOAuth2SessionsOfUser(
  queryable: Queryable,
  user: UserId,
  end: { readonly reason: 'password_changed'; readonly now: number },
): Promise<number> {
  const row = await queryable.first(endAll, {
    userId: toUuid(user),
    now: new Date(end.now),
    reason: end.reason,
    auditEventId: newAuditEventId(end.now),
  });
  return row?.ended ?? 0;
}
