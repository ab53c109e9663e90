import { ERRORS, type ErrorCode, type LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from './request-context.ts';
import { type HttpResponse, json } from './response.ts';
import type { ErrorFormat, Route } from './route.ts';

/** A request that ended in an error, as far as a response may depend on it. */
export interface FailedRequest {
  /** `<METHOD>-<counter>`. */
  readonly requestId: string;
  readonly headers: RequestContext['headers'];
  readonly cookies: RequestContext['cookies'];
  /** Path and query as received, when a GET route answers there: what a link back to this page needs. */
  readonly reopenHref: string | undefined;
}

/** Renders an error as the audience of a route expects it; never its cause, its details or its message. */
export type RenderError = (error: LatchkeyError, failed: FailedRequest) => HttpResponse;

/** What depends on the audience of a route or path. */
export interface ErrorFormatRules {
  readonly render: RenderError;
  /** Who may read an error at a path that no route answers. */
  readonly cors: NonNullable<Route['cors']>;
  /** The error for a body that is not of the type that the route takes. */
  readonly wrongBodyType: ErrorCode;
}

export type ErrorFormats = Readonly<Record<ErrorFormat, ErrorFormatRules>>;

/** Headers of every error: those of the thrower win. */
export function errorHeaders(error: LatchkeyError): Record<string, string> {
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds);
  for (const [name, value] of Object.entries(error.headers)) headers[name.toLowerCase()] = value;
  return headers;
}

/** What a developer reads about an error: the thrower's words, or else what always holds for the code. */
export function describeForDevelopers(error: LatchkeyError, requestId: string): string | undefined {
  // What broke is in the log under this reference, and nowhere else.
  if (error.code === 'internal') return `internal error, reference ${requestId}`;
  const description = error.description ?? ERRORS[error.code].description;
  return description === undefined ? undefined : plainDescription(description);
}

/** RFC 6749 5.2 lets a description hold printable ASCII without double quote and backslash. */
export function plainDescription(description: string): string {
  return description.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?');
}

/** `{ error, error_description?, request_id }`: what a program gets that no standard tells what to expect. */
export function renderPlainJson(error: LatchkeyError, failed: FailedRequest): HttpResponse {
  return json(
    ERRORS[error.code].status,
    {
      error: error.code,
      error_description: describeForDevelopers(error, failed.requestId),
      request_id: failed.requestId,
    },
    errorHeaders(error),
  );
}
