import type { RequestContext } from '#platform/http/request-context.ts';

/**
 * Tests whether a page of another site may have sent the request, based on the headers that browsers add
 * (account-graphql 1.6). Non-browser clients send neither header. Forms of other sites cannot imitate them, because
 * they cannot set the required content type.
 * @param origin origin of this service
 */
export function isCrossSite({ headers, method }: RequestContext, origin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (headers.origin !== undefined && headers.origin !== origin) return true;
  if (site === undefined || site === 'same-origin') return false;
  // An address typed into the address bar. Such a request can only read.
  return !(site === 'none' && method === 'GET');
}
