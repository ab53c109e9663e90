import type { Client } from '#domain/clients/client.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { type ScopeRules, UNBOUND_SCOPE } from '#protocol/oauth/scopes.ts';

/** A key that the caller has shown to hold, by a DPoP proof (RFC 9449). */
export interface ProvenKey {
  /** RFC 7638, SHA-256, base64url. */
  readonly thumbprint: string;
  /**
   * Accepts the proof, once on all instances. To be called when nothing else can refuse the request, so that nobody
   * fills the table of accepted proofs without a token or code.
   * @throws LatchkeyError when the proof was accepted before
   */
  readonly consume: () => Promise<void>;
}

/**
 * The key that the access tokens of a session are bound to. The homeserver cannot check proofs, so its scopes come
 * with an unbound token (RFC 9449 5), unless the client takes none of those.
 * @param scope all that was granted to the session
 * @throws LatchkeyError `invalid_scope`
 */
export function bindingKey(
  rules: ScopeRules,
  client: Client,
  scope: readonly string[],
  key: ProvenKey | undefined,
): string | undefined {
  if (!rules.hasUnboundScope(scope)) return key?.thumbprint;
  if (!client.hasBoundTokens) return undefined;
  throw new LatchkeyError('invalid_scope', { description: UNBOUND_SCOPE });
}
