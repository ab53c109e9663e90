import type { ErrorCode } from '#platform/base/errors.ts';
import {
  describeForDevelopers,
  errorHeaders,
  plainDescription,
  type RenderError,
} from '#platform/http/error-format.ts';
import { type HttpResponse, json } from '#platform/http/response.ts';

interface WireError {
  readonly status: number;
  readonly error: string;
  /** Scheme of the challenge. */
  readonly challenge?: 'Basic' | 'Bearer';
}

const UNAVAILABLE = 'temporarily_unavailable';
const BAD_REQUEST: WireError = { status: 400, error: 'invalid_request' };
const FORBIDDEN: WireError = { status: 403, error: 'access_denied' };

const WIRE: Record<ErrorCode, WireError> = {
  access_denied: { status: 400, error: 'access_denied' },
  already_used: { status: 400, error: 'invalid_grant' },
  body_too_large: { status: 413, error: 'invalid_request' },
  cross_site_request: FORBIDDEN,
  csrf_expired: FORBIDDEN,
  csrf_mismatch: FORBIDDEN,
  csrf_missing: FORBIDDEN,
  embedding_refused: FORBIDDEN,
  expired: { status: 400, error: 'invalid_grant' },
  headers_too_large: { status: 431, error: 'invalid_request' },
  insufficient_scope: { status: 403, error: 'insufficient_scope', challenge: 'Bearer' },
  internal: { status: 500, error: 'server_error' },
  invalid_client: { status: 401, error: 'invalid_client', challenge: 'Basic' },
  invalid_grant: { status: 400, error: 'invalid_grant' },
  invalid_redirect_uri: { status: 400, error: 'invalid_redirect_uri' },
  invalid_request: BAD_REQUEST,
  invalid_scope: { status: 400, error: 'invalid_scope' },
  invalid_target: { status: 400, error: 'invalid_target' },
  invalid_token: { status: 401, error: 'invalid_token', challenge: 'Bearer' },
  malformed_request: BAD_REQUEST,
  method_not_allowed: { status: 405, error: 'method_not_allowed' },
  not_found: { status: 404, error: 'not_found' },
  overloaded: { status: 503, error: UNAVAILABLE },
  rate_limited: { status: 429, error: UNAVAILABLE },
  registration_closed: FORBIDDEN,
  registration_expired: BAD_REQUEST,
  registration_not_found: BAD_REQUEST,
  request_line_too_long: { status: 414, error: 'invalid_request' },
  request_timeout: { status: 408, error: 'invalid_request' },
  temporarily_unavailable: { status: 503, error: UNAVAILABLE },
  unauthorized_client: { status: 400, error: 'unauthorized_client' },
  unsupported_grant_type: { status: 400, error: 'unsupported_grant_type' },
  unsupported_media_type: { status: 415, error: 'invalid_request' },
  unsupported_token_type: { status: 400, error: 'unsupported_token_type' },
};

/**
 * Errors of the OAuth endpoints (RFC 6749 5.2, RFC 6750 3.1, RFC 7009 2.2.1).
 * @param issuer realm of the challenges
 */
export function oauthJsonFormat(issuer: string): RenderError {
  const realm = plainDescription(issuer);
  return (error, failed): HttpResponse => {
    const wire = WIRE[error.code];
    const description = describeForDevelopers(error, failed.requestId);
    const thrown = errorHeaders(error);
    const hasOwnChallenge = thrown['www-authenticate'] !== undefined;
    const headers: Record<string, string> = { pragma: 'no-cache' };
    if (wire.challenge === 'Basic') headers['www-authenticate'] = `Basic realm="${realm}"`;
    if (wire.challenge === 'Bearer') {
      headers['www-authenticate'] = `Bearer realm="${realm}", error="${wire.error}"`;
    }
    // Refused for what was presented, as the thrower's challenge says, or for what the caller is.
    const status = error.code === 'access_denied' && hasOwnChallenge ? 401 : wire.status;
    return json(status, { error: wire.error, error_description: description }, { ...headers, ...thrown });
  };
}
