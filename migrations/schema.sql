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
CREATE INDEX audit_events_from_address ON audit_events USING btree (ip, id) WHERE (ip IS NOT NULL);
CREATE INDEX audit_events_of_admin ON audit_events USING btree (((detail ->> 'admin'::text)), id) WHERE ((detail ->> 'admin'::text) IS NOT NULL);
CREATE INDEX audit_events_of_client ON audit_events USING btree (client_id, id) WHERE (client_id IS NOT NULL);
CREATE INDEX audit_events_of_kind ON audit_events USING btree (kind, id);
CREATE INDEX audit_events_of_user ON audit_events USING btree (user_id, id) WHERE (user_id IS NOT NULL);
CREATE INDEX audit_events_user ON audit_events USING btree (user_id, created_at) WHERE (user_id IS NOT NULL);
comment on table audit_events is 'security events, written in the transaction of the change they record';

create table compat_access_tokens (
  id uuid not null,
  session_id uuid not null,
  token_hash bytea not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  first_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint compat_access_tokens_pkey PRIMARY KEY (id),
  constraint compat_access_tokens_token_hash_key UNIQUE (token_hash),
  constraint compat_access_tokens_session_id_fkey FOREIGN KEY (session_id) REFERENCES compat_sessions(id) ON DELETE CASCADE
) with (fillfactor=85);
CREATE INDEX compat_access_tokens_session ON compat_access_tokens USING btree (session_id);

create table compat_refresh_tokens (
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
  constraint compat_refresh_tokens_pkey PRIMARY KEY (id),
  constraint compat_refresh_tokens_token_hash_key UNIQUE (token_hash),
  constraint compat_refresh_tokens_session_id_fkey FOREIGN KEY (session_id) REFERENCES compat_sessions(id) ON DELETE CASCADE
) with (fillfactor=85);
CREATE INDEX compat_refresh_tokens_session ON compat_refresh_tokens USING btree (session_id);

create table compat_sessions (
  id uuid not null,
  user_id uuid not null,
  device_id text,
  user_session_id uuid,
  is_homeserver_admin boolean default false not null,
  human_name text,
  user_agent text,
  refresh_family bytea,
  created_at timestamp with time zone not null,
  last_active_at timestamp with time zone,
  last_active_ip inet,
  finished_at timestamp with time zone,
  finish_reason text,
  constraint compat_sessions_pkey PRIMARY KEY (id),
  constraint compat_sessions_refresh_family_key UNIQUE (refresh_family),
  constraint compat_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint compat_sessions_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES user_sessions(id) ON DELETE SET NULL
);
CREATE INDEX compat_sessions_address ON compat_sessions USING btree (last_active_ip, id) WHERE (last_active_ip IS NOT NULL);
CREATE INDEX compat_sessions_finished_at ON compat_sessions USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX compat_sessions_live ON compat_sessions USING btree (created_at, id) WHERE (finished_at IS NULL);
CREATE UNIQUE INDEX compat_sessions_live_device ON compat_sessions USING btree (user_id, device_id) WHERE ((finished_at IS NULL) AND (device_id IS NOT NULL));
CREATE INDEX compat_sessions_live_of_user ON compat_sessions USING btree (user_id, id) WHERE (finished_at IS NULL);
CREATE INDEX compat_sessions_user ON compat_sessions USING btree (user_id, id);
CREATE INDEX compat_sessions_user_session ON compat_sessions USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);
comment on table compat_sessions is 'sessions of chat clients that signed in through the compatibility layer';

create table compat_sso_logins (
  id uuid not null,
  redirect_uri text not null,
  upstream_provider_id uuid,
  requester_ip inet not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  user_session_id uuid,
  fulfilled_at timestamp with time zone,
  login_token_hash bytea,
  exchanged_at timestamp with time zone,
  compat_session_id uuid,
  constraint compat_sso_logins_pkey PRIMARY KEY (id),
  constraint compat_sso_logins_login_token_hash_key UNIQUE (login_token_hash),
  constraint compat_sso_logins_compat_session_id_fkey FOREIGN KEY (compat_session_id) REFERENCES compat_sessions(id) ON DELETE CASCADE,
  constraint compat_sso_logins_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES user_sessions(id) ON DELETE CASCADE
);
CREATE INDEX compat_sso_logins_compat_session ON compat_sso_logins USING btree (compat_session_id) WHERE (compat_session_id IS NOT NULL);
CREATE INDEX compat_sso_logins_unexchanged ON compat_sso_logins USING btree (created_at) WHERE (exchanged_at IS NULL);
CREATE INDEX compat_sso_logins_unused ON compat_sso_logins USING btree (requester_ip, expires_at) WHERE (fulfilled_at IS NULL);
CREATE INDEX compat_sso_logins_user_session ON compat_sso_logins USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);
comment on table compat_sso_logins is 'single sign-ons of chat clients, until their login token is exchanged';

create table data_exports (
  id uuid not null,
  user_id uuid not null,
  language text,
  created_at timestamp with time zone not null,
  archive bytea storage external,
  size_bytes integer,
  ready_at timestamp with time zone,
  failed_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  constraint data_exports_pkey PRIMARY KEY (id),
  constraint data_exports_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX data_exports_expires_at ON data_exports USING btree (expires_at);
CREATE INDEX data_exports_user ON data_exports USING btree (user_id, id);

create table homeserver_leases (
  user_id uuid not null,
  owner uuid not null,
  expires_at timestamp with time zone not null,
  constraint homeserver_leases_pkey PRIMARY KEY (user_id),
  constraint homeserver_leases_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX homeserver_leases_expires_at ON homeserver_leases USING btree (expires_at);

create table imported_browser_sessions (
  user_session_id uuid not null,
  expires_at timestamp with time zone not null,
  constraint imported_browser_sessions_pkey PRIMARY KEY (user_session_id),
  constraint imported_browser_sessions_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES user_sessions(id) ON DELETE CASCADE
);
CREATE INDEX imported_browser_sessions_expires_at ON imported_browser_sessions USING btree (expires_at);

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
  parameters jsonb,
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
  document_url text,
  document_fresh_until timestamp with time zone,
  kind text,
  preset text,
  updated_at timestamp with time zone,
  secret_created_at timestamp with time zone,
  secret_last_used_at timestamp with time zone,
  former_secret_sealed bytea,
  former_secret_created_at timestamp with time zone,
  former_secret_last_used_at timestamp with time zone,
  former_secret_expires_at timestamp with time zone,
  allowed_groups uuid[],
  overrides jsonb,
  constraint oauth2_clients_pkey PRIMARY KEY (id),
  constraint oauth2_clients_metadata_digest_key UNIQUE (metadata_digest),
  constraint oauth2_clients_registration_token_hash_key UNIQUE (registration_token_hash),
  constraint oauth2_clients_kind_check CHECK ((kind = ANY (ARRAY['managed'::text, 'builtin'::text]))) NOT VALID
);
CREATE INDEX oauth2_clients_allowed_groups ON oauth2_clients USING gin (allowed_groups) WHERE (allowed_groups IS NOT NULL);
CREATE INDEX oauth2_clients_kind ON oauth2_clients USING btree (kind, id) WHERE (kind IS NOT NULL);
CREATE INDEX oauth2_clients_static ON oauth2_clients USING btree (id) WHERE is_static;

create table oauth2_consents (
  user_id uuid not null,
  client_id uuid not null,
  scope text[] not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  resources text[] default '{}'::text[] not null,
  id uuid default gen_random_uuid() not null,
  constraint oauth2_consents_pkey PRIMARY KEY (user_id, client_id),
  constraint oauth2_consents_id_key UNIQUE (id),
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
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  authorization_grant_id uuid,
  consumed_at timestamp with time zone,
  requester_ip inet,
  constraint oauth2_pushed_requests_pkey PRIMARY KEY (request_uri_hash),
  constraint oauth2_pushed_requests_authorization_grant_id_fkey FOREIGN KEY (authorization_grant_id) REFERENCES oauth2_authorization_grants(id) ON DELETE CASCADE,
  constraint oauth2_pushed_requests_client_id_fkey FOREIGN KEY (client_id) REFERENCES oauth2_clients(id) ON DELETE CASCADE
);
CREATE INDEX oauth2_pushed_requests_client ON oauth2_pushed_requests USING btree (client_id);
CREATE INDEX oauth2_pushed_requests_expires_at ON oauth2_pushed_requests USING btree (expires_at);
CREATE INDEX oauth2_pushed_requests_grant ON oauth2_pushed_requests USING btree (authorization_grant_id) WHERE (authorization_grant_id IS NOT NULL);
CREATE INDEX oauth2_pushed_requests_unused ON oauth2_pushed_requests USING btree (requester_ip, expires_at) WHERE ((consumed_at IS NULL) AND (requester_ip IS NOT NULL));

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
  act jsonb,
  constraint oauth2_sessions_pkey PRIMARY KEY (id),
  constraint oauth2_sessions_refresh_family_key UNIQUE (refresh_family),
  constraint oauth2_sessions_client_id_fkey FOREIGN KEY (client_id) REFERENCES oauth2_clients(id) ON DELETE CASCADE,
  constraint oauth2_sessions_parent_session_id_fkey FOREIGN KEY (parent_session_id) REFERENCES oauth2_sessions(id) ON DELETE CASCADE,
  constraint oauth2_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint oauth2_sessions_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES user_sessions(id) ON DELETE SET NULL
);
CREATE INDEX oauth2_sessions_address ON oauth2_sessions USING btree (last_active_ip, id) WHERE (last_active_ip IS NOT NULL);
CREATE INDEX oauth2_sessions_client ON oauth2_sessions USING btree (client_id);
CREATE INDEX oauth2_sessions_finished_at ON oauth2_sessions USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX oauth2_sessions_live ON oauth2_sessions USING btree (id) WHERE ((finished_at IS NULL) AND (id > '00000000-0000-0000-0000-000000000000'::uuid));
CREATE INDEX oauth2_sessions_live_by_client ON oauth2_sessions USING btree (user_id, client_id) WHERE ((finished_at IS NULL) AND (user_id IS NOT NULL) AND (created_at > '-infinity'::timestamp with time zone));
CREATE UNIQUE INDEX oauth2_sessions_live_device ON oauth2_sessions USING btree (user_id, device_id) WHERE ((finished_at IS NULL) AND (device_id IS NOT NULL));
CREATE INDEX oauth2_sessions_live_of_client ON oauth2_sessions USING btree (client_id, id) WHERE ((finished_at IS NULL) AND (client_id > '00000000-0000-0000-0000-000000000000'::uuid));
CREATE INDEX oauth2_sessions_live_of_user ON oauth2_sessions USING btree (user_id, id) WHERE ((finished_at IS NULL) AND (user_id IS NOT NULL) AND (created_at < 'infinity'::timestamp with time zone));
CREATE INDEX oauth2_sessions_live_of_users ON oauth2_sessions USING btree (created_at, id) WHERE ((finished_at IS NULL) AND (user_id IS NOT NULL) AND (created_at > '-infinity'::timestamp with time zone));
CREATE INDEX oauth2_sessions_parent ON oauth2_sessions USING btree (parent_session_id) WHERE (parent_session_id IS NOT NULL);
CREATE INDEX oauth2_sessions_user ON oauth2_sessions USING btree (user_id, id) WHERE (user_id IS NOT NULL);
CREATE INDEX oauth2_sessions_user_session ON oauth2_sessions USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);

create table personal_access_tokens (
  id uuid not null,
  session_id uuid not null,
  token_hash bytea not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint personal_access_tokens_pkey PRIMARY KEY (id),
  constraint personal_access_tokens_token_hash_key UNIQUE (token_hash),
  constraint personal_access_tokens_session_id_fkey FOREIGN KEY (session_id) REFERENCES personal_sessions(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX personal_access_tokens_current ON personal_access_tokens USING btree (session_id) WHERE (revoked_at IS NULL);
CREATE INDEX personal_access_tokens_expires_at ON personal_access_tokens USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX personal_access_tokens_revoked_at ON personal_access_tokens USING btree (revoked_at) WHERE (revoked_at IS NOT NULL);
CREATE INDEX personal_access_tokens_session ON personal_access_tokens USING btree (session_id);

create table personal_sessions (
  id uuid not null,
  owner_user_id uuid,
  owner_client_id uuid,
  actor_user_id uuid not null,
  human_name text not null,
  scope text[] not null,
  device_id text,
  user_agent text,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  last_active_at timestamp with time zone,
  last_active_ip inet,
  revoked_at timestamp with time zone,
  constraint personal_sessions_pkey PRIMARY KEY (id),
  constraint personal_sessions_one_owner CHECK ((num_nonnulls(owner_user_id, owner_client_id) = 1)),
  constraint personal_sessions_actor_user_id_fkey FOREIGN KEY (actor_user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint personal_sessions_owner_client_id_fkey FOREIGN KEY (owner_client_id) REFERENCES oauth2_clients(id) ON DELETE CASCADE,
  constraint personal_sessions_owner_user_id_fkey FOREIGN KEY (owner_user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX personal_sessions_actor ON personal_sessions USING btree (actor_user_id, id);
CREATE INDEX personal_sessions_owner_client ON personal_sessions USING btree (owner_client_id, id) WHERE (owner_client_id IS NOT NULL);
CREATE INDEX personal_sessions_owner_user ON personal_sessions USING btree (owner_user_id, id) WHERE (owner_user_id IS NOT NULL);
CREATE INDEX personal_sessions_revoked_at ON personal_sessions USING btree (revoked_at) WHERE (revoked_at IS NOT NULL);
comment on table personal_sessions is 'standing permissions of programs to act as an account';

create table policy_data (
  id uuid not null,
  data jsonb not null,
  created_at timestamp with time zone not null,
  constraint policy_data_pkey PRIMARY KEY (id)
);

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

create table queue_workers (
  id uuid not null,
  name text not null,
  version text not null,
  works boolean not null,
  config_digest bytea not null,
  started_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  root_keys bytea[],
  untrusted_proxies text[] default '{}'::text[] not null,
  constraint queue_workers_pkey PRIMARY KEY (id)
);
CREATE INDEX queue_workers_last_seen_at ON queue_workers USING btree (last_seen_at);

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

create table statistics_buckets (
  metric text not null,
  step text not null,
  client_id uuid not null,
  started_at timestamp with time zone not null,
  value bigint not null,
  constraint statistics_buckets_pkey PRIMARY KEY (metric, step, client_id, started_at)
);
CREATE INDEX statistics_buckets_client_hours ON statistics_buckets USING btree (started_at) WHERE ((step = 'hour'::text) AND (client_id <> '00000000-0000-0000-0000-000000000000'::uuid));
CREATE INDEX statistics_buckets_started_at ON statistics_buckets USING btree (started_at);
comment on table statistics_buckets is 'figures by hour and day, from events and counters';

create table statistics_counters (
  hour timestamp with time zone not null,
  name text not null,
  client_id uuid not null,
  value bigint not null,
  constraint statistics_counters_pkey PRIMARY KEY (hour, name, client_id)
);
comment on table statistics_counters is 'counts by hour of what leaves no event';

create table statistics_progress (
  name text not null,
  rolled_up_to timestamp with time zone not null,
  constraint statistics_progress_pkey PRIMARY KEY (name)
);
comment on table statistics_progress is 'the hour up to which figures are complete';

create table upstream_authorizations (
  id uuid not null,
  provider_id uuid not null,
  state_hash bytea not null,
  secrets_sealed bytea not null,
  created_at timestamp with time zone not null,
  received_at timestamp with time zone,
  completed_at timestamp with time zone,
  link_id uuid,
  answer_sealed bytea,
  sid text,
  consumed_at timestamp with time zone,
  user_session_id uuid,
  sub text,
  constraint upstream_authorizations_pkey PRIMARY KEY (id),
  constraint upstream_authorizations_state_hash_key UNIQUE (state_hash),
  constraint upstream_authorizations_link_id_fkey FOREIGN KEY (link_id) REFERENCES upstream_links(id) ON DELETE CASCADE,
  constraint upstream_authorizations_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES upstream_providers(id) ON DELETE CASCADE,
  constraint upstream_authorizations_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES user_sessions(id) ON DELETE CASCADE
);
CREATE INDEX upstream_authorizations_created_at ON upstream_authorizations USING btree (created_at, id);
CREATE INDEX upstream_authorizations_link ON upstream_authorizations USING btree (link_id) WHERE (link_id IS NOT NULL);
CREATE INDEX upstream_authorizations_session ON upstream_authorizations USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);
CREATE INDEX upstream_authorizations_sid ON upstream_authorizations USING btree (provider_id, sid) WHERE (sid IS NOT NULL);
CREATE INDEX upstream_authorizations_sub ON upstream_authorizations USING btree (provider_id, sub) WHERE (sub IS NOT NULL);
comment on table upstream_authorizations is 'attempts to sign in through such a service';
comment on column upstream_authorizations.sub is 'sub of the ID token; null when there was none';

create table upstream_links (
  id uuid not null,
  provider_id uuid not null,
  subject text not null,
  user_id uuid,
  human_account_name text,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  groups text[],
  constraint upstream_links_pkey PRIMARY KEY (id),
  constraint upstream_links_provider_id_subject_key UNIQUE (provider_id, subject),
  constraint upstream_links_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES upstream_providers(id) ON DELETE CASCADE,
  constraint upstream_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX upstream_links_groups ON upstream_links USING gin (groups) WHERE ((groups IS NOT NULL) AND (user_id IS NOT NULL));
CREATE INDEX upstream_links_provider ON upstream_links USING btree (provider_id, id) INCLUDE (user_id);
CREATE INDEX upstream_links_unowned ON upstream_links USING btree (created_at) WHERE (user_id IS NULL);
CREATE INDEX upstream_links_user ON upstream_links USING btree (user_id, provider_id) WHERE (user_id IS NOT NULL);
comment on table upstream_links is 'which account a subject of such a service belongs to';

create table upstream_providers (
  id uuid not null,
  issuer text,
  human_name text,
  client_id text not null,
  ui_order integer not null,
  created_at timestamp with time zone not null,
  disabled_at timestamp with time zone,
  metadata jsonb,
  metadata_fetched_at timestamp with time zone,
  key_types text[],
  keys_fetched_at timestamp with time zone,
  last_success_at timestamp with time zone,
  last_error text,
  last_error_at timestamp with time zone,
  constraint upstream_providers_pkey PRIMARY KEY (id)
);
CREATE INDEX upstream_providers_enabled ON upstream_providers USING btree (id) WHERE (disabled_at IS NULL);
comment on table upstream_providers is 'other services that people may sign in with';
comment on column upstream_providers.key_types is 'types of the usable keys that were fetched last';
comment on column upstream_providers.last_success_at is 'when a user last came back with a valid response';
comment on column upstream_providers.last_error is 'code of the last error; null: none yet';

create table user_active_days (
  day date not null,
  user_id uuid not null,
  constraint user_active_days_pkey PRIMARY KEY (day, user_id),
  constraint user_active_days_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX user_active_days_user ON user_active_days USING btree (user_id);
comment on table user_active_days is 'the days (UTC) on which accounts were active';

create table user_email_authentications (
  id uuid not null,
  email text not null,
  email_key text not null,
  locale text not null,
  created_at timestamp with time zone not null,
  mails integer not null,
  code_of_mail integer,
  code_expires_at timestamp with time zone,
  tries integer default 0 not null,
  completed_at timestamp with time zone,
  user_session_id uuid,
  constraint user_email_authentications_pkey PRIMARY KEY (id),
  constraint user_email_authentications_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES user_sessions(id) ON DELETE CASCADE
);
CREATE INDEX user_email_authentications_created_at ON user_email_authentications USING btree (created_at);
CREATE INDEX user_email_authentications_email_key ON user_email_authentications USING btree (email_key);
CREATE INDEX user_email_authentications_session ON user_email_authentications USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);
comment on table user_email_authentications is 'attempts to prove an e-mail address by a code';

create table user_emails (
  id uuid not null,
  user_id uuid not null,
  email text not null,
  email_key text not null,
  created_at timestamp with time zone not null,
  is_primary boolean default false not null,
  constraint user_emails_pkey PRIMARY KEY (id),
  constraint user_emails_email_key_key UNIQUE (email_key),
  constraint user_emails_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX user_emails_user_id ON user_emails USING btree (user_id, created_at);
comment on table user_emails is 'confirmed addresses only';

create table user_groups (
  id uuid not null,
  name text not null,
  description text,
  former_name text,
  is_external boolean default false not null,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  constraint user_groups_pkey PRIMARY KEY (id),
  constraint user_groups_former_name_key UNIQUE (former_name),
  constraint user_groups_name_key UNIQUE (name)
);

create table user_passkey_offers (
  user_id uuid not null,
  offered_at timestamp with time zone not null,
  declined_at timestamp with time zone,
  constraint user_passkey_offers_pkey PRIMARY KEY (user_id),
  constraint user_passkey_offers_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table user_passkeys (
  id uuid not null,
  user_id uuid not null,
  credential_id bytea not null,
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  backed_up boolean not null,
  aaguid uuid,
  name text not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  backup_eligible boolean,
  constraint user_passkeys_pkey PRIMARY KEY (id),
  constraint user_passkeys_credential_id_key UNIQUE (credential_id),
  constraint user_passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX user_passkeys_user ON user_passkeys USING btree (user_id, id);
comment on table user_passkeys is 'keys by which people sign in without a password';

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

create table user_pending_logins (
  id uuid not null,
  user_id uuid not null,
  user_session_id uuid,
  first_factor text not null,
  password_id uuid,
  upstream_authorization_id uuid,
  upstream_amr text[] default '{}'::text[] not null,
  post_auth_action jsonb,
  ip inet,
  user_agent text,
  failed_attempts integer default 0 not null,
  setup_sealed bytea,
  enrolled_at timestamp with time zone,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  completed_at timestamp with time zone,
  link_on_completion jsonb,
  constraint user_pending_logins_pkey PRIMARY KEY (id),
  constraint user_pending_logins_upstream_authorization_id_fkey FOREIGN KEY (upstream_authorization_id) REFERENCES upstream_authorizations(id) ON DELETE CASCADE,
  constraint user_pending_logins_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint user_pending_logins_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES user_sessions(id) ON DELETE CASCADE
);
CREATE INDEX user_pending_logins_expires_at ON user_pending_logins USING btree (expires_at);
CREATE INDEX user_pending_logins_upstream_authorization_id ON user_pending_logins USING btree (upstream_authorization_id) WHERE (upstream_authorization_id IS NOT NULL);
CREATE INDEX user_pending_logins_user_id ON user_pending_logins USING btree (user_id);
CREATE INDEX user_pending_logins_user_session_id ON user_pending_logins USING btree (user_session_id) WHERE (user_session_id IS NOT NULL);

create table user_recovery_codes (
  id uuid not null,
  user_id uuid not null,
  code_hmac bytea not null,
  created_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint user_recovery_codes_pkey PRIMARY KEY (id),
  constraint user_recovery_codes_user_id_code_hmac_key UNIQUE (user_id, code_hmac),
  constraint user_recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
comment on table user_recovery_codes is 'one-time codes for people who lost their other second factor';

create table user_recovery_sessions (
  id uuid not null,
  email text not null,
  email_key text not null,
  locale text not null,
  ip inet,
  user_agent text,
  created_at timestamp with time zone not null,
  consumed_at timestamp with time zone,
  is_by_admin boolean default false not null,
  constraint user_recovery_sessions_pkey PRIMARY KEY (id)
);
CREATE INDEX user_recovery_sessions_created_at ON user_recovery_sessions USING btree (created_at);
CREATE INDEX user_recovery_sessions_open ON user_recovery_sessions USING btree (email_key, created_at) WHERE (consumed_at IS NULL);
comment on table user_recovery_sessions is 'requests for a new password, for addresses that may be unknown';

create table user_recovery_tickets (
  ticket_hash bytea not null,
  session_id uuid not null,
  user_id uuid not null,
  user_email_id uuid,
  password_id uuid,
  created_at timestamp with time zone not null,
  constraint user_recovery_tickets_pkey PRIMARY KEY (ticket_hash),
  constraint user_recovery_tickets_session_id_fkey FOREIGN KEY (session_id) REFERENCES user_recovery_sessions(id) ON DELETE CASCADE,
  constraint user_recovery_tickets_user_email_id_fkey FOREIGN KEY (user_email_id) REFERENCES user_emails(id) ON DELETE CASCADE,
  constraint user_recovery_tickets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX user_recovery_tickets_session_id ON user_recovery_tickets USING btree (session_id);
CREATE INDEX user_recovery_tickets_user_email_id ON user_recovery_tickets USING btree (user_email_id);
CREATE INDEX user_recovery_tickets_user_id ON user_recovery_tickets USING btree (user_id);

create table user_registration_token_uses (
  token_id uuid not null,
  user_id uuid not null,
  used_at timestamp with time zone not null,
  constraint user_registration_token_uses_pkey PRIMARY KEY (token_id, user_id),
  constraint user_registration_token_uses_token_id_fkey FOREIGN KEY (token_id) REFERENCES user_registration_tokens(id) ON DELETE CASCADE,
  constraint user_registration_token_uses_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX user_registration_token_uses_user ON user_registration_token_uses USING btree (user_id);

create table user_registration_tokens (
  id uuid not null,
  token_hmac bytea not null,
  token_sealed bytea not null,
  usage_limit integer,
  times_used integer default 0 not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  email text,
  email_key text,
  group_ids uuid[],
  note text,
  created_by uuid,
  created_by_client uuid,
  mail_queued_at timestamp with time zone,
  mail_sent_at timestamp with time zone,
  constraint user_registration_tokens_pkey PRIMARY KEY (id),
  constraint user_registration_tokens_token_hmac_key UNIQUE (token_hmac),
  constraint user_registration_tokens_check CHECK ((times_used <= usage_limit)),
  constraint user_registration_tokens_usage_limit_check CHECK ((usage_limit > 0))
);
CREATE INDEX user_registration_tokens_created_at ON user_registration_tokens USING btree (created_at, id);

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
  registration_token_id uuid,
  upstream_authorization_id uuid,
  has_fixed_username boolean default false not null,
  email_authentication_id uuid,
  has_fixed_email boolean default false not null,
  constraint user_registrations_pkey PRIMARY KEY (id),
  constraint user_registrations_email_authentication_id_fkey FOREIGN KEY (email_authentication_id) REFERENCES user_email_authentications(id) ON DELETE SET NULL,
  constraint user_registrations_registration_token_id_fkey FOREIGN KEY (registration_token_id) REFERENCES user_registration_tokens(id) ON DELETE SET NULL,
  constraint user_registrations_upstream_authorization_id_fkey FOREIGN KEY (upstream_authorization_id) REFERENCES upstream_authorizations(id) ON DELETE CASCADE
);
CREATE INDEX user_registrations_created_at ON user_registrations USING btree (created_at);
CREATE INDEX user_registrations_email_authentication ON user_registrations USING btree (email_authentication_id) WHERE (email_authentication_id IS NOT NULL);
CREATE INDEX user_registrations_registration_token ON user_registrations USING btree (registration_token_id) WHERE (registration_token_id IS NOT NULL);
CREATE INDEX user_registrations_upstream_authorization ON user_registrations USING btree (upstream_authorization_id) WHERE (upstream_authorization_id IS NOT NULL);

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
CREATE INDEX user_sessions_address ON user_sessions USING btree (last_active_ip, id) WHERE (last_active_ip IS NOT NULL);
CREATE INDEX user_sessions_finished_at ON user_sessions USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX user_sessions_live ON user_sessions USING btree (user_id, last_active_at) WHERE (finished_at IS NULL);
CREATE INDEX user_sessions_live_of_user ON user_sessions USING btree (user_id, id) WHERE (finished_at IS NULL);
CREATE INDEX user_sessions_user ON user_sessions USING btree (user_id, id);

create table user_terms (
  user_id uuid not null,
  terms_uri text not null,
  accepted_at timestamp with time zone not null,
  constraint user_terms_pkey PRIMARY KEY (user_id, terms_uri),
  constraint user_terms_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table user_totp_enrolments (
  id uuid not null,
  user_id uuid not null,
  user_session_id uuid not null,
  secret_sealed bytea not null,
  wrong_codes integer default 0 not null,
  created_at timestamp with time zone not null,
  constraint user_totp_enrolments_pkey PRIMARY KEY (id),
  constraint user_totp_enrolments_user_session_id_key UNIQUE (user_session_id),
  constraint user_totp_enrolments_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint user_totp_enrolments_user_session_id_fkey FOREIGN KEY (user_session_id) REFERENCES user_sessions(id) ON DELETE CASCADE
);
CREATE INDEX user_totp_enrolments_created_at ON user_totp_enrolments USING btree (created_at);
CREATE INDEX user_totp_enrolments_user ON user_totp_enrolments USING btree (user_id);
comment on table user_totp_enrolments is 'authenticator apps that are being set up';

create table user_totp_secrets (
  id uuid not null,
  user_id uuid not null,
  secret_sealed bytea not null,
  last_used_step integer not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  constraint user_totp_secrets_pkey PRIMARY KEY (id),
  constraint user_totp_secrets_user_id_key UNIQUE (user_id),
  constraint user_totp_secrets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
comment on table user_totp_secrets is 'secrets that accounts share with an authenticator app';

create table user_trusted_browsers (
  nonce_hash bytea not null,
  user_id uuid not null,
  password_id uuid,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint user_trusted_browsers_pkey PRIMARY KEY (nonce_hash),
  constraint user_trusted_browsers_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX user_trusted_browsers_expires_at ON user_trusted_browsers USING btree (expires_at);
CREATE INDEX user_trusted_browsers_user_id ON user_trusted_browsers USING btree (user_id);

create table user_unsupported_threepids (
  user_id uuid not null,
  medium text not null,
  address text not null,
  created_at timestamp with time zone not null,
  constraint user_unsupported_threepids_pkey PRIMARY KEY (user_id, medium, address),
  constraint user_unsupported_threepids_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
comment on table user_unsupported_threepids is 'third-party ids that were imported and that nothing uses';

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
  is_guest boolean default false not null,
  groups text[],
  claims jsonb,
  homeserver_deactivated_at timestamp with time zone,
  homeserver_erased_at timestamp with time zone,
  keeps_unknown_devices boolean default false not null,
  given_name text,
  family_name text,
  time_zone text,
  locale_is_chosen boolean default false not null,
  constraint users_pkey PRIMARY KEY (id),
  constraint users_username_key UNIQUE (username),
  constraint users_username_key_key UNIQUE (username_key)
);
CREATE INDEX users_admins ON users USING btree (id) WHERE can_request_admin;
CREATE INDEX users_case_variants ON users USING btree (lower((username COLLATE "C"))) WHERE (username_key <> lower((username COLLATE "C")));
CREATE INDEX users_groups ON users USING gin (groups) WHERE (groups IS NOT NULL);
comment on column users.time_zone is 'name in the IANA time zone database';
comment on column users.locale_is_chosen is 'the user chose `locale`, so that it no longer follows the pages shown';

create table webauthn_challenges (
  id uuid not null,
  challenge_hash bytea not null,
  purpose text not null,
  login_id uuid,
  user_session_id uuid,
  expires_at timestamp with time zone not null,
  constraint webauthn_challenges_pkey PRIMARY KEY (id),
  constraint webauthn_challenges_challenge_hash_key UNIQUE (challenge_hash),
  constraint webauthn_challenges_one_holder CHECK ((num_nonnulls(login_id, user_session_id) = 1))
);
CREATE INDEX webauthn_challenges_expires_at ON webauthn_challenges USING btree (expires_at);
comment on table webauthn_challenges is 'what authenticators of passkeys are asked to sign, once each';

CREATE OR REPLACE FUNCTION browser_session_is_live(session uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return exists (select from user_sessions s where s.id = session and s.finished_at is null);
end
$function$;

CREATE OR REPLACE FUNCTION note_profile_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.updated_at is not distinct from old.updated_at
    and (new.username, new.display_name, new.locale) is distinct from (old.username, old.display_name, old.locale)
  then
    new.updated_at := clock_timestamp();
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION session_ancestors_are_live(parent uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION user_may_use_client(account uuid, own_groups text[], allowed uuid[])
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return exists (
    select from user_groups g
     where g.id = any (allowed) and g.deleted_at is null
       and (own_groups @> array[g.name] or own_groups @> array[g.former_name]
            or exists (select from upstream_links l join upstream_providers p on p.id = l.provider_id
                        where l.user_id = account and p.disabled_at is null and l.groups @> array[g.name]))
  );
end
$function$;

CREATE TRIGGER users_updated_at BEFORE UPDATE OF username, display_name, locale ON users FOR EACH ROW EXECUTE FUNCTION note_profile_change();
