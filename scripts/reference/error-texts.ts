import type { ErrorCode } from '#platform/base/errors.ts';
import type { AuthorizationErrorCode } from '#protocol/oauth/authorization-response.ts';

/** Description of an error code in the manual. */
export interface ErrorText {
  /** What happened. */
  readonly meaning: string;
  /** What to do about it. */
  readonly remedy: string;
}

export const ERROR_TEXTS: Record<ErrorCode, ErrorText> = {
  access_denied: {
    meaning:
      'Introspection: the bearer token is not the homeserver secret, or a public client asks. Token endpoint: the person refused the device.',
    remedy:
      'Set the same `homeserver.secret` on both sides, or ask as a client that has a secret. A device begins again only when it is told to.',
  },
  account_deactivated: {
    meaning: 'A chat client gave the right password of an account that was deactivated.',
    remedy: 'Make another account; a deactivated one is not to be had again by this.',
  },
  account_locked: {
    meaning: 'A chat client gave the right password, or a token, of an account that an administrator has locked.',
    remedy: 'Ask an administrator. What the client stores stays good: after the lock its tokens work again.',
  },
  already_finished: {
    meaning: 'The admin API was asked to end a session that is over.',
    remedy: 'Nothing is to be done.',
  },
  already_revoked: {
    meaning: 'The admin API was asked to revoke a registration token that is revoked.',
    remedy: 'Nothing is to be done.',
  },
  already_used: {
    meaning: 'An authorization request was answered before, and this browser has not got the answer any more.',
    remedy: 'Start again in the application.',
  },
  application_service_login: {
    meaning: 'A chat client asked for the login of an application service.',
    remedy: 'Application services use their own token at the homeserver.',
  },
  authorization_pending: {
    meaning: 'A device polls, and nobody has entered its user code and decided yet (RFC 8628 3.5).',
    remedy: 'Poll again after the interval.',
  },
  batching_not_supported: {
    meaning: 'A list of GraphQL requests was sent in one body.',
    remedy: 'Send one request for each operation.',
  },
  body_too_large: {
    meaning: 'The body is larger than `limits.max_body` allows.',
    remedy: 'Send less, or raise the limit.',
  },
  client_is_static: {
    meaning:
      'An application tried to manage the registration of a client that stands in the configuration, or an administrator to delete it; the admin API answers 409.',
    remedy: 'Change its entry under `clients`, and reload (SIGHUP) or run `latchkey config sync`.',
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
  email_in_use: {
    meaning: 'The admin API was asked to add an address that an account has.',
    remedy: 'Take it from that account first, or use another one.',
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
  homeserver_error: {
    meaning: 'The homeserver did not do what an administrator asked for, and nothing was changed here.',
    remedy: 'See the line `homeserver.refused` of the request; `latchkey doctor` checks the connection.',
  },
  homeserver_refused: {
    meaning:
      'The homeserver refuses the device of a sign-in, for a reason that time does not mend: another secret, its interface is off, or something else answers at that address. Nothing was written. The line `homeserver.refused` says which.',
    remedy: 'Look at the status and error code in that line, and at the settings of both sides.',
  },
  homeserver_timeout: {
    meaning: 'The homeserver took too long for what an administrator asked for, and nothing was changed here.',
    remedy:
      'Repeat it; when that does not help, look at the load of the homeserver. `latchkey doctor` checks the connection.',
  },
  homeserver_unavailable: {
    meaning:
      'The homeserver does not answer, or not now: a client cannot sign in on a device that is not known there. Nothing was changed. The line `homeserver.failed` says why.',
    remedy: 'Look whether this machine reaches `homeserver.endpoint`, and whether both sides have the same secret.',
  },
  insufficient_scope: {
    meaning: 'The access token is good and lacks a scope; for userinfo that is `openid`.',
    remedy: 'Ask for the scope that the challenge names.',
  },
  internal: {
    meaning: 'The service failed. What happened is in the log only, as event `error` with the same request id.',
    remedy: 'Look the request id up in the log, and report it when it is a defect.',
  },
  invalid_body: {
    meaning:
      'A member of the body of a request to the admin API is missing, unknown or of another type; `source` names it. Its answer says `invalid_request`.',
    remedy: 'Send what `/api/spec.json` describes.',
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
  invalid_device_id: {
    meaning:
      'A chat client asked for a device id that is empty, longer than 255 characters, or holds control characters.',
    remedy: 'Send another one, or none: the service makes one.',
  },
  invalid_dpop_proof: {
    meaning:
      'The DPoP proof (RFC 9449) is missing where one is needed, malformed, made for another request or key, too old, or was used before. The description says which.',
    remedy: 'Make a new proof for each request, with the key that the token, code or session is bound to.',
  },
  invalid_email: {
    meaning: 'The admin API was given a text that is no e-mail address.',
    remedy: 'Send one address, without a name.',
  },
  invalid_grant: {
    meaning:
      'The authorization code or refresh token is unknown, expired, used, revoked or another client’s, or the PKCE verifier or redirect URI does not fit.',
    remedy: 'Send the person through the authorization endpoint again.',
  },
  invalid_id: {
    meaning: 'The path of a request to the admin API has no ULID where an id belongs.',
    remedy: 'Take ids from the answers of the API.',
  },
  invalid_parameter: {
    meaning: 'A parameter of a list of the admin API is unknown, given twice, or cannot be read; `source` names it.',
    remedy: 'Send what `/api/spec.json` describes.',
  },
  invalid_policy_data: {
    meaning:
      'The admin API was given data that the policy cannot use: an unknown key, a value of another kind, or a regular expression that RE2 does not have. `source` names the place.',
    remedy: 'Write it as below `policy.data` in the configuration.',
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
  invalid_response_mode: {
    meaning: 'A sign-in provider answered by GET where its `response_mode` is `form_post`, or the other way round.',
    remedy: 'Set `response_mode` of the provider to what it does, or leave it out.',
  },
  invalid_scope: {
    meaning: 'The scope is unknown, not allowed for the client, or more than was granted.',
    remedy: 'Ask for less; compare with `clients[].scope`.',
  },
  invalid_software_statement: {
    meaning:
      'An application registers itself with a `software_statement` that is no JWT, has expired, or is not signed by its issuer.',
    remedy: 'Get a new statement, or leave `software_statement` out.',
  },
  invalid_target: {
    meaning:
      'A `resource` was asked for (RFC 8707) that is not configured here, or was not granted, or nothing of the scope is for it.',
    remedy: 'Ask for one of `oauth.resources`, or leave `resource` out.',
  },
  invalid_token: {
    meaning: 'The access token is unknown, expired or revoked, or belongs to no person.',
    remedy: 'Refresh, or sign in again.',
  },
  invalid_username: {
    meaning: 'The admin API was given a name that no account may have.',
    remedy: 'Choose another one.',
  },
  job_not_dead: {
    meaning: 'The admin API was asked to let a job begin again that was not given up.',
    remedy: 'Wait: it is tried by itself.',
  },
  job_running: {
    meaning: 'The admin API was asked to delete a job that a process works on.',
    remedy: 'Try again when it has ended.',
  },
  job_superseded: {
    meaning: 'The admin API was asked to let a job begin again while another one waits that does the same.',
    remedy: 'Delete this one; the other does what is to be done.',
  },
  link_exists: {
    meaning:
      'The admin API was asked to give an account an identity at a provider that an account has, perhaps the same one.',
    remedy: 'Look with `filter[subject]` whose it is; delete that link first.',
  },
  login_refused: {
    meaning: 'A chat client gave a name or password that is wrong, or the policy bans the requester.',
    remedy: 'Try again with the right ones; `auth.refused` in the log says which it was.',
  },
  mails_delayed: {
    meaning:
      'Mails have waited for ten minutes or more, or over 100,000 of them wait, so a form that sends one is refused.',
    remedy:
      'Look at the lines `job.retry` and at the mail server, and start more workers. It works again once the mails are sent.',
  },
  malformed_request: {
    meaning:
      'The request cannot be read: bad encoding, a repeated field, a cut body, a contradictory head. The admin API says `invalid_request`.',
    remedy: 'Correct the program that sent it.',
  },
  method_not_allowed: {
    meaning: 'The address exists for other methods.',
    remedy: 'Use one of those in the header `Allow`.',
  },
  missing_code: {
    meaning: 'A sign-in provider answered without a code and without an error.',
    remedy: 'Look at the settings of this service at the provider: it has to use the authorization code flow.',
  },
  missing_parameters: {
    meaning: 'The callback address of a sign-in provider was opened without an answer of the provider.',
    remedy: 'Start at the sign-in page.',
  },
  missing_token: {
    meaning: 'A chat client signed out without saying who it is.',
    remedy: 'Send its access token as `Authorization: Bearer ...`; tokens in the address are not read.',
  },
  not_found: {
    meaning: 'There is nothing at this address, or it belongs to another browser.',
    remedy: 'Check the address, and whether the listener serves that resource.',
  },
  not_json: {
    meaning:
      'The body is not JSON in UTF-8, or for chat clients not of such a type. The admin API says `invalid_request`.',
    remedy: 'Correct the program that sent it.',
  },
  not_owner: {
    meaning: 'The admin API was asked for another token of a personal session that belongs to somebody else.',
    remedy: 'Ask with a token of its owner, or revoke the session and make one of your own.',
  },
  not_revoked: {
    meaning: 'The admin API was asked to take the revocation of a registration token back that is not revoked.',
    remedy: 'Nothing is to be done.',
  },
  overloaded: {
    meaning: 'More requests or password checks than `limits` allow, or an event loop that lags.',
    remedy: 'Repeat after `Retry-After` seconds. If it happens often: more processors or instances.',
  },
  password_auth_disabled: {
    meaning: 'The admin API was asked to set a password where nobody signs in with one.',
    remedy: 'Set `passwords.enabled`, or use a sign-in provider.',
  },
  password_too_weak: {
    meaning: 'The admin API was given a password that people may not choose.',
    remedy: 'Send a stronger one, or `skip_password_check`.',
  },
  rate_limited: {
    meaning: 'Too many attempts in a row (`rate_limiting`), or too much work for this caller (`limits.work`).',
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
  registration_outdated: {
    meaning:
      'A registration was begun without an e-mail address, and accounts need one by now; or the policy does not allow its address any more.',
    remedy: 'Start again.',
  },
  request_line_too_long: {
    meaning: 'The request line is longer than `limits.max_request_line`.',
    remedy: 'Send long authorization requests with POST, or raise the limit.',
  },
  request_timeout: {
    meaning: 'The request took longer than `limits.request_timeout` to arrive, or came too slowly.',
    remedy: 'Repeat it on a better connection.',
  },
  reserved_device_id: {
    meaning:
      'A client asks for a device id that the homeserver uses for something else, such as a key for cross-signing.',
    remedy: 'Ask for another device id, or for none.',
  },
  scope_not_allowed: {
    meaning:
      'A personal token was asked for with a scope that such tokens do not have, or with an admin scope for an account or an owner without that right.',
    remedy: 'The detail names the scope. Let the account administer first, with `userSetAdmin`, or ask for less.',
  },
  session_not_valid: {
    meaning:
      'The admin API was asked for another token of a personal session that is revoked, or whose account or owner is locked or deactivated.',
    remedy: 'Make a new session.',
  },
  session_revoked: {
    meaning: 'The admin API was asked to revoke a personal session that is revoked. Its answer says `already_revoked`.',
    remedy: 'Nothing is to be done.',
  },
  slow_down: {
    meaning: 'A device polled before its interval was over, which is 5 seconds longer from now on (RFC 8628 3.5).',
    remedy: 'Wait for `interval` seconds between polls, and 5 more after each of these answers.',
  },
  sso_login_expired: {
    meaning: 'A person took longer to complete the single sign-on of a chat client than `compat.sso_login_ttl`.',
    remedy: 'Start again in the app.',
  },
  sso_login_not_found: {
    meaning: 'The address of a single sign-on is wrong, or a day has passed since it began.',
    remedy: 'Start again in the app.',
  },
  sso_login_used: {
    meaning: 'A single sign-on was completed before: somebody went back to its page, or sent the form twice.',
    remedy: 'If the app is not signed in, start again there.',
  },
  temporarily_unavailable: {
    meaning: 'The database was away or busy, or the answer took longer than `limits.handler_timeout`.',
    remedy:
      'Repeat after `Retry-After` seconds. A write whose connection broke may have happened: look before repeating what is not repeatable.',
  },
  token_exists: {
    meaning: 'The admin API was asked to make a registration token that there is, perhaps a revoked one.',
    remedy: 'Choose another text, or leave it out: a random one is made.',
  },
  too_many_sessions: {
    meaning: 'The person has reached `experimental.session_limit.hard_limit`.',
    remedy: 'Sign out of a session at the address in `info_uri`.',
  },
  unapproved_software_statement: {
    meaning: 'An application registers itself with a `software_statement` whose issuer is not trusted.',
    remedy:
      'Add the issuer to `oauth.dynamic_registration.software_statement_issuers`, or leave `software_statement` out.',
  },
  unauthorized_client: {
    meaning: 'The client may not do this: a grant type it is not registered for, or a token of another client.',
    remedy: 'Add it to `clients[].grant_types`, or use the client’s own token.',
  },
  unknown_token: {
    meaning: 'A chat client came with a token that is unknown, used up or expired, or whose session has ended.',
    remedy: 'With `soft_logout` the client may sign in on the same device again; without it, it begins afresh.',
  },
  unsupported_grant_type: {
    meaning: 'The token endpoint does not offer this `grant_type`.',
    remedy: 'See `grant_types_supported` in the discovery document.',
  },
  unsupported_login: {
    meaning: 'A chat client asked for a type of login or of identifier that is not offered.',
    remedy:
      'Ask for what `GET` of the same address lists. Passwords have to be switched on (`passwords.enabled`, `compat.password_login`), e-mail addresses as well (`account.login_with_email_allowed`).',
  },
  unsupported_media_type: {
    meaning: 'A form has to be `application/x-www-form-urlencoded` without `Content-Encoding`.',
    remedy: 'Send it so.',
  },
  unsupported_token_type: {
    meaning: 'Revocation: the value of `token_type_hint` is unknown.',
    remedy: 'Use `access_token` or `refresh_token`, or leave the hint out.',
  },
  upstream_already_used: {
    meaning: 'A sign-in through a provider was finished before, for example by a form that was sent twice.',
    remedy: 'Start again at the sign-in page.',
  },
  upstream_claim_missing: {
    meaning:
      'A sign-in provider does not say what its entry in the configuration requires, or says it in a form that cannot be used. The description names the attribute.',
    remedy:
      'Ask for more scopes, set `fetch_userinfo`, or correct the template; with the action `suggest` people may do without.',
  },
  upstream_error: {
    meaning: 'A sign-in provider refused the request; the page shows its error code and description.',
    remedy:
      'What it says is about the client that this service is registered as there: its redirect URI, its scopes, who may use it.',
  },
  upstream_invalid_response: {
    meaning:
      'The token response, ID token or userinfo of a sign-in provider is not right. The line `upstream.failed` says what is wrong.',
    remedy: 'Compare the settings of the provider with its manual: issuer, algorithm, method, clock.',
  },
  upstream_issuer_mismatch: {
    meaning:
      'The answer names another issuer than the provider that was asked, or none although this one always does (RFC 9207).',
    remedy: 'If it happens again, somebody mixes up two providers: look at both redirect URIs.',
  },
  upstream_link_not_found: {
    meaning: 'There is no such sign-in in this browser, or it was not finished within half an hour.',
    remedy: 'Start again at the sign-in page, in one browser.',
  },
  upstream_no_subject: {
    meaning: 'A sign-in provider does not say who signed in.',
    remedy: 'Look at the claims that it sends, and at the scopes that are asked for.',
  },
  upstream_not_reauthenticated: {
    meaning:
      'Somebody had to confirm who they are, and a sign-in provider let them pass without asking again. The line `upstream.failed` says whether `auth_time` was missing or old.',
    remedy:
      'Use another method, or sign out and in again. Where the provider asks for the password at every `prompt=login`, set `reauthentication: prompt` for it.',
  },
  upstream_provider_not_found: {
    meaning: 'A logout token came for a sign-in provider that is not configured, or switched off.',
    remedy: 'Compare the id in the back-channel logout URI that is registered at the provider with `upstream_oauth2`.',
  },
  upstream_session_expired: {
    meaning: 'The answer of a sign-in provider came more than ten minutes after the person was sent there.',
    remedy: 'Start again at the sign-in page.',
  },
  upstream_session_missing: {
    meaning:
      'An answer of a sign-in provider came to a browser that did not ask for it: cookies are blocked, or the address was copied from another browser.',
    remedy: 'Start again at the sign-in page, in one browser.',
  },
  upstream_session_used: {
    meaning: 'An answer of a sign-in provider came a second time.',
    remedy: 'Start again at the sign-in page.',
  },
  upstream_unavailable: {
    meaning:
      'The metadata of a sign-in provider cannot be fetched, and there is no copy of the last day. The line `upstream.failed` says why.',
    remedy: 'Look whether this machine reaches the provider. Other ways to sign in are not affected.',
  },
  upstream_user_exists: {
    meaning:
      'The username that a sign-in provider gives somebody new belongs to an account here, and the configuration does not hand it over, or that account is deactivated.',
    remedy:
      'If the account is theirs, they sign in to it and link it. Setting `on_conflict` does that by the name alone.',
  },
  upstream_user_has_link: {
    meaning:
      'The same with `on_conflict` set to `set`, and the account is linked to another account of that provider already.',
    remedy: 'They sign in with that one. `add` and `replace` decide otherwise.',
  },
  upstream_username_rejected: {
    meaning:
      'The username that a sign-in provider decides breaks the rules for usernames. The description has the codes of the rules.',
    remedy: 'Correct the template of the username, or let it be suggested only.',
  },
  use_dpop_nonce: {
    meaning: 'The DPoP proof needs a nonce of the service (`oauth.dpop_require_nonce`).',
    remedy:
      'Repeat the request with a proof that holds the value of the header `DPoP-Nonce`. Libraries do so by themselves.',
  },
  user_deactivated: {
    meaning: 'A personal session was asked for that would act as a deactivated account.',
    remedy: 'Choose another account, or reactivate this one.',
  },
  user_exists: {
    meaning: 'The admin API was asked to make an account whose name is taken, in whatever case.',
    remedy: 'Choose another name.',
  },
  username_reserved: {
    meaning: 'The homeserver does not give the name away that the admin API was asked to make an account with.',
    remedy:
      'Choose another name. Where an earlier request for it was never answered, the homeserver may know the name from that one: look there, and send `skip_homeserver_check`.',
  },
  username_taken: {
    meaning:
      'The username that a sign-in provider decides was taken by somebody else, or forbidden, while a registration was under way.',
    remedy: 'Sign in to the account that has it, or let the provider give another name.',
  },
};

/** Codes of rejected forms: what the user has to change. */
export const FORM_TEXTS: Readonly<Record<string, string>> = {
  csrf_expired: 'The form was left open too long; sending it again is enough.',
  'email-banned': 'The policy forbids the address (`policy.data.emails.banned_addresses`).',
  'email-domain-banned': 'The policy forbids the domain of the address (`policy.data.banned_domains`).',
  'email-domain-not-allowed': 'The policy allows other domains only (`policy.data.allowed_domains`).',
  'email-not-allowed': 'The policy allows other addresses only (`policy.data.emails.allowed_addresses`).',
  'email-unreachable':
    'The address has characters other than ASCII before the @, and the SMTP server does not announce SMTPUTF8.',
  exists: 'The username is taken.',
  invalid: 'The field holds something that cannot be used.',
  invalid_action: 'The button or method is not one that the form offers.',
  invalid_code:
    'No device waits with this user code: it is mistyped, used or expired. Or the code that proves an e-mail address is wrong, expired, or not the one of the last mail. Or a code of an authenticator app, or a recovery code, is wrong or was used before.',
  invalid_credentials: 'Wrong name or password. Nothing tells which, so that accounts cannot be found out.',
  passkey_failed:
    'The passkey was not accepted: its challenge is used or too old, it is not one of an account here, or what it signed is not what was asked for. The line `passkey.refused` of the log says which.',
  overloaded: 'Too many password checks are waiting; the status is 503 with `Retry-After`.',
  password_compromised:
    'The password is among the 10,000 most common ones, or known from leaks (`passwords.breach_check`).',
  password_mismatch: 'The two passwords differ.',
  password_too_long: 'The password is longer than `passwords.maximum_length` bytes.',
  password_too_weak:
    'The password is too short (`passwords.minimum_length`) or too easy (`passwords.minimum_complexity`).',
  captcha:
    'The puzzle (`captcha`) was not solved, or its service gave no verdict (`captcha.failed` in the log says why).',
  rate_limit_exceeded: 'Too many attempts (`rate_limiting`).',
  homeserver_unavailable:
    'The homeserver does not say whether the username is free there (`homeserver.failed` in the log says why).',
  'requester-banned':
    'The policy forbids the address or the user agent (`policy.data.requester`); at consent, on the page of a device and at the end of a registration a page with status 403.',
  required: 'The field is empty.',
  too_long: 'The field is longer than it may be.',
  too_many_attempts: 'The fifth wrong code: the sign-in is over, and begins again with the password.',
  unknown_provider: 'The form names a provider that does not exist.',
  too_many_links: 'The account is linked to 20 accounts at sign-in providers.',
  state_changed: 'What the form was for is not possible any more: look at the page again.',
  'username-all-numeric': 'The username has digits only.',
  'username-banned': 'The policy forbids the username (`policy.data.registration.banned_usernames`).',
  'username-invalid-chars': 'The username has characters that are not allowed.',
  'username-not-allowed': 'The policy allows other usernames only (`policy.data.registration.allowed_usernames`).',
  'username-identifier': 'The username reads as an identifier (a ULID or a UUID, in either case).',
  'username-reserved': 'The username begins with `_`, or is `.`, `..` or a name in `policy.data.admin_users`.',
  'username-too-long': 'The full identifier would be longer than 255 bytes.',
};

/** Errors that a client receives at its redirect URI. */
export const AUTHORIZATION_TEXTS: Record<AuthorizationErrorCode, string> = {
  access_denied:
    'The person declined, took too long, has too many sessions, may not grant an admin scope, or is banned.',
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
