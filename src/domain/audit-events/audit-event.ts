/**
 * Security events, table `audit_events`: written in the transaction of the change that they record, never edited,
 * shown to their user in the account area. They never hold a secret.
 */
import { newId, toUuid, type Ulid } from '#base/ids.ts';
import type { Queryable } from '#db/database.ts';
import { statement } from '#db/statement.ts';

export type AuditEventKind =
  | 'consent_given'
  | 'login'
  | 'login_failed'
  | 'logout'
  | 'password_changed'
  | 'reauthenticated'
  | 'registered'
  | 'session_ended'
  | 'session_started';

export interface AuditEvent {
  readonly kind: AuditEventKind;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly userId?: Ulid | undefined;
  readonly clientId?: Ulid | undefined;
  /** The session that the event is about, of whatever kind. */
  readonly sessionId?: Ulid | undefined;
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
  readonly detail?: Readonly<Record<string, string | number | boolean>> | undefined;
}

/** The head of an insert inside a larger statement; values follow in this order. */
export const INSERT_AUDIT_EVENT =
  'insert into audit_events (id, kind, user_id, client_id, session_id, ip, user_agent, detail, created_at)';

const insertAuditEvent = statement<
  never,
  [
    id: string,
    kind: AuditEventKind,
    userId: string | null,
    clientId: string | null,
    sessionId: string | null,
    ip: string | null,
    userAgent: string | null,
    detail: string | null,
    at: Date,
  ]
>(
  'insert-audit-event',
  `${INSERT_AUDIT_EVENT}
   values ($1::uuid, $2::text, $3::uuid, $4::uuid, $5::uuid, $6::inet, $7::text, $8::jsonb, $9::timestamptz)`,
);

/** The `id` of a new event, for statements that insert one themselves. */
export function newAuditEventId(now: number): string {
  return toUuid(newId(now));
}

/** Writes one event; pass the transaction of the change that it records. */
export async function recordAuditEvent(queryable: Queryable, event: AuditEvent): Promise<void> {
  await queryable.execute(insertAuditEvent, [
    newAuditEventId(event.at),
    event.kind,
    uuidOrNull(event.userId),
    uuidOrNull(event.clientId),
    uuidOrNull(event.sessionId),
    event.address ?? null,
    event.userAgent ?? null,
    event.detail === undefined ? null : JSON.stringify(event.detail),
    new Date(event.at),
  ]);
}

function uuidOrNull(id: Ulid | undefined): string | null {
  return id === undefined ? null : toUuid(id);
}
