/** Values of labels that are known beforehand, where several files name them. */

/** How a request of a client may end: accepted, or with an error code of OAuth; any other error is `error`. */
export const OAUTH_RESULTS = [
  'success',
  'access_denied',
  'authorization_pending',
  'expired_token',
  'invalid_client',
  'invalid_client_metadata',
  'invalid_dpop_proof',
  'invalid_grant',
  'invalid_redirect_uri',
  'invalid_request',
  'invalid_scope',
  'invalid_target',
  'slow_down',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_grant_type',
  'use_dpop_nonce',
  'error',
] as const;

export const GRANT_TYPE_LABELS = [
  'authorization_code',
  'client_credentials',
  'device_code',
  'refresh_token',
  'token_exchange',
  'other',
] as const;

/** The names that buckets of rate limits begin with, and the limits that are charged elsewhere. */
export const LIMITER_LABELS = [
  'admin-token',
  'captcha',
  'captcha-login',
  'client-sector',
  'client_registration',
  'device_code',
  'email-code',
  'graphql',
  'login',
  'recovery',
  'passkey',
  'recovery-ticket',
  'registration',
  'registration-check',
  'registration-token',
  'second-factor',
  'sso-redirect',
  'upstream',
  'upstream-logout',
  'upstream-logout-refused',
  'work',
  'other',
] as const;

/** How a registration or a recovery goes on or ends. */
export const FLOW_RESULTS = [
  'started',
  'success',
  /** What was typed is not accepted, and may be corrected. */
  'rejected',
  /** It cannot go on. */
  'refused',
  'rate_limited',
  'error',
] as const;

export type FlowResult = (typeof FLOW_RESULTS)[number];

/** How a request of a chat client may end. */
export const CHAT_RESULTS = [
  'success',
  'refused',
  'locked',
  'too_many_sessions',
  'rate_limited',
  'invalid',
  'error',
] as const;

/** How the answer of a provider is taken: codes of errors, where it is not. */
export const UPSTREAM_CALLBACK_RESULTS = [
  'success',
  'cancelled',
  'invalid_response_mode',
  'missing_code',
  'missing_parameters',
  'upstream_error',
  'upstream_invalid_response',
  'upstream_issuer_mismatch',
  'upstream_no_subject',
  'upstream_not_reauthenticated',
  'upstream_session_expired',
  'upstream_session_missing',
  'upstream_session_used',
  'upstream_unavailable',
  'error',
] as const;

export const UPSTREAM_LOGIN_RESULTS = ['success', 'locked', 'refused'] as const;

export type UpstreamLoginResult = (typeof UPSTREAM_LOGIN_RESULTS)[number];
