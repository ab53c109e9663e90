/**
 * Sectors: clients of one sector know a person by the same pairwise subject, those of others by another one.
 * @see OpenID Connect Core 1.0 8.1
 */

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * The host that all redirect URIs of a client share, which is its sector when it names no other. Undefined when there
 * is none: it has no redirect URI, several hosts, an address without a host, or one on loopback, which is every
 * application's.
 */
export function commonHost(redirectUris: readonly string[]): string | undefined {
  const [host, ...others] = new Set(redirectUris.map(webHost));
  return others.length > 0 || host === undefined || LOOPBACK_HOSTS.has(host) ? undefined : host;
}

function webHost(uri: string): string | undefined {
  const { protocol, hostname } = new URL(uri);
  return (protocol === 'https:' || protocol === 'http:') && hostname !== '' ? hostname : undefined;
}
