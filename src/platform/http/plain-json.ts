import type { LatchkeyError } from '#platform/base/errors.ts';
import { describeForDevelopers, errorHeaders, type FailedRequest } from './error-format.ts';
import { type HttpResponse, json } from './response.ts';
import { STATUSES } from './statuses.ts';

/** `{ error, error_description?, request_id }`, also what a page's address answers a program that asks for JSON. */
export function renderPlainJson(error: LatchkeyError, failed: FailedRequest): HttpResponse {
  return json(
    STATUSES[error.code],
    {
      error: error.code,
      error_description: describeForDevelopers(error, failed.requestId),
      request_id: failed.requestId,
    },
    errorHeaders(error),
  );
}
