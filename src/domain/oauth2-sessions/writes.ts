import { statement } from '#db/statement.ts';
import { INSERT_AUDIT_EVENT } from '#domain/audit-events/audit-event.ts';
import { endingCtes } from './ending-sql.ts';

/** Returns a row when the session itself was ended. */
export const endSession = statement<
  { id: string },
  [id: string, now: Date, reason: string, auditEventId: string, ip: string | null, userAgent: string | null]
>(
  'end-oauth2-session',
  `with recursive ${endingCtes(
    'select id from oauth2_sessions where id = $1::uuid and finished_at is null',
    '$2::timestamptz',
    '$3::text',
  )}, audited as (
    ${INSERT_AUDIT_EVENT}
    select $4::uuid, 'session_ended', user_id, client_id, id, $5::inet, $6::text,
           jsonb_build_object('reason', $3::text), $2::timestamptz
      from ended where id = $1::uuid
  )
  select id from ended where id = $1::uuid`,
);
