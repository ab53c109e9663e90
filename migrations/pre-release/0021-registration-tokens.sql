-- expand
-- Registration by invitation: tokens that an operator issues, and the one that a registration was given.

create table user_registration_tokens (
  id uuid primary key,
  -- under a key that never changes, so that a token is found by what somebody typed
  token_hmac bytea not null unique,
  -- for operators, who may list their tokens
  token_sealed bytea not null,
  -- null: any number of registrations
  usage_limit integer check (usage_limit > 0),
  times_used integer not null default 0 check (times_used <= usage_limit),
  created_at timestamptz not null,
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);
create index user_registration_tokens_created_at on user_registration_tokens (created_at, id);

alter table user_registrations
  add column registration_token_id uuid references user_registration_tokens (id) on delete set null;
create index user_registrations_registration_token on user_registrations (registration_token_id)
  where registration_token_id is not null;
