-- expand
-- Browser sessions that were imported and that the browser has not used since. Its cookie is still that of the other
-- server, and the first request with it gives the session a key.
create table imported_browser_sessions (
  user_session_id uuid primary key references user_sessions on delete cascade,
  expires_at timestamptz not null
);
create index imported_browser_sessions_expires_at on imported_browser_sessions (expires_at);
