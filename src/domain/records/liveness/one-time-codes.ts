/**
 * Time limit for setting up an authenticator app, and number of wrong codes that ends the enrollment (account-graphql
 * 7.2).
 */
export const ENROLMENT_SECONDS = 600;
const MAX_WRONG_CODES = 5;

/**
 * Returns an SQL condition: the enrollment has expired.
 * @param enrolment alias of `user_totp_enrolments`
 * @param now the parameter that holds the process clock
 */
export function enrolmentIsExpired(enrolment: string, now: string): string {
  return `${enrolment}.created_at <= ${now} - interval '${ENROLMENT_SECONDS} seconds'`;
}

/**
 * Returns an SQL condition: the enrollment accepts no more codes.
 * @param enrolment alias of `user_totp_enrolments`
 */
export function enrolmentIsExhausted(enrolment: string): string {
  return `${enrolment}.wrong_codes >= ${MAX_WRONG_CODES}`;
}
