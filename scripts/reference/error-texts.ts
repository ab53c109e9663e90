import type { ErrorCode } from '#platform/base/errors.ts';
import type { AuthorizationErrorCode } from '#protocol/oauth/authorization-response.ts';

/** What the manual says about an error code. */
export interface ErrorText {
  /** What happened. */
  readonly meaning: string;
  /** What to do about it. */
  readonly remedy: string;
}

export const ERROR_TEXTS: Record<ErrorCode, ErrorText> = {
  access_denied: {
    meaning: 'Introspection: the bearer token is not the homeserver secret, or a public client asks.',
    remedy: 'Set the same `homeserver.secret` on both sides, or ask as a client that has a secret.',
  },
  already_used: {
    meaning: 'An authorization request was answered before, and this browser has not got the answer any more.',
    remedy: 'Start again in the application.',
  },
  authorization_pending: {
    meaning: 'A device polls, and nobody has entered its user code and decided yet (RFC 8628 3.5).',
    remedy: 'Poll again after the interval.',
  },
  body_too_large: {
    meaning: 'The body is larger than `limits.max_body` allows.',
    remedy: 'Send less, or raise the limit.',
  },
  client_is_static: {
    meaning: 'An application tried to manage the registration of a client that stands in the configuration.',
    remedy: 'Change its entry under `clients`, and restart or run `latchkey config sync`.',
  },
  cross_site_request: {
    meaning: 'A form was sent from a page of another site (`Sec-Fetch-Site`, else `Origin`).',
    remedy:
      'Send forms from the pages of this service only. Behind a proxy: set `http.public_base` to the address that browsers use.',
  },
  csrf_mismatch: {
    meaning: 'The field `csrf` of a form does not belong to the cookie of this browser.',
    remedy: 'Open the form again: somebody signed in or out in another tab.',
  },
  csrf_missing: {
    meaning: 'A form came without its field `csrf` or without the cookie that goes with it.',
    remedy: 'Allow cookies. A program has to read the form first and send back both.',
  },
  device_code_not_found: {
    meaning: 'The page of a device was opened in a browser in which its user code was not entered.',
    remedy: 'Enter the code that the device shows at `/link`.',
  },
  device_code_used: {
    meaning: 'The user code of a device was answered before, in another sign-in.',
    remedy: 'Let the device show a new code.',
  },
  embedding_refused: {
    meaning:
      'A page was asked for as part of another page, such as a frame (`Sec-Fetch-Dest`). The answer has no body.',
    remedy: 'Open it as a page of its own.',
  },
  expired: {
    meaning: 'What the address stands for has expired or ended.',
    remedy: 'Start again where the link came from.',
  },
  expired_token: {
    meaning: 'The codes of a device have expired (`oauth.device_code_ttl`).',
    remedy: 'Let the device ask for new codes.',
  },
  headers_too_large: {
    meaning: 'The header fields are larger than `limits.max_headers`, or more than 100.',
    remedy: 'Delete the cookies of this host, or raise the limit.',
  },
  insufficient_scope: {
    meaning: 'The access token is good and lacks a scope; for userinfo that is `openid`.',
    remedy: 'Ask for the scope that the challenge names.',
  },
  internal: {
    meaning: 'The service failed. What happened is in the log only, as event `error` with the same request id.',
    remedy: 'Look the request id up in the log, and report it when it is a defect.',
  },
  invalid_client: {
    meaning: 'The client is unknown or disabled, its secret is wrong, or it used another method than its own.',
    remedy: 'Compare client id, secret and `client_auth_method` with the configuration.',
  },
  invalid_client_metadata: {
    meaning:
      'An application registers itself with something that is not allowed, contradicts itself or is not supported.',
    remedy: 'The description names the member. What is allowed is set by `policy.data.client_registration`.',
  },
  invalid_dpop_proof: {
    meaning:
      'The DPoP proof (RFC 9449) is missing where one is needed, malformed, made for another request or key, too old, or was used before. The description says which.',
    remedy: 'Make a new proof for each request, with the key that the token, code or session is bound to.',
  },
  invalid_grant: {
    meaning:
      'The authorization code or refresh token is unknown, expired, used, revoked or another client’s, or the PKCE verifier or redirect URI does not fit.',
    remedy: 'Send the person through the authorization endpoint again.',
  },
  invalid_redirect_uri: {
    meaning:
      'The redirect URI is not one of the client’s, so the error is shown as a page; or an application registers itself with one that is not allowed.',
    remedy:
      'Write the exact address into `clients[].redirect_uris`: it is compared character by character. For an application that registers itself the description says what is wrong.',
  },
  invalid_request: {
    meaning: 'A parameter is missing, repeated, contradicts another, or is not supported.',
    remedy: 'The description names the parameter.',
  },
  invalid_request_object: {
    meaning: 'An application sent a signed request that is not accepted.',
    remedy: 'The description says what is wrong with it: its signature, its times, or whom it names.',
  },
  invalid_request_uri: {
    meaning:
      'A browser came with a reference to a pushed request that is unknown, expired, used, or of another client.',
    remedy:
      'People go back to the application and start again. If it happens each time, the application has to push each request right before it sends the browser, within 90 seconds.',
  },
  invalid_scope: {
    meaning: 'The scope is unknown, not allowed for the client, or more than was granted.',
    remedy: 'Ask for less; compare with `clients[].scope`.',
  },
  invalid_software_statement: {
    meaning: 'An application registers itself with a `software_statement` that is not a JWT.',
    remedy: 'Leave `software_statement` out.',
  },
  invalid_target: {
    meaning: 'A `resource` was asked for (RFC 8707) that is not configured here, or was not granted.',
    remedy: 'Ask for one of `oauth.resources`, or leave `resource` out.',
  },
  invalid_token: {
    meaning: 'The access token is unknown, expired or revoked, or belongs to no person.',
    remedy: 'Refresh, or sign in again.',
  },
  malformed_request: {
    meaning: 'The request cannot be read: bad encoding, a repeated field, a cut body, a contradictory head.',
    remedy: 'Correct the program that sent it.',
  },
  method_not_allowed: {
    meaning: 'The address exists for other methods.',
    remedy: 'Use one of those in the header `Allow`.',
  },
  not_found: {
    meaning: 'There is nothing at this address, or it belongs to another browser.',
    remedy: 'Check the address, and whether the listener serves that resource.',
  },
  overloaded: {
    meaning: 'More requests or password checks than `limits` allow, or an event loop that lags.',
    remedy: 'Repeat after `Retry-After` seconds. If it happens often: more processors or instances.',
  },
  rate_limited: {
    meaning: 'Too many attempts in a row (`rate_limiting`).',
    remedy: 'Repeat after `Retry-After` seconds.',
  },
  registration_closed: {
    meaning:
      'Registration was switched off before this one was finished; or applications cannot register themselves, or not this one again.',
    remedy: 'Ask the operator for an account, or to configure the application.',
  },
  registration_expired: {
    meaning: 'A registration was not finished within `account.registration_ttl`.',
    remedy: 'Start again.',
  },
  registration_not_found: {
    meaning: 'This browser has not begun the registration that the address names.',
    remedy: 'Go on in the browser that began it, or start again.',
  },
  request_line_too_long: {
    meaning: 'The request line is longer than `limits.max_request_line`.',
    remedy: 'Send long authorization requests with POST, or raise the limit.',
  },
  request_timeout: {
    meaning: 'The request took longer than `limits.request_timeout` to arrive, or came too slowly.',
    remedy: 'Repeat it on a better connection.',
  },
  slow_down: {
    meaning: 'A device polled before its interval was over, which is 5 seconds longer from now on (RFC 8628 3.5).',
    remedy: 'Wait for `interval` seconds between polls, and 5 more after each of these answers.',
  },
  temporarily_unavailable: {
    meaning: 'The database was away or busy, or the answer took longer than `limits.handler_timeout`.',
    remedy:
      'Repeat after `Retry-After` seconds. A write whose connection broke may have happened: look before repeating what is not repeatable.',
  },
  unapproved_software_statement: {
    meaning: 'An application registers itself with a `software_statement`, none of which are trusted.',
    remedy: 'Leave `software_statement` out.',
  },
  unauthorized_client: {
    meaning: 'The client may not do this: a grant type it is not registered for, or a token of another client.',
    remedy: 'Add it to `clients[].grant_types`, or use the client’s own token.',
  },
  unsupported_grant_type: {
    meaning: 'The token endpoint does not offer this `grant_type`.',
    remedy: 'See `grant_types_supported` in the discovery document.',
  },
  unsupported_media_type: {
    meaning: 'A form has to be `application/x-www-form-urlencoded` without `Content-Encoding`.',
    remedy: 'Send it so.',
  },
  unsupported_token_type: {
    meaning: 'Revocation: the value of `token_type_hint` is unknown.',
    remedy: 'Use `access_token` or `refresh_token`, or leave the hint out.',
  },
  use_dpop_nonce: {
    meaning: 'The DPoP proof needs a nonce of the service (`oauth.dpop_require_nonce`).',
    remedy:
      'Repeat the request with a proof that holds the value of the header `DPoP-Nonce`. Libraries do so by themselves.',
  },
};

/** Codes on forms that are shown again: what the person has to change. */
export const FORM_TEXTS: Readonly<Record<string, string>> = {
  csrf_expired: 'The form was left open too long; sending it again is enough.',
  exists: 'The username is taken.',
  invalid: 'The field holds something that cannot be used.',
  invalid_action: 'The button or method is not one that the form offers.',
  invalid_code: 'No device waits with this user code: it is mistyped, used or expired.',
  invalid_credentials: 'Wrong name or password. Nothing tells which, so that accounts cannot be found out.',
  overloaded: 'Too many password checks are waiting; the status is 503 with `Retry-After`.',
  password_compromised: 'The password is among the 10,000 most common ones.',
  password_mismatch: 'The two passwords differ.',
  password_too_long: 'The password is longer than `passwords.maximum_length` bytes.',
  password_too_weak:
    'The password is too short (`passwords.minimum_length`) or too easy (`passwords.minimum_complexity`).',
  rate_limit_exceeded: 'Too many attempts (`rate_limiting`).',
  'requester-banned': 'The policy forbids the address or the user agent (`policy.data.requester`).',
  required: 'The field is empty.',
  too_long: 'The field is longer than it may be.',
  unknown_provider: 'The form names a provider that does not exist.',
  'username-all-numeric': 'The username has digits only.',
  'username-banned': 'The policy forbids the username (`policy.data.registration.banned_usernames`).',
  'username-invalid-chars': 'The username has characters that are not allowed.',
  'username-not-allowed': 'The policy allows other usernames only (`policy.data.registration.allowed_usernames`).',
  'username-reserved': 'The username begins with `_`, or is `.`, `..` or a name in `policy.data.admin_users`.',
  'username-too-long': 'The full identifier would be longer than 255 bytes.',
};

/** Errors that a client gets by its redirect URI. */
export const AUTHORIZATION_TEXTS: Record<AuthorizationErrorCode, string> = {
  access_denied: 'The person declined, took too long, or may not grant an admin scope.',
  consent_required: '`prompt=none`, and the person would have to be asked for consent.',
  interaction_required: '`prompt=none`, and the person would have to do something else first.',
  invalid_request: 'A parameter is missing, malformed, contradictory or not supported; the description names it.',
  invalid_request_object:
    'The signed request in `request` is not accepted; the description says what is wrong with it.',
  invalid_request_uri:
    'The pushed request that `request_uri` names is unknown, expired, used, or was pushed by another client.',
  invalid_scope: 'The scope is malformed, or none of it can be granted to this client.',
  invalid_target: 'A `resource` was asked for (RFC 8707) that is not configured here.',
  login_required:
    '`prompt=none`, and nobody is signed in, too long ago for `max_age`, or another person than the one that `id_token_hint` or `claims` names.',
  registration_not_supported: 'The parameter `registration` is not supported.',
  request_uri_not_supported: 'The parameter `request_uri` is not supported.',
  server_error: 'The service failed; the log tells why.',
  temporarily_unavailable: 'The service was too busy. Send the person here again later.',
  unauthorized_client: 'The client is not registered for the grant type `authorization_code`.',
  unmet_authentication_requirements: '`claims` asks for an essential `acr` that nobody can reach here.',
  unsupported_response_type: '`response_type` has to be `code`.',
};
