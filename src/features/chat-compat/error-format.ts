import { ERRORS } from '#platform/base/errors.ts';
import { describeForDevelopers, errorHeaders, type RenderError } from '#platform/http/error-format.ts';
import { json } from '#platform/http/response.ts';

/**
 * `{ errcode, error }`: errors of the routes for chat clients (chat-compat 3.2), with the time to wait in milliseconds
 * where one has to, and whatever else a client needs.
 */
export const chatJsonFormat: RenderError = (error, failed) => {
  const { chat = 'M_UNKNOWN', status } = ERRORS[error.code];
  const { members, retryAfterSeconds } = error;
  return json(
    status,
    {
      errcode: chat,
      // Clients take no answer for an error without it.
      error: describeForDevelopers(error, failed.requestId) ?? error.code,
      ...(chat === 'M_LIMIT_EXCEEDED' && { retry_after_ms: (retryAfterSeconds ?? 1) * 1000 }),
      ...members,
    },
    errorHeaders(error),
  );
};
