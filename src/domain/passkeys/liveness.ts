/** It may still be answered. A condition for statements with `:now`. @param challenge alias of `webauthn_challenges` */
export function challengeIsOpen(challenge: string): string {
  return `${challenge}.expires_at > :now::timestamptz`;
}
