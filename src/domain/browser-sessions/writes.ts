import { statement } from '#db/statement.ts';
import { INSERT_AUDIT_EVENT } from '#domain/audit-events/audit-event.ts';

/** Ends one session of a user or, without an id, all of them; one audit event if any was live. */
export const finishSessions = statement<
  { finished: number },
  [
    now: Date,
    userId: string,
    sessionId: string | null,
    reason: string,
    auditEventId: string,
    auditEventKind: string,
    ip: string | null,
    userAgent: string | null,
  ]
>(
  'finish-browser-sessions',
  `with finished as (
    update user_sessions set finished_at = $1::timestamptz, finish_reason = $4::text
    where user_id = $2::uuid and finished_at is null and ($3::uuid is null or id = $3::uuid)
    returning id
  ),
  audited as (
    ${INSERT_AUDIT_EVENT}
    select $5::uuid, $6::text, $2::uuid, null, $3::uuid, $7::inet, $8::text,
      jsonb_build_object('reason', $4::text, 'sessions', count(finished.id)), $1::timestamptz
    from finished having count(finished.id) > 0
  )
  select count(finished.id)::integer as finished from finished`,
);

/** Ends a session whose idle or absolute limit has passed. */
export const expireSession = statement<never, [now: Date, id: string, auditEventId: string]>(
  'expire-browser-session',
  `with expired as (
    update user_sessions set finished_at = $1::timestamptz, finish_reason = 'expired'
    where id = $2::uuid and finished_at is null
    returning id, user_id
  )
  ${INSERT_AUDIT_EVENT}
  select $3::uuid, 'session_ended', expired.user_id, null, expired.id, null, null, '{"reason": "expired"}'::jsonb,
    $1::timestamptz
  from expired`,
);

/** Ends the least recently active sessions of a user beyond the first `kept`. */
export const finishSurplusSessions = statement<never, [now: Date, userId: string, kept: number]>(
  'finish-surplus-browser-sessions',
  `update user_sessions set finished_at = $1::timestamptz, finish_reason = 'too_many_sessions'
  where finished_at is null and id in (
    select surplus.id from user_sessions surplus
    where surplus.user_id = $2::uuid and surplus.finished_at is null
    order by surplus.last_active_at desc nulls last, surplus.id desc offset $3::integer
  )`,
);

/** Counts a wrong password against the session that asked; the last one allowed ends it. */
export const countFailedReauth = statement<
  { is_ended: boolean },
  [now: Date, id: string, most: number, auditEventId: string, ip: string | null, userAgent: string | null]
>(
  'count-failed-reauth',
  `with counted as (
    update user_sessions set
      failed_reauths = failed_reauths + 1,
      finished_at = case when failed_reauths + 1 >= $3::integer then $1::timestamptz end,
      finish_reason = case when failed_reauths + 1 >= $3::integer then 'too_many_reauths' end
    where id = $2::uuid and finished_at is null
    returning id, user_id, finished_at is not null as is_ended
  ),
  audited as (
    ${INSERT_AUDIT_EVENT}
    select $4::uuid, 'session_ended', counted.user_id, null, counted.id, $5::inet, $6::text,
      '{"reason": "too_many_reauths"}'::jsonb, $1::timestamptz
    from counted where counted.is_ended
  )
  select counted.is_ended from counted`,
);

/** A session together with the authentication that opened it. */
export const insertSession = statement<
  never,
  [
    now: Date,
    id: string,
    userId: string,
    keyHash: Buffer,
    acr: string,
    amr: readonly string[],
    userAgent: string | null,
    ip: string | null,
    authenticationId: string,
    authenticationKind: string,
  ]
>(
  'insert-browser-session',
  `with opened as (
    insert into user_sessions (id, user_id, key_hash, authenticated_at, acr, amr, user_agent, created_at,
      last_active_at, last_active_ip)
    values ($2::uuid, $3::uuid, $4::bytea, $1::timestamptz, $5::text, $6::text[], $7::text, $1::timestamptz,
      $1::timestamptz, $8::inet)
    returning id
  )
  insert into user_session_authentications (id, user_session_id, kind, created_at)
  select $9::uuid, opened.id, $10::text, $1::timestamptz from opened`,
);
