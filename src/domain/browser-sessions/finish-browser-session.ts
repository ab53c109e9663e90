import { type AuditEventKind, newAuditEventId } from '#domain/audit/audit-event.ts';
import { type BrowserSessionId, toUuid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { expireSession, finishSessions } from './writes.ts';

export type BrowserSessionEndReason = 'logout' | 'password_changed' | 'admin';

const AUDIT_EVENT_KINDS: Record<BrowserSessionEndReason, AuditEventKind> = {
  logout: 'logout',
  password_changed: 'session_ended',
  admin: 'session_ended',
};

export interface BrowserSessionEnd {
  readonly userId: UserId;
  /** One session of that user, or all that are live. */
  readonly which: BrowserSessionId | 'all';
  readonly reason: BrowserSessionEndReason;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Of the request that ended it, for the audit log. */
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
}

/**
 * Signs a person out of this service in one browser or in all. OAuth sessions that grew out of it stay; they have
 * their own end. One statement, so that it may be sent alone or inside the caller's transaction.
 *
 * @returns how many sessions this call ended
 */
export async function finishBrowserSession(queryable: Queryable, end: BrowserSessionEnd): Promise<number> {
  const row = await queryable.first(finishSessions, {
    now: new Date(end.now),
    userId: toUuid(end.userId),
    sessionId: end.which === 'all' ? null : toUuid(end.which),
    reason: end.reason,
    auditEventId: newAuditEventId(end.now),
    auditEventKind: AUDIT_EVENT_KINDS[end.reason],
    ip: end.address ?? null,
    userAgent: end.userAgent ?? null,
  });
  return row?.finished ?? 0;
}

/** Ends a session that was found idle too long or too old. */
export async function expireBrowserSession(queryable: Queryable, id: BrowserSessionId, now: number): Promise<void> {
  await queryable.execute(expireSession, { now: new Date(now), id: toUuid(id), auditEventId: newAuditEventId(now) });
}
