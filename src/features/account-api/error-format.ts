import { PROOF_CODES } from '#oauth-endpoint/token-challenges.ts';
import type { ErrorCode } from '#platform/base/errors.ts';
import { describeForDevelopers, errorHeaders, type RenderError } from '#platform/http/error-format.ts';
import { ERRORS } from '#vocabulary/errors.ts';
import { graphqlResponse } from './response.ts';

/** Codes whose `extensions.code` is not their name in capitals (account-graphql 1.4). */
const CODES: Partial<Record<ErrorCode, string>> = {
  body_too_large: 'PAYLOAD_TOO_LARGE',
  cross_site_request: 'CSRF_REJECTED',
  mails_delayed: 'UNAVAILABLE',
  malformed_request: 'BAD_REQUEST',
  not_json: 'BAD_REQUEST',
  overloaded: 'UNAVAILABLE',
  request_line_too_long: 'URI_TOO_LONG',
  temporarily_unavailable: 'UNAVAILABLE',
};
const RETRY_SECONDS = '5';

/** Returns the error code that API clients see. */
export function graphqlCode(code: ErrorCode): string {
  return CODES[code] ?? code.toUpperCase();
}

/** Renders errors of requests that were not executed in the same shape as field errors (account-graphql 1.4). */
export const graphqlFormat: RenderError = (error, { requestId, headers }) => {
  const row = ERRORS[error.code];
  const status = PROOF_CODES.has(error.code) ? 401 : row.status;
  const message = error.code === 'internal' ? 'Internal server error' : describeForDevelopers(error, row, requestId);
  const body = {
    errors: [{ message: message ?? error.code, extensions: { code: graphqlCode(error.code), requestId } }],
  };
  return graphqlResponse(status, body, headers.accept, {
    ...(status === 503 && { 'retry-after': RETRY_SECONDS }),
    ...errorHeaders(error),
  });
};
