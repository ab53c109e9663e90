import { type KeySignature, type PublishedKeys, verifyByKeys } from '#domain/published-keys/published-keys.ts';
import { type CompactJws, isMacOf, parseCompactJws } from '#protocol/jose/compact-jws.ts';
import { isMacAlgorithm, settledName } from '#protocol/jose/signing-algorithms.ts';
import type { ProviderMetadata } from '#protocol/oidc/provider-metadata.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

export interface SignedText {
  readonly text: string;
  /** The one that is configured; what the header names has to be the same. */
  readonly algorithm: string;
  readonly maxCharacters: number;
}

export type SignedByProvider =
  | { readonly ok: true; readonly jws: CompactJws }
  /** What is wrong, in words, and whether that is only because the provider does not hand out its keys now. */
  | { readonly ok: false; readonly problem: string; readonly areKeysUnavailable: boolean };

/**
 * A JWT whose signature is right, made with exactly the configured algorithm; nothing in it was checked. May ask the
 * provider for its keys: never in a transaction.
 */
export async function verifySignature(
  { publishedKeys }: { readonly publishedKeys: PublishedKeys },
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
      : await publishedKeys.verify({ uri: jwksUri, isConfigured: true, server: `upstream:${id}` }, jws);
  if (verified.ok) return { ok: true, jws };
  return { ok: false, problem: verified.reason, areKeysUnavailable: verified.reason === 'keys-unavailable' };
}

function refused(problem: string): SignedByProvider {
  return { ok: false, problem, areKeysUnavailable: false };
}
