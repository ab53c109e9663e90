import { type AuditActor, type AuditEventKind, recordAuditEvent } from '#domain/audit/audit-event.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { UserId } from '#vocabulary/ids.ts';

/** A change of a user's second factors, and where it came from. */
export interface FactorChange {
  readonly user: UserId;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Language of the request, for the email. */
  readonly language: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface RecordedChange extends Pick<FactorChange, 'now' | 'user'> {
  readonly by: AuditActor;
  /** Undefined to use the account's language. */
  readonly language: string | undefined;
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
}

/** Records the security event of a change of second factors and notifies the user, in the transaction of the change. */
export async function recordFactorChange(
  transaction: Queryable,
  kind: Extract<AuditEventKind, 'recovery_codes_generated' | 'totp_added' | 'totp_removed'>,
  { user, by, language, now, sendsNotices }: RecordedChange,
): Promise<void> {
  const eventId = await recordAuditEvent(transaction, { kind, at: now, userId: user, ...by });
  if (!sendsNotices) return;
  await queueNotice(transaction, 'factor_changed', { user, eventId, detail: { change: kind }, language, now });
}

/** The user as the actor of the event. */
export function ownActor({ address, userAgent }: Pick<FactorChange, 'address' | 'userAgent'>): AuditActor {
  return { address, userAgent };
}
