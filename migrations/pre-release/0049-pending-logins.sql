-- expand
-- between the factors of a sign-in, or of an authentication again in a session
create table user_pending_logins (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  -- gets a fresh authentication; null: a session is opened
  user_session_id uuid references user_sessions (id) on delete cascade,
  first_factor text not null,
  -- the password that was right, which has to be the account's until the end
  password_id uuid,
  -- the sign-in through another service, which this has used up
  upstream_authorization_id uuid references upstream_authorizations (id) on delete cascade,
  upstream_amr text[] not null default '{}',
  post_auth_action jsonb,
  ip inet,
  user_agent text,
  failed_attempts integer not null default 0,
  -- of a person who has to enroll: the secret and the recovery codes
  setup_sealed bytea,
  enrolled_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  completed_at timestamptz
);
create index user_pending_logins_user_id on user_pending_logins (user_id);
create index user_pending_logins_user_session_id on user_pending_logins (user_session_id)
  where user_session_id is not null;
create index user_pending_logins_upstream_authorization_id on user_pending_logins (upstream_authorization_id)
  where upstream_authorization_id is not null;
create index user_pending_logins_expires_at on user_pending_logins (expires_at);

-- browsers in which a person is not asked for the second factor, by the nonce of the account in a cookie
create table user_trusted_browsers (
  nonce_hash bytea primary key,
  user_id uuid not null references users (id) on delete cascade,
  -- the password that the account had: another one ends the trust
  password_id uuid,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index user_trusted_browsers_user_id on user_trusted_browsers (user_id);
create index user_trusted_browsers_expires_at on user_trusted_browsers (expires_at);
