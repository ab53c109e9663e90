import { createHash } from 'node:crypto';
import { hashOfAlgorithm } from '#protocol/jose/signing-algorithms.ts';

/** Claims of ID tokens that are not about the user, in the order of the metadata. */
export const ID_TOKEN_CLAIM_NAMES = [
  ...(['iss', 'sub', 'aud', 'iat', 'exp', 'nonce', 'auth_time'] as const),
  ...(['at_hash', 'c_hash', 'sid', 'acr', 'amr'] as const),
];
type IdTokenClaimName = (typeof ID_TOKEN_CLAIM_NAMES)[number];

/** Contents of an ID token. Times in milliseconds since the epoch. */
export interface IdTokenFacts {
  readonly issuer: string;
  readonly clientId: string;
  readonly subject: string;
  readonly now: number;
  readonly lifetimeSeconds: number;
  readonly nonce: string | undefined;
  readonly authenticatedAt: number | undefined;
  readonly acr: string | undefined;
  readonly amr: readonly string[];
  /** ID of the OAuth session. It differs by client, so that clients cannot correlate sessions. */
  readonly sessionId: string;
  readonly accessToken: string;
  readonly code: string | undefined;
  /** Claims about the user for the granted scopes. */
  readonly personClaims: Readonly<Record<string, unknown>>;
  /** The algorithm of the signature, which determines the hash of `at_hash` and `c_hash`. */
  readonly algorithm: string;
}

/** @see OpenID Connect Core 1.0 2, 3.1.3.6, 3.3.2.11 */
export function idTokenClaims(
  facts: IdTokenFacts,
): Readonly<Record<string, unknown>> & Partial<Record<IdTokenClaimName, unknown>> {
  const issuedAt = Math.floor(facts.now / 1000);
  return {
    // Comes first, so that it cannot override the other claims.
    ...facts.personClaims,
    iss: facts.issuer,
    sub: facts.subject,
    aud: facts.clientId,
    iat: issuedAt,
    exp: issuedAt + facts.lifetimeSeconds,
    ...(facts.nonce === undefined ? {} : { nonce: facts.nonce }),
    ...(facts.authenticatedAt === undefined ? {} : { auth_time: Math.floor(facts.authenticatedAt / 1000) }),
    ...(facts.acr === undefined ? {} : { acr: facts.acr }),
    ...(facts.amr.length === 0 ? {} : { amr: facts.amr }),
    sid: facts.sessionId,
    at_hash: halfHash(facts.accessToken, facts.algorithm),
    ...(facts.code === undefined ? {} : { c_hash: halfHash(facts.code, facts.algorithm) }),
  };
}

/** Returns the left half of the algorithm's hash in base64url. */
function halfHash(text: string, algorithm: string): string {
  const digest = createHash(hashOfAlgorithm(algorithm)).update(text).digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
}
