import { prefersMediaType } from '#platform/http/accept.ts';
import type { HttpResponse, ResponseHeaders } from '#platform/http/response.ts';

const GRAPHQL_TYPE = 'application/graphql-response+json';

/**
 * Tests whether the caller accepts the media type of GraphQL over HTTP. With it, a rejected document gets status 400.
 */
export function acceptsGraphqlType(accept: string | undefined): boolean {
  return prefersMediaType(accept, GRAPHQL_TYPE, 'application/json');
}

/** @param accept the request's `Accept` header */
export function graphqlResponse(
  status: number,
  body: object,
  accept: string | undefined,
  headers: ResponseHeaders = {},
): HttpResponse {
  return graphqlTextResponse(status, JSON.stringify(body), accept, headers);
}

/** Like `graphqlResponse`, for a body that is already serialized. */
export function graphqlTextResponse(
  status: number,
  body: string,
  accept: string | undefined,
  headers: ResponseHeaders = {},
): HttpResponse {
  const type = acceptsGraphqlType(accept) ? GRAPHQL_TYPE : 'application/json';
  return {
    status,
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'no-store',
      vary: 'Origin, Accept',
      ...headers,
    },
    body,
  };
}
