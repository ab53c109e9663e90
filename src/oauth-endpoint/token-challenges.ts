/** How a caller presents an access token at a resource of this service, and how it is told why that was refused. */
import { type ErrorCode, LatchkeyError } from '#platform/base/errors.ts';
import type { ClientId } from '#platform/base/ids.ts';
import { parseBearer, parseDpop } from '#protocol/oauth/presented-credentials.ts';
import { dpopChallenge } from './dpop-proofs.ts';

export interface PresentedToken {
  readonly token: string;
  /** In the scheme `DPoP`, which needs a proof (RFC 9449 7.1). */
  readonly isBound: boolean;
}

/** The token in the header `Authorization`; undefined for another scheme or no header. */
export function headerToken(authorization: string | undefined): PresentedToken | 'malformed' | undefined {
  for (const isBound of [false, true]) {
    const found = isBound ? parseDpop(authorization) : parseBearer(authorization);
    if (found.kind === 'malformed') return found.kind;
    if (found.kind === 'token') return { token: found.token, isBound };
  }
  return undefined;
}

/**
 * Whether a token belongs with the key that was proven with it: one that is bound to a key proves nothing without it,
 * and an unbound one nothing about a key (RFC 9449 7.1).
 */
export class BindingCheck {
  readonly #key: string | undefined;
  #isBoundElsewhere = false;

  /** @param key thumbprint; undefined: none was proven */
  constructor(key: string | undefined) {
    this.#key = key;
  }

  /** The token is live, and bound to another key. */
  get isBoundElsewhere(): boolean {
    return this.#isBoundElsewhere;
  }

  readonly maySee = (_: ClientId, bound?: string): boolean => {
    if (bound === this.#key) return true;
    this.#isBoundElsewhere = bound !== undefined;
    return false;
  };
}

/** @param isBound the token is bound to a key, or came in the scheme for such tokens */
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

/** Codes of refused proofs, which are answered 401 at a resource. */
export const PROOF_CODES: ReadonlySet<ErrorCode> = new Set(['invalid_dpop_proof', 'use_dpop_nonce']);
