/**
 * The registry of every error that can end a request, and the error classes. Domain code knows only the codes. The
 * formats (`ErrorFormat`) render them and override no more than their standard requires.
 *
 * To add a code, add a row here, its page texts (`problem.<page>.title` and `.text` in `locales/`) and its texts for
 * the manual (`scripts/reference/error-texts.ts`).
 */
interface ErrorRow {
  /** `refusal`: the request is not allowed or invalid. `fault`: the service failed. */
  readonly kind: 'refusal' | 'fault';
  /** HTTP status. */
  readonly status: number;
  /** `error` on the OAuth endpoints (RFC 6749 5.2 and its extensions). */
  readonly oauth: string;
  /** `errcode` on the routes for chat clients. Defaults to `M_UNKNOWN`. */
  readonly chat?: `M_${string}`;
  /** Selects the texts of the error page. */
  readonly page: string;
  /** Default description for developers, in plain ASCII. The code that throws may give a more specific one. */
  readonly description?: string;
}

const ROWS = {
  access_denied: { kind: 'refusal', status: 403, oauth: 'access_denied', page: 'refused' },
  account_deactivated: {
    kind: 'refusal',
    status: 403,
    oauth: 'access_denied',
    chat: 'M_USER_DEACTIVATED',
    page: 'refused',
    description: 'this account has been deactivated',
  },
  account_locked: {
    kind: 'refusal',
    status: 401,
    oauth: 'access_denied',
    chat: 'M_USER_LOCKED',
    page: 'refused',
    description: 'this account is locked',
  },
  already_finished: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_request',
    page: 'malformed',
    description: 'the session has already ended',
  },
  already_revoked: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_request',
    page: 'malformed',
    description: 'the token has already been revoked',
  },
  already_used: { kind: 'refusal', status: 409, oauth: 'invalid_grant', page: 'already_used' },
  application_service_login: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_request',
    chat: 'M_APPSERVICE_LOGIN_UNSUPPORTED',
    page: 'malformed',
    description: 'application services must use their own access token',
  },
  authorization_pending: { kind: 'refusal', status: 400, oauth: 'authorization_pending', page: 'application' },
  batching_not_supported: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_request',
    page: 'malformed',
    description: 'batched operations are not supported; send one operation per request',
  },
  body_too_large: {
    kind: 'refusal',
    status: 413,
    oauth: 'invalid_request',
    chat: 'M_TOO_LARGE',
    page: 'too_large',
    description: 'the request body is too large',
  },
  client_is_static: {
    kind: 'refusal',
    status: 403,
    oauth: 'access_denied',
    page: 'refused',
    description: 'the client is defined in the server configuration and can only be changed there',
  },
  cross_site_request: { kind: 'refusal', status: 403, oauth: 'access_denied', page: 'cross_site' },
  csrf_mismatch: { kind: 'refusal', status: 403, oauth: 'access_denied', page: 'form' },
  csrf_missing: { kind: 'refusal', status: 403, oauth: 'access_denied', page: 'form' },
  device_code_not_found: { kind: 'refusal', status: 404, oauth: 'invalid_grant', page: 'device_not_found' },
  device_code_used: { kind: 'refusal', status: 410, oauth: 'invalid_grant', page: 'device_used' },
  email_in_use: {
    kind: 'refusal',
    status: 409,
    oauth: 'invalid_request',
    page: 'refused',
    description: 'the email address is already in use',
  },
  embedding_refused: { kind: 'refusal', status: 403, oauth: 'access_denied', page: 'refused' },
  expired: { kind: 'refusal', status: 410, oauth: 'invalid_grant', page: 'expired' },
  expired_token: { kind: 'refusal', status: 410, oauth: 'expired_token', page: 'device_expired' },
  headers_too_large: {
    kind: 'refusal',
    status: 431,
    oauth: 'invalid_request',
    page: 'too_large',
    description: 'the request headers are too large',
  },
  homeserver_error: {
    kind: 'fault',
    status: 502,
    oauth: 'server_error',
    page: 'homeserver_unavailable',
    description: 'the homeserver failed to complete the request; see the server log for the reason',
  },
  homeserver_refused: {
    kind: 'fault',
    status: 500,
    oauth: 'server_error',
    page: 'internal',
    description: 'the homeserver rejected the device; see the server log for the reason',
  },
  homeserver_timeout: {
    kind: 'fault',
    status: 504,
    oauth: 'server_error',
    page: 'homeserver_unavailable',
    description: 'the homeserver did not respond in time',
  },
  homeserver_unavailable: {
    kind: 'fault',
    status: 503,
    oauth: 'temporarily_unavailable',
    page: 'homeserver_unavailable',
    description: 'the homeserver is unavailable; retry later',
  },
  insufficient_scope: { kind: 'refusal', status: 403, oauth: 'insufficient_scope', page: 'refused' },
  internal: { kind: 'fault', status: 500, oauth: 'server_error', page: 'internal' },
  invalid_body: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_request',
    page: 'malformed',
    description: 'a field of the request body is missing or invalid',
  },
  invalid_client: { kind: 'refusal', status: 400, oauth: 'invalid_client', page: 'application' },
  invalid_client_metadata: { kind: 'refusal', status: 400, oauth: 'invalid_client_metadata', page: 'application' },
  invalid_device_id: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_request',
    chat: 'M_INVALID_PARAM',
    page: 'malformed',
    description: 'device_id must have 1 to 255 characters and no control characters',
  },
  invalid_dpop_proof: { kind: 'refusal', status: 400, oauth: 'invalid_dpop_proof', page: 'application' },
  invalid_email: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_request',
    page: 'malformed',
    description: 'not a valid email address',
  },
  invalid_grant: { kind: 'refusal', status: 400, oauth: 'invalid_grant', page: 'application' },
  invalid_id: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_request',
    page: 'malformed',
    description: 'not a valid id; expected a ULID of 26 characters',
  },
  invalid_parameter: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_request',
    page: 'malformed',
    description: 'a query parameter is unknown or invalid',
  },
  invalid_policy_data: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_request',
    page: 'malformed',
    description: 'the policy data is invalid',
  },
  invalid_redirect_uri: { kind: 'refusal', status: 400, oauth: 'invalid_redirect_uri', page: 'application' },
  invalid_request: { kind: 'refusal', status: 400, oauth: 'invalid_request', page: 'application' },
  invalid_request_object: { kind: 'refusal', status: 400, oauth: 'invalid_request_object', page: 'application' },
  invalid_request_uri: { kind: 'refusal', status: 400, oauth: 'invalid_request_uri', page: 'expired' },
  invalid_response_mode: { kind: 'refusal', status: 400, oauth: 'invalid_request', page: 'upstream_answer' },
  invalid_scope: { kind: 'refusal', status: 400, oauth: 'invalid_scope', page: 'application' },
  invalid_software_statement: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_software_statement',
    page: 'application',
  },
  invalid_target: { kind: 'refusal', status: 400, oauth: 'invalid_target', page: 'application' },
  invalid_token: { kind: 'refusal', status: 401, oauth: 'invalid_token', page: 'refused' },
  invalid_username: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_request',
    page: 'malformed',
    description: 'not a valid username; allowed characters are a to z, digits and . = _ / + -',
  },
  job_not_dead: {
    kind: 'refusal',
    status: 409,
    oauth: 'invalid_request',
    page: 'refused',
    description: 'the job is not dead: it is waiting or running',
  },
  job_running: {
    kind: 'refusal',
    status: 409,
    oauth: 'invalid_request',
    page: 'refused',
    description: 'the job is running; retry when it has finished',
  },
  job_superseded: {
    kind: 'refusal',
    status: 409,
    oauth: 'invalid_request',
    page: 'refused',
    description: 'a job for the same work is already waiting',
  },
  link_exists: {
    kind: 'refusal',
    status: 409,
    oauth: 'invalid_request',
    page: 'refused',
    description: 'the identity is already linked to an account',
  },
  login_refused: {
    kind: 'refusal',
    status: 403,
    oauth: 'access_denied',
    chat: 'M_FORBIDDEN',
    page: 'refused',
    description: 'invalid username or password',
  },
  mails_delayed: {
    kind: 'fault',
    status: 503,
    oauth: 'temporarily_unavailable',
    page: 'mails_delayed',
    description: 'email delivery is delayed, so no more emails are accepted; retry later',
  },
  malformed_request: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_request',
    chat: 'M_BAD_JSON',
    page: 'malformed',
  },
  method_not_allowed: {
    kind: 'refusal',
    status: 405,
    oauth: 'method_not_allowed',
    chat: 'M_UNRECOGNIZED',
    page: 'method',
    description: 'the endpoint does not support this method; the Allow header lists the supported ones',
  },
  missing_code: { kind: 'refusal', status: 400, oauth: 'invalid_request', page: 'upstream_answer' },
  missing_parameters: { kind: 'refusal', status: 400, oauth: 'invalid_request', page: 'upstream_answer' },
  missing_token: {
    kind: 'refusal',
    status: 401,
    oauth: 'invalid_token',
    chat: 'M_MISSING_TOKEN',
    page: 'refused',
    description: 'an access token is required in the Authorization header',
  },
  not_found: {
    kind: 'refusal',
    status: 404,
    oauth: 'not_found',
    chat: 'M_UNRECOGNIZED',
    page: 'not_found',
    description: 'no endpoint exists at this URL',
  },
  not_json: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_request',
    chat: 'M_NOT_JSON',
    page: 'malformed',
    description: 'the request body is not valid JSON',
  },
  not_owner: {
    kind: 'refusal',
    status: 403,
    oauth: 'access_denied',
    page: 'refused',
    description: 'the session belongs to another user',
  },
  not_revoked: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_request',
    page: 'malformed',
    description: 'the token is not revoked',
  },
  overloaded: {
    kind: 'fault',
    status: 503,
    oauth: 'temporarily_unavailable',
    page: 'unavailable',
    description: 'too many concurrent requests; retry later',
  },
  password_auth_disabled: {
    kind: 'refusal',
    status: 403,
    oauth: 'invalid_request',
    page: 'refused',
    description: 'password sign-in is disabled',
  },
  password_too_weak: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_request',
    page: 'malformed',
    description: 'the password is too weak',
  },
  rate_limited: {
    kind: 'refusal',
    status: 429,
    oauth: 'temporarily_unavailable',
    chat: 'M_LIMIT_EXCEEDED',
    page: 'rate_limited',
    description: 'too many requests; retry later',
  },
  registration_closed: { kind: 'refusal', status: 410, oauth: 'access_denied', page: 'registration_closed' },
  registration_expired: { kind: 'refusal', status: 410, oauth: 'invalid_request', page: 'registration_expired' },
  registration_not_found: { kind: 'refusal', status: 404, oauth: 'invalid_request', page: 'registration_not_found' },
  registration_outdated: { kind: 'refusal', status: 410, oauth: 'invalid_request', page: 'registration_outdated' },
  request_line_too_long: {
    kind: 'refusal',
    status: 414,
    oauth: 'invalid_request',
    page: 'too_large',
    description: 'the request target is too long',
  },
  request_timeout: {
    kind: 'refusal',
    status: 408,
    oauth: 'invalid_request',
    page: 'timeout',
    description: 'the request took too long to arrive',
  },
  reserved_device_id: {
    kind: 'refusal',
    status: 403,
    oauth: 'invalid_scope',
    chat: 'M_FORBIDDEN',
    page: 'refused',
    description: 'the homeserver does not allow this device id; choose another one',
  },
  scope_not_allowed: {
    kind: 'refusal',
    status: 403,
    oauth: 'invalid_scope',
    page: 'refused',
    description: 'a personal token cannot have this scope for this account and owner',
  },
  session_not_valid: {
    kind: 'refusal',
    status: 422,
    oauth: 'invalid_request',
    page: 'refused',
    description: 'the session is revoked, or its account or owner is locked or deactivated',
  },
  session_revoked: {
    kind: 'refusal',
    status: 409,
    oauth: 'invalid_request',
    page: 'refused',
    description: 'the session has already been revoked',
  },
  slow_down: { kind: 'refusal', status: 400, oauth: 'slow_down', page: 'application' },
  sso_login_expired: { kind: 'refusal', status: 410, oauth: 'invalid_grant', page: 'sso_expired' },
  sso_login_not_found: { kind: 'refusal', status: 404, oauth: 'invalid_grant', page: 'sso_not_found' },
  sso_login_used: { kind: 'refusal', status: 410, oauth: 'invalid_grant', page: 'sso_used' },
  temporarily_unavailable: {
    kind: 'fault',
    status: 503,
    oauth: 'temporarily_unavailable',
    page: 'unavailable',
    description: 'the service is temporarily unavailable; retry later',
  },
  token_exists: {
    kind: 'refusal',
    status: 409,
    oauth: 'invalid_request',
    page: 'refused',
    description: 'a token with this value already exists',
  },
  too_many_sessions: {
    kind: 'refusal',
    status: 403,
    oauth: 'access_denied',
    chat: 'M_FORBIDDEN',
    page: 'refused',
    description: 'too many sessions; sign out of one first',
  },
  unapproved_software_statement: {
    kind: 'refusal',
    status: 400,
    oauth: 'unapproved_software_statement',
    page: 'application',
  },
  unauthorized_client: { kind: 'refusal', status: 400, oauth: 'unauthorized_client', page: 'application' },
  unknown_token: {
    kind: 'refusal',
    status: 401,
    oauth: 'invalid_token',
    chat: 'M_UNKNOWN_TOKEN',
    page: 'refused',
    description: 'the token is unknown, or its session has ended',
  },
  unsupported_grant_type: { kind: 'refusal', status: 400, oauth: 'unsupported_grant_type', page: 'application' },
  unsupported_login: {
    kind: 'refusal',
    status: 400,
    oauth: 'invalid_request',
    chat: 'M_UNKNOWN',
    page: 'malformed',
    description: 'this sign-in method is not supported',
  },
  unsupported_media_type: {
    kind: 'refusal',
    status: 415,
    oauth: 'invalid_request',
    chat: 'M_NOT_JSON',
    page: 'malformed',
  },
  unsupported_token_type: { kind: 'refusal', status: 400, oauth: 'unsupported_token_type', page: 'application' },
  upstream_already_used: { kind: 'refusal', status: 409, oauth: 'invalid_request', page: 'upstream_restart' },
  upstream_claim_missing: { kind: 'refusal', status: 422, oauth: 'invalid_request', page: 'upstream_claims' },
  upstream_error: { kind: 'refusal', status: 400, oauth: 'invalid_request', page: 'upstream_error' },
  upstream_invalid_response: { kind: 'fault', status: 502, oauth: 'server_error', page: 'upstream_answer' },
  upstream_issuer_mismatch: { kind: 'refusal', status: 400, oauth: 'invalid_request', page: 'upstream_answer' },
  upstream_link_not_found: { kind: 'refusal', status: 404, oauth: 'invalid_request', page: 'upstream_restart' },
  upstream_no_subject: { kind: 'refusal', status: 400, oauth: 'invalid_request', page: 'upstream_answer' },
  upstream_not_reauthenticated: { kind: 'refusal', status: 400, oauth: 'invalid_request', page: 'upstream_reauth' },
  upstream_provider_not_found: {
    kind: 'refusal',
    status: 404,
    oauth: 'invalid_request',
    page: 'not_found',
    description: 'a sign-in provider with this id does not exist',
  },
  upstream_session_expired: { kind: 'refusal', status: 400, oauth: 'invalid_request', page: 'upstream_restart' },
  upstream_session_missing: { kind: 'refusal', status: 400, oauth: 'invalid_request', page: 'upstream_restart' },
  upstream_session_used: { kind: 'refusal', status: 400, oauth: 'invalid_request', page: 'upstream_restart' },
  upstream_unavailable: { kind: 'fault', status: 502, oauth: 'temporarily_unavailable', page: 'upstream_unavailable' },
  upstream_user_exists: { kind: 'refusal', status: 409, oauth: 'invalid_request', page: 'upstream_user_exists' },
  upstream_user_has_link: { kind: 'refusal', status: 409, oauth: 'invalid_request', page: 'upstream_user_has_link' },
  upstream_username_rejected: { kind: 'refusal', status: 409, oauth: 'invalid_request', page: 'upstream_claims' },
  use_dpop_nonce: { kind: 'refusal', status: 400, oauth: 'use_dpop_nonce', page: 'application' },
  user_deactivated: {
    kind: 'refusal',
    status: 410,
    oauth: 'access_denied',
    page: 'refused',
    description: 'the account has been deactivated',
  },
  user_exists: {
    kind: 'refusal',
    status: 409,
    oauth: 'invalid_request',
    page: 'refused',
    description: 'the username is already taken',
  },
  username_reserved: {
    kind: 'refusal',
    status: 409,
    oauth: 'invalid_request',
    page: 'refused',
    description: 'the homeserver does not allow this username',
  },
  username_taken: { kind: 'refusal', status: 409, oauth: 'invalid_request', page: 'upstream_user_exists' },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ROWS;

/** Middle part of the keys of an error page's texts. */
export type ErrorPageText = (typeof ROWS)[ErrorCode]['page'];

export const ERRORS: Readonly<Record<ErrorCode, ErrorRow & { readonly page: ErrorPageText }>> = ROWS;

/** All codes, sorted alphabetically. @public for the manual and the tests */
export const ERROR_CODES: readonly ErrorCode[] = Object.keys(ROWS).filter((name): name is ErrorCode => name in ROWS);

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
