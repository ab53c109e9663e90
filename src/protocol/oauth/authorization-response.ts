const DELIVERIES = ['query', 'fragment', 'form_post'] as const;
/** @see OAuth 2.0 Multiple Response Type Encoding Practices 2.1, OAuth 2.0 Form Post Response Mode 1.0 */
type Delivery = (typeof DELIVERIES)[number];

/** How the response reaches the client. Modes that end in `.jwt` return a signed JWT (JARM 2.3). */
export const RESPONSE_MODES = [...DELIVERIES, 'query.jwt', 'fragment.jwt', 'form_post.jwt'] as const;
export type ResponseMode = (typeof RESPONSE_MODES)[number];

/** Modes that clients may request. `jwt` is one of the others, depending on the response type (JARM 2.3.4). */
export const REQUESTED_RESPONSE_MODES = [...RESPONSE_MODES, 'jwt'] as const;

export function deliveryOf(mode: ResponseMode): Delivery {
  return DELIVERIES.find((delivery) => mode === delivery || mode === `${delivery}.jwt`) ?? 'query';
}

export function isSignedMode(mode: ResponseMode): boolean {
  return mode.endsWith('.jwt');
}

/**
 * Returns the mode of a request; undefined if it is unknown.
 * @param responseType may be an unsupported one
 */
export function responseModeOf(
  requested: string | undefined,
  responseType: string | undefined,
): ResponseMode | undefined {
  const types = responseType?.split(' ') ?? [];
  const usual = types.includes('token') || types.includes('id_token') ? 'fragment' : 'query';
  if (requested === undefined) return usual;
  return requested === 'jwt' ? `${usual}.jwt` : RESPONSE_MODES.find((mode) => mode === requested);
}

/** Where and how to respond to an authorization request, once client and URI are verified. */
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

/** `description`: a sentence in plain ASCII that says what the client's developer should do. */
export type AuthorizationResult =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'error'; readonly error: AuthorizationErrorCode; readonly description: string };

export type ResponseFields = readonly (readonly [name: string, value: string])[];

/** JARM 2.1 recommends at most ten minutes. */
const SIGNED_RESPONSE_SECONDS = 600;

/** Returns the claims of a signed response: its parameters, the issuer and the client (JARM 2.1). */
export function signedResponseClaims(
  fields: ResponseFields,
  { audience, now }: { readonly audience: string; readonly now: number },
): Readonly<Record<string, unknown>> {
  return { ...Object.fromEntries(fields), aud: audience, exp: Math.floor(now / 1000) + SIGNED_RESPONSE_SECONDS };
}

/** Returns the parameters of the response. `iss` identifies the server to the client (RFC 9207). */
export function responseFields(target: ResponseTarget, issuer: string, result: AuthorizationResult): ResponseFields {
  const outcome: [string, string][] =
    result.kind === 'code'
      ? [['code', result.code]]
      : [
          ['error', result.error],
          ['error_description', result.description],
        ];
  return [...outcome, ...(target.state === undefined ? [] : [['state', target.state] as const]), ['iss', issuer]];
}

/**
 * Returns the URL with the response in the query, or after `#` for the fragment modes. Existing parameters keep their
 * order.
 */
export function responseLocation({ redirectUri, responseMode }: ResponseTarget, fields: ResponseFields): string {
  const encoded = fields.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  if (deliveryOf(responseMode) === 'fragment') return `${redirectUri}#${encoded}`;
  // The empty fragment overrides one of the requesting page, which browsers would keep (RFC 9110 10.2.2).
  return `${redirectUri}${querySeparator(redirectUri)}${encoded}#`;
}

/** Returns the separator between a URI and the parameters added to its query. */
export function querySeparator(uri: string): string {
  if (!uri.includes('?')) return '?';
  return uri.endsWith('?') || uri.endsWith('&') ? '' : '&';
}
