/**
 * Access tokens as JWTs (RFC 9068), for resource servers that check them on their own. What is stored of such a token is
 * what is stored of any other: its hash, which the claim `jti` carries. So a row decides at introspection and revocation,
 * and the claim alone opens nothing.
 */
import { epochSeconds } from '#platform/base/clock.ts';

/** RFC 9068 2.1: no other JWT of this issuer has it, and none of these passes for an ID token. */
export const ACCESS_TOKEN_JWT_TYPE = 'at+jwt';

const STORED_HASH = /^[A-Za-z0-9_-]{43}$/;

/** Times in milliseconds since the epoch. */
export interface AccessTokenFacts {
  readonly issuer: string;
  /** SHA-256 under which the token is stored. */
  readonly storedHash: Buffer;
  /** The person, or the client for a token of its own. */
  readonly subject: string;
  readonly clientId: string;
  readonly resources: readonly string[];
  readonly scope: readonly string[];
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly authenticatedAt: number | undefined;
  readonly acr: string | undefined;
  /** Undefined: the scope does not ask for them. */
  readonly groups: readonly string[] | undefined;
  /** Thumbprint of the key that the token is bound to. */
  readonly key: string | undefined;
  /** Who acts for the person (RFC 8693 4.1). */
  readonly actor: object | undefined;
}

/** @see RFC 9068 2.2, RFC 9449 6.1 */
export function accessTokenClaims(facts: AccessTokenFacts): Readonly<Record<string, unknown>> {
  const { resources, authenticatedAt, acr, groups, key, actor } = facts;
  return {
    iss: facts.issuer,
    sub: facts.subject,
    // One audience as a text: some verifiers know no lists.
    aud: resources.length === 1 ? resources[0] : resources,
    exp: epochSeconds(facts.expiresAt),
    iat: epochSeconds(facts.issuedAt),
    jti: facts.storedHash.toString('base64url'),
    client_id: facts.clientId,
    ...(facts.scope.length > 0 && { scope: facts.scope.join(' ') }),
    ...(authenticatedAt !== undefined && { auth_time: epochSeconds(authenticatedAt) }),
    ...(acr !== undefined && { acr }),
    ...(groups !== undefined && { groups }),
    ...(key !== undefined && { cnf: { jkt: key } }),
    ...(actor !== undefined && { act: actor }),
  };
}

/** The hash in the claims of a verified access token; undefined for claims that are not those of one. */
export function storedHashOf(claims: Readonly<Record<string, unknown>>, issuer: string): Buffer | undefined {
  const { iss, jti } = claims;
  if (iss !== issuer || typeof jti !== 'string' || !STORED_HASH.test(jti)) return undefined;
  return Buffer.from(jti, 'base64url');
}
