import type { Limiter } from '#config/sections/rate-limiting.ts';
import { chargeAddress } from '#domain/limits/rate-limits.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { recoverySessionIsOpen } from '#domain/records/liveness/recoveries.ts';
import type { Clock } from '#platform/base/clock.ts';
import { isRecent } from '#platform/base/clock.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import { randomAlphanumeric } from '#platform/base/random.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { RecoverySessionId, RecoveryTicketId, UserId } from '#vocabulary/ids.ts';
import { type RecoverySession, recoverySessionState } from './recovery-session.ts';

/** 190 bits. */
const TICKET_LENGTH = 32;
const TICKET = new RegExp(`^[0-9A-Za-z]{${TICKET_LENGTH}}$`);

/** Ticket checks per client address. */
const CHECKS: Limiter = { burst: 20, perSecond: 20 / 60 };

export interface TicketDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  readonly ticketTtlSeconds: number;
  readonly sessionTtlSeconds: number;
}

/** A ticket that exists, whether or not it is valid. */
export interface IssuedTicket {
  readonly id: RecoveryTicketId;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** The account and session of a ticket. */
export interface RecoveryTicket extends IssuedTicket {
  readonly user: { readonly id: UserId; readonly username: string; readonly displayName: string | undefined };
  readonly session: Pick<RecoverySession, 'id' | 'email' | 'emailKey'>;
  /** It works even if users cannot request recovery themselves. */
  readonly isByAdmin: boolean;
  /** Confirmed addresses of the account, which would be easy to guess as passwords. */
  readonly emails: readonly string[];
}

export type TicketCheck =
  | { readonly kind: 'valid'; readonly ticket: RecoveryTicket }
  /** The account is locked or deactivated. */
  | { readonly kind: 'locked'; readonly ticket: RecoveryTicket }
  /** `isSessionOpen`: another email can be sent for the session. */
  | { readonly kind: 'expired'; readonly ticket: RecoveryTicket; readonly isSessionOpen: boolean }
  | { readonly kind: 'consumed'; readonly ticket: IssuedTicket }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'rate-limited'; readonly retryAfterSeconds: number };

export function newRecoveryTicket(): string {
  return randomAlphanumeric(TICKET_LENGTH);
}

/** Returns the stored digest of a ticket. */
export function ticketHash(ticket: string): Buffer {
  return sha256(ticket);
}

/**
 * Returns an SQL condition: the account still has the password from when the ticket was created. Any password change
 * invalidates the ticket.
 * @param ticket alias of `user_recovery_tickets`
 */
export function passwordIsUnchanged(ticket: string): string {
  return `${ticket}.password_id is not distinct from (
    select p.id from user_passwords p where p.user_id = ${ticket}.user_id
  )`;
}

/**
 * Returns an SQL condition: the account still has the address that the ticket was sent to. One that an administrator
 * handed over was sent to none.
 * @param ticket alias of `user_recovery_tickets`
 */
export function addressIsUnchanged(ticket: string): string {
  return `(${ticket}.user_email_id is null or exists (
    select from user_emails e where e.id = ${ticket}.user_email_id and e.user_id = ${ticket}.user_id
  ))`;
}

interface TicketRow {
  readonly id: string;
  readonly user_id: string;
  readonly username: string;
  readonly display_name: string | null;
  readonly is_usable: boolean;
  readonly emails: readonly string[];
  readonly session_id: string;
  readonly email: string;
  readonly email_key: string;
  readonly is_consumed: boolean;
  readonly created_at: number;
  readonly session_created_at: number;
  readonly is_by_admin: boolean;
}

/**
 * Tickets are looked up by digest only. The public ID consists of the creation time and the first 80 bits of the
 * digest, which cannot be used to find the 190 bits.
 */
const TICKET_ID = `(lpad(to_hex(${ms('t.created_at')}::bigint), 12, '0')
            || substr(encode(t.ticket_hash, 'hex'), 1, 20))::uuid`;

const findTicket = statement<TicketRow, { readonly ticketHash: Buffer }>(
  'find-recovery-ticket',
  `select ${TICKET_ID} as id, u.id as user_id, u.username, u.display_name, ${accountIsUsable('u')} as is_usable,
          array(select other.email from user_emails other where other.user_id = u.id) as emails,
          s.id as session_id, s.email, s.email_key,
          not (${recoverySessionIsOpen('s')} and ${passwordIsUnchanged('t')}) as is_consumed,
          ${ms('t.created_at')} as created_at, ${ms('s.created_at')} as session_created_at, s.is_by_admin
     from user_recovery_tickets t
     join user_recovery_sessions s on s.id = t.session_id
     join users u on u.id = t.user_id
    where t.ticket_hash = :ticketHash::bytea and ${addressIsUnchanged('t')}`,
);

/**
 * Checks a ticket, in the order of browser-flows 7.3. Does not consume it, because email scanners open links. Checks
 * are rate-limited by address.
 */
export async function checkRecoveryTicket(
  deps: TicketDeps,
  ticket: string,
  address: string | undefined,
): Promise<TicketCheck> {
  // The format is invalid, so there is nothing to look up.
  if (!TICKET.test(ticket)) return { kind: 'unknown' };
  const taken = await chargeAddress(deps, { name: 'recovery-ticket', limiter: CHECKS, address });
  if (!taken.ok) return { kind: 'rate-limited', retryAfterSeconds: taken.retryAfterSeconds };
  const row = await deps.database.first(findTicket, { ticketHash: ticketHash(ticket) });
  return row === undefined ? { kind: 'unknown' } : judge(row, deps);
}

function judge(row: TicketRow, { clock, sessionTtlSeconds, ticketTtlSeconds }: TicketDeps): TicketCheck {
  const ticket = ticketOf(row);
  if (row.is_consumed) return { kind: 'consumed', ticket: { id: ticket.id, createdAt: ticket.createdAt } };
  const now = clock.now();
  const isExpired = !isRecent(row.created_at, ticketTtlSeconds * 1000 - 1, now);
  if (!isExpired) return { kind: row.is_usable ? 'valid' : 'locked', ticket };
  // Only an administrator can send another one.
  if (row.is_by_admin) return { kind: 'unknown' };
  const session = { createdAt: row.session_created_at, isConsumed: false };
  return { kind: 'expired', ticket, isSessionOpen: recoverySessionState(session, sessionTtlSeconds, now) === 'open' };
}

function ticketOf(row: TicketRow): RecoveryTicket {
  const id: RecoverySessionId = fromUuid(row.session_id);
  return {
    id: fromUuid(row.id),
    createdAt: row.created_at,
    user: { id: fromUuid(row.user_id), username: row.username, displayName: row.display_name ?? undefined },
    session: { id, email: row.email, emailKey: row.email_key },
    isByAdmin: row.is_by_admin,
    emails: row.emails,
  };
}
