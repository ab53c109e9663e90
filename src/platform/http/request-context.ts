import type { IncomingHttpHeaders } from 'node:http';
import type { Task } from '#platform/base/tasks.ts';
import type { Requester } from '#platform/log/request-line.ts';
import type { CookieJar } from './cookies.ts';
import type { FormParameters } from './form-parameters.ts';

/** One request as handlers see it. */
export interface RequestContext {
  readonly task: Task;
  /** `GET`, `POST`, …; HEAD arrives as the GET it stands for. */
  readonly method: string;
  /** Values of the path's `:name` parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The query string, parsed at first use. Throws `malformed_request` when it cannot be decoded. */
  readonly query: FormParameters;
  /** The query string as received, without `?`. */
  readonly rawQuery: string;
  readonly headers: IncomingHttpHeaders;
  /** Canonical text of the caller's address (operations 5.6); undefined behind a Unix socket without header. */
  readonly clientAddress: string | undefined;
  /** Cut to 512 characters; undefined when absent. */
  readonly userAgent: string | undefined;
  readonly cookies: CookieJar;
  /** Aborted when the client has left, or the answer was given: work that still waits for its turn is in vain. */
  readonly signal: AbortSignal;
  /**
   * The body of an `application/x-www-form-urlencoded` request. Throws `unsupported_media_type`, `body_too_large` or
   * `malformed_request` (invalid encoding, NUL, more than 100 fields).
   */
  readForm(): Promise<FormParameters>;
  /**
   * The body of an `application/json` request; asked for once. Throws `unsupported_media_type`, `body_too_large` or
   * `malformed_request` (invalid encoding or JSON, NUL, lone surrogates, repeated members, too deep or too many of them).
   */
  readJson(): Promise<unknown>;
  /** The first call wins, except that `replace` (a request that signs someone in) always does. */
  setRequester(requester: Requester, options?: { replace?: boolean }): void;
}
