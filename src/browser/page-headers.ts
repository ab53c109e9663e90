/** Headers of every response at a page's URL, including redirects and errors (security 3.5). */
import { parseUrl } from '#platform/base/url.ts';

export const PAGE_SECURITY_HEADERS = {
  'content-security-policy': contentSecurityPolicy({}),
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'permissions-policy':
    'camera=(), microphone=(), geolocation=(), payment=(), usb=(), ' +
    'publickey-credentials-get=(self), publickey-credentials-create=(self)',
} as const;

/** Where a page's forms lead, other than this service. */
export interface FormActions {
  /** External URLs that an accepted form redirects to. Those sites decide where they redirect next. */
  readonly redirects?: readonly string[];
  /** The external URL that the page posts itself to. */
  readonly post?: string | undefined;
}

/** External sources that a page loads, in the syntax of the policy. */
export interface OtherSources {
  readonly scripts?: readonly string[];
  readonly styles?: readonly string[];
  readonly connections?: readonly string[];
  readonly frames?: readonly string[];
}

/** Returns the policy of security 3.5, with additional sources for `form-action` and external content. */
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

// Characters allowed in a source. Anything else could start another source or directive.
const SAFE_SOURCE = /^[A-Za-z0-9\-._~:/[\]%]+$/;

/** Returns the origin of an http(s) URL, or `scheme:` of any other. Undefined if a policy cannot contain it. */
export function originSource(address: string): string | undefined {
  const url = parseUrl(address);
  if (url === undefined) return undefined;
  const { protocol, origin } = url;
  const source = isWeb(protocol) ? origin : protocol;
  return SAFE_SOURCE.test(source) ? source : undefined;
}

/**
 * Returns only `scheme:`. Chromium checks `form-action` against the whole redirect chain after a form. The client's
 * origin would block a client that redirects to another one, such as a homeserver to its chat client.
 */
function redirectSource(address: string): string | undefined {
  return originSource(address) === undefined ? undefined : new URL(address).protocol;
}

function isWeb(protocol: string): boolean {
  return protocol === 'https:' || protocol === 'http:';
}
