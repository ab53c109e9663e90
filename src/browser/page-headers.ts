/** What every answer of a page's address carries, redirects and errors included (security 3.5). */
import { parseUrl } from '#platform/base/url.ts';

export const PAGE_SECURITY_HEADERS = {
  'content-security-policy': contentSecurityPolicy({}),
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'permissions-policy':
    'camera=(), microphone=(), geolocation=(), payment=(), usb=(), ' +
    'publickey-credentials-get=(self), publickey-credentials-create=(self)',
} as const;

/** Where the forms of a page lead besides this service. */
export interface FormActions {
  /** Addresses of others to which an accepted form redirects; where they redirect on to is theirs to decide. */
  readonly redirects?: readonly string[];
  /** The address of another to which the page posts itself. */
  readonly post?: string | undefined;
}

/** What a page loads from others, each written as a policy has it. */
export interface OtherSources {
  readonly scripts?: readonly string[];
  readonly styles?: readonly string[];
  readonly connections?: readonly string[];
  readonly frames?: readonly string[];
}

/** The policy of security 3.5, with the sources that forms add to `form-action` and those of others. */
export function contentSecurityPolicy(
  { redirects = [], post }: FormActions,
  { scripts = [], styles = [], connections = [], frames = [] }: OtherSources = {},
): string {
  const target = post === undefined ? undefined : originSource(post);
  const sources = new Set([...redirects.map(redirectSource), target].filter((source) => source !== undefined));
  const own = (others: Iterable<string>): string => ["'self'", ...others].join(' ');
  return (
    `default-src 'none'; script-src ${own(scripts)}; style-src ${own(styles)}; img-src 'self' data:; font-src 'self'; ` +
    `connect-src ${own(connections)}; form-action ${own(sources)}; frame-ancestors 'none'; base-uri 'none'; ` +
    `object-src 'none'${frames.length === 0 ? '' : `; frame-src ${frames.join(' ')}`}`
  );
}

// What a source may be written with; anything else could begin another source or directive.
const SAFE_SOURCE = /^[A-Za-z0-9\-._~:/[\]%]+$/;

/** Origin of an http(s) address, `scheme:` of any other; undefined when there is none that a policy could hold. */
export function originSource(address: string): string | undefined {
  const url = parseUrl(address);
  if (url === undefined) return undefined;
  const { protocol, origin } = url;
  const source = isWeb(protocol) ? origin : protocol;
  return SAFE_SOURCE.test(source) ? source : undefined;
}

/**
 * `scheme:` alone. Chromium holds `form-action` against the whole chain of redirects after a form, so the origin of the
 * client would stop a client that takes the browser on to another one, such as a homeserver to its chat client.
 */
function redirectSource(address: string): string | undefined {
  return originSource(address) === undefined ? undefined : new URL(address).protocol;
}

function isWeb(protocol: string): boolean {
  return protocol === 'https:' || protocol === 'http:';
}
