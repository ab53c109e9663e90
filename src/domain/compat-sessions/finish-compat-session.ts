import { type AuditActor, actorDetail, INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { type SessionEndParams, sessionEndParams } from '#domain/homeserver/device-sync-jobs.ts';
import { compatEndingCtes } from '#domain/oauth-sessions/end-compat-session.ts';
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { CompatSessionId } from '#vocabulary/ids.ts';

export interface CompatSessionEnd {
  /** Default: `logout`. */
  readonly reason?: 'admin' | 'logout';
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** IP address of the request that ended it, for the audit log. */
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
  /** The administrator who ended it, for the audit log. */
  readonly detail?: AuditActor['detail'];
  /** Whether a homeserver is connected, which must be notified of the removed device. */
  readonly syncsDevices: boolean;
}

const finish = statement<
  never,
  SessionEndParams & {
    readonly id: string;
    readonly reason: string;
    readonly now: Date;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
    readonly detail: string;
  }
>(
  'finish-compat-session',
  `with ${compatEndingCtes(
    `select id from compat_sessions where id = :id::uuid and ${compatSessionIsLive('compat_sessions')}`,
    ':now::timestamptz',
    ':reason::text',
  )}
  ${INSERT_AUDIT_EVENT}
  select :auditEventId::uuid, 'session_ended', compat_ended.user_id, null, compat_ended.id, :ip::inet, :userAgent::text,
         :detail::jsonb || jsonb_build_object('reason', :reason::text), :now::timestamptz
    from compat_ended`,
);

/**
 * Ends a chat client's session and its tokens with one statement. Does nothing if the session has already ended.
 * @returns whether this call ended it
 */
export async function finishCompatSession(
  queryable: Queryable,
  id: CompatSessionId,
  { reason = 'logout', now, address, userAgent, detail, syncsDevices }: CompatSessionEnd,
): Promise<boolean> {
  const written = await queryable.execute(finish, {
    id: toUuid(id),
    reason,
    now: new Date(now),
    auditEventId: newAuditEventId(now),
    ip: address ?? null,
    userAgent: userAgent ?? null,
    detail: actorDetail({ detail }),
    ...sessionEndParams(syncsDevices),
  });
  return written > 0;
}
