/** How long an authenticator app may take to be set up, and after how many wrong codes it ends (account-graphql 7.2). */
export const ENROLMENT_SECONDS = 600;
const MAX_WRONG_CODES = 5;

/**
 * Its time is over. A condition for statements.
 * @param enrolment alias of `user_totp_enrolments`; @param now the parameter that holds the process clock
 */
export function enrolmentIsExpired(enrolment: string, now: string): string {
  return `${enrolment}.created_at <= ${now} - interval '${ENROLMENT_SECONDS} seconds'`;
}

/** No more codes are looked at. A condition for statements. @param enrolment alias of `user_totp_enrolments` */
export function enrolmentIsExhausted(enrolment: string): string {
  return `${enrolment}.wrong_codes >= ${MAX_WRONG_CODES}`;
}
