import type { ErrorCode, ErrorRow, ErrorTable, LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from './request-context.ts';
import { type HttpResponse, json } from './response.ts';
import type { ErrorFormat, Route } from './route.ts';

/** The parts of a failed request that its response may depend on. */
export interface FailedRequest {
  /** `<METHOD>-<counter>`. */
  readonly requestId: string;
  readonly headers: RequestContext['headers'];
  readonly cookies: RequestContext['cookies'];
  /** Path and query as received, for a link back to the page. Defined only if a GET route exists there. */
  readonly reopenHref: string | undefined;
}

/** Renders an error for the audience of a route. Never includes its cause, details or message. */
export type RenderError = (error: LatchkeyError, failed: FailedRequest) => HttpResponse;

/** Rules that depend on the audience of a route or path. */
export interface ErrorFormatRules {
  readonly render: RenderError;
  /** CORS policy of errors on paths without a route. */
  readonly cors: NonNullable<Route['cors']>;
  /** The error for a body of the wrong media type. */
  readonly wrongBodyType: ErrorCode;
}

export type ErrorFormats = Readonly<Record<ErrorFormat, ErrorFormatRules>>;

/** Returns the headers of an error response. Headers set by the thrower take precedence. */
export function errorHeaders(error: LatchkeyError): Record<string, string> {
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds);
  for (const [name, value] of Object.entries(error.headers)) headers[name.toLowerCase()] = value;
  return headers;
}

/**
 * Returns the error description for developers: the thrower's, or the default for the code.
 * @param row of the code
 */
export function describeForDevelopers(error: LatchkeyError, row: ErrorRow, requestId: string): string | undefined {
  // The cause is only in the log, under this reference.
  if (error.code === 'internal') return `internal error, reference ${requestId}`;
  const description = error.description ?? row.description;
  return description === undefined ? undefined : plainDescription(description);
}

/** RFC 6749 5.2 limits descriptions to printable ASCII without double quotes and backslashes. */
export function plainDescription(description: string): string {
  return description.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?');
}

/** Renders `{ error, error_description?, request_id }` for machine clients without a standard error format. */
export function plainJsonFormat(errors: ErrorTable): RenderError {
  return (error, { requestId }) => {
    const row = errors[error.code];
    const description = describeForDevelopers(error, row, requestId);
    const body = { error: error.code, error_description: description, request_id: requestId };
    return json(row.status, body, errorHeaders(error));
  };
}
