/**
 * Sessions of chat clients that signed in by the routes of their own protocol, with their devices and tokens: tables
 * `compat_sessions`, `compat_access_tokens` and `compat_refresh_tokens` (chat-compat 10). A session is live until it is
 * finished, which is final; an access token until it is revoked or, if it does at all, expires; a refresh token until it
 * is revoked, or consumed by the refresh that stores its successor.
 *
 * This file says when each of them may be used, as conditions for statements. A token works only while its session is
 * live and the account of the person usable: ask for all of them.
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
 * Nobody has agreed yet, and there is time left; one partial index holds such sign-ons.
 * @param login alias of `compat_sso_logins`; @param now parameter with the time, a `timestamptz`
 */
export function ssoLoginIsPending(login: string, now: string): string {
  return `(${login}.fulfilled_at is null and ${login}.expires_at > ${now})`;
}

/** No session came of it, whether its time is over or not; one partial index holds such sign-ons. */
export function ssoLoginIsUnexchanged(login: string): string {
  return `${login}.exchanged_at is null`;
}

/**
 * Its login token may be exchanged, as long as the browser session lasts that it was made in.
 * @param login alias of `compat_sso_logins`; @param since parameter with the earliest time at which a token that is still
 *   good was made, a `timestamptz`
 */
export function loginTokenIsValid(login: string, since: string): string {
  return `(${ssoLoginIsUnexchanged(login)} and coalesce(${login}.fulfilled_at >= ${since}, false))`;
}
