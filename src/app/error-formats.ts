import { pageFormat } from '#browser/error-format.tsx';
import type { Pages } from '#browser/pages.ts';
import type { Urls } from '#browser/urls.ts';
import { oauthJsonFormat } from '#oauth-endpoint/error-format.ts';
import { type RenderError, renderPlainJson } from '#platform/http/error-format.ts';
import type { ErrorFormat } from '#platform/http/route.ts';

/** How errors are rendered for each audience that a route can have. */
export function createErrorFormats(options: {
  issuer: string;
  pages: Pages;
  urls: Urls;
}): Record<ErrorFormat, RenderError> {
  return {
    'oauth-json': oauthJsonFormat(options.issuer),
    page: pageFormat(options.pages, options.urls),
    'plain-json': renderPlainJson,
  };
}
