/**
 * E-mail addresses that a person says are theirs, and proves by a code that is mailed there (browser-flows 6): table
 * `user_email_authentications`. One row is one address; a registration refers to it, or it refers to the browser session
 * in which a person adds an address to an account.
 *
 * Open until it is proven (`completed_at`), an hour has passed, or too many codes were tried. Each further mail has a
 * code of its own, and only that of the last mail asked for works.
 */
import { fromUuid, type Ulid } from '#platform/base/ids.ts';
import { MAX_CODE_TRIES } from './liveness.ts';

export type EmailAuthenticationId = Ulid<'email-authentication'>;

/** Seconds from its beginning in which mails are sent for it and codes accepted. */
const TTL_SECONDS = 3600;

export type EmailAuthenticationState = 'open' | 'proven' | 'over';

export interface EmailAuthentication {
  readonly id: EmailAuthenticationId;
  /** As mail is sent to it. */
  readonly email: string;
  readonly emailKey: string;
  readonly state: EmailAuthenticationState;
}

/** What `emailAuthenticationColumns` selects. */
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

/** When an authentication that is not over was begun at the earliest. */
export function begunAfter(now: number): Date {
  return new Date(now - TTL_SECONDS * 1000);
}
