/**
 * `GET /client-logos/{client_id}`: a client's logo from this origin, so that its host never learns who views a page
 * (`account.client_logos`). If the logo is not available, the response is a letter, at once or after at most five
 * seconds. Pages do not wait for it.
 */
import type { Browser } from '#browser/browser.ts';
import { cleanName } from '#browser/components/text.tsx';
import { clientName } from '#domain/clients/client.ts';
import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseId } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { EmbeddableRequest, Route } from '#platform/http/route.ts';
import { ClientLogos } from './client-logos.ts';

// Opened directly, an SVG is a document. It may contain scripts, which must not run on this origin.
const POLICY = { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox" };

export function mount(core: Core, browser: Browser): Route[] {
  const logos = new ClientLogos(core.outbound, core.clock);
  return [
    {
      method: 'GET',
      path: '/client-logos/:client_id',
      resource: 'human',
      errorFormat: 'page',
      embedding: isImageOfOwnPage,
      handle: (context) => handleLogo(core, browser, logos, context),
    },
  ];
}

/** Only this service's pages may show logos. Other sites must not be able to trigger fetches. */
function isImageOfOwnPage({ headers }: EmbeddableRequest): boolean {
  return headers['sec-fetch-dest'] === 'image' && headers['sec-fetch-site'] === 'same-origin';
}

async function handleLogo(
  { clients }: Core,
  { clientLogoPath, languages: [language = 'en'] }: Browser,
  logos: ClientLogos,
  { params, headers }: RequestContext,
): Promise<HttpResponse> {
  const id = parseId<'client'>(params['client_id'] ?? '');
  const client = id === undefined ? undefined : await clients.find(id);
  if (client?.logoUri === undefined || clientLogoPath(client) === undefined) throw new LatchkeyError('not_found');
  const logo = await logos.find(client.logoUri, client);
  if (logo === undefined) {
    const initial = initialOf(clientName(client, language) ?? client.id);
    return {
      status: 200,
      headers: { 'content-type': 'image/svg+xml', 'cache-control': 'public, max-age=60', ...POLICY },
      body: initialDrawing(initial),
    };
  }
  const { contentType, content, etag } = logo;
  const caching = { 'cache-control': 'public, max-age=300', etag, ...POLICY };
  if (headers['if-none-match']?.includes(etag)) return { status: 304, headers: caching };
  return { status: 200, headers: { 'content-type': contentType, ...caching }, body: content };
}

/** Returns a letter or digit, which needs no escaping in markup. */
function initialOf(name: string): string {
  return /[\p{L}\p{N}]/u.exec(cleanName(name))?.[0]?.toUpperCase() ?? '?';
}

function initialDrawing(initial: string): string {
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect width="48" height="48" rx="8" fill="#5b6770"/>' +
    '<text x="24" y="33" text-anchor="middle" font-family="sans-serif" font-size="26" fill="#ffffff">' +
    `${initial}</text></svg>`
  );
}
