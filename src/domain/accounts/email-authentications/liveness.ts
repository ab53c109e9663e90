/** Codes that may be entered for one authentication; beyond them it is over for good (security S-91). */
export const MAX_CODE_TRIES = 30;

/**
 * The address is neither proven nor given up. A condition for statements.
 * @param authentication alias of `user_email_authentications`; @param begunAfter the parameter that holds what
 * `begunAfter` returned
 */
export function emailAuthenticationIsOpen(authentication: string, begunAfter: string): string {
  return `(${authentication}.completed_at is null and ${authentication}.tries < ${MAX_CODE_TRIES}
    and ${authentication}.created_at > ${begunAfter})`;
}
