/**
 * A link to set a password, which an administrator requests for an account: sent to its primary address, or handed over
 * by the administrator. It works like the link of a recovery, also while users cannot request one themselves.
 */
import { type AuditActor, actorDetail, INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { primaryFirst } from '#domain/records/primary-email.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { INSERT_JOB, ON_WAITING_JOB, queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { newRecoveryTicket, ticketHash } from './recovery-ticket.ts';
import { RECOVERY_MAIL_QUEUE } from './start-recovery.ts';

export interface RecoveryLinkRequest {
  readonly user: UserId;
  /** The administrator. */
  readonly by: AuditActor;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Queues an email with a link to the primary address. Expects the caller's transaction.
 * @param language of the email, if the user has not chosen one
 * @returns whether the account has an address
 */
export async function mailRecoveryLink(
  transaction: Queryable,
  { user, now }: RecoveryLinkRequest,
  language: string,
): Promise<boolean> {
  const queued = await transaction.execute(queueMail, {
    id: toUuid(newId(now)),
    userId: toUuid(user),
    language,
    jobId: toUuid(newId(now)),
    queuedBy: queuedBy(),
    now: new Date(now),
  });
  return queued > 0;
}

/** Creates a link for the administrator to hand over. Expects the caller's transaction. @returns its ticket */
export async function handOverRecoveryTicket(
  transaction: Queryable,
  { user, by, now }: RecoveryLinkRequest,
): Promise<string> {
  const ticket = newRecoveryTicket();
  await transaction.execute(storeTicket, {
    id: toUuid(newId(now)),
    userId: toUuid(user),
    ticketHash: ticketHash(ticket),
    auditEventId: newAuditEventId(now),
    clientId: by.clientId === undefined ? null : toUuid(by.clientId),
    detail: actorDetail(by),
    now: new Date(now),
  });
  return ticket;
}

const queueMail = statement<
  never,
  {
    readonly id: string;
    readonly userId: string;
    readonly language: string;
    readonly jobId: string;
    readonly queuedBy: string | null;
    readonly now: Date;
  }
>(
  'mail-recovery-link',
  `with account as materialized (
    select e.email, e.email_key, coalesce(u.locale, :language::text) as locale
      from users u join user_emails e on e.user_id = u.id
     where u.id = :userId::uuid order by ${primaryFirst('e')} limit 1
  ), queued as (
    ${INSERT_JOB}
    select :jobId::uuid, '${RECOVERY_MAIL_QUEUE}', jsonb_build_object('session_id', :id::uuid), :id::text,
           :queuedBy::text, :now::timestamptz, :now::timestamptz
      from account
    ${ON_WAITING_JOB}
  )
  insert into user_recovery_sessions (id, email, email_key, locale, created_at, is_by_admin)
  select :id::uuid, account.email, account.email_key, account.locale, :now::timestamptz, true from account`,
);

/** The session has no address: no email is ever sent for it. */
const storeTicket = statement<
  never,
  {
    readonly id: string;
    readonly userId: string;
    readonly ticketHash: Buffer;
    readonly auditEventId: string;
    readonly clientId: string | null;
    readonly detail: string;
    readonly now: Date;
  }
>(
  'hand-over-recovery-ticket',
  `with session as (
    insert into user_recovery_sessions (id, email, email_key, locale, created_at, is_by_admin)
    values (:id::uuid, '', '', '', :now::timestamptz, true)
    returning id
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    values (:auditEventId::uuid, 'recovery_started', :userId::uuid, :clientId::uuid, null, null, null, :detail::jsonb,
            :now::timestamptz)
  )
  insert into user_recovery_tickets (ticket_hash, session_id, user_id, password_id, created_at)
  select :ticketHash::bytea, session.id, :userId::uuid,
         (select p.id from user_passwords p where p.user_id = :userId::uuid), :now::timestamptz
    from session`,
);
