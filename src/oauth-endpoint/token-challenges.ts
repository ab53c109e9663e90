/** How callers present an access token at a resource of this service, and the challenges for rejected tokens. */
import { type ErrorCode, LatchkeyError } from '#platform/base/errors.ts';
import { parseBearer, parseDpop } from '#protocol/oauth/presented-credentials.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { dpopChallenge } from './dpop-proofs.ts';

export interface PresentedToken {
  readonly token: string;
  /** Presented with the `DPoP` scheme, which requires a proof (RFC 9449 7.1). */
  readonly isBound: boolean;
}

/** Returns the token in the `Authorization` header, or undefined for another scheme or no header. */
export function headerToken(authorization: string | undefined): PresentedToken | 'malformed' | undefined {
  for (const isBound of [false, true]) {
    const found = isBound ? parseDpop(authorization) : parseBearer(authorization);
    if (found.kind === 'malformed') return found.kind;
    if (found.kind === 'token') return { token: found.token, isBound };
  }
  return undefined;
}

/**
 * Tests whether a token matches the proven key. A bound token requires its key, and an unbound token must not come with
 * a proof (RFC 9449 7.1).
 */
export class BindingCheck {
  readonly #key: string | undefined;
  #isBoundElsewhere = false;

  /** @param key thumbprint; undefined if no key was proven */
  constructor(key: string | undefined) {
    this.#key = key;
  }

  /** The token is live, but bound to another key. */
  get isBoundElsewhere(): boolean {
    return this.#isBoundElsewhere;
  }

  readonly maySee = (_: ClientId, bound?: string): boolean => {
    if (bound === this.#key) return true;
    this.#isBoundElsewhere = bound !== undefined;
    return false;
  };
}

/** @param isBound the token is bound to a key, or was presented with the scheme for bound tokens */
export function invalidToken(description: string, isBound: boolean): LatchkeyError {
  const challenge = isBound ? dpopChallenge('invalid_token') : 'Bearer error="invalid_token"';
  return new LatchkeyError('invalid_token', { description, headers: { 'www-authenticate': challenge } });
}

/** RFC 6750 3.1, RFC 9449 7.1. */
export function insufficientScope(scope: string, isBound: boolean): LatchkeyError {
  const challenge = `${isBound ? 'DPoP' : 'Bearer'} error="insufficient_scope", scope="${scope}"`;
  return new LatchkeyError('insufficient_scope', {
    description: `the access token lacks the scope ${scope}`,
    headers: { 'www-authenticate': challenge },
  });
}

/** Error codes of rejected proofs. At a resource, the status is 401. */
export const PROOF_CODES: ReadonlySet<ErrorCode> = new Set(['invalid_dpop_proof', 'use_dpop_nonce']);
