-- expand
-- Keys with which people sign in without a password: an authenticator of theirs keeps the private part.

create table user_passkeys (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  -- what the authenticator calls it
  credential_id bytea not null unique,
  -- SubjectPublicKeyInfo in DER; its kind says how signatures are checked
  public_key bytea not null,
  -- as the authenticator said last; 0: it does not count
  sign_count bigint not null,
  -- how a browser may reach the authenticator
  transports text[] not null,
  -- the key is on other devices as well
  backed_up boolean not null,
  -- kind of authenticator, where it says
  aaguid uuid,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index user_passkeys_user on user_passkeys (user_id, id);
comment on table user_passkeys is 'keys by which people sign in without a password';

-- What authenticators are asked to sign. A row is deleted when an answer comes, or when its time is over: it lives for
-- minutes, so that whom it was made for is not checked by the database.
create table webauthn_challenges (
  id uuid primary key,
  -- SHA-256
  challenge_hash bytea not null unique,
  purpose text not null,
  -- what the `login` cookie of the browser names
  login_id uuid,
  user_session_id uuid,
  expires_at timestamptz not null,
  constraint webauthn_challenges_one_holder check (num_nonnulls(login_id, user_session_id) = 1)
);
create index webauthn_challenges_expires_at on webauthn_challenges (expires_at);
comment on table webauthn_challenges is 'what authenticators of passkeys are asked to sign, once each';
