/**
 * What a session says about a password alone (oauth.md 15.3): one factor, method `pwd` of RFC 8176. A sign-in through
 * another service is of the same class, whatever that service asked for.
 */
export const PASSWORD_ACR = 'urn:latchkey:acr:1';
export const PASSWORD_AMR: readonly string[] = ['pwd'];

/** Every class that an authentication here can reach, weakest first. */
export const ISSUED_ACR_VALUES: readonly string[] = [PASSWORD_ACR];

/** Whether an authentication of class `reached` is as strong as `wanted`, which is one of those issued here. */
export function reachesAcr(reached: string | undefined, wanted: string): boolean {
  return reached !== undefined && ISSUED_ACR_VALUES.indexOf(reached) >= ISSUED_ACR_VALUES.indexOf(wanted);
}
