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
      'Introspection: the bearer token is not the homeserver secret, or the client is public. Token ' +
      'endpoint: the user denied the device.',
    remedy:
      'Set the same `homeserver.secret` on both sides, or use a confidential client. A device restarts the ' +
      'flow only when the user asks for it.',
  },
  account_deactivated: {
    meaning: 'A chat client sent the correct password of a deactivated account.',
    remedy: 'Create another account; a deactivated account cannot be restored by this operation.',
  },
  account_locked: {
    meaning: 'A chat client sent the correct password or a token of an account that is locked by an administrator.',
    remedy: "Ask an administrator. Keep the client's stored data: its tokens work once the account is unlocked.",
  },
  account_not_usable: {
    meaning: 'The admin API was asked for a link to set the password of an account that is locked or deactivated.',
    remedy: 'Unlock or reactivate the account first.',
  },
  already_finished: {
    meaning: 'The admin API was asked to end a session that has already ended.',
    remedy: 'No action is needed.',
  },
  already_revoked: {
    meaning: 'The admin API was asked to revoke a registration token that is already revoked.',
    remedy: 'No action is needed.',
  },
  already_used: {
    meaning: 'The authorization request was already completed, and this browser no longer has the response.',
    remedy: 'Restart in the application.',
  },
  application_service_login: {
    meaning: 'A chat client requested the login type of application services.',
    remedy: 'Application services must use their own token at the homeserver.',
  },
  authorization_pending: {
    meaning: 'A device polls, and the user has not entered the user code and decided yet (RFC 8628 3.5).',
    remedy: 'Poll after the interval.',
  },
  batching_not_supported: {
    meaning: 'The body contains a list of GraphQL requests.',
    remedy: 'Send one request per operation.',
  },
  body_too_large: {
    meaning: 'The body is larger than `limits.max_body`.',
    remedy: 'Send a smaller body, or raise the limit.',
  },
  client_exists: {
    meaning: 'The admin API was asked to create a client with an ID that another client has.',
    remedy: 'Omit `client_id` to get a new one.',
  },
  client_has_no_secret: {
    meaning: 'The admin API was asked to rotate the secret of a client that authenticates without one.',
    remedy: 'Change `client_auth_method` first. Clients with keys rotate them on their own.',
  },
  client_is_builtin: {
    meaning: 'The client is part of the service, such as the admin area, and the admin API was asked to change it.',
    remedy: 'Use the settings of that part of the service.',
  },
  client_is_dynamic: {
    meaning: 'The admin API was asked to change a property that a dynamically registered client manages itself.',
    remedy: 'Create a managed client instead, or disable this one.',
  },
  client_is_static: {
    meaning:
      'The client is defined in the configuration, and a client tried to manage its registration or an ' +
      'administrator to delete it; the admin API returns 409.',
    remedy: 'Change its entry in `clients`, then reload (SIGHUP) or run `latchkey config sync`.',
  },
  cross_site_request: {
    meaning: 'A form was submitted from a page on another site (`Sec-Fetch-Site`, else `Origin`).',
    remedy:
      'Submit forms only from the pages of this service. Behind a proxy, set `http.public_base` to the URL ' +
      'that browsers use.',
  },
  csrf_mismatch: {
    meaning: 'The form field `csrf` does not match the cookie of this browser.',
    remedy: 'Reload the form: the session changed in another tab.',
  },
  csrf_missing: {
    meaning: 'The form field `csrf` or the matching cookie is missing.',
    remedy: 'Allow cookies. Programs must load the form first and send back both.',
  },
  device_code_not_found: {
    meaning: 'The device page was opened in a browser in which the user code was not entered.',
    remedy: 'Enter the code shown on the device at `/link`.',
  },
  device_code_used: {
    meaning: 'The user code of the device was already used in another session.',
    remedy: 'Request a new code on the device.',
  },
  email_in_use: {
    meaning: 'The admin API was asked to add an email address that belongs to an account.',
    remedy: 'Remove it from that account first, or use another one.',
  },
  embedding_refused: {
    meaning:
      'A page was requested as part of another page, for example in a frame (`Sec-Fetch-Dest`). The ' +
      'response has no body.',
    remedy: 'Open it as a top-level page.',
  },
  expired: {
    meaning: 'The object behind this URL has expired or ended.',
    remedy: 'Restart where the link came from.',
  },
  expired_token: {
    meaning: 'The device and user codes have expired (`oauth.device_code_ttl`).',
    remedy: 'Request new codes on the device.',
  },
  export_too_large: {
    meaning: 'The admin API was asked for an archive of the data of an account that does not fit into one (8 MiB).',
    remedy: 'Read the data with other operations.',
  },
  group_exists: {
    meaning: 'Another group has this name, or had it until it was renamed or deleted a moment ago.',
    remedy: 'Use another name, or retry when `pending` of the other group is null.',
  },
  group_in_use: {
    meaning: 'The admin API was asked to delete a group that clients are limited to.',
    remedy: 'Change `allowed_groups` of the clients first, or use `force=true`: then nobody matches the deleted group.',
  },
  group_is_configured: {
    meaning: 'The admin API was asked to rename or delete a group that `allowed_groups` of a configured client names.',
    remedy: 'Change the configuration and reload it. Otherwise, the group would come back.',
  },
  group_is_external: {
    meaning:
      'The admin API was asked to rename or delete a group that a sign-in provider reports, or to remove a member whom ' +
      'the provider reports.',
    remedy: 'Change the group at the provider. Users have the change with their next sign-in.',
  },
  group_is_pending: {
    meaning: 'The group has many members and is being renamed or deleted in the background.',
    remedy: 'Retry when `pending` of the group is null. If it stays, look for the job `rewrite-group-names`.',
  },
  headers_too_large: {
    meaning: 'The headers are larger than `limits.max_headers`, or there are more than 100.',
    remedy: 'Delete the cookies of this host, or raise the limit.',
  },
  homeserver_error: {
    meaning: 'The homeserver rejected a change requested by an administrator; nothing was changed.',
    remedy: 'See the log line `homeserver.refused` of the request; `latchkey doctor` checks the connection.',
  },
  homeserver_refused: {
    meaning:
      'The homeserver permanently rejected the device of a sign-in: wrong secret, disabled API, or another ' +
      'service at that URL. Nothing was stored. The log line `homeserver.refused` shows the cause.',
    remedy: 'Check the status and error code in that line, and the settings on both sides.',
  },
  homeserver_timeout: {
    meaning: 'The homeserver took too long to process a change requested by an administrator; nothing was changed.',
    remedy: 'Retry; if it persists, check the load of the homeserver. `latchkey doctor` checks the connection.',
  },
  homeserver_unavailable: {
    meaning:
      'The homeserver is unavailable, so clients cannot sign in on a new device. Nothing was changed. The ' +
      'log line `homeserver.failed` shows the cause.',
    remedy: 'Check that this machine can reach `homeserver.endpoint`, and that both sides have the same secret.',
  },
  insufficient_scope: {
    meaning: 'The access token is valid but lacks a scope; userinfo requires `openid`.',
    remedy: 'Request the scope named in the challenge.',
  },
  internal: {
    meaning: 'Internal error. The cause is only in the log, as event `error` with the same request ID.',
    remedy: 'Search the log for the request ID; report the error if it is a bug.',
  },
  invalid_body: {
    meaning:
      'A member of the body of an admin API request is missing, unknown or has the wrong type; `source` ' +
      'names it. The response contains `invalid_request`.',
    remedy: 'Follow the schema in `/api/spec.json`.',
  },
  invalid_client: {
    meaning: 'The client is unknown or disabled, its secret is wrong, or it used a different authentication method.',
    remedy: 'Compare the client ID, the secret and `client_auth_method` with the configuration.',
  },
  invalid_client_metadata: {
    meaning: 'The client metadata is contradictory, unsupported or not allowed.',
    remedy: 'The description names the member. `policy.data.client_registration` sets what is allowed.',
  },
  invalid_device_id: {
    meaning:
      'A chat client requested a device ID that is empty, longer than 255 characters, or contains control ' +
      'characters.',
    remedy: 'Send another device ID, or omit it to get a generated one.',
  },
  invalid_dpop_proof: {
    meaning:
      'The DPoP proof (RFC 9449) is required but missing, malformed, for another request or key, expired, ' +
      'or was used before. The description shows the cause.',
    remedy: 'Create a new proof for each request, with the key that the token, code or session is bound to.',
  },
  invalid_email: {
    meaning: 'The admin API received an invalid email address.',
    remedy: 'Send a single address, without a display name.',
  },
  invalid_grant: {
    meaning:
      'The authorization code or refresh token is unknown, expired, used, revoked or issued to another ' +
      'client, or the PKCE verifier or redirect URI does not match.',
    remedy: 'Redirect the user to the authorization endpoint.',
  },
  invalid_id: {
    meaning: 'The path of an admin API request contains an ID that is not a ULID.',
    remedy: 'Use IDs from responses of the API.',
  },
  invalid_parameter: {
    meaning: 'A list parameter of an admin API request is unknown, repeated or invalid; `source` names it.',
    remedy: 'Follow the schema in `/api/spec.json`.',
  },
  invalid_precondition: {
    meaning: 'The `If-Match` header of an admin API request contains something other than entity tags.',
    remedy: 'Send the `ETag` of the response that the change is based on.',
  },
  invalid_policy_data: {
    meaning:
      'The admin API received invalid policy data: an unknown key, a value of the wrong type, or a regular ' +
      'expression that RE2 does not support. `source` names the member.',
    remedy: 'Use the format of `policy.data` in the configuration.',
  },
  invalid_redirect_uri: {
    meaning:
      'The redirect URI is not registered for the client, so the error is shown as a page; or a client ' +
      'tried to register a redirect URI that is not allowed.',
    remedy:
      'Add the exact URI to `clients[].redirect_uris`: it is compared character by character. For dynamic ' +
      'registration, the description shows the problem.',
  },
  invalid_request: {
    meaning: 'A parameter is missing, repeated, contradictory or not supported.',
    remedy: 'The description names the parameter.',
  },
  invalid_request_object: {
    meaning: 'The signed authorization request was rejected.',
    remedy: 'The description names the problem: the signature, the lifetime, or the issuer or audience.',
  },
  invalid_request_uri: {
    meaning: 'The `request_uri` refers to a pushed request that is unknown, expired, used, or from another client.',
    remedy:
      'Users restart in the application. If it happens each time, the application must push each request ' +
      'immediately before the redirect, within 90 seconds.',
  },
  invalid_response_mode: {
    meaning: 'A sign-in provider responded with GET although its `response_mode` is `form_post`, or vice versa.',
    remedy: 'Set `response_mode` to what the provider uses, or remove it.',
  },
  invalid_scope: {
    meaning: 'The scope is unknown, not allowed for the client, or exceeds what was granted.',
    remedy: 'Request fewer scopes; compare with `clients[].scope`.',
  },
  invalid_software_statement: {
    meaning:
      'The `software_statement` of a client registration is not a JWT, has expired, or is not signed by ' +
      'its issuer.',
    remedy: 'Get a new statement, or omit `software_statement`.',
  },
  invalid_target: {
    meaning:
      'The requested `resource` (RFC 8707) is not configured or was not granted, or the scope contains ' +
      'nothing for it.',
    remedy: 'Request one of `oauth.resources`, or omit `resource`.',
  },
  invalid_token: {
    meaning: 'The access token is unknown, expired or revoked, or does not belong to a user.',
    remedy: 'Refresh the token, or sign in.',
  },
  invalid_username: {
    meaning: 'The admin API received an invalid username.',
    remedy: 'Choose another username.',
  },
  job_not_dead: {
    meaning: 'The admin API was asked to retry a job that is not dead.',
    remedy: 'Wait: the job is retried automatically.',
  },
  job_running: {
    meaning: 'The admin API was asked to delete a job that is running.',
    remedy: 'Retry when it has finished.',
  },
  job_superseded: {
    meaning: 'The admin API was asked to retry a job while an equivalent job is queued.',
    remedy: 'Delete this job; the other one does the same work.',
  },
  link_exists: {
    meaning: 'The admin API was asked to link an identity that is already linked to an account, possibly the same one.',
    remedy: 'Find the account with `filter[subject]`; delete that link first.',
  },
  login_refused: {
    meaning: 'A chat client sent a wrong username or password, or the policy bans the requester.',
    remedy: 'Retry with the correct credentials; `auth.refused` in the log shows the cause.',
  },
  mail_not_configured: {
    meaning: 'The admin API was asked to send an email, but the service sends none: `email.transport` is `blackhole`.',
    remedy: 'Configure `email.transport`, or hand over the link yourself.',
  },
  mails_delayed: {
    meaning:
      'Emails have been queued for ten minutes or more, or more than 100,000 are queued, so forms that ' +
      'send one are rejected.',
    remedy:
      'Check the log lines `job.retry` and the mail server, and start more workers. The forms work once ' +
      'the emails are sent.',
  },
  malformed_request: {
    meaning:
      'The request is malformed: bad encoding, a repeated field, a truncated body, or contradictory ' +
      'headers. The admin API returns `invalid_request`.',
    remedy: 'Fix the client that sent it.',
  },
  method_not_allowed: {
    meaning: 'The URL does not support this method.',
    remedy: 'Use a method listed in the header `Allow`.',
  },
  missing_code: {
    meaning: 'A sign-in provider responded with neither a code nor an error.',
    remedy: 'Check the registration of this service at the provider: it must use the authorization code flow.',
  },
  missing_parameters: {
    meaning: 'The callback URL of a sign-in provider was opened without a response from the provider.',
    remedy: 'Start at the sign-in page.',
  },
  missing_token: {
    meaning: 'A chat client signed out without a token.',
    remedy: 'Send the access token as `Authorization: Bearer ...`; tokens in the URL are ignored.',
  },
  no_email: {
    meaning: 'The admin API was asked to send an email to an account or for an invitation without an address.',
    remedy: 'Add an address, or hand over the link yourself.',
  },
  not_found: {
    meaning: 'The URL does not exist, or belongs to another browser.',
    remedy: 'Check the URL, and whether the listener serves that resource.',
  },
  not_json: {
    meaning:
      'The body is not JSON in UTF-8, or, for chat clients, has the wrong content type. The admin API ' +
      'returns `invalid_request`.',
    remedy: 'Fix the client that sent it.',
  },
  not_owner: {
    meaning: 'The admin API was asked to rotate the token of a personal session that belongs to another owner.',
    remedy: 'Use a token of its owner, or revoke the session and create a new one.',
  },
  not_revoked: {
    meaning: 'The admin API was asked to restore a registration token that is not revoked.',
    remedy: 'No action is needed.',
  },
  not_your_own_account: {
    meaning:
      'An administrator tried to lock or deactivate their own account, or to revoke their own admin right, through the ' +
      'admin API.',
    remedy: 'Ask another administrator, or use the command line.',
  },
  overloaded: {
    meaning: 'Too many requests or password checks (`limits`), or a lagging event loop.',
    remedy: 'Retry after `Retry-After` seconds. If it happens often, add processors or instances.',
  },
  password_auth_disabled: {
    meaning: 'The admin API was asked to set a password, but passwords are disabled.',
    remedy: 'Set `passwords.enabled`, or use a sign-in provider.',
  },
  precondition_failed: {
    meaning: 'Someone else changed the record after the version that `If-Match` names. `ETag` has the current version.',
    remedy: 'Read the record again, and repeat the change if it still applies.',
  },
  password_too_weak: {
    meaning: 'The admin API received a password that the password rules reject.',
    remedy: 'Send a stronger one, or `skip_password_check`.',
  },
  provider_disabled: {
    meaning:
      'The admin API was asked to check a sign-in provider that is disabled or was removed from the configuration.',
    remedy: 'Enable the provider in `upstream_oauth2.providers`.',
  },
  rate_limited: {
    meaning: 'Too many attempts (`rate_limiting`), or too much processor time for this caller (`limits.work`).',
    remedy: 'Retry after `Retry-After` seconds.',
  },
  registration_closed: {
    meaning:
      'Registration was disabled before this one was completed; or dynamic registration is disabled, or ' +
      'not allowed for this client.',
    remedy: 'Ask the operator to create an account, or to configure the client.',
  },
  registration_expired: {
    meaning: 'The registration was not completed within `account.registration_ttl`.',
    remedy: 'Restart the registration.',
  },
  registration_not_found: {
    meaning: 'The registration was not started in this browser.',
    remedy: 'Continue in the browser that started it, or restart.',
  },
  registration_outdated: {
    meaning:
      'The registration was started without an email address, which is now required; or the policy no ' +
      'longer allows its address.',
    remedy: 'Restart the registration.',
  },
  request_line_too_long: {
    meaning: 'The request line is longer than `limits.max_request_line`.',
    remedy: 'Send long authorization requests with POST, or raise the limit.',
  },
  request_timeout: {
    meaning: 'The request took longer than `limits.request_timeout` to arrive, or arrived too slowly.',
    remedy: 'Retry on a better connection.',
  },
  reserved_device_id: {
    meaning:
      'A client requested a device ID that the homeserver uses for another purpose, such as a cross-signing key.',
    remedy: 'Use another device ID, or none.',
  },
  scope_not_allowed: {
    meaning:
      'A personal token was requested with an unsupported scope, or with an admin scope for an account or ' +
      'owner without admin rights.',
    remedy: 'The detail names the scope. Grant admin rights first, with `userSetAdmin`, or request fewer scopes.',
  },
  session_not_valid: {
    meaning:
      'The admin API was asked to rotate the token of a personal session that is revoked, or whose account ' +
      'or owner is locked or deactivated.',
    remedy: 'Create a new session.',
  },
  session_revoked: {
    meaning:
      'The admin API was asked to revoke a personal session that is already revoked. The response contains ' +
      '`already_revoked`.',
    remedy: 'No action is needed.',
  },
  slow_down: {
    meaning: 'The device polled before its interval elapsed. The interval is now 5 seconds longer (RFC 8628 3.5).',
    remedy: 'Wait `interval` seconds between polls, and 5 more after each of these responses.',
  },
  sso_login_expired: {
    meaning: 'The user took longer to complete the single sign-on of a chat client than `compat.sso_login_ttl`.',
    remedy: 'Restart in the app.',
  },
  sso_login_not_found: {
    meaning: 'The URL of the single sign-on is wrong, or it was started more than a day ago.',
    remedy: 'Restart in the app.',
  },
  sso_login_used: {
    meaning: 'The single sign-on was already completed: the user went back to its page, or submitted the form twice.',
    remedy: 'If the app is not signed in, restart there.',
  },
  temporarily_unavailable: {
    meaning: 'The database is unavailable or overloaded, or the request took longer than `limits.handler_timeout`.',
    remedy:
      'Retry after `Retry-After` seconds. A write whose connection broke may have succeeded: check before ' +
      'repeating operations that are not idempotent.',
  },
  token_exists: {
    meaning: 'The admin API was asked to create a registration token that exists, possibly a revoked one.',
    remedy: 'Choose another value, or omit it to get a random one.',
  },
  token_not_valid: {
    meaning: 'The admin API was asked to send an invitation that is revoked, expired or used up.',
    remedy: 'Create another invitation. Restore a revoked one, or change when it expires.',
  },
  too_many_sessions: {
    meaning: 'The user has reached `experimental.session_limit.hard_limit`.',
    remedy: 'Sign out of a session at the URL in `info_uri`.',
  },
  unapproved_software_statement: {
    meaning: 'The issuer of the `software_statement` of a client registration is not trusted.',
    remedy: 'Add the issuer to `oauth.dynamic_registration.software_statement_issuers`, or omit `software_statement`.',
  },
  unauthorized_client: {
    meaning: 'The client is not registered for this grant type, or used a token of another client.',
    remedy: 'Add it to `clients[].grant_types`, or use a token of the client.',
  },
  unknown_token: {
    meaning: 'A chat client sent a token that is unknown, used or expired, or whose session has ended.',
    remedy: 'With `soft_logout`, the client can sign in on the same device; otherwise it must start with a new one.',
  },
  unsupported_grant_type: {
    meaning: 'The token endpoint does not support this `grant_type`.',
    remedy: 'See `grant_types_supported` in the discovery document.',
  },
  unsupported_login: {
    meaning: 'A chat client requested an unsupported login or identifier type.',
    remedy:
      'Use a type listed by `GET` of the same URL. Password login must be enabled (`passwords.enabled`, ' +
      '`compat.password_login`), as must login with email addresses (`account.login_with_email_allowed`).',
  },
  unsupported_media_type: {
    meaning: 'Forms must be `application/x-www-form-urlencoded` without `Content-Encoding`.',
    remedy: 'Use that content type.',
  },
  unsupported_token_type: {
    meaning: 'Revocation: unknown `token_type_hint`.',
    remedy: 'Use `access_token` or `refresh_token`, or omit the hint.',
  },
  upstream_already_used: {
    meaning: 'The sign-in with a provider was already completed, for example because the form was submitted twice.',
    remedy: 'Restart at the sign-in page.',
  },
  upstream_claim_missing: {
    meaning:
      'A sign-in provider omits an attribute required by the configuration, or returns an unusable value. ' +
      'The description names the attribute.',
    remedy:
      'Request more scopes, set `fetch_userinfo`, or correct the template; with the action `suggest` the ' +
      'attribute is optional.',
  },
  upstream_error: {
    meaning:
      'A sign-in provider rejected the request. The log line `upstream.failed` shows its error code and ' +
      'description; the page does not.',
    remedy: 'Check the registration of this service at the provider: redirect URI, scopes, and who may use it.',
  },
  upstream_invalid_response: {
    meaning:
      'The token response, ID token or userinfo response of a sign-in provider is invalid. The log line ' +
      '`upstream.failed` shows the cause.',
    remedy: 'Compare the settings of the provider with its documentation: issuer, algorithm, method, clock.',
  },
  upstream_issuer_mismatch: {
    meaning:
      'The response names a different issuer than the provider, or none although this provider always ' +
      'sends it (RFC 9207).',
    remedy: 'If it persists, this may be a mix-up attack: check both redirect URIs.',
  },
  upstream_link_not_found: {
    meaning: 'The sign-in was not started in this browser, or was not completed within half an hour.',
    remedy: 'Restart at the sign-in page, in one browser.',
  },
  upstream_no_subject: {
    meaning: 'The response of a sign-in provider does not identify the user.',
    remedy: 'Check the claims that it sends and the scopes that are requested.',
  },
  upstream_not_reauthenticated: {
    meaning:
      'The user had to confirm their identity, and the sign-in provider did not reauthenticate them. The ' +
      'log line `upstream.failed` shows whether `auth_time` was missing or old.',
    remedy:
      'Use another method, or sign out and in. If the provider asks for the password at every ' +
      '`prompt=login`, set `reauthentication: prompt` for it.',
  },
  upstream_provider_not_found: {
    meaning: 'A logout token was received for a sign-in provider that is not configured or is disabled.',
    remedy: 'Compare the id in the back-channel logout URI registered at the provider with `upstream_oauth2`.',
  },
  upstream_session_expired: {
    meaning: 'The response of a sign-in provider arrived more than ten minutes after the redirect.',
    remedy: 'Restart at the sign-in page.',
  },
  upstream_session_missing: {
    meaning:
      'The response of a sign-in provider arrived in a browser that did not start the sign-in: cookies are ' +
      'blocked, or the URL was copied from another browser.',
    remedy: 'Restart at the sign-in page, in one browser.',
  },
  upstream_session_used: {
    meaning: 'The response of a sign-in provider was received twice.',
    remedy: 'Restart at the sign-in page.',
  },
  upstream_unavailable: {
    meaning:
      'The metadata of a sign-in provider cannot be fetched, and there is no cached copy from the last ' +
      'day. The log line `upstream.failed` shows the cause.',
    remedy: 'Check that this machine can reach the provider. Other sign-in methods are not affected.',
  },
  upstream_user_exists: {
    meaning:
      'The username of a new user at a sign-in provider belongs to an existing account, and the ' +
      'configuration does not allow linking it, or the account is deactivated.',
    remedy: 'If the account is theirs, users sign in to it and link it. Set `on_conflict` to link by username alone.',
  },
  upstream_user_has_link: {
    meaning: 'As above with `on_conflict: set`, and the account is already linked to another account of that provider.',
    remedy: 'Users sign in with that one. `add` and `replace` behave differently.',
  },
  upstream_username_rejected: {
    meaning:
      'The username from a sign-in provider breaks the rules for usernames. The description contains the ' +
      'codes of the rules.',
    remedy: 'Correct the template of the username, or only suggest it.',
  },
  use_dpop_nonce: {
    meaning: 'The DPoP proof requires a server-provided nonce (`oauth.dpop_require_nonce`).',
    remedy: 'Retry with a proof that contains the value of the header `DPoP-Nonce`. Libraries do so automatically.',
  },
  user_deactivated: {
    meaning: 'A personal session was requested for a deactivated account.',
    remedy: 'Choose another account, or reactivate this one.',
  },
  user_exists: {
    meaning: 'The admin API was asked to create an account whose username is taken, possibly in another case.',
    remedy: 'Choose another username.',
  },
  username_reserved: {
    meaning: 'The homeserver does not accept the username of an account to be created with the admin API.',
    remedy:
      'Choose another username. If an earlier request for it timed out, the homeserver may have created ' +
      'the user: check there, and send `skip_homeserver_check`.',
  },
  username_taken: {
    meaning: 'The username from a sign-in provider was taken or forbidden during the registration.',
    remedy: 'Sign in to the account that has it, or change the username at the provider.',
  },
};

/** Codes of rejected forms: what the user has to change. */
export const FORM_TEXTS: Readonly<Record<string, string>> = {
  csrf_expired: 'The form was open for too long; submit it a second time.',
  'email-banned': 'The policy bans the address (`policy.data.emails.banned_addresses`).',
  'email-domain-banned': 'The policy bans the domain of the address (`policy.data.banned_domains`).',
  'email-domain-not-allowed': 'The policy only allows other domains (`policy.data.allowed_domains`).',
  'email-not-allowed': 'The policy only allows other addresses (`policy.data.emails.allowed_addresses`).',
  'email-unreachable':
    'The address has non-ASCII characters before the @, and the SMTP server does not support SMTPUTF8.',
  exists: 'The username is taken.',
  invalid: 'The value is invalid.',
  invalid_action: 'The form does not offer this button or method.',
  invalid_code:
    'The code is wrong, used or expired: a user code of a device, a code that verifies an email address ' +
    '(only the one in the latest email is valid), a code from an authenticator app, or a recovery code.',
  invalid_credentials:
    'Wrong username or password. The two cases are not distinguished, to prevent account enumeration.',
  passkey_failed:
    'The passkey was rejected: its challenge is used or expired, it is not registered for an account, or ' +
    'the signed data does not match. The log line `passkey.refused` shows the cause.',
  overloaded: 'Too many password checks are queued; the status is 503 with `Retry-After`.',
  password_compromised:
    'The password is one of the 10,000 most common ones, or known from leaks (`passwords.breach_check`).',
  password_mismatch: 'The two passwords differ.',
  password_too_long: 'The password is longer than `passwords.maximum_length` bytes.',
  password_too_weak:
    'The password is too short (`passwords.minimum_length`) or too weak (`passwords.minimum_complexity`).',
  captcha:
    'The CAPTCHA (`captcha`) was not solved, or could not be verified (`captcha.failed` in the log shows ' +
    'the cause).',
  rate_limit_exceeded: 'Too many attempts (`rate_limiting`).',
  homeserver_unavailable:
    'The homeserver did not confirm that the username is available (`homeserver.failed` in the log shows ' +
    'the cause).',
  other_email: 'The invitation is for another email address.',
  'requester-banned':
    'The policy bans the client address or the user agent (`policy.data.requester`). On the consent and ' +
    'device pages and at the end of a registration, this is a page with status 403.',
  required: 'The field is empty.',
  too_long: 'The value is too long.',
  too_many_attempts: 'The fifth wrong code ended the sign-in, which restarts with the password.',
  unknown_provider: 'The form names an unknown provider.',
  too_many_links: 'The account has the maximum of 20 linked accounts.',
  state_changed: 'The action is no longer possible: reload the page.',
  'username-all-numeric': 'The username consists of digits only.',
  'username-banned': 'The policy bans the username (`policy.data.registration.banned_usernames`).',
  'username-invalid-chars': 'The username contains characters that are not allowed.',
  'username-not-allowed': 'The policy only allows other usernames (`policy.data.registration.allowed_usernames`).',
  'username-identifier': 'The username looks like an identifier (a ULID or a UUID, in any case).',
  'username-reserved': 'The username begins with `_`, or is `.`, `..` or listed in `policy.data.admin_users`.',
  'username-too-long': 'The full user ID would exceed 255 bytes.',
};

/** Errors that a client receives at its redirect URI. */
export const AUTHORIZATION_TEXTS: Record<AuthorizationErrorCode, string> = {
  access_denied: 'The user declined, took too long, has too many sessions, may not grant an admin scope, or is banned.',
  consent_required: '`prompt=none`, and the user must consent.',
  interaction_required: '`prompt=none`, and another interaction with the user is required.',
  invalid_request: 'A parameter is missing, malformed, contradictory or not supported; the description names it.',
  invalid_request_object: 'The signed request in `request` is invalid; the description shows the cause.',
  invalid_request_uri:
    'The pushed request in `request_uri` is unknown, expired, used, or was pushed by another client.',
  invalid_scope: 'The scope is malformed, or cannot be granted to this client.',
  invalid_target: 'The requested `resource` (RFC 8707) is not configured.',
  login_required:
    '`prompt=none`, and the user is not signed in, signed in too long ago for `max_age`, or is not the ' +
    'user named in `id_token_hint` or `claims`.',
  registration_not_supported: 'The parameter `registration` is not supported.',
  request_uri_not_supported: 'The parameter `request_uri` is not supported.',
  server_error: 'Internal error; the cause is in the log.',
  temporarily_unavailable: 'The service is overloaded. Redirect the user here later.',
  unauthorized_client: 'The client is not registered for the grant type `authorization_code`.',
  unmet_authentication_requirements: '`claims` requests an essential `acr` that is not supported.',
  unsupported_response_type: '`response_type` must be `code`.',
};
