import { pageFormat } from '#browser/error-format.tsx';
import type { Pages } from '#browser/pages.ts';
import type { Urls } from '#browser/urls.ts';
import { graphqlFormat } from '#features/account-api/error-format.ts';
import { adminJsonFormat } from '#features/admin-api/error-format.ts';
import { chatJsonFormat } from '#features/chat-compat/error-format.ts';
import { oauthJsonFormat } from '#oauth-endpoint/error-format.ts';
import { type ErrorFormats, plainJsonFormat } from '#platform/http/error-format.ts';
import type { ErrorFormat } from '#platform/http/route.ts';
import { chatNames } from '#protocol/chat/names.ts';
import { ERRORS } from '#vocabulary/errors.ts';

/** Path below the prefix of the chat protocol that browsers visit. */
const SSO_REDIRECT = /^client\/[^/]+\/login\/sso\/redirect(?:\/|$)/;

/** Creates the error renderers for each audience of a route. */
export function createErrorFormats(options: { issuer: string; pages: Pages; urls: Urls }): ErrorFormats {
  return {
    'admin-json': { render: adminJsonFormat, cors: 'admin', wrongBodyType: 'unsupported_media_type' },
    'chat-json': { render: chatJsonFormat, cors: 'chat', wrongBodyType: 'not_json' },
    'graphql-json': { render: graphqlFormat, cors: 'none', wrongBodyType: 'unsupported_media_type' },
    // RFC 6749 and RFC 7591 define no error code for an unsupported content type.
    'oauth-json': {
      render: oauthJsonFormat(options.issuer),
      cors: 'get-post',
      wrongBodyType: 'invalid_request',
    },
    page: { render: pageFormat(options.pages, options.urls), cors: 'none', wrongBodyType: 'unsupported_media_type' },
    'plain-json': { render: plainJsonFormat(ERRORS), cors: 'none', wrongBodyType: 'unsupported_media_type' },
  };
}

/**
 * Returns the error format for a path without a route (browser-flows 10).
 * @param protocolName determines the paths of the chat protocol
 */
export function errorFormatOfPath(path: string, protocolName: string): ErrorFormat {
  if (path.startsWith('/oauth2/')) return 'oauth-json';
  if (path.startsWith('/api/')) return 'admin-json';
  const { pathPrefix } = chatNames(protocolName);
  if (path.startsWith(pathPrefix)) return SSO_REDIRECT.test(path.slice(pathPrefix.length)) ? 'page' : 'chat-json';
  const isForMachines =
    path.startsWith('/.well-known/') || path === '/health' || path === '/graphql' || path.startsWith('/graphql/');
  return isForMachines ? 'plain-json' : 'page';
}
