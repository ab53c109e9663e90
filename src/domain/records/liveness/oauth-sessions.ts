/**
 * OAuth sessions with their access and refresh tokens: tables `oauth2_sessions`, `oauth2_access_tokens` and
 * `oauth2_refresh_tokens`. A session is live until it is finished. An access token is live until it is revoked or
 * expires. A refresh token is live until it is revoked, or consumed by the refresh that stores its successor.
 *
 * This file contains SQL conditions for these states. A token works only while its session is live, the client is
 * enabled, and the user (if the session has one) is usable, so check all of them.
 */
import { accountIsUsable } from './accounts.ts';
import { clientIsBuiltin } from './clients.ts';

/** @param session alias of `oauth2_sessions` */
export function oauthSessionIsLive(session: string): string {
  return `${session}.finished_at is null`;
}

/**
 * The parent session (see token exchange) and its ancestors are live, and their clients are enabled. Ending a session
 * also ends its children. That statement cannot see a child that is created concurrently, so every statement that
 * accepts a token checks this. A session without a parent needs no lookup.
 */
export function ancestorsAreLive(session: string): string {
  return `(${session}.parent_session_id is null or session_ancestors_are_live(${session}.parent_session_id))`;
}

/**
 * The session has no user, or its user's account is usable.
 * @param user alias of `users`, which may be left joined
 */
export function sessionUserIsUsable(session: string, user: string): string {
  return `(${session}.user_id is null or ${accountIsUsable(user)})`;
}

/**
 * A session of the admin area lives only as long as its browser session. Other clients need no lookup.
 * @param client alias of `oauth2_clients`
 */
export function signInOfBuiltinIsLive(session: string, client: string): string {
  return `(case when ${clientIsBuiltin(client)} then browser_session_is_live(${session}.user_session_id) else true end)`;
}

/**
 * @param token alias of `oauth2_access_tokens`
 * @param now parameter with the time, a `timestamptz`
 */
export function accessTokenIsLive(token: string, now: string): string {
  return `(${accessTokenIsUnrevoked(token)} and ${token}.expires_at > ${now})`;
}

/** Live, or expired by time. */
export function accessTokenIsUnrevoked(token: string): string {
  return `${token}.revoked_at is null`;
}

/** Neither revoked nor consumed. @param token alias of `oauth2_refresh_tokens` */
export function refreshTokenIsLive(token: string): string {
  return `(${refreshTokenIsUnconsumed(token)} and ${refreshTokenIsUnrevoked(token)})`;
}

/** Live or revoked. */
export function refreshTokenIsUnconsumed(token: string): string {
  return `${token}.consumed_at is null`;
}

/** Live or consumed. */
export function refreshTokenIsUnrevoked(token: string): string {
  return `${token}.revoked_at is null`;
}
