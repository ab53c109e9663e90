/** Fixed label values that several files use. */

/** Outcomes of a client's request: success or an OAuth error code. All other errors count as `error`. */
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

/** Prefixes of rate limit buckets, and limits that are enforced elsewhere. */
export const LIMITER_LABELS = [
  'admin-token',
  'captcha',
  'captcha-login',
  'client-sector',
  'client-test',
  'client_registration',
  'device_code',
  'email-code',
  'graphql',
  'invitation',
  'login',
  'recovery',
  'passkey',
  'provider-check',
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

/** Outcomes of the steps of registrations and recoveries. */
export const FLOW_RESULTS = [
  'started',
  'success',
  /** The input is invalid and can be corrected. */
  'rejected',
  /** The flow cannot continue. */
  'refused',
  'rate_limited',
  'error',
] as const;

export type FlowResult = (typeof FLOW_RESULTS)[number];

/** Outcomes of a chat client's request. */
export const CHAT_RESULTS = [
  'success',
  'refused',
  'locked',
  'too_many_sessions',
  'rate_limited',
  'invalid',
  'error',
] as const;

/** Outcomes of a sign-in provider's response: success or an error code. */
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
