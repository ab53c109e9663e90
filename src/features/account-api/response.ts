import { prefersMediaType } from '#platform/http/accept.ts';
import type { HttpResponse, ResponseHeaders } from '#platform/http/response.ts';

const GRAPHQL_TYPE = 'application/graphql-response+json';

/** The caller knows the media type of GraphQL over HTTP, under which a refused document is 400. */
export function acceptsGraphqlType(accept: string | undefined): boolean {
  return prefersMediaType(accept, GRAPHQL_TYPE, 'application/json');
}

/** @param accept header of the request */
export function graphqlResponse(
  status: number,
  body: object,
  accept: string | undefined,
  headers: ResponseHeaders = {},
): HttpResponse {
  return graphqlTextResponse(status, JSON.stringify(body), accept, headers);
}

/** The same for a body that was written before. */
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
