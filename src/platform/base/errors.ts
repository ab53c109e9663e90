/** The error classes. The product's table of error codes is `src/vocabulary/errors.ts`. */

/** What the platform needs to know about an error code. */
export interface ErrorRow {
  /** `refusal`: the request is not allowed or invalid. `fault`: the service failed. */
  readonly kind: 'refusal' | 'fault';
  /** HTTP status. */
  readonly status: number;
  /** Default description for developers, in plain ASCII. The code that throws may give a more specific one. */
  readonly description?: string;
}

/** The codes that the platform throws. The product adds its own by declaration merging. */
export interface ErrorCodes {
  readonly body_too_large: true;
  readonly embedding_refused: true;
  readonly headers_too_large: true;
  readonly internal: true;
  readonly malformed_request: true;
  readonly method_not_allowed: true;
  readonly not_found: true;
  readonly not_json: true;
  readonly overloaded: true;
  readonly rate_limited: true;
  readonly request_line_too_long: true;
  readonly request_timeout: true;
  readonly temporarily_unavailable: true;
  readonly unsupported_media_type: true;
}

export type ErrorCode = keyof ErrorCodes;

/** One row for each code. */
export type ErrorTable<Row extends ErrorRow = ErrorRow> = Readonly<Record<ErrorCode, Row>>;

export interface LatchkeyErrorOptions {
  /** Plain ASCII sentence for developers that says what to do. The JSON formats show it. Never contains a secret. */
  readonly description?: string;
  /** Only for the log. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
  /** Seconds after which a retry makes sense (`Retry-After`). */
  readonly retryAfterSeconds?: number;
  /** Additional members of the response to a chat client. */
  readonly members?: Readonly<Record<string, string | boolean>>;
  /** Additional response headers, for example `Allow` or `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Absolute path at which the user can start over. Error pages link to it. */
  readonly restartPath?: string;
  readonly cause?: unknown;
}

export class LatchkeyError extends Error {
  readonly code: ErrorCode;
  readonly description: string | undefined;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  readonly retryAfterSeconds: number | undefined;
  readonly members: Readonly<Record<string, string | boolean>>;
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
    this.members = options.members ?? {};
    this.headers = options.headers ?? {};
    this.restartPath = options.restartPath;
  }
}

/**
 * Exit codes of the program: names and numbers from sysexits.h, or 128 plus the signal number. The manual lists them
 * for operators (docs/reference/commands.md).
 */
export const ExitCode = {
  ok: 0,
  /** The command ran and failed. */
  failure: 1,
  /** The command line is wrong. */
  usage: 2,
  /** A `doctor` check failed. */
  doctorFails: 10,
  /** All `doctor` checks passed, some with warnings. */
  doctorWarns: 11,
  /** An input file is damaged. */
  dataError: 65,
  /** A required database or program is unavailable or unusable. */
  unavailable: 69,
  /** A bug in this program or in PostgreSQL. */
  software: 70,
  /** The operating system refused an operation. */
  osError: 71,
  /** The output file already exists. */
  cantCreate: 73,
  /** Another process holds a lock. Retry later. */
  tempFail: 75,
  noPermission: 77,
  /** The configuration is invalid. */
  config: 78,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Ends a command with an exit code and a message for the operator. */
export class ExitError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ExitError';
    this.exitCode = exitCode;
  }
}
