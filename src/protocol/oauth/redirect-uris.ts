import { parseUrl } from '#platform/base/url.ts';

const MAX_CHARACTERS = 2048;
/** Printable ASCII without what RFC 3986 leaves out, and without `*`. */
const ALLOWED_CHARACTERS = /^[\x21\x23-\x29\x2B-\x3B\x3D\x3F-\x5B\x5D_a-z~]+$/;
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/;
/** What a parser takes for a scheme with a path, and a person wrote as host and port. */
const HOST_AND_PORT = /^[A-Za-z0-9.-]+:[0-9]{1,5}(?:[/?]|$)/;
/** Schemes that a browser executes, displays or treats as its own. */
const REFUSED_SCHEMES = new Set(
  ['about', 'blob', 'data', 'file', 'javascript', 'vbscript', 'view-source', 'ws', 'wss'].map((name) => `${name}:`),
);
const AUTHORITY = /^[^:]+:\/\/([^/?]*)/;
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::([0-9]+))?((?:[/?].*)?)$/;
const PORT = /^[1-9][0-9]{0,4}$/;
const MAX_PORT = 65_535;

/**
 * Why an address can never be registered, as a sentence for the person who registers it; undefined when it can. These
 * rules hold for every kind of client (oauth 4.4, "always").
 */
export function redirectUriProblem(uri: string): string | undefined {
  if (uri.length > MAX_CHARACTERS) return `must have at most ${MAX_CHARACTERS} characters`;
  if (uri.includes('#')) return 'must not have a fragment';
  if (uri.includes('*')) return 'must be complete: wildcards are not supported';
  if (!ALLOWED_CHARACTERS.test(uri) || /%(?![0-9A-Fa-f]{2})/.test(uri)) {
    return 'holds a character that is not allowed in a URI';
  }
  if (HOST_AND_PORT.test(uri)) return 'must begin with https:// or http://';
  const scheme = SCHEME.exec(uri)?.[0].toLowerCase();
  if (scheme === undefined || parseUrl(uri) === undefined) return 'must be an absolute URI';
  if (REFUSED_SCHEMES.has(scheme)) return `must not have the scheme ${scheme.slice(0, -1)}`;
  const authority = AUTHORITY.exec(uri)?.[1];
  // The URL parser repairs `https:host` and `https:///host`; a comparison of strings would not.
  const isWeb = scheme === 'http:' || scheme === 'https:';
  if (isWeb && (authority === undefined || authority === '')) return 'must name a host after ://';
  if (authority?.includes('@')) return 'must not hold user information';
  if (hasDotSegment(uri)) return 'must not have a . or .. path segment';
  return undefined;
}

/** The client that an address is judged for. */
export interface RedirectUriOwner {
  readonly redirectUris: readonly string[];
  /** It has no secret: a native application, or one that runs in a browser. */
  readonly isPublic: boolean;
}

/**
 * Whether an authorization request may name this address: it equals a registered one as a string. The only variance
 * is the port of an http loopback address of a public client: a native application learns its port when it starts to
 * listen. One that keeps a secret runs on a server, which has a fixed port.
 * @see security R-10, RFC 8252 7.3, RFC 9700 4.1
 */
export function redirectUriMatches(client: RedirectUriOwner, requested: string): boolean {
  const registered = client.redirectUris;
  if (registered.includes(requested)) return true;
  if (!client.isPublic) return false;
  const wanted = loopbackWithoutPort(requested);
  return wanted !== undefined && registered.some((uri) => loopbackWithoutPort(uri) === wanted);
}

/**
 * Where a redirect URI leads, as a person can check it: host and port, or the scheme of an app's private address. A host
 * behind a private-use scheme is whatever the app chose, so it is never shown as if it were one on the web.
 */
export function redirectTarget(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  if (protocol === 'https:' || protocol === 'http:') return host;
  return host === '' ? protocol.slice(0, -1) : `${protocol}//${host}`;
}

/** Whether the answer goes to a program on the machine of the browser, which any program there can pose as. */
export function isLoopbackRedirectUri(uri: string): boolean {
  return loopbackWithoutPort(uri) !== undefined;
}

/** The address without its port; undefined when it is not an http loopback address with a usable one. */
function loopbackWithoutPort(uri: string): string | undefined {
  const match = LOOPBACK.exec(uri);
  if (match === null) return undefined;
  const [, host = '', port, rest = ''] = match;
  if (port !== undefined && (!PORT.test(port) || Number(port) > MAX_PORT)) return undefined;
  return `http://${host}${rest}`;
}

function hasDotSegment(uri: string): boolean {
  const afterScheme = uri.slice(uri.indexOf(':') + 1);
  const path = (afterScheme.split('?', 1)[0] ?? '').replace(/^\/\/[^/]*/, '');
  // What a server or a proxy behind the client may decode before it resolves the path.
  const decoded = path.replace(/%2e/gi, '.').replace(/%2f/gi, '/').replace(/%5c/gi, '/');
  return decoded.split('/').some((segment) => segment === '.' || segment === '..');
}
