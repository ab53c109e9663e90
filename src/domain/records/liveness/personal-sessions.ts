/**
 * Long-lived access for programs: tables `personal_sessions` and `personal_access_tokens` (operations 4.7). An
 * administrator creates and owns a session. Its token acts as another account, often a service account. A session is
 * live until it is revoked, which is final. It has one token at a time, which works until it expires or is replaced.
 *
 * This file has the SQL conditions for using them. A token works only while its session is live and both its actor and
 * its owner are usable: check all of these.
 */
import { accountIsUsable } from './accounts.ts';
import { clientIsEnabled } from './clients.ts';

/**
 * The token of a live session may have expired, because another one can be issued.
 * @param session alias of `personal_sessions`
 */
export function personalSessionIsLive(session: string): string {
  return `${session}.revoked_at is null`;
}

/**
 * The session is live and its token has not expired.
 * @param now parameter with the time, a `timestamptz`
 */
export function personalSessionIsOpen(session: string, now: string): string {
  return `(${personalSessionIsLive(session)} and (${session}.expires_at is null or ${session}.expires_at > ${now}))`;
}

/**
 * @param token alias of `personal_access_tokens`
 * @param now parameter with the time, a `timestamptz`
 */
export function personalTokenIsLive(token: string, now: string): string {
  return `(${personalTokenIsCurrent(token)} and (${token}.expires_at is null or ${token}.expires_at > ${now}))`;
}

/** The token is live or has expired, but was neither revoked nor replaced. */
export function personalTokenIsCurrent(token: string): string {
  return `${token}.revoked_at is null`;
}

/**
 * Returns an SQL condition: the user or application that owns a session is still usable.
 * @param user alias of `users`
 * @param client alias of `oauth2_clients`; both are left joined to the session
 */
export function ownerIsUsable(session: string, user: string, client: string): string {
  return `(case when ${session}.owner_user_id is null then ${clientIsEnabled(client)} else ${accountIsUsable(user)} end)`;
}
