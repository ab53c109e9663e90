import { type AuditActor, INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { insertSyncsOfEnded, type SessionEndParams, sessionEndParams } from '#domain/homeserver/device-sync-jobs.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { PersonalSessionId } from '#vocabulary/ids.ts';
import { PERSONAL_ENDED_DEVICES, personalEndingCte } from './end-personal-sessions.ts';

export interface PersonalSessionEnd {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly by: AuditActor;
  /** Whether a homeserver is connected, which must learn that the device is gone. */
  readonly syncsDevices: boolean;
}

/**
 * Revokes a session in one statement. Its token stops working when that commits.
 * @returns whether this call revoked it
 */
export async function revokePersonalSession(
  queryable: Queryable,
  id: PersonalSessionId,
  { now, by, syncsDevices }: PersonalSessionEnd,
): Promise<boolean> {
  const written = await queryable.execute(revoke, {
    id: toUuid(id),
    now: new Date(now),
    auditEventId: newAuditEventId(now),
    clientId: by.clientId === undefined ? null : toUuid(by.clientId),
    detail: JSON.stringify({ ...by.detail, reason: 'admin' }),
    ...sessionEndParams(syncsDevices),
  });
  return written > 0;
}

const revoke = statement<
  never,
  SessionEndParams & {
    readonly id: string;
    readonly now: Date;
    readonly auditEventId: string;
    readonly clientId: string | null;
    readonly detail: string;
  }
>(
  'revoke-personal-session',
  `with ${personalEndingCte('select :id::uuid', ':now::timestamptz')}, synced as (
    ${insertSyncsOfEnded([PERSONAL_ENDED_DEVICES], ':now::timestamptz')}
  )
  ${INSERT_AUDIT_EVENT}
  select :auditEventId::uuid, 'session_ended', actor_user_id, :clientId::uuid, id, null, null, :detail::jsonb,
         :now::timestamptz
    from personal_ended`,
);
