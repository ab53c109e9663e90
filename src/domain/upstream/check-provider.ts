import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { ProviderErrorCode } from './provider-errors.ts';
import { fetchProviderKeys, needsKeys } from './provider-keys.ts';
import { configuredMetadata, fetchMetadata, type MetadataDeps } from './provider-metadata.ts';
import type { ProviderStates } from './provider-states.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

export interface CheckProviderDeps extends Omit<MetadataDeps, 'activity' | 'outbound'> {
  readonly outbound: Pick<OutboundHttp, 'call' | 'get'>;
  readonly activity: { readonly providers: Pick<ProviderStates, 'failed' | 'flush'> };
}

/**
 * Fetches the metadata and the keys of a provider, as a sign-in would, and stores the result. Makes two requests, which
 * take 15 seconds at most, so never call this in a transaction.
 * @returns what failed; `busy`: a limit of this service; undefined: nothing
 */
export async function checkProvider(
  deps: CheckProviderDeps,
  provider: UpstreamProvider,
): Promise<ProviderErrorCode | 'busy' | undefined> {
  const failure = await fetchAll(deps, provider);
  await deps.activity.providers.flush(deps.database);
  return failure;
}

async function fetchAll(
  deps: CheckProviderDeps,
  provider: UpstreamProvider,
): Promise<ProviderErrorCode | 'busy' | undefined> {
  let metadata = configuredMetadata(provider);
  if (metadata === undefined) {
    const fetched = await fetchMetadata(deps, provider);
    if (!fetched.ok) return fetched.code;
    ({ metadata } = fetched);
  }
  return needsKeys(provider) ? await fetchProviderKeys(deps, provider, metadata) : undefined;
}
