import type { ErrorCode } from '#platform/base/errors.ts';
import {
  describeForDevelopers,
  errorHeaders,
  plainDescription,
  type RenderError,
} from '#platform/http/error-format.ts';
import { type HttpResponse, json } from '#platform/http/response.ts';
import { ERRORS } from '#vocabulary/errors.ts';

/** RFC 6749 5.2: 401 if the client did not authenticate, 400 for other rejections. */
const STATUSES: Partial<Record<ErrorCode, number>> = {
  access_denied: 400,
  already_used: 400,
  device_code_not_found: 400,
  device_code_used: 400,
  expired: 400,
  expired_token: 400,
  invalid_client: 401,
  registration_closed: 403,
  registration_expired: 400,
  registration_not_found: 400,
  registration_outdated: 400,
  reserved_device_id: 400,
};

/** 401 if the thrower adds a challenge, otherwise the status in the error table. */
const CREDENTIAL_CODES: ReadonlySet<ErrorCode> = new Set(['access_denied', 'invalid_dpop_proof', 'use_dpop_nonce']);

/** Schemes of the challenges that RFC 6749 5.2 and RFC 6750 3 require. */
const CHALLENGES: Partial<Record<ErrorCode, 'Basic' | 'Bearer'>> = {
  insufficient_scope: 'Bearer',
  invalid_client: 'Basic',
  invalid_token: 'Bearer',
};

/**
 * `{ error, error_description? }`: errors of the OAuth endpoints (RFC 6749 5.2, RFC 6750 3.1, RFC 7009 2.2.1).
 * @param issuer realm of the challenges
 */
export function oauthJsonFormat(issuer: string): RenderError {
  const realm = plainDescription(issuer);
  return (error, failed): HttpResponse => {
    const { code } = error;
    const row = ERRORS[code];
    const { oauth, status } = row;
    const thrown = errorHeaders(error);
    const headers: Record<string, string> = { pragma: 'no-cache' };
    if (CHALLENGES[code] === 'Basic') headers['www-authenticate'] = `Basic realm="${realm}"`;
    if (CHALLENGES[code] === 'Bearer') headers['www-authenticate'] = `Bearer realm="${realm}", error="${oauth}"`;
    // The thrower's challenge means that the credentials were rejected. Without it, the caller was.
    const isForCredentials = CREDENTIAL_CODES.has(code) && thrown['www-authenticate'] !== undefined;
    return json(
      isForCredentials ? 401 : (STATUSES[code] ?? status),
      { error: oauth, error_description: describeForDevelopers(error, row, failed.requestId) },
      { ...headers, ...thrown },
    );
  };
}
