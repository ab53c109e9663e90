import type { Client } from './client.ts';

/**
 * The client's own name for itself in a language, else the one without a language tag (RFC 7591 2.2). As it was
 * registered: pages clean it before they show it. Undefined when the client has none.
 */
export function clientName(client: Client, language: string): string | undefined {
  const wanted = language.toLowerCase();
  const primary = wanted.split('-', 1)[0];
  const byTag = new Map(Object.entries(client.name).map(([tag, name]) => [tag.toLowerCase(), name]));
  return byTag.get(wanted) ?? (primary === undefined ? undefined : byTag.get(primary)) ?? byTag.get('');
}

/** Where a redirect URI leads, as a person can check it: host and port, or the scheme of an app's private address. */
export function redirectTarget(redirectUri: string): string {
  const url = new URL(redirectUri);
  return url.host === '' ? url.protocol.slice(0, -1) : url.host;
}
