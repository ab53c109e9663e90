import {
  type AuditActor,
  type AuditEventKind,
  actorDetail,
  auditEventIdSql,
  INSERT_AUDIT_EVENT,
  newAuditEventId,
} from '#domain/audit/audit-event.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { BrowserSessionId, UserId } from '#vocabulary/ids.ts';

/** Parameters of `FINISHING_CTES`. */
export interface FinishParams {
  readonly now: Date;
  readonly userId: string;
  readonly sessionId: string | null;
  readonly keptSessionId: string | null;
  readonly reason: string;
  readonly auditEventId: string;
  readonly auditEventKind: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly auditDetail: string;
}

/**
 * Returns the CTE `finished`, which ends live sessions of `:userId` and returns their IDs. It records no audit event.
 * @param which condition on `user_sessions`
 */
export function finishedCte(which: string): string {
  return `finished as (
    update user_sessions set finished_at = :now::timestamptz, finish_reason = :reason::text
    where user_id = :userId::uuid and ${browserSessionIsLive('user_sessions')} and ${which}
    returning id
  )`;
}

/**
 * CTEs that end one session of a user or, without an ID, all of them except `:keptSessionId`. `finished` returns their
 * IDs. Records one audit event if any session was live.
 */
export const FINISHING_CTES = `${finishedCte('(:sessionId::uuid is null or id = :sessionId::uuid) and id is distinct from :keptSessionId::uuid')},
  finish_audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, :auditEventKind::text, :userId::uuid, null, :sessionId::uuid, :ip::inet, :userAgent::text,
      :auditDetail::jsonb || jsonb_build_object('reason', :reason::text, 'sessions', count(finished.id)),
      :now::timestamptz
    from finished having count(finished.id) > 0
  )`;

/**
 * CTEs that end the live sessions among `:sessionIds`, of any user. `finished` returns them with their users. Records
 * one audit event per session.
 */
export const FINISHING_LISTED_CTES = `finished as (
    update user_sessions set finished_at = :now::timestamptz, finish_reason = :reason::text
    where id = any (:sessionIds::uuid[]) and ${browserSessionIsLive('user_sessions')}
    returning id, user_id
  ),
  finish_audited as (
    ${INSERT_AUDIT_EVENT}
    select ${auditEventIdSql(':now::timestamptz')}, 'session_ended', finished.user_id, null, finished.id, null, null,
      jsonb_build_object('reason', :reason::text, 'sessions', 1), :now::timestamptz
    from finished
  )`;

const finishSessions = statement<{ finished: number }, FinishParams>(
  'finish-browser-sessions',
  `with ${FINISHING_CTES} select count(finished.id)::integer as finished from finished`,
);

export type BrowserSessionEndReason = 'logout' | 'password_changed' | 'password_recovered' | 'deactivated' | 'admin';

const AUDIT_EVENT_KINDS: Record<BrowserSessionEndReason, AuditEventKind> = {
  logout: 'logout',
  password_changed: 'session_ended',
  password_recovered: 'session_ended',
  deactivated: 'session_ended',
  admin: 'session_ended',
};

export interface BrowserSessionEnd {
  readonly userId: UserId;
  /** One session of the user, all live sessions, or all but one. */
  readonly which: BrowserSessionId | 'all' | { readonly allBut: BrowserSessionId };
  readonly reason: BrowserSessionEndReason;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** IP address of the request that ended it, for the audit log. */
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
  /** The administrator who ended it, for the audit log. */
  readonly detail?: AuditActor['detail'];
}

/**
 * Ends browser sessions only. For a sign-out by the user, call `signOut` of the OAuth sessions, which also notifies
 * clients. Uses one statement, which also works outside a transaction.
 *
 * @returns number of sessions ended by this call
 */
export async function finishBrowserSession(queryable: Queryable, end: BrowserSessionEnd): Promise<number> {
  const row = await queryable.first(finishSessions, finishParams(end));
  return row?.finished ?? 0;
}

export function finishParams(end: BrowserSessionEnd): FinishParams {
  const { which } = end;
  return {
    now: new Date(end.now),
    userId: toUuid(end.userId),
    sessionId: typeof which === 'object' || which === 'all' ? null : toUuid(which),
    keptSessionId: typeof which === 'object' ? toUuid(which.allBut) : null,
    reason: end.reason,
    auditEventId: newAuditEventId(end.now),
    auditEventKind: AUDIT_EVENT_KINDS[end.reason],
    ip: end.address ?? null,
    userAgent: end.userAgent ?? null,
    auditDetail: actorDetail(end),
  };
}

const expireSession = statement<never, { readonly now: Date; readonly id: string; readonly auditEventId: string }>(
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

/** Ends a session that was found to be idle for too long. */
export async function expireBrowserSession(queryable: Queryable, id: BrowserSessionId, now: number): Promise<void> {
  await queryable.execute(expireSession, { now: new Date(now), id: toUuid(id), auditEventId: newAuditEventId(now) });
}
