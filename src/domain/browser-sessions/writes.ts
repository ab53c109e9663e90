import { INSERT_AUDIT_EVENT } from '#domain/audit/audit-event.ts';
import { statement } from '#platform/postgres/statement.ts';
import { browserSessionIsLive } from './liveness.ts';

/** Ends one session of a user or, without an id, all of them; one audit event if any was live. */
export const finishSessions = statement<
  { finished: number },
  {
    readonly now: Date;
    readonly userId: string;
    readonly sessionId: string | null;
    readonly reason: string;
    readonly auditEventId: string;
    readonly auditEventKind: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
  }
>(
  'finish-browser-sessions',
  `with finished as (
    update user_sessions set finished_at = :now::timestamptz, finish_reason = :reason::text
    where user_id = :userId::uuid and ${browserSessionIsLive('user_sessions')} and (:sessionId::uuid is null or id = :sessionId::uuid)
    returning id
  ),
  audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, :auditEventKind::text, :userId::uuid, null, :sessionId::uuid, :ip::inet, :userAgent::text,
      jsonb_build_object('reason', :reason::text, 'sessions', count(finished.id)), :now::timestamptz
    from finished having count(finished.id) > 0
  )
  select count(finished.id)::integer as finished from finished`,
);

/** Ends a session whose idle or absolute limit has passed. */
export const expireSession = statement<
  never,
  { readonly now: Date; readonly id: string; readonly auditEventId: string }
>(
  'expire-browser-session',
  `with expired as (
    update user_sessions set finished_at = :now::timestamptz, finish_reason = 'expired'
    where id = :id::uuid and ${browserSessionIsLive('user_sessions')}
    returning id, user_id
  )
  ${INSERT_AUDIT_EVENT}
  select :auditEventId::uuid, 'session_ended', expired.user_id, null, expired.id, null, null, '{"reason": "expired"}'::jsonb,
    :now::timestamptz
  from expired`,
);

/** Ends the least recently active sessions of a user beyond the first `kept`. */
export const finishSurplusSessions = statement<
  never,
  { readonly now: Date; readonly userId: string; readonly kept: number }
>(
  'finish-surplus-browser-sessions',
  `update user_sessions set finished_at = :now::timestamptz, finish_reason = 'too_many_sessions'
  where ${browserSessionIsLive('user_sessions')} and id in (
    select surplus.id from user_sessions surplus
    where surplus.user_id = :userId::uuid and ${browserSessionIsLive('surplus')}
    order by surplus.last_active_at desc nulls last, surplus.id desc offset :kept::integer
  )`,
);

/** Counts a wrong password against the session that asked; the last one allowed ends it. */
export const countFailedReauth = statement<
  { is_ended: boolean },
  {
    readonly now: Date;
    readonly id: string;
    readonly most: number;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
  }
>(
  'count-failed-reauth',
  `with counted as (
    update user_sessions set
      failed_reauths = failed_reauths + 1,
      finished_at = case when failed_reauths + 1 >= :most::integer then :now::timestamptz end,
      finish_reason = case when failed_reauths + 1 >= :most::integer then 'too_many_reauths' end
    where id = :id::uuid and ${browserSessionIsLive('user_sessions')}
    returning id, user_id, finished_at is not null as is_ended
  ),
  audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'session_ended', counted.user_id, null, counted.id, :ip::inet, :userAgent::text,
      '{"reason": "too_many_reauths"}'::jsonb, :now::timestamptz
    from counted where counted.is_ended
  )
  select counted.is_ended from counted`,
);

/** A session together with the authentication that opened it. */
export const insertSession = statement<
  never,
  {
    readonly now: Date;
    readonly id: string;
    readonly userId: string;
    readonly keyHash: Buffer;
    readonly acr: string;
    readonly amr: readonly string[];
    readonly userAgent: string | null;
    readonly ip: string | null;
    readonly authenticationId: string;
    readonly authenticationKind: string;
  }
>(
  'insert-browser-session',
  `with opened as (
    insert into user_sessions (id, user_id, key_hash, authenticated_at, acr, amr, user_agent, created_at,
      last_active_at, last_active_ip)
    values (:id::uuid, :userId::uuid, :keyHash::bytea, :now::timestamptz, :acr::text, :amr::text[], :userAgent::text, :now::timestamptz,
      :now::timestamptz, :ip::inet)
    returning id
  )
  insert into user_session_authentications (id, user_session_id, kind, created_at)
  select :authenticationId::uuid, opened.id, :authenticationKind::text, :now::timestamptz from opened`,
);
