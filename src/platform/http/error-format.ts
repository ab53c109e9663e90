import type { ErrorCode, LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from './request-context.ts';
import type { HttpResponse } from './response.ts';

/** A request that ended in an error, as far as an answer may depend on it. */
export interface FailedRequest {
  /** `<METHOD>-<counter>`. */
  readonly requestId: string;
  readonly headers: RequestContext['headers'];
  readonly cookies: RequestContext['cookies'];
  /** Path and query as received, when a GET route answers there: what a link back to this page needs. */
  readonly reopenHref: string | undefined;
}

/** Puts an error for one kind of reader. Never shows its cause, its details or its message. */
export type RenderError = (error: LatchkeyError, failed: FailedRequest) => HttpResponse;

/** Headers of every error: those of the thrower win. */
export function errorHeaders(error: LatchkeyError): Record<string, string> {
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds);
  for (const [name, value] of Object.entries(error.headers)) headers[name.toLowerCase()] = value;
  return headers;
}

const DEFAULT_DESCRIPTIONS: Readonly<Partial<Record<ErrorCode, string>>> = {
  not_found: 'nothing answers at this address',
  method_not_allowed: 'this address does not answer this method; the Allow header lists those it does',
  overloaded: 'too many requests at once; try again later',
  rate_limited: 'too many requests; try again later',
  temporarily_unavailable: 'the service cannot do this now; try again later',
  request_line_too_long: 'the request target is too long',
  headers_too_large: 'the request headers are too large',
  body_too_large: 'the request body is too large',
  request_timeout: 'the request took too long to arrive',
};

/** What a developer reads about an error: the thrower's words, else what always holds for the code. */
export function describeForDevelopers(error: LatchkeyError, requestId: string): string | undefined {
  // What broke is in the log under this reference, and nowhere else.
  if (error.code === 'internal') return `internal error, reference ${requestId}`;
  const description = error.description ?? DEFAULT_DESCRIPTIONS[error.code];
  return description === undefined ? undefined : plainDescription(description);
}

/** RFC 6749 5.2 lets a description hold printable ASCII without double quote and backslash. */
export function plainDescription(description: string): string {
  return description.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?');
}
