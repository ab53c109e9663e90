import { newAuditEventId } from '#domain/audit/audit-event.ts';
import { type OAuth2SessionId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { endSession } from './writes.ts';

export type OAuth2SessionEndReason = 'client_revoked' | 'code_reused' | 'device_replaced' | 'refresh_token_reused';

export interface OAuth2SessionEnd {
  readonly reason: OAuth2SessionEndReason;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Of the request that ended it, for the audit log. */
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
}

/**
 * Ends a session and its child sessions at once: their tokens are dead from the commit on, since every statement that
 * accepts one reads its session. Erases the salts from which successors of refresh tokens could be derived again, and
 * writes the audit event. One statement, so that it may be sent alone or inside the caller's transaction.
 *
 * @returns whether this call ended it; false when it was finished or never existed
 */
export async function endOAuth2Session(
  queryable: Queryable,
  id: OAuth2SessionId,
  end: OAuth2SessionEnd,
): Promise<boolean> {
  const row = await queryable.first(endSession, {
    id: toUuid(id),
    now: new Date(end.now),
    reason: end.reason,
    auditEventId: newAuditEventId(end.now),
    ip: end.address ?? null,
    userAgent: end.userAgent ?? null,
  });
  return row !== undefined;
}
