import { parseUrl } from '#platform/base/url.ts';

const MAX_CHARACTERS = 2048;
/** Printable ASCII without the characters that RFC 3986 excludes, and without `*`. */
const ALLOWED_CHARACTERS = /^[\x21\x23-\x29\x2B-\x3B\x3D\x3F-\x5B\x5D_a-z~]+$/;
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/;
/** A parser reads this as scheme and path, but it is meant as host and port. */
const HOST_AND_PORT = /^[A-Za-z0-9.-]+:[0-9]{1,5}(?:[/?]|$)/;
/** Schemes that a browser executes, displays or handles itself. */
const REFUSED_SCHEMES = new Set(
  ['about', 'blob', 'data', 'file', 'javascript', 'vbscript', 'view-source', 'ws', 'wss'].map((name) => `${name}:`),
);
const AUTHORITY = /^[^:]+:\/\/([^/?]*)/;
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::([0-9]+))?((?:[/?].*)?)$/;
const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);
const PORT = /^[1-9][0-9]{0,4}$/;
const MAX_PORT = 65_535;

/**
 * Returns why a URI can never be registered, as a sentence for the developer or operator; undefined if it can. These
 * rules apply to every kind of client (oauth 4.4, "always").
 */
export function redirectUriProblem(uri: string): string | undefined {
  if (uri.length > MAX_CHARACTERS) return `must have at most ${MAX_CHARACTERS} characters`;
  if (uri.includes('#')) return 'must not have a fragment';
  if (uri.includes('*')) return 'must be a complete URI: wildcards are not supported';
  if (!ALLOWED_CHARACTERS.test(uri) || /%(?![0-9A-Fa-f]{2})/.test(uri)) {
    return 'contains a character that is not allowed in a URI';
  }
  if (HOST_AND_PORT.test(uri)) return 'must start with https:// or http://';
  const scheme = SCHEME.exec(uri)?.[0].toLowerCase();
  if (scheme === undefined || parseUrl(uri) === undefined) return 'must be an absolute URI';
  if (REFUSED_SCHEMES.has(scheme)) return `must not have the scheme ${scheme.slice(0, -1)}`;
  const authority = AUTHORITY.exec(uri)?.[1];
  // The URL parser repairs `https:host` and `https:///host`, but a string comparison would not.
  const isWeb = scheme === 'http:' || scheme === 'https:';
  if (isWeb && (authority === undefined || authority === '')) return 'must have a host after ://';
  if (authority?.includes('@')) return 'must not contain user information';
  if (hasDotSegment(uri)) return 'must not have a . or .. path segment';
  return undefined;
}

/** The client whose URIs are checked. */
export interface RedirectUriOwner {
  readonly redirectUris: readonly string[];
  /** The client has no secret: a native or browser-based application. */
  readonly isPublic: boolean;
  /** The client was imported from a server that compares parsed URLs. Its URIs are stored as the parser wrote them. */
  readonly hasParsedRedirectUris?: boolean;
}

/**
 * Returns whether an authorization request may use this URI: it must equal a registered one as a string. The only
 * exception is the port of http loopback URIs of public clients, because native applications only learn their port at
 * runtime. Clients with a secret run on servers, which have a fixed port. Clients imported from a server with other
 * rules keep those.
 * @see security R-10, RFC 8252 7.3, RFC 9700 4.1
 */
export function redirectUriMatches(client: RedirectUriOwner, requested: string): boolean {
  const registered = client.redirectUris;
  if (registered.includes(requested)) return true;
  if (client.hasParsedRedirectUris === true && parsedUriMatches(registered, requested)) return true;
  if (!client.isPublic) return false;
  const wanted = loopbackWithoutPort(requested);
  return wanted !== undefined && registered.some((uri) => loopbackWithoutPort(uri) === wanted);
}

/**
 * Compares URLs as a parser writes them: `https://app.example` equals `https://app.example/`. The port of a loopback
 * host may differ, with any scheme and for every client, unless the registered URI has one.
 */
function parsedUriMatches(registered: readonly string[], requested: string): boolean {
  // The response goes to the requested text. The parser would drop line breaks, for example.
  if (redirectUriProblem(requested) !== undefined) return false;
  const wanted = new URL(requested);
  const texts = [wanted.href];
  if (LOOPBACK_HOSTS.has(wanted.hostname)) {
    wanted.port = '';
    texts.push(wanted.href);
  }
  return registered.some((uri) => texts.includes(parseUrl(uri)?.href ?? ''));
}

/**
 * Returns the destination of a redirect URI in a form that users can check: host and port, or the scheme of a
 * private-use URI. The app chooses the host of a private-use URI, so it is never shown like a web host.
 */
export function redirectTarget(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  if (protocol === 'https:' || protocol === 'http:') return host;
  return host === '' ? protocol.slice(0, -1) : `${protocol}//${host}`;
}

/** Returns whether the response goes to a program on the browser's machine, which any program there can impersonate. */
export function isLoopbackRedirectUri(uri: string): boolean {
  return loopbackWithoutPort(uri) !== undefined;
}

/** Returns the URI without its port; undefined unless it is an http loopback URI with a valid port. */
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
  // A server or proxy at the client may decode these before it resolves the path.
  const decoded = path.replace(/%2e/gi, '.').replace(/%2f/gi, '/').replace(/%5c/gi, '/');
  return decoded.split('/').some((segment) => segment === '.' || segment === '..');
}
