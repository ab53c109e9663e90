-- expand
-- Single sign-on of chat clients (chat-compat 8, 9): from the redirect to the login token and what came of it.
create table compat_sso_logins (
  id uuid primary key,
  -- where the browser takes the token, as the client gave it
  redirect_uri text not null,
  -- the sign-in provider that the client proposed
  upstream_provider_id uuid,
  -- whose it is among the ones that lead to nothing; of IPv6 the network
  requester_ip inet not null,
  created_at timestamptz not null,
  -- of a pending one
  expires_at timestamptz not null,
  -- the browser session whose person said yes
  user_session_id uuid references user_sessions on delete cascade,
  fulfilled_at timestamptz,
  login_token_hash bytea unique,
  exchanged_at timestamptz,
  compat_session_id uuid references compat_sessions on delete cascade
);
comment on table compat_sso_logins is 'single sign-ons of chat clients, until their login token is exchanged';
create index compat_sso_logins_unused on compat_sso_logins (requester_ip, expires_at) where fulfilled_at is null;
create index compat_sso_logins_unexchanged on compat_sso_logins (created_at) where exchanged_at is null;
create index compat_sso_logins_user_session on compat_sso_logins (user_session_id) where user_session_id is not null;
create index compat_sso_logins_compat_session on compat_sso_logins (compat_session_id)
  where compat_session_id is not null;
