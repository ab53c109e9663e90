/** References to pushed authorization requests (RFC 9126 2.2), sent by clients as `request_uri`. */
const PREFIX = 'urn:ietf:params:oauth:request_uri:';
const REFERENCE = /^[A-Za-z0-9_-]{43}$/;

/** @param reference 43 unguessable base64url characters */
export function pushedRequestUri(reference: string): string {
  return PREFIX + reference;
}

/**
 * Returns the reference in a `request_uri`. Undefined if it is not from a pushed request; an empty string if it cannot
 * have been issued here.
 */
export function pushedReference(requestUri: string | undefined): string | undefined {
  if (requestUri?.startsWith(PREFIX) !== true) return undefined;
  const reference = requestUri.slice(PREFIX.length);
  return REFERENCE.test(reference) ? reference : '';
}
