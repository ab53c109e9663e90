import { isIP } from 'node:net';
import type { Config } from '#config/config.ts';
import type { RelyingParty } from '#protocol/webauthn/ceremony.ts';

/**
 * The site that passkeys of this service are for; undefined when there can be none: they are switched off, or browsers
 * do not make them for an address without a domain or without TLS.
 */
export function relyingPartyOf({ account, http }: Pick<Config, 'account' | 'http'>): RelyingParty | undefined {
  const { hostname, origin, protocol } = new URL(http.publicBase);
  const isSecure = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  return account.passkeysEnabled && isSecure && !isAddress ? { id: hostname, origin } : undefined;
}
