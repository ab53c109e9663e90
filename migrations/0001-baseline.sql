-- expand
-- The schema of the first release. Identifiers are ULIDs stored as uuid. Secrets are stored as SHA-256 (`*_hash`), as an
-- HMAC if they are short (`*_hmac`), and sealed if they must be readable (`*_sealed`). A time that is compared comes from
-- the process clock as a parameter, so its column has no default. See decision 0001.

-- State of the service

create table server_state (
  key text primary key,
  value bytea not null
);
comment on table server_state is 'facts fixed at first start: check value of the encryption key, protocol name';

create table secret_keys (
  purpose text primary key,
  key_sealed bytea not null,
  created_at timestamptz not null
);
comment on table secret_keys is 'keys drawn once that outlive a change of the encryption key, which seals them';

-- Policy data set by administrators, which is added to the configured data. The row with the highest id is in effect; the
-- last ten are kept.
create table policy_data (
  id uuid primary key,
  data jsonb not null,
  created_at timestamptz not null
);

-- Users

create table users (
  id uuid primary key,
  username text not null unique,
  -- Lowercase username. An imported name whose lowercase form was taken keeps its exact spelling here.
  username_key text not null unique,
  display_name text,
  locale text,
  can_request_admin boolean not null default false,
  created_at timestamptz not null,
  locked_at timestamptz,
  deactivated_at timestamptz,
  -- When a field of the scope `profile` last changed. Null: not since the account was created.
  updated_at timestamptz,
  -- Only imported users are guests.
  is_guest boolean not null default false,
  -- Set by administrators. Null: none.
  groups text[],
  claims jsonb,
  -- When the homeserver accepted the deactivation and the erasure. Null: not since the last deactivation.
  homeserver_deactivated_at timestamptz,
  homeserver_erased_at timestamptz
);
-- Imported names that differ from another name only in case: found by their exact spelling.
create index users_case_variants on users (lower(username collate "C")) where username_key <> lower(username collate "C");
create index users_admins on users (id) where can_request_admin;
create index users_groups on users using gin (groups) where groups is not null;

-- A trigger, so that every statement sets `updated_at`, including the statements of other versions.
create function note_profile_change() returns trigger language plpgsql as $$
begin
  if new.updated_at is not distinct from old.updated_at
    and (new.username, new.display_name, new.locale) is distinct from (old.username, old.display_name, old.locale)
  then
    new.updated_at := clock_timestamp();
  end if;
  return new;
end
$$;
create trigger users_updated_at before update of username, display_name, locale on users
  for each row execute function note_profile_change();

create table user_emails (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  email text not null,
  -- Lowercase address, used by comparisons.
  email_key text not null unique,
  created_at timestamptz not null,
  -- The user chose this address for clients. At most one per user; without any, clients get the oldest address.
  is_primary boolean not null default false
);
create index user_emails_user_id on user_emails (user_id, created_at);
comment on table user_emails is 'confirmed addresses only';

create table user_passwords (
  user_id uuid primary key references users (id) on delete cascade,
  id uuid not null unique,
  hash text not null,
  scheme_version integer not null,
  created_at timestamptz not null
);

-- Browser sessions

create table user_sessions (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  key_hash bytea not null,
  -- A key that reauthentication replaced stays valid for a short time, for requests in progress.
  previous_key_hash bytea,
  key_rotated_at timestamptz,
  -- Copy of the latest row of user_session_authentications, for the request path.
  authenticated_at timestamptz not null,
  acr text,
  amr text[] not null default '{}',
  failed_reauths integer not null default 0,
  user_agent text,
  created_at timestamptz not null,
  last_active_at timestamptz,
  last_active_ip inet,
  finished_at timestamptz,
  finish_reason text
);
create index user_sessions_live on user_sessions (user_id, last_active_at) where finished_at is null;
create index user_sessions_finished_at on user_sessions (finished_at) where finished_at is not null;
create index user_sessions_user on user_sessions (user_id, id);
create index user_sessions_live_of_user on user_sessions (user_id, id) where finished_at is null;

create table user_session_authentications (
  id uuid primary key,
  user_session_id uuid not null references user_sessions (id) on delete cascade,
  kind text not null,
  created_at timestamptz not null
);
create index user_session_authentications_session on user_session_authentications (user_session_id, created_at);

-- Clients, their sessions, grants and tokens

create table oauth2_clients (
  id uuid primary key,
  is_static boolean not null,
  -- Incremented by every change. Statements that rely on a cached client compare it.
  version integer not null default 1,
  client_secret_sealed bytea,
  registration_token_hash bytea unique,
  metadata_digest text unique,
  -- Names of RFC 7591. A localized field is a map from language tag to value.
  metadata jsonb not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  disabled_at timestamptz,
  -- URL of a client ID metadata document. The id is derived from it, so no statement searches for the URL.
  document_url text,
  document_fresh_until timestamptz
);
create index oauth2_clients_static on oauth2_clients (id) where is_static;

create table oauth2_consents (
  user_id uuid not null references users (id) on delete cascade,
  client_id uuid not null references oauth2_clients (id) on delete cascade,
  scope text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Resource servers (RFC 8707) that the client may use for the user.
  resources text[] not null default '{}',
  -- The default is for versions that do not set it.
  id uuid not null default gen_random_uuid() unique,
  primary key (user_id, client_id)
);
create index oauth2_consents_client_id on oauth2_consents (client_id);

create table oauth2_sessions (
  id uuid primary key,
  user_id uuid references users (id) on delete cascade,
  user_session_id uuid references user_sessions (id) on delete set null,
  client_id uuid not null references oauth2_clients (id) on delete cascade,
  parent_session_id uuid references oauth2_sessions (id) on delete cascade,
  scope text[] not null,
  resources text[] not null default '{}',
  device_id text,
  locale text,
  user_agent text,
  human_name text,
  auth_time timestamptz,
  acr text,
  amr text[] not null default '{}',
  dpop_jkt text,
  -- SHA-256 of the family tag that all refresh tokens of the session share.
  refresh_family bytea unique,
  created_at timestamptz not null,
  last_active_at timestamptz,
  last_active_ip inet,
  finished_at timestamptz,
  finish_reason text,
  -- Claims that the client requested individually and the user consented to: {"id_token": [...], "userinfo": [...]}.
  claims jsonb,
  -- Actor of a session that began with the token of another session (RFC 8693 4.1). Null: only the user acts.
  act jsonb
);
create unique index oauth2_sessions_live_device on oauth2_sessions (user_id, device_id)
  where finished_at is null and device_id is not null;
create index oauth2_sessions_user on oauth2_sessions (user_id, id) where user_id is not null;
create index oauth2_sessions_client on oauth2_sessions (client_id);
create index oauth2_sessions_user_session on oauth2_sessions (user_session_id) where user_session_id is not null;
create index oauth2_sessions_parent on oauth2_sessions (parent_session_id) where parent_session_id is not null;
create index oauth2_sessions_finished_at on oauth2_sessions (finished_at) where finished_at is not null;
-- The next four contain a condition on created_at or id that holds for every row. Only statements that repeat it can use
-- these indexes. Other statements read few of these rows, and a planner without statistics would read the whole index.
-- Live sessions of all users, oldest first, for those that have expired.
create index oauth2_sessions_live_of_users on oauth2_sessions (created_at, id)
  where finished_at is null and user_id is not null and created_at > '-infinity';
-- Pages and counts of one user's live sessions, however many have ended.
create index oauth2_sessions_live_of_user on oauth2_sessions (user_id, id)
  where finished_at is null and user_id is not null and created_at < 'infinity';
-- Clients that can act for a user, however many sessions each has.
create index oauth2_sessions_live_by_client on oauth2_sessions (user_id, client_id)
  where finished_at is null and user_id is not null and created_at > '-infinity';
-- Pages and counts of all live sessions, for administrators.
create index oauth2_sessions_live on oauth2_sessions (id)
  where finished_at is null and id > '00000000-0000-0000-0000-000000000000';

-- Returns whether all sessions that a session grew out of by token exchange are live and their clients enabled. A
-- function, because few sessions have a parent: inside a statement, the server would plan this search at every
-- execution, which takes a third of an introspection. In PL/pgSQL, which caches the plan.
create function session_ancestors_are_live(parent uuid) returns boolean language plpgsql stable as $$
begin
  return not exists (
    with recursive ancestor (id, parent_session_id, is_live) as (
      select p.id, p.parent_session_id, p.finished_at is null and c.disabled_at is null
        from oauth2_sessions p join oauth2_clients c on c.id = p.client_id
       where p.id = parent
      union all
      select p.id, p.parent_session_id, p.finished_at is null and c.disabled_at is null
        from ancestor a
        join oauth2_sessions p on p.id = a.parent_session_id
        join oauth2_clients c on c.id = p.client_id
    )
    select from ancestor where not is_live
  );
end
$$;

create table oauth2_authorization_grants (
  id uuid primary key,
  client_id uuid not null references oauth2_clients (id) on delete cascade,
  redirect_uri text not null,
  -- False if the request implied the only registered URI (token request, check 6).
  redirect_uri_sent boolean not null,
  scope text[] not null,
  resources text[] not null default '{}',
  response_mode text not null,
  state text,
  nonce text,
  code_challenge text,
  prompt text[] not null default '{}',
  max_age integer,
  login_hint text,
  locale text,
  acr_values text[] not null default '{}',
  claims jsonb,
  expected_user_id uuid,
  dpop_jkt text,
  -- The registration page was already offered for prompt=create.
  registration_offered boolean not null default false,
  requester_ip inet,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- Decision to be carried out by the page that posts the response (form_post modes).
  decision text,
  user_session_id uuid references user_sessions (id) on delete cascade,
  auth_time timestamptz,
  acr text,
  amr text[] not null default '{}',
  code_hash bytea unique,
  fulfilled_at timestamptz,
  oauth2_session_id uuid references oauth2_sessions (id) on delete cascade,
  exchanged_at timestamptz,
  cancelled_at timestamptz,
  cancel_reason text,
  -- One of acr_values is required, not only preferred.
  acr_essential boolean not null default false,
  -- User who was signed in when the request arrived, for the limit of unfinished requests per user.
  requester_user_id uuid,
  -- Expected pairwise subject, which does not identify the account. Null: any user, or expected_user_id.
  expected_subject text,
  -- Parameters of the request, kept only while they may be forwarded to an upstream provider.
  parameters jsonb
);
create index oauth2_authorization_grants_created_at on oauth2_authorization_grants (created_at);
create index oauth2_authorization_grants_client on oauth2_authorization_grants (client_id);
create index oauth2_authorization_grants_user_session on oauth2_authorization_grants (user_session_id)
  where user_session_id is not null;
create index oauth2_authorization_grants_session on oauth2_authorization_grants (oauth2_session_id)
  where oauth2_session_id is not null;
create index oauth2_authorization_grants_unused on oauth2_authorization_grants (requester_ip, expires_at)
  where exchanged_at is null;
create index oauth2_authorization_grants_unused_of_user on oauth2_authorization_grants (requester_user_id, expires_at)
  where exchanged_at is null and requester_user_id is not null;

-- Columns that change during the life of a token have no index, and pages keep free space: neither the first use of a
-- token nor a refresh touches an index of the rows that it marks. For the same reason, the references between tokens of
-- a session are not foreign keys. They are deleted with the session; one to a deleted row reads as absent.
create table oauth2_access_tokens (
  id uuid primary key,
  session_id uuid not null references oauth2_sessions (id) on delete cascade,
  token_hash bytea not null unique,
  scope text[] not null,
  resources text[] not null default '{}',
  created_at timestamptz not null,
  expires_at timestamptz not null,
  first_used_at timestamptz,
  revoked_at timestamptz,
  -- Thumbprint of the client's key that the token is bound to (RFC 9449).
  dpop_jkt text
) with (fillfactor = 85);
create index oauth2_access_tokens_session on oauth2_access_tokens (session_id);
create index oauth2_access_tokens_expires_at on oauth2_access_tokens (expires_at);

create table oauth2_refresh_tokens (
  id uuid primary key,
  session_id uuid not null references oauth2_sessions (id) on delete cascade,
  token_hash bytea not null unique,
  -- The access token issued with it; replaced when a lost response is repeated late.
  access_token_id uuid,
  -- The tokens before and after it in the session, both absent at first.
  predecessor_id uuid,
  successor_id uuid,
  -- Input of the derived successor; deleted when the successor is consumed or the session ends.
  rotation_salt bytea,
  replay_counter integer not null default 0,
  created_at timestamptz not null,
  first_used_at timestamptz,
  consumed_at timestamptz,
  revoked_at timestamptz
) with (fillfactor = 85);
create index oauth2_refresh_tokens_session on oauth2_refresh_tokens (session_id);

-- Device authorization grants (RFC 8628).
create table oauth2_device_code_grants (
  id uuid primary key,
  client_id uuid not null references oauth2_clients (id) on delete cascade,
  scope text[] not null,
  resources text[] not null default '{}',
  device_code_hash bytea not null unique,
  -- An HMAC, because a plain digest of a short code can be inverted.
  user_code_hmac bytea not null,
  -- Shown to the user for comparison.
  user_code_sealed bytea not null,
  -- Origin of the request, shown on the same page.
  ip inet,
  user_agent text,
  -- Address whose grants are counted; for IPv6 its /64.
  requester_ip inet not null,
  interval_seconds integer not null,
  polled_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- The browser session that decided, and its language.
  user_session_id uuid references user_sessions (id) on delete cascade,
  locale text,
  auth_time timestamptz,
  acr text,
  amr text[] not null default '{}',
  fulfilled_at timestamptz,
  rejected_at timestamptz,
  oauth2_session_id uuid references oauth2_sessions (id) on delete cascade,
  exchanged_at timestamptz
) with (fillfactor = 85);
create unique index oauth2_device_code_grants_user_code on oauth2_device_code_grants (user_code_hmac)
  where fulfilled_at is null and rejected_at is null;
create index oauth2_device_code_grants_unused on oauth2_device_code_grants (requester_ip, expires_at)
  where exchanged_at is null;
create index oauth2_device_code_grants_created_at on oauth2_device_code_grants (created_at);
create index oauth2_device_code_grants_client on oauth2_device_code_grants (client_id);
create index oauth2_device_code_grants_user_session on oauth2_device_code_grants (user_session_id)
  where user_session_id is not null;
create index oauth2_device_code_grants_session on oauth2_device_code_grants (oauth2_session_id)
  where oauth2_session_id is not null;

-- Pushed authorization requests (RFC 9126).
create table oauth2_pushed_requests (
  request_uri_hash bytea primary key,
  client_id uuid not null references oauth2_clients (id) on delete cascade,
  -- Values by name.
  parameters jsonb not null,
  -- The parameters came in a request object of the client (RFC 9101).
  signed boolean not null default false,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- The only authorization grant that it led to.
  authorization_grant_id uuid references oauth2_authorization_grants (id) on delete cascade,
  consumed_at timestamptz,
  -- Address whose unused requests are counted. Null: not counted.
  requester_ip inet
);
create index oauth2_pushed_requests_expires_at on oauth2_pushed_requests (expires_at);
create index oauth2_pushed_requests_client on oauth2_pushed_requests (client_id);
create index oauth2_pushed_requests_grant on oauth2_pushed_requests (authorization_grant_id)
  where authorization_grant_id is not null;
create index oauth2_pushed_requests_unused on oauth2_pushed_requests (requester_ip, expires_at)
  where consumed_at is null and requester_ip is not null;

-- The digest includes the kind and the owner of the value, so one index is enough.
create table replayed_values (
  value_hash bytea primary key,
  expires_at timestamptz not null
);
create index replayed_values_expires_at on replayed_values (expires_at);
comment on table replayed_values is 'ids of JWTs that were accepted and must not be accepted again';

-- Terms and password resets

create table user_terms (
  user_id uuid not null references users (id) on delete cascade,
  terms_uri text not null,
  accepted_at timestamptz not null,
  primary key (user_id, terms_uri)
);

create table user_recovery_sessions (
  id uuid primary key,
  -- The address that was entered. Whether an account has it is checked when the email is sent.
  email text not null,
  email_key text not null,
  locale text not null,
  ip inet,
  user_agent text,
  created_at timestamptz not null,
  -- The account was recovered, or newer requests replaced this one.
  consumed_at timestamptz
);
create index user_recovery_sessions_created_at on user_recovery_sessions (created_at);
create index user_recovery_sessions_open on user_recovery_sessions (email_key, created_at) where consumed_at is null;
comment on table user_recovery_sessions is 'requests for a new password, for addresses that may be unknown';

create table user_recovery_tickets (
  -- SHA-256 of the ticket in the email.
  ticket_hash bytea primary key,
  session_id uuid not null references user_recovery_sessions (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  -- A ticket is invalid once its account has removed the address.
  user_email_id uuid not null references user_emails (id) on delete cascade,
  -- The password when the ticket was created. Null: the account had none. Another password invalidates the ticket.
  password_id uuid,
  created_at timestamptz not null
);
create index user_recovery_tickets_session_id on user_recovery_tickets (session_id);
create index user_recovery_tickets_user_id on user_recovery_tickets (user_id);
create index user_recovery_tickets_user_email_id on user_recovery_tickets (user_email_id);

-- Upstream providers

-- As configured. Rows are never deleted, because links refer to them.
create table upstream_providers (
  id uuid primary key,
  issuer text,
  human_name text,
  client_id text not null,
  ui_order integer not null,
  created_at timestamptz not null,
  -- Disabled, or no longer in the configuration.
  disabled_at timestamptz,
  -- The used parts of the published document, shared by all instances.
  metadata jsonb,
  metadata_fetched_at timestamptz
);
create index upstream_providers_enabled on upstream_providers (id) where disabled_at is null;
comment on table upstream_providers is 'other services that people may sign in with';

create table upstream_links (
  id uuid primary key,
  provider_id uuid not null references upstream_providers on delete cascade,
  subject text not null,
  -- Null until the user has decided.
  user_id uuid references users on delete cascade,
  human_account_name text,
  created_at timestamptz not null,
  -- Last sign-in through the link. Null: none recorded.
  last_used_at timestamptz,
  -- Groups that the provider asserted. They belong to the identity, which may not belong to an account yet.
  groups text[],
  unique (provider_id, subject)
);
create index upstream_links_user on upstream_links (user_id, provider_id) where user_id is not null;
create index upstream_links_unowned on upstream_links (created_at) where user_id is null;
create index upstream_links_groups on upstream_links using gin (groups)
  where groups is not null and user_id is not null;
comment on table upstream_links is 'which account a subject of such a service belongs to';

create table upstream_authorizations (
  id uuid primary key,
  provider_id uuid not null references upstream_providers on delete cascade,
  state_hash bytea not null unique,
  -- Nonce and PKCE verifier.
  secrets_sealed bytea not null,
  created_at timestamptz not null,
  -- When the response arrived. Later responses are rejected.
  received_at timestamptz,
  completed_at timestamptz,
  link_id uuid references upstream_links on delete cascade,
  -- Claims that the provider returned.
  answer_sealed bytea,
  sid text,
  consumed_at timestamptz,
  -- The browser session that it opened or reauthenticated.
  user_session_id uuid references user_sessions on delete cascade,
  -- The provider's logout requests name the user by this claim. A template may have derived another link subject.
  sub text
);
create index upstream_authorizations_created_at on upstream_authorizations (created_at, id);
create index upstream_authorizations_link on upstream_authorizations (link_id) where link_id is not null;
create index upstream_authorizations_session on upstream_authorizations (user_session_id)
  where user_session_id is not null;
-- Sign-ins that a provider's logout request ends: it names the user, a session, or both.
create index upstream_authorizations_sub on upstream_authorizations (provider_id, sub) where sub is not null;
create index upstream_authorizations_sid on upstream_authorizations (provider_id, sid) where sid is not null;
comment on table upstream_authorizations is 'attempts to sign in through such a service';
comment on column upstream_authorizations.sub is 'sub of the ID token; null when there was none';

-- Chat protocol

-- The process that sends a user's changes to the homeserver: one at a time, so that the last change sent is the current
-- one.
create table homeserver_leases (
  user_id uuid primary key references users (id) on delete cascade,
  -- Drawn for each use, so that a process whose lease expired cannot extend another process's lease.
  owner uuid not null,
  expires_at timestamptz not null
);
create index homeserver_leases_expires_at on homeserver_leases (expires_at);

-- Sessions have the same columns as the other kinds of sessions.
create table compat_sessions (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  -- Null: imported without one.
  device_id text,
  -- The browser session that fulfilled the single sign-on.
  user_session_id uuid references user_sessions on delete set null,
  is_homeserver_admin boolean not null default false,
  human_name text,
  user_agent text,
  -- SHA-256 of the tag that all refresh tokens of the session share. Null: not refreshable, or its tokens are imported.
  refresh_family bytea unique,
  created_at timestamptz not null,
  last_active_at timestamptz,
  last_active_ip inet,
  finished_at timestamptz,
  finish_reason text
);
comment on table compat_sessions is 'sessions of chat clients that signed in through the compatibility layer';
create unique index compat_sessions_live_device on compat_sessions (user_id, device_id)
  where finished_at is null and device_id is not null;
create index compat_sessions_user on compat_sessions (user_id, id);
create index compat_sessions_live on compat_sessions (created_at, id) where finished_at is null;
create index compat_sessions_finished_at on compat_sessions (finished_at) where finished_at is not null;
create index compat_sessions_user_session on compat_sessions (user_session_id) where user_session_id is not null;
create index compat_sessions_live_of_user on compat_sessions (user_id, id) where finished_at is null;

create table compat_access_tokens (
  id uuid primary key,
  session_id uuid not null references compat_sessions on delete cascade,
  token_hash bytea not null unique,
  created_at timestamptz not null,
  -- Null: valid as long as its session.
  expires_at timestamptz,
  first_used_at timestamptz,
  revoked_at timestamptz
) with (fillfactor = 85);
create index compat_access_tokens_session on compat_access_tokens (session_id);

create table compat_refresh_tokens (
  id uuid primary key,
  session_id uuid not null references compat_sessions on delete cascade,
  token_hash bytea not null unique,
  access_token_id uuid,
  predecessor_id uuid,
  successor_id uuid,
  rotation_salt bytea,
  replay_counter integer not null default 0,
  created_at timestamptz not null,
  first_used_at timestamptz,
  consumed_at timestamptz,
  revoked_at timestamptz
) with (fillfactor = 85);
create index compat_refresh_tokens_session on compat_refresh_tokens (session_id);

-- Single sign-on of chat clients, from the redirect to the login token and its session.
create table compat_sso_logins (
  id uuid primary key,
  -- Where the browser delivers the token, as the client sent it.
  redirect_uri text not null,
  -- Upstream provider that the client proposed.
  upstream_provider_id uuid,
  -- Address whose unfinished logins are counted; for IPv6 its network.
  requester_ip inet not null,
  created_at timestamptz not null,
  -- Of a pending login.
  expires_at timestamptz not null,
  -- The browser session whose user consented.
  user_session_id uuid references user_sessions on delete cascade,
  fulfilled_at timestamptz,
  login_token_hash bytea unique,
  exchanged_at timestamptz,
  compat_session_id uuid references compat_sessions on delete cascade
);
comment on table compat_sso_logins is 'single sign-ons of chat clients, until their login token is exchanged';
create index compat_sso_logins_unused on compat_sso_logins (requester_ip, expires_at) where fulfilled_at is null;
create index compat_sso_logins_unexchanged on compat_sso_logins (created_at) where exchanged_at is null;
create index compat_sso_logins_user_session on compat_sso_logins (user_session_id) where user_session_id is not null;
create index compat_sso_logins_compat_session on compat_sso_logins (compat_session_id)
  where compat_session_id is not null;

-- Email verification and registration

create table user_email_authentications (
  id uuid primary key,
  email text not null,
  email_key text not null,
  -- Language of the emails.
  locale text not null,
  created_at timestamptz not null,
  -- Number of requested emails. Only the code of the last one is valid.
  mails integer not null,
  -- The email that has a code, and the code's expiry. The code is derived from both numbers with a key of the service.
  code_of_mail integer,
  code_expires_at timestamptz,
  -- Number of codes entered, right or wrong.
  tries integer not null default 0,
  completed_at timestamptz,
  -- The browser session that began adding the address to an account.
  user_session_id uuid references user_sessions (id) on delete cascade
);
create index user_email_authentications_created_at on user_email_authentications (created_at);
-- For the addresses of a deactivated account, whose attempts are deleted.
create index user_email_authentications_email_key on user_email_authentications (email_key);
create index user_email_authentications_session on user_email_authentications (user_session_id)
  where user_session_id is not null;
comment on table user_email_authentications is 'attempts to prove an e-mail address by a code';

create table user_registration_tokens (
  id uuid primary key,
  -- With a key that never changes, so that the entered token can be found.
  token_hmac bytea not null unique,
  -- Administrators can list the tokens.
  token_sealed bytea not null,
  -- Null: any number of registrations.
  usage_limit integer check (usage_limit > 0),
  times_used integer not null default 0 check (times_used <= usage_limit),
  created_at timestamptz not null,
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);
create index user_registration_tokens_created_at on user_registration_tokens (created_at, id);

-- Registrations of users until their last step is complete.
create table user_registrations (
  id uuid primary key,
  username text not null,
  display_name text,
  -- Null once the account has it.
  password_hash text,
  password_scheme_version integer,
  -- Where the user continues afterwards, as names and values of a query.
  post_auth_action jsonb,
  -- URL of the accepted terms.
  terms_uri text,
  locale text,
  ip inet,
  user_agent text,
  created_at timestamptz not null,
  completed_at timestamptz,
  registration_token_id uuid references user_registration_tokens (id) on delete set null,
  -- The registration began with a sign-in through an upstream provider.
  upstream_authorization_id uuid references upstream_authorizations (id) on delete cascade,
  -- The upstream provider determines the username.
  has_fixed_username boolean not null default false,
  email_authentication_id uuid references user_email_authentications (id) on delete set null,
  -- The upstream provider determines the email address.
  has_fixed_email boolean not null default false
);
create index user_registrations_created_at on user_registrations (created_at);
create index user_registrations_registration_token on user_registrations (registration_token_id)
  where registration_token_id is not null;
create index user_registrations_upstream_authorization on user_registrations (upstream_authorization_id)
  where upstream_authorization_id is not null;
create index user_registrations_email_authentication on user_registrations (email_authentication_id)
  where email_authentication_id is not null;

-- Data exports: written by a job, kept for a few days, and deleted with the row.
create table data_exports (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  -- Language of the request, for the email.
  language text,
  created_at timestamptz not null,
  -- A zip file. Null until it is complete.
  archive bytea,
  size_bytes integer,
  ready_at timestamptz,
  failed_at timestamptz,
  expires_at timestamptz not null
);
-- It is already compressed.
alter table data_exports alter column archive set storage external;
create index data_exports_user on data_exports (user_id, id);
create index data_exports_expires_at on data_exports (expires_at);

-- Third-party ids imported from a Synapse: phone numbers, and email addresses that no account can have. Not shown.
create table user_unsupported_threepids (
  user_id uuid not null references users (id) on delete cascade,
  medium text not null,
  address text not null,
  created_at timestamptz not null,
  primary key (user_id, medium, address)
);
comment on table user_unsupported_threepids is 'third-party ids that were imported and that nothing uses';

-- Personal sessions: created by administrators. The token of a program acts as a user until it is revoked or expires.

create table personal_sessions (
  id uuid primary key,
  -- The user or client that created it and is responsible for it.
  owner_user_id uuid references users (id) on delete cascade,
  owner_client_id uuid references oauth2_clients (id) on delete cascade,
  -- The user that it acts as.
  actor_user_id uuid not null references users (id) on delete cascade,
  human_name text not null,
  scope text[] not null,
  -- Named by the scope.
  device_id text,
  user_agent text,
  created_at timestamptz not null,
  -- Of its current token. Null: never.
  expires_at timestamptz,
  last_active_at timestamptz,
  last_active_ip inet,
  revoked_at timestamptz,
  constraint personal_sessions_one_owner check (num_nonnulls(owner_user_id, owner_client_id) = 1)
);
create index personal_sessions_owner_user on personal_sessions (owner_user_id, id) where owner_user_id is not null;
create index personal_sessions_owner_client on personal_sessions (owner_client_id, id) where owner_client_id is not null;
create index personal_sessions_actor on personal_sessions (actor_user_id, id);
create index personal_sessions_revoked_at on personal_sessions (revoked_at) where revoked_at is not null;
comment on table personal_sessions is 'standing permissions of programs to act as an account';

create table personal_access_tokens (
  id uuid primary key,
  session_id uuid not null references personal_sessions (id) on delete cascade,
  token_hash bytea not null unique,
  created_at timestamptz not null,
  expires_at timestamptz,
  -- Replaced by another token.
  revoked_at timestamptz
);
-- A session has one valid token, also if several processes replace it at the same time.
create unique index personal_access_tokens_current on personal_access_tokens (session_id) where revoked_at is null;
create index personal_access_tokens_session on personal_access_tokens (session_id);
create index personal_access_tokens_revoked_at on personal_access_tokens (revoked_at) where revoked_at is not null;
create index personal_access_tokens_expires_at on personal_access_tokens (expires_at) where expires_at is not null;

-- Second factors and passkeys

create table user_totp_secrets (
  id uuid primary key,
  -- One for each account.
  user_id uuid not null unique references users (id) on delete cascade,
  secret_sealed bytea not null,
  -- Time step of the newest accepted code. Codes up to this step are rejected.
  last_used_step integer not null,
  created_at timestamptz not null,
  -- Null: not since it was set up.
  last_used_at timestamptz
);
comment on table user_totp_secrets is 'secrets that accounts share with an authenticator app';

create table user_totp_enrolments (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  -- The browser session that began it; one for each.
  user_session_id uuid not null unique references user_sessions (id) on delete cascade,
  secret_sealed bytea not null,
  wrong_codes integer not null default 0,
  created_at timestamptz not null
);
create index user_totp_enrolments_user on user_totp_enrolments (user_id);
create index user_totp_enrolments_created_at on user_totp_enrolments (created_at);
comment on table user_totp_enrolments is 'authenticator apps that are being set up';

create table user_recovery_codes (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  code_hmac bytea not null,
  created_at timestamptz not null,
  used_at timestamptz,
  unique (user_id, code_hmac)
);
comment on table user_recovery_codes is 'one-time codes for people who lost their other second factor';

-- Sign-ins and reauthentications between their factors.
create table user_pending_logins (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  -- The session that is reauthenticated. Null: a session is opened.
  user_session_id uuid references user_sessions (id) on delete cascade,
  first_factor text not null,
  -- The verified password, which must be the account's until the end.
  password_id uuid,
  -- The consumed sign-in through an upstream provider.
  upstream_authorization_id uuid references upstream_authorizations (id) on delete cascade,
  upstream_amr text[] not null default '{}',
  post_auth_action jsonb,
  ip inet,
  user_agent text,
  failed_attempts integer not null default 0,
  -- Secret and recovery codes of a user who must enroll.
  setup_sealed bytea,
  enrolled_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  completed_at timestamptz,
  -- Upstream identity that the account gets with the last factor. Null: none.
  link_on_completion jsonb
);
create index user_pending_logins_user_id on user_pending_logins (user_id);
create index user_pending_logins_user_session_id on user_pending_logins (user_session_id)
  where user_session_id is not null;
create index user_pending_logins_upstream_authorization_id on user_pending_logins (upstream_authorization_id)
  where upstream_authorization_id is not null;
create index user_pending_logins_expires_at on user_pending_logins (expires_at);

-- Browsers that skip the second factor, by the account's nonce in a cookie.
create table user_trusted_browsers (
  nonce_hash bytea primary key,
  user_id uuid not null references users (id) on delete cascade,
  -- The account's password at that time. Another password ends the trust.
  password_id uuid,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index user_trusted_browsers_user_id on user_trusted_browsers (user_id);
create index user_trusted_browsers_expires_at on user_trusted_browsers (expires_at);

create table user_passkeys (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  -- Chosen by the authenticator.
  credential_id bytea not null unique,
  -- SubjectPublicKeyInfo in DER. The kind of key determines how signatures are verified.
  public_key bytea not null,
  -- Last reported by the authenticator. 0: it does not count.
  sign_count bigint not null,
  -- How a browser can reach the authenticator.
  transports text[] not null,
  -- The key also exists on other devices.
  backed_up boolean not null,
  -- Model of the authenticator, if reported.
  aaguid uuid,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  -- Whether the key may exist on several devices, as reported at creation. Null: added before this column existed, and
  -- not used since.
  backup_eligible boolean
);
create index user_passkeys_user on user_passkeys (user_id, id);
comment on table user_passkeys is 'keys by which people sign in without a password';

-- A row is deleted with the response or at its expiry after minutes, so its holders are not foreign keys.
create table webauthn_challenges (
  id uuid primary key,
  -- SHA-256.
  challenge_hash bytea not null unique,
  purpose text not null,
  -- Value of the browser's `login` cookie.
  login_id uuid,
  user_session_id uuid,
  expires_at timestamptz not null,
  constraint webauthn_challenges_one_holder check (num_nonnulls(login_id, user_session_id) = 1)
);
create index webauthn_challenges_expires_at on webauthn_challenges (expires_at);
comment on table webauthn_challenges is 'what authenticators of passkeys are asked to sign, once each';

-- Background jobs and processes

-- A job is inserted in the transaction of the change that needs it, and deleted when it is done.
create table queue_jobs (
  id uuid primary key,
  queue text not null,
  payload jsonb not null,
  -- One waiting job for each key.
  dedup_key text,
  -- Request id in the log.
  queued_by text,
  -- Number of attempts begun.
  attempt integer not null default 0,
  created_at timestamptz not null,
  -- When a worker may start it. While it runs: the end of the worker's lease.
  due_at timestamptz not null,
  -- The worker that runs it.
  worker uuid,
  failed_at timestamptz,
  failed_reason text
);
create unique index queue_jobs_waiting on queue_jobs (queue, dedup_key) where worker is null and failed_at is null;
create index queue_jobs_due on queue_jobs (due_at) where failed_at is null;
create index queue_jobs_failed_at on queue_jobs (failed_at) where failed_at is not null;
comment on table queue_jobs is 'background work that is waiting, running, or failed for good';

-- Live processes of the service.
create table queue_workers (
  id uuid primary key,
  -- Machine and process id, for messages.
  name text not null,
  version text not null,
  -- Runs background jobs.
  works boolean not null,
  -- Digest of the settings that must be equal in all processes.
  config_digest bytea not null,
  started_at timestamptz not null,
  last_seen_at timestamptz not null,
  -- Check values of its root keys, starting with the one that it seals with. A new key is used once all processes have
  -- it.
  root_keys bytea[],
  -- Private addresses that sent forwarding headers without being trusted, for `doctor`.
  untrusted_proxies text[] not null default '{}'
);
create index queue_workers_last_seen_at on queue_workers (last_seen_at);

-- Audit events and rate limits

create table audit_events (
  id uuid primary key,
  kind text not null,
  user_id uuid,
  client_id uuid,
  -- The session of the event, of any kind.
  session_id uuid,
  ip inet,
  user_agent text,
  detail jsonb,
  created_at timestamptz not null
);
create index audit_events_user on audit_events (user_id, created_at) where user_id is not null;
create index audit_events_created_at on audit_events (created_at);
create index audit_events_of_user on audit_events (user_id, id) where user_id is not null;
comment on table audit_events is 'security events, written in the transaction of the change they record';

-- Token buckets (GCRA). Unlogged: a crash only refills the buckets.
create unlogged table rate_limits (
  key text primary key,
  -- Theoretical arrival time. A bucket is full if it is in the past.
  tat timestamptz not null
);
create index rate_limits_tat on rate_limits (tat);

-- Consecutive wrong passwords for an account, or for a name without an account. Unlogged like the buckets.
create unlogged table login_failures (
  key text primary key,
  -- Times, the latest last. Emptied when the alert is sent.
  failed_at timestamptz[] not null,
  last_failed_at timestamptz not null
);
create index login_failures_last_failed_at on login_failures (last_failed_at);
