-- expand
-- When a user was last asked, after signing in with a password, whether to add a passkey, and whether never to ask again.
create table user_passkey_offers (
  user_id uuid primary key references users on delete cascade,
  offered_at timestamptz not null,
  declined_at timestamptz
);
