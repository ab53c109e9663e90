/** How long an authenticator app may take to be set up. */
export const ENROLMENT_MINUTES = 10;
/** So many end it (account-graphql 7.2). */
export const MAX_WRONG_CODES = 5;

/**
 * Its time is over. A condition for statements.
 * @param enrolment alias of `user_totp_enrolments`; @param now the parameter that holds the process clock
 */
export function enrolmentIsExpired(enrolment: string, now: string): string {
  return `${enrolment}.created_at <= ${now} - interval '${ENROLMENT_MINUTES} minutes'`;
}
