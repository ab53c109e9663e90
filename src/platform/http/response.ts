export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /**
   * Complete, or a stream for what is too large for the memory. The next part of a stream is read when the client has
   * taken the last one. The log line of a request is written before the first byte of a complete body, and after the
   * last byte of a stream.
   */
  readonly body?: string | Buffer | AsyncIterable<string>;
}

/** The response that ends a request, in place of what its handler would need to continue. */
export interface Responded {
  readonly ok: false;
  readonly response: HttpResponse;
}

export function responseFor(response: HttpResponse): Responded {
  return { ok: false, response };
}

export type ResponseHeaders = HttpResponse['headers'];

export const noStore = { 'cache-control': 'no-store' } as const;

/** Creates a JSON response. Not cacheable unless `headers` say otherwise. */
export function json(status: number, value: unknown, headers: ResponseHeaders = {}): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', ...noStore, ...headers },
    body: JSON.stringify(value),
  };
}

/**
 * Redirects with 303, so that a POST body is never sent to the target. Not cacheable unless `headers` say otherwise.
 */
export function redirect(location: string, headers: ResponseHeaders = {}): HttpResponse {
  return { status: 303, headers: { location, ...noStore, ...headers } };
}

/** Creates a short one-line `text/plain` response. */
export function plainText(status: number, text: string, headers: ResponseHeaders = {}): HttpResponse {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...noStore, ...headers }, body: text };
}
