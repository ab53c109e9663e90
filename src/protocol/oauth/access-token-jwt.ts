/**
 * Access tokens as JWTs (RFC 9068), for resource servers that validate them locally. As with any other token, only the
 * hash is stored, and the claim `jti` contains it. The stored row decides on introspection and revocation; the claim
 * alone grants nothing.
 */
import { epochSeconds } from '#platform/base/clock.ts';

/** RFC 9068 2.1: no other JWT of this issuer has this type, so that access tokens and ID tokens are never confused. */
export const ACCESS_TOKEN_JWT_TYPE = 'at+jwt';

const STORED_HASH = /^[A-Za-z0-9_-]{43}$/;

/** Times in milliseconds since the epoch. */
export interface AccessTokenFacts {
  readonly issuer: string;
  /** SHA-256 that the token is stored under. */
  readonly storedHash: Buffer;
  /** The user, or the client for its own token. */
  readonly subject: string;
  readonly clientId: string;
  readonly resources: readonly string[];
  readonly scope: readonly string[];
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly authenticatedAt: number | undefined;
  readonly acr: string | undefined;
  /** Undefined if the scope does not include them. */
  readonly groups: readonly string[] | undefined;
  /** Thumbprint of the key that the token is bound to. */
  readonly key: string | undefined;
  /** The party that acts for the user (RFC 8693 4.1). */
  readonly actor: object | undefined;
}

/** @see RFC 9068 2.2, RFC 9449 6.1 */
export function accessTokenClaims(facts: AccessTokenFacts): Readonly<Record<string, unknown>> {
  const { resources, authenticatedAt, acr, groups, key, actor } = facts;
  return {
    iss: facts.issuer,
    sub: facts.subject,
    // A single audience is a string, because some verifiers do not support lists.
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

/** Returns the hash in the claims of a verified access token; undefined for other claims. */
export function storedHashOf(claims: Readonly<Record<string, unknown>>, issuer: string): Buffer | undefined {
  const { iss, jti } = claims;
  if (iss !== issuer || typeof jti !== 'string' || !STORED_HASH.test(jti)) return undefined;
  return Buffer.from(jti, 'base64url');
}
