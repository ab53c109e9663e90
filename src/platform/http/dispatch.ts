import { LatchkeyError } from '#platform/base/errors.ts';
import type { Exchange } from './exchange.ts';
import { type InFlight, overloaded } from './overload.ts';
import { type LocalHome, redirectHome } from './own-host.ts';
import { countedMethod, type HeadLimits, judgeHead } from './request-head.ts';
import { type HttpResponse, redirect } from './response.ts';
import { preflightHeaders } from './response-headers.ts';
import type { EmbeddableRequest, ErrorFormat, Route } from './route.ts';
import type { Match } from './route-table.ts';

export interface DispatchSettings {
  readonly limits: HeadLimits;
  readonly formatOfPath: (path: string) => ErrorFormat;
  readonly inFlight: InFlight;
  /** The host that pages redirect to if the service runs on loopback. */
  readonly home: LocalHome | undefined;
  /** Whether this route can currently be served. */
  readonly isAvailable: (route: Route) => boolean;
}

const UNAVAILABLE_RETRY_SECONDS = 5;
const NO_MATCH: Match = { kind: 'none' };
/** Methods that no route supports. They are refused with 405 even if the path does not exist. */
const UNSUPPORTED_METHODS = new Set(['CONNECT', 'TRACE', '_OTHER']);
/** The methods that the server supports in general. */
const SERVER_METHODS = 'GET, HEAD, POST, OPTIONS';

/**
 * Finds and calls the handler of a request. Checks are ordered by cost: head, load, path, method, embedding.
 * @param isLagging the event loop is slow, so pages for users give way to requests from machines (operations 9.4).
 * Ignored if few requests are in flight, because then the machine itself is overloaded
 */
export function dispatch(
  exchange: Exchange,
  settings: DispatchSettings,
  isLagging: boolean,
): HttpResponse | Promise<HttpResponse> {
  const { connection, request, table } = exchange;
  const path = table.relative(exchange.path);
  exchange.errorFormat = path === undefined ? 'page' : settings.formatOfPath(path);
  const method = request.method ?? '';
  const flaw = judgeHead(request, settings.limits);
  const match = flaw !== undefined || path === undefined ? NO_MATCH : table.match(method, path);
  const problem = flaw ?? judgeCaller(exchange, match);
  if (problem !== undefined) {
    connection.endAfterCurrent();
    throw problem;
  }
  if (match.kind === 'route') exchange.capacity = match.route.capacity;
  settings.inFlight.enter(exchange);
  if (path === undefined && exchange.path === table.prefix && exchange.method === 'GET') return redirectBelow(exchange);
  if (method === 'OPTIONS') return respondToOptions(exchange, match);
  if (match.kind === 'route') {
    const { route } = match;
    exchange.route = route;
    exchange.errorFormat = route.errorFormat;
    exchange.params = match.params;
    exchange.requireAddress();
    const isTooMuch = isLagging && settings.inFlight.areSeveral;
    if (isTooMuch && route.errorFormat === 'page' && route.method === 'GET' && route.priority !== true) {
      throw overloaded('lagging');
    }
    if (!settings.isAvailable(route)) {
      throw new LatchkeyError('temporarily_unavailable', { retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS });
    }
    requireEmbeddingAllowed(route, exchange);
    const elsewhere = redirectHome(settings.home, route, exchange);
    if (elsewhere !== undefined) return elsewhere;
    exchange.startTimeLimit();
    // A request with a body takes its turn after the body has arrived.
    const turn = route.method !== 'GET' && exchange.mayHaveBody ? undefined : exchange.takeTurn();
    return turn === undefined ? route.handle(exchange) : turn.then(() => route.handle(exchange));
  }
  exchange.requireAddress();
  if (match.kind === 'other-methods') {
    exchange.route = match.routes[0];
    exchange.errorFormat = exchange.route?.errorFormat ?? exchange.errorFormat;
    throw new LatchkeyError('method_not_allowed', { headers: { allow: match.allow.join(', ') } });
  }
  if (UNSUPPORTED_METHODS.has(countedMethod(method))) {
    throw new LatchkeyError('method_not_allowed', { headers: { allow: SERVER_METHODS } });
  }
  throw new LatchkeyError('not_found');
}

/** Redirects from the listener's prefix without a trailing slash, as users type it. */
function redirectBelow({ path, rawQuery }: Exchange): HttpResponse {
  return redirect(`${path}/${rawQuery === '' ? '' : `?${rawQuery}`}`);
}

/** Rejects repeated `Authorization` headers unless the route handles them. */
function judgeCaller({ isAuthorizationRepeated: isRepeated }: Exchange, match: Match): LatchkeyError | undefined {
  if (!isRepeated || (match.kind === 'route' && match.route.judgesRepeatedAuthorization === true)) return undefined;
  return new LatchkeyError('malformed_request');
}

/** Answers a CORS preflight or a plain request for the methods of a path. */
function respondToOptions(exchange: Exchange, match: Match): HttpResponse {
  if (exchange.path === '*') return { status: 204, headers: { allow: SERVER_METHODS } };
  if (match.kind !== 'other-methods') throw new LatchkeyError('not_found');
  const open = match.routes.find((route) => route.cors !== undefined && route.cors !== 'none');
  exchange.route = open ?? match.routes[0];
  exchange.errorFormat = exchange.route?.errorFormat ?? exchange.errorFormat;
  const requested = exchange.headers['access-control-request-headers'];
  return {
    status: 204,
    headers: { allow: match.allow.join(', '), ...preflightHeaders(open?.cors ?? 'none', requested) },
  };
}

/**
 * Prevents other sites from loading pages as a frame, image, script or data (browser-flows 2.3). Otherwise they could
 * detect from the result whether a user is signed in, or exhaust the limits of the visitor's network (security S-181).
 * The check precedes all reads, writes and rate limits. Browsers that do not send `Sec-Fetch-Dest` are served.
 * @throws LatchkeyError `embedding_refused`
 */
function requireEmbeddingAllowed(route: Route, request: EmbeddableRequest): void {
  const embedding = route.embedding ?? (route.errorFormat === 'page' ? 'refused' : 'allowed');
  if (embedding === 'allowed' || isPage(request)) return;
  if (typeof embedding === 'function' && embedding(request)) return;
  throw new LatchkeyError('embedding_refused');
}

/** Returns whether the request is for a top-level page, or for data that one of our pages loads. */
function isPage({ headers }: EmbeddableRequest): boolean {
  // Another site can make the browser prefetch any number of pages without user interaction.
  if (String(headers['sec-purpose'] ?? '').startsWith('prefetch')) return false;
  const destination = headers['sec-fetch-dest'];
  if (destination === undefined || destination === 'document') return true;
  const site = headers['sec-fetch-site'];
  return destination === 'empty' && (site === undefined || site === 'same-origin' || site === 'none');
}
