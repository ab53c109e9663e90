/** Which addresses a client may register for itself (oauth 4.3, 4.4; RFC 7591 5, RFC 8252 7). */
import { isIP } from 'node:net';
import { parse } from 'tldts';
import { parseUrl } from '#platform/base/url.ts';
import { redirectUriProblem } from './redirect-uris.ts';

/** What the operator allows beyond the rules. */
export interface UriPolicy {
  /** Addresses may have another host than `client_uri`. */
  readonly allowHostMismatch: boolean;
  /** Also http, loopback and IP addresses. */
  readonly allowInsecureUris: boolean;
}

export type ApplicationType = 'web' | 'native';

const MAX_CHARACTERS = 2048;
/** Printable ASCII without what RFC 3986 leaves out. */
const ALLOWED_CHARACTERS = /^[\x21\x23-\x3B\x3D\x3F-\x5B\x5D_a-z~]+$/;
const AUTHORITY = /^https?:\/\/([^/?#]+)/i;
const LOOPBACK_ADDRESS = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]+)?(?:[/?]|$)/;
/** RFC 8252 7.1: a domain name in reverse, so with a period, and no authority behind it. */
const PRIVATE_USE = /^([a-z][a-z0-9+.-]*\.[a-z0-9+.-]*):\/(?!\/)/;

/**
 * Why a page of the client's (`client_uri`, `logo_uri` and so on) cannot be registered, as the end of a sentence;
 * undefined when it can.
 * @param clientHost host that it has to be on or below; undefined for `client_uri` itself
 */
export function pageUriProblem(uri: string, policy: UriPolicy, clientHost?: ClientHost): string | undefined {
  const problem = webUriProblem(uri, policy);
  if (problem !== undefined) return problem;
  const host = new URL(uri).hostname;
  if (isIpAddress(host) && !policy.allowInsecureUris) return 'must not have an IP address as its host';
  return clientHost === undefined ? undefined : clientHost.problem(host, policy);
}

/** The same for an address that this service itself sends to (OpenID Connect Back-Channel Logout 1.0, 2.2). */
export function backchannelUriProblem(uri: string, policy: UriPolicy, clientHost: ClientHost): string | undefined {
  return uri.includes('#') ? 'must not have a fragment' : pageUriProblem(uri, policy, clientHost);
}

/** The same for a redirect URI. */
export function registeredRedirectUriProblem(
  uri: string,
  type: ApplicationType,
  policy: UriPolicy,
  clientHost: ClientHost,
): string | undefined {
  const problem = redirectUriProblem(uri);
  if (problem !== undefined) return problem;
  if (/^https?:/i.test(uri)) {
    if (type === 'native' && LOOPBACK_ADDRESS.test(uri)) return undefined;
    return webUriProblem(uri, policy) ?? clientHost.problem(new URL(uri).hostname, policy);
  }
  if (type === 'web') return 'must be an https address: other schemes are for native applications';
  const scheme = PRIVATE_USE.exec(uri)?.[1];
  if (scheme === undefined) {
    return 'must be https, http on loopback, or a private-use scheme such as com.example.app:/callback';
  }
  return clientHost.ownsScheme(scheme)
    ? undefined
    : 'must have a scheme that begins with the host of client_uri in reverse';
}

/** The host of a client's `client_uri`, which its other addresses are compared with. */
export class ClientHost {
  readonly #host: string | undefined;

  /** @param clientUri a valid one; undefined: the client has none */
  constructor(clientUri: string | undefined) {
    this.#host = clientUri === undefined ? undefined : withoutDots(new URL(clientUri).hostname);
  }

  /** Why an address on this host is not the client's. */
  problem(host: string, policy: UriPolicy): string | undefined {
    if (policy.allowHostMismatch) return undefined;
    if (this.#host === undefined) return 'needs a client_uri, whose host it is compared with';
    const name = withoutDots(host);
    if (name === this.#host || (!isIpAddress(name) && name.endsWith(`.${this.#host}`))) return undefined;
    return 'must have the host of client_uri or one below it';
  }

  /** Label by label: `com.example` and `com.example.app` for `example.com`. */
  ownsScheme(scheme: string): boolean {
    if (this.#host === undefined || isIpAddress(this.#host)) return false;
    const reversed = this.#host.split('.').reverse().join('.');
    return scheme === reversed || scheme.startsWith(`${reversed}.`);
  }
}

function webUriProblem(uri: string, policy: UriPolicy): string | undefined {
  if (uri.length > MAX_CHARACTERS) return `must have at most ${MAX_CHARACTERS} characters`;
  const authority = AUTHORITY.exec(uri)?.[1];
  const url = parseUrl(uri);
  if (authority === undefined || !ALLOWED_CHARACTERS.test(uri) || url === undefined) return 'must be an https address';
  if (authority.includes('@')) return 'must not hold user information';
  const { protocol, hostname } = url;
  if (!policy.allowInsecureUris) {
    if (protocol !== 'https:') return 'must be an https address';
    if (isLoopback(hostname)) return 'must not lead to the computer that opens it';
  }
  return isPublicSuffix(hostname) ? 'is not using a valid domain' : undefined;
}

/** `localhost`, what is below it, and addresses that a system sends to itself. */
function isLoopback(host: string): boolean {
  const name = withoutDots(host);
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return /^127\.|^0\.0\.0\.0$|^\[::1?\]$|^\[::ffff:(?:7f[0-9a-f]{2}|0):/.test(name);
}

function isIpAddress(host: string): boolean {
  return host.startsWith('[') || isIP(withoutDots(host)) !== 0;
}

/** Registered names are below it, so it belongs to nobody in particular (https://publicsuffix.org). */
function isPublicSuffix(host: string): boolean {
  const name = withoutDots(host);
  const { publicSuffix, isIcann, isPrivate } = parse(name, { allowPrivateDomains: true, validateHostname: false });
  return publicSuffix === name && (isIcann === true || isPrivate === true);
}

function withoutDots(host: string): string {
  return host.replace(/^\.+/, '').replace(/\.+$/, '');
}
