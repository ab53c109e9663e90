import type { Client } from '#domain/clients/client.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { type ScopeRules, UNBOUND_SCOPE } from '#protocol/oauth/scopes.ts';

/** A key whose possession the caller has proven with a DPoP proof (RFC 9449). */
export interface ProofKey {
  /** RFC 7638, SHA-256, base64url. */
  readonly thumbprint: string;
  /**
   * Accepts the proof, once across all instances. Call this after all other checks, so that failed requests cannot fill
   * the table of accepted proofs.
   * @throws LatchkeyError if the proof was already accepted
   */
  readonly consume: () => Promise<void>;
}

/**
 * Returns the binding key for the access tokens of a session. The homeserver cannot check proofs, so tokens with its
 * scopes are not bound (RFC 9449 5). If the client accepts only bound tokens, those scopes are rejected.
 * @param scope the whole granted scope of the session
 * @throws LatchkeyError `invalid_scope`
 */
export function bindingKey(
  rules: ScopeRules,
  client: Client,
  scope: readonly string[],
  key: ProofKey | undefined,
): string | undefined {
  if (!rules.hasUnboundScope(scope)) return key?.thumbprint;
  if (!client.hasBoundTokens) return undefined;
  throw new LatchkeyError('invalid_scope', { description: UNBOUND_SCOPE });
}
