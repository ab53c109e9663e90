import type { IncomingHttpHeaders } from 'node:http';
import type { Task } from '#platform/base/tasks.ts';
import type { GraphqlOperation, Requester } from '#platform/log/request-line.ts';
import type { ConnectionInfo } from './connection-info.ts';
import type { CookieJar } from './cookies.ts';
import type { FormParameters } from './form-parameters.ts';
import type { JsonRules } from './json-body.ts';

/** A request as handlers see it. */
export interface RequestContext {
  readonly task: Task;
  /** `GET`, `POST`, …; HEAD appears as GET. */
  readonly method: string;
  /** Percent-decoded values of the path's `:name` parameters. */
  readonly params: Readonly<Record<string, string>>;
  /** The listener's prefix: empty, or with a leading and without a trailing slash. URLs in responses start with it. */
  readonly prefix: string;
  /** The query string, parsed on first use. Throws `malformed_request` if it cannot be decoded. */
  readonly query: FormParameters;
  /** The query string as received, without `?`. */
  readonly rawQuery: string;
  readonly headers: IncomingHttpHeaders;
  /**
   * There are several `Authorization` headers, and `headers` contains the first. Only routes that handle this case
   * receive such requests.
   */
  readonly isAuthorizationRepeated: boolean;
  /** The client address in canonical form (operations 5.6). Undefined for a Unix socket without a header. */
  readonly clientAddress: string | undefined;
  /** Connection details for diagnosing reverse proxies and load balancers. */
  readonly connectionInfo: ConnectionInfo;
  /** Truncated to 512 characters. Undefined if absent. */
  readonly userAgent: string | undefined;
  readonly cookies: CookieJar;
  /** Aborted when the client disconnects or the response has been sent: work that is still queued is then useless. */
  readonly signal: AbortSignal;
  /**
   * Call this after waiting for another server, right before writing anything that the response reports. False: the
   * time limit has answered the request, or the client is gone, and nothing may be written. True: the time limit no
   * longer applies, so a request with stored changes is never answered with 503.
   */
  beginWrite(): boolean;
  /**
   * Reads an `application/x-www-form-urlencoded` body. Throws `unsupported_media_type`, `body_too_large` or
   * `malformed_request` (invalid encoding, NUL, more than 100 fields).
   */
  readForm(): Promise<FormParameters>;
  /**
   * Reads an `application/json` body. Call it once. Throws `unsupported_media_type`, `body_too_large`, `not_json`
   * (invalid encoding or JSON) or `malformed_request` (NUL, lone surrogates, repeated members, too many levels or
   * members).
   */
  readJson(rules?: JsonRules): Promise<unknown>;
  /** Does the same, or returns undefined without a body. */
  readOptionalJson(rules?: Pick<JsonRules, 'isMergePatch'>): Promise<unknown>;
  /**
   * Sets the requester. The first call wins, unless `replace` is set (a request that signs a user in). The requester is
   * charged for the work of the request, unless the identity is only claimed, as for clients without a secret.
   */
  setRequester(requester: Requester, options?: { readonly replace?: boolean; readonly isClaimed?: boolean }): void;
  /**
   * Call when the requester is known, before any work for them. Throws `rate_limited` if they have used up their
   * budget.
   */
  requireWork(): void;
  /** Sets the GraphQL operation in the request's log line. */
  setGraphqlOperation(operation: GraphqlOperation): void;
}
