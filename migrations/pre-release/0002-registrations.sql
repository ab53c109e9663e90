-- expand
-- Accounts that people make for themselves: a registration is a row until its last step is done.

create table user_registrations (
  id uuid primary key,
  username text not null,
  display_name text,
  -- null once the account has it
  password_hash text,
  password_scheme_version integer,
  -- where the person goes on afterwards, as names and values of a query
  post_auth_action jsonb,
  -- the terms that were accepted, by the address that they had
  terms_uri text,
  locale text,
  ip inet,
  user_agent text,
  created_at timestamptz not null,
  completed_at timestamptz
);
create index user_registrations_created_at on user_registrations (created_at);

create table user_terms (
  user_id uuid not null references users (id) on delete cascade,
  terms_uri text not null,
  accepted_at timestamptz not null,
  primary key (user_id, terms_uri)
);
