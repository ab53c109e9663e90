-- expand
-- Chat clients that sign in through the compatibility layer (chat-compat 10). The columns of sessions are those of the
-- other kinds of session (decision 0001).
create table compat_sessions (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  -- null: imported without one
  device_id text,
  -- the browser session that fulfilled the single sign-on
  user_session_id uuid references user_sessions on delete set null,
  is_homeserver_admin boolean not null default false,
  human_name text,
  user_agent text,
  -- SHA-256 of the tag that all refresh tokens of the session share; null: it cannot refresh, or its tokens are imported
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

create table compat_access_tokens (
  id uuid primary key,
  session_id uuid not null references compat_sessions on delete cascade,
  token_hash bytea not null unique,
  created_at timestamptz not null,
  -- null: it lives as long as its session
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
