import { describeForDevelopers, errorHeaders, type RenderError } from '#platform/http/error-format.ts';
import { json } from '#platform/http/response.ts';
import { ERRORS } from '#vocabulary/errors.ts';

/**
 * `{ errcode, error }`: errors of the chat client routes (chat-compat 3.2). Includes the retry delay in milliseconds
 * for rate limits, and any other members that a client needs.
 */
export const chatJsonFormat: RenderError = (error, failed) => {
  const row = ERRORS[error.code];
  const { chat = 'M_UNKNOWN', status } = row;
  const { members, retryAfterSeconds } = error;
  return json(
    status,
    {
      errcode: chat,
      // Clients do not recognize a response as an error without this member.
      error: describeForDevelopers(error, row, failed.requestId) ?? error.code,
      ...(chat === 'M_LIMIT_EXCEEDED' && { retry_after_ms: (retryAfterSeconds ?? 1) * 1000 }),
      ...members,
    },
    errorHeaders(error),
  );
};
