import { PROOF_CODES } from '#oauth-endpoint/token-challenges.ts';
import type { ErrorCode } from '#platform/base/errors.ts';
import { describeForDevelopers, errorHeaders, type RenderError } from '#platform/http/error-format.ts';
import { json } from '#platform/http/response.ts';
import { ERRORS } from '#vocabulary/errors.ts';

const TITLES = { refusal: 'The request was rejected', fault: 'The service could not process the request' } as const;
const RETRY_SECONDS = '5';

/** Returns the status of an error. Some differ from those for other audiences (operations 4.9). */
export function adminStatus(code: ErrorCode): number {
  if (PROOF_CODES.has(code)) return 401;
  return code === 'client_is_static' ? 409 : ERRORS[code].status;
}

/** Codes that have a different name in this API (operations 4.2, 4.7). */
const OWN_CODES: { readonly [Code in ErrorCode]?: string } = {
  invalid_body: 'invalid_request',
  malformed_request: 'invalid_request',
  not_json: 'invalid_request',
  overloaded: 'unavailable',
  session_revoked: 'already_revoked',
  temporarily_unavailable: 'unavailable',
};

/** Returns the value of `code`. */
export function adminCode(code: ErrorCode): string {
  return OWN_CODES[code] ?? code;
}

/** `{ errors: [{ title, status, code, detail?, source?, id? }] }` (operations 4.2). */
export const adminJsonFormat: RenderError = (error, { requestId }) => {
  const row = ERRORS[error.code];
  const status = adminStatus(error.code);
  const detail = describeForDevelopers(error, row, requestId);
  const { pointer, parameter } = error.members;
  const source = pointer === undefined ? parameter !== undefined && { parameter } : { pointer };
  const body = {
    title: detail ?? TITLES[row.kind],
    status: String(status),
    code: adminCode(error.code),
    detail,
    ...(source !== false && { source }),
    id: requestId,
  };
  return json(
    status,
    { errors: [body] },
    { ...(status === 503 && { 'retry-after': RETRY_SECONDS }), ...errorHeaders(error) },
  );
};
