-- expand
-- Standing permissions of programs, made by administrators: a token acts as an account until it is revoked or expires.

create table personal_sessions (
  id uuid primary key,
  -- who made it and answers for it: a person, or an application
  owner_user_id uuid references users (id) on delete cascade,
  owner_client_id uuid references oauth2_clients (id) on delete cascade,
  -- as whom it acts
  actor_user_id uuid not null references users (id) on delete cascade,
  human_name text not null,
  scope text[] not null,
  -- named by the scope
  device_id text,
  user_agent text,
  created_at timestamptz not null,
  -- of its current token; null: never
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
  -- replaced by another one
  revoked_at timestamptz
);
-- A session has one token that works, whoever replaces it at the same time.
create unique index personal_access_tokens_current on personal_access_tokens (session_id) where revoked_at is null;
create index personal_access_tokens_session on personal_access_tokens (session_id);
create index personal_access_tokens_revoked_at on personal_access_tokens (revoked_at) where revoked_at is not null;
create index personal_access_tokens_expires_at on personal_access_tokens (expires_at) where expires_at is not null;
