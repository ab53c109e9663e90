-- expand concurrently
-- The sessions last used from an address, which administrators filter lists by. Newest last.
create index concurrently user_sessions_address on user_sessions (last_active_ip, id)
  where last_active_ip is not null;
create index concurrently oauth2_sessions_address on oauth2_sessions (last_active_ip, id)
  where last_active_ip is not null;
create index concurrently compat_sessions_address on compat_sessions (last_active_ip, id)
  where last_active_ip is not null;
