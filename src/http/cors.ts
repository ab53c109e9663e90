import type { Route } from './route.ts';

type Cors = NonNullable<Route['cors']>;
type Headers = Readonly<Record<string, string>>;

const NONE: Headers = {};
const EXPOSED: Headers = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'WWW-Authenticate, DPoP-Nonce',
};
const PREFLIGHTS: Record<Cors, Headers> = {
  none: NONE,
  get: {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET',
    'access-control-max-age': '3600',
  },
  'get-post': {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers':
      'Authorization, Content-Type, Accept, Accept-Language, DPoP, X-Requested-With, traceparent, tracestate',
    'access-control-max-age': '3600',
  },
};

/**
 * Headers that let a browser show the answer to code of any origin (security 3.7). Never with credentials, and the
 * origin asked for is never repeated, so that they need no `Vary`.
 */
export function corsHeaders(cors: Cors): Headers {
  return cors === 'none' ? NONE : EXPOSED;
}

export function preflightHeaders(cors: Cors): Headers {
  return PREFLIGHTS[cors];
}
