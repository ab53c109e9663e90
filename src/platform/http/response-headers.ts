import type { OutgoingHttpHeaders } from 'node:http';
import { corsHeaders } from './cors.ts';
import type { HttpOptions } from './http-options.ts';
import { PAGE_SECURITY_HEADERS } from './page-headers.ts';
import type { HttpResponse } from './response.ts';
import type { ErrorFormat, Route } from './route.ts';

/** Where an answer comes from, as far as its headers depend on it. */
export interface ResponseOrigin {
  readonly errorFormat: ErrorFormat;
  readonly cors: NonNullable<Route['cors']>;
  readonly setCookies: readonly string[];
}

/** Headers that every answer carries, whoever made it (security 3.5 to 3.7). */
export class CommonHeaders {
  readonly #always: Readonly<Record<string, string>>;

  constructor(options: { isHttps: boolean; hsts: HttpOptions['hsts'] }) {
    this.#always = {
      'x-content-type-options': 'nosniff',
      ...(options.isHttps && options.hsts ? { 'strict-transport-security': 'max-age=31536000' } : {}),
    };
  }

  /** The headers of an answer as they go out; those that it brings itself win. */
  complete(answer: HttpResponse, { errorFormat, cors, setCookies }: ResponseOrigin): OutgoingHttpHeaders {
    const headers: OutgoingHttpHeaders = {
      'cache-control': 'no-store',
      'cross-origin-resource-policy': cors === 'none' ? 'same-origin' : 'cross-origin',
      ...this.#always,
      ...corsHeaders(cors),
      ...(errorFormat === 'page' ? PAGE_SECURITY_HEADERS : {}),
    };
    for (const [name, value] of Object.entries(answer.headers)) {
      headers[name] = typeof value === 'string' ? value : [...value];
    }
    if (setCookies.length > 0) {
      headers['set-cookie'] = [...setCookies];
      // A cache must not hand one browser's cookie to another.
      headers['cache-control'] = 'no-store';
    }
    if (answer.status !== 204 && answer.status !== 304) headers['content-length'] = byteLength(answer.body);
    return headers;
  }
}

function byteLength(body: HttpResponse['body']): number {
  if (body === undefined) return 0;
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}
