import type { Resource } from './http-options.ts';
import type { RequestContext } from './request-context.ts';
import type { HttpResponse } from './response.ts';

/** The audience of a route's responses, which determines how errors are rendered (`error-format.ts`). */
export type ErrorFormat = 'admin-json' | 'chat-json' | 'graphql-json' | 'oauth-json' | 'page' | 'plain-json';

/** The parts of a request that an embedding decision may use. */
export type EmbeddableRequest = Pick<RequestContext, 'headers' | 'query'>;

/**
 * An endpoint of the service. Features return a list of routes from their `mount`. A handler returns a response or
 * throws a `LatchkeyError`, which is rendered in the route's error format.
 */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /**
   * Below the public base, with `:name` parameters: `/authorize/:grant_id`. A final `*` matches the rest, available as
   * `*`.
   */
  readonly path: string;
  readonly resource: Resource;
  /** The path is relative to the origin, not to the listener's prefix, and has no parameters. */
  readonly isAtOrigin?: boolean;
  readonly errorFormat: ErrorFormat;
  /** The route handles repeated `Authorization` headers. Other routes reject them as malformed. */
  readonly judgesRepeatedAuthorization?: boolean;
  /** HEAD is refused, because GET changes state. On other routes HEAD is answered like GET without a body. */
  readonly headRefused?: boolean;
  /** It answers 405 with its own page, so `Allow` must not list its method. */
  readonly isRefusal?: boolean;
  /** CORS policy of a machine route: the methods that scripts from any origin may use. */
  readonly cors?: 'none' | 'admin' | 'chat' | 'get' | 'get-post' | 'get-put-delete' | 'graphql';
  /**
   * Whether other sites may embed it. A function decides per request. Defaults to `refused` for routes that serve
   * pages.
   */
  readonly embedding?: 'refused' | 'allowed' | ((request: EmbeddableRequest) => boolean);
  /**
   * Rules for form fields. `page` (default for routes that serve pages): no repeated fields, none over 8 KiB
   * (`credential`: 32 KiB). `protocol` (default elsewhere): the handler decides, since RFC 6749 3.1 requires its own
   * error responses.
   */
  readonly formRules?: 'page' | 'protocol';
  /** Also served when `limits.max_in_flight` is reached. Capacity is reserved for each kind (security S-176). */
  readonly capacity?: 'essential' | 'sign-in';
  /** Time limit of a handler that waits for another server, if it exceeds `limits.handler_timeout`. */
  readonly timeLimitSeconds?: number;
  /** Also served when the event loop lags (operations 9.4). */
  readonly priority?: boolean;
  /**
   * The response does not depend on the time, so it is also served while the system clock may be wrong (security F-15).
   */
  readonly isClockIndependent?: true;
  /** Loads in advance what the first request would otherwise wait for. */
  preload?(): Promise<void>;
  handle(context: RequestContext): HttpResponse | Promise<HttpResponse>;
}
