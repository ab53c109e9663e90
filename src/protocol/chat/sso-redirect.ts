/** URLs that receive a login token after single sign-on (chat-compat 8, 9). */

import { isLoopbackName, parseUrl } from '#platform/base/url.ts';

const MAX_CHARACTERS = 2048;
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/;
/**
 * Control characters, including those that some programs treat as line breaks, and backslashes, which some parsers
 * treat as slashes.
 */
const REFUSED_CHARACTERS = /[\p{Cc}\u2028\u2029\\]/u;
/** Schemes that a browser executes, displays or handles itself, and schemes of other protocols. */
const REFUSED_SCHEMES = new Set(
  ['about', 'blob', 'data', 'file', 'filesystem', 'ftp', 'javascript', 'vbscript', 'view-source', 'ws', 'wss'].map(
    (name) => `${name}:`,
  ),
);
const AUTHORITY = /^[^:]+:\/\/([^/?#]*)/;
const TOKEN_PARAMETER = 'loginToken';
/** Limit for a private-use URL, whose beginning identifies the application. */
const MAX_SHOWN_CHARACTERS = 100;

/**
 * Returns why no token may be sent to a URL, as a sentence for the client's developer; undefined if it is allowed.
 * @param allowed prefixes, one of which the URL must have; undefined to allow any URL
 */
export function ssoRedirectProblem(address: string, allowed: readonly string[] | undefined): string | undefined {
  if ([...address].length > MAX_CHARACTERS) return `redirectUrl must have at most ${MAX_CHARACTERS} characters`;
  if (REFUSED_CHARACTERS.test(address)) return 'redirectUrl must not contain control characters or backslashes';
  const scheme = SCHEME.exec(address)?.[0].toLowerCase();
  if (scheme === undefined || parseUrl(address) === undefined) return 'redirectUrl must be an absolute URL';
  if (REFUSED_SCHEMES.has(scheme)) return `redirectUrl must not have the scheme ${scheme.slice(0, -1)}`;
  const authority = AUTHORITY.exec(address)?.[1];
  // The URL parser would repair `https:host` and `https:///host`.
  if (isWeb(scheme) && (authority === undefined || authority === '')) return 'redirectUrl must have a host after ://';
  if (authority?.includes('@')) return 'redirectUrl must not contain a username or password';
  if (allowed !== undefined && !allowed.some((prefix) => beginsWith(address, prefix))) {
    return 'redirectUrl is not allowed by the configuration';
  }
  return undefined;
}

/**
 * Returns whether the origin is the same, and the path is the same or below. A private-use scheme can match as a whole.
 */
function beginsWith(address: string, prefix: string): boolean {
  const url = new URL(address);
  const allowed = new URL(prefix);
  if (url.protocol !== allowed.protocol) return false;
  // A private-use scheme alone, such as `im.client.app://`, matches every URL of its application.
  if (!isWeb(url.protocol) && /^[^:]+:(?:\/\/)?$/.test(allowed.href)) return true;
  if (url.host !== allowed.host) return false;
  if (allowed.search !== '' || allowed.hash !== '') return url.href === allowed.href;
  // The recipient may resolve what this parser leaves unchanged.
  if (/%2e|%2f|%5c/i.test(url.pathname)) return false;
  const path = isWeb(url.protocol) ? url.pathname : pathWithoutDots(url.pathname);
  const base = allowed.pathname;
  if (path === undefined) return false;
  return path === base || path.startsWith(base.endsWith('/') ? base : `${base}/`);
}

/** Returns undefined if a segment is `.` or `..`, which the parser resolves only for URLs with a host. */
function pathWithoutDots(path: string): string | undefined {
  return path.split('/').some((segment) => segment === '.' || segment === '..') ? undefined : path;
}

/** How an accepted URL is shown to the user. */
export interface SsoTarget {
  /** Host and port in ASCII, with the scheme unless it is https. For a private-use URL, everything before the query. */
  readonly name: string;
  /** The token is sent unencrypted. */
  readonly isUnprotected: boolean;
}

export function ssoTarget(address: string): SsoTarget {
  const url = new URL(address);
  if (!isWeb(url.protocol)) return { name: beforeQuery(url.href), isUnprotected: false };
  const isPlain = url.protocol === 'http:';
  return {
    name: isPlain ? `http://${url.host}` : url.host,
    isUnprotected: isPlain && !isLoopbackName(url.hostname),
  };
}

function beforeQuery(address: string): string {
  const end = address.search(/[?#]/);
  const text = end === -1 ? address : address.slice(0, end);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}

/**
 * Returns the URL with the token as the last query parameter, before a fragment. Removes a token that it already
 * contains. Everything else is unchanged, except that characters not allowed in headers are encoded.
 */
export function withLoginToken(address: string, token: string): string {
  const hash = address.indexOf('#');
  const fragment = hash === -1 ? '' : address.slice(hash);
  const whole = hash === -1 ? address : address.slice(0, hash);
  const mark = whole.indexOf('?');
  const query = mark === -1 ? '' : whole.slice(mark + 1);
  const base = mark === -1 ? whole : whole.slice(0, mark);
  const kept = query.split('&').filter((pair) => !isToken(pair));
  const parameters = query === '' || kept.length === 0 ? '' : `${kept.join('&')}&`;
  return ascii(`${base}?${parameters}${TOKEN_PARAMETER}=${token}`) + asciiText(fragment);
}

/** Matches any encoding of the name. */
function isToken(pair: string): boolean {
  const [name = ''] = pair.split('=', 1);
  try {
    return decodeURIComponent(name.replaceAll('+', ' ')) === TOKEN_PARAMETER;
  } catch {
    return false;
  }
}

/** Returns the URL in ASCII: the host as in DNS, everything else percent-encoded as UTF-8. */
function ascii(address: string): string {
  const authority = AUTHORITY.exec(address)?.[1];
  if (authority === undefined || !NOT_PRINTABLE_ASCII.test(authority)) return asciiText(address);
  const { host } = new URL(address);
  const start = address.indexOf('://') + 3;
  return address.slice(0, start) + host + asciiText(address.slice(start + authority.length));
}

const NOT_PRINTABLE_ASCII = /[^\x21-\x7e]/;

function asciiText(text: string): string {
  return text.replace(/[^\x21-\x7e]+/g, encodeURIComponent);
}

function isWeb(scheme: string): boolean {
  return scheme === 'https:' || scheme === 'http:';
}
