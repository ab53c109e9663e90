-- The schema after all migrations; written by the test that compares it (vitest -u), never by hand.

create table audit_events (
  id uuid not null,
  kind text not null,
  user_id uuid,
  client_id uuid,
  session_id uuid,
  ip inet,
  user_agent text,
  detail jsonb,
  created_at timestamp with time zone not null,
  constraint audit_events_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_events_created_at ON audit_events USING btree (created_at);
CREATE INDEX audit_events_user ON audit_events USING btree (user_id, created_at) WHERE (user_id IS NOT NULL);
comment on table audit_events is 'security events, written in the transaction of the change they record';

create unlogged table login_failures (
  key text not null,
  failed_at timestamp with time zone[] not null,
  last_failed_at timestamp with time zone not null,
  constraint login_failures_pkey PRIMARY KEY (key)
);
CREATE INDEX login_failures_last_failed_at ON login_failures USING btree (last_failed_at);

create table oauth2_access_tokens (
  id uuid not null,
  session_id uuid not null,
  token_hash bytea not null,
  scope text[] not null,
  resources text[] default '{}'::text[] not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  first_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  dpop_jkt text,
  constraint oauth2_access_tokens_pkey PRIMARY KEY (id),
  constraint oauth2_access_tokens_token_hash_key UNIQUE (token_hash),
  constraint oauth2_access_tokens_session_id_fkey FOREIGN KEY (session_id) REFERENCES oauth2_sessions(id) ON DELETE CASCADE
) with (fillfactor=85);
CREATE INDEX oauth2_access_tokens_expires_at ON oauth2_access_tokens USING btree (expires_at);
CREATE INDEX oauth2_access_tokens_session ON oauth2_access_tokens USING btree (session_id);

create table oauth2_authorization_grants (
  id uuid not null,
  client_id uuid not null,
  redirect_uri text not null,
  redirect_uri_sent boolean not null,
  scope text[] not null,
  resources text[] default '{}'::text[] not null,
  response_mode text not null,
  state text,
  nonce text,
  code_challenge text,
  prompt text[] default '{}'::text[] not null,
  max_age integer,
  login_hint text,
  locale text,
  acr_values text[] default '{}'::text[] not null,
  claims jsonb,
  expected_user_id uuid,
  dpop_jkt text,
  registration_offered boolean default false not null,
  requester_ip inet,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  decision text,
  user_session_id uuid,
  auth_time timestamp with time zone,
  acr text,
  amr text[] default '{}'::text[] not null,
  code_hash bytea,
  fulfilled_at timestamp with time zone,
  oauth2_session_id uuid,
  exchanged_at timestamp with time zone,
  cancelled_at timestamp with time zone,
  cancel_reason text,
  acr_essential boolean default false not null,
  requester_user_id uuid,
  expected_subject text,
  constraint oauth2_authorization_grants_pkey PRIMARY KEY (id),
  constraint oauth2_authorization_grants_code_hash_key UNIQUE (code_hash),
  constraint oauth2_authorization_grants_client_id_fkey FOREIGN KEY (client_id) REFERENCES oauth2_clients(id) ON DELETE CASCADE,
  constraint oauth2_authorization_grants_oauth2_session_id_fkey FOREIGN KEY (oauth2_session_id) REFERENCES oauth2_sessions(id) ON DELETE CASCADE,
  constraint oauth2_authorization_grants_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES user_sessions(id) ON DELETE CASCADE
);
CREATE INDEX oauth2_authorization_grants_client ON oauth2_authorization_grants USING btree (client_id);
CREATE INDEX oauth2_authorization_grants_created_at ON oauth2_authorization_grants USING btree (created_at);
CREATE INDEX oauth2_authorization_grants_session ON oauth2_authorization_grants USING btree (oauth2_session_id) WHERE (oauth2_session_id IS NOT NULL);
CREATE INDEX oauth2_authorization_grants_unused ON oauth2_authorization_grants USING btree (requester_ip, expires_at) WHERE (exchanged_at IS NULL);
CREATE INDEX oauth2_authorization_grants_unused_of_user ON oauth2_authorization_grants USING btree (requester_user_id, expires_at) WHERE ((exchanged_at IS NULL) AND (requester_user_id IS NOT NULL));
CREATE INDEX oauth2_authorization_grants_user_session ON oauth2_authorization_grants USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);

create table oauth2_clients (
  id uuid not null,
  is_static boolean not null,
  version integer default 1 not null,
  client_secret_sealed bytea,
  registration_token_hash bytea,
  metadata_digest text,
  metadata jsonb not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  disabled_at timestamp with time zone,
  constraint oauth2_clients_pkey PRIMARY KEY (id),
  constraint oauth2_clients_metadata_digest_key UNIQUE (metadata_digest),
  constraint oauth2_clients_registration_token_hash_key UNIQUE (registration_token_hash)
);
CREATE INDEX oauth2_clients_static ON oauth2_clients USING btree (id) WHERE is_static;

create table oauth2_consents (
  user_id uuid not null,
  client_id uuid not null,
  scope text[] not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  resources text[] default '{}'::text[] not null,
  constraint oauth2_consents_pkey PRIMARY KEY (user_id, client_id),
  constraint oauth2_consents_client_id_fkey FOREIGN KEY (client_id) REFERENCES oauth2_clients(id) ON DELETE CASCADE,
  constraint oauth2_consents_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX oauth2_consents_client_id ON oauth2_consents USING btree (client_id);

create table oauth2_device_code_grants (
  id uuid not null,
  client_id uuid not null,
  scope text[] not null,
  resources text[] default '{}'::text[] not null,
  device_code_hash bytea not null,
  user_code_hmac bytea not null,
  user_code_sealed bytea not null,
  ip inet,
  user_agent text,
  requester_ip inet not null,
  interval_seconds integer not null,
  polled_at timestamp with time zone,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  user_session_id uuid,
  locale text,
  auth_time timestamp with time zone,
  acr text,
  amr text[] default '{}'::text[] not null,
  fulfilled_at timestamp with time zone,
  rejected_at timestamp with time zone,
  oauth2_session_id uuid,
  exchanged_at timestamp with time zone,
  constraint oauth2_device_code_grants_pkey PRIMARY KEY (id),
  constraint oauth2_device_code_grants_device_code_hash_key UNIQUE (device_code_hash),
  constraint oauth2_device_code_grants_client_id_fkey FOREIGN KEY (client_id) REFERENCES oauth2_clients(id) ON DELETE CASCADE,
  constraint oauth2_device_code_grants_oauth2_session_id_fkey FOREIGN KEY (oauth2_session_id) REFERENCES oauth2_sessions(id) ON DELETE CASCADE,
  constraint oauth2_device_code_grants_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES user_sessions(id) ON DELETE CASCADE
) with (fillfactor=85);
CREATE INDEX oauth2_device_code_grants_client ON oauth2_device_code_grants USING btree (client_id);
CREATE INDEX oauth2_device_code_grants_created_at ON oauth2_device_code_grants USING btree (created_at);
CREATE INDEX oauth2_device_code_grants_session ON oauth2_device_code_grants USING btree (oauth2_session_id) WHERE (oauth2_session_id IS NOT NULL);
CREATE INDEX oauth2_device_code_grants_unused ON oauth2_device_code_grants USING btree (requester_ip, expires_at) WHERE (exchanged_at IS NULL);
CREATE UNIQUE INDEX oauth2_device_code_grants_user_code ON oauth2_device_code_grants USING btree (user_code_hmac) WHERE ((fulfilled_at IS NULL) AND (rejected_at IS NULL));
CREATE INDEX oauth2_device_code_grants_user_session ON oauth2_device_code_grants USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);

create table oauth2_pushed_requests (
  request_uri_hash bytea not null,
  client_id uuid not null,
  parameters jsonb not null,
  signed boolean default false not null,
  dpop_jkt text,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  authorization_grant_id uuid,
  consumed_at timestamp with time zone,
  constraint oauth2_pushed_requests_pkey PRIMARY KEY (request_uri_hash),
  constraint oauth2_pushed_requests_authorization_grant_id_fkey FOREIGN KEY (authorization_grant_id) REFERENCES oauth2_authorization_grants(id) ON DELETE CASCADE,
  constraint oauth2_pushed_requests_client_id_fkey FOREIGN KEY (client_id) REFERENCES oauth2_clients(id) ON DELETE CASCADE
);
CREATE INDEX oauth2_pushed_requests_client ON oauth2_pushed_requests USING btree (client_id);
CREATE INDEX oauth2_pushed_requests_expires_at ON oauth2_pushed_requests USING btree (expires_at);
CREATE INDEX oauth2_pushed_requests_grant ON oauth2_pushed_requests USING btree (authorization_grant_id) WHERE (authorization_grant_id IS NOT NULL);

create table oauth2_refresh_tokens (
  id uuid not null,
  session_id uuid not null,
  token_hash bytea not null,
  access_token_id uuid,
  predecessor_id uuid,
  successor_id uuid,
  rotation_salt bytea,
  replay_counter integer default 0 not null,
  created_at timestamp with time zone not null,
  first_used_at timestamp with time zone,
  consumed_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint oauth2_refresh_tokens_pkey PRIMARY KEY (id),
  constraint oauth2_refresh_tokens_token_hash_key UNIQUE (token_hash),
  constraint oauth2_refresh_tokens_session_id_fkey FOREIGN KEY (session_id) REFERENCES oauth2_sessions(id) ON DELETE CASCADE
) with (fillfactor=85);
CREATE INDEX oauth2_refresh_tokens_session ON oauth2_refresh_tokens USING btree (session_id);

create table oauth2_sessions (
  id uuid not null,
  user_id uuid,
  user_session_id uuid,
  client_id uuid not null,
  parent_session_id uuid,
  scope text[] not null,
  resources text[] default '{}'::text[] not null,
  device_id text,
  locale text,
  user_agent text,
  human_name text,
  auth_time timestamp with time zone,
  acr text,
  amr text[] default '{}'::text[] not null,
  dpop_jkt text,
  refresh_family bytea,
  created_at timestamp with time zone not null,
  last_active_at timestamp with time zone,
  last_active_ip inet,
  finished_at timestamp with time zone,
  finish_reason text,
  claims jsonb,
  constraint oauth2_sessions_pkey PRIMARY KEY (id),
  constraint oauth2_sessions_refresh_family_key UNIQUE (refresh_family),
  constraint oauth2_sessions_client_id_fkey FOREIGN KEY (client_id) REFERENCES oauth2_clients(id) ON DELETE CASCADE,
  constraint oauth2_sessions_parent_session_id_fkey FOREIGN KEY (parent_session_id) REFERENCES oauth2_sessions(id) ON DELETE CASCADE,
  constraint oauth2_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint oauth2_sessions_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES user_sessions(id) ON DELETE SET NULL
);
CREATE INDEX oauth2_sessions_client ON oauth2_sessions USING btree (client_id);
CREATE INDEX oauth2_sessions_finished_at ON oauth2_sessions USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE UNIQUE INDEX oauth2_sessions_live_device ON oauth2_sessions USING btree (user_id, device_id) WHERE ((finished_at IS NULL) AND (device_id IS NOT NULL));
CREATE INDEX oauth2_sessions_parent ON oauth2_sessions USING btree (parent_session_id) WHERE (parent_session_id IS NOT NULL);
CREATE INDEX oauth2_sessions_user ON oauth2_sessions USING btree (user_id, id) WHERE (user_id IS NOT NULL);
CREATE INDEX oauth2_sessions_user_session ON oauth2_sessions USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);

create table queue_jobs (
  id uuid not null,
  queue text not null,
  payload jsonb not null,
  dedup_key text,
  queued_by text,
  attempt integer default 0 not null,
  created_at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  worker uuid,
  failed_at timestamp with time zone,
  failed_reason text,
  constraint queue_jobs_pkey PRIMARY KEY (id)
);
CREATE INDEX queue_jobs_due ON queue_jobs USING btree (due_at) WHERE (failed_at IS NULL);
CREATE INDEX queue_jobs_failed_at ON queue_jobs USING btree (failed_at) WHERE (failed_at IS NOT NULL);
CREATE UNIQUE INDEX queue_jobs_waiting ON queue_jobs USING btree (queue, dedup_key) WHERE ((worker IS NULL) AND (failed_at IS NULL));
comment on table queue_jobs is 'background work that is waiting, running, or failed for good';

create unlogged table rate_limits (
  key text not null,
  tat timestamp with time zone not null,
  constraint rate_limits_pkey PRIMARY KEY (key)
);
CREATE INDEX rate_limits_tat ON rate_limits USING btree (tat);

create table replayed_values (
  value_hash bytea not null,
  expires_at timestamp with time zone not null,
  constraint replayed_values_pkey PRIMARY KEY (value_hash)
);
CREATE INDEX replayed_values_expires_at ON replayed_values USING btree (expires_at);
comment on table replayed_values is 'ids of JWTs that were accepted and must not be accepted again';

create table schema_migrations (
  version integer not null,
  name text not null,
  checksum text not null,
  kind text not null,
  min_reader integer not null,
  applied_at timestamp with time zone not null,
  duration_ms integer not null,
  constraint schema_migrations_pkey PRIMARY KEY (version)
);

create table secret_keys (
  purpose text not null,
  key_sealed bytea not null,
  created_at timestamp with time zone not null,
  constraint secret_keys_pkey PRIMARY KEY (purpose)
);
comment on table secret_keys is 'keys drawn once that outlive a change of the encryption key, which seals them';

create table server_state (
  key text not null,
  value bytea not null,
  constraint server_state_pkey PRIMARY KEY (key)
);
comment on table server_state is 'facts fixed at first start: check value of the encryption key, protocol name';

create table user_emails (
  id uuid not null,
  user_id uuid not null,
  email text not null,
  email_key text not null,
  created_at timestamp with time zone not null,
  constraint user_emails_pkey PRIMARY KEY (id),
  constraint user_emails_email_key_key UNIQUE (email_key),
  constraint user_emails_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX user_emails_user_id ON user_emails USING btree (user_id, created_at);
comment on table user_emails is 'confirmed addresses only';

create table user_passwords (
  user_id uuid not null,
  id uuid not null,
  hash text not null,
  scheme_version integer not null,
  created_at timestamp with time zone not null,
  constraint user_passwords_pkey PRIMARY KEY (user_id),
  constraint user_passwords_id_key UNIQUE (id),
  constraint user_passwords_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table user_registrations (
  id uuid not null,
  username text not null,
  display_name text,
  password_hash text,
  password_scheme_version integer,
  post_auth_action jsonb,
  terms_uri text,
  locale text,
  ip inet,
  user_agent text,
  created_at timestamp with time zone not null,
  completed_at timestamp with time zone,
  constraint user_registrations_pkey PRIMARY KEY (id)
);
CREATE INDEX user_registrations_created_at ON user_registrations USING btree (created_at);

create table user_session_authentications (
  id uuid not null,
  user_session_id uuid not null,
  kind text not null,
  created_at timestamp with time zone not null,
  constraint user_session_authentications_pkey PRIMARY KEY (id),
  constraint user_session_authentications_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES user_sessions(id) ON DELETE CASCADE
);
CREATE INDEX user_session_authentications_session ON user_session_authentications USING btree (user_session_id, created_at);

create table user_sessions (
  id uuid not null,
  user_id uuid not null,
  key_hash bytea not null,
  previous_key_hash bytea,
  key_rotated_at timestamp with time zone,
  authenticated_at timestamp with time zone not null,
  acr text,
  amr text[] default '{}'::text[] not null,
  failed_reauths integer default 0 not null,
  user_agent text,
  created_at timestamp with time zone not null,
  last_active_at timestamp with time zone,
  last_active_ip inet,
  finished_at timestamp with time zone,
  finish_reason text,
  constraint user_sessions_pkey PRIMARY KEY (id),
  constraint user_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX user_sessions_finished_at ON user_sessions USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX user_sessions_live ON user_sessions USING btree (user_id, last_active_at) WHERE (finished_at IS NULL);

create table user_terms (
  user_id uuid not null,
  terms_uri text not null,
  accepted_at timestamp with time zone not null,
  constraint user_terms_pkey PRIMARY KEY (user_id, terms_uri),
  constraint user_terms_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table users (
  id uuid not null,
  username text not null,
  username_key text not null,
  display_name text,
  locale text,
  can_request_admin boolean default false not null,
  created_at timestamp with time zone not null,
  locked_at timestamp with time zone,
  deactivated_at timestamp with time zone,
  updated_at timestamp with time zone,
  constraint users_pkey PRIMARY KEY (id),
  constraint users_username_key UNIQUE (username),
  constraint users_username_key_key UNIQUE (username_key)
);
CREATE INDEX users_admins ON users USING btree (id) WHERE can_request_admin;
CREATE INDEX users_case_variants ON users USING btree (lower((username COLLATE "C"))) WHERE (username_key <> lower((username COLLATE "C")));

-- also: function note_profile_change()

-- also: trigger users_updated_at on users
