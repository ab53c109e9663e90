/**
 * A `client_id` that is the https URL of the client's metadata (OAuth Client ID Metadata Document, section 3). URLs are
 * compared as strings (RFC 3986 6.2.1), so nothing is normalized.
 */
import { isIP } from 'node:net';
import { parseUrl } from '#platform/base/url.ts';
import { redirectUriProblem } from './redirect-uris.ts';

/** Users see it, and every token contains it. */
const MAX_CHARACTERS = 512;
/** Scheme, host, port and path. The host is in the form used for DNS, so that it cannot be misread. */
const FORM = /^https:\/\/[a-z0-9.-]+(?::[1-9][0-9]{0,4})?\/[^?]*(?:\?.*)?$/;

/** Returns whether a `client_id` is meant to be a URL. IDs issued here never start like one. */
export function isClientIdUrl(text: string): boolean {
  return text.startsWith('https://');
}

/** Returns what is wrong with a `client_id` that starts like a URL; undefined if it can be fetched. */
export function clientIdUrlProblem(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS) return `must have at most ${MAX_CHARACTERS} characters`;
  // As for redirect URIs: no fragment, user information or dot segments.
  const problem = redirectUriProblem(text);
  if (problem !== undefined) return problem;
  const url = parseUrl(text);
  if (url === undefined || !FORM.test(text)) return 'must be an https URL with a lowercase host and a path';
  return isIP(url.hostname) === 0 ? undefined : 'must not have an IP address as its host';
}

/**
 * Returns the host that published the document.
 * @param url without a problem
 */
export function clientIdHost(url: string): string {
  return new URL(url).host;
}
