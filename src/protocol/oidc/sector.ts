/**
 * Sectors: clients in one sector know a user by the same pairwise subject, and clients in other sectors by another one.
 * @see OpenID Connect Core 1.0 8.1
 */

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Returns the host that all redirect URIs of a client share, which is its sector unless it sets another one. Undefined
 * if there is none: the client has no redirect URI, several hosts, or a URI without a host. Loopback hosts do not
 * count, because every application has them.
 */
export function commonHost(redirectUris: readonly string[]): string | undefined {
  const [host, ...others] = new Set(redirectUris.map(webHost));
  return others.length > 0 || host === undefined || LOOPBACK_HOSTS.has(host) ? undefined : host;
}

/**
 * Returns the redirect URIs in the document of a `sector_identifier_uri` (OpenID Connect Dynamic Client Registration
 * 1.0, 5). Empty if it is not a list.
 */
export function sectorMembers(document: unknown): readonly unknown[] {
  return Array.isArray(document) ? document : [];
}

function webHost(uri: string): string | undefined {
  const { protocol, hostname } = new URL(uri);
  return (protocol === 'https:' || protocol === 'http:') && hostname !== '' ? hostname : undefined;
}
