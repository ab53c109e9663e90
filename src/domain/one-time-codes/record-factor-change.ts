import { type AuditActor, type AuditEventKind, recordAuditEvent } from '#domain/audit/audit-event.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import type { UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';

/** Whose factors a person changes, and from where. */
export interface FactorChange {
  readonly user: UserId;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Of the request, for the mail. */
  readonly language: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface RecordedChange extends Pick<FactorChange, 'now' | 'user'> {
  readonly by: AuditActor;
  /** Undefined: that of the account. */
  readonly language: string | undefined;
  /** People are told by mail. */
  readonly sendsNotices: boolean;
}

/** Writes the security event of a change of second factors and has its person told by mail, in its transaction. */
export async function recordFactorChange(
  transaction: Queryable,
  kind: Extract<AuditEventKind, 'recovery_codes_generated' | 'totp_added' | 'totp_removed'>,
  { user, by, language, now, sendsNotices }: RecordedChange,
): Promise<void> {
  const eventId = await recordAuditEvent(transaction, { kind, at: now, userId: user, ...by });
  if (!sendsNotices) return;
  await queueNotice(transaction, 'factor_changed', { user, eventId, detail: { change: kind }, language, now });
}

/** The person themselves, as the event names them. */
export function ownActor({ address, userAgent }: Pick<FactorChange, 'address' | 'userAgent'>): AuditActor {
  return { address, userAgent };
}
