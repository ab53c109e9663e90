import findMyWay from 'find-my-way';
import type { Resource } from './http-options.ts';
import type { Route } from './route.ts';

export type Match =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  /** The path exists only for other methods, which `allow` lists. */
  | { readonly kind: 'other-methods'; readonly allow: readonly string[]; readonly routes: readonly Route[] }
  | { readonly kind: 'none' };

const ROUTE_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The routes that one listener mounts below its prefix. Trailing slashes, double slashes and case are significant. */
export class RouteTable {
  readonly #router = findMyWay({ maxParamLength: 2048 });
  /** Paths that are also served at the origin, regardless of the prefix. */
  readonly #originPaths = new Set<string>();
  /** The name of the listener. */
  readonly listener: string;
  /** Starts with a slash and ends without one. Empty at the root. */
  readonly prefix: string;

  constructor(listener: string, routes: readonly Route[], resources: ReadonlySet<Resource>, prefix = '') {
    this.listener = listener;
    this.prefix = prefix;
    for (const route of routes) {
      if (!resources.has(route.resource)) continue;
      this.#router.on(route.method, route.path, unused, route);
      if (route.isAtOrigin === true) this.#originPaths.add(route.path);
    }
  }

  /** Returns the path relative to the prefix, or undefined if it is not below it. */
  relative(path: string): string | undefined {
    if (this.prefix === '' || this.#originPaths.has(path)) return path;
    return path.startsWith(`${this.prefix}/`) ? path.slice(this.prefix.length) : undefined;
  }

  /** @param path below the prefix, as received; HEAD matches GET routes */
  match(method: string, path: string): Match {
    const found = this.#find(method === 'HEAD' ? 'GET' : method, path);
    if (found !== undefined && !(method === 'HEAD' && found.route.headRefused === true)) return found;
    const routes = ROUTE_METHODS.flatMap((candidate) => this.#find(candidate, path)?.route ?? []);
    if (routes.length === 0) return { kind: 'none' };
    return { kind: 'other-methods', allow: allowedMethods(routes), routes };
  }

  #find(method: string, path: string): (Match & { kind: 'route' }) | undefined {
    const known = ROUTE_METHODS.find((candidate) => candidate === method);
    // The router would treat a number sign as the start of a query, and a path without a leading slash as `/`.
    if (known === undefined || path.includes('#') || !path.startsWith('/')) return undefined;
    const found = this.#router.find(known, path);
    // Also null if the path cannot be decoded.
    if (found === null) return undefined;
    const route: Route = found.store;
    if (!isSpelledAs(route.path, path)) return undefined;
    const params: Record<string, string> = {};
    for (const [name, value] of Object.entries(found.params)) {
      // The router matches `/consent/` as a consent page with an empty identifier.
      if (value === '' && name !== '*') return undefined;
      params[name] = value ?? '';
    }
    return { kind: 'route', route, params };
  }
}

/**
 * Allows percent-encoding only in parameters, although the router decodes all of the path. So a path has the same
 * meaning in the log, in proxy rules and here (security S-152).
 */
function isSpelledAs(pattern: string, path: string): boolean {
  if (!path.includes('%')) return true;
  const received = path.split('/');
  return pattern
    .split('/')
    .every((segment, index) => segment.startsWith(':') || segment === '*' || segment === received[index]);
}

/** The router is used only to find the route of a path and never calls a handler. */
function unused(): void {}

function allowedMethods(routes: readonly Route[]): string[] {
  const responded = routes.filter((route) => route.isRefusal !== true);
  const methods = responded.flatMap((route) =>
    route.method === 'GET' && route.headRefused !== true ? ['GET', 'HEAD'] : [route.method],
  );
  return [...methods, 'OPTIONS'];
}
