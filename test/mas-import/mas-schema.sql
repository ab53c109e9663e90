-- The tables of Matrix Authentication Service 1.9 as far as an import reads them, for tests without it.
create table _sqlx_migrations (
  version bigint primary key, description text not null, installed_on timestamptz not null default now(),
  success boolean not null, checksum bytea not null, execution_time bigint not null);
insert into _sqlx_migrations (version, description, success, checksum, execution_time)
select version, 'made for tests', true, decode(repeat('00', 48), 'hex'), 1
  from unnest('{20220530084123, 20250924132713, 20260121103025, 20260720134722}'::bigint[]) version;

create table users (
  user_id uuid primary key, username text not null unique, created_at timestamptz not null, locked_at timestamptz,
  can_request_admin boolean not null default false, is_guest boolean not null default false,
  deactivated_at timestamptz);
create table user_emails (
  user_email_id uuid primary key, user_id uuid not null references users on delete cascade, email text not null,
  created_at timestamptz not null);
create table user_passwords (
  user_password_id uuid primary key, user_id uuid not null references users on delete cascade,
  hashed_password text not null, created_at timestamptz not null, version integer not null,
  upgraded_from_id uuid references user_passwords);
create table user_unsupported_third_party_ids (
  user_id uuid not null references users on delete cascade, medium text not null, address text not null,
  created_at timestamptz not null, primary key (user_id, medium, address));
create table user_terms (
  user_terms_id uuid primary key, user_id uuid not null references users on delete cascade, terms_url text not null,
  created_at timestamptz not null, unique (user_id, terms_url));
create table user_registration_tokens (
  user_registration_token_id uuid primary key, token text not null unique, usage_limit integer,
  times_used integer not null default 0, created_at timestamptz not null, last_used_at timestamptz,
  expires_at timestamptz, revoked_at timestamptz);

create table user_sessions (
  user_session_id uuid primary key, user_id uuid not null references users on delete cascade,
  created_at timestamptz not null, finished_at timestamptz, user_agent text, last_active_at timestamptz,
  last_active_ip inet);

create table upstream_oauth_providers (
  upstream_oauth_provider_id uuid primary key, issuer text, scope text not null default 'openid',
  client_id text not null, encrypted_client_secret text, token_endpoint_auth_method text not null default 'none',
  created_at timestamptz not null, human_name text, disabled_at timestamptz, ui_order integer not null default 0,
  on_backchannel_logout text not null default 'do_nothing');
create table upstream_oauth_links (
  upstream_oauth_link_id uuid primary key, upstream_oauth_provider_id uuid not null references upstream_oauth_providers,
  user_id uuid references users, subject text not null, created_at timestamptz not null, human_account_name text,
  unique (upstream_oauth_provider_id, subject));
create table upstream_oauth_authorization_sessions (
  upstream_oauth_authorization_session_id uuid primary key,
  upstream_oauth_provider_id uuid not null references upstream_oauth_providers,
  upstream_oauth_link_id uuid references upstream_oauth_links, state text not null unique,
  created_at timestamptz not null, completed_at timestamptz, consumed_at timestamptz, unlinked_at timestamptz,
  id_token_claims jsonb, user_session_id uuid references user_sessions);
create table user_session_authentications (
  user_session_authentication_id uuid primary key, user_session_id uuid not null references user_sessions,
  created_at timestamptz not null, user_password_id uuid references user_passwords,
  upstream_oauth_authorization_session_id uuid references upstream_oauth_authorization_sessions);

create table oauth2_clients (
  oauth2_client_id uuid primary key, metadata_digest text unique, encrypted_client_secret text,
  redirect_uris text[] not null default '{}', application_type text,
  grant_type_authorization_code boolean not null default false, grant_type_refresh_token boolean not null default false,
  grant_type_client_credentials boolean not null default false, grant_type_device_code boolean not null default false,
  client_name text, logo_uri text, client_uri text, policy_uri text, tos_uri text, jwks_uri text, jwks jsonb,
  id_token_signed_response_alg text, userinfo_signed_response_alg text, token_endpoint_auth_method text,
  token_endpoint_auth_signing_alg text, initiate_login_uri text, contacts text[] not null default '{}',
  created_at timestamptz, is_static boolean not null default false);
create table oauth2_sessions (
  oauth2_session_id uuid primary key, user_session_id uuid references user_sessions,
  oauth2_client_id uuid not null references oauth2_clients, created_at timestamptz not null, finished_at timestamptz,
  user_id uuid references users, scope_list text[] not null, last_active_at timestamptz, last_active_ip inet,
  user_agent text, human_name text);
create table oauth2_access_tokens (
  oauth2_access_token_id uuid primary key, oauth2_session_id uuid not null references oauth2_sessions,
  access_token text not null unique, created_at timestamptz not null, expires_at timestamptz, revoked_at timestamptz,
  first_used_at timestamptz);
create table oauth2_refresh_tokens (
  oauth2_refresh_token_id uuid primary key, oauth2_session_id uuid not null references oauth2_sessions,
  oauth2_access_token_id uuid references oauth2_access_tokens on delete set null, refresh_token text not null unique,
  created_at timestamptz not null, consumed_at timestamptz, revoked_at timestamptz,
  next_oauth2_refresh_token_id uuid references oauth2_refresh_tokens deferrable initially deferred);

create table compat_sessions (
  compat_session_id uuid primary key, user_id uuid not null references users, device_id text,
  created_at timestamptz not null, finished_at timestamptz, is_synapse_admin boolean not null default false,
  last_active_at timestamptz, last_active_ip inet, user_session_id uuid references user_sessions, user_agent text,
  human_name text);
create table compat_access_tokens (
  compat_access_token_id uuid primary key, compat_session_id uuid not null references compat_sessions,
  access_token text not null unique, created_at timestamptz not null, expires_at timestamptz);
create table compat_refresh_tokens (
  compat_refresh_token_id uuid primary key, compat_session_id uuid not null references compat_sessions,
  compat_access_token_id uuid not null references compat_access_tokens, refresh_token text not null unique,
  created_at timestamptz not null, consumed_at timestamptz);

create table personal_sessions (
  personal_session_id uuid primary key, owner_user_id uuid references users,
  owner_oauth2_client_id uuid references oauth2_clients, actor_user_id uuid not null references users,
  human_name text not null, scope_list text[] not null, created_at timestamptz not null, revoked_at timestamptz,
  last_active_at timestamptz, last_active_ip inet);
create table personal_access_tokens (
  personal_access_token_id uuid primary key, personal_session_id uuid not null references personal_sessions,
  access_token_sha256 bytea not null unique, created_at timestamptz not null, expires_at timestamptz,
  revoked_at timestamptz);

create table policy_data (policy_data_id uuid primary key, data jsonb not null, created_at timestamptz not null);
create type queue_job_status as enum ('available', 'running', 'completed', 'lost', 'failed', 'scheduled');
create table queue_jobs (
  queue_job_id uuid primary key, status queue_job_status not null default 'available', created_at timestamptz not null,
  queue_name text not null, payload jsonb not null default '{}', scheduled_at timestamptz);
create table queue_workers (
  queue_worker_id uuid primary key, registered_at timestamptz not null, last_seen_at timestamptz not null,
  shutdown_at timestamptz);
