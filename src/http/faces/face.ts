import type { LatchkeyError } from '#base/errors.ts';
import type { RequestContext } from '../request-context.ts';
import type { Answer } from '../route.ts';

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
export type RenderError = (error: LatchkeyError, failed: FailedRequest) => Answer;

/** Headers of every error: those of the thrower win. */
export function errorHeaders(error: LatchkeyError): Record<string, string> {
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds);
  for (const [name, value] of Object.entries(error.headers)) headers[name.toLowerCase()] = value;
  return headers;
}

/** RFC 6749 5.2 lets a description hold printable ASCII without double quote and backslash. */
export function plainDescription(description: string): string {
  return description.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?');
}
