import { type KeySignature, type PublishedKeys, verifyByKeys } from '#domain/keys/published-keys.ts';
import { type CompactJws, isMacOf, parseCompactJws } from '#protocol/jose/compact-jws.ts';
import { isMacAlgorithm, settledName } from '#protocol/jose/signing-algorithms.ts';
import type { ProviderMetadata } from '#protocol/oidc/provider-metadata.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

export interface SignedText {
  readonly text: string;
  /** The configured algorithm, which must match the header. */
  readonly algorithm: string;
  readonly maxCharacters: number;
}

export type SignedByProvider =
  | { readonly ok: true; readonly jws: CompactJws }
  /** The problem, and whether its only cause is that the provider's keys are not available. */
  | { readonly ok: false; readonly problem: string; readonly areKeysUnavailable: boolean };

/**
 * Verifies the signature of a JWT, which must use exactly the configured algorithm. Does not check its claims. May
 * request the provider's keys, so never call this in a transaction.
 */
export async function verifySignature(
  { upstream }: { readonly upstream: { readonly keys: PublishedKeys } },
  { id, clientSecret }: UpstreamProvider,
  { jwksUri }: Pick<ProviderMetadata, 'jwksUri'>,
  { text, algorithm, maxCharacters }: SignedText,
): Promise<SignedByProvider> {
  const jws = text.length > maxCharacters ? undefined : parseCompactJws(text);
  if (jws === undefined) return refused('not a signed JWT');
  if (jws.algorithm !== settledName(algorithm)) return refused(`not signed with ${algorithm}`);
  if (isMacAlgorithm(algorithm)) {
    const isRight = clientSecret !== undefined && isMacOf(jws, clientSecret.reveal());
    return isRight ? { ok: true, jws } : refused('bad-signature');
  }
  const verified: KeySignature =
    jwksUri === undefined
      ? await verifyByKeys([], jws)
      : await upstream.keys.verify({ uri: jwksUri, isConfigured: true, server: `upstream:${id}` }, jws);
  if (verified.ok) return { ok: true, jws };
  return { ok: false, problem: verified.reason, areKeysUnavailable: verified.reason === 'keys-unavailable' };
}

function refused(problem: string): SignedByProvider {
  return { ok: false, problem, areKeysUnavailable: false };
}
