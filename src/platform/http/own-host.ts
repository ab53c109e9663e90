/** Pages of a service on this machine have one host: cookies and forms of another one belong to another site. */
import { isLoopbackName, parseUrl } from '#platform/base/url.ts';
import type { Exchange } from './exchange.ts';
import { type HttpResponse, redirect } from './response.ts';
import type { Route } from './route.ts';

/** An address on loopback. */
export interface LocalHome {
  readonly origin: string;
  readonly host: string;
  readonly port: number;
}

/** @param origin of the public base @returns undefined unless it is plain HTTP on loopback, where nobody rewrites hosts */
export function localHome(origin: string): LocalHome | undefined {
  const { host, hostname, port, protocol } = new URL(origin);
  if (protocol !== 'http:' || !isLoopbackName(hostname)) return undefined;
  return { origin, host, port: port === '' ? 80 : Number(port) };
}

/**
 * A redirect to the same page at its own host. Only where the public base leads to this very port: a proxy on this
 * machine may rewrite `Host`, and would be redirected for ever.
 */
export function redirectHome(home: LocalHome | undefined, route: Route, exchange: Exchange): HttpResponse | undefined {
  if (home === undefined || route.errorFormat !== 'page' || exchange.method !== 'GET') return undefined;
  const { connection, headers, path, rawQuery } = exchange;
  if (headers.host === undefined || connection.socket.localPort !== home.port) return undefined;
  if (parseUrl(`http://${headers.host}`)?.host === home.host) return undefined;
  const destination = headers['sec-fetch-dest'];
  if (destination !== undefined && destination !== 'document') return undefined;
  return redirect(`${home.origin}${path}${rawQuery === '' ? '' : `?${rawQuery}`}`);
}
