import { isIP } from 'node:net';
import type { Config } from '#config/config.ts';
import type { RelyingParty } from '#protocol/webauthn/ceremony.ts';

/**
 * Returns the relying party for passkeys. Undefined if passkeys are disabled or impossible: browsers do not create them
 * for URLs without a domain name or without TLS.
 */
export function relyingPartyOf({ account, http }: Pick<Config, 'account' | 'http'>): RelyingParty | undefined {
  const { hostname, origin, protocol } = new URL(http.publicBase);
  const isSecure = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  return account.passkeysEnabled && isSecure && !isAddress ? { id: hostname, origin } : undefined;
}
