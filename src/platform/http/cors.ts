import type { Route } from './route.ts';

type Cors = NonNullable<Route['cors']>;
type Headers = Readonly<Record<string, string>>;

const NONE: Headers = {};
const EXPOSED: Headers = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'WWW-Authenticate, DPoP-Nonce',
};
const CALLER_HEADERS =
  'Authorization, Content-Type, Accept, Accept-Language, DPoP, X-Requested-With, traceparent, tracestate';
const METHODS = { get: 'GET', 'get-post': 'GET, POST' } as const;
/** A list of header names and nothing else, so that no byte of it can end the header it is repeated in. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;

/**
 * Headers that let a browser show the answer to code of any origin (security 3.7). Never with credentials, and the
 * origin asked for is never repeated, so that they need no `Vary`.
 */
export function corsHeaders(cors: Cors): Headers {
  return cors === 'none' ? NONE : EXPOSED;
}

/**
 * Allows whatever header the code wants to send: tracing tools of browsers add their own, and none of them gives a
 * right to anything here.
 * @param asked `Access-Control-Request-Headers`
 */
export function preflightHeaders(cors: Cors, asked: string | string[] | undefined): Headers {
  if (cors === 'none') return NONE;
  const isList = typeof asked === 'string' && HEADER_NAMES.test(asked.trim());
  return {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': METHODS[cors],
    'access-control-allow-headers': isList ? asked.trim() : CALLER_HEADERS,
    'access-control-max-age': '3600',
  };
}
