import type { Pages } from '#browser/pages.ts';
import { pageFormat } from '#browser/problem-format.tsx';
import type { Urls } from '#browser/urls.ts';
import { oauthJsonFormat } from '#oauth-endpoint/oauth-json.ts';
import type { RenderError } from '#platform/http/error-format.ts';
import { renderPlainJson } from '#platform/http/plain-json.ts';
import type { ErrorFormat } from '#platform/http/route.ts';

/** One way of putting errors for each kind of reader. */
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
