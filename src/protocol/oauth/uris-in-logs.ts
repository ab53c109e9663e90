/** Client URIs as they appear in the log: comparable, but without possible secrets. */

import { parseUrl } from '#platform/base/url.ts';

const MAX_LISTED = 10;
const MAX_CHARACTERS = 200;

/** Returns scheme, host and path, with `?...` or `#...` for a query or fragment, which may contain a secret. */
export function uriForLog(uri: string): string {
  if (parseUrl(uri) === undefined) return `invalid URI (${uri.length} characters)`;
  const plain = uri.replace(/^([^:]+:\/\/)[^/?#]*@/, '$1...@');
  const end = plain.search(/[?#]/);
  return cutForLog(end === -1 ? plain : `${plain.slice(0, end + 1)}...`);
}

/** Returns the first ten URIs of a list. */
export function urisForLog(uris: readonly string[]): string {
  const more = uris.length - MAX_LISTED;
  const first = uris.slice(0, MAX_LISTED).map(uriForLog).join(' ');
  return more > 0 ? `${first} and ${more} more` : first;
}

/** Returns complete identifiers, because operators compare them with the configuration and copy them into it. */
export function valuesForLog(values: readonly string[]): string {
  const more = values.length - MAX_LISTED;
  const first = values.slice(0, MAX_LISTED).map(cutForLog).join(' ');
  return more > 0 ? `${first} and ${more} more` : first;
}

export function cutForLog(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}...` : text;
}
