/**
 * The interactive reference of the admin API (operations 4.13). The page calls the API from the browser, with an access
 * token that it obtains like any other client.
 *
 * - `GET /api/doc`: redirects to `/api/doc/`
 * - `GET /api/doc/`: the reference
 * - `GET /api/doc/oauth2-callback`: the redirect URI for `/authorize`
 */
import type { Browser } from '#browser/browser.ts';
import { contentSecurityPolicy } from '#browser/page-headers.ts';
import { PAGE_HEADERS } from '#browser/pages.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { renderCallback, renderReference } from './reference.page.tsx';

const REFERENCE = '/api/doc/';
const CALLBACK = `${REFERENCE}oauth2-callback`;
const PAGE = { method: 'GET', resource: 'adminapi', errorFormat: 'page' } as const;

/** @param specPath path of the API description */
export function referenceRoutes({ assets, site, urls }: Browser, specPath: string): Route[] {
  const below = (path: string) => path.slice(1);
  const reference = renderReference(
    { assets, site },
    { description: urls.path(below(specPath)), callback: urls.absolute(below(CALLBACK)) },
  );
  const callback = renderCallback({ assets, site });
  return [
    {
      ...PAGE,
      path: REFERENCE.slice(0, -1),
      handle: () => ({ status: 308, headers: { location: urls.absolute(below(REFERENCE)) } }),
    },
    {
      ...PAGE,
      path: REFERENCE,
      // The sign-in window must keep its opener, even when it passes through an upstream provider.
      handle: () => page(reference, { 'cross-origin-opener-policy': 'same-origin-allow-popups' }),
    },
    {
      ...PAGE,
      path: CALLBACK,
      // The URL contains the code.
      handle: () => page(callback, { 'referrer-policy': 'no-referrer' }),
    },
  ];
}

function page(body: string, headers: Readonly<Record<string, string>>): HttpResponse {
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-language': 'en',
      'content-security-policy': contentSecurityPolicy({}),
      ...PAGE_HEADERS,
      ...headers,
    },
    body,
  };
}
