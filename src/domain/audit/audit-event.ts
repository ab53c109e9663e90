/**
 * Security events, table `audit_events`. Events are inserted in the transaction of the change that they record and
 * never changed, except for the count of wrong passwords. The account area shows users their events. Events are deleted
 * by age and never contain a secret.
 */
import { deleteOldest, type SweepRow, secondsBefore } from '#domain/clean-up/sweep.ts';
import { newId, toUuid, type Ulid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { newIdSql, statement } from '#platform/postgres/statement.ts';

export const AUDIT_EVENT_KINDS = [
  'account_deactivated',
  'account_locked',
  'account_reactivated',
  'account_unlocked',
  'admin_action',
  'admin_granted',
  'admin_revoked',
  'app_access_lost',
  'application_revoked',
  'claims_changed',
  'consent_given',
  'consent_revoked',
  'cross_signing_reset_allowed',
  'data_exported',
  'display_name_changed',
  'email_added',
  'email_removed',
  'groups_changed',
  'login',
  'login_failed',
  'logout',
  'passkey_added',
  'passkey_removed',
  'password_changed',
  'password_recovered',
  'primary_email_changed',
  'profile_changed',
  'reauthenticated',
  'recovery_code_used',
  'recovery_codes_generated',
  'recovery_started',
  'registered',
  'session_ended',
  'session_started',
  'sessions_ended',
  'totp_added',
  'totp_removed',
  'upstream_linked',
  'upstream_unlinked',
] as const;
export type AuditEventKind = (typeof AUDIT_EVENT_KINDS)[number];

/**
 * The kind that contains an administrator's address. Every statement that reads events for a user excludes it.
 */
export const ADMIN_ACTION = 'admin_action' satisfies AuditEventKind;

export interface AuditEvent {
  readonly kind: AuditEventKind;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly userId?: Ulid | undefined;
  readonly clientId?: Ulid | undefined;
  /** The session that the event concerns, of any kind. */
  readonly sessionId?: Ulid | undefined;
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
  readonly detail?: Readonly<Record<string, string | number | boolean | readonly string[]>> | undefined;
}

/**
 * Who made a change and from where: the user, or an administrator on the user's behalf. An administrator acts through a
 * client and may have an account, which `detail` then contains.
 */
export type AuditActor = Pick<AuditEvent, 'address' | 'clientId' | 'detail' | 'userAgent'>;

/** Returns the JSON for `detail` of statements that add further members themselves. */
export function actorDetail({ detail }: Pick<AuditActor, 'detail'>): string {
  return JSON.stringify(detail ?? {});
}

/** The head of an insert within a larger statement. Values follow in this order. */
export const INSERT_AUDIT_EVENT =
  'insert into audit_events (id, kind, user_id, client_id, session_id, ip, user_agent, detail, created_at)';

const insertAuditEvent = statement<
  never,
  {
    readonly id: string;
    readonly kind: AuditEventKind;
    readonly userId: string | null;
    readonly clientId: string | null;
    readonly sessionId: string | null;
    readonly ip: string | null;
    readonly userAgent: string | null;
    readonly detail: string | null;
    readonly at: Date;
  }
>(
  'insert-audit-event',
  `${INSERT_AUDIT_EVENT}
   values (:id::uuid, :kind::text, :userId::uuid, :clientId::uuid, :sessionId::uuid, :ip::inet, :userAgent::text, :detail::jsonb, :at::timestamptz)`,
);

/** Returns the `id` of a new event, for statements that insert one themselves. */
export function newAuditEventId(now: number): string {
  return toUuid(newId(now));
}

/**
 * Returns an SQL expression for the `id`, for statements that record events for several rows.
 * @param now parameter with the time, cast to `timestamptz`
 */
export function auditEventIdSql(now: string): string {
  return newIdSql(now);
}

/**
 * Inserts one event. Pass the transaction of the change that it records.
 * @returns its `id` in the table
 */
export async function recordAuditEvent(queryable: Queryable, event: AuditEvent): Promise<string> {
  const id = newAuditEventId(event.at);
  await queryable.execute(insertAuditEvent, {
    id,
    kind: event.kind,
    userId: uuidOrNull(event.userId),
    clientId: uuidOrNull(event.clientId),
    sessionId: uuidOrNull(event.sessionId),
    ip: event.address ?? null,
    userAgent: event.userAgent ?? null,
    detail: event.detail === undefined ? null : JSON.stringify(event.detail),
    at: new Date(event.at),
  });
  return id;
}

function uuidOrNull(id: Ulid | undefined): string | null {
  return id === undefined ? null : toUuid(id);
}

export const auditEventSweeps: readonly SweepRow[] = [
  {
    name: 'cleanup-audit-events',
    minute: 57,
    batch: deleteOldest('sweep-audit-events', {
      table: 'audit_events',
      orderedBy: 'created_at',
      isDue: 't.created_at < :createdBefore::timestamptz',
    }),
    parameters: (now, { auditEventsSeconds }) => ({ createdBefore: secondsBefore(now, auditEventsSeconds) }),
  },
];
