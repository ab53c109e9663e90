import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import { respondTagged } from './cacheable-document.ts';

const PATH = '.well-known/security.txt';
const DAY_MS = 86_400_000;
/** RFC 9116 2.5.5 recommends less than a year. The setting is as current as the response. */
const VALID_DAYS = 180;

/**
 * Returns where to report vulnerabilities of this service (RFC 9116). The expiry changes once a day, so that caches can
 * revalidate the document.
 * @throws LatchkeyError `not_found` if no contact is configured
 */
export function handleSecurityContact(
  { config, clock }: Pick<Core, 'clock' | 'config'>,
  { urls }: Pick<Browser, 'urls'>,
  context: RequestContext,
): HttpResponse {
  const { securityContact } = config.branding;
  if (securityContact === undefined) throw new LatchkeyError('not_found');
  const expiresAt = (Math.floor(clock.now() / DAY_MS) + VALID_DAYS) * DAY_MS;
  const addresses = new Set([`${urls.origin}/${PATH}`, urls.absolute(PATH)]);
  const lines = [
    `Contact: ${securityContact}`,
    `Expires: ${new Date(expiresAt).toISOString()}`,
    ...[...addresses].map((address) => `Canonical: ${address}`),
  ];
  return respondTagged(context, Buffer.from(`${lines.join('\n')}\n`), {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'public, max-age=3600',
  });
}
