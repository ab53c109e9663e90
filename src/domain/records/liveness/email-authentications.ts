/** Attempts per authentication; after that it stays closed (security S-91). */
export const MAX_CODE_TRIES = 30;

/**
 * SQL condition: the address is not yet proven, and the authentication is neither exhausted nor expired.
 * @param authentication alias of `user_email_authentications`; @param begunAfter the parameter that holds the result of
 * `begunAfter`
 */
export function emailAuthenticationIsOpen(authentication: string, begunAfter: string): string {
  return `(${authentication}.completed_at is null and ${authentication}.tries < ${MAX_CODE_TRIES}
    and ${authentication}.created_at > ${begunAfter})`;
}
