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
  /** Where pages of a service on this machine are opened. */
  readonly home: LocalHome | undefined;
  /** Whether this route can be served at this moment. */
  readonly isAvailable: (route: Route) => boolean;
}

const UNAVAILABLE_RETRY_SECONDS = 5;
const NO_MATCH: Match = { kind: 'none' };
/** Methods that no route has, refused as such where there is no route either. */
const UNSUPPORTED_METHODS = new Set(['CONNECT', 'TRACE', '_OTHER']);
/** What the server as a whole answers. */
const SERVER_METHODS = 'GET, HEAD, POST, OPTIONS';

/**
 * Finds the handler of a request and calls it. Refusals come in the order of their cost: head, load, path, method,
 * embedding.
 * @param isLagging the event loop is late: what people wait for gives way to what machines wait for (operations 9.4), unless
 *   hardly anything is under way, and it is the machine that has too much to do
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
  if (method === 'OPTIONS') return answerOptions(exchange, match);
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
    // One with a body waits for its turn once that has arrived.
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

/** The prefix of a listener without its slash, as people type it. */
function redirectBelow({ path, rawQuery }: Exchange): HttpResponse {
  return redirect(`${path}/${rawQuery === '' ? '' : `?${rawQuery}`}`);
}

/** One caller, unless the route says itself what becomes of several. */
function judgeCaller({ isAuthorizationRepeated: isRepeated }: Exchange, match: Match): LatchkeyError | undefined {
  if (!isRepeated || (match.kind === 'route' && match.route.judgesRepeatedAuthorization === true)) return undefined;
  return new LatchkeyError('malformed_request');
}

/** A preflight, or a plain question for the methods of a path. */
function answerOptions(exchange: Exchange, match: Match): HttpResponse {
  if (exchange.path === '*') return { status: 204, headers: { allow: SERVER_METHODS } };
  if (match.kind !== 'other-methods') throw new LatchkeyError('not_found');
  const open = match.routes.find((route) => route.cors !== undefined && route.cors !== 'none');
  exchange.route = open ?? match.routes[0];
  exchange.errorFormat = exchange.route?.errorFormat ?? exchange.errorFormat;
  const asked = exchange.headers['access-control-request-headers'];
  return { status: 204, headers: { allow: match.allow.join(', '), ...preflightHeaders(open?.cors ?? 'none', asked) } };
}

/**
 * Pages can't be loaded as frame, image, script or data by other sites (browser-flows 2.3), which could otherwise tell
 * from the outcome whether someone is signed in, or use up what the visitor's network may store (security S-181).
 * Refused before anything is read, stored or counted. Browsers that send no `Sec-Fetch-Dest` are served.
 * @throws LatchkeyError `embedding_refused`
 */
function requireEmbeddingAllowed(route: Route, request: EmbeddableRequest): void {
  const embedding = route.embedding ?? (route.errorFormat === 'page' ? 'refused' : 'allowed');
  if (embedding === 'allowed' || isPage(request)) return;
  if (typeof embedding === 'function' && embedding(request)) return;
  throw new LatchkeyError('embedding_refused');
}

/** A page of its own that a person opens, or data that a page of ours loads. */
function isPage({ headers }: EmbeddableRequest): boolean {
  // Another site can have any number of pages loaded in advance, without a person who opens them.
  if (String(headers['sec-purpose'] ?? '').startsWith('prefetch')) return false;
  const destination = headers['sec-fetch-dest'];
  if (destination === undefined || destination === 'document') return true;
  const site = headers['sec-fetch-site'];
  return destination === 'empty' && (site === undefined || site === 'same-origin' || site === 'none');
}
