-- expand
-- Device authorization grants (RFC 8628): a device asks, a person enters the user code in a browser and decides, and the
-- device polls until it gets its tokens.

create table oauth2_device_code_grants (
  id uuid primary key,
  client_id uuid not null references oauth2_clients (id) on delete cascade,
  scope text[] not null,
  resources text[] not null default '{}',
  device_code_hash bytea not null unique,
  -- the code is short: a plain digest could be inverted
  user_code_hmac bytea not null,
  -- for the page on which the person compares it
  user_code_sealed bytea not null,
  -- where the request came from, for the same page
  ip inet,
  user_agent text,
  -- the address under which grants are counted, an IPv6 address as its /64
  requester_ip inet not null,
  interval_seconds integer not null,
  polled_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- the browser session that decided, and the language it read
  user_session_id uuid references user_sessions (id) on delete cascade,
  locale text,
  auth_time timestamptz,
  acr text,
  amr text[] not null default '{}',
  fulfilled_at timestamptz,
  rejected_at timestamptz,
  oauth2_session_id uuid references oauth2_sessions (id) on delete cascade,
  exchanged_at timestamptz
) with (fillfactor = 85);
create unique index oauth2_device_code_grants_user_code on oauth2_device_code_grants (user_code_hmac)
  where fulfilled_at is null and rejected_at is null;
create index oauth2_device_code_grants_unused on oauth2_device_code_grants (requester_ip, expires_at)
  where exchanged_at is null;
create index oauth2_device_code_grants_created_at on oauth2_device_code_grants (created_at);
create index oauth2_device_code_grants_client on oauth2_device_code_grants (client_id);
create index oauth2_device_code_grants_user_session on oauth2_device_code_grants (user_session_id)
  where user_session_id is not null;
create index oauth2_device_code_grants_session on oauth2_device_code_grants (oauth2_session_id)
  where oauth2_session_id is not null;
