import { equalSecrets, sha256 } from '#platform/base/secret.ts';

const VERIFIER = /^[A-Za-z0-9\-._~]{43,128}$/;
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** `plain` is not accepted, because it puts the verifier itself into the request. */
export const CODE_CHALLENGE_METHOD = 'S256';

/**
 * Returns whether a verifier matches the challenge of the authorization request. Only S256 is supported. The comparison
 * runs in constant time.
 * @see RFC 7636 4.6
 */
export function verifierFits(verifier: string, challenge: string): boolean {
  return VERIFIER.test(verifier) && equalSecrets(sha256(verifier).toString('base64url'), challenge);
}

/**
 * Returns what is wrong with the PKCE parameters of an authorization request, as a sentence for the developer.
 * @param isRequired for public clients, whose codes have no other protection (security R-13), and for FAPI 2 clients
 * @see RFC 7636 4.3
 */
export function challengeProblem(
  challenge: string | undefined,
  method: string | undefined,
  isRequired: boolean,
): string | undefined {
  if (challenge === undefined) {
    if (method !== undefined) return 'code_challenge_method is given without code_challenge';
    return isRequired
      ? `code_challenge is required for this client: enable PKCE with ${CODE_CHALLENGE_METHOD}`
      : undefined;
  }
  // RFC 7636 4.3: a missing method means `plain`.
  if (method !== CODE_CHALLENGE_METHOD) return `code_challenge_method must be ${CODE_CHALLENGE_METHOD}`;
  if (!CHALLENGE.test(challenge)) return 'code_challenge must be the base64url form of a SHA-256 digest';
  return undefined;
}
