import { INSERT_AUDIT_EVENT } from '#domain/audit/audit-event.ts';
import { statement } from '#platform/postgres/statement.ts';
import { endingCtes } from './ending-sql.ts';
import { oauthSessionIsLive } from './liveness.ts';

/** Returns a row when the session itself was ended. */
export const endSession = statement<
  { id: string },
  {
    readonly id: string;
    readonly now: Date;
    readonly reason: string;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
  }
>(
  'end-oauth2-session',
  `with recursive ${endingCtes(
    `select id from oauth2_sessions where id = :id::uuid and ${oauthSessionIsLive('oauth2_sessions')}`,
    ':now::timestamptz',
    ':reason::text',
  )}, audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'session_ended', user_id, client_id, id, :ip::inet, :userAgent::text,
           jsonb_build_object('reason', :reason::text), :now::timestamptz
      from ended where id = :id::uuid
  )
  select id from ended where id = :id::uuid`,
);
