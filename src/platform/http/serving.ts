/**
 * The settings for answering requests: routes, rules, error formats and limits. A configuration reload replaces them as
 * a whole (operations 8.6). Requests in progress keep their settings.
 */
import type { ErrorTable } from '#platform/base/errors.ts';
import type { LogWriter } from '#platform/log/log-writer.ts';
import { TrustedProxies } from './client-address.ts';
import type { Cookies } from './cookies.ts';
import type { DispatchSettings } from './dispatch.ts';
import type { ErrorFormats } from './error-format.ts';
import type { ExchangeSettings } from './exchange.ts';
import type { HttpLimits, HttpOptions, PublicAddress } from './http-options.ts';
import type { InFlight } from './overload.ts';
import { localHome } from './own-host.ts';
import { Responder } from './responder.ts';
import { CommonHeaders } from './response-headers.ts';
import type { ErrorFormat, Route } from './route.ts';
import { RouteTable } from './route-table.ts';
import { UntrustedProxies } from './untrusted-proxies.ts';
import type { WorkBudget } from './work-budget.ts';

export interface ServingOptions {
  readonly routes: readonly Route[];
  readonly http: Pick<HttpOptions, 'listeners' | 'listenVariables' | 'trustedProxies' | 'clientIpHeader' | 'hsts'>;
  readonly limits: ServerLimits;
  readonly address: PublicAddress & { readonly origin: string };
  readonly isAvailable: DispatchSettings['isAvailable'];
  /** Returns the error format for a path without a route. */
  readonly formatOfPath: (path: string) => ErrorFormat;
  /** Headers of all responses of routes with the error format `page`. */
  readonly pageHeaders: Readonly<Record<string, string>>;
  readonly cookies: Cookies;
  readonly errors: ErrorTable;
  readonly errorFormats: ErrorFormats;
}

export type ServerLimits = Pick<
  HttpLimits,
  | 'handlerTimeoutSeconds'
  | 'handshakeTimeoutSeconds'
  | 'headersTimeoutSeconds'
  | 'keepAliveTimeoutSeconds'
  | 'maxBody'
  | 'maxConcurrentStreams'
  | 'maxConnections'
  | 'maxConnectionsPerAddress'
  | 'maxHeadersBytes'
  | 'maxInFlight'
  | 'maxRequestLineBytes'
  | 'maxRequestsPerConnection'
  | 'requestTimeoutSeconds'
  | 'work'
>;

/** Parts that survive a reload. */
export interface ServerParts {
  readonly log: LogWriter;
  readonly inFlight: InFlight;
  readonly work: WorkBudget;
  /** The server is closing: every response is the last of its connection. */
  isClosing(): boolean;
}

export class Serving {
  readonly limits: ServerLimits;
  readonly proxies: TrustedProxies;
  readonly untrustedProxies: UntrustedProxies;
  readonly exchange: ExchangeSettings;
  readonly dispatch: DispatchSettings;
  readonly responder: Responder;
  readonly #tables: ReadonlyMap<string, RouteTable>;

  constructor(options: ServingOptions, { log, inFlight, isClosing, work }: ServerParts) {
    const { address, cookies, errorFormats, errors, formatOfPath, http, isAvailable, limits, pageHeaders, routes } =
      options;
    this.limits = limits;
    this.proxies = new TrustedProxies(http.trustedProxies);
    this.untrustedProxies = new UntrustedProxies(log, http.trustedProxies);
    this.exchange = {
      cookies,
      errorFormats,
      proxies: this.proxies,
      untrustedProxies: this.untrustedProxies,
      clientIpHeader: http.clientIpHeader,
      maxFormBytes: limits.maxBody.formBytes,
      maxJsonBytes: limits.maxBody.jsonBytes,
      maxAdminBytes: limits.maxBody.adminBytes,
      handlerTimeoutMs: limits.handlerTimeoutSeconds * 1000,
      inFlight,
      work,
    };
    this.dispatch = { limits, formatOfPath, inFlight, isAvailable, home: localHome(address.origin) };
    this.responder = new Responder({
      log,
      address,
      errors,
      errorFormats,
      headers: new CommonHeaders({ isHttps: address.isHttps, hsts: http.hsts, pageHeaders }),
      maxRequestsPerConnection: limits.maxRequestsPerConnection,
      isClosing,
    });
    this.#tables = new Map(
      http.listeners.map(({ name, prefix, resources }) => [
        name,
        new RouteTable(name, routes, new Set(resources.map((resource) => resource.name)), prefix),
      ]),
    );
  }

  /** Returns the routes of a listener. */
  tableOf(listener: string): RouteTable {
    const table = this.#tables.get(listener);
    if (table === undefined) throw new Error(`unknown listener ${listener}`);
    return table;
  }
}
