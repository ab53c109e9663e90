import type { UpstreamResponse } from './sealed-columns.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

const MAX_METHODS = 10;

/** Returns how the user authenticated according to a trusted provider (`amr`, RFC 8176). */
export function namedMethods({ trustsAmr }: UpstreamProvider, { idTokenClaims }: UpstreamResponse): readonly string[] {
  const { amr } = idTokenClaims;
  if (!trustsAmr || !Array.isArray(amr)) return [];
  return amr.filter((method) => typeof method === 'string' && /^[a-z]{1,20}$/.test(method)).slice(0, MAX_METHODS);
}
