/** What every answer of a page's address carries, redirects and errors included (security 3.5). */
export const PAGE_SECURITY_HEADERS = {
  'content-security-policy': contentSecurityPolicy([]),
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'permissions-policy':
    'camera=(), microphone=(), geolocation=(), payment=(), usb=(), ' +
    'publickey-credentials-get=(self), publickey-credentials-create=(self)',
} as const;

/** The policy of security 3.5, with the sources that `formActions` add to `form-action`. */
export function contentSecurityPolicy(formActions: readonly string[]): string {
  const sources = new Set(formActions.flatMap((address) => formActionSource(address) ?? []));
  return (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
    `connect-src 'self'; form-action ${["'self'", ...sources].join(' ')}; frame-ancestors 'none'; base-uri 'none'; ` +
    "object-src 'none'"
  );
}

// What a source may be written with; anything else could begin another source or directive.
const SAFE_SOURCE = /^[A-Za-z0-9\-._~:/[\]%]+$/;

/** Origin of an http(s) address, `scheme:` of any other; undefined when there is none that a policy could hold. */
function formActionSource(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  const source = isWeb ? url.origin : url.protocol;
  return SAFE_SOURCE.test(source) ? source : undefined;
}
