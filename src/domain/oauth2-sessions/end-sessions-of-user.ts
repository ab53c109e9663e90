import { toUuid, type UserId } from '#base/ids.ts';
import type { Queryable } from '#db/database.ts';
import { statement } from '#db/statement.ts';
import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit-events/audit-event.ts';
import { endingCtes } from './ending-sql.ts';

const endAll = statement<{ ended: number }, [userId: string, now: Date, reason: string, auditEventId: string]>(
  'end-oauth2-sessions-of-user',
  `with recursive ${endingCtes(
    'select id from oauth2_sessions where user_id = $1::uuid and finished_at is null',
    '$2::timestamptz',
    '$3::text',
  )}, audited as (
    ${INSERT_AUDIT_EVENT}
    select $4::uuid, 'session_ended', $1::uuid, null, null, null, null,
           jsonb_build_object('reason', $3::text, 'sessions', count(ended.id)), $2::timestamptz
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
  const row = await queryable.first(endAll, [toUuid(user), new Date(end.now), end.reason, newAuditEventId(end.now)]);
  return row?.ended ?? 0;
}
