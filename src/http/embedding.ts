import type { IncomingHttpHeaders } from 'node:http';
import { LatchkeyError } from '#base/errors.ts';
import type { Route } from './route.ts';

const ALLOWED_DESTINATIONS = new Set(['document', 'empty']);

/**
 * Pages can't be loaded as frame, image or script by other sites (browser-flows 2.3), which could otherwise tell
 * from the outcome whether someone is signed in. Throws `embedding_refused`.
 */
export function requireEmbeddingAllowed(route: Route, headers: IncomingHttpHeaders): void {
  const isAllowed = route.embedding === undefined ? route.face !== 'page' : route.embedding === 'allowed';
  const destination = headers['sec-fetch-dest'];
  if (isAllowed || typeof destination !== 'string' || ALLOWED_DESTINATIONS.has(destination)) return;
  throw new LatchkeyError('embedding_refused');
}
