import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';

/** Why an operation is rejected: `extensions.code` of the response (account-graphql 1.4, 1.5). */
export type RefusalCode =
  | 'BAD_USER_INPUT'
  | 'FEATURE_DISABLED'
  | 'FORBIDDEN'
  | 'GRAPHQL_PARSE_FAILED'
  | 'GRAPHQL_VALIDATION_FAILED'
  | 'HOMESERVER_UNAVAILABLE'
  | 'INTROSPECTION_DISABLED'
  | 'LAST_EMAIL'
  | 'NOT_FOUND'
  | 'NOT_SUPPORTED'
  | 'OPERATION_RESOLUTION_FAILURE'
  | 'QUERY_TOO_COMPLEX'
  | 'RATE_LIMITED'
  | 'REAUTH_REQUIRED'
  | 'TIMEOUT'
  | 'UNAUTHENTICATED';

export function refusal(
  code: RefusalCode,
  message: string,
  extensions: Omit<GraphQLErrorExtensions, 'code'> = {},
): GraphQLError {
  return new GraphQLError(message, { extensions: { code, ...extensions } });
}

/** The log has the cause. Users can only retry. */
export function homeserverUnavailable(): GraphQLError {
  return refusal('HOMESERVER_UNAVAILABLE', 'the homeserver is not available; try again later');
}
