/**
 * Sessions of chat clients that signed in with the legacy routes of their protocol, with devices and tokens: tables
 * `compat_sessions`, `compat_access_tokens` and `compat_refresh_tokens` (chat-compat 10). A session is live until it is
 * finished, which is permanent. An access token is live until it is revoked or expires (not all do). A refresh token is
 * live until it is revoked, or consumed by the refresh that stores its successor.
 *
 * This file contains SQL conditions for these states. A token works only while its session is live and the user's
 * account is usable, so check all of them.
 */

/** @param session alias of `compat_sessions` */
export function compatSessionIsLive(session: string): string {
  return `${session}.finished_at is null`;
}

/** @param token alias of `compat_access_tokens`; @param now parameter with the time, a `timestamptz` */
export function compatAccessTokenIsLive(token: string, now: string): string {
  return `(${compatAccessTokenIsUnrevoked(token)} and (${token}.expires_at is null or ${token}.expires_at > ${now}))`;
}

/** Live, or expired by time. */
export function compatAccessTokenIsUnrevoked(token: string): string {
  return `${token}.revoked_at is null`;
}

/** Live or revoked. @param token alias of `compat_refresh_tokens` */
export function compatRefreshTokenIsUnconsumed(token: string): string {
  return `${token}.consumed_at is null`;
}

/** Live or consumed. */
export function compatRefreshTokenIsUnrevoked(token: string): string {
  return `${token}.revoked_at is null`;
}

/** Neither revoked nor consumed. */
export function compatRefreshTokenIsLive(token: string): string {
  return `(${compatRefreshTokenIsUnconsumed(token)} and ${compatRefreshTokenIsUnrevoked(token)})`;
}

/**
 * The user has not consented yet, and the sign-on has not expired. Condition of a partial index.
 * @param login alias of `compat_sso_logins`; @param now parameter with the time, a `timestamptz`
 */
export function ssoLoginIsPending(login: string, now: string): string {
  return `(${login}.fulfilled_at is null and ${login}.expires_at > ${now})`;
}

/** No session was opened, whether the sign-on has expired or not. Condition of a partial index. */
export function ssoLoginIsUnexchanged(login: string): string {
  return `${login}.exchanged_at is null`;
}

/**
 * The login token can be exchanged. The caller must also check that the browser session of the consent is live.
 * @param login alias of `compat_sso_logins`; @param since parameter with the earliest issue time of a valid token, a
 * `timestamptz`
 */
export function loginTokenIsValid(login: string, since: string): string {
  return `(${ssoLoginIsUnexchanged(login)} and coalesce(${login}.fulfilled_at >= ${since}, false))`;
}
