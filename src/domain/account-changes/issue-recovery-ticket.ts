import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { recoverySessionIsOpen } from '#domain/records/liveness/recoveries.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { UpstreamProviderId } from '#vocabulary/ids.ts';
import { newRecoveryTicket, ticketHash } from './recovery-ticket.ts';

export interface IssueTicketDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly sessionTtlSeconds: number;
  /** Accounts without a password get a ticket too, even if no administrator requested it. */
  readonly setsFirstPassword: boolean;
}

/** What the email of a recovery session says about the request. */
interface RecoveryRequestFacts {
  readonly at: Date;
  readonly locale: string;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

export type RecoveryMail = RecoveryRequestFacts &
  (
    | { readonly kind: 'ticket'; readonly to: string; readonly username: string; readonly ticket: string }
    | {
        readonly kind: 'no-password';
        readonly to: string;
        readonly username: string;
        /** Providers that the account is linked to. */
        readonly providers: readonly UpstreamProviderId[];
      }
    /** No account has the address; `to` is the address as entered. */
    | { readonly kind: 'unknown'; readonly to: string }
  );

type SessionRow = {
  readonly typed_email: string;
  readonly created_at: number;
  readonly locale: string;
  readonly ip: string | null;
  readonly user_agent: string | null;
} & (
  | { readonly email: null }
  | {
      readonly email: string;
      readonly username: string;
      readonly is_usable: boolean;
      readonly is_issued: boolean;
      readonly providers: readonly string[];
    }
);

const issue = statement<
  SessionRow,
  {
    readonly payload: string;
    readonly now: Date;
    readonly madeAfter: Date;
    readonly ticketHash: Buffer;
    readonly setsFirstPassword: boolean;
    readonly auditEventId: string;
  }
>(
  'issue-recovery-ticket',
  `with session as (
    select s.id, s.email, s.email_key, s.locale, s.ip, s.user_agent, s.created_at, s.is_by_admin
      from user_recovery_sessions s
     where s.id = (:payload::jsonb ->> 'session_id')::uuid and ${recoverySessionIsOpen('s')} and s.created_at > :madeAfter::timestamptz
  ), account as (
    select e.id as user_email_id, e.email, u.id as user_id, u.username, ${accountIsUsable('u')} as is_usable,
           (select p.id from user_passwords p where p.user_id = u.id) as password_id
      from session
      join user_emails e on e.email_key = session.email_key
      join users u on u.id = e.user_id
  ), issued as (
    insert into user_recovery_tickets (ticket_hash, session_id, user_id, user_email_id, password_id, created_at)
    select :ticketHash::bytea, session.id, account.user_id, account.user_email_id, account.password_id, :now::timestamptz
      from session, account
     where account.is_usable and (account.password_id is not null or :setsFirstPassword::boolean or session.is_by_admin)
    returning user_id
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'recovery_started', issued.user_id, null, null, session.ip, session.user_agent,
           case when session.is_by_admin then jsonb_build_object('actor', 'admin') end, :now::timestamptz
      from issued, session
  )
  select session.email as typed_email, ${ms('session.created_at')} as created_at, session.locale, host(session.ip) as ip, session.user_agent,
         account.email, account.username, account.is_usable, exists (select from issued) as is_issued,
         array(select link.provider_id::text from upstream_links link where link.user_id = account.user_id) as providers
    from session left join account on true`,
);

/**
 * Returns the email for a recovery session and stores its ticket (browser-flows 7.1). Undefined to send nothing,
 * because the account is locked or deactivated, or the session has ended.
 * @param payload of the job
 */
export async function issueRecoveryTicket(deps: IssueTicketDeps, payload: unknown): Promise<RecoveryMail | undefined> {
  const now = deps.clock.now();
  const ticket = newRecoveryTicket();
  const row = await deps.database.first(issue, {
    payload: JSON.stringify(payload),
    now: new Date(now),
    madeAfter: new Date(now - deps.sessionTtlSeconds * 1000),
    ticketHash: ticketHash(ticket),
    setsFirstPassword: deps.setsFirstPassword,
    auditEventId: newAuditEventId(now),
  });
  if (row === undefined) return undefined;
  const facts = {
    at: new Date(row.created_at),
    locale: row.locale,
    address: row.ip ?? undefined,
    userAgent: row.user_agent ?? undefined,
  };
  if (row.email === null) return { ...facts, kind: 'unknown', to: row.typed_email };
  if (!row.is_usable) return undefined;
  const { email: to, username } = row;
  const providers = row.providers.map((id) => fromUuid<'upstream-provider'>(id));
  return row.is_issued
    ? { ...facts, kind: 'ticket', to, username, ticket }
    : { ...facts, kind: 'no-password', to, username, providers };
}
