import { LatchkeyError } from '#platform/base/errors.ts';
import { preflightHeaders } from './cors.ts';
import { requireEmbeddingAllowed } from './embedding.ts';
import type { Exchange } from './exchange.ts';
import { type InFlight, overloaded } from './in-flight.ts';
import { type HeadLimits, judgeHead, loggedMethod } from './request-head.ts';
import type { HttpResponse } from './response.ts';
import { errorFormatOfPath, type Match } from './route-table.ts';

export interface DispatchSettings {
  readonly limits: HeadLimits;
  readonly protocolName: string;
  readonly handlerTimeoutMs: number;
  readonly inFlight: InFlight;
}

const NO_MATCH: Match = { kind: 'none' };
/** Methods that no route has, refused as such where there is no route either. */
const UNSUPPORTED_METHODS = new Set(['CONNECT', 'TRACE', '_OTHER']);
/** What the server as a whole answers. */
const SERVER_METHODS = 'GET, HEAD, POST, OPTIONS';

/**
 * Finds the handler of a request and calls it. Refusals come in the order of their cost: head, load, path, method,
 * embedding.
 * @param isLagging the event loop is late: what people wait for gives way to what machines wait for (operations 9.4)
 */
export function dispatch(
  exchange: Exchange,
  settings: DispatchSettings,
  isLagging: boolean,
): HttpResponse | Promise<HttpResponse> {
  const { connection, request, table } = exchange;
  const path = table.relative(exchange.path);
  exchange.errorFormat = path === undefined ? 'page' : errorFormatOfPath(path, settings.protocolName);
  const flaw = judgeHead(request, settings.limits);
  if (flaw !== undefined) {
    connection.endsWithCurrent = true;
    throw flaw;
  }
  const method = request.method ?? '';
  const match = path === undefined ? NO_MATCH : table.match(method, path);
  if (match.kind === 'route') exchange.capacity = match.route.capacity;
  settings.inFlight.enter(exchange);
  if (method === 'OPTIONS') return answerOptions(exchange, match);
  if (match.kind === 'route') {
    const { route } = match;
    exchange.route = route;
    exchange.errorFormat = route.errorFormat;
    exchange.params = match.params;
    if (isLagging && route.errorFormat === 'page' && route.method === 'GET' && route.priority !== true) {
      throw overloaded();
    }
    requireEmbeddingAllowed(route, exchange);
    exchange.deadline = performance.now() + settings.handlerTimeoutMs;
    return route.handle(exchange);
  }
  if (match.kind === 'other-methods') {
    exchange.route = match.routes[0];
    exchange.errorFormat = exchange.route?.errorFormat ?? exchange.errorFormat;
    throw new LatchkeyError('method_not_allowed', { headers: { allow: match.allow.join(', ') } });
  }
  if (UNSUPPORTED_METHODS.has(loggedMethod(method))) {
    throw new LatchkeyError('method_not_allowed', { headers: { allow: SERVER_METHODS } });
  }
  throw new LatchkeyError('not_found');
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
