/**
 * The account may be used: it is neither locked nor deactivated. A condition for statements.
 * @param user alias of `users`
 */
export function accountIsUsable(user: string): string {
  return `(${user}.locked_at is null and ${user}.deactivated_at is null)`;
}

/** A condition for statements. @param user alias of `users` */
export function accountIsLocked(user: string): string {
  return `${user}.locked_at is not null`;
}

/** A condition for statements. @param user alias of `users` */
export function accountIsDeactivated(user: string): string {
  return `${user}.deactivated_at is not null`;
}

/**
 * The homeserver has taken it that the account is deactivated, and erased where that is wanted. A condition for
 * statements. @param user alias of `users`; @param isErased a parameter, boolean
 */
export function deactivationIsAtHomeserver(user: string, isErased: string): string {
  return `(${user}.homeserver_deactivated_at is not null
    and (not ${isErased} or ${user}.homeserver_erased_at is not null))`;
}

/**
 * The token may be used for one more registration. A condition for statements.
 * @param token alias of `user_registration_tokens`; @param now the parameter that holds the process clock
 */
export function registrationTokenIsValid(token: string, now: string): string {
  return `(${token}.revoked_at is null
    and (${token}.expires_at is null or ${token}.expires_at > ${now})
    and (${token}.usage_limit is null or ${token}.times_used < ${token}.usage_limit))`;
}

/** @param token alias of `user_registration_tokens` */
export function registrationTokenIsRevoked(token: string): string {
  return `${token}.revoked_at is not null`;
}

/** Its time is over. @param now the parameter that holds the process clock */
export function registrationTokenIsExpired(token: string, now: string): string {
  return `coalesce(${token}.expires_at <= ${now}, false)`;
}
