import { toUuid } from '#platform/base/ids.ts';
import { parseJson } from '#platform/http/json-body.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import { statement } from '#platform/postgres/statement.ts';
import { usableKeys, type VerificationKey } from '#protocol/jose/json-web-keys.ts';
import { isMacAlgorithm } from '#protocol/jose/signing-algorithms.ts';
import type { ProviderMetadata } from '#protocol/oidc/provider-metadata.ts';
import { keysError, type ProviderErrorCode } from './provider-errors.ts';
import type { MetadataDeps } from './provider-metadata.ts';
import { asksForIdToken, type UpstreamProvider } from './upstream-providers.ts';

export interface ProviderKeysDeps extends Omit<MetadataDeps, 'outbound'> {
  readonly outbound: Pick<OutboundHttp, 'get'>;
}

/** Returns whether signatures of the provider are verified with keys that it publishes. */
export function needsKeys(provider: UpstreamProvider): boolean {
  const { idTokenAlg, userinfoAlg, fetchesUserinfo } = provider;
  const algorithms = [
    ...(asksForIdToken(provider) ? [idTokenAlg] : []),
    ...(fetchesUserinfo && userinfoAlg !== undefined ? [userinfoAlg] : []),
  ];
  return algorithms.some((name) => !isMacAlgorithm(name));
}

/**
 * Fetches the keys of a provider and stores their types, for administrators. Sign-ins use their own copy.
 * @returns why it failed; `busy`: because of a limit of this service
 */
export async function fetchProviderKeys(
  { activity, database, clock, log, outbound }: ProviderKeysDeps,
  provider: UpstreamProvider,
  { jwksUri }: Pick<ProviderMetadata, 'jwksUri'>,
): Promise<ProviderErrorCode | 'busy' | undefined> {
  const fail = (code: ProviderErrorCode): ProviderErrorCode => {
    log.warn('upstream.failed', 'keys of a sign-in provider unavailable or invalid', {
      provider: provider.id,
      problem: code,
    });
    activity.providers.failed(provider.id, code, clock.now());
    return code;
  };
  if (jwksUri === undefined) return fail('keys_missing');
  const fetched = await outbound.get(jwksUri, {
    accept: 'application/jwk-set+json, application/json',
    isConfigured: true,
    ignoresFailures: true,
    server: `upstream:${provider.id}`,
  });
  if (!fetched.ok) {
    const code = keysError(fetched);
    return code === undefined ? 'busy' : fail(code);
  }
  const keys = keysOf(fetched.body);
  if (keys === undefined) return fail('keys_invalid');
  if (keys.length === 0) return fail('keys_missing');
  await database.execute(storeKeys, {
    id: toUuid(provider.id),
    types: keys.map(typeOf).sort(),
    now: new Date(clock.now()),
  });
  return undefined;
}

/** Returns undefined if the body is not a JSON document. */
function keysOf(body: Buffer): readonly VerificationKey[] | undefined {
  try {
    return usableKeys(parseJson(body));
  } catch {
    return undefined;
  }
}

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };

function typeOf({ key: { asymmetricKeyType, asymmetricKeyDetails } }: VerificationKey): string {
  const { modulusLength, namedCurve } = asymmetricKeyDetails ?? {};
  if (modulusLength !== undefined) return `RSA ${modulusLength}`;
  if (namedCurve !== undefined) return `EC ${CURVES[namedCurve] ?? namedCurve}`;
  return asymmetricKeyType === 'ed25519' ? 'Ed25519' : (asymmetricKeyType ?? 'unknown');
}

const storeKeys = statement<never, { readonly id: string; readonly types: readonly string[]; readonly now: Date }>(
  'store-upstream-keys',
  `update upstream_providers set key_types = :types::text[], keys_fetched_at = :now::timestamptz where id = :id::uuid`,
);
