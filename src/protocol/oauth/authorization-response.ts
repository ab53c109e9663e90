/** How the response reaches the client. @see OAuth 2.0 Multiple Response Type Encoding Practices 2.1, Form Post 1.0 */
export const RESPONSE_MODES = ['query', 'fragment', 'form_post'] as const;
export type ResponseMode = (typeof RESPONSE_MODES)[number];

/** Where and how an authorization request is answered, once client and address are proven. */
export interface ResponseTarget {
  readonly redirectUri: string;
  readonly responseMode: ResponseMode;
  /** Returned unchanged. */
  readonly state: string | undefined;
}

/** @see RFC 6749 4.1.2.1, OpenID Connect Core 1.0 3.1.2.6, RFC 8707 2, RFC 9101 7 */
export type AuthorizationErrorCode =
  | 'access_denied'
  | 'consent_required'
  | 'interaction_required'
  | 'invalid_request'
  | 'invalid_request_object'
  | 'invalid_request_uri'
  | 'invalid_scope'
  | 'invalid_target'
  | 'login_required'
  | 'registration_not_supported'
  | 'request_uri_not_supported'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'unauthorized_client'
  | 'unmet_authentication_requirements'
  | 'unsupported_response_type';

/** `description`: a sentence in plain ASCII that tells the client's developer what to do. */
export type AuthorizationResult =
  | { readonly code: string }
  | { readonly error: AuthorizationErrorCode; readonly description: string };

/** Parameters of the response; `iss` tells the client which server answered (RFC 9207). */
export function responseFields(
  target: ResponseTarget,
  issuer: string,
  result: AuthorizationResult,
): readonly (readonly [name: string, value: string])[] {
  const outcome: [string, string][] =
    'code' in result
      ? [['code', result.code]]
      : [
          ['error', result.error],
          ['error_description', result.description],
        ];
  return [...outcome, ...(target.state === undefined ? [] : [['state', target.state] as const]), ['iss', issuer]];
}

/**
 * The address that carries the response, in the query or, for mode `fragment`, behind `#`. What the address held
 * before is kept in order.
 */
export function responseLocation(target: ResponseTarget, issuer: string, result: AuthorizationResult): string {
  const encoded = responseFields(target, issuer, result)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  const { redirectUri } = target;
  if (target.responseMode === 'fragment') return `${redirectUri}#${encoded}`;
  // The empty fragment replaces one of the page that asked, which browsers would carry over (RFC 9110 10.2.2).
  return `${redirectUri}${querySeparator(redirectUri)}${encoded}#`;
}

/** The separator between an address and the parameters that are added to its query. */
export function querySeparator(uri: string): string {
  if (!uri.includes('?')) return '?';
  return uri.endsWith('?') || uri.endsWith('&') ? '' : '&';
}
