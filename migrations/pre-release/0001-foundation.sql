-- expand
-- Identifiers are ULIDs stored as uuid. Secrets are stored as SHA-256 only, readable ones sealed (columns *_sealed).
-- Times that are compared come from the process clock as parameters, so no column that is compared has a default.

create table server_state (
  key text primary key,
  value bytea not null
);
comment on table server_state is 'facts fixed at first start: check value of the encryption key, protocol name';

create table users (
  id uuid primary key,
  username text not null unique,
  -- lower-cased username; an imported name whose lower case was taken keeps its exact spelling here
  username_key text not null unique,
  display_name text,
  locale text,
  can_request_admin boolean not null default false,
  created_at timestamptz not null,
  locked_at timestamptz,
  deactivated_at timestamptz
);
-- imported names that another name equals but for case: those are found by their exact spelling only
create index users_case_variants on users (lower(username collate "C")) where username_key <> lower(username collate "C");

create index users_admins on users (id) where can_request_admin;

create table user_emails (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  email text not null,
  -- lower-cased address: what comparisons use
  email_key text not null unique,
  created_at timestamptz not null
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

create table user_sessions (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  key_hash bytea not null,
  -- a key that re-authentication replaced fits for a short while, for requests under way
  previous_key_hash bytea,
  key_rotated_at timestamptz,
  -- the latest row of user_session_authentications, repeated here for the request path
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

create table user_session_authentications (
  id uuid primary key,
  user_session_id uuid not null references user_sessions (id) on delete cascade,
  kind text not null,
  created_at timestamptz not null
);
create index user_session_authentications_session on user_session_authentications (user_session_id, created_at);

create table oauth2_clients (
  id uuid primary key,
  is_static boolean not null,
  -- raised by every change; statements that trust a cached client compare it
  version integer not null default 1,
  client_secret_sealed bytea,
  registration_token_hash bytea unique,
  metadata_digest text unique,
  -- RFC 7591 names; localised fields are a map from language tag to value
  metadata jsonb not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  disabled_at timestamptz
);
create index oauth2_clients_static on oauth2_clients (id) where is_static;

create table oauth2_consents (
  user_id uuid not null references users (id) on delete cascade,
  client_id uuid not null references oauth2_clients (id) on delete cascade,
  scope text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
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
  -- SHA-256 of the family tag that all refresh tokens of the session share
  refresh_family bytea unique,
  created_at timestamptz not null,
  last_active_at timestamptz,
  last_active_ip inet,
  finished_at timestamptz,
  finish_reason text
);
create unique index oauth2_sessions_live_device on oauth2_sessions (user_id, device_id)
  where finished_at is null and device_id is not null;
create index oauth2_sessions_user on oauth2_sessions (user_id, id) where user_id is not null;
create index oauth2_sessions_client on oauth2_sessions (client_id);
create index oauth2_sessions_user_session on oauth2_sessions (user_session_id) where user_session_id is not null;
create index oauth2_sessions_parent on oauth2_sessions (parent_session_id) where parent_session_id is not null;
create index oauth2_sessions_finished_at on oauth2_sessions (finished_at) where finished_at is not null;

create table oauth2_authorization_grants (
  id uuid primary key,
  client_id uuid not null references oauth2_clients (id) on delete cascade,
  redirect_uri text not null,
  -- false when the single registered address was implied (oauth token request check 6)
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
  -- the registration page was offered once for prompt=create
  registration_offered boolean not null default false,
  requester_ip inet,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- a decision waiting to be carried out by the page that posts the response (form_post modes)
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
  cancel_reason text
);
create index oauth2_authorization_grants_pending on oauth2_authorization_grants (requester_ip, expires_at)
  where fulfilled_at is null and cancelled_at is null;
create index oauth2_authorization_grants_created_at on oauth2_authorization_grants (created_at);
create index oauth2_authorization_grants_client on oauth2_authorization_grants (client_id);
create index oauth2_authorization_grants_user_session on oauth2_authorization_grants (user_session_id)
  where user_session_id is not null;
create index oauth2_authorization_grants_session on oauth2_authorization_grants (oauth2_session_id)
  where oauth2_session_id is not null;

-- What changes in the life of a token stands in no index, and pages keep room: then neither its first use nor a refresh
-- touches an index of the rows that it only marks. The pointers among the tokens of one session are no foreign keys for
-- the same reason; they die with the session, and one whose row was cleaned up reads as absent.
create table oauth2_access_tokens (
  id uuid primary key,
  session_id uuid not null references oauth2_sessions (id) on delete cascade,
  token_hash bytea not null unique,
  scope text[] not null,
  resources text[] not null default '{}',
  created_at timestamptz not null,
  expires_at timestamptz not null,
  first_used_at timestamptz,
  revoked_at timestamptz
) with (fillfactor = 85);
create index oauth2_access_tokens_session on oauth2_access_tokens (session_id);
create index oauth2_access_tokens_expires_at on oauth2_access_tokens (expires_at);

create table oauth2_refresh_tokens (
  id uuid primary key,
  session_id uuid not null references oauth2_sessions (id) on delete cascade,
  token_hash bytea not null unique,
  -- the access token issued together with it; replaced when a lost answer is repeated late
  access_token_id uuid,
  -- the tokens before and after it in the session, both absent at first
  predecessor_id uuid,
  successor_id uuid,
  -- input of the derived successor; erased when the successor is consumed or the session ends
  rotation_salt bytea,
  replay_counter integer not null default 0,
  created_at timestamptz not null,
  first_used_at timestamptz,
  consumed_at timestamptz,
  revoked_at timestamptz
) with (fillfactor = 85);
create index oauth2_refresh_tokens_session on oauth2_refresh_tokens (session_id);

create table audit_events (
  id uuid primary key,
  kind text not null,
  user_id uuid,
  client_id uuid,
  -- the session the event is about, of whatever kind
  session_id uuid,
  ip inet,
  user_agent text,
  detail jsonb,
  created_at timestamptz not null
);
create index audit_events_user on audit_events (user_id, created_at) where user_id is not null;
create index audit_events_created_at on audit_events (created_at);
comment on table audit_events is 'security events, written in the transaction of the change they record';

-- Token buckets (GCRA). Unlogged: losing them in a crash refills the buckets, nothing else.
create unlogged table rate_limits (
  key text primary key,
  -- theoretical arrival time; a bucket is full again when it lies in the past
  tat timestamptz not null
);
create index rate_limits_tat on rate_limits (tat);

-- Wrong passwords in a row for one account, or for one name that no account has. Unlogged like the buckets.
create unlogged table login_failures (
  key text primary key,
  -- when they came, the last of them at the end; emptied when the alarm was raised
  failed_at timestamptz[] not null,
  last_failed_at timestamptz not null
);
create index login_failures_last_failed_at on login_failures (last_failed_at);
