-- expand
-- Second factors: codes of an authenticator app, attempts to set one up, and codes for when it is lost.

create table user_totp_secrets (
  id uuid primary key,
  -- one for each account
  user_id uuid not null unique references users (id) on delete cascade,
  secret_sealed bytea not null,
  -- time step of the newest code that was accepted: neither it nor an earlier one is accepted again
  last_used_step integer not null,
  created_at timestamptz not null,
  -- null: never since it was set up
  last_used_at timestamptz
);
comment on table user_totp_secrets is 'secrets that accounts share with an authenticator app';

create table user_totp_enrolments (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  -- the browser session that began it; one for each
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
