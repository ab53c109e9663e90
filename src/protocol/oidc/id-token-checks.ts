/** Checks of a provider's ID token after its signature was verified (OpenID Connect Core 1.0 3.1.3.7). */
import { createHash } from 'node:crypto';
import { equalSecrets } from '#platform/base/secret.ts';
import { hashOfAlgorithm } from '../jose/signing-algorithms.ts';

export interface ExpectedIdToken {
  /** Undefined if the operator has not set one. `{tenantid}` in it is replaced by the claim `tid`. */
  readonly issuer: string | undefined;
  readonly clientId: string;
  readonly nonce: string | undefined;
  /** Accepts a token without a nonce, for providers that omit it. */
  readonly isNonceOptional?: boolean;
  /** Algorithm of the signature, which determines the hashes below. */
  readonly algorithm: string;
  /** Issued together with the ID token. */
  readonly accessToken: string | undefined;
  readonly code: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

type Claims = Readonly<Record<string, unknown>>;

const LEEWAY_SECONDS = 60;

/** Returns what is wrong with the claims, for the log; undefined if they are valid. */
export function idTokenProblem(claims: Claims, expected: ExpectedIdToken): string | undefined {
  const { clientId, nonce, algorithm, accessToken, code, now } = expected;
  return (
    issuedForUsProblem(claims, { issuer: expected.issuer, clientId, now }) ??
    lifetimeProblem(claims, now) ??
    nonceProblem(claims, nonce, expected.isNonceOptional === true) ??
    hashProblem(claims, 'at_hash', accessToken, algorithm) ??
    hashProblem(claims, 'c_hash', code, algorithm)
  );
}

/** Checks the issuer, audience and issue time, which all JWTs of a provider for this server have. */
export function issuedForUsProblem(
  claims: Claims,
  { issuer, clientId, now }: Pick<ExpectedIdToken, 'issuer' | 'clientId' | 'now'>,
): string | undefined {
  const { iss, aud, azp, iat, tid } = claims;
  const isTenant = typeof tid === 'string' && /^[A-Za-z0-9-]{1,64}$/.test(tid);
  const expectedIssuer = isTenant ? issuer?.replace('{tenantid}', tid) : issuer;
  if (typeof iss !== 'string' || (expectedIssuer !== undefined && iss !== expectedIssuer)) return 'wrong iss';
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audiences.includes(clientId)) return 'wrong aud';
  if ((audiences.length > 1 || azp !== undefined) && azp !== clientId) return 'wrong azp';
  if (typeof iat !== 'number' || iat > seconds(now) + LEEWAY_SECONDS) return 'wrong iat';
  return undefined;
}

/** @param now milliseconds since the epoch */
export function lifetimeProblem({ exp, nbf }: Claims, now: number): string | undefined {
  if (typeof exp !== 'number' || exp <= seconds(now) - LEEWAY_SECONDS) return 'expired';
  const isEarly = nbf !== undefined && (typeof nbf !== 'number' || nbf > seconds(now) + LEEWAY_SECONDS);
  return isEarly ? 'not valid yet' : undefined;
}

function nonceProblem({ nonce }: Claims, expected: string | undefined, isOptional: boolean): string | undefined {
  if (expected === undefined) return undefined;
  if (nonce === undefined) return isOptional ? undefined : 'missing nonce';
  return typeof nonce === 'string' && equalSecrets(nonce, expected) ? undefined : 'wrong nonce';
}

/** Checks the left half of the hash for the signature's algorithm (3.1.3.6, 3.3.2.11). */
function hashProblem(
  claims: Claims,
  name: 'at_hash' | 'c_hash',
  value: string | undefined,
  algorithm: string,
): string | undefined {
  const claimed = claims[name];
  if (claimed === undefined || value === undefined) return undefined;
  const digest = createHash(hashOfAlgorithm(algorithm)).update(value).digest();
  const half = digest.subarray(0, digest.length / 2).toString('base64url');
  return typeof claimed === 'string' && equalSecrets(claimed, half) ? undefined : `wrong ${name}`;
}

function seconds(now: number): number {
  return now / 1000;
}
