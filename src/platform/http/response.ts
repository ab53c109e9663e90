/** A complete response. The body is built in memory; the request log is written before its first byte leaves. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

export type ResponseHeaders = HttpResponse['headers'];

export const noStore = { 'cache-control': 'no-store' } as const;

/** A JSON document; not cacheable unless `headers` say otherwise. */
export function json(status: number, value: unknown, headers: ResponseHeaders = {}): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', ...noStore, ...headers },
    body: JSON.stringify(value),
  };
}

/** 303, so that the body of a POST is never repeated at the target; not cacheable unless `headers` say otherwise. */
export function redirect(location: string, headers: ResponseHeaders = {}): HttpResponse {
  return { status: 303, headers: { location, ...noStore, ...headers } };
}

/** One short line of `text/plain`. */
export function plainText(status: number, text: string, headers: ResponseHeaders = {}): HttpResponse {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...noStore, ...headers }, body: text };
}
