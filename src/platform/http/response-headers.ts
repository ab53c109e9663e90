/** Headers that the server adds to responses: security headers, CORS, cookies and length. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { HttpOptions } from './http-options.ts';
import type { HttpResponse } from './response.ts';
import type { ErrorFormat, Route } from './route.ts';

/** Origin of a response, as far as its headers depend on it. */
export interface ResponseOrigin {
  readonly errorFormat: ErrorFormat;
  readonly cors: NonNullable<Route['cors']>;
  readonly setCookies: readonly string[];
}

/** Headers of every response, whichever code creates it (security 3.5 to 3.7). */
export class CommonHeaders {
  readonly #always: Headers;
  readonly #pageHeaders: Headers;

  constructor(options: { isHttps: boolean; hsts: HttpOptions['hsts']; pageHeaders: Headers }) {
    this.#pageHeaders = options.pageHeaders;
    this.#always = {
      'x-content-type-options': 'nosniff',
      ...(options.isHttps && options.hsts ? { 'strict-transport-security': 'max-age=31536000' } : {}),
    };
  }

  /** Returns the complete headers of a response. Headers set by the response itself take precedence. */
  complete(response: HttpResponse, { errorFormat, cors, setCookies }: ResponseOrigin): OutgoingHttpHeaders {
    const headers: OutgoingHttpHeaders = {
      'cache-control': 'no-store',
      'cross-origin-resource-policy': cors === 'none' ? 'same-origin' : 'cross-origin',
      ...this.#always,
      ...corsHeaders(cors),
      ...(errorFormat === 'page' ? this.#pageHeaders : NONE),
    };
    for (const [name, value] of Object.entries(response.headers)) {
      headers[name] = typeof value === 'string' ? value : [...value];
    }
    if (setCookies.length > 0) {
      headers['set-cookie'] = [...setCookies];
      // A cache must not serve one browser's cookie to another.
      headers['cache-control'] = 'no-store';
    }
    const length = response.status === 204 || response.status === 304 ? undefined : byteLength(response.body);
    if (length !== undefined) headers['content-length'] = length;
    return headers;
  }
}

/** @returns undefined for a stream */
function byteLength(body: HttpResponse['body']): number | undefined {
  if (body === undefined) return 0;
  if (typeof body === 'string') return Buffer.byteLength(body);
  return Buffer.isBuffer(body) ? body.length : undefined;
}

type Cors = NonNullable<Route['cors']>;
type Headers = Readonly<Record<string, string>>;

const NONE: Headers = {};
const EXPOSED: Headers = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'WWW-Authenticate, DPoP-Nonce',
};
/** `ETag` is the version that `If-Match` names in a change; a download has its name in `Content-Disposition`. */
const EXPOSED_TO_ADMIN: Headers = {
  ...EXPOSED,
  'access-control-expose-headers': 'WWW-Authenticate, DPoP-Nonce, ETag, Content-Disposition',
};
const EXPOSED_TO_CHAT: Headers = { ...EXPOSED, 'access-control-expose-headers': 'Retry-After' };
const CALLER_HEADERS =
  'Authorization, Content-Type, Accept, Accept-Language, Content-Language, DPoP, X-Requested-With, traceparent, tracestate';
const METHODS = {
  admin: 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
  // The same for the whole client API, whether this service or the homeserver answers.
  chat: 'GET, POST, PUT, DELETE, OPTIONS',
  get: 'GET',
  'get-post': 'GET, POST',
  'get-put-delete': 'GET, PUT, DELETE',
  graphql: 'GET, POST, OPTIONS',
} as const;
/** Matches only a list of header names, so that an echoed value cannot break out of its header. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;

/**
 * Returns headers that let scripts from any origin read the response (security 3.7). Credentials are never allowed, and
 * the requesting origin is never echoed, so `Vary` is not needed.
 */
function corsHeaders(cors: Cors): Headers {
  switch (cors) {
    case 'none':
      return NONE;
    case 'admin':
      return EXPOSED_TO_ADMIN;
    case 'chat':
      return EXPOSED_TO_CHAT;
    default:
      return EXPOSED;
  }
}

/**
 * Allows all requested headers: tracing tools in browsers add their own, and no header grants any rights here.
 * @param asked `Access-Control-Request-Headers`
 */
export function preflightHeaders(cors: Cors, requested: string | string[] | undefined): Headers {
  if (cors === 'none') return NONE;
  const isList = typeof requested === 'string' && HEADER_NAMES.test(requested.trim());
  return {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': METHODS[cors],
    'access-control-allow-headers': isList ? requested.trim() : CALLER_HEADERS,
    'access-control-max-age': '3600',
  };
}
