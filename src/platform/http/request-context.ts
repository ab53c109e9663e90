import type { IncomingHttpHeaders } from 'node:http';
import type { Task } from '#platform/base/tasks.ts';
import type { GraphqlOperation, Requester } from '#platform/log/request-line.ts';
import type { ConnectionInfo } from './connection-info.ts';
import type { CookieJar } from './cookies.ts';
import type { FormParameters } from './form-parameters.ts';
import type { JsonRules } from './json-body.ts';

/** One request as handlers see it. */
export interface RequestContext {
  readonly task: Task;
  /** `GET`, `POST`, …; HEAD arrives as the GET it stands for. */
  readonly method: string;
  /** Values of the path's `:name` parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Of the listener: begins with a slash and ends without one, or is empty. Addresses in an answer begin with it. */
  readonly prefix: string;
  /** The query string, parsed at first use. Throws `malformed_request` when it cannot be decoded. */
  readonly query: FormParameters;
  /** The query string as received, without `?`. */
  readonly rawQuery: string;
  readonly headers: IncomingHttpHeaders;
  /** Several `Authorization` headers, of which `headers` has the first; only routes that judge this get such a request. */
  readonly isAuthorizationRepeated: boolean;
  /** Canonical text of the caller's address (operations 5.6); undefined behind a Unix socket without header. */
  readonly clientAddress: string | undefined;
  /** What the listener knows of the connection, for who looks for a fault in what is in front of it. */
  readonly connectionInfo: ConnectionInfo;
  /** Cut to 512 characters; undefined when absent. */
  readonly userAgent: string | undefined;
  readonly cookies: CookieJar;
  /** Aborted when the client has left, or the answer was given: work that still waits for its turn is in vain. */
  readonly signal: AbortSignal;
  /**
   * Asked right before something is written that the answer tells of, after a wait for another server. False: the
   * request was answered, by its time limit, or the client has left, and nothing is to be written. True: from now on the
   * answer is waited for, so that nothing is stored of what was answered 503.
   */
  beginWrite(): boolean;
  /**
   * The body of an `application/x-www-form-urlencoded` request. Throws `unsupported_media_type`, `body_too_large` or
   * `malformed_request` (invalid encoding, NUL, more than 100 fields).
   */
  readForm(): Promise<FormParameters>;
  /**
   * The body of an `application/json` request; asked for once. Throws `unsupported_media_type`, `body_too_large`,
   * `not_json` (invalid encoding or JSON) or `malformed_request` (NUL, lone surrogates, repeated members, too deep or
   * too many of them).
   */
  readJson(rules?: JsonRules): Promise<unknown>;
  /** The same, or undefined when there is no body. */
  readOptionalJson(): Promise<unknown>;
  /**
   * The first call wins, except that `replace` (a request that signs someone in) always does. Whoever it is pays for the
   * work of the request, unless they only claim to be it, as clients without a secret do.
   */
  setRequester(requester: Requester, options?: { readonly replace?: boolean; readonly isClaimed?: boolean }): void;
  /** Called once the requester is known, before any work for them. Throws `rate_limited` when they have used up theirs. */
  requireWork(): void;
  /** What the line of the request names as its GraphQL operation. */
  setGraphqlOperation(operation: GraphqlOperation): void;
}
