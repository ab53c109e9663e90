import { pageFormat } from '#browser/error-format.tsx';
import type { Pages } from '#browser/pages.ts';
import type { Urls } from '#browser/urls.ts';
import { oauthJsonFormat } from '#oauth-endpoint/error-format.ts';
import { type ErrorFormats, renderPlainJson } from '#platform/http/error-format.ts';
import type { ErrorFormat } from '#platform/http/route.ts';

/** How errors are rendered for each audience that a route can have. */
export function createErrorFormats(options: { issuer: string; pages: Pages; urls: Urls }): ErrorFormats {
  return {
    // RFC 6749 has no code of its own for a body that is not a form.
    'oauth-json': {
      render: oauthJsonFormat(options.issuer),
      cors: 'get-post',
      wrongBodyType: 'invalid_request',
    },
    page: { render: pageFormat(options.pages, options.urls), cors: 'none', wrongBodyType: 'unsupported_media_type' },
    'plain-json': { render: renderPlainJson, cors: 'none', wrongBodyType: 'unsupported_media_type' },
  };
}

/**
 * Who reads an error at a path that no route answers (browser-flows 10).
 * @param protocolName names the paths of the chat protocol
 */
export function errorFormatOfPath(path: string, protocolName: string): ErrorFormat {
  if (path.startsWith('/oauth2/')) return 'oauth-json';
  const isForMachines =
    path.startsWith('/.well-known/') ||
    path.startsWith(`/_${protocolName}/`) ||
    path.startsWith('/api/') ||
    path === '/health' ||
    path === '/graphql' ||
    path.startsWith('/graphql/');
  return isForMachines ? 'plain-json' : 'page';
}
