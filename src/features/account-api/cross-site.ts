import type { RequestContext } from '#platform/http/request-context.ts';

/**
 * Whether a page of another site may have sent the request, by the headers with which browsers tell (account-graphql
 * 1.6). Programs send neither; the content type that they need keeps forms of other sites from passing for them.
 * @param origin of this service
 */
export function isCrossSite({ headers, method }: RequestContext, origin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (headers.origin !== undefined && headers.origin !== origin) return true;
  if (site === undefined || site === 'same-origin') return false;
  // Typed into the address bar, which can only read.
  return !(site === 'none' && method === 'GET');
}
