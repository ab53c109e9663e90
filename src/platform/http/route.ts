import type { Resource } from './http-options.ts';
import type { RequestContext } from './request-context.ts';
import type { HttpResponse } from './response.ts';

/** Who reads the answers of a route, and so how an error is rendered (`error-format.ts`). */
export type ErrorFormat = 'admin-json' | 'chat-json' | 'graphql-json' | 'oauth-json' | 'page' | 'plain-json';

/** What decides on embedding may read of a request. */
export type EmbeddableRequest = Pick<RequestContext, 'headers' | 'query'>;

/**
 * One address of the service. Features return a list of these from their `mount`; a handler returns its answer or
 * throws a `LatchkeyError`, which the route's error format renders.
 */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the public base, with `:name` parameters: `/authorize/:grant_id`. A final `*` takes the rest as `*`. */
  readonly path: string;
  readonly resource: Resource;
  /** The path belongs to the origin, not to the prefix of the listener; it has no parameters. */
  readonly isAtOrigin?: boolean;
  readonly errorFormat: ErrorFormat;
  /** Says itself what becomes of a request with several `Authorization` headers; elsewhere it is malformed. */
  readonly judgesRepeatedAuthorization?: boolean;
  /** HEAD is answered as GET without a body unless the GET changes state. */
  readonly headRefused?: boolean;
  /** It answers 405 with a page of its own, so that `Allow` does not list its method. */
  readonly isRefusal?: boolean;
  /** Machine routes that browser code of any origin may call; `public` ones are read by GET only. */
  readonly cors?: 'none' | 'admin' | 'chat' | 'get' | 'get-post' | 'get-put-delete' | 'graphql';
  /**
   * Whether other sites may embed it; a function decides by the request. `refused` is the default for routes that answer
   * with pages.
   */
  readonly embedding?: 'refused' | 'allowed' | ((request: EmbeddableRequest) => boolean);
  /**
   * Rules for the fields of its form. `page` (default for routes that answer with pages): none repeated, none over 8 KiB
   * (`credential`: 32 KiB). `protocol` (default elsewhere): the handler judges, as RFC 6749 3.1 asks for answers of
   * its own.
   */
  readonly formRules?: 'page' | 'protocol';
  /** Served also when `limits.max_in_flight` is reached: capacity is reserved for each kind (security S-176). */
  readonly capacity?: 'essential' | 'sign-in';
  /** For a handler that waits for another server: it gets so long, if `limits.handler_timeout` is shorter. */
  readonly timeLimitSeconds?: number;
  /** Served also when the event loop lags (operations 9.4). */
  readonly priority?: boolean;
  /** Its answer depends on no time: served also while the clock of this machine may be wrong (security F-15). */
  readonly isTimeless?: true;
  /** Loads what its first request would have to wait for. */
  preload?(): Promise<void>;
  handle(context: RequestContext): HttpResponse | Promise<HttpResponse>;
}
