/**
 * Email addresses that a user claims and proves with a mailed code (browser-flows 6): table
 * `user_email_authentications`. Each row is one address. Either a registration refers to it, or it refers to the
 * browser session in which the user adds the address to an account.
 *
 * An authentication is open until it is proven (`completed_at`), one hour has passed, or too many codes were tried.
 * Each mail has a different code, and only the code of the most recently requested mail is valid.
 */

import { MAX_CODE_TRIES } from '#domain/records/liveness/email-authentications.ts';
import { fromUuid, type Ulid } from '#platform/base/ids.ts';

export type EmailAuthenticationId = Ulid<'email-authentication'>;

/** Seconds from the start during which mails are sent and codes are accepted. */
const TTL_SECONDS = 3600;

export type EmailAuthenticationState = 'open' | 'proven' | 'over';

export interface EmailAuthentication {
  readonly id: EmailAuthenticationId;
  /** The address for sending mail. */
  readonly email: string;
  readonly emailKey: string;
  readonly state: EmailAuthenticationState;
}

/** The columns that `toEmailAuthentication` reads. */
export interface EmailAuthenticationRow {
  readonly id: string;
  readonly email: string;
  readonly email_key: string;
  readonly created_at: number;
  readonly tries: number;
  readonly is_completed: boolean;
}

/** @param now milliseconds since the epoch */
export function toEmailAuthentication(row: EmailAuthenticationRow, now: number): EmailAuthentication {
  return { id: fromUuid(row.id), email: row.email, emailKey: row.email_key, state: stateOf(row, now) };
}

function stateOf(row: EmailAuthenticationRow, now: number): EmailAuthenticationState {
  if (row.is_completed) return 'proven';
  const isOpen = row.tries < MAX_CODE_TRIES && row.created_at > begunAfter(now).getTime();
  return isOpen ? 'open' : 'over';
}

/** Returns the earliest start time of authentications that have not expired. */
export function begunAfter(now: number): Date {
  return new Date(now - TTL_SECONDS * 1000);
}
