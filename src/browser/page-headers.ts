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

/**
 * The policy of security 3.5, with the sources that forms add to `form-action`.
 * @param frame address whose origin the page may show in a frame; undefined: it may have none
 */
export function contentSecurityPolicy({ redirects = [], post }: FormActions, frame?: string): string {
  const target = post === undefined ? undefined : originSource(post);
  const framed = frame === undefined ? undefined : originSource(frame);
  const sources = new Set([...redirects.map(redirectSource), target].filter((source) => source !== undefined));
  return (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
    `connect-src 'self'; form-action ${["'self'", ...sources].join(' ')}; frame-ancestors 'none'; base-uri 'none'; ` +
    `object-src 'none'${framed === undefined ? '' : `; frame-src ${framed}`}`
  );
}

// What a source may be written with; anything else could begin another source or directive.
const SAFE_SOURCE = /^[A-Za-z0-9\-._~:/[\]%]+$/;

/** Origin of an http(s) address, `scheme:` of any other; undefined when there is none that a policy could hold. */
function originSource(address: string): string | undefined {
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
