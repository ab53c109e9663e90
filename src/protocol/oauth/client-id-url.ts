/**
 * A `client_id` that is the https address of the client's metadata (OAuth Client ID Metadata Document, section 3). Two
 * of them are the same client only when they are the same text (RFC 3986 6.2.1), so nothing is normalized.
 */
import { isIP } from 'node:net';
import { parseUrl } from '#platform/base/url.ts';
import { redirectUriProblem } from './redirect-uris.ts';

/** Users see it, and it is part of every token. */
const MAX_CHARACTERS = 512;
/** Scheme, host, port and a path. The host is written as it is looked up, so that nobody reads another one. */
const FORM = /^https:\/\/[a-z0-9.-]+(?::[1-9][0-9]{0,4})?\/[^?]*(?:\?.*)?$/;

/** Whether a `client_id` is meant to be one; ids that this service gives out never begin so. */
export function isClientIdUrl(text: string): boolean {
  return text.startsWith('https://');
}

/** Why a text that begins as one is none; undefined for one that can be fetched. */
export function clientIdUrlProblem(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS) return `must have at most ${MAX_CHARACTERS} characters`;
  // No fragment, no user information, no dot segments: the rules are those of redirect URIs.
  const problem = redirectUriProblem(text);
  if (problem !== undefined) return problem;
  const url = parseUrl(text);
  if (url === undefined || !FORM.test(text)) return 'must be an https address with a host in small letters and a path';
  return isIP(url.hostname) === 0 ? undefined : 'must not have an IP address as its host';
}

/** The host that published the document. @param url without a problem */
export function clientIdHost(url: string): string {
  return new URL(url).host;
}
