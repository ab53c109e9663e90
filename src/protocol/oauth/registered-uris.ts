/** URIs that a client may register for itself (oauth 4.3, 4.4; RFC 7591 5, RFC 8252 7). */
import { isIP } from 'node:net';
import { parse } from 'tldts';
import { parseUrl } from '#platform/base/url.ts';
import { redirectUriProblem } from './redirect-uris.ts';
import type { MetadataProblem, RegistrationPolicy } from './registration-policy.ts';

/** What the operator allows in addition to the rules. */
export type PageUriPolicy = Pick<RegistrationPolicy, 'allowHostMismatch' | 'allowInsecureUris'>;
export type RedirectUriPolicy = PageUriPolicy & Pick<RegistrationPolicy, 'allowPrivateUseSchemes' | 'knownSchemes'>;

export type ApplicationType = 'web' | 'native';

const MAX_CHARACTERS = 2048;
/** Printable ASCII without the characters that RFC 3986 excludes. */
const ALLOWED_CHARACTERS = /^[\x21\x23-\x3B\x3D\x3F-\x5B\x5D_a-z~]+$/;
const AUTHORITY = /^https?:\/\/([^/?#]+)/i;
const LOOPBACK_ADDRESS = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]+)?(?:[/?]|$)/;
/**
 * Applications use their scheme with or without a host (`com.example.app:/path`, `com.example.app:///path`,
 * `cursor://host/path`). The system passes on every URI with the scheme, so the host protects nothing.
 */
const PRIVATE_USE = /^([a-z][a-z0-9+.-]*):\//;
const NO_SCHEME = 'must use https, http on loopback, or a private-use scheme such as com.example.app:/callback';
/** Schemes of operating systems, browsers and published protocols, which no application can claim. */
const RESERVED_SCHEMES = new Set([
  ...['android-app', 'chrome', 'chrome-extension', 'content', 'dav', 'davs', 'dns', 'edge', 'facetime', 'feed'],
  ...['filesystem', 'ftp', 'ftps', 'geo', 'git', 'gopher', 'http', 'https', 'imap', 'intent', 'irc', 'ircs', 'itms'],
  ...[
    'itms-apps',
    'jar',
    'ldap',
    'ldaps',
    'magnet',
    'mailto',
    'market',
    'matrix',
    'mid',
    'moz-extension',
    'news',
    'nfs',
    'nntp',
    'pop',
  ],
  ...['rdp', 'resource', 'rtsp', 'search', 'search-ms', 'sftp', 'shell', 'sip', 'sips', 'sms', 'smb', 'ssh', 'svn'],
  ...['tel', 'telnet', 'tftp', 'urn', 'vnc', 'xmpp'],
]);

/**
 * Returns why a page of the client (`client_uri`, `logo_uri` and so on) cannot be registered; undefined if it can.
 * @param clientHost host that the page must be on or below; undefined for `client_uri` itself
 */
export function pageUriProblem(
  uri: string,
  policy: PageUriPolicy,
  clientHost?: ClientHost,
): MetadataProblem | undefined {
  const problem = webUriProblem(uri, policy);
  if (problem !== undefined) return problem;
  const host = new URL(uri).hostname;
  if (isIpAddress(host) && !policy.allowInsecureUris) {
    return { text: 'must not have an IP address as its host', setting: 'allow_insecure_uris' };
  }
  return clientHost === undefined ? undefined : clientHost.problem(host, policy);
}

/** Does the same for a URL that this server sends requests to (OpenID Connect Back-Channel Logout 1.0, 2.2). */
export function backchannelUriProblem(
  uri: string,
  policy: PageUriPolicy,
  clientHost: ClientHost,
): MetadataProblem | undefined {
  return uri.includes('#') ? { text: 'must not have a fragment' } : pageUriProblem(uri, policy, clientHost);
}

/** Does the same for a redirect URI. */
export function registeredRedirectUriProblem(
  uri: string,
  type: ApplicationType,
  policy: RedirectUriPolicy,
  clientHost: ClientHost,
): MetadataProblem | undefined {
  const problem = redirectUriProblem(uri);
  if (problem !== undefined) return { text: problem };
  if (/^https?:/i.test(uri)) {
    if (LOOPBACK_ADDRESS.test(uri)) {
      if (type === 'native') return undefined;
      if (!policy.allowInsecureUris) {
        return {
          text: 'must be an https URL: http on loopback is only for clients with application_type native',
          setting: 'preset',
        };
      }
    }
    return webUriProblem(uri, policy) ?? clientHost.problem(new URL(uri).hostname, policy);
  }
  const scheme = schemeOf(uri);
  if (scheme === undefined) return { text: NO_SCHEME };
  // RFC 8252 7.1: a reversed domain name, so with a period.
  const isDomain = scheme.includes('.');
  if (!isAllowed(scheme, policy) && !(isDomain && clientHost.ownsScheme(scheme))) {
    const text = isDomain ? 'must have a scheme that starts with the reversed host of client_uri' : NO_SCHEME;
    return { text, setting: 'allow_private_use_schemes' };
  }
  if (type === 'native') return undefined;
  return { text: 'must be an https URL: other schemes are only for clients with application_type native' };
}

/** Returns whether only native clients have such URIs (RFC 8252 7.1, 7.3). */
export function isNativeRedirectUri(uri: string, policy: RedirectUriPolicy): boolean {
  if (LOOPBACK_ADDRESS.test(uri)) return true;
  const scheme = schemeOf(uri);
  return scheme !== undefined && isAllowed(scheme, policy);
}

/** Returns the scheme of a URI if an application can claim it. Schemes of Windows itself start with `ms-`. */
function schemeOf(uri: string): string | undefined {
  const scheme = PRIVATE_USE.exec(uri)?.[1];
  return scheme === undefined || RESERVED_SCHEMES.has(scheme) || scheme.startsWith('ms-') ? undefined : scheme;
}

function isAllowed(scheme: string, { allowPrivateUseSchemes, knownSchemes }: RedirectUriPolicy): boolean {
  return allowPrivateUseSchemes || knownSchemes.has(scheme);
}

/** The host of a client, which its URIs are compared with. */
export class ClientHost {
  readonly #host: string | undefined;
  readonly #member: string;

  /**
   * @param uri a valid URI; undefined if the client has none
   * @param member the member that contains it
   */
  constructor(uri: string | undefined, member: 'client_id' | 'client_uri') {
    this.#host = uri === undefined ? undefined : withoutDots(new URL(uri).hostname);
    this.#member = member;
  }

  /** Returns why a URI on this host does not belong to the client. */
  problem(host: string, policy: PageUriPolicy): MetadataProblem | undefined {
    if (policy.allowHostMismatch) return undefined;
    const setting = 'allow_host_mismatch';
    if (this.#host === undefined) return { text: `requires ${this.#member}, to compare the hosts`, setting };
    const name = withoutDots(host);
    if (name === this.#host || (!isIpAddress(name) && name.endsWith(`.${this.#host}`))) return undefined;
    return { text: `must have the same host as ${this.#member} or a subdomain of it`, setting };
  }

  /** Compares by label: `com.example` and `com.example.app` belong to `example.com`. */
  ownsScheme(scheme: string): boolean {
    if (this.#host === undefined || isIpAddress(this.#host)) return false;
    const reversed = this.#host.split('.').reverse().join('.');
    return scheme === reversed || scheme.startsWith(`${reversed}.`);
  }
}

function webUriProblem(uri: string, policy: PageUriPolicy): MetadataProblem | undefined {
  if (uri.length > MAX_CHARACTERS) return { text: `must have at most ${MAX_CHARACTERS} characters` };
  const authority = AUTHORITY.exec(uri)?.[1];
  const url = parseUrl(uri);
  if (authority === undefined || !ALLOWED_CHARACTERS.test(uri) || url === undefined) {
    return { text: 'must be an https URL' };
  }
  if (authority.includes('@')) return { text: 'must not contain user information' };
  const { protocol, hostname } = url;
  if (!policy.allowInsecureUris) {
    const setting = 'allow_insecure_uris';
    if (protocol !== 'https:') return { text: 'must be an https URL', setting };
    if (isLoopback(hostname)) return { text: 'must not be a loopback address', setting };
  }
  return isPublicSuffix(hostname) ? { text: 'is not using a valid domain' } : undefined;
}

/** Matches `localhost`, its subdomains and loopback addresses. */
function isLoopback(host: string): boolean {
  const name = withoutDots(host);
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return /^127\.|^0\.0\.0\.0$|^\[::1?\]$|^\[::ffff:(?:7f[0-9a-f]{2}|0):/.test(name);
}

function isIpAddress(host: string): boolean {
  return host.startsWith('[') || isIP(withoutDots(host)) !== 0;
}

/** Domains are registered below a public suffix, so it has no single owner (https://publicsuffix.org). */
function isPublicSuffix(host: string): boolean {
  const name = withoutDots(host);
  const { publicSuffix, isIcann, isPrivate } = parse(name, { allowPrivateDomains: true, validateHostname: false });
  return publicSuffix === name && (isIcann === true || isPrivate === true);
}

function withoutDots(host: string): string {
  return host.replace(/^\.+/, '').replace(/\.+$/, '');
}
