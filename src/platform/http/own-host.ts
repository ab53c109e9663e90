/**
 * Ensures that pages of a service on loopback use a single host, since cookies and forms of another host belong to
 * another site.
 */
import { isLoopbackName, parseUrl } from '#platform/base/url.ts';
import type { Exchange } from './exchange.ts';
import { type HttpResponse, redirect } from './response.ts';
import type { Route } from './route.ts';

/** A loopback origin. */
export interface LocalHome {
  readonly origin: string;
  readonly host: string;
  readonly port: number;
}

/**
 * @param origin of the public base @returns undefined unless it is plain HTTP on loopback, where no proxy rewrites
 * hosts
 */
export function localHome(origin: string): LocalHome | undefined {
  const { host, hostname, port, protocol } = new URL(origin);
  if (protocol !== 'http:' || !isLoopbackName(hostname)) return undefined;
  return { origin, host, port: port === '' ? 80 : Number(port) };
}

/**
 * Redirects to the same page on the configured host. Applies only if the public base has this very port: a local proxy
 * that rewrites `Host` would otherwise cause a redirect loop.
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
