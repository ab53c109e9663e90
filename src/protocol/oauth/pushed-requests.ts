/** References to pushed authorization requests (RFC 9126 2.2), which clients send as `request_uri`. */
const PREFIX = 'urn:ietf:params:oauth:request_uri:';
const REFERENCE = /^[A-Za-z0-9_-]{43}$/;

/** @param reference 43 base64url characters that nobody can guess */
export function pushedRequestUri(reference: string): string {
  return PREFIX + reference;
}

/**
 * The reference in a `request_uri`; undefined when it is not one of a pushed request. One that cannot be ours is
 * returned as an empty text.
 */
export function pushedReference(requestUri: string | undefined): string | undefined {
  if (requestUri?.startsWith(PREFIX) !== true) return undefined;
  const reference = requestUri.slice(PREFIX.length);
  return REFERENCE.test(reference) ? reference : '';
}
