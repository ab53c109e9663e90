/** What an `Authorization` header says in the Bearer scheme (RFC 6750 2.1). */
export type BearerCredentials =
  | { readonly kind: 'token'; readonly token: string }
  /** No header, or another scheme. */
  | { readonly kind: 'absent' }
  /** Not of the form that tokens have; a shared secret may look so. */
  | { readonly kind: 'malformed'; readonly text: string };

const BEARER = /^bearer(?:$| +)/i;
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

export function parseBearer(authorization: string | undefined): BearerCredentials {
  const scheme = authorization === undefined ? undefined : BEARER.exec(authorization);
  if (authorization === undefined || scheme === undefined || scheme === null) return { kind: 'absent' };
  const text = authorization.slice(scheme[0].length);
  return TOKEN.test(text) ? { kind: 'token', token: text } : { kind: 'malformed', text };
}
