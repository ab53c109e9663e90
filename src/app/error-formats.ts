import { pageFormat } from '#browser/error-format.tsx';
import type { Pages } from '#browser/pages.ts';
import type { Urls } from '#browser/urls.ts';
import { graphqlFormat } from '#features/account-api/error-format.ts';
import { adminJsonFormat } from '#features/admin-api/error-format.ts';
import { chatJsonFormat } from '#features/chat-compat/error-format.ts';
import { oauthJsonFormat } from '#oauth-endpoint/error-format.ts';
import { type ErrorFormats, renderPlainJson } from '#platform/http/error-format.ts';
import type { ErrorFormat } from '#platform/http/route.ts';
import { chatNames } from '#protocol/chat/names.ts';

/** Below the prefix of the chat protocol; browsers of people come here. */
const SSO_REDIRECT = /^client\/[^/]+\/login\/sso\/redirect(?:\/|$)/;

/** How errors are rendered for each audience that a route can have. */
export function createErrorFormats(options: { issuer: string; pages: Pages; urls: Urls }): ErrorFormats {
  return {
    'admin-json': { render: adminJsonFormat, cors: 'admin', wrongBodyType: 'unsupported_media_type' },
    'chat-json': { render: chatJsonFormat, cors: 'chat', wrongBodyType: 'not_json' },
    'graphql-json': { render: graphqlFormat, cors: 'none', wrongBodyType: 'unsupported_media_type' },
    // RFC 6749 and RFC 7591 have no code of their own for a body of another type.
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
  if (path.startsWith('/api/')) return 'admin-json';
  const { pathPrefix } = chatNames(protocolName);
  if (path.startsWith(pathPrefix)) return SSO_REDIRECT.test(path.slice(pathPrefix.length)) ? 'page' : 'chat-json';
  const isForMachines =
    path.startsWith('/.well-known/') || path === '/health' || path === '/graphql' || path.startsWith('/graphql/');
  return isForMachines ? 'plain-json' : 'page';
}
