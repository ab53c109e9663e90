/**
 * Returns an SQL condition with `:now`: the challenge has not expired.
 * @param challenge alias of `webauthn_challenges`
 */
export function challengeIsOpen(challenge: string): string {
  return `${challenge}.expires_at > :now::timestamptz`;
}
