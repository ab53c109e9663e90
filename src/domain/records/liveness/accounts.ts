/**
 * SQL condition: the account is neither locked nor deactivated.
 * @param user alias of `users`
 */
export function accountIsUsable(user: string): string {
  return `(${user}.locked_at is null and ${user}.deactivated_at is null)`;
}

/** SQL condition. @param user alias of `users` */
export function accountIsLocked(user: string): string {
  return `${user}.locked_at is not null`;
}

/** SQL condition. @param user alias of `users` */
export function accountIsDeactivated(user: string): string {
  return `${user}.deactivated_at is not null`;
}

/**
 * SQL condition: the homeserver has confirmed the deactivation and, if requested, the erasure.
 * @param user alias of `users`; @param isErased a boolean parameter
 */
export function deactivationIsAtHomeserver(user: string, isErased: string): string {
  return `(${user}.homeserver_deactivated_at is not null
    and (not ${isErased} or ${user}.homeserver_erased_at is not null))`;
}

/**
 * SQL condition: the registration token is valid for one more registration.
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

/** SQL condition: the token has expired. @param now the parameter that holds the process clock */
export function registrationTokenIsExpired(token: string, now: string): string {
  return `coalesce(${token}.expires_at <= ${now}, false)`;
}
