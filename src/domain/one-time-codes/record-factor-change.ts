import { type Administrator, adminActor } from '#domain/audit/administrator.ts';
import { type AuditEventKind, recordAuditEvent } from '#domain/audit/audit-event.ts';
import type { UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';

/** Whose factors change, and from where. */
export interface FactorChange {
  readonly user: UserId;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** The administrator who does it in place of the owner. */
  readonly admin?: Administrator | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

type FactorEventKind = Extract<AuditEventKind, 'recovery_codes_generated' | 'totp_added' | 'totp_removed'>;

/** Writes the security event of a change of second factors, in its transaction. */
export async function recordFactorChange(
  transaction: Queryable,
  kind: FactorEventKind,
  { user, address, userAgent, admin, now }: FactorChange,
): Promise<void> {
  const by = admin && adminActor(admin);
  await recordAuditEvent(transaction, { kind, at: now, userId: user, address, userAgent, ...by });
}
