import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { Route } from '#platform/http/route.ts';

/** What this needs of a request. */
export type EmbeddableRequest = Pick<RequestContext, 'headers' | 'query'>;

/**
 * Pages can't be loaded as frame, image, script or data by other sites (browser-flows 2.3), which could otherwise tell
 * from the outcome whether someone is signed in, or use up what the visitor's network may store (security S-181).
 * Refused before anything is read, stored or counted. Browsers that send no `Sec-Fetch-Dest` are served.
 * @throws LatchkeyError `embedding_refused`
 */
export function requireEmbeddingAllowed(route: Route, request: EmbeddableRequest): void {
  const embedding = route.embedding ?? (route.errorFormat === 'page' ? 'refused' : 'allowed');
  if (embedding === 'allowed' || isPage(request) || (embedding === 'silent' && isSilent(request))) return;
  throw new LatchkeyError('embedding_refused');
}

/** A page of its own that a person opens, or data that a page of ours loads. */
function isPage({ headers }: EmbeddableRequest): boolean {
  // Another site can have any number of pages loaded in advance, without a person who opens them.
  if (String(headers['sec-purpose'] ?? '').startsWith('prefetch')) return false;
  const destination = headers['sec-fetch-dest'];
  if (destination === undefined || destination === 'document') return true;
  const site = headers['sec-fetch-site'];
  return destination === 'empty' && (site === undefined || site === 'same-origin' || site === 'none');
}

/** A question by `prompt=none` from a frame (OpenID Connect Core 1.0 3.1.2.1): nothing is shown, nobody can be tricked. */
function isSilent({ headers, query }: EmbeddableRequest): boolean {
  return headers['sec-fetch-dest'] === 'iframe' && query.get('prompt') === 'none';
}
