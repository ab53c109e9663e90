/**
 * What ends a request or a command is thrown as a `LatchkeyError`. Domain code knows codes only; status, media type
 * and wording belong to the face that answers (`http/faces/`).
 *
 * `refusal`: the caller asked for something it may not have. `fault`: the service could not do its part.
 */
export const ERROR_CODES = {
  access_denied: 'refusal',
  already_used: 'refusal',
  body_too_large: 'refusal',
  cross_site_request: 'refusal',
  csrf_expired: 'refusal',
  csrf_mismatch: 'refusal',
  csrf_missing: 'refusal',
  embedding_refused: 'refusal',
  expired: 'refusal',
  insufficient_scope: 'refusal',
  internal: 'fault',
  invalid_client: 'refusal',
  invalid_grant: 'refusal',
  invalid_redirect_uri: 'refusal',
  invalid_request: 'refusal',
  invalid_scope: 'refusal',
  invalid_target: 'refusal',
  invalid_token: 'refusal',
  malformed_request: 'refusal',
  method_not_allowed: 'refusal',
  not_found: 'refusal',
  overloaded: 'fault',
  rate_limited: 'refusal',
  registration_closed: 'refusal',
  registration_expired: 'refusal',
  registration_not_found: 'refusal',
  request_line_too_long: 'refusal',
  headers_too_large: 'refusal',
  request_timeout: 'refusal',
  temporarily_unavailable: 'fault',
  unauthorized_client: 'refusal',
  unsupported_grant_type: 'refusal',
  unsupported_media_type: 'refusal',
  unsupported_token_type: 'refusal',
} as const satisfies Record<string, 'refusal' | 'fault'>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface LatchkeyErrorOptions {
  /** Plain ASCII sentence that tells a developer what to do; shown by machine faces. Never holds a secret. */
  readonly description?: string;
  /** For the log only. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
  /** Seconds after which a repetition makes sense (`Retry-After`). */
  readonly retryAfterSeconds?: number;
  /** Further response headers, for example `Allow` or `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Absolute path at which a person can begin anew; pages link to it. */
  readonly restartPath?: string;
  readonly cause?: unknown;
}

export class LatchkeyError extends Error {
  readonly code: ErrorCode;
  readonly description: string | undefined;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly restartPath: string | undefined;

  constructor(code: ErrorCode, options: LatchkeyErrorOptions = {}) {
    super(
      options.description === undefined ? code : `${code}: ${options.description}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'LatchkeyError';
    this.code = code;
    this.description = options.description;
    this.details = options.details ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = options.headers ?? {};
    this.restartPath = options.restartPath;
  }
}

/** Ends a command of the program with an exit code of its own (sysexits style) and a message for the operator. */
export class ExitError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ExitError';
    this.exitCode = exitCode;
  }
}
