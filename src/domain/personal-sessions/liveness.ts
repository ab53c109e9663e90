/**
 * Standing permissions of programs: tables `personal_sessions` and `personal_access_tokens` (operations 4.7). An
 * administrator makes one and owns it; its token acts as another account, often one for a service. A session is live until
 * it is revoked, which is final; it has one token at a time, which works until it expires or is replaced.
 *
 * This file says when each of them may be used, as conditions for statements. A token works only while its session is
 * live, the account that it acts as usable and its owner, too: ask for all of them.
 */
import { accountIsUsable } from '#domain/accounts/liveness.ts';
import { clientIsEnabled } from '#domain/clients/liveness.ts';

/** Its token may have expired: another one can be made. @param session alias of `personal_sessions` */
export function personalSessionIsLive(session: string): string {
  return `${session}.revoked_at is null`;
}

/** A live session whose token has not expired. @param now parameter with the time, a `timestamptz` */
export function personalSessionIsOpen(session: string, now: string): string {
  return `(${personalSessionIsLive(session)} and (${session}.expires_at is null or ${session}.expires_at > ${now}))`;
}

/** @param token alias of `personal_access_tokens`; @param now parameter with the time, a `timestamptz` */
export function personalTokenIsLive(token: string, now: string): string {
  return `(${personalTokenIsCurrent(token)} and (${token}.expires_at is null or ${token}.expires_at > ${now}))`;
}

/** Live, or expired by time. */
export function personalTokenIsCurrent(token: string): string {
  return `${token}.revoked_at is null`;
}

/**
 * The person or the application that owns a session may still be used. A condition for statements.
 * @param user alias of `users`; @param client alias of `oauth2_clients`; both left joined to the session
 */
export function ownerIsUsable(session: string, user: string, client: string): string {
  return `(case when ${session}.owner_user_id is null then ${clientIsEnabled(client)} else ${accountIsUsable(user)} end)`;
}
